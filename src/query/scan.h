/* SPDX-License-Identifier: MIT */
/*
 * One scan of a table of events: the events that pass its tests, in the order that was promised.
 *
 *   in time order     what reading gives; a check of the times comes first, and if they go back, the events
 *                     are sorted by their times and read by their numbers
 *   by kinds          one pass over the traces for each kind, in the order of their names; or if only times
 *                     and kinds are needed, one pass that keeps these in memory, if they are few enough
 *   counted           no pass: each kind as often as it occurs
 *   folded            each kind once, and the weight says how often it occurs (query/fold.h); counted by one
 *                     pass, if not all events are wanted
 */
#ifndef KYMO_QUERY_SCAN_H
#define KYMO_QUERY_SCAN_H

#include "query/plan.h"
#include "query/test.h"

struct query_scan {
  struct query_source *source;
  const struct query_columns *columns;
  struct query_reader *reader; /* taken while the scan goes on */
  struct kymo_arena arena;     /* of the tests */
  struct query_test *tests;
  size_t test_count;
  bool *kinds; /* by kind: wanted; NULL: all */
  bool *only;  /* by kind, while kinds are passed one by one */
  int64_t begin_ns, end_ns;
  bool is_narrowed; /* events must have a time between these: a test of the time was no more than this */
  bool folds;
  const uint64_t *counts; /* COUNTED: by kind */
  int bits;               /* enum query_plan_bits */
  uint32_t kind;          /* of the pass, or of the row, if BY_KIND or COUNTED */
  uint64_t left;          /* COUNTED: rows of this kind */
  struct query_moment
      *moments; /* the events in the order of their times, if they are not in order; or NULL */
  size_t moment_count, moment_next;
  bool is_sorted;   /* there are moments, or none */
  bool is_bucketed; /* the moments have times and kinds, in the order of kinds */
  int64_t last_ns;  /* of the event before */
  /* the row */
  const struct kymo_event *event; /* NULL: COUNTED, bucketed, or no row */
  int64_t moment_ns;              /* bucketed: its time, or INT64_MIN */
  bool is_at_end;
  int64_t row;
};

/* Begins a scan with the constraints and values of xFilter; ends the previous one. KYMO_OK: a row, or the
 * end; negative with the error. */
int query_scan_begin(struct query_scan *scan, int bits, const char *constraints, sqlite3_value **values,
                     struct kymo_error *error);
/* Goes to the next row if it is a mere number; false: query_scan_next does. */
static inline bool query_scan_skip(struct query_scan *scan) {
  if (!(scan->bits & QUERY_COUNTED) || scan->left < 2)
    return false;
  scan->left--;
  scan->row++;
  return true;
}
/* The next row; results as above. */
int query_scan_next(struct query_scan *scan, struct kymo_error *error);
/* Gives the reader back, and frees what the scan has. */
void query_scan_end(struct query_scan *scan);

#endif
