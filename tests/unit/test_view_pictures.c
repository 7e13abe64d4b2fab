/* SPDX-License-Identifier: MIT */
/* Pictures of spans and values, the event and the span at a place, two views beside each other, against what
 * was written. */
#include "rounds.h"
#include "view_trace.h"

enum { MOVES = 4000, SPANS_MAX = MOVES, LANES = 64, PIXELS = 97 };

/* ---- spans ---- */

struct span {
  int64_t begin_ns, end_ns;
  unsigned kind, lane; /* kind: 0 work, 1 io */
  bool is_open;
};
static struct span spans[SPANS_MAX];
static unsigned span_count;
static const char *const kinds[] = {"t:work", "t:io"};

static unsigned free_lane(void) {
  for (unsigned lane = 0;; lane++) {
    bool is_busy = false;
    for (unsigned i = 0; i < span_count; i++)
      is_busy |= spans[i].is_open && spans[i].lane == lane;
    if (!is_busy)
      return lane;
  }
}

/* The latest open span of a kind. */
static struct span *latest(unsigned kind) {
  for (unsigned i = span_count; i-- > 0;)
    if (spans[i].is_open && spans[i].kind == kind)
      return &spans[i];
  return NULL;
}

/* Spans of one thread, which mostly nest, three of which have no end. */
static struct view *make_spans(void) {
  struct view_test_stream stream;
  uint64_t time = 1;
  unsigned open = 0;
  span_count = 0;
  view_is_lossless = true;
  view_begin_metadata("s");
  view_begin_stream(&stream, "s", 0);
  for (unsigned i = 0; i < MOVES; i++) {
    unsigned kind = (unsigned)view_chance(2);
    struct span *ended = latest(kind);
    time += 1 + view_chance(20);
    if ((view_chance(2) || open > 10 || i + 10 > MOVES) && ended && !(open <= 3 && i > MOVES / 2)) {
      ended->is_open = false;
      ended->end_ns = (int64_t)time;
      open--;
      view_emit(&stream, time, kind ? 4 : 2, 0);
    } else if (open < 12) {
      unsigned lane = free_lane();
      spans[span_count++] = (struct span){(int64_t)time, 0, kind, lane, true};
      open++;
      view_emit(&stream, time, kind ? 3 : 1, 0);
    }
  }
  view_emit(&stream, time += 100, 0, 0);
  view_end_stream(&stream);
  for (unsigned i = 0; i < span_count; i++)
    spans[i].end_ns = spans[i].is_open ? (int64_t)time : spans[i].end_ns;
  assert_true(open > 0 && open < span_count / 2);
  struct view *view = view_start(below("s"), VIEW_BY_THREAD, NULL, false);
  view_finish(view);
  return view;
}

/* What is added to the times that were written. */
static int64_t origin_of(const struct view *view) {
  struct view_info info;
  view_info(view, &info);
  return info.begin_ns - spans[0].begin_ns;
}

static void expect_cells(const struct view_window *window, uint32_t lane, int64_t origin_ns,
                         const struct view_cell *cells) {
  static const struct span *own[SPANS_MAX]; /* of the lane */
  unsigned own_count = 0;
  for (unsigned i = 0; i < span_count; i++)
    if (spans[i].lane == lane)
      own[own_count++] = &spans[i];
  for (uint32_t x = 0; x < window->pixels; x++) {
    /* in parts of a nanosecond, so that the edges of pixels are exact */
    int64_t width = window->end_ns - window->begin_ns, begin = width * x, end = width * (x + 1);
    uint64_t count = 0, longest = 0;
    const struct span *wanted = NULL;
    for (unsigned i = 0; i < own_count; i++) {
      const struct span *span = own[i];
      int64_t from = (span->begin_ns + origin_ns - window->begin_ns) * window->pixels,
              to = (span->end_ns + origin_ns - window->begin_ns) * window->pixels;
      bool begins = from >= begin && from < end,
           is_in = begins || (from < begin && (to > begin || (span->is_open && to == begin)));
      if (!is_in)
        continue;
      count += begins && !span->is_open;
      if (!wanted || (uint64_t)(span->end_ns - span->begin_ns) > longest) {
        wanted = span;
        longest = (uint64_t)(span->end_ns - span->begin_ns);
      }
    }
    assert_int_equal(cells[x].count, count);
    assert_int_equal(cells[x].longest, longest);
    assert_int_equal(cells[x].kind == UINT32_MAX, !wanted);
  }
}

