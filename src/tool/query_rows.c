/* SPDX-License-Identifier: MIT */
#include "tool/query_rows.h"
#include "base/list.h"
#include "base/utf8.h"
#include "print/json_writer.h"
#include "print/out.h"
#include "print/text_fields.h"
#include "stat/table.h"
#include "tool/tool.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first rows decide how wide the columns of a table are; the others are printed at once. */
#define ROWS_MEASURED 1000

struct rows {
  sqlite3_stmt *statement;
  int count; /* of columns */
  char **titles;
  /* of a table */
  char **cells; /* of the rows that wait */
  size_t waiting, room;
  int *widths;
  bool *are_numbers; /* all values so far */
  bool is_printing;
};

static void *or_end(void *memory) {
  if (!memory)
    tool_end_without_memory();
  return memory;
}

/* ---- values ---- */

static void add_hex(struct kymo_strbuf *out, const uint8_t *bytes, int count) {
  for (int i = 0; i < count; i++) {
    char digits[2];
    kymo_put_hex_byte(digits, bytes[i]);
    kymo_strbuf_add(out, digits, sizeof digits);
  }
}

static void add_real(struct kymo_strbuf *out, double value) {
  char text[40];
  if (isinf(value))
    kymo_strbuf_puts(out, value < 0 ? "-Infinity" : "Infinity");
  else
    kymo_strbuf_add(out, text, (size_t)(kymo_put_double(text, value, false, true) - text));
}

static void add_integer(struct kymo_strbuf *out, int64_t value) {
  char text[32];
  kymo_strbuf_add(out, text, (size_t)(kymo_put_i64(text, value) - text));
}

/* ---- tables ---- */

/* Texts of traces are untrusted, and a row is one line: control characters as kymo cat prints them. */
static void add_safe(struct kymo_strbuf *out, const char *text, int length) {
  for (const char *end = text + length; text <= end; text++) {
    kymo_text_add_name(out, text);
    text += strlen(text);
    if (text < end)
      kymo_strbuf_puts(out, "\\x00");
  }
}

static char *make_cell(sqlite3_stmt *statement, int column) {
  struct kymo_strbuf cell = {0};
  kymo_strbuf_puts(&cell, "");
  switch (sqlite3_column_type(statement, column)) {
  case SQLITE_INTEGER: add_integer(&cell, sqlite3_column_int64(statement, column)); break;
  case SQLITE_FLOAT: add_real(&cell, sqlite3_column_double(statement, column)); break;
  case SQLITE_TEXT: {
    const char *text = (const char *)sqlite3_column_text(statement, column);
    add_safe(&cell, or_end((void *)(uintptr_t)text), sqlite3_column_bytes(statement, column));
    break;
  }
  case SQLITE_BLOB: {
    const uint8_t *bytes = sqlite3_column_blob(statement, column);
    add_hex(&cell, bytes, sqlite3_column_bytes(statement, column));
    break;
  }
  default: kymo_strbuf_puts(&cell, "NULL"); break;
  }
  if (cell.failed)
    tool_end_without_memory();
  return cell.text ? cell.text : or_end(strdup(""));
}

static void put_cell(const struct rows *rows, int column, const char *text) {
  int width = kymo_text_width(text), blanks = rows->widths[column] > width ? rows->widths[column] - width : 0;
  bool is_last = column + 1 == rows->count;
  printf("%s", column ? "  " : "");
  if (rows->are_numbers[column])
    printf("%*s%s", blanks, "", text);
  else
    printf("%s%*s", text, is_last ? 0 : blanks, "");
  if (is_last)
    putchar('\n');
}

/* Prints the titles, and the rows that wait. */
static void begin_table(struct rows *rows) {
  rows->is_printing = true;
  for (int i = 0; i < rows->count; i++)
    put_cell(rows, i, rows->titles[i]);
  for (size_t i = 0; i < rows->waiting; i++)
    for (int k = 0; k < rows->count; k++) {
      char *cell = rows->cells[i * (size_t)rows->count + (size_t)k];
      put_cell(rows, k, cell);
      free(cell);
    }
  rows->waiting = 0;
}

