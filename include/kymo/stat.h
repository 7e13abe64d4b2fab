/* SPDX-License-Identifier: MIT */
/*
 * Statistics of traces: what `kymo stat KIND` measures, as rows. A trace is opened by kymo_trace_open,
 * perhaps with a filter (kymo_filter_attach) and an end (kymo_trace_set_end_time); one pass reads its events.
 *
 *   struct kymo_stat_options options = {.from = "db:begin", .to = "db:end"};
 *   if (kymo_stat_run(&stat, trace, "latency", &options, &error) == KYMO_OK)
 *     for (size_t row = 0; row < kymo_stat_rows(stat); row++)
 *       if (kymo_stat_get(stat, row, KYMO_STAT_P99, &ns))
 *         printf("%s %lld ns\n", kymo_stat_name(stat, row), (long long)ns);
 *   kymo_stat_free(stat);
 *
 * Times are in nanoseconds. The result is opaque, and independent of the trace.
 */
#ifndef KYMO_STAT_H
#define KYMO_STAT_H

#include <kymo/read.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kymo_stat;

/* All zeroes: what the kind does without options. An option that the kind does not know is refused.
 * Messages call members as the options of kymo stat: --from, --event. */
struct kymo_stat_options {
  const char *from, *to; /* latency, regression: the events that begin and end: a name, glob, re:REGEX or the
                              number of a class */
  const char *key;       /* what begins and ends belong together by: "track" or a field */
  const char *by;        /* groups: "track", "event" or a field */
  const char *field;     /* histogram: whose values */
  const char *const *events; /* state, distance: what is measured, as `from` … */
  size_t event_count;        /* … their number */
  const char *sort;    /* "total" (or NULL), "count", "mean", "max", "name"; of functions and spans "self" */
  const char *prefix;  /* only groups whose names begin so; or NULL */
  size_t top;          /* only this many rows, the first ones; 0: all */
  size_t memory_bytes; /* for groups; more go to a temporary file; 0: 256 MiB */
  /* latency with `from`, state, distance: called for each time between two events; or NULL. The name is
   * borrowed for the call. */
  void (*each)(void *user, int64_t begin_ns, int64_t duration_ns, const char *group);
  void *user;
};

/* The names of the kinds: "counts", "latency", …; NULL after the last one. */
const char *kymo_stat_kind(size_t index);
int kymo_stat_run_(struct kymo_stat **stat, struct kymo_trace *trace, const char *kind,
                   const struct kymo_stat_options *options, size_t size, struct kymo_error *error);
/*
 * Reads the events of a trace, from where it is on, and measures. `options` may be NULL. Returns KYMO_OK and
 * the result, to be freed by kymo_stat_free; or with the error KYMO_E_UNKNOWN: there is no such kind;
 * KYMO_E_USAGE: the options do not fit the kind or the trace, for instance an event that it does not have;
 * KYMO_E_MEMORY, KYMO_E_SYSTEM, or the status of kymo_trace_next. Loss handlers of the trace are replaced,
 * and are none afterwards.
 */
static inline int kymo_stat_run(struct kymo_stat **stat, struct kymo_trace *trace, const char *kind,
                                const struct kymo_stat_options *options, struct kymo_error *error) {
  return kymo_stat_run_(stat, trace, kind, options, sizeof *options, error);
}
void kymo_stat_free(struct kymo_stat *stat);

/* What the groups are: "track", "event", "span", a field … */
const char *kymo_stat_what(const struct kymo_stat *stat);
/* How many rows the result has, in the order of `sort`; `top` may have left out others: kymo_stat_all. */
size_t kymo_stat_rows(const struct kymo_stat *stat);
uint64_t kymo_stat_all(const struct kymo_stat *stat);
/* How many events or times could not be measured: no begin, no end, no key, or over lost events. */
uint64_t kymo_stat_uncounted(const struct kymo_stat *stat);

/* The name of a row's group; NULL: there is no such row. */
const char *kymo_stat_name(const struct kymo_stat *stat, size_t row);

enum kymo_stat_number {
  KYMO_STAT_COUNT,  /* events, times, values, or calls that have a time */
  KYMO_STAT_CALLS,  /* functions and calls: all; threads: how often it was blocked */
  KYMO_STAT_ERRORS, /* calls */
  KYMO_STAT_TOTAL,  /* sum; of spans and functions without what is inside another one of its group; of
                       threads the time in which their states are known */
  KYMO_STAT_SELF,   /* spans and functions: without others that are inside; threads: on a CPU */
  KYMO_STAT_MIN,
  KYMO_STAT_MAX,
  KYMO_STAT_P50, /* what half of the values do not exceed, and so on; exact up to 4096
                    values, else to 0.4 % */
  KYMO_STAT_P90,
  KYMO_STAT_P99,
  KYMO_STAT_P999,
};
/* A number of a row. False: its kind has no such number. */
bool kymo_stat_get(const struct kymo_stat *stat, size_t row, enum kymo_stat_number what, int64_t *value);

enum kymo_stat_float {
  KYMO_STAT_MEAN,
  KYMO_STAT_DEVIATION,
  KYMO_STAT_OFFSET, /* regression: offset + slope * instance, and how well it fits (-1 to 1) */
  KYMO_STAT_SLOPE,
  KYMO_STAT_R,
};
bool kymo_stat_get_float(const struct kymo_stat *stat, size_t row, enum kymo_stat_float what, double *value);

/* histogram: the bars of a row, from the first that has values to the last one; of other kinds, and of
 * floating-point numbers, 0. */
size_t kymo_stat_bars(const struct kymo_stat *stat, size_t row);
/* From which value on a bar counts, up to the next one, and how many values. False: there is no such bar. */
bool kymo_stat_bar(const struct kymo_stat *stat, size_t row, size_t bar, int64_t *from, uint64_t *count);

#ifdef __cplusplus
}
#endif
#endif
