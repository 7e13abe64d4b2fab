/* SPDX-License-Identifier: MIT */
/* Where the viewer finds events, and tracks in the order of their events: of CPEL files in order and out of
 * order, against looking at all events. */
#include "view_trace.h"

enum { EVENTS = 6000, TRACKS = 7, CODES = 9 };

static struct view_cpel_event list[EVENTS];
static unsigned order[EVENTS]; /* by the time that is shown, then number */
static int64_t shifts[TRACKS]; /* of t0, t1, … */
static struct view *view;
static struct view_filter *filter; /* datum < 25 */

static int by_time(const void *a, const void *b) {
  const unsigned *x = a, *y = b;
  int64_t first = (int64_t)list[*x].time + shifts[list[*x].track],
          second = (int64_t)list[*y].time + shifts[list[*y].track];
  return first != second ? (first < second ? -1 : 1) : *x < *y ? -1 : *x > *y;
}

static void make(bool is_in_order) {
  struct kymo_error error = {0};
  int status;
  memset(shifts, 0, sizeof shifts);
  for (unsigned i = 0; i < EVENTS; i++) {
    uint64_t time = is_in_order ? (i ? list[i - 1].time : 1000) + view_chance(4) : 1000 + view_chance(EVENTS);
    list[i] = (struct view_cpel_event){
        time, (uint32_t)(view_chance(TRACKS) * view_chance(TRACKS) / (TRACKS - 1)),
        view_chance(500) ? (uint32_t)view_chance(CODES - 1) : CODES - 1, (uint32_t)view_chance(100)};
    order[i] = i;
  }
  qsort(order, EVENTS, sizeof *order, by_time);
  view_write_cpel("random.cpel", list, EVENTS, CODES, TRACKS);
  view = view_start(below("random.cpel"), VIEW_BY_THREAD, NULL, false);
  view_finish(view);
  view_expect_ok(view_filter_new(&filter, view, "datum < 25", &error), &error);
  while ((status = view_filter_step(filter, 1000, &error)) == KYMO_OK)
    continue;
  assert_int_equal(status, KYMO_END);
}

static void end(void) {
  view_filter_free(filter);
  view_close(view);
}

static const char *name_of(char letter, uint32_t number) {
  static char name[16];
  snprintf(name, sizeof name, "%c%u", letter, number);
  return name;
}

static uint32_t track_named(uint32_t number) {
  struct view_track_info info;
  for (uint32_t i = 0; view_track(view, i, &info); i++)
    if (strcmp(info.name, name_of('t', number)) == 0)
      return i;
  return UINT32_MAX;
}

/* Some tracks are shown earlier, others later. */
static const struct view_slews *slew(void) {
  static uint32_t tracks[TRACKS];
  static struct view_slews slews = {.tracks = tracks, .ns = shifts, .count = TRACKS};
  for (uint32_t i = 0; i < TRACKS; i++) {
    tracks[i] = track_named(i);
    shifts[i] = i % 3 ? (int64_t)view_chance(4000) - 2000 : 0;
  }
  qsort(order, EVENTS, sizeof *order, by_time);
  return &slews;
}

static void events_are_found_by_their_numbers(void **state) {
  (void)state;
  for (unsigned round = 0; round < 2; round++) {
    struct view_mark mark, first;
    make(round == 0);
    assert_true(view_find(view, 1, &first));
    for (unsigned i = 0; i < EVENTS; i++) {
      assert_true(view_find(view, i + 1, &mark));
      assert_int_equal(mark.number, i + 1);
      assert_int_equal(mark.time_ns - first.time_ns, (int64_t)(list[i].time - list[0].time));
      assert_int_equal(mark.track, track_named(list[i].track));
      assert_int_equal(mark.kind, view_kind_find(view, name_of('e', list[i].code)));
    }
    assert_false(view_find(view, 0, &mark));
    assert_false(view_find(view, EVENTS + 1, &mark));
    end();
  }
}

static bool fits(const struct view_search *search, unsigned at) {
  return (search->kind == UINT32_MAX || search->kind == view_kind_find(view, name_of('e', list[at].code))) &&
         (search->track == UINT32_MAX || search->track == track_named(list[at].track)) &&
         (!search->filter || list[at].datum < 25);
}

/* The number, going round in the order of times; 0: none. */
static uint64_t look(const struct view_search *search, bool *is_wrapped) {
  unsigned at = 0;
  while (order[at] + 1 != search->number)
    at++;
  *is_wrapped = false;
  for (unsigned i = 0; i < EVENTS; i++) {
    *is_wrapped |= search->is_back ? at == 0 : at + 1 == EVENTS;
    at = search->is_back ? (at + EVENTS - 1) % EVENTS : (at + 1) % EVENTS;
    if (fits(search, order[at]))
      return order[at] + 1;
  }
  return 0;
}