static void take_table_row(struct rows *rows) {
  bool waits = rows->waiting < ROWS_MEASURED && !rows->is_printing;
  if (!waits && !rows->is_printing)
    begin_table(rows);
  if (waits &&
      !KYMO_LIST_ROOM_OF((size_t)rows->count * sizeof *rows->cells, rows->cells, rows->room, rows->waiting))
    tool_end_without_memory();
  for (int i = 0; i < rows->count; i++) {
    char *cell = make_cell(rows->statement, i);
    int type = sqlite3_column_type(rows->statement, i), width = kymo_text_width(cell);
    if (!waits) {
      put_cell(rows, i, cell);
      free(cell);
      continue;
    }
    rows->are_numbers[i] &= type == SQLITE_INTEGER || type == SQLITE_FLOAT || type == SQLITE_NULL;
    rows->widths[i] = width > rows->widths[i] ? width : rows->widths[i];
    rows->cells[rows->waiting * (size_t)rows->count + (size_t)i] = cell;
  }
  rows->waiting += waits;
}

/* ---- CSV ---- */

static void put_quoted(const char *text, int length) {
  if (length > 0 && strlen(text) == (size_t)length && !strpbrk(text, ",\"\n\r")) {
    fwrite(text, 1, (size_t)length, stdout);
    return;
  }
  putchar('"');
  for (int i = 0; i < length; i++) {
    if (text[i] == '"')
      putchar('"');
    putchar(text[i]);
  }
  putchar('"');
}

static void put_csv_value(sqlite3_stmt *statement, int column) {
  struct kymo_strbuf text = {0};
  switch (sqlite3_column_type(statement, column)) {
  case SQLITE_INTEGER: add_integer(&text, sqlite3_column_int64(statement, column)); break;
  case SQLITE_FLOAT: add_real(&text, sqlite3_column_double(statement, column)); break;
  case SQLITE_TEXT: {
    const char *from = or_end((void *)(uintptr_t)sqlite3_column_text(statement, column));
    put_quoted(from, sqlite3_column_bytes(statement, column));
    break;
  }
  case SQLITE_BLOB: {
    const uint8_t *bytes = sqlite3_column_blob(statement, column);
    int count = sqlite3_column_bytes(statement, column);
    add_hex(&text, bytes, count);
    if (!count)
      put_quoted("", 0);
    break;
  }
  default: break;
  }
  if (text.failed)
    tool_end_without_memory();
  fwrite(text.text ? text.text : "", 1, text.length, stdout);
  kymo_strbuf_free(&text);
}

static void put_csv_row(const struct rows *rows) {
  for (int i = 0; i < rows->count; i++) {
    if (i)
      putchar(',');
    put_csv_value(rows->statement, i);
  }
  putchar('\n');
}

static void put_csv_titles(const struct rows *rows) {
  for (int i = 0; i < rows->count; i++) {
    if (i)
      putchar(',');
    put_quoted(rows->titles[i], (int)strlen(rows->titles[i]));
  }
  putchar('\n');
}

/* ---- JSON ---- */

/* A text with a NUL inside ends a key, but not a value. */
static void add_json_text(struct kymo_strbuf *out, const char *text, int length) {
  kymo_strbuf_puts(out, "\"");
  for (const uint8_t *at = (const uint8_t *)text, *end = at + length; at < end;) {
    char escaped[8];
    uint32_t character = kymo_next_utf8(&at, end);
    kymo_strbuf_add(out, escaped, (size_t)(kymo_json_put_character(escaped, character) - escaped));
  }
  kymo_strbuf_puts(out, "\"");
}

/* The value of a column that is JSON already. */
static bool is_json(sqlite3_stmt *statement, int column) {
  const char *type = sqlite3_column_decltype(statement, column);
  return type && strcmp(type, "JSON_TEXT") == 0;
}

