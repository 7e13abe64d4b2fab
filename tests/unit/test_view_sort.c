/* SPDX-License-Identifier: MIT */
/* Events that are not in the order of their times, in the viewer's index: where they are put. */
#include "trace/pause.h"
#include "view/state.h"
#include "view_trace.h"

enum { EVENTS = 60000 }; /* more than ten chunks of a series */

static struct view_cpel_event *list;

static void make_list(uint64_t (*time_of)(unsigned i), uint32_t tracks) {
  list = calloc(EVENTS, sizeof *list);
  assert_non_null(list);
  for (unsigned i = 0; i < EVENTS; i++)
    list[i] = (struct view_cpel_event){1000 + time_of(i), i % tracks, 0, i};
}

static struct view *open_list(uint32_t tracks) {
  view_write_cpel("list.cpel", list, EVENTS, 1, tracks);
  struct view *view = view_start(below("list.cpel"), VIEW_BY_THREAD, NULL, false);
  view_finish(view);
  return view;
}

static void close_list(struct view *view) {
  view_close(view);
  free(list);
}

/* All entries of all tracks: in the order of times, and of numbers where these are equal. */
static void expect_sorted(const struct view *view) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < view->track_count; i++) {
    struct view_entry last = {INT64_MIN, 0, 0}, entry;
    const struct view_series *series = &view->tracks[i].events;
    for (uint64_t at = 0; at < series->count; at++, last = entry, count++) {
      entry = view_series_get(series, &view->store, at);
      assert_true(entry.time_ns > last.time_ns ||
                  (entry.time_ns == last.time_ns && entry.value > last.value));
      assert_int_equal((uint64_t)(entry.time_ns - view->begin_ns), list[entry.value - 1].time - list[0].time);
    }
  }
  assert_int_equal(count, EVENTS);
}

/* Half of the events, some later ones, then the other half at the first time. */
static uint64_t same_around_later(unsigned i) { return i >= EVENTS / 2 && i < EVENTS / 2 + 200 ? 10 : 0; }

static void equal_times_are_sorted_by_number(void **state) {
  (void)state;
  make_list(same_around_later, 1);
  struct view *view = open_list(1);
  expect_sorted(view);
  close_list(view);
}

/* What is in a picture of each track; returns how many events that are. */
static uint64_t expect_pictures(struct view *view) {
  const struct view_window all = {view->begin_ns, view->end_ns + 1, 8};
  uint64_t drawn = 0;
  for (uint32_t i = 0; i < view->track_count; i++) {
    struct view_cell cells[8];
    uint64_t count = 0;
    assert_int_equal(view_tile(view, &all, &i, 1, NULL, cells), KYMO_OK);
    for (unsigned x = 0; x < 8; x++)
      count += cells[x].count;
    assert_int_equal(count, view->tracks[i].events.count);
    drawn += count;
  }
  return drawn;
}

static uint64_t last_is_first(unsigned i) { return i + 1 < EVENTS ? i : 0; }

/* The track of the late event is merged by steps, and drawn without it until then. */
static void pictures_are_drawn_while_events_are_sorted(void **state) {
  (void)state;
  enum { STEP = 777 };
  struct kymo_error error = {0};
  unsigned steps = 0; /* after all events are read */
  int status;
  make_list(last_is_first, 2);
  view_write_cpel("list.cpel", list, EVENTS, 1, 2);
  struct view *view = view_start(below("list.cpel"), VIEW_BY_THREAD, NULL, false);
  do {
    view_expect_ok(status = view_build_step(view, STEP, &error), &error);
    uint64_t drawn = expect_pictures(view);
    assert_true(drawn == view->events || (view->events == EVENTS && drawn == EVENTS - 1));
    steps += view->events == EVENTS;
  } while (status == KYMO_OK);
  assert_true(steps >= EVENTS / 2 / STEP);
  expect_sorted(view);
  close_list(view);
}

/* ---- finding ---- */

static void expect_found(struct view *view, unsigned i) {
  struct view_mark mark;
  assert_true(view_find(view, i + 1, &mark));
  assert_int_equal(mark.number, i + 1);
  assert_int_equal((uint64_t)(mark.time_ns - view->begin_ns), list[i].time - list[0].time);
}

static uint64_t two_exchanged(unsigned i) { return i == 10 ? 11 : i == 11 ? 10 : i; }

static void one_late_event_keeps_the_others_near(void **state) {
  (void)state;
  make_list(two_exchanged, 3);
  struct view *view = open_list(3);
  for (unsigned i = 0; i < EVENTS; i++)
    expect_found(view, i);
  close_list(view);
}

