/* SPDX-License-Identifier: MIT */
/* Pictures: what is in each pixel of a window. */
#include "view/state.h"
#include <string.h>

/* Where a pixel begins, rounded down; *is_whole: to where it is. */
static uint64_t round_down(const struct view_window *window, uint32_t pixel, bool *is_whole) {
  uint64_t width = (uint64_t)window->end_ns - (uint64_t)window->begin_ns;
  /* width * pixel / pixels, whose product may not fit */
  uint64_t rest = width % window->pixels * pixel;
  *is_whole = rest % window->pixels == 0;
  return (uint64_t)window->begin_ns + width / window->pixels * pixel + rest / window->pixels;
}

int64_t view_window_edge(const struct view_window *window, uint32_t pixel) {
  bool is_whole;
  uint64_t time_ns = round_down(window, pixel, &is_whole);
  return (int64_t)(time_ns + !is_whole);
}

static const struct view_cell empty = {.kind = UINT32_MAX};

static void clear(struct view_cell *cells, size_t count) {
  for (size_t i = 0; i < count; i++)
    cells[i] = empty;
}

static struct view_cell cell_of(const struct view_range *range) {
  return (struct view_cell){.count = range->count,
                            .kinds = range->mask,
                            .longest = range->most,
                            .kind = range->where == UINT64_MAX ? UINT32_MAX : view_where_code(range->where)};
}

static bool is_sound(const struct view_window *window) {
  return window->pixels > 0 && window->begin_ns < window->end_ns;
}

/* The first entry from `from` on that is not before a time, in a window whose leaves are sound. False: the
 * index is wrong there. */
static bool find_time(struct view *view, const struct view_series *series, int64_t time_ns, uint64_t from,
                      uint64_t *at) {
  *at = series->count;
  if (from >= series->count)
    return true;
  uint64_t block = view_series_find_block(series, &view->store, time_ns, from / VIEW_BLOCK);
  if (!view_trust_block(view, series, block))
    return false;
  *at = view_series_find_in(series, &view->store, block, time_ns, from);
  return true;
}

/* The edges of this number of pixels are searched together: blocks are far from one another, and waiting for
 * each in turn would take most of the time. */
enum { TOGETHER = 16 };

struct edges {
  uint32_t count;
  int64_t times_ns[TOGETHER];
  uint64_t blocks[TOGETHER];
};

/* False: the index is wrong there. */
static bool find_edges(struct view *view, const struct view_series *series, const struct view_bits *bits,
                       const struct view_window *window, uint32_t x, struct edges *edges) {
  uint64_t block = edges->count ? edges->blocks[edges->count - 1] : 0;
  edges->count = window->pixels - x < TOGETHER ? window->pixels - x : TOGETHER;
  for (uint32_t i = 0; i < edges->count; i++) {
    edges->times_ns[i] = view_window_edge(window, x + i + 1);
    edges->blocks[i] = block = view_series_find_block(series, &view->store, edges->times_ns[i], block);
    if (bits)
      view_bits_prefetch(bits, block);
  }
  for (uint32_t i = 0; i < edges->count; i++)
    if (!view_trust_block(view, series, edges->blocks[i]))
      return false;
  return true;
}

static bool fill(struct view *view, const struct view_window *window, const struct view_series *series,
                 const struct view_bits *bits, struct view_cell *cells) {
  struct edges edges = {0};
  uint64_t at;
  if (!view_trust_window(view, series, window->begin_ns, window->end_ns) ||
      !find_time(view, series, window->begin_ns, 0, &at))
    return false;
  uint64_t before = bits ? view_bits_rank(bits, at) : at;
  edges.blocks[0] = at / VIEW_BLOCK;
  edges.count = 1;
  for (uint32_t x = 0; x < window->pixels && at < series->count; x++) {
    if (x % TOGETHER == 0 && !find_edges(view, series, bits, window, x, &edges))
      return false;
    uint64_t end = view_series_find_in(series, &view->store, edges.blocks[x % TOGETHER],
                                       edges.times_ns[x % TOGETHER], at);
    struct view_range range;
    if (end == at)
      continue;
    uint64_t until = bits ? view_bits_rank(bits, end) : end;
    if (until > before) {
      view_series_range_of(series, &view->store, bits, at, end, until - before, &range);
      cells[x] = cell_of(&range);
    }
    at = end;
    before = until;
  }
  return true;
}