static void add_json_value(struct kymo_strbuf *out, sqlite3_stmt *statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
  case SQLITE_INTEGER: add_integer(out, sqlite3_column_int64(statement, column)); break;
  case SQLITE_FLOAT: {
    double value = sqlite3_column_double(statement, column);
    kymo_strbuf_puts(out, isinf(value) ? "\"" : "");
    add_real(out, value);
    kymo_strbuf_puts(out, isinf(value) ? "\"" : "");
    break;
  }
  case SQLITE_TEXT: {
    const char *text = or_end((void *)(uintptr_t)sqlite3_column_text(statement, column));
    int length = sqlite3_column_bytes(statement, column);
    if (is_json(statement, column))
      kymo_strbuf_add(out, text, (size_t)length);
    else
      add_json_text(out, text, length);
    break;
  }
  case SQLITE_BLOB:
    kymo_strbuf_puts(out, "\"");
    add_hex(out, sqlite3_column_blob(statement, column), sqlite3_column_bytes(statement, column));
    kymo_strbuf_puts(out, "\"");
    break;
  default: kymo_strbuf_puts(out, "null"); break;
  }
}

static void put_json_row(const struct rows *rows) {
  struct kymo_strbuf line = {0};
  kymo_strbuf_puts(&line, "{");
  for (int i = 0; i < rows->count; i++) {
    kymo_strbuf_puts(&line, i ? "," : "");
    kymo_json_add_text(&line, rows->titles[i]);
    kymo_strbuf_puts(&line, ":");
    add_json_value(&line, rows->statement, i);
  }
  kymo_strbuf_puts(&line, "}\n");
  if (line.failed)
    tool_end_without_memory();
  fwrite(line.text, 1, line.length, stdout);
  kymo_strbuf_free(&line);
}

/* ---- statements ---- */

/* The name of a column; members of a JSON object have different names: the second `a` is `a#2`. */
static char *make_title(const struct rows *rows, int column, bool is_unique) {
  const char *name = or_end((void *)(uintptr_t)sqlite3_column_name(rows->statement, column));
  unsigned number = 1;
  for (int i = 0; i < column && is_unique; i++)
    number += strcmp(sqlite3_column_name(rows->statement, i), name) == 0;
  struct kymo_strbuf title = {0};
  kymo_strbuf_puts(&title, name);
  if (number > 1)
    kymo_strbuf_printf(&title, "#%u", number);
  if (title.failed)
    tool_end_without_memory();
  return title.text ? title.text : or_end(strdup(""));
}

static void begin_rows(struct rows *rows, enum tool_query_format format) {
  size_t count = (size_t)rows->count;
  rows->titles = or_end(calloc(count + 1, sizeof *rows->titles));
  rows->widths = or_end(calloc(count + 1, sizeof *rows->widths));
  rows->are_numbers = or_end(calloc(count + 1, sizeof *rows->are_numbers));
  for (int i = 0; i < rows->count; i++) {
    rows->titles[i] = make_title(rows, i, format == TOOL_QUERY_JSON);
    if (format == TOOL_QUERY_TABLE) {
      struct kymo_strbuf safe = {0};
      add_safe(&safe, rows->titles[i], (int)strlen(rows->titles[i]));
      free(rows->titles[i]);
      rows->titles[i] = safe.failed ? or_end(NULL) : safe.text ? safe.text : or_end(strdup(""));
    }
    rows->widths[i] = kymo_text_width(rows->titles[i]);
    rows->are_numbers[i] = true;
  }
  if (format == TOOL_QUERY_CSV)
    put_csv_titles(rows);
}

static void end_rows(struct rows *rows) {
  for (int i = 0; i < rows->count; i++)
    free(rows->titles[i]);
  free(rows->titles);
  free(rows->widths);
  free(rows->are_numbers);
  free(rows->cells);
}

int tool_query_rows(sqlite3_stmt *statement, enum tool_query_format format) {
  struct rows rows = {.statement = statement, .count = sqlite3_column_count(statement)};
  int status;
  begin_rows(&rows, format);
  while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
    if (format == TOOL_QUERY_TABLE)
      take_table_row(&rows);
    else if (format == TOOL_QUERY_CSV)
      put_csv_row(&rows);
    else
      put_json_row(&rows);
  }
  if (format == TOOL_QUERY_TABLE && !rows.is_printing && rows.count &&
      (status == SQLITE_DONE || rows.waiting))
    begin_table(&rows);
  end_rows(&rows);
  return status;
}
