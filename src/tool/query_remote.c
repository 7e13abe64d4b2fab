/* SPDX-License-Identifier: MIT */
/*
 * The server's rows go to a table of SQLite in memory, so that they are printed as all others:
 *
 *   TabSeparatedWithNamesAndTypes ──► CREATE TABLE result(c0, c1, …) ──► SELECT c0 AS "name", …
 */
#include "tool/query_remote.h"
#include "fleet/fleet.h"
#include "query/columns.h"
#include "tool/tool.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct result {
  sqlite3 *db;
  sqlite3_stmt *insert;
  char *names, *types; /* lines of the answer */
  int count;           /* of columns */
};

/* ---- values ---- */

/* Takes the escapes of a value away, in its place; returns its length. */
static size_t unescape(char *text) {
  static const char letters[] = "bfnrt0", bytes[] = "\b\f\n\r\t";
  char *to = text;
  for (const char *from = text; *from; from++) {
    const char *found = from[0] == '\\' && from[1] ? strchr(letters, *++from) : NULL;
    *to++ = found ? bytes[found - letters] : *from;
  }
  *to = '\0';
  return (size_t)(to - text);
}

static bool is_of(const char *type, const char *name) {
  return strstr(type, name) && !strstr(type, "Array(");
}

static void bind(sqlite3_stmt *insert, int index, const char *type, char *text) {
  char *end;
  if (strcmp(text, "\\N") == 0) {
    sqlite3_bind_null(insert, index);
    return;
  }
  size_t length = unescape(text);
  errno = 0;
  long long number = strtoll(text, &end, 10);
  if (is_of(type, "Int") && !*end && errno == 0)
    sqlite3_bind_int64(insert, index, number);
  else if (is_of(type, "Float"))
    sqlite3_bind_double(insert, index, strtod(text, NULL));
  else
    sqlite3_bind_text64(insert, index, text, length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* ---- rows ---- */

static int count_cells(const char *line) {
  int count = 1;
  for (; *line; line++)
    count += *line == '\t';
  return count;
}

static int run(sqlite3 *db, const char *sql) { return sqlite3_exec(db, sql, NULL, NULL, NULL); }

static int make_table(struct result *result) {
  struct kymo_strbuf create = {0}, insert = {0};
  kymo_strbuf_puts(&create, "CREATE TABLE result(");
  kymo_strbuf_puts(&insert, "INSERT INTO result VALUES(");
  for (int i = 0; i < result->count; i++) {
    kymo_strbuf_printf(&create, "%sc%d", i ? ", " : "", i);
    kymo_strbuf_puts(&insert, i ? ", ?" : "?");
  }
  kymo_strbuf_puts(&create, ")");
  kymo_strbuf_puts(&insert, ")");
  int status = create.failed || insert.failed ? SQLITE_NOMEM : run(result->db, create.text);
  if (status == SQLITE_OK)
    status = sqlite3_prepare_v2(result->db, insert.text, -1, &result->insert, NULL);
  kymo_strbuf_free(&create);
  kymo_strbuf_free(&insert);
  return status;
}

static int add_row(struct result *result, char *line) {
  char types[256], *rest = line;
  const char *type = result->types;
  sqlite3_reset(result->insert);
  for (int i = 1; i <= result->count && rest; i++) {
    size_t length = strcspn(type, "\t");
    snprintf(types, sizeof types, "%.*s", (int)length, type);
    type += length + (type[length] == '\t');
    bind(result->insert, i, types, strsep(&rest, "\t"));
  }
  int status = sqlite3_step(result->insert);
  return status == SQLITE_DONE ? SQLITE_OK : status;
}

/* The lines of the answer become rows. */
static int fill(struct result *result, char *answer) {
  char *rest = answer;
  result->names = strsep(&rest, "\n");
  result->types = rest ? strsep(&rest, "\n") : NULL;
  if (!result->types)
    return SQLITE_OK; /* a statement without rows */
  result->count = count_cells(result->names);
  int status = make_table(result);
  while (status == SQLITE_OK && rest && *rest)
    status = add_row(result, strsep(&rest, "\n"));
  return status;
}

static int print(struct result *result, enum tool_query_format format) {
  struct kymo_strbuf select = {0};
  sqlite3_stmt *statement = NULL;
  char *rest = result->names;
  kymo_strbuf_puts(&select, "SELECT ");
  for (int i = 0; i < result->count && rest; i++) {
    char *name = strsep(&rest, "\t");
    unescape(name);
    kymo_strbuf_printf(&select, "%sc%d AS ", i ? ", " : "", i);
    query_add_name(&select, name);
  }
  kymo_strbuf_puts(&select, " FROM result ORDER BY rowid");
  int status =
      select.failed ? SQLITE_NOMEM : sqlite3_prepare_v2(result->db, select.text, -1, &statement, NULL);
  if (status == SQLITE_OK)
    status = tool_query_rows(statement, format);
  sqlite3_finalize(statement);
  kymo_strbuf_free(&select);
  return status == SQLITE_DONE ? SQLITE_OK : status;
}

static int show(char *answer, enum tool_query_format format) {
  struct result result = {0};
  int status = sqlite3_open(":memory:", &result.db);
  if (status == SQLITE_OK)
    status = run(result.db, "BEGIN");
  if (status == SQLITE_OK)
    status = fill(&result, answer);
  if (status == SQLITE_OK && result.count)
    status = print(&result, format);
  if (status != SQLITE_OK)
    tool_say("%s", sqlite3_errstr(status));
  sqlite3_finalize(result.insert);
  sqlite3_close(result.db);
  return status == SQLITE_OK ? TOOL_OK : TOOL_FAILED;
}

/* ---- statements ---- */

static bool has_rows(const char *sql) {
  static const char *const words[] = {"SELECT", "WITH", "SHOW", "DESCRIBE", "DESC", "EXISTS"};
  size_t length = strcspn(sql, " \t\r\n(");
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i]) == length && strncasecmp(sql, words[i], length) == 0)
      return true;
  return *sql == '(';
}

int tool_query_remote(const char *url, const char *sql, size_t length, enum tool_query_format format) {
  struct kymo_strbuf text = {0}, answer = {0};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  for (; length && strchr(" \t\r\n", *sql); sql++)
    length--;
  while (length && strchr(" \t\r\n;", sql[length - 1]))
    length--;
  kymo_strbuf_add(&text, sql, length);
  if (text.text && has_rows(text.text))
    kymo_strbuf_puts(&text, "\nFORMAT TabSeparatedWithNamesAndTypes");
  if (text.failed)
    tool_end_without_memory();
  int status = fleet_query(url, text.text ? text.text : "", &answer, &error), end;
  if (answer.failed)
    tool_end_without_memory();
  if (status != KYMO_OK)
    tool_say_error(&error);
  if (status == KYMO_OK)
    end = answer.length ? show(answer.text, format) : TOOL_OK;
  else
    end = status == KYMO_E_USAGE ? TOOL_USAGE : TOOL_FAILED;
  kymo_strbuf_free(&text);
  kymo_strbuf_free(&answer);
  int output = tool_close_output();
  return end == TOOL_OK ? output : end;
}
