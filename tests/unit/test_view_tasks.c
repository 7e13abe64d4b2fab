/* SPDX-License-Identifier: MIT */
/* Tasks of the viewer, against looking at all events: filters by steps, selections of a window, anomalies. */
#include "stat/pairs.h"
#include "view_trace.h"
#include <math.h>

enum { EVENTS = 20000, TRACKS = 5, CODES = 7 };

static struct view_cpel_event list[EVENTS];

static struct view *random_cpel(bool is_whole) {
  uint64_t time = 1000;
  for (unsigned i = 0; i < EVENTS; i++) {
    time += view_chance(50);
    list[i] = (struct view_cpel_event){time, (uint32_t)view_chance(TRACKS), (uint32_t)view_chance(CODES),
                                       (uint32_t)view_chance(1000)};
  }
  view_write_cpel("random.cpel", list, EVENTS, CODES, TRACKS);
  struct view *view = view_start(below("random.cpel"), VIEW_BY_THREAD, NULL, false);
  if (is_whole)
    view_finish(view);
  return view;
}

static uint32_t number_of(const struct view *view, char letter, uint32_t number) {
  struct view_track_info info;
  char name[16];
  snprintf(name, sizeof name, "%c%u", letter, number);
  if (letter == 'e')
    return view_kind_find(view, name);
  for (uint32_t i = 0; view_track(view, i, &info); i++)
    if (strcmp(info.name, name) == 0)
      return i;
  return UINT32_MAX;
}

/* ---- filters ---- */

static unsigned finish_filter(struct view_filter *filter, uint64_t events) {
  struct kymo_error error = {0};
  unsigned steps = 0;
  int status;
  double before = 0;
  for (; (status = view_filter_step(filter, events, &error)) == KYMO_OK; steps++) {
    double now = view_filter_progress(filter);
    assert_true(now >= before && now <= 1);
    before = now;
  }
  assert_int_equal(status, KYMO_END);
  assert_true(view_filter_progress(filter) == 1);
  return steps;
}

static void a_filter_that_selects_nothing_yields(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct view_filter *filter;
  struct view *view = random_cpel(true);
  static const struct {
    const char *text;
    unsigned passes;
  } all[] = {{"datum = 5000", 1},
             {"EVERY 2 OF (datum = 5000)", 1},
             {"BEFORE (datum = 5000)", 2},
             {"AFTER LAST (BEFORE (datum = 5000))", 3}};
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
    view_expect_ok(view_filter_new(&filter, view, all[i].text, &error), &error);
    assert_true(finish_filter(filter, 1000) >= all[i].passes * (EVENTS / 1500));
    assert_int_equal(view_filter_count(filter), 0);
    view_filter_free(filter);
  }
  view_close(view);
}

static void a_filter_that_is_made_while_indexing_selects_all(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct view_filter *filter;
  struct view_info info;
  struct view *view = random_cpel(false);
  uint64_t wanted = 0;
  view_expect_ok(view_build_step(view, 100, &error), &error);
  view_expect_ok(view_filter_new(&filter, view, "datum < 300", &error), &error);
  for (unsigned i = 0; i < EVENTS; i++) {
    assert_int_equal(view_row_of(view, filter, i + 1) <= wanted, true);
    wanted += list[i].datum < 300;
    if (i % 100 == 0) {
      struct view_cell cell;
      const uint32_t track = 0;
      view_expect_ok(view_filter_step(filter, 100, &error), &error);
      view_info(view, &info);
      const struct view_window all = {info.begin_ns, info.end_ns + 1, 1};
      assert_int_equal(view_tile(view, &all, &track, 1, filter, &cell), KYMO_OK);
      view_expect_ok(view_build_step(view, 70, &error), &error);
    }
  }
  view_finish(view);
  finish_filter(filter, 1000);
  assert_int_equal(view_filter_count(filter), wanted);
  assert_int_equal(view_row_of(view, filter, EVENTS + 1), wanted);
  view_info(view, &info);
  const struct view_window all = {info.begin_ns, info.end_ns + 1, 16};
  uint64_t drawn = 0;
  for (uint32_t track = 0; track < TRACKS; track++) {
    struct view_cell cells[16];
    assert_int_equal(view_tile(view, &all, &track, 1, filter, cells), KYMO_OK);
    for (unsigned x = 0; x < 16; x++)
      drawn += cells[x].count;
  }
  assert_int_equal(drawn, wanted);
  view_filter_free(filter);
  view_close(view);
}