static void pixels_have_the_spans_of_their_lane(void **state) {
  (void)state;
  struct view *view = make_spans();
  struct view_track_info track;
  struct view_info info;
  view_info(view, &info);
  assert_true(view_track(view, 0, &track));
  assert_true(track.lanes > 2);
  int64_t origin_ns = origin_of(view);
  for (unsigned i = 0; i < rounds(200); i++) {
    struct view_cell cells[PIXELS];
    int64_t begin_ns = info.begin_ns - 20 + (int64_t)view_chance((uint64_t)(info.end_ns - info.begin_ns));
    const struct view_window window = {
        begin_ns, begin_ns + 1 + (int64_t)view_chance(UINT64_C(1) << view_chance(17)), PIXELS};
    uint32_t lane = (uint32_t)view_chance(track.lanes);
    assert_int_equal(view_tile_spans(view, &window, 0, lane, cells), KYMO_OK);
    expect_cells(&window, lane, origin_ns, cells);
  }
  struct view_cell cell;
  const struct view_window window = {info.begin_ns, info.end_ns, 1};
  assert_int_equal(view_tile_spans(view, &window, 0, track.lanes, &cell), KYMO_E_UNKNOWN);
  view_close(view);
}

static void the_span_at_a_place_is_found(void **state) {
  (void)state;
  struct view *view = make_spans();
  struct view_track_info track;
  struct view_info info;
  view_info(view, &info);
  assert_true(view_track(view, 0, &track));
  int64_t origin_ns = origin_of(view);
  for (unsigned i = 0; i < rounds(2000); i++) {
    int64_t time_ns = info.begin_ns - 5 + (int64_t)view_chance((uint64_t)(info.end_ns - info.begin_ns) + 10);
    uint32_t lane = (uint32_t)view_chance(track.lanes + 1u);
    const struct span *wanted = NULL;
    struct view_span found;
    for (unsigned k = 0; k < span_count; k++)
      if (spans[k].lane == lane && spans[k].begin_ns + origin_ns <= time_ns &&
          (spans[k].end_ns + origin_ns > time_ns || (spans[k].is_open && time_ns == info.end_ns)))
        wanted = &spans[k];
    assert_int_equal(view_span_at(view, 0, lane, time_ns, &found), wanted != NULL);
    if (!wanted)
      continue;
    assert_int_equal(found.begin_ns, wanted->begin_ns + origin_ns);
    assert_int_equal(found.duration_ns, wanted->end_ns - wanted->begin_ns);
    assert_int_equal(found.is_open, wanted->is_open);
    assert_string_equal(view_span_kind(view, found.kind), kinds[wanted->kind]);
  }
  view_close(view);
}

/* What the index says of lanes, also of spans without an end, is kept. */
static void open_spans_are_kept(void **state) {
  (void)state;
  struct view_cell cells[2][PIXELS];
  setenv("XDG_CACHE_HOME", below("cache"), 1);
  view_close(make_spans());
  for (unsigned i = 0; i < 2; i++) {
    struct view_info info;
    struct view *view = view_start(below("s"), VIEW_BY_THREAD, NULL, true);
    view_info(view, &info);
    assert_int_equal(info.is_from_cache, i);
    view_finish(view);
    view_info(view, &info);
    const struct view_window window = {info.begin_ns, info.end_ns + 1, PIXELS};
    assert_int_equal(view_tile_spans(view, &window, 0, 0, cells[i]), KYMO_OK);
    assert_int_equal(cells[i][PIXELS - 1].kind == UINT32_MAX, false);
    view_close(view);
  }
  assert_memory_equal(cells[0], cells[1], sizeof cells[0]);
}

