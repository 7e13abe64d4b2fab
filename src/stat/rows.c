/* SPDX-License-Identifier: MIT */
#include "stat/rows.h"
#include "print/text_fields.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

int kymo_rows_name_width(const struct kymo_report *report, struct kymo_stat_group *const *list,
                         size_t count) {
  int width = 0;
  for (size_t i = 0; i < count; i++) {
    struct kymo_strbuf safe = {0};
    kymo_text_add_name(&safe, list[i]->name);
    int own = safe.text ? kymo_text_width(safe.text) : 0;
    if (safe.failed)
      report->out->error_number = ENOMEM;
    width = own > width ? own : width;
    kymo_strbuf_free(&safe);
  }
  return width;
}

/* Prints the line, and empties the buffer. */
static void put_line(struct kymo_rows *rows) {
  if (rows->line.failed)
    rows->report->out->error_number = ENOMEM;
  else if (rows->line.length)
    kymo_out_bytes(rows->report->out, rows->line.text, rows->line.length);
  rows->line.length = 0;
}

void kymo_rows_begin(struct kymo_rows *rows, const struct kymo_report *report,
                     const struct kymo_column *columns, unsigned count, int name_width) {
  *rows = (struct kymo_rows){.report = report};
  kymo_table_begin(&rows->table, columns, count, name_width, report->width);
  kymo_table_head(&rows->table, &rows->line);
  put_line(rows);
}

void kymo_rows_name(struct kymo_rows *rows, const char *name) {
  rows->name.length = 0;
  kymo_text_add_name(&rows->name, name);
  if (rows->name.failed)
    rows->report->out->error_number = ENOMEM;
  if (rows->at < rows->table.count)
    rows->cells[rows->at++] = rows->name.length ? rows->name.text : "";
}

void kymo_rows_text(struct kymo_rows *rows, const char *format, ...) {
  va_list args;
  if (rows->at == rows->table.count)
    return;
  va_start(args, format);
  vsnprintf(rows->texts[rows->at], sizeof rows->texts[0], format, args);
  va_end(args);
  rows->cells[rows->at] = rows->texts[rows->at];
  rows->at++;
}

void kymo_rows_count(struct kymo_rows *rows, uint64_t count) { kymo_rows_text(rows, "%" PRIu64, count); }

static void add_duration(struct kymo_rows *rows, double ns, unsigned digits) {
  char text[KYMO_DURATION_TEXT];
  kymo_rows_text(rows, "%s", kymo_duration_text(ns, digits, text));
}

void kymo_rows_duration(struct kymo_rows *rows, double ns) { add_duration(rows, ns, KYMO_DURATION_DIGITS); }

void kymo_rows_exact(struct kymo_rows *rows, int64_t ns) {
  char text[KYMO_DURATION_TEXT];
  uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
  kymo_rows_text(rows, "%s%s", ns < 0 ? "-" : "", kymo_duration_exact(size, text));
}

void kymo_rows_time(struct kymo_rows *rows, int64_t time_ns, bool is_epoch) {
  char text[KYMO_TIME_TEXT];
  kymo_rows_text(rows, "%s",
                 kymo_time_to_text(time_ns, is_epoch ? KYMO_TIME_LOCAL : KYMO_TIME_SECONDS, text));
}

/* No more digits than are known. */
void kymo_rows_percentile(struct kymo_rows *rows, struct kymo_percentile percentile) {
  unsigned all = 1, digits = KYMO_DURATION_DIGITS;
  for (uint64_t size = (uint64_t)(percentile.value < 0 ? -percentile.value : percentile.value); size >= 10;
       size /= 10)
    all++;
  if (percentile.unknown_digits && percentile.unknown_digits < all &&
      all - percentile.unknown_digits < digits)
    digits = all - percentile.unknown_digits;
  add_duration(rows, (double)percentile.value, digits);
}

void kymo_rows_next(struct kymo_rows *rows) {
  while (rows->at < rows->table.count)
    rows->cells[rows->at++] = "";
  kymo_table_row(&rows->table, rows->cells, &rows->line);
  put_line(rows);
  rows->at = 0;
}

void kymo_rows_end(struct kymo_rows *rows) {
  kymo_strbuf_free(&rows->line);
  kymo_strbuf_free(&rows->name);
}
