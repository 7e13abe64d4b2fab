/* SPDX-License-Identifier: MIT */
/*
 * The kernel's events that sample threads: one for each thread and processor, inherited by the threads and
 * processes that it starts, and one ring in shared memory for each processor, which they all write to.
 */
#ifndef KYMO_LIVE_SAMPLES_EVENTS_H
#define KYMO_LIVE_SAMPLES_EVENTS_H

#include <kymo/error.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct kymo_sampling_ring {
  uint32_t cpu;
  int event; /* the first one of the processor, which has the ring */
  struct perf_event_mmap_page *head;
  const uint8_t *data;
  uint64_t size; /* of the data, a power of two; the head is a page before it */
};

struct kymo_sampling_events {
  struct perf_event_attr attr;
  const char *name; /* of the event: cycles, cpu-clock */
  struct kymo_sampling_ring *rings;
  size_t ring_count, ring_capacity;
  int *others; /* events that write to the ring of another one */
  size_t other_count, other_capacity;
  bool may_repeat; /* some threads may have several events for a processor (once.h) */
};

/* Finds what this machine can count, and what the caller may: cycles, else cpu-clock; with the kernel's part
 * or without. KYMO_E_ABSENT, KYMO_E_SYSTEM: neither, and how to get it. `at_exec`: counting begins when the
 * thread executes a program, else when the event is opened. */
int kymo_sampling_events_choose(struct kymo_sampling_events *events, uint32_t hz, bool at_exec,
                                struct kymo_error *error);
/* Samples a thread on all processors. KYMO_E_UNKNOWN: it has ended. Without `at_exec` records have the ids of
 * their events. */
int kymo_sampling_events_add(struct kymo_sampling_events *events, pid_t tid, struct kymo_error *error);
/* How many records the kernel could not store, as it has counted itself; 0 if it has no such counter. */
uint64_t kymo_sampling_events_lost(const struct kymo_sampling_events *events);
/* Nothing is sampled any more; what the rings hold stays there. */
void kymo_sampling_events_stop(struct kymo_sampling_events *events);
void kymo_sampling_events_free(struct kymo_sampling_events *events);

#endif
