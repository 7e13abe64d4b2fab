/* SPDX-License-Identifier: MIT */
/*
 * Counters of a process's rings (kymo/live.h). Each ring counts what it has stored and lost since it was
 * made; the process is not asked.
 */
#include "base/fail.h"
#include "ring/ring.h"
#include <kymo/live.h>
#include <stdlib.h>
#include <string.h>

/* One slot: one thread at a time, its main ring and that of its signal handlers. */
struct slot {
  uint64_t events, lost, lost_large, lost_nested, overwritten, used_bytes, room_bytes;
  int32_t tid;
  char name[17];
};

struct kymo_counts {
  struct kymo_pool_view view;
  struct slot *slots;
  uint32_t count;
  struct slot sum;
  uint64_t refused_threads;
  char program[KYMO_PROGRAM_MAX];
};

static void add_ring(struct slot *slot, const struct kymo_ring_view *ring, bool discards) {
  uint64_t first, end, size = ring->pool->packet_size;
  kymo_ring_range(ring, &first, &end);
  slot->lost += kymo_ring_discarded(ring);
  slot->lost_large += __atomic_load_n(&ring->control->discarded_large, __ATOMIC_RELAXED);
  slot->lost_nested += __atomic_load_n(&ring->control->discarded_nested, __ATOMIC_RELAXED);
  if (end || ring->instance % 2 == 0) /* the small ring of signal handlers is counted if they have used it */
    slot->room_bytes += ring->packets * size;
  if (!end)
    return;
  const struct kymo_packet_control *newest = &ring->packet[(end - 1) & (ring->packets - 1)];
  uint64_t word = kymo_ring_word(ring, end - 1),
           consumed = __atomic_load_n(&ring->control->consumed, __ATOMIC_RELAXED);
  slot->events += word >> 16;
  slot->overwritten += __atomic_load_n(&ring->control->overwritten, __ATOMIC_RELAXED);
  if (discards && consumed > first)
    first = consumed < end ? consumed : end;
  slot->used_bytes += end > first ? (end - 1 - first) * size + (uint16_t)word : 0;
  if (!slot->tid) { /* the main ring's, which comes first */
    slot->tid = newest->tid;
    memcpy(slot->name, newest->thread_name, sizeof newest->thread_name);
  }
}

static void add_sum(struct slot *sum, const struct slot *slot) {
  sum->events += slot->events;
  sum->lost += slot->lost;
  sum->lost_large += slot->lost_large;
  sum->lost_nested += slot->lost_nested;
  sum->overwritten += slot->overwritten;
  sum->used_bytes += slot->used_bytes;
  sum->room_bytes += slot->room_bytes;
}

int kymo_counts_open(struct kymo_counts **out, const char *rings, struct kymo_error *error) {
  struct kymo_counts *counts = *out = calloc(1, sizeof *counts);
  if (!counts)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = kymo_pool_open(&counts->view, rings, false, error);
  if (status) {
    free(counts);
    *out = NULL;
    return status;
  }
  kymo_pool_program(&counts->view, counts->program);
  return KYMO_OK;
}

void kymo_counts_close(struct kymo_counts *counts) {
  if (!counts)
    return;
  kymo_pool_close(&counts->view);
  free(counts->slots);
  free(counts);
}

int kymo_counts_read(struct kymo_counts *counts, struct kymo_error *error) {
  const struct kymo_pool_view *view = &counts->view;
  bool discards = view->header->mode == KYMO_MODE_DISCARD, is_alive = kymo_pool_is_alive(view);
  uint32_t count = kymo_pool_slots(view);
  struct slot *slots = calloc((size_t)count + 1, sizeof *slots);
  if (!slots)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  free(counts->slots);
  counts->slots = slots;
  counts->count = count;
  counts->sum = (struct slot){0};
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t alternate = 0; alternate < 2; alternate++) {
      struct kymo_ring_view ring = kymo_pool_ring(view, i, alternate);
      add_ring(&slots[i], &ring, discards);
    }
    add_sum(&counts->sum, &slots[i]);
  }
  counts->sum.lost += __atomic_load_n(&view->header->events_refused, __ATOMIC_RELAXED);
  counts->refused_threads = __atomic_load_n(&view->header->threads_refused, __ATOMIC_RELAXED);
  return is_alive ? KYMO_OK : KYMO_END;
}

size_t kymo_counts_threads(const struct kymo_counts *counts) { return counts->count; }

static const struct slot *slot_of(const struct kymo_counts *counts, size_t thread) {
  return thread == KYMO_COUNTS_SUM ? &counts->sum : thread < counts->count ? &counts->slots[thread] : NULL;
}

int64_t kymo_counts_number(const struct kymo_counts *counts, size_t thread, enum kymo_count what) {
  const struct slot *slot = slot_of(counts, thread);
  if (!slot)
    return -1;
  switch (what) {
  case KYMO_COUNT_TID: return slot->tid;
  case KYMO_COUNT_EVENTS: return (int64_t)slot->events;
  case KYMO_COUNT_LOST: return (int64_t)slot->lost;
  case KYMO_COUNT_LOST_LARGE: return (int64_t)slot->lost_large;
  case KYMO_COUNT_LOST_NESTED: return (int64_t)slot->lost_nested;
  case KYMO_COUNT_OVERWRITTEN: return (int64_t)slot->overwritten;
  case KYMO_COUNT_USED_BYTES: return (int64_t)slot->used_bytes;
  case KYMO_COUNT_ROOM_BYTES: return (int64_t)slot->room_bytes;
  case KYMO_COUNT_REFUSED: return (int64_t)counts->refused_threads;
  case KYMO_COUNT_PID: return counts->view.header->pid;
  case KYMO_COUNT_OVERWRITES: return counts->view.header->mode != KYMO_MODE_DISCARD;
  }
  return -1;
}

const char *kymo_counts_name(const struct kymo_counts *counts, size_t thread) {
  if (thread == KYMO_COUNTS_SUM)
    return counts->program;
  return thread < counts->count ? counts->slots[thread].name : NULL;
}
