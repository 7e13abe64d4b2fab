/* SPDX-License-Identifier: MIT */
/* The frames of several files in the order of their numbers: a heap of the files, the lowest number on
 * top. */
#include "base/fail.h"
#include "base/list.h"
#include "format/frames/frames.h"
#include "format/sequence.h"
#include "source/format.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

/* While files grow, a missing number is waited for, unless all files have later ones and new files were
 * looked for since. */
#define GAP_NS (INT64_C(2) * 1000000000)
/* Base of the extension of the number 0, so that there is space below it. */
#define FIRST (UINT64_C(1) << 32)

/* ---- the heap ---- */

/* What must be reported first comes first. */
static uint64_t key(const struct frames_order *order, uint32_t window) {
  const struct frames_entry *head = kymo_frames_window_head(order->windows[window]);
  return head ? head->number : 0;
}

static void sink(struct frames_order *order, uint32_t place) {
  uint32_t *heap = order->heap, moved = heap[place];
  uint64_t number = key(order, moved);
  for (uint32_t below = 2 * place + 1; below < order->heap_count; below = 2 * place + 1) {
    if (below + 1 < order->heap_count && key(order, heap[below + 1]) < key(order, heap[below]))
      below++;
    if (number <= key(order, heap[below]))
      break;
    heap[place] = heap[below];
    place = below;
  }
  heap[place] = moved;
}

static void push(struct frames_order *order, uint32_t window) {
  uint32_t place = order->heap_count++, *heap = order->heap;
  uint64_t number = key(order, window);
  for (; place > 0 && key(order, heap[(place - 1) / 2]) > number; place = (place - 1) / 2)
    heap[place] = heap[(place - 1) / 2];
  heap[place] = window;
  order->is_queued[window] = true;
}

/* The top has changed. */
static void settle(struct frames_order *order) {
  const struct frames_window *top = order->windows[order->heap[0]];
  if (!top->count && !top->is_broken) {
    order->is_queued[order->heap[0]] = false;
    order->heap[0] = order->heap[--order->heap_count];
  }
  if (order->heap_count)
    sink(order, 0);
}

/* ---- files ---- */

void kymo_frames_order_close(struct frames_order *order) {
  for (uint32_t i = 0; i < order->count; i++) {
    kymo_frames_window_close(order->windows[i]);
    free(order->windows[i]);
  }
  free(order->windows);
  free(order->heap);
  free(order->is_queued);
}

/* The file was removed, and read completely. */
static bool is_over(const struct frames_window *window) {
  struct stat info;
  return !window->count && !window->is_broken && window->at >= window->size && window->map.fd >= 0 &&
         fstat(window->map.fd, &info) == 0 && info.st_nlink == 0;
}

static void leave(struct frames_order *order, uint32_t at) {
  kymo_frames_window_leave(order->windows[at]);
  order->gone++;
  if (!order->is_queued[at])
    return;
  order->is_queued[at] = false;
  uint32_t count = order->heap_count;
  order->heap_count = 0;
  for (uint32_t i = 0; i < count; i++)
    if (order->heap[i] != at)
      push(order, order->heap[i]);
}

/* Adds files that were created since. */
static int take_in(struct frames_order *order, struct kymo_error *error) {
  uint32_t count = order->frames->count;
  if (order->count == count)
    return KYMO_OK;
  if (!KYMO_LIST_RESERVE(order->windows, order->window_capacity, count) ||
      !KYMO_LIST_RESERVE(order->heap, order->heap_capacity, count) ||
      !KYMO_LIST_RESERVE(order->is_queued, order->queued_capacity, count))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  while (order->count < count) {
    struct frames_window *window = order->windows[order->count] = calloc(1, sizeof *window);
    if (!window)
      return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    order->is_queued[order->count] = false;
    int status = kymo_frames_window_open(window, order->frames->files[order->count++], error);
    if (status != KYMO_OK && !kymo_trace_is_followed(order->frames->trace))
      return status;
    if (status != KYMO_OK)
      leave(order, order->count - 1);
  }
  return KYMO_OK;
}

