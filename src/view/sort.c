/* SPDX-License-Identifier: MIT */
/*
 * Events that are earlier than those before them on their track: files that are not in order, and live
 * traces. What fits into the tail goes there. All else waits in a file until there is nothing to index. Then
 * it is sorted in, by steps:
 *
 *   the list is sorted           by series, time, and the order in which its entries came
 *   each of its series is made   anew, from the first chunk on that changes, by merging it with the list
 *   the new chunks take the place of the old ones, whose blocks are given back to the store
 *
 * Meanwhile the series is drawn as it is, and grows at its end.
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
  series->revision++;
  return true;
}

/* ---- waiting ---- */

static struct view_waiting *list_in(const struct view_store *store) {
  return (struct view_waiting *)(void *)store->base;
}

/* False: the file cannot grow. */
static bool append(struct view_store *store, const struct view_waiting *waiting) {
  uint64_t at = view_store_add(store, sizeof *waiting);
  if (at == UINT64_MAX)
    return false;
  list_in(store)[at / sizeof *waiting] = *waiting;
  return true;
}

static bool is_late(const struct view_series *series, int64_t time_ns) {
  return series->tail_count && time_ns < series->tail[series->tail_count - 1].time_ns;
}

/* Whether entries of a series may have been merged: then they stay where they are. */
static bool is_merged(const struct view_unsorted *unsorted, uint32_t number) {
  return unsorted->sorting && unsorted->sorting->is_merging && unsorted->sorting->series == number;
}

bool view_put_sorted(struct view_unsorted *unsorted, struct view_series *series, struct view_store *store,
                     uint32_t number, const struct view_entry *entry) {
  if (!is_late(series, entry->time_ns))
    return view_series_add(series, store, entry);
  if (fits_tail(series, entry->time_ns) && !is_merged(unsorted, number))
    return put_into_tail(series, store, entry);
  if (!unsorted->store.base && view_store_temporary(&unsorted->store, NULL) != KYMO_OK)
    return false;
  unsorted->count++;
  return append(&unsorted->store, &(struct view_waiting){*entry, number});
}

/* ---- the list ---- */

/* Equal times stay in the order in which they came. */
static bool is_before(const struct view_waiting *a, const struct view_waiting *b) {
  return a->series != b->series ? a->series < b->series : a->entry.time_ns < b->entry.time_ns;
}

static bool begin_sorting(struct view_unsorted *unsorted) {
  struct view_sorting *sorting = calloc(1, sizeof *sorting);
  if (!sorting || view_store_temporary(&sorting->lists[1], NULL) != KYMO_OK)
    return free(sorting), false;
  sorting->lists[0] = unsorted->store;
  sorting->count = unsorted->count;
  sorting->run = sorting->right = 1;
  unsorted->store = (struct view_store){0};
  unsorted->count = 0;
  unsorted->sorting = sorting;
  return true;
}

static void end_sorting(struct view_unsorted *unsorted) {
  struct view_sorting *sorting = unsorted->sorting;
  if (!sorting)
    return;
  for (unsigned i = 0; i < 2; i++)
    view_store_end(&sorting->lists[i]);
  view_series_free(&sorting->made);
  view_rest_free(&sorting->rest);
  free(sorting);
  unsorted->sorting = NULL;
}

