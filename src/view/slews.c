/* SPDX-License-Identifier: MIT */
/*
 * Rows when the times of some tracks are shifted: the events of all tracks, merged by the times that are
 * shown.
 *
 * How many events are before a time is known of each track by its index, so a row is found by halving times;
 * from there the tracks are merged. Nothing is sorted, whatever the number of events.
 */
#include "view/state.h"
#include "base/fail.h"
#include <stdlib.h>

/* A track, and its next event that is wanted. */
struct cursor {
  int64_t slew_ns;
  const struct view_bits *bits; /* NULL: all events are wanted */
  bool is_done;
  uint64_t at;
  struct view_mark mark;
  int64_t shown_ns; /* its time, shifted */
};

struct merge {
  struct view *view;
  struct cursor *cursors; /* by track */
};

static int begin(struct merge *merge, struct view *view, const struct view_slews *slews,
                 struct view_filter *filter) {
  *merge = (struct merge){view, calloc(view->track_count + 1u, sizeof *merge->cursors)};
  if (!merge->cursors)
    return KYMO_E_MEMORY;
  for (size_t i = 0; i < slews->count; i++) {
    if (slews->tracks[i] >= view->track_count)
      return KYMO_E_UNKNOWN;
    merge->cursors[slews->tracks[i]].slew_ns = slews->ns[i];
  }
  for (uint32_t i = 0; i < view->track_count; i++) {
    const struct view_series *series = &view->tracks[i].events;
    if (filter && !view_trust(view, series, 0, series->count))
      return KYMO_AGAIN;
    if (filter && !(merge->cursors[i].bits = view_filter_bits(filter, i)))
      return KYMO_E_MEMORY;
  }
  return KYMO_OK;
}

static int end(struct merge *merge, int status) {
  free(merge->cursors);
  return status == KYMO_OK && !view_is_whole(merge->view) ? KYMO_AGAIN : status;
}

/* The first event of a track that is shown at or after a time. What is wrong of a kept index is not read. */
static uint64_t find(const struct merge *merge, uint32_t track, int64_t time_ns) {
  struct view *view = merge->view;
  const struct view_series *series = &view->tracks[track].events;
  int64_t own_ns = view_shift_back(time_ns, merge->cursors[track].slew_ns);
  if (series->unchecked && !view_trust_times(view, series, own_ns, own_ns))
    return 0;
  return view_series_find(series, &view->store, own_ns, 0);
}

/* How many wanted events are shown before a time. */
static uint64_t rank(const struct merge *merge, int64_t time_ns) {
  const struct view *view = merge->view;
  uint64_t count = 0;
  for (uint32_t i = 0; i < view->track_count; i++) {
    const struct cursor *cursor = &merge->cursors[i];
    uint64_t before = find(merge, i, time_ns);
    count += cursor->bits ? view_bits_rank(cursor->bits, before) : before;
  }
  return count;
}

/* The time at which a row is shown: the last one before which no more than `row` events are. */
static int64_t time_of(const struct merge *merge, uint64_t row) {
  int64_t low = INT64_MIN, high = INT64_MAX;
  while (low < high) {
    int64_t middle = (int64_t)((uint64_t)low + ((uint64_t)high - (uint64_t)low) / 2 + 1);
    if (rank(merge, middle) <= row)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* ---- merging ---- */

/* Puts a cursor on the first wanted event from an index on. */
static void seek(const struct merge *merge, uint32_t track, uint64_t index) {
  struct view *view = merge->view;
  const struct view_series *series = &view->tracks[track].events;
  struct cursor *cursor = &merge->cursors[track];
  cursor->at = index < series->count && (!series->unchecked || view_trust(view, series, index, index + 1))
                   ? view_series_seek(series, &view->store, cursor->bits, UINT32_MAX, index, false)
                   : UINT64_MAX;
  cursor->is_done = cursor->at == UINT64_MAX;
  if (cursor->is_done)
    return;
  struct view_entry entry = view_series_get(series, &view->store, cursor->at);
  cursor->mark = (struct view_mark){entry.time_ns, entry.value, track, entry.code, false};
  cursor->shown_ns = view_shift(entry.time_ns, cursor->slew_ns);
}

static void go_to_time(const struct merge *merge, int64_t time_ns) {
  for (uint32_t i = 0; i < merge->view->track_count; i++)
    seek(merge, i, find(merge, i, time_ns));
}

static bool is_before(const struct cursor *a, const struct cursor *b) {
  return a->shown_ns != b->shown_ns ? a->shown_ns < b->shown_ns : a->mark.number < b->mark.number;
}

/* The next event of all tracks; false: there are no more. */
static bool next(const struct merge *merge, struct view_mark *mark) {
  const struct cursor *first = NULL;
  for (uint32_t i = 0; i < merge->view->track_count; i++) {
    const struct cursor *cursor = &merge->cursors[i];
    if (!cursor->is_done && (!first || is_before(cursor, first)))
      first = cursor;
  }
  if (!first)
    return false;
  *mark = first->mark;
  seek(merge, mark->track, first->at + 1);
  return true;
}

/* ---- rows ---- */

static int read_rows(const struct merge *merge, uint64_t first, size_t count, view_row_handler *handler,
                     void *user, struct kymo_error *error) {
  struct view_mark *marks = calloc(count + 1, sizeof *marks), skipped;
  size_t found = 0;
  int64_t time_ns = time_of(merge, first);
  if (!marks)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  uint64_t before = rank(merge, time_ns);
  go_to_time(merge, time_ns);
  while (before < first && next(merge, &skipped))
    before++;
  while (before == first && found < count && next(merge, &marks[found]))
    found++;
  int status = view_read_marks(merge->view, marks, found, first, handler, user, error);
  free(marks);
  return status;
}

int view_slewed_rows(struct view *view, const struct view_slews *slews, struct view_filter *filter,
                     uint64_t first, uint64_t count, view_row_handler *handler, void *user,
                     struct kymo_error *error) {
  struct merge merge;
  int status = begin(&merge, view, slews, filter);
  if (status == KYMO_OK)
    status = read_rows(&merge, first, (size_t)count, handler, user, error);
  return end(&merge, status);
}

int view_slewed_row_of(struct view *view, const struct view_slews *slews, struct view_filter *filter,
                       uint64_t number, uint64_t *row) {
  struct merge merge;
  struct view_mark mark, other;
  int status = begin(&merge, view, slews, filter);
  *row = 0;
  if (status == KYMO_OK)
    status = view_prepare_numbers(view);
  if (status == KYMO_OK && view_find(view, number, &mark)) {
    struct cursor here = {.mark = mark,
                          .shown_ns = view_shift(mark.time_ns, merge.cursors[mark.track].slew_ns)};
    *row = rank(&merge, here.shown_ns);
    go_to_time(&merge, here.shown_ns);
    while (next(&merge, &other)) {
      struct cursor at = {.mark = other,
                          .shown_ns = view_shift(other.time_ns, merge.cursors[other.track].slew_ns)};
      if (!is_before(&at, &here))
        break;
      ++*row;
    }
  }
  return end(&merge, status);
}

int view_slewed_row_at(struct view *view, const struct view_slews *slews, struct view_filter *filter,
                       int64_t time_ns, uint64_t *row) {
  struct merge merge;
  int status = begin(&merge, view, slews, filter);
  *row = status == KYMO_OK ? rank(&merge, time_ns) : 0;
  return end(&merge, status);
}