/* ---- deep recursion ---- */

static struct view *make_deep(const char *name, unsigned depth) {
  struct view_test_stream stream;
  uint64_t time = 1;
  view_is_lossless = true;
  view_begin_metadata(name);
  view_begin_stream(&stream, name, 0);
  for (unsigned i = 0; i < 2 * depth; i++)
    view_emit(&stream, time += 10, i < depth ? 1 : 2, i);
  view_end_stream(&stream);
  struct view *view = view_start(below(name), VIEW_BY_THREAD, NULL, true);
  view_finish(view);
  return view;
}

/* Each level has its span, one within the other; `deeper` spans have no level. */
static void expect_deep(struct view *view, unsigned depth, unsigned deeper) {
  struct view_track_info track;
  struct view_statistic *list;
  struct view_span span;
  struct view_info info;
  size_t count;
  view_info(view, &info);
  assert_int_equal(info.spans, depth);
  assert_int_equal(info.undrawn_spans, deeper);
  assert_true(view_track(view, 0, &track));
  assert_int_equal(track.lanes, depth - deeper);
  assert_int_equal(track.deeper_spans, deeper);
  for (uint32_t lane = 0; lane < track.lanes; lane++) {
    assert_true(view_span(view, 0, lane, 0, &span));
    assert_int_equal(span.begin_ns, info.begin_ns + 10 * lane);
    assert_int_equal(span.duration_ns, 10 * (2 * (depth - lane) - 1));
    assert_false(view_span(view, 0, lane, 1, &span));
  }
  assert_int_equal(view_statistics(view, &list, &count), KYMO_OK);
  size_t work = strcmp(list[0].name, "t:work") != 0; /* of two kinds, in any order */
  assert_int_equal(list[work].count, depth);
  assert_int_equal(list[work].most_ns, 10 * (2 * depth - 1));
  free(list);
}

/* As it is kept: the index of a trace that has just been written is not. */
static struct view *reopen(const char *name) {
  for (;;) {
    struct view *view = view_start(below(name), VIEW_BY_THREAD, NULL, true);
    struct view_info info;
    view_finish(view);
    view_info(view, &info);
    if (info.is_from_cache)
      return view;
    view_close(view);
  }
}

static void deep_spans_have_levels(void **state) {
  (void)state;
  static const unsigned depths[] = {64, 65, 200, 1024, 1100};
  setenv("XDG_CACHE_HOME", below("cache"), 1);
  for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
    char name[16];
    snprintf(name, sizeof name, "d%u", depths[i]);
    unsigned deeper = depths[i] > 1024 ? depths[i] - 1024 : 0;
    struct view *view = make_deep(name, depths[i]);
    expect_deep(view, depths[i], deeper);
    view_close(view);
    view = reopen(name);
    expect_deep(view, depths[i], deeper);
    view_close(view);
  }
}

/* ---- events and values ---- */

enum { EVENTS = 3000, TRACKS = 3 };
static struct view_cpel_event list[EVENTS];
static uint32_t tracks[TRACKS]; /* of the view, by the number in the file */

static struct view *make_events(void) {
  uint64_t time = 1000;
  for (unsigned i = 0; i < EVENTS; i++) {
    time += view_chance(30) ? view_chance(5) : view_chance(2000);
    list[i] = (struct view_cpel_event){time, (uint32_t)view_chance(TRACKS), 0, (uint32_t)view_chance(1000)};
  }
  view_write_cpel("e.cpel", list, EVENTS, 1, TRACKS);
  struct view *view = view_start(below("e.cpel"), VIEW_BY_THREAD, NULL, false);
  struct view_track_info info;
  view_finish(view);
  for (uint32_t i = 0; view_track(view, i, &info); i++) {
    unsigned long number = strtoul(info.name + 1, NULL, 10);
    assert_true(number < TRACKS);
    tracks[number] = i;
  }
  return view;
}