/* ---- selections ---- */

static void a_selection_has_what_is_in_its_window(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct view_filter *filter;
  struct view_mark first;
  struct view *view = random_cpel(true);
  view_expect_ok(view_filter_new(&filter, view, "datum < 300", &error), &error);
  finish_filter(filter, 100000);
  assert_true(view_find(view, 1, &first));
  for (unsigned round = 0; round < 60; round++) {
    uint64_t begin = list[view_chance(EVENTS)].time, end = begin + view_chance(list[EVENTS - 1].time),
             all = 0;
    uint64_t tracks[TRACKS] = {0}, kinds[CODES] = {0};
    const struct view_selection_query query = {.begin_ns = first.time_ns + (int64_t)(begin - list[0].time),
                                               .end_ns = first.time_ns + (int64_t)(end - list[0].time),
                                               .filter = round & 1 ? filter : NULL};
    struct view_selection *selection;
    struct view_selection_result result;
    int status;
    for (unsigned i = 0; i < EVENTS; i++)
      if (list[i].time >= begin && list[i].time < end && (!query.filter || list[i].datum < 300)) {
        tracks[number_of(view, 't', list[i].track)]++;
        kinds[number_of(view, 'e', list[i].code)]++;
        all++;
      }
    view_expect_ok(view_selection_new(&selection, view, &query, &error), &error);
    while ((status = view_selection_step(selection, 1 + view_chance(5000), &error)) == KYMO_OK)
      assert_true(view_selection_progress(selection) <= 1);
    view_expect_ok(status, &error);
    view_selection_result(selection, &result);
    assert_int_equal(result.events, all);
    assert_int_equal(result.track_count, TRACKS);
    assert_int_equal(result.kind_count, CODES);
    assert_memory_equal(result.tracks, tracks, sizeof tracks);
    assert_memory_equal(result.kinds, kinds, sizeof kinds);
    view_selection_free(selection);
  }
  view_filter_free(filter);
  view_close(view);
}

/* ---- anomalies ---- */

static struct view_anomaly *find_anomalies(struct view *view, const struct view_anomaly_query *query) {
  struct kymo_error error = {0};
  struct view_anomaly *anomaly;
  int status;
  view_expect_ok(view_anomaly_new(&anomaly, view, query, &error), &error);
  while ((status = view_anomaly_step(anomaly, 700, &error)) == KYMO_OK)
    assert_true(view_anomaly_progress(anomaly) <= 1);
  view_expect_ok(status, &error);
  assert_int_equal(status, KYMO_END);
  return anomaly;
}

/* g2's vector: of nine tens and a hundred the mean is 19, the deviation 27. */
static void a_threshold_is_the_number_of_deviations_and_strict(void **state) {
  (void)state;
  static const struct {
    double threshold;
    uint64_t anomalies;
  } all[] = {{2.5, 1}, {3, 0}, {2.99, 1}};
  for (uint32_t i = 0; i < 10; i++)
    list[i] = (struct view_cpel_event){1000 + i, 0, 0, i == 4 ? 100 : 10};
  view_write_cpel("vector.cpel", list, 10, 1, 1);
  struct view *view = view_start(below("vector.cpel"), VIEW_BY_THREAD, NULL, false);
  view_finish(view);
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
    uint32_t count;
    const struct view_anomaly_query query = {"e0", "datum", all[i].threshold, VIEW_HIGH, NULL};
    struct view_anomaly *anomaly = find_anomalies(view, &query);
    const struct view_anomaly_track *track = view_anomaly_tracks(anomaly, &count);
    assert_int_equal(count, 1);
    assert_int_equal(track->count, 10);
    assert_true(track->least == 10 && track->most == 100 && track->mean == 19 && track->deviation == 27);
    assert_true(fabs(track->high - (19 + all[i].threshold * 27)) < 1e-9);
    assert_int_equal(track->anomalies, all[i].anomalies);
    struct view_search search = {
        .kind = UINT32_MAX, .track = UINT32_MAX, .filter = view_anomaly_filter(anomaly)};
    struct view_mark mark;
    assert_int_equal(view_search(view, &search, &mark), all[i].anomalies ? KYMO_OK : KYMO_END);
    assert_int_equal(mark.number, all[i].anomalies ? 5 : 0);
    view_anomaly_free(anomaly);
  }
  view_close(view);
}

