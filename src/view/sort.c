/* SPDX-License-Identifier: MIT */
/*
 * Events that are earlier than those before them on their track: files that are not in order, and live
 * traces. What fits into the tail goes there. All else waits in a file until there is nothing to index; then
 * its tracks are put together anew.
 */
#include "view/state.h"
#include <stdlib.h>
#include <string.h>

/* ---- into the tail ---- */

static bool fits_tail(const struct view_series *series, int64_t time_ns) {
  return series->tail_count > 0 && series->tail_count < VIEW_BLOCK &&
         (series->blocks == 0 || series->tail[0].time_ns <= time_ns);
}

static bool put_into_tail(struct view_series *series, struct view_store *store,
                          const struct view_entry *entry) {
  uint32_t at = series->tail_count;
  if (!view_series_add(series, store, entry))
    return false;
  for (; at > 0 && series->tail[at - 1].time_ns > entry->time_ns; at--)
    series->tail[at] = series->tail[at - 1];
  series->tail[at] = *entry;
  series->has_falls = true; /* an earlier event with a larger number is after it now */
  return true;
}

/* ---- waiting ---- */

/* order: among equal times; 0: it was in its series already. */
static bool wait_for_sort(struct view_unsorted *unsorted, uint32_t number, const struct view_entry *entry,
                          uint64_t order) {
  if (!unsorted->store.base && view_store_temporary(&unsorted->store, NULL) != KYMO_OK)
    return false;
  uint64_t at = view_store_add(&unsorted->store, sizeof(struct view_waiting));
  if (at == UINT64_MAX)
    return false;
  *(struct view_waiting *)(void *)(unsorted->store.base + at) = (struct view_waiting){*entry, order, number};
  unsorted->count++;
  return true;
}

static bool is_late(const struct view_series *series, int64_t time_ns) {
  return series->tail_count && time_ns < series->tail[series->tail_count - 1].time_ns;
}

bool view_put_sorted(struct view_unsorted *unsorted, struct view_series *series, struct view_store *store,
                     uint32_t number, const struct view_entry *entry) {
  if (!is_late(series, entry->time_ns))
    return view_series_add(series, store, entry);
  if (fits_tail(series, entry->time_ns))
    return put_into_tail(series, store, entry);
  series->is_unsorted = true;
  return wait_for_sort(unsorted, number, entry, unsorted->count + 1);
}

bool view_put_event(struct view *view, uint32_t track, const struct view_entry *entry) {
  struct view_series *series = &view->tracks[track].events;
  view->tracks[track].revision += is_late(series, entry->time_ns);
  return view_put_sorted(&view->unsorted, series, &view->store, track, entry);
}

/* ---- sorting ---- */

/* Equal times are in the order in which they came: one that waits came after all of its time that its series
 * has. */
static bool is_before(const struct view_waiting *a, const struct view_waiting *b) {
  return a->series != b->series                 ? a->series < b->series
         : a->entry.time_ns != b->entry.time_ns ? a->entry.time_ns < b->entry.time_ns
                                                : a->order < b->order;
}

/* Merges two runs that follow one another. */
static void merge_runs(const struct view_waiting *from, uint64_t middle, uint64_t end,
                       struct view_waiting *to) {
  for (uint64_t i = 0, k = middle, at = 0; at < end; at++)
    to[at] = k >= end || (i < middle && !is_before(&from[k], &from[i])) ? from[i++] : from[k++];
}

/* Sorts stably, between two files, so that no memory of ours is needed. The result is in *list. */
static void sort_list(struct view_waiting **list, struct view_waiting **other, uint64_t count) {
  for (uint64_t run = 1; run < count; run *= 2) {
    for (uint64_t i = 0; i < count; i += 2 * run) {
      uint64_t end = count - i < 2 * run ? count - i : 2 * run;
      merge_runs(*list + i, run < end ? run : end, end, *other + i);
    }
    struct view_waiting *last = *list;
    *list = *other;
    *other = last;
  }
}

/* Adds what an unsorted series has already. */
static bool take_back(struct view_unsorted *unsorted, struct view_series *series,
                      const struct view_store *store, uint32_t number) {
  enum view_series_kind kind = series->kind;
  for (uint64_t at = 0; at < series->count; at += VIEW_BLOCK) {
    struct view_entry entries[VIEW_BLOCK];
    unsigned count;
    view_series_block(series, store, at, entries, &count);
    for (unsigned k = 0; k < count; k++)
      if (!wait_for_sort(unsorted, number, &entries[k], 0))
        return false;
  }
  view_series_free(series);
  series->kind = kind;
  return true;
}

bool view_sort_series(struct view_unsorted *unsorted, struct view_store *store, view_series_of *series_of,
                      void *user, uint32_t series_count) {
  struct view_store other = {0};
  bool is_done = true;
  if (!unsorted->count)
    return true;
  for (uint32_t i = 0; i < series_count && is_done; i++)
    is_done = !series_of(user, i)->is_unsorted || take_back(unsorted, series_of(user, i), store, i);
  is_done = is_done && view_store_temporary(&other, NULL) == KYMO_OK &&
            view_store_add(&other, unsorted->count * sizeof(struct view_waiting)) != UINT64_MAX;
  if (is_done) {
    struct view_waiting *list = (struct view_waiting *)(void *)unsorted->store.base,
                        *spare = (struct view_waiting *)(void *)other.base;
    sort_list(&list, &spare, unsorted->count);
    for (uint64_t i = 0; i < unsorted->count && is_done; i++)
      is_done = view_series_add(series_of(user, list[i].series), store, &list[i].entry);
  }
  view_store_end(&other);
  view_store_end(&unsorted->store);
  unsorted->count = 0;
  return is_done;
}

static bool put_series_at(struct view *view, struct view_series *series, int64_t time_ns) {
  struct view_series made = {.kind = VIEW_EVENTS};
  bool is_done = true;
  for (uint64_t at = 0; at < series->count && is_done; at += VIEW_BLOCK) {
    struct view_entry entries[VIEW_BLOCK];
    unsigned count;
    view_series_block(series, &view->store, at, entries, &count);
    for (unsigned k = 0; k < count && is_done; k++) {
      entries[k].time_ns = time_ns;
      is_done = view_series_add(&made, &view->store, &entries[k]);
    }
  }
  view_series_free(series);
  *series = made;
  return is_done;
}

bool view_put_at(struct view *view, int64_t time_ns) {
  bool is_done = true;
  for (uint32_t i = 0; i < view->track_count && is_done; i++) {
    is_done = put_series_at(view, &view->tracks[i].events, time_ns);
    view->tracks[i].revision++;
  }
  for (size_t i = 0; i < view->loss_count; i++)
    if (!view->losses[i].has_times)
      view->losses[i].begin_ns = view->losses[i].end_ns = time_ns;
  return is_done;
}

static struct view_series *events_of(void *user, uint32_t number) {
  struct view *view = user;
  return &view->tracks[number].events;
}

bool view_sort(struct view *view) {
  for (uint32_t i = 0; i < view->track_count; i++)
    view->tracks[i].revision += view->tracks[i].events.is_unsorted;
  return view_sort_series(&view->unsorted, &view->store, events_of, view, view->track_count);
}
