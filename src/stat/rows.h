/* SPDX-License-Identifier: MIT */
/* Rows of a table in the text format of reports, cell by cell in the order of the columns. */
#ifndef KYMO_STAT_ROWS_H
#define KYMO_STAT_ROWS_H

#include "print/duration.h"
#include "stat/report.h"
#include "stat/table.h"
#include <kymo/time.h>

struct kymo_rows {
  const struct kymo_report *report;
  struct kymo_table table;
  struct kymo_strbuf line, name;
  char texts[KYMO_TABLE_COLUMNS][KYMO_TIME_TEXT];
  const char *cells[KYMO_TABLE_COLUMNS];
  unsigned at;
};

/* The width of the widest of these names as the text format shows them. */
int kymo_rows_name_width(const struct kymo_report *report, struct kymo_stat_group *const *list, size_t count);
/* Prints the titles; `columns` must stay valid. */
void kymo_rows_begin(struct kymo_rows *rows, const struct kymo_report *report,
                     const struct kymo_column *columns, unsigned count, int name_width);
/* The next cell: a name of a trace, a number, a duration in nanoseconds, rounded or exact, another text. */
void kymo_rows_name(struct kymo_rows *rows, const char *name);
void kymo_rows_count(struct kymo_rows *rows, uint64_t count);
void kymo_rows_duration(struct kymo_rows *rows, double ns);
void kymo_rows_percentile(struct kymo_rows *rows, struct kymo_percentile percentile);
void kymo_rows_exact(struct kymo_rows *rows, int64_t ns);
/* A time as in kymo cat, with the date; for a clock without epoch in seconds. */
void kymo_rows_time(struct kymo_rows *rows, int64_t time_ns, bool is_epoch);
void kymo_rows_text(struct kymo_rows *rows, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the row. */
void kymo_rows_next(struct kymo_rows *rows);
void kymo_rows_end(struct kymo_rows *rows);

#endif