static bool is_anomaly(const struct view_anomaly_track *track, const struct view_anomaly_query *query,
                       double value) {
  return (query->sides & VIEW_HIGH && value - track->mean > query->threshold * track->deviation) ||
         (query->sides & VIEW_LOW && track->mean - value > query->threshold * track->deviation);
}

static void expect_anomalies(struct view *view, const struct view_anomaly_query *query) {
  struct view_anomaly *anomaly = find_anomalies(view, query);
  struct view_anomaly_track wanted[TRACKS] = {{0}};
  uint32_t count;
  const struct view_anomaly_track *tracks = view_anomaly_tracks(anomaly, &count);
  struct view_search search = {
      .kind = UINT32_MAX, .track = UINT32_MAX, .filter = view_anomaly_filter(anomaly)};
  struct view_mark mark;
  assert_int_equal(count, TRACKS);
  for (unsigned i = 0; i < EVENTS; i++)
    if (!query->kind || list[i].code == 3) {
      struct view_anomaly_track *track = &wanted[number_of(view, 't', list[i].track)];
      track->mean += list[i].datum;
      track->count++;
    }
  for (uint32_t i = 0; i < TRACKS; i++)
    wanted[i].mean /= (double)wanted[i].count;
  for (unsigned i = 0; i < EVENTS; i++)
    if (!query->kind || list[i].code == 3) {
      struct view_anomaly_track *track = &wanted[number_of(view, 't', list[i].track)];
      track->deviation += (list[i].datum - track->mean) * (list[i].datum - track->mean);
    }
  for (uint32_t i = 0; i < TRACKS; i++) {
    wanted[i].deviation = sqrt(wanted[i].deviation / (double)wanted[i].count);
    assert_int_equal(tracks[i].count, wanted[i].count);
    assert_true(fabs(tracks[i].mean - wanted[i].mean) < 1e-6);
    assert_true(fabs(tracks[i].deviation - wanted[i].deviation) < 1e-6);
  }
  for (unsigned i = 0; i < EVENTS; i++) {
    uint32_t track = number_of(view, 't', list[i].track);
    if ((query->kind && list[i].code != 3) || !is_anomaly(&tracks[track], query, list[i].datum))
      continue;
    wanted[track].anomalies++;
    assert_int_equal(view_search(view, &search, &mark), KYMO_OK);
    assert_int_equal(mark.number, i + 1);
    search.number = mark.number;
  }
  for (uint32_t i = 0; i < TRACKS; i++)
    assert_int_equal(tracks[i].anomalies, wanted[i].anomalies);
  if (search.number) { /* round the end, and back */
    assert_int_equal(view_search(view, &search, &mark), KYMO_OK);
    assert_true(mark.is_wrapped);
    search.is_back = true;
    search.number = mark.number;
    assert_int_equal(view_search(view, &search, &mark), KYMO_OK);
    assert_true(mark.is_wrapped);
  }
  view_anomaly_free(anomaly);
}