/* Numbers grow on each track, but times do not from track to track. */
static uint64_t tracks_apart(unsigned i) { return i % 3 ? i : 2 * EVENTS + i; }

static void tracks_that_are_in_order_are_searched(void **state) {
  (void)state;
  make_list(tracks_apart, 3);
  struct view *view = open_list(3);
  assert_false(view->is_in_order);
  for (unsigned i = 0; i < EVENTS; i++) {
    struct view_mark mark;
    assert_true(view_find(view, i + 1, &mark));
    assert_int_equal(mark.number, i + 1);
  }
  close_list(view);
}

static uint64_t mixed(unsigned i) { return i ? i * UINT64_C(7919) % EVENTS : 0; }

static bool take_row(void *user, const struct view_row *row) {
  unsigned *next = user;
  char text[16];
  snprintf(text, sizeof text, "%u", (*next)++);
  assert_int_equal(row->number, *next);
  assert_non_null(strstr(row->text, text));
  return true;
}

static bool skip_field(void *user, const char *path, const char *text) {
  (void)user, (void)path, (void)text;
  return true;
}

static void rows_without_any_order_take_one_pass(void **state) {
  (void)state;
  struct kymo_error error = {0};
  unsigned next = EVENTS / 2;
  make_list(mixed, 1);
  struct view *view = open_list(1);
  expect_sorted(view);
  for (unsigned i = 0; i < EVENTS; i += 371)
    expect_found(view, i);
  view_expect_ok(view_rows(view, NULL, next, 1000, take_row, &next, &error), &error);
  assert_int_equal(next, EVENTS / 2 + 1000);
  close_list(view);
}

static uint64_t in_order(unsigned i) { return i; }

/* A page of rows may take several calls: only the first one moves to a time. */
static void rows_go_on_where_the_reader_is(void **state) {
  (void)state;
  struct kymo_error error = {0};
  unsigned next = EVENTS / 2;
  uint64_t first = 0;
  make_list(in_order, 1);
  struct view *view = open_list(1);
  for (unsigned i = 0; i < 50; i++) {
    view_expect_ok(view_rows(view, NULL, next, 1, take_row, &next, &error), &error);
    first = i ? first : kymo_trace_passed(view->reader);
  }
  assert_int_equal(kymo_trace_passed(view->reader), first + 49);
  next = EVENTS / 4; /* elsewhere, and after an event that was looked at alone */
  view_expect_ok(view_rows(view, NULL, next, 10, take_row, &next, &error), &error);
  next = 20001;
  struct view_row row;
  view_expect_ok(view_event(view, next, &row, skip_field, NULL, &error), &error);
  view_expect_ok(view_rows(view, NULL, next, 10, take_row, &next, &error), &error);
  assert_int_equal(next, 20011);
  close_list(view);
}

/* All at one time after a later one: each search begins between equal times. */
static uint64_t same_after_later(unsigned i) { return i ? 0 : 5; }

static void equal_times_are_searched_by_number(void **state) {
  (void)state;
  make_list(same_after_later, 1);
  struct view *view = open_list(1);
  struct view_search search = {.kind = UINT32_MAX, .track = UINT32_MAX, .number = 1};
  struct view_mark mark;
  for (unsigned i = 1; i < EVENTS; i++, search.number = mark.number) {
    assert_int_equal(view_search(view, &search, &mark), KYMO_OK);
    assert_int_equal(mark.number, i + 1);
    assert_int_equal(mark.is_wrapped, i == 1);
  }
  close_list(view);
}

/* ---- values and pairs that are not in order ---- */

static uint64_t one_in_the_future(unsigned i) { return i == 100 ? UINT64_C(10) * EVENTS : i; }