static int64_t time_of(const struct view_mark *first, unsigned i) {
  return first->time_ns + (int64_t)(list[i].time - list[0].time);
}

static uint32_t track_of(unsigned i) { return tracks[list[i].track]; }

static void the_nearest_event_of_a_track_is_found(void **state) {
  (void)state;
  struct view *view = make_events();
  struct view_mark first, mark;
  assert_true(view_find(view, 1, &first));
  for (unsigned i = 0; i < rounds(500); i++) {
    int64_t time_ns = first.time_ns - 100 + (int64_t)view_chance(list[EVENTS - 1].time - list[0].time + 200);
    uint32_t track = (uint32_t)view_chance(TRACKS);
    int64_t best = INT64_MAX;
    for (unsigned k = 0; k < EVENTS; k++)
      if (track_of(k) == track && llabs(time_of(&first, k) - time_ns) < best)
        best = llabs(time_of(&first, k) - time_ns);
    assert_true(view_nearest(view, track, time_ns, &mark));
    assert_int_equal(mark.track, track);
    assert_int_equal(llabs(mark.time_ns - time_ns), best);
    assert_int_equal(mark.time_ns, time_of(&first, (unsigned)mark.number - 1));
    assert_int_equal(track_of((unsigned)mark.number - 1), track);
  }
  assert_false(view_nearest(view, TRACKS, 0, &mark));
  view_close(view);
}

/* Those below `limit` are what the filter selects. */
static void expect_pixels(struct view *view, const struct view_filter *filter, uint32_t limit) {
  struct kymo_error error = {0};
  struct view_values *values;
  struct view_mark first;
  double least, most, wanted_least = limit, wanted_most = 0;
  int status;
  assert_true(view_find(view, 1, &first));
  view_expect_ok(view_values_new(&values, view, "datum", filter, &error), &error);
  while ((status = view_values_step(values, 100, &error)) == KYMO_OK)
    assert_true(view_values_progress(values) <= 1);
  assert_int_equal(status, KYMO_END);
  for (unsigned i = 0; i < 100; i++) {
    struct view_value_cell cells[PIXELS];
    int64_t begin_ns = first.time_ns - 50 + (int64_t)view_chance(list[EVENTS - 1].time - list[0].time);
    const struct view_window window = {
        begin_ns, begin_ns + PIXELS + (int64_t)view_chance(UINT64_C(1) << view_chance(17)), PIXELS};
    uint32_t track = (uint32_t)view_chance(TRACKS);
    assert_int_equal(view_tile_values(view, &window, track, values, cells), KYMO_OK);
    for (uint32_t x = 0; x < PIXELS; x++) {
      struct view_value_cell wanted = {0};
      for (unsigned k = 0; k < EVENTS; k++)
        if (track_of(k) == track && list[k].datum < limit &&
            time_of(&first, k) >= view_window_edge(&window, x) &&
            time_of(&first, k) < view_window_edge(&window, x + 1)) {
          wanted.least = wanted.count && wanted.least < list[k].datum ? wanted.least : list[k].datum;
          wanted.most = wanted.count && wanted.most > list[k].datum ? wanted.most : list[k].datum;
          wanted.last = list[k].datum;
          wanted.count++;
        }
      assert_memory_equal(&cells[x], &wanted, sizeof wanted);
    }
  }
  for (unsigned k = 0; k < EVENTS; k++)
    if (list[k].datum < limit) {
      wanted_least = wanted_least < list[k].datum ? wanted_least : list[k].datum;
      wanted_most = wanted_most > list[k].datum ? wanted_most : list[k].datum;
    }
  assert_true(view_values_range(values, &least, &most));
  assert_true(least == wanted_least && most == wanted_most);
  view_values_free(values);
}

static void pixels_have_the_values_of_a_field(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct view *view = make_events();
  struct view_values *values;
  assert_int_equal(view_values_new(&values, view, "none", NULL, &error), KYMO_E_USAGE);
  expect_pixels(view, NULL, UINT32_MAX);
  view_close(view);
}