void view_unsorted_free(struct view_unsorted *unsorted) {
  end_sorting(unsorted);
  view_store_end(&unsorted->store);
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Where a run ends that begins somewhere. */
static uint64_t end_of_run(const struct view_sorting *sorting, uint64_t begin) {
  return begin + least(sorting->run, sorting->count - begin);
}

/* Goes on to the next two runs; after the last ones, to runs of twice the length. */
static void next_runs(struct view_sorting *sorting, uint64_t end) {
  if (end == sorting->count) {
    sorting->run *= 2;
    sorting->list ^= 1;
    end = 0;
  }
  sorting->begin = sorting->left = end;
  sorting->right = end_of_run(sorting, end);
}

/* Merges two runs that follow one another, stably, to the other file. False: it cannot grow. */
static bool sort_list(struct view_sorting *sorting, uint64_t *entries) {
  const struct view_waiting *from = list_in(&sorting->lists[sorting->list]);
  struct view_store *to = &sorting->lists[!sorting->list];
  uint64_t middle = end_of_run(sorting, sorting->begin), end = end_of_run(sorting, middle);
  for (; *entries && (sorting->left < middle || sorting->right < end); --*entries) {
    bool is_right = sorting->left == middle ||
                    (sorting->right < end && is_before(&from[sorting->right], &from[sorting->left]));
    uint64_t at = sorting->left + sorting->right - middle;
    const struct view_waiting *next = &from[is_right ? sorting->right++ : sorting->left++];
    if (at * sizeof *next == to->used && !append(to, next))
      return false;
    list_in(to)[at] = *next;
  }
  if (sorting->left == middle && sorting->right == end)
    next_runs(sorting, end);
  return true;
}

/* ---- series ---- */

/* From the chunk on that has the last entry that is not after the first one of the list: how long that is
 * until the next one is known by its block. */
static void begin_merging(struct view_sorting *sorting, const struct view_store *store,
                          view_series_of *series_of, void *user) {
  const struct view_waiting *first = &list_in(&sorting->lists[sorting->list])[sorting->next];
  const struct view_series *series = series_of(user, first->series);
  uint64_t before = view_series_find(series, store, first->entry.time_ns + 1, 0); /* a later one is there */
  sorting->series = first->series;
  sorting->chunk = before ? (before - 1) / VIEW_CHUNK_ENTRIES : 0;
  sorting->old = sorting->chunk * VIEW_CHUNK_ENTRIES;
  sorting->made = view_series_from(series, sorting->chunk);
  sorting->is_merging = true;
}

/* The next entry of the list, if it is of the series; or NULL. */
static const struct view_waiting *next_of_list(const struct view_sorting *sorting) {
  const struct view_waiting *next = &list_in(&sorting->lists[sorting->list])[sorting->next];
  return sorting->next < sorting->count && next->series == sorting->series ? next : NULL;
}

/* Of equal times, one that waited came after those of the series. False: no memory. */
static bool merge(struct view_sorting *sorting, struct view_series *series, struct view_store *store,
                  uint64_t *entries) {
  struct view_entry block[VIEW_BLOCK];
  unsigned count;
  const struct view_waiting *next = next_of_list(sorting);
  for (bool is_read = false; *entries && (next || sorting->old < series->count); --*entries) {
    if (sorting->old < series->count && (!is_read || sorting->old % VIEW_BLOCK == 0))
      view_series_block(series, store, sorting->old, block, &count);
    is_read = true;
    const struct view_entry *old = &block[sorting->old % VIEW_BLOCK];
    bool is_old = sorting->old < series->count && (!next || old->time_ns <= next->entry.time_ns);
    if (!view_series_add(&sorting->made, store, is_old ? old : &next->entry))
      return false;
    sorting->old += is_old;
    sorting->next += !is_old;
    next = next_of_list(sorting);
  }
  if (next || sorting->old < series->count)
    return true;
  sorting->is_merging = false;
  return view_series_replace(series, &sorting->made, sorting->chunk, &sorting->rest);
}

/* Gives back the blocks of the series before. */
static void give_rest(struct view_rest *rest, struct view_store *store, uint64_t *entries) {
  *entries -= view_rest_give(rest, store, *entries);
  if (rest->block == rest->blocks)
    view_rest_free(rest);
}

int view_sort_step(struct view_unsorted *unsorted, struct view_store *store, view_series_of *series_of,
                   void *user, uint64_t entries) {
  if (!unsorted->sorting && unsorted->count && !begin_sorting(unsorted))
    return KYMO_E_MEMORY;
  struct view_sorting *sorting = unsorted->sorting;
  bool is_done = true;
  while (sorting && entries && is_done) {
    if (sorting->run < sorting->count)
      is_done = sort_list(sorting, &entries);
    else if (sorting->rest.summaries)
      give_rest(&sorting->rest, store, &entries);
    else if (sorting->is_merging)
      is_done = merge(sorting, series_of(user, sorting->series), store, &entries);
    else if (sorting->next < sorting->count)
      begin_merging(sorting, store, series_of, user);
    else
      end_sorting(unsorted), sorting = NULL;
  }
  return !is_done ? KYMO_E_MEMORY : sorting || unsorted->count ? KYMO_OK : KYMO_END;
}

/* ---- events ---- */

bool view_put_event(struct view *view, uint32_t track, const struct view_entry *entry) {
  struct view_series *events = &view->tracks[track].events;
  return is_late(events, entry->time_ns)
             ? view_put_sorted(&view->unsorted, events, &view->store, track, entry)
             : view_series_add(events, &view->store, entry);
}

static struct view_series *events_of(void *user, uint32_t number) {
  struct view *view = user;
  return &view->tracks[number].events;
}

int view_sort_events(struct view *view, uint64_t entries) {
  return view_sort_step(&view->unsorted, &view->store, events_of, view, entries);
}

static bool put_series_at(struct view *view, struct view_series *series, int64_t time_ns) {
  struct view_series made = view_series_from(series, 0);
  struct view_rest rest;
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
  is_done = is_done && view_series_replace(series, &made, 0, &rest);
  if (!is_done)
    return view_series_free(&made), false;
  view_rest_give(&rest, &view->store, rest.blocks);
  view_rest_free(&rest);
  return true;
}

bool view_put_at(struct view *view, int64_t time_ns) {
  bool is_done = true;
  for (uint32_t i = 0; i < view->track_count && is_done; i++)
    is_done = put_series_at(view, &view->tracks[i].events, time_ns);
  for (size_t i = 0; i < view->loss_count; i++)
    if (!view->losses[i].has_times)
      view->losses[i].begin_ns = view->losses[i].end_ns = time_ns;
  return is_done;
}