static void anomalies_are_those_of_each_track(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct view_anomaly *anomaly;
  struct view *view = random_cpel(true);
  static const struct view_anomaly_query wrong[] = {
      {"e3", "datum", 0, VIEW_HIGH, NULL},  {"e3", "datum", 11, VIEW_HIGH, NULL},
      {"e3", "datum", -1, VIEW_HIGH, NULL}, {"e3", "datum", 1, 0, NULL},
      {"e3", "none", 1, VIEW_HIGH, NULL},   {"none", "datum", 1, VIEW_HIGH, NULL},
      {"e3", "datum", NAN, VIEW_HIGH, NULL}};
  for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(view_anomaly_new(&anomaly, view, &wrong[i], &error), KYMO_E_USAGE);
  for (unsigned sides = 1; sides < 4; sides++) {
    expect_anomalies(view, &(struct view_anomaly_query){"e3", "datum", 1.5, sides, NULL});
    expect_anomalies(view, &(struct view_anomaly_query){NULL, "datum", 1.7, sides, NULL});
  }
  view_close(view);
}

/* ---- slews ---- */

enum { PAIRS = 500, LONGER = 1500 };

/* Requests on one track, answers on another one, which come 1 to 7 ns later. */
static void write_requests(void) {
  static struct view_cpel_event pairs[2 * PAIRS];
  for (uint32_t i = 0; i < PAIRS; i++) {
    pairs[2 * i] = (struct view_cpel_event){1000 + 100 * i, 0, 0, i};
    pairs[2 * i + 1] = (struct view_cpel_event){1001 + 100 * i + i % 7, 1, 1, i};
  }
  view_write_cpel("r.cpel", pairs, 2 * PAIRS, 2, 2);
}

static void pairs_are_as_long_as_they_are_shown(void **state) {
  (void)state;
  static const int64_t slews[] = {-500, LONGER - 500};
  write_requests();
  struct view *view = view_start(below("r.cpel"), VIEW_BY_THREAD, NULL, false);
  view_finish(view);
  for (uint32_t count = 0; count < 3; count += 2) {
    const struct view_latency_query query = {
        .from = "e0", .to = "e1", .key = "datum", .slews = slews, .slew_count = count};
    struct kymo_error error = {0};
    struct view_latency_result result;
    struct view_latency *latency;
    struct view_mark first, begin, end;
    struct view_cell cell;
    int64_t longer = count ? LONGER : 0, earlier = count ? 500 : 0;
    int status;
    view_expect_ok(view_latency_new(&latency, view, &query, &error), &error);
    while ((status = view_latency_step(latency, 100, &error)) == KYMO_OK)
      continue;
    view_expect_ok(status, &error);
    view_expect_ok(view_latency_result(latency, &result), &error);
    assert_int_equal(result.all->count, PAIRS);
    assert_int_equal(result.without_begin + result.without_end, 0);
    assert_int_equal(result.all->least, 1 + longer);
    assert_int_equal(result.all->most, 7 + longer);
    assert_true(view_find(view, result.worst[0].begin_number, &begin));
    assert_true(view_find(view, result.worst[0].end_number, &end));
    assert_int_equal(end.time_ns - begin.time_ns, 7);
    assert_int_equal(result.worst[0].begin_ns, begin.time_ns - earlier);
    assert_true(view_find(view, 1, &first));
    /* the first answer is drawn where it is shown */
    const struct view_window window = {first.time_ns - earlier + longer, first.time_ns - earlier + longer + 2,
                                       1};
    assert_int_equal(view_latency_tile(latency, &window, &cell), KYMO_OK);
    assert_int_equal(cell.count, 1);
    view_latency_free(latency);
  }
  view_close(view);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_filter_that_selects_nothing_yields, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_filter_that_is_made_while_indexing_selects_all, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_selection_has_what_is_in_its_window, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_threshold_is_the_number_of_deviations_and_strict, make_top,
                                      remove_top),
      cmocka_unit_test_setup_teardown(anomalies_are_those_of_each_track, make_top, remove_top),
      cmocka_unit_test_setup_teardown(pairs_are_as_long_as_they_are_shown, make_top, remove_top),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