static void values_are_those_of_events_that_a_filter_selects(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct view *view = make_events();
  struct view_values *values;
  struct view_filter *filter;
  double least, most;
  view_expect_ok(view_filter_new(&filter, view, "datum < 40", &error), &error);
  expect_pixels(view, filter, 40);
  view_filter_free(filter);
  view_expect_ok(view_filter_new(&filter, view, "datum < 0", &error), &error);
  view_expect_ok(view_values_new(&values, view, "datum", filter, &error), &error);
  while (view_values_step(values, 100, &error) == KYMO_OK)
    continue;
  assert_false(view_values_range(values, &least, &most));
  view_values_free(values);
  view_filter_free(filter);
  view_close(view);
}

/* ---- two views ---- */

static const struct view_difference *row_of(const struct view_difference *rows, size_t count,
                                            const char *name, bool is_span) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(rows[i].name, name) == 0 && rows[i].is_span == is_span)
      return &rows[i];
  fail_msg("no row of %s", name);
  return NULL;
}

static void expect_side(struct view *view, const struct view_difference *rows, size_t row_count,
                        unsigned side) {
  struct view_statistic *statistics;
  struct view_kind_info kind;
  struct view_info info;
  size_t count;
  view_info(view, &info);
  double seconds = (double)(info.end_ns - info.begin_ns) / 1e9;
  for (uint32_t i = 0; view_kind(view, i, &kind); i++) {
    const struct view_difference *row = row_of(rows, row_count, kind.name, false);
    assert_int_equal(row->counts[side], kind.events);
    assert_true(row->rates[side] * seconds > (double)kind.events * .999 &&
                row->rates[side] * seconds < (double)kind.events * 1.001);
  }
  assert_int_equal(view_statistics(view, &statistics, &count), KYMO_OK);
  for (size_t i = 0; i < count; i++) {
    const struct view_difference *row = row_of(rows, row_count, statistics[i].name, true);
    assert_int_equal(row->counts[side], statistics[i].count);
    assert_int_equal(row->p50_ns[side], statistics[i].p50.value);
    assert_int_equal(row->p99_ns[side], statistics[i].p99.value);
  }
  free(statistics);
}

static void two_views_are_compared_by_name(void **state) {
  (void)state;
  struct view_difference *rows;
  size_t count;
  view_write_trace("t", 5000);
  struct view *a = view_start(below("t"), VIEW_BY_THREAD, NULL, false);
  view_finish(a);
  struct view *b = make_spans(), *c = make_events();
  assert_int_equal(view_compare(a, b, &rows, &count), KYMO_OK);
  expect_side(a, rows, count, 0);
  expect_side(b, rows, count, 1);
  assert_int_equal(row_of(rows, count, "t:rare", false)->counts[1], 0);
  for (size_t i = 1; i < count; i++)
    assert_true(rows[i - 1].is_span < rows[i].is_span || strcmp(rows[i - 1].name, rows[i].name) < 0);
  free(rows);
  assert_int_equal(view_compare(c, a, &rows, &count), KYMO_OK);
  expect_side(c, rows, count, 0);
  expect_side(a, rows, count, 1);
  free(rows);
  view_close(a);
  view_close(b);
  view_close(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(pixels_have_the_spans_of_their_lane, make_top, remove_top),
      cmocka_unit_test_setup_teardown(the_span_at_a_place_is_found, make_top, remove_top),
      cmocka_unit_test_setup_teardown(open_spans_are_kept, make_top, remove_top),
      cmocka_unit_test_setup_teardown(deep_spans_have_levels, make_top, remove_top),
      cmocka_unit_test_setup_teardown(the_nearest_event_of_a_track_is_found, make_top, remove_top),
      cmocka_unit_test_setup_teardown(pixels_have_the_values_of_a_field, make_top, remove_top),
      cmocka_unit_test_setup_teardown(two_views_are_compared_by_name, make_top, remove_top),
      cmocka_unit_test_setup_teardown(values_are_those_of_events_that_a_filter_selects, make_top, remove_top),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