static void searching_follows_the_times_both_ways(void **state) {
  (void)state;
  for (unsigned round = 0; round < 4; round++) {
    make(round % 2 == 0);
    const struct view_slews *slews = round < 2 ? NULL : slew();
    for (unsigned i = 0; i < 300; i++) {
      struct view_search search = {.number = 1 + view_chance(EVENTS), .is_back = i & 1, .slews = slews};
      struct view_mark mark;
      bool is_wrapped;
      search.kind = i & 2
                        ? view_kind_find(view, name_of('e', i & 8 ? CODES - 1 : (uint32_t)view_chance(CODES)))
                        : UINT32_MAX;
      search.track = i & 4 ? (uint32_t)view_chance(TRACKS) : UINT32_MAX;
      search.filter = i & 16 ? filter : NULL;
      uint64_t wanted = look(&search, &is_wrapped);
      assert_int_equal(view_search(view, &search, &mark), wanted ? KYMO_OK : KYMO_END);
      assert_int_equal(mark.number, wanted);
      assert_int_equal(mark.is_wrapped, wanted && is_wrapped);
    }
    end();
  }
}

static uint64_t row_of(unsigned at, bool is_filtered) {
  uint64_t row = 0;
  for (unsigned i = 0; i < at; i++)
    row += !is_filtered || list[i].datum < 25;
  return row;
}

static void rows_are_found_by_time(void **state) {
  (void)state;
  for (unsigned round = 0; round < 2; round++) {
    make(round == 0);
    struct view_mark first;
    assert_true(view_find(view, order[0] + 1, &first));
    for (unsigned i = 0; i < 200; i++) {
      struct view_filter *used = i & 1 ? filter : NULL;
      uint64_t time =
          list[order[0]].time + view_chance(list[order[EVENTS - 1]].time - list[order[0]].time + 5);
      unsigned at = 0;
      while (at < EVENTS && (list[order[at]].time < time || (used && list[order[at]].datum >= 25)))
        at++;
      uint64_t row;
      assert_int_equal(view_row_at(view, used, first.time_ns + (int64_t)(time - list[order[0]].time), &row),
                       KYMO_OK);
      assert_int_equal(row, row_of(at < EVENTS ? order[at] : EVENTS, used));
    }
    end();
  }
}

/* ---- some classes are not wanted: their numbers are left out ---- */

static bool wants_odd(void *user, const struct kymo_event_class *class_) {
  (void)user;
  return (class_->name[1] - '0') % 2;
}

struct taken {
  uint64_t numbers[EVENTS];
  unsigned count;
};

static bool take_number(void *user, const struct view_row *row) {
  struct taken *taken = user;
  taken->numbers[taken->count++] = row->number;
  return true;
}

static void expect_rows(struct view_filter *used) {
  static struct taken taken;
  struct kymo_error error = {0};
  struct view_info info;
  unsigned wanted = 0;
  taken.count = 0;
  view_expect_ok(view_rows(view, used, 0, EVENTS, take_number, &taken, &error), &error);
  for (unsigned i = 0; i < EVENTS; i++) {
    if (list[i].code % 2 == 0 || (used && list[i].datum >= 25))
      continue;
    assert_int_equal(taken.numbers[wanted], i + 1);
    assert_int_equal(view_row_of(view, used, i + 1), wanted++);
  }
  assert_int_equal(taken.count, wanted);
  view_info(view, &info);
  assert_int_equal(used ? view_filter_count(used) : info.events, wanted);
  taken.count = 0;
  view_expect_ok(view_rows(view, used, wanted - 5, 10, take_number, &taken, &error), &error);
  assert_int_equal(taken.count, 5);
}

static void rows_are_those_of_the_wanted_classes(void **state) {
  (void)state;
  view_wants = wants_odd;
  for (unsigned round = 0; round < 2; round++) {
    uint64_t row;
    make(round == 0);
    expect_rows(NULL);
    expect_rows(filter);
    assert_int_equal(view_row_at(view, NULL, INT64_MAX, &row), KYMO_OK);
    struct view_info info;
    view_info(view, &info);
    assert_int_equal(row, info.events);
    end();
  }
  view_wants = NULL;
}

