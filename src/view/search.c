/* SPDX-License-Identifier: MIT */
/*
 * Where events are: by number, by time, the next one of a sort, and tracks in the order of their events.
 *
 * The order of events is that of their times, and of their numbers where times are equal. Where all events
 * are in the order of their times, as mostly, that is the order of numbers, and needs no time, unless the
 * times of tracks are shifted.
 */
#include "view/state.h"
#include <stdlib.h>
#include <string.h>

/* A place between events. */
struct place {
  int64_t time_ns;
  uint64_t number;
};
static const struct place first_place = {INT64_MIN, 0}, last_place = {INT64_MAX, UINT64_MAX};

static bool is_before(const struct place *a, const struct place *b) {
  return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->number < b->number;
}

static struct view_mark mark_at(const struct view *view, uint32_t track, uint64_t index) {
  struct view_entry entry = view_series_get(&view->tracks[track].events, &view->store, index);
  return (struct view_mark){entry.time_ns, entry.value, track, entry.code, false};
}

static int64_t slew_of(const struct view_slews *slews, uint32_t track) {
  int64_t ns = 0;
  for (size_t i = 0; slews && i < slews->count; i++)
    ns = slews->tracks[i] == track ? slews->ns[i] : ns;
  return ns;
}

/* Where an event is shown. */
static struct place place_of(const struct view_mark *mark, const struct view_slews *slews) {
  return (struct place){view_shift(mark->time_ns, slew_of(slews, mark->track)), mark->number};
}

/* ---- by number ---- */

bool view_trust_numbers(struct view *view, const struct view_series *series, uint64_t first, uint64_t last) {
  if (series->has_falls)
    return view_trust(view, series, 0, series->count);
  return view_trust(view, series, view_series_value_chunk(series, first) * (uint64_t)VIEW_CHUNK_ENTRIES,
                    (view_series_value_chunk(series, last) + 1) * (uint64_t)VIEW_CHUNK_ENTRIES + 1);
}

int view_prepare_numbers(struct view *view) {
  int status = KYMO_OK;
  for (uint32_t i = 0; i < view->track_count && status == KYMO_OK; i++)
    if (view->tracks[i].events.has_falls)
      status = view_trust_all(view, &view->tracks[i].events);
  return status;
}

/* The first entry from `from` on of which the number is from `least` to `most`; UINT64_MAX: there is none. */
static uint64_t seek_number(const struct view *view, const struct view_series *series, uint64_t from,
                            uint64_t least, uint64_t most) {
  if (series->has_falls)
    return view_series_seek_value(series, &view->store, from, least, most);
  uint64_t at = view_series_find_value(series, &view->store, least);
  return at < series->count && view_series_get(series, &view->store, at).value <= most ? at : UINT64_MAX;
}

