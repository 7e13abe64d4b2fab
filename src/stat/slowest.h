/* SPDX-License-Identifier: MIT */
/*
 * The slowest spans of traces, and why they were slow: how much of each its thread was on a CPU, waited for
 * one, or was blocked, and in what (stat/schedule.h).
 *
 *   event ──► schedule ──► the shares of each thread
 *     └─────► latencies ──► begin: a watch of the thread;   end: its shares since, if the span is a slow one
 */
#ifndef KYMO_STAT_SLOWEST_H
#define KYMO_STAT_SLOWEST_H

#include "stat/latencies.h"
#include "stat/schedule.h"

struct kymo_slow_span {
  struct kymo_instance instance;
  const char *name; /* of its kind */
  char thread[32];  /* as in struct kymo_span */
  bool has_shares;  /* its thread is known to the kernel's events */
  struct kymo_shares shares;
  struct kymo_wait longest;
  uint64_t doubts;
  const struct kymo_sched_thread *sched;
  enum kymo_thread_state state; /* at the end of the span, where its last share is … */
  struct kymo_wait wait;        /* … and in what, if it was blocked */
};

struct kymo_slowest {
  /* set by the owner */
  struct kymo_latencies *latencies; /* whose handler is kymo_slowest_take, and user the struct kymo_slowest */
  struct kymo_schedule *schedule;   /* NULL: the reasons are not wanted */
  const struct kymo_report *report; /* whose prefix counts */
  unsigned wanted;
  /* what came of it */
  struct kymo_slow_span list[KYMO_WORST_MAX];
  unsigned count;
  /* private */
  struct kymo_watch **watches; /* of open spans, by their `lane`, from 1; NULL: free */
  uint32_t *free_lanes;
  size_t watch_count, watch_room, free_count, free_room;
};

kymo_latency_handler kymo_slowest_take;
/* After the last event and kymo_schedule_end: what is after the kernel's last event is unknown.
 * KYMO_E_MEMORY. */
int kymo_slowest_report(struct kymo_slowest *slowest);
void kymo_slowest_free(struct kymo_slowest *slowest);

#endif
