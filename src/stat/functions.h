/* SPDX-License-Identifier: MIT */
/*
 * Functions that were entered and left, on the stack of each thread:
 *
 *   calls   how often it was entered
 *   total   from entering to leaving; for a function that calls itself, only that of the outermost call, so
 *           nothing counts twice
 *   self    total without the functions that were called, of each call
 *
 * A function that was not left when its caller was left (longjmp, or its exit is missing) ends with the
 * caller; one that is open at the end of the trace ends with the last event of its thread. Both are counted.
 * Calls over lost events have no times.
 */
#ifndef KYMO_STAT_FUNCTIONS_H
#define KYMO_STAT_FUNCTIONS_H

#include "span/spans.h"
#include "stat/edges.h"
#include "stat/gaps.h"
#include "stat/report.h"

struct kymo_functions {
  /* set by the owner */
  const struct kymo_edges *edges;
  struct kymo_gaps *gaps;
  struct kymo_grouping function, thread;
  /* what came of it */
  struct kymo_groups groups;
  struct kymo_spans spans; /* the open calls; is_nested is set by the owner */
  uint64_t without_enter, left_by_caller, open, over_gaps, without_key;
};

/* Takes one event. KYMO_OK or KYMO_E_MEMORY. */
int kymo_functions_event(struct kymo_functions *functions, const struct kymo_event *event);
/* The trace is at its end. KYMO_OK or KYMO_E_MEMORY. */
int kymo_functions_end(struct kymo_functions *functions);
/* The report's order of two groups of calls with totals and own times; for qsort_r with a struct
 * kymo_report. */
int kymo_calls_compare(const void *a, const void *b, void *report);
/* The numbers of such a group for programs: total, self, mean, min, p50, p99 and max, in nanoseconds. */
void kymo_calls_put_json(struct kymo_json *json, struct kymo_stat_group *group);
void kymo_calls_put_csv(const struct kymo_report *report, struct kymo_stat_group *group);
/* The table, and the calls that are not in it. KYMO_E_MEMORY. */
int kymo_functions_report(const struct kymo_functions *functions, const struct kymo_report *report);
void kymo_functions_free(struct kymo_functions *functions);

#endif