static void late_values_and_pairs_are_drawn(void **state) {
  (void)state;
  const struct view_latency_query query = {.from = "e0", .to = "e0"};
  struct kymo_error error = {0};
  struct view_latency_result result;
  struct view_latency *latency;
  struct view_values *values;
  struct view_value_cell drawn[2];
  struct view_cell pairs;
  int status;
  make_list(one_in_the_future, 1);
  struct view *view = open_list(1);
  const struct view_window all = {view->begin_ns, view->end_ns + 1, 2}, one = {all.begin_ns, all.end_ns, 1};
  view_expect_ok(view_values_new(&values, view, "datum", NULL, &error), &error);
  while ((status = view_values_step(values, 5000, &error)) == KYMO_OK)
    continue;
  view_expect_ok(status, &error);
  assert_int_equal(view_tile_values(view, &all, 0, values, drawn), KYMO_OK);
  assert_int_equal(drawn[0].count, EVENTS - 1);
  assert_int_equal(drawn[1].count, 1);
  assert_true(drawn[0].last == EVENTS - 1 && drawn[1].last == 100);
  view_values_free(values);
  view_expect_ok(view_latency_new(&latency, view, &query, &error), &error);
  while ((status = view_latency_step(latency, 5000, &error)) == KYMO_OK)
    continue;
  view_expect_ok(status, &error);
  view_expect_ok(view_latency_result(latency, &result), &error);
  assert_int_equal(view_latency_tile(latency, &one, &pairs), KYMO_OK);
  assert_int_equal(pairs.count, result.all->count - 1); /* one ends before it begins */
  view_latency_free(latency);
  close_list(view);
}

/* ---- without times ---- */

static const char untimed_metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
    "trace { major = 1; minor = 8; byte_order = be; packet.header := struct { uint32_t magic; uint32_t "
    "stream_id; }; };\n"
    "clock { name = c; freq = 1000000000; };\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := clock64;\n"
    "stream { id = 0; event.header := struct { uint32_t id; clock64 timestamp; }; };\n"
    "stream { id = 1; event.header := struct { uint32_t id; }; };\n"
    "event { name = timed; id = 0; stream_id = 0; fields := struct { uint32_t value; }; };\n"
    "event { name = untimed; id = 0; stream_id = 1; fields := struct { uint32_t value; }; };\n";

/* Of a stream of class 0 the events have times. */
static void write_stream(const char *path, unsigned class_, unsigned events) {
  FILE *file = fopen(below(path), "wb");
  assert_non_null(file);
  view_put_big(file, UINT64_C(0xc1fc1fc1) << 32 | class_, 8);
  for (unsigned i = 0; i < events; i++) {
    view_put_big(file, 0, 4);
    if (class_ == 0)
      view_put_big(file, 1000000 + i, 8);
    view_put_big(file, i, 4);
  }
  assert_int_equal(fclose(file), 0);
}

static void events_before_the_first_time_are_at_it(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct view_values *values;
  struct view_info info;
  struct view_cell cell;
  struct view_value_cell drawn;
  uint64_t count = 0, value_count = 0;
  int status;
  write_file("n/metadata", untimed_metadata, sizeof untimed_metadata - 1);
  write_stream("n/a", 1, 300);
  write_stream("n/b", 0, 200);
  struct view *view = view_start(below("n"), VIEW_BY_THREAD, NULL, false);
  view_finish(view);
  view_info(view, &info);
  assert_int_equal(info.events, 500);
  assert_int_equal(info.end_ns - info.begin_ns, 199);
  view_expect_ok(view_values_new(&values, view, "value", NULL, &error), &error);
  while ((status = view_values_step(values, 100, &error)) == KYMO_OK)
    continue;
  view_expect_ok(status, &error);
  const struct view_window all = {info.begin_ns, info.end_ns + 1, 1};
  for (uint32_t i = 0; i < info.tracks; i++) {
    assert_int_equal(view_tile(view, &all, &i, 1, NULL, &cell), KYMO_OK);
    assert_int_equal(view_tile_values(view, &all, i, values, &drawn), KYMO_OK);
    count += cell.count;
    value_count += drawn.count;
  }
  assert_int_equal(count, 500);
  assert_int_equal(value_count, 500);
  view_values_free(values);
  view_close(view);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(equal_times_are_sorted_by_number, make_top, remove_top),
      cmocka_unit_test_setup_teardown(pictures_are_drawn_while_events_are_sorted, make_top, remove_top),
      cmocka_unit_test_setup_teardown(one_late_event_keeps_the_others_near, make_top, remove_top),
      cmocka_unit_test_setup_teardown(tracks_that_are_in_order_are_searched, make_top, remove_top),
      cmocka_unit_test_setup_teardown(rows_without_any_order_take_one_pass, make_top, remove_top),
      cmocka_unit_test_setup_teardown(rows_go_on_where_the_reader_is, make_top, remove_top),
      cmocka_unit_test_setup_teardown(equal_times_are_searched_by_number, make_top, remove_top),
      cmocka_unit_test_setup_teardown(late_values_and_pairs_are_drawn, make_top, remove_top),
      cmocka_unit_test_setup_teardown(events_before_the_first_time_are_at_it, make_top, remove_top),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
