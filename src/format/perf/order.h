/* SPDX-License-Identifier: MIT */
/*
 * Records in the order of time. perf writes what each CPU has recorded one after the other, and
 * FINISHED_ROUND after all of them: no record after the next one is earlier than the latest record before
 * this one.
 *
 *   round 1 | round 2 | round 3 …        after round 2, records up to the latest time of round 1 are
 *                                        ready, and what is left waits for round 3
 *
 * Ready records are a window. Those without a time come at its begin.
 */
#ifndef KYMO_FORMAT_PERF_ORDER_H
#define KYMO_FORMAT_PERF_ORDER_H

#include "format/perf/records.h"
#include "format/perf/sample.h"

struct perf_entry {
  uint64_t time;
  const uint8_t *data; /* the record */
  uint64_t at;         /* in the file */
  uint32_t attr;       /* or PERF_NOWHERE */
  bool is_timed;
};

/* Where a round begins, for going back to it. */
struct perf_round {
  uint64_t at;     /* in the file */
  uint64_t latest; /* time of the records before it */
};

struct perf_order {
  const struct perf_file *file;
  struct perf_records records;
  struct perf_entry *entries, *spare;
  size_t count, capacity, spare_capacity;
  size_t next, ready;      /* the next entry to take; entries of the window end at `ready` */
  uint64_t latest, before; /* time of all records, and of those before this round */
  uint64_t limit;          /* of the window */
  bool is_at_end;
};

void kymo_perf_order_begin(struct perf_order *order, const struct perf_file *file, const uint8_t *data);
void kymo_perf_order_end(struct perf_order *order);
/* The next window: next < ready. KYMO_END: there is none. KYMO_E_FORMAT: nothing is read after this, but
 * there may be more windows. KYMO_E_MEMORY. */
int kymo_perf_order_fill(struct perf_order *order, struct kymo_error *error);
/* Takes the entry of the record at `at` next; `rounds` are all of the file. Only of files that are not
 * compressed. */
void kymo_perf_order_seek(struct perf_order *order, const struct perf_round *rounds, uint32_t round_count,
                          uint64_t at);

#endif