/* Whether there is no reason for missing events at the start of a stream: rotation, overwriting, a merge of
 * some files. */
static bool is_from_start(const struct frames_window *window) {
  const struct frames_head *head = &window->file->head;
  return !head->is_stap && !head->is_merged && !head->is_newest && head->part == 0;
}

/* Numbers are extended from the first one of any file; from 0, if the stream must have begun there: a gap
 * before it is a loss. */
static void find_base(struct frames_order *order) {
  uint32_t number;
  bool is_from_0 = true;
  for (uint32_t i = 0; i < order->count; i++) {
    bool has_number = kymo_frames_window_number(order->windows[i], order->windows[i]->at, &number);
    if (has_number && !order->has_base)
      order->expected = FIRST + number;
    order->has_base |= has_number;
    is_from_0 &= is_from_start(order->windows[i]) && !(has_number && number > INT32_MAX);
  }
  if (!order->has_base || !is_from_0)
    return;
  order->expected = FIRST;
  order->has_begun = order->is_at_start = true;
}

/* A file may disappear while it is followed, if files rotate: its unread part is a gap. */
static int show(struct frames_order *order, uint32_t at, struct kymo_error *error) {
  struct frames_window *window = order->windows[at];
  int status = window->is_gone ? KYMO_OK : kymo_frames_window_show(window, error);
  if (!window->is_followed || window->is_gone)
    return status;
  if (status != KYMO_OK || is_over(window))
    leave(order, at);
  return KYMO_OK;
}

int kymo_frames_order_show(struct frames_order *order, struct kymo_error *error) {
  int status = take_in(order, error);
  bool is_followed = kymo_trace_is_followed(order->frames->trace);
  for (uint32_t i = 0; i < order->count && status == KYMO_OK; i++) {
    order->windows[i]->is_followed = is_followed;
    order->windows[i]->has_definitions = order->frames->all_classes;
    status = show(order, i, error);
  }
  if (status == KYMO_OK && !order->has_base && !order->has_begun && (is_followed || !order->has_looked)) {
    order->has_looked = true;
    find_base(order);
  }
  for (uint32_t i = 0; i < order->count && status == KYMO_OK; i++) {
    if (order->is_queued[i])
      continue;
    kymo_frames_window_fill(order->windows[i], order->expected);
    if (order->windows[i]->count || order->windows[i]->is_broken)
      push(order, i);
  }
  return status;
}

/* ---- the next frame ---- */

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_definition(const struct frames_order *order, uint32_t at) {
  return kymo_frames_window_head(order->windows[at])->flags & KYMO_FRAME_DEFINITION_;
}

bool kymo_frames_order_is_gap(const struct frames_order *order, uint32_t at) {
  return order->has_begun && !is_definition(order, at) &&
         kymo_frames_window_head(order->windows[at])->number > order->expected;
}

/* Whether the missing numbers may still be written. */
static bool must_wait(struct frames_order *order, uint32_t at) {
  uint64_t number = kymo_frames_window_head(order->windows[at])->number;
  bool is_next =
      is_definition(order, at) || (order->has_begun ? number <= order->expected : (number & UINT32_MAX) == 0);
  if (is_next || !order->windows[at]->is_followed) {
    order->gap_ns = 0;
    return false;
  }
  if (!order->gap_ns) {
    order->gap_ns = now_ns();
    order->gap_looks = order->frames->looks;
  }
  bool have_all_later =
      order->heap_count + order->gone == order->count && order->frames->looks > order->gap_looks;
  return !have_all_later && now_ns() - order->gap_ns < GAP_NS;
}

int kymo_frames_order_peek(struct frames_order *order, uint32_t *at) {
  if (!order->heap_count)
    return kymo_trace_is_followed(order->frames->trace) ? KYMO_AGAIN : KYMO_END;
  *at = order->heap[0];
  if (!order->windows[*at]->count)
    return FRAMES_DAMAGE;
  return must_wait(order, *at) ? KYMO_AGAIN : KYMO_OK;
}

