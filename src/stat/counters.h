/* SPDX-License-Identifier: MIT */
/*
 * The counters of a running process between two readings of its rings (kymo_counts of kymo/live.h), as a
 * table or as JSON. The rates are those of the interval.
 *
 *       TID  THREAD                 EVENTS    EVENTS/S        LOST    LOST/S  BUFFER
 *      1240  worker               12345678      250000           0         0     75%
 */
#ifndef KYMO_STAT_COUNTERS_H
#define KYMO_STAT_COUNTERS_H

#include "base/strbuf.h"
#include <kymo/live.h>
#include <time.h>

enum { KYMO_COUNTERS_NAME = 65 };

/* The counters of one thread, or of all. */
struct kymo_counter_row {
  uint64_t events, lost, lost_large, lost_nested, overwritten, used_bytes, room_bytes;
  int32_t tid;
  char name[KYMO_COUNTERS_NAME];
};

/* One reading. */
struct kymo_ring_counters {
  struct kymo_counter_row *rows;
  uint32_t count;
  struct kymo_counter_row sum;
  uint64_t refused_threads;
  struct timespec at;
  bool is_over; /* the process has ended */
};

/* Reads the rings. False: out of memory. */
bool kymo_ring_counters_read(struct kymo_ring_counters *counters, struct kymo_counts *counts);
void kymo_ring_counters_free(struct kymo_ring_counters *counters);
/* "discard" or "overwrite". */
const char *kymo_ring_counters_mode(const struct kymo_counts *counts);
/* Adds at most `rows` threads that have recorded or lost events, and the sum; in `width` columns, 0: any. */
void kymo_ring_counters_table(struct kymo_strbuf *out, const struct kymo_ring_counters *before,
                              const struct kymo_ring_counters *now, int width, size_t rows);
/* Adds one line of JSON about the process `pid`. */
void kymo_ring_counters_json(struct kymo_strbuf *out, int pid, const struct kymo_counts *counts,
                             const struct kymo_ring_counters *before, const struct kymo_ring_counters *now);

#endif