/* Of numbers that rise, the first one that is not below this one. */
static size_t place_of_number(const uint64_t *numbers, size_t count, uint64_t wanted) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (numbers[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Where numbers grow on the track, it goes from each wanted one to the next; else once over all entries that
 * may have one. */
static void find_on_track(const struct view *view, uint32_t track, const uint64_t *numbers, size_t count,
                          struct view_mark *marks) {
  const struct view_series *series = &view->tracks[track].events;
  uint64_t at = 0;
  for (size_t next = 0; next < count;) {
    at = seek_number(view, series, at, numbers[next], numbers[count - 1]);
    if (at == UINT64_MAX)
      return;
    struct view_mark mark = mark_at(view, track, at++);
    size_t place = place_of_number(numbers, count, mark.number);
    bool is_wanted = numbers[place] == mark.number;
    if (is_wanted)
      marks[place] = mark;
    next = series->has_falls ? 0 : place + is_wanted;
  }
}

bool view_find_all(struct view *view, const uint64_t *numbers, size_t count, struct view_mark *marks) {
  memset(marks, 0, count * sizeof *marks);
  for (uint32_t i = 0; i < view->track_count && count; i++) {
    if (!view_trust_numbers(view, &view->tracks[i].events, numbers[0], numbers[count - 1]))
      return false;
    find_on_track(view, i, numbers, count, marks);
  }
  return view_is_whole(view);
}

bool view_find(struct view *view, uint64_t number, struct view_mark *mark) {
  for (uint32_t i = 0; i < view->track_count; i++) {
    *mark = (struct view_mark){0};
    if (!view_trust_numbers(view, &view->tracks[i].events, number, number))
      return false;
    find_on_track(view, i, &number, 1, mark);
    if (mark->number && mark->number == number)
      return view_is_whole(view);
  }
  view_is_whole(view); /* that there is none may come from a cut, too */
  return false;
}

/* ---- from a place on ---- */

/* How many events of a track are before a place; with the one that is there, if `is_after`. */
static uint64_t index_of(const struct view *view, const struct view_series *series, const struct place *place,
                         bool is_after, bool by_number) {
  uint64_t number = place->number + (is_after && place->number < UINT64_MAX);
  if (by_number)
    return view_series_find_value(series, &view->store, number);
  return view_series_find_equal(series, &view->store, place->time_ns, number);
}

struct wanted {
  struct view_filter *filter;     /* or NULL */
  uint32_t kind;                  /* or UINT32_MAX */
  bool is_back, has_place;        /* has_place: an event at the place itself is wanted, too */
  const struct view_slews *slews; /* or NULL */
};

/* The same from an index on; VIEW_LATER: from *index. */
static int seek(struct view *view, uint32_t track, const struct wanted *wanted, const struct view_bits *bits,
                uint64_t *index, struct view_mark *mark) {
  enum { TOGETHER = 1024 };
  uint64_t at;
  while ((at = view_series_seek_some(&view->tracks[track].events, &view->store, bits, wanted->kind, index,
                                     wanted->is_back, TOGETHER)) == VIEW_SEEK_LATER)
    if (view_is_late(view))
      return VIEW_LATER;
  if (at == UINT64_MAX)
    return KYMO_END;
  *mark = mark_at(view, track, at);
  return KYMO_OK;
}

/* The nearest wanted event of a track. `from`: where it goes on after VIEW_LATER. KYMO_OK, KYMO_END: there is
 * none, VIEW_LATER, KYMO_AGAIN, KYMO_E_MEMORY. */
static int find_nearest(struct view *view, uint32_t track, const struct wanted *wanted,
                        const struct place *place, struct view_search_at *from, struct view_mark *mark) {
  const struct view_series *series = &view->tracks[track].events;
  const struct view_bits *bits = NULL;
  if (series->count == 0)
    return KYMO_END;
  int status = view_prepare(view, &track, 1, wanted->filter);
  if (status != KYMO_OK)
    return status;
  if (wanted->filter && !(bits = view_filter_bits(wanted->filter, track)))
    return KYMO_E_MEMORY;
  if (!from->is_within) {
    const struct place own = {view_shift_back(place->time_ns, slew_of(wanted->slews, track)), place->number};
    from->index = index_of(view, series, &own, wanted->is_back == wanted->has_place,
                           view->is_in_order && !wanted->slews);
    if (wanted->is_back && from->index-- == 0)
      return KYMO_END;
  }
  status = seek(view, track, wanted, bits, &from->index, mark);
  if (!view_is_whole(view))
    return KYMO_AGAIN;
  from->is_within = status == VIEW_LATER;
  return status;
}

/* The same without a limit of time. */
static int find_one(struct view *view, uint32_t track, const struct wanted *wanted, const struct place *place,
                    struct view_mark *mark) {
  struct view_search_at from = {0};
  int status;
  while ((status = find_nearest(view, track, wanted, place, &from, mark)) == VIEW_LATER)
    continue;
  return status;
}

/* ---- searching ---- */

/* Whether looking on makes no sense: an event was not found, for other reasons than that there is none. */
static bool is_over(int status) { return status != KYMO_OK && status != KYMO_END; }

static int search_tracks(struct view *view, struct view_search *search, const struct place *place) {
  const struct wanted wanted = {search->filter, search->kind, search->is_back, false, search->slews};
  struct view_search_at *at = &search->at;
  for (; at->track < view->track_count; at->track++) {
    struct view_mark found;
    if (search->track != UINT32_MAX && search->track != at->track)
      continue;
    int status = find_nearest(view, at->track, &wanted, place, at, &found);
    if (is_over(status))
      return status;
    if (status == KYMO_END)
      continue;
    const struct place here = place_of(&found, search->slews), best = place_of(&at->best, search->slews);
    if (!at->has_best || (search->is_back ? is_before(&best, &here) : is_before(&here, &best)))
      at->best = found;
    at->has_best = true;
    if (at->track + 1 < view->track_count && view_is_late(view))
      return at->track++, VIEW_LATER;
  }
  return at->has_best ? KYMO_OK : KYMO_END;
}

int view_search(struct view *view, struct view_search *search, struct view_mark *mark) {
  struct place from = {.time_ns = INT64_MIN, .number = search->number};
  struct view_search_at *at = &search->at;
  struct view_mark here;
  int status = KYMO_END;
  *mark = (struct view_mark){0};
  if (!at->is_wrapped) {
    if ((!view->is_in_order || search->slews) && search->number) {
      status = view_prepare_numbers(view);
      if (status != KYMO_OK)
        return status;
      from = view_find(view, search->number, &here) ? place_of(&here, search->slews) : from;
    }
    status = search_tracks(view, search, &from);
    if (status == KYMO_END)
      *at = (struct view_search_at){.is_wrapped = true};
  }
  if (at->is_wrapped)
    status = search_tracks(view, search, search->is_back ? &last_place : &first_place);
  if (status == VIEW_LATER)
    return status;
  if (status == KYMO_OK)
    *mark = at->best;
  mark->is_wrapped = status == KYMO_OK && at->is_wrapped;
  *at = (struct view_search_at){0};
  return status;
}

/* ---- rows ---- */

uint64_t view_row_of(const struct view *view, const struct view_filter *filter, uint64_t number) {
  return filter                      ? view_filter_rank(filter, number)
         : view->numbered.store.base ? view_marks_rank(&view->numbered, number)
         : number                    ? number - 1
                                     : 0;
}

uint64_t view_number_in(const struct view *view, const struct view_filter *filter, uint64_t row) {
  return filter                      ? view_filter_select(filter, row)
         : view->numbered.store.base ? view_marks_select(&view->numbered, row)
         : row < view->last_number   ? row + 1
                                     : 0;
}

/* The first event of a track at or after a time. Results as of find_nearest. */
static int find_at(struct view *view, uint32_t track, int64_t time_ns, struct view_mark *mark) {
  const struct view_series *series = &view->tracks[track].events;
  if (!view_trust_times(view, series, time_ns, time_ns))
    return KYMO_AGAIN;
  uint64_t at = view_series_find(series, &view->store, time_ns, 0);
  if (!view_is_whole(view))
    return KYMO_AGAIN;
  if (at == series->count)
    return KYMO_END;
  if (!view_trust(view, series, at, at + 1))
    return KYMO_AGAIN;
  *mark = mark_at(view, track, at);
  return view_is_whole(view) ? KYMO_OK : KYMO_AGAIN;
}

/* In order, what a filter selects is known by number. */
int view_row_at(struct view *view, struct view_filter *filter, int64_t time_ns, uint64_t *row) {
  const struct wanted wanted = {view->is_in_order ? NULL : filter, UINT32_MAX, false, true, NULL};
  const struct place place = {time_ns, 0};
  struct place best = last_place;
  int status = view->is_in_order ? KYMO_OK : view_prepare(view, NULL, 0, filter);
  *row = 0;
  if (status != KYMO_OK)
    return status;
  for (uint32_t i = 0; i < view->track_count; i++) {
    struct view_mark mark;
    status = view->is_in_order ? find_at(view, i, time_ns, &mark) : find_one(view, i, &wanted, &place, &mark);
    if (is_over(status))
      return status;
    const struct place here = status == KYMO_OK ? place_of(&mark, NULL) : last_place;
    if (is_before(&here, &best))
      best = here;
  }
  if (best.number == UINT64_MAX)
    *row = filter ? view_filter_rank(filter, UINT64_MAX) : view->events;
  else
    *row = view_row_of(view, filter, best.number);
  return KYMO_OK;
}

/* ---- tracks in order ---- */

struct turn {
  struct place place; /* of activity: the number of events, from the largest */
  uint32_t track;
  bool has_none;
};

static int by_turn(const void *a, const void *b) {
  const struct turn *x = a, *y = b;
  if (x->has_none != y->has_none)
    return x->has_none ? 1 : -1;
  bool is_first = is_before(&x->place, &y->place), is_second = is_before(&y->place, &x->place);
  return is_first != is_second ? (is_first ? -1 : 1) : x->track < y->track ? -1 : 1;
}

static void put_in_order(struct turn *turns, uint32_t count, uint32_t *tracks) {
  qsort(turns, count, sizeof *turns, by_turn);
  for (uint32_t i = 0; i < count; i++)
    tracks[i] = turns[i].track;
  free(turns);
}

/* Tracks have their numbers by their first events in the file. */
int view_chase(struct view *view, const struct view_slews *slews, struct view_filter *filter, uint64_t number,
               bool is_back, uint32_t *tracks) {
  const struct wanted wanted = {filter, UINT32_MAX, is_back, true, slews};
  struct place place = {.number = number};
  struct view_mark mark;
  int status = view_prepare(view, NULL, 0, filter);
  if (status != KYMO_OK)
    return status;
  struct turn *turns = calloc(view->track_count + 1u, sizeof *turns);
  status = turns ? KYMO_OK : KYMO_E_MEMORY;
  if (turns && (!view->is_in_order || slews))
    place = view_find(view, number, &mark) ? place_of(&mark, slews) : is_back ? last_place : first_place;
  for (uint32_t i = 0; i < view->track_count && status >= KYMO_OK && status != KYMO_AGAIN; i++) {
    status = find_one(view, i, &wanted, &place, &mark);
    turns[i] = (struct turn){.track = i, .has_none = status != KYMO_OK};
    if (status == KYMO_OK)
      turns[i].place = place_of(&mark, slews);
    if (status == KYMO_OK && is_back)
      turns[i].place = (struct place){~turns[i].place.time_ns, ~mark.number};
  }
  if (status == KYMO_AGAIN || status < 0)
    return free(turns), status;
  put_in_order(turns, view->track_count, tracks);
  return KYMO_OK;
}

static bool count_in(struct view *view, uint32_t track, const struct view_window *window,
                     struct view_filter *filter, uint64_t *count) {
  const struct view_series *series = &view->tracks[track].events;
  const struct view_bits *bits = filter ? view_filter_bits(filter, track) : NULL;
  uint64_t begin = view_series_find(series, &view->store, window->begin_ns, 0),
           end = view_series_find(series, &view->store, window->end_ns, begin);
  if (filter && !bits)
    return false;
  *count = bits ? view_bits_rank(bits, end) - view_bits_rank(bits, begin) : end - begin;
  return true;
}

int view_count(struct view *view, uint32_t track, const struct view_window *window,
               struct view_filter *filter, uint64_t *count) {
  const struct view_series *series = &view->tracks[track].events;
  *count = 0;
  if (window->begin_ns >= window->end_ns)
    return KYMO_OK;
  if (filter ? !view_trust(view, series, 0, series->count)
             : !view_trust_times(view, series, window->begin_ns, window->begin_ns) ||
                   !view_trust_times(view, series, window->end_ns, window->end_ns))
    return KYMO_AGAIN;
  if (!count_in(view, track, window, filter, count))
    return KYMO_E_MEMORY;
  return view_is_whole(view) ? KYMO_OK : KYMO_AGAIN;
}

int view_activity(struct view *view, int64_t begin_ns, int64_t end_ns, struct view_filter *filter,
                  uint32_t *tracks) {
  const struct view_window window = {begin_ns, end_ns, 1};
  int status = filter ? view_prepare(view, NULL, 0, filter) : KYMO_OK;
  if (status != KYMO_OK)
    return status;
  struct turn *turns = calloc(view->track_count + 1u, sizeof *turns);
  status = turns ? KYMO_OK : KYMO_E_MEMORY;
  for (uint32_t i = 0; i < view->track_count && status == KYMO_OK; i++) {
    uint64_t count;
    status = view_count(view, i, &window, filter, &count);
    turns[i] = (struct turn){.place.number = ~count, .track = i};
  }
  if (status != KYMO_OK)
    return free(turns), status;
  put_in_order(turns, view->track_count, tracks);
  return KYMO_OK;
}
