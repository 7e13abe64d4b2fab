/* SPDX-License-Identifier: MIT */
/*
 * Tables of groups: as text for people (stat/rows.h), as JSON or CSV for programs (in nanoseconds). Those of
 * VPP's tools are in vpp.h.
 */
#ifndef KYMO_STAT_REPORT_H
#define KYMO_STAT_REPORT_H

#include "print/json_writer.h"
#include "stat/pairs.h"
#include "stat/regression.h"

enum kymo_report_form {
  KYMO_REPORT_TEXT,
  KYMO_REPORT_JSON,
  KYMO_REPORT_CSV,
  KYMO_REPORT_VPP /* see vpp.h */
};
enum kymo_report_order {
  KYMO_ORDER_TOTAL,
  KYMO_ORDER_COUNT,
  KYMO_ORDER_MEAN,
  KYMO_ORDER_MOST,
  KYMO_ORDER_NAME,
  KYMO_ORDER_SELF
};

struct kymo_report;
/* Receives all rows, of which the first `shown` are wanted, in order. False: out of memory. */
typedef bool kymo_report_collector(void *user, struct kymo_stat_group *const *list, size_t shown);

struct kymo_report {
  struct kymo_out *out;
  enum kymo_report_form form;
  enum kymo_report_order order;
  const char *prefix; /* only groups whose names begin with this; NULL: all */
  const char *what;   /* what the groups are: the title of their column */
  int width;          /* of the terminal; 0: none */
  struct kymo_trace *trace;
  const char *command; /* how kymo cat reads these traces: a form feed marks each space where the line may
                        * be broken */
  bool with_kernel;    /* of VPP's form: tracks that are called "kernel …" as well */
  size_t top;          /* only this many rows, the first ones; 0: all */
  struct kymo_report_rows {
    uint64_t shown, all;
  } * rows;                       /* set to their number; or NULL */
  kymo_report_collector *collect; /* takes the rows, and nothing is printed; or NULL */
  void *user;
};

/* A line or a piece of one, of at most KYMO_OUT_ROOM bytes. */
void kymo_report_put(const struct kymo_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A text between quotes, in which quotes are doubled. */
void kymo_report_put_csv_text(const struct kymo_report *report, const char *text);
/* A name as the text format shows names. */
void kymo_report_put_name(const struct kymo_report *report, const char *name);
/* A duration, to the nanosecond. */
void kymo_report_put_duration(const struct kymo_report *report, uint64_t ns);
/* Whether the group is in the report: by `prefix`, and in VPP's form by its omissions. */
bool kymo_report_wants(const struct kymo_report *report, const struct kymo_stat_group *group);
/* Puts groups into the report's order. */
void kymo_report_sort(const struct kymo_report *report, struct kymo_stat_group **list, size_t count);
/* How many of `count` rows are shown; `all` exist. */
size_t kymo_report_rows(const struct kymo_report *report, size_t count, uint64_t all);
/* Hands the rows to report->collect and frees the list. KYMO_OK or KYMO_E_MEMORY. */
int kymo_report_collect(const struct kymo_report *report, struct kymo_stat_group **list, size_t shown);
/* A bar of a histogram: how many numbers there are from one on up to the next bar. */
struct kymo_bar {
  int64_t from;
  uint64_t count;
};
enum { KYMO_BARS_MAX = 2 * (65 - 4) };
/* All bars from the first to the last that has numbers; returns how many. */
unsigned kymo_report_bars(const struct kymo_samples *samples, struct kymo_bar bars[KYMO_BARS_MAX]);
/* Printed after a table for times that could not be measured: "not counted: 3 without begin, 1 over lost
 * events"; nothing if there are none. */
struct kymo_uncounted {
  const char *what;
  uint64_t count;
};
void kymo_report_uncounted(const struct kymo_report *report, const struct kymo_uncounted *list, size_t count);
/* Prints after a table that not all rows are shown, if so; nothing as CSV. */
void kymo_report_rest(const struct kymo_report *report);
/* The groups that are shown, in order; the caller frees the list. NULL: out of memory. */
struct kymo_stat_group **kymo_report_list(const struct kymo_report *report, const struct kymo_groups *groups,
                                          size_t *count);
/* All groups that have numbers, in order, and `all` of them together (kymo_groups_settle). KYMO_E_MEMORY. */
int kymo_report_groups(const struct kymo_report *report, const struct kymo_groups *groups,
                       struct kymo_samples *all);
/* How many events the groups have, `all` together, and the rate per second over the time of all; 0: that time
 * is unknown. KYMO_E_MEMORY. */
int kymo_report_counts(const struct kymo_report *report, const struct kymo_groups *groups, uint64_t all,
                       double span_ns);
/* The lines of all keys, which `all` has together. KYMO_E_MEMORY. */
int kymo_report_lines(const struct kymo_report *report, const struct kymo_regression *regression,
                      const struct kymo_samples *all);
/* The text after the table of latencies or states: the longest ones, and the unmatched events. */
void kymo_report_pairs(const struct kymo_report *report, const struct kymo_pairs *pairs);
/* The longest as a table of CSV. */
void kymo_report_worst(const struct kymo_report *report, const struct kymo_pairs *pairs);
/* The histogram: the values of a field, in a unit or NULL. */
struct kymo_histogram {
  const char *field, *unit;
  bool is_grouped, is_float;
};
/* A histogram of the numbers of each group by size. KYMO_E_MEMORY. */
int kymo_report_histograms(const struct kymo_report *report, const struct kymo_groups *groups,
                           const struct kymo_histogram *histogram);

#endif
