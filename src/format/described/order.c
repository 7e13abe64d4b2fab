/* SPDX-License-Identifier: MIT */
/*
 * Records that are out of order by no more than SORTED WITHIN allows, in the order of time:
 *
 *   machine ─► row ─► heap by (time, place) ─► row, as soon as no earlier record can follow
 *
 * That is so if the latest record is later by the margin. Memory is bounded: when the heap is full its first
 * row goes too early, and rows that should have come before it are reported as damage. The notes of a record
 * wait with it.
 */
#include "base/list.h"
#include "format/described/described.h"
#include <stdlib.h>

#define ROWS_MAX 65536
#define BYTES_MAX ((size_t)16 << 20)

void kymo_described_order_begin(struct described_order *order, const struct kymo_plan *plan) {
  uint64_t margin = kymo_plan_margin(plan);
  *order = (struct described_order){.is_wanted = plan->root->sorted == KYMO_SORTED_WITHIN &&
                                                 plan->root->merge == KYMO_MERGE_BY_TIME,
                                    .margin_ns = margin};
}

static void free_held(struct described_held *held) {
  free(held->bytes);
  free(held->notes);
}

void kymo_described_order_clear(struct described_order *order) {
  for (uint32_t i = 0; i < order->count; i++)
    free_held(&order->heap[i]);
  order->count = 0;
  order->bytes = 0;
  order->number = 0;
  order->is_at_end = order->has_given = false;
}

void kymo_described_order_free(struct described_order *order) {
  kymo_described_order_clear(order);
  free(order->heap);
  *order = (struct described_order){0};
}

static void *copy(const void *from, size_t count, size_t size) {
  void *to = malloc(count * size + 1);
  if (to && count)
    memcpy(to, from, count * size);
  return to;
}

bool kymo_described_order_copy(struct described_order *to, const struct described_order *from) {
  *to = *from;
  to->capacity = from->count;
  to->count = 0;
  to->heap = from->count ? calloc(from->count, sizeof *to->heap) : NULL;
  for (bool ok = to->heap != NULL; ok && to->count < from->count;) {
    struct described_held *held = &to->heap[to->count];
    *held = from->heap[to->count++];
    held->bytes = copy(held->bytes, held->size, 1);
    held->notes = copy(held->notes, held->note_count, sizeof *held->notes);
    ok = held->bytes && held->notes;
  }
  bool is_whole = to->count == from->count;
  for (uint32_t i = 0; i < to->count; i++)
    is_whole &= to->heap[i].bytes && to->heap[i].notes;
  if (!is_whole)
    kymo_described_order_free(to);
  return is_whole;
}

/* ---- the heap ---- */

static bool is_before(const struct described_held *a, const struct described_held *b) {
  return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->number < b->number;
}

static void swap(struct described_held *a, struct described_held *b) {
  struct described_held other = *a;
  *a = *b;
  *b = other;
}

static void rise(struct described_order *order, uint32_t at) {
  for (; at > 0 && is_before(&order->heap[at], &order->heap[(at - 1) / 2]); at = (at - 1) / 2)
    swap(&order->heap[at], &order->heap[(at - 1) / 2]);
}

static void sink(struct described_order *order) {
  for (uint32_t at = 0, least = 1; least < order->count; at = least, least = 2 * at + 1) {
    if (least + 1 < order->count && is_before(&order->heap[least + 1], &order->heap[least]))
      least++;
    if (!is_before(&order->heap[least], &order->heap[at]))
      return;
    swap(&order->heap[at], &order->heap[least]);
  }
}

bool kymo_described_order_add(struct described_order *order, const struct described_held *row,
                              const struct kymo_plan_machine *machine) {
  struct described_held held = *row;
  if (!KYMO_LIST_ROOM(order->heap, order->capacity, order->count))
    return false;
  held.number = order->number++;
  held.note_count = machine->note_count;
  held.notes = copy(machine->notes, held.note_count, sizeof *held.notes);
  held.bytes = copy(row->bytes, held.size, 1);
  if (!held.notes || !held.bytes) {
    free_held(&held);
    return false;
  }
  order->bytes += held.size + held.note_count * sizeof *held.notes;
  order->heap[order->count++] = held;
  rise(order, order->count - 1);
  return true;
}

struct described_held *kymo_described_order_first(struct described_order *order,
                                                  const struct kymo_plan_machine *machine) {
  struct described_held *first = order->heap;
  if (!order->count)
    return NULL;
  bool is_full = order->count >= ROWS_MAX || order->bytes >= BYTES_MAX;
  bool is_late_enough = machine->state.has_latest && machine->state.latest_ns > first->time_ns &&
                        (uint64_t)machine->state.latest_ns - (uint64_t)first->time_ns >= order->margin_ns;
  return is_full || is_late_enough || order->is_at_end ? first : NULL;
}

bool kymo_described_order_is_late(const struct described_order *order, int64_t time_ns) {
  return order->has_given && time_ns < order->given_ns;
}

void kymo_described_order_drop(struct described_order *order) {
  struct described_held *first = order->heap;
  order->given_ns = !order->has_given || first->time_ns > order->given_ns ? first->time_ns : order->given_ns;
  order->has_given = true;
  order->bytes -= first->size + first->note_count * sizeof *first->notes;
  free_held(first);
  *first = order->heap[--order->count];
  sink(order);
}