static void rows_of_wanted_classes_are_kept(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct view_info info;
  assert_int_equal(setenv("XDG_CACHE_HOME", below("cache"), 1), 0);
  assert_int_equal(mkdir(below("cache"), 0700), 0);
  view_wants = wants_odd;
  make(true);
  end();
  for (unsigned round = 0; round < 2; round++) {
    int status;
    view = view_start(below("random.cpel"), VIEW_BY_THREAD, NULL, true);
    view_finish(view);
    view_info(view, &info);
    assert_int_equal(info.is_from_cache, round == 1);
    view_expect_ok(view_filter_new(&filter, view, "datum < 25", &error), &error);
    while ((status = view_filter_step(filter, 1000, &error)) == KYMO_OK)
      continue;
    expect_rows(NULL);
    expect_rows(filter);
    end();
  }
  view_wants = NULL;
}

/* ---- tracks in order ---- */

struct seen {
  uint32_t tracks[TRACKS];
  unsigned count;
};

static void see(struct seen *seen, uint32_t track) {
  for (unsigned i = 0; i < seen->count; i++)
    if (seen->tracks[i] == track)
      return;
  seen->tracks[seen->count++] = track;
}

static void a_chase_puts_tracks_by_their_first_match(void **state) {
  (void)state;
  for (unsigned round = 0; round < 4; round++) {
    make(round % 2 == 0);
    const struct view_slews *slews = round < 2 ? NULL : slew();
    for (unsigned i = 0; i < 100; i++) {
      uint32_t tracks[TRACKS];
      struct seen wanted = {0};
      unsigned at = (unsigned)view_chance(EVENTS);
      if (i & 2) /* near the end, so that not all tracks have a match */
        at = i & 1 ? at % 20 : EVENTS - 1 - at % 20;
      for (unsigned k = at; k < EVENTS; k += i & 1 ? UINT32_MAX : 1)
        if (list[order[k]].datum < 25)
          see(&wanted, track_named(list[order[k]].track));
      for (uint32_t k = 0; k < TRACKS; k++)
        see(&wanted, k);
      assert_int_equal(view_chase(view, slews, filter, order[at] + 1, i & 1, tracks), KYMO_OK);
      assert_memory_equal(tracks, wanted.tracks, sizeof tracks);
    }
    end();
  }
}

static void tracks_are_put_by_how_active_they_are(void **state) {
  (void)state;
  for (unsigned round = 0; round < 4; round++) {
    uint32_t tracks[TRACKS];
    struct view_mark first;
    make(round % 2 == 0);
    assert_true(view_find(view, order[0] + 1, &first));
    unsigned begin = (unsigned)view_chance(EVENTS / 2), until = begin + (unsigned)view_chance(EVENTS / 2),
             counts[TRACKS] = {0};
    int64_t origin_ns = first.time_ns - (int64_t)list[order[0]].time;
    for (unsigned i = 0; i < EVENTS; i++)
      if (list[i].time >= list[order[begin]].time && list[i].time < list[order[until]].time &&
          (round < 2 || list[i].datum < 25))
        counts[track_named(list[i].track)]++;
    assert_int_equal(view_activity(view, origin_ns + (int64_t)list[order[begin]].time,
                                   origin_ns + (int64_t)list[order[until]].time, round < 2 ? NULL : filter,
                                   tracks),
                     KYMO_OK);
    for (unsigned i = 1; i < TRACKS; i++)
      assert_true(counts[tracks[i - 1]] > counts[tracks[i]] ||
                  (counts[tracks[i - 1]] == counts[tracks[i]] && tracks[i - 1] < tracks[i]));
    end();
  }
}

/* ---- fields ---- */

static void fields_are_listed_once(void **state) {
  (void)state;
  const struct view_field *fields;
  struct kymo_error error = {0};
  size_t count;
  bool has_datum = false;
  make(true);
  view_expect_ok(view_fields(view, &fields, &count, &error), &error);
  for (size_t i = 0; i < count; i++) {
    has_datum |= strcmp(fields[i].name, "datum") == 0 && fields[i].is_numeric;
    assert_true(i == 0 || strcmp(fields[i - 1].name, fields[i].name) < 0);
  }
  assert_true(has_datum);
  end();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(events_are_found_by_their_numbers, make_top, remove_top),
      cmocka_unit_test_setup_teardown(searching_follows_the_times_both_ways, make_top, remove_top),
      cmocka_unit_test_setup_teardown(rows_are_found_by_time, make_top, remove_top),
      cmocka_unit_test_setup_teardown(rows_are_those_of_the_wanted_classes, make_top, remove_top),
      cmocka_unit_test_setup_teardown(rows_of_wanted_classes_are_kept, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_chase_puts_tracks_by_their_first_match, make_top, remove_top),
      cmocka_unit_test_setup_teardown(tracks_are_put_by_how_active_they_are, make_top, remove_top),
      cmocka_unit_test_setup_teardown(fields_are_listed_once, make_top, remove_top),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