int kymo_frames_order_report(struct frames_order *order, uint32_t at, uint64_t *lost_bytes,
                             struct kymo_error *error) {
  struct frames_window *window = order->windows[at];
  *lost_bytes = window->note.lost_bytes;
  kymo_fail_at(error, KYMO_E_FORMAT, window->file->path, window->note.offset, "%s", window->note.text);
  kymo_frames_window_repair(window);
  kymo_frames_window_fill(window, order->expected);
  settle(order);
  return KYMO_E_FORMAT;
}

void kymo_frames_order_pass(struct frames_order *order, uint32_t at) {
  uint64_t number = kymo_frames_window_head(order->windows[at])->number;
  order->lost += number - order->expected;
  order->expected = number;
}

void kymo_frames_order_take(struct frames_order *order, uint32_t at) {
  struct frames_window *window = order->windows[at];
  uint64_t number = kymo_frames_window_head(window)->number;
  if (!is_definition(order, at)) {
    order->expected = order->has_begun && number < order->expected ? order->expected : number + 1;
    order->has_begun = true;
    order->is_at_start = false;
  }
  order->gap_ns = 0;
  window->first++;
  window->count--;
  kymo_frames_window_fill(window, order->expected);
  settle(order);
}

/* ---- places ---- */

bool kymo_frames_place_take(struct frames_place *place, const struct frames_order *order) {
  if (!order->heap_count || (order->has_begun && key(order, order->heap[0]) < order->expected))
    return false;
  *place = (struct frames_place){.marks = calloc(order->count, sizeof *place->marks),
                                 .count = order->count,
                                 .has_begun = order->has_begun,
                                 .is_at_start = order->is_at_start,
                                 .expected = order->expected,
                                 .lost = order->lost,
                                 .time_ns = order->time_ns};
  for (uint32_t i = 0; place->marks && i < order->count; i++) {
    const struct frames_window *window = order->windows[i];
    uint64_t restart = window->at;
    for (uint32_t k = 0; k < window->count; k++) {
      uint64_t begin = kymo_frames_begin(window->file, &window->entries[window->first + k]);
      restart = begin < restart ? begin : restart;
    }
    place->marks[i] = (struct frames_mark){restart, window->at};
  }
  return place->marks != NULL;
}

bool kymo_frames_place_is_before(const struct frames_place *place, const struct frames_order *order,
                                 uint32_t file, uint64_t offset) {
  uint32_t number;
  if (!place->has_begun || file >= place->count || offset >= place->marks[file].at)
    return true;
  return offset >= place->marks[file].restart &&
         kymo_frames_window_number(order->windows[file], offset, &number) &&
         kymo_sequence_distance(place->expected & UINT32_MAX, number, 32) >= 0;
}

int kymo_frames_place_restore(const struct frames_place *place, struct frames_order *order,
                              struct kymo_error *error) {
  order->has_begun = place && place->has_begun;
  order->is_at_start = place && place->is_at_start;
  order->has_base = place != NULL;
  order->has_looked = false;
  order->expected = place ? place->expected : FIRST;
  order->lost = place ? place->lost : 0;
  order->time_ns = place ? place->time_ns : 0;
  order->gap_ns = 0;
  order->heap_count = 0;
  for (uint32_t i = 0; i < order->count; i++) {
    struct frames_window *window = order->windows[i];
    bool is_known = place && i < place->count;
    window->at = is_known ? place->marks[i].restart : window->file->head.begin;
    window->known_to = is_known ? place->marks[i].at : 0;
    window->known_below = is_known && place->has_begun ? place->expected : 0;
    window->first = window->count = 0;
    window->next = 0;
    window->is_broken = window->has_last = false;
    order->is_queued[i] = false;
  }
  return kymo_frames_order_show(order, error);
}