int view_tile(struct view *view, const struct view_window *window, const uint32_t *tracks, size_t count,
              struct view_filter *filter, struct view_cell *cells) {
  clear(cells, count * window->pixels);
  for (size_t i = 0; i < count && is_sound(window); i++) {
    if (tracks[i] >= view->track_count)
      return KYMO_E_UNKNOWN;
    const struct view_series *series = &view->tracks[tracks[i]].events;
    int status = filter ? view_prepare(view, &tracks[i], 1, filter) : KYMO_OK;
    if (status != KYMO_OK)
      return clear(cells, count * window->pixels), status;
    const struct view_bits *bits = filter ? view_filter_bits(filter, tracks[i]) : NULL;
    if (filter && !bits)
      return KYMO_E_MEMORY;
    if (!fill(view, window, series, bits, cells + i * window->pixels))
      return clear(cells, count * window->pixels), KYMO_AGAIN;
  }
  return view_is_whole(view) ? KYMO_OK : (clear(cells, count * window->pixels), KYMO_AGAIN);
}

/* ---- spans ---- */

/* Whether a span of a lane is open at a time, before which `after` begins. KYMO_OK, KYMO_END: none,
 * KYMO_AGAIN. */
static int open_at(struct view *view, const struct view_series *lane, uint64_t after, int64_t time_ns,
                   struct view_entry *span) {
  if (after == 0)
    return KYMO_END;
  if (!view_trust_block(view, lane, (after - 1) / VIEW_BLOCK))
    return KYMO_AGAIN;
  *span = view_series_get(lane, &view->store, after - 1);
  return (uint64_t)time_ns - (uint64_t)span->time_ns < span->value ? KYMO_OK : KYMO_END;
}

static void take_span(struct view_cell *cell, uint64_t duration_ns, uint32_t kind) {
  cell->kinds |= UINT64_C(1) << kind % 64;
  if (cell->kind == UINT32_MAX || duration_ns > cell->longest) {
    cell->longest = duration_ns;
    cell->kind = kind;
  }
}

static bool fill_spans(struct view *view, const struct view_series *lane, const struct view_window *window,
                       struct view_cell *cells) {
  uint64_t at, end;
  if (!find_time(view, lane, window->begin_ns, 0, &at))
    return false;
  for (uint32_t x = 0; x < window->pixels; x++, at = end) {
    bool is_whole;
    /* a span that ends within a nanosecond of which only a part is in the pixel is in it */
    int64_t begin_ns = (int64_t)round_down(window, x, &is_whole), end_ns = view_window_edge(window, x + 1);
    struct view_entry span; /* that began before and has not ended yet */
    struct view_range range;
    int status = open_at(view, lane, at, begin_ns, &span);
    if (status == KYMO_AGAIN || !find_time(view, lane, end_ns, at, &end))
      return false;
    if (end > at) {
      view_series_range(lane, &view->store, NULL, at, end, &range);
      cells[x] = cell_of(&range);
    }
    if (status == KYMO_OK)
      take_span(&cells[x], span.value, span.code);
  }
  return true;
}

/* One that has no end: to where the trace ends so far. */
static void fill_endless(const struct view *view, const struct view_lane *lane,
                         const struct view_window *window, struct view_cell *cells) {
  uint64_t duration_ns = (uint64_t)view->end_ns - (uint64_t)lane->open_ns;
  for (uint32_t x = 0; x < window->pixels && view_lane_is_open(view, lane); x++)
    if (view_window_edge(window, x) <= view->end_ns && view_window_edge(window, x + 1) > lane->open_ns)
      take_span(&cells[x], duration_ns, lane->open_kind);
}

static const struct view_lane *lane_of(struct view *view, uint32_t track, uint32_t lane) {
  return track < view->track_count && lane < view->tracks[track].lane_count ? &view->tracks[track].lanes[lane]
                                                                            : NULL;
}

int view_tile_spans(struct view *view, const struct view_window *window, uint32_t track, uint32_t number,
                    struct view_cell *cells) {
  const struct view_lane *lane = lane_of(view, track, number);
  clear(cells, window->pixels);
  if (!lane)
    return KYMO_E_UNKNOWN;
  if (!is_sound(window))
    return KYMO_OK;
  if (!view_trust_window(view, &lane->spans, window->begin_ns, window->end_ns) ||
      !fill_spans(view, &lane->spans, window, cells) || !view_is_whole(view))
    return clear(cells, window->pixels), KYMO_AGAIN;
  fill_endless(view, lane, window, cells);
  return KYMO_OK;
}

static struct view_span open_span(const struct view *view, const struct view_lane *lane) {
  return (struct view_span){lane->open_ns, (uint64_t)view->end_ns - (uint64_t)lane->open_ns, lane->open_kind,
                            true};
}

bool view_span_at(struct view *view, uint32_t track, uint32_t number, int64_t time_ns,
                  struct view_span *span) {
  const struct view_lane *lane = lane_of(view, track, number);
  struct view_entry entry;
  uint64_t after;
  if (!lane || time_ns == INT64_MAX || !view_trust_window(view, &lane->spans, time_ns, time_ns + 1))
    return false;
  if (view_lane_is_open(view, lane) && time_ns >= lane->open_ns && time_ns <= view->end_ns) {
    *span = open_span(view, lane);
    return true;
  }
  bool is_there = find_time(view, &lane->spans, time_ns + 1, 0, &after) &&
                  open_at(view, &lane->spans, after, time_ns, &entry) == KYMO_OK;
  if (!view_is_whole(view) || !is_there)
    return false;
  *span = (struct view_span){entry.time_ns, entry.value, entry.code, false};
  return true;
}

bool view_span(struct view *view, uint32_t track, uint32_t number, uint64_t place, struct view_span *span) {
  const struct view_lane *lane = lane_of(view, track, number);
  if (!lane)
    return false;
  if (place == lane->spans.count && view_lane_is_open(view, lane)) {
    *span = open_span(view, lane);
    return true;
  }
  if (place >= lane->spans.count || !view_trust(view, &lane->spans, place, place + 1))
    return false;
  struct view_entry entry = view_series_get(&lane->spans, &view->store, place);
  if (!view_is_whole(view))
    return false;
  *span = (struct view_span){entry.time_ns, entry.value, entry.code, false};
  return true;
}

/* ---- events ---- */

bool view_nearest(struct view *view, uint32_t number, int64_t time_ns, struct view_mark *mark) {
  if (number >= view->track_count)
    return false;
  const struct view_series *series = &view->tracks[number].events;
  if (series->count == 0 || !view_trust_times(view, series, time_ns, time_ns))
    return false;
  uint64_t at = view_series_find(series, &view->store, time_ns, 0);
  if (!view_trust(view, series, at ? at - 1 : 0, at + 1))
    return false;
  struct view_entry entry = view_series_get(series, &view->store, at < series->count ? at : at - 1);
  if (at > 0 && at < series->count) {
    struct view_entry before = view_series_get(series, &view->store, at - 1);
    if ((uint64_t)time_ns - (uint64_t)before.time_ns < (uint64_t)entry.time_ns - (uint64_t)time_ns)
      entry = before;
  }
  *mark = (struct view_mark){entry.time_ns, entry.value, number, entry.code, false};
  return view_is_whole(view);
}
