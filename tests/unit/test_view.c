/* SPDX-License-Identifier: MIT */
/* The viewer's index of a trace: against reading all of its events. */
#include "rounds.h"
#include "view/state.h"
#include "view_trace.h"
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>

static struct view_window random_window(const struct view_info *info, uint32_t pixels) {
  uint64_t span = (uint64_t)(info->end_ns - info->begin_ns) + 1,
           width = 1 + view_chance(span >> view_chance(30));
  int64_t begin = info->begin_ns - 10 + (int64_t)view_chance(span);
  return (struct view_window){begin, begin + (int64_t)width, pixels};
}

static void expect_tile(struct view *view, uint32_t track, const struct view_window *window,
                        enum view_track_by by, struct view_filter *filter,
                        bool (*wants)(const struct view_test_event *event)) {
  struct view_cell cells[64];
  struct view_track_info info;
  struct view_kind_info kind;
  unsigned i = 0;
  assert_true(view_track(view, track, &info));
  const struct view_test_event *first = view_first_on(info.name, by);
  assert_non_null(first);
  assert_int_equal(view_tile(view, window, &track, 1, filter, cells), KYMO_OK);
  while (i < view_event_count && view_events[i].time_ns < window->begin_ns)
    i++;
  for (uint32_t x = 0; x < window->pixels; x++) {
    uint64_t wanted = 0, kinds = 0;
    for (; i < view_event_count && view_events[i].time_ns < view_window_edge(window, x + 1); i++)
      if (view_share_track(&view_events[i], first, by) && (!wants || wants(&view_events[i]))) {
        wanted++;
        kinds |= UINT64_C(1) << view_kind_find(view, view_events[i].name) % 64;
      }
    assert_int_equal(cells[x].count, wanted);
    assert_int_equal(cells[x].kinds, kinds);
    assert_int_equal(view_kind(view, cells[x].kind, &kind), wanted > 0);
    assert_true(wanted == 0 || kinds >> cells[x].kind & 1);
  }
}

static void expect_tiles(struct view *view, enum view_track_by by, struct view_filter *filter,
                         bool (*wants)(const struct view_test_event *event)) {
  struct view_info info;
  view_info(view, &info);
  assert_true(info.is_complete);
  assert_int_equal(info.events, view_event_count);
  for (unsigned i = 0; i < rounds(40); i++) {
    const struct view_window window = random_window(&info, 1 + (uint32_t)view_chance(64));
    expect_tile(view, (uint32_t)view_chance(info.tracks), &window, by, filter, wants);
  }
  const struct view_window all = {info.begin_ns, info.end_ns + 1, 64};
  for (uint32_t i = 0; i < info.tracks && i < 8; i++)
    expect_tile(view, i, &all, by, filter, wants);
}

static void pixels_have_what_the_trace_has(void **state) {
  (void)state;
  static const enum view_track_by all[] = {VIEW_BY_THREAD, VIEW_BY_CPU, VIEW_BY_STREAM, VIEW_BY_EVENT,
                                           VIEW_BY_FIELD};
  view_write_trace("t", VIEW_TEST_EVENTS);
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
    struct view *view = view_start(below("t"), all[i], "value", false);
    view_read_all();
    view_finish(view);
    expect_tiles(view, all[i], NULL, NULL);
    view_close(view);
  }
}

static bool wants_low(const struct view_test_event *event) { return event->value < 250; }

static void filtered_pixels_have_what_the_filter_selects(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct view_filter *filter;
  int status;
  view_write_trace("t", VIEW_TEST_EVENTS);
  struct view *view = view_start(below("t"), VIEW_BY_THREAD, NULL, false);
  view_read_all();
  view_finish(view);
  assert_int_equal(view_filter_new(&filter, view, "value <", &error), KYMO_E_SYNTAX);
  view_expect_ok(view_filter_new(&filter, view, "value < 250", &error), &error);
  while ((status = view_filter_step(filter, 10000, &error)) == KYMO_OK)
    continue;
  assert_int_equal(status, KYMO_END);
  uint64_t selected = 0;
  for (unsigned i = 0; i < view_event_count; i++)
    if (wants_low(&view_events[i])) {
      assert_int_equal(view_row_of(view, filter, i + 1), selected);
      selected++;
    }
  assert_int_equal(view_filter_count(filter), selected);
  expect_tiles(view, VIEW_BY_THREAD, filter, wants_low);
  view_filter_free(filter);
  view_close(view);
}

/* ---- rows and searching ---- */

struct rows {
  uint64_t next;
  unsigned count;
  bool is_filtered;
};

static bool expect_row(void *user, const struct view_row *row) {
  struct rows *rows = user;
  char wanted[64];
  while (rows->is_filtered && !wants_low(&view_events[rows->next]))
    rows->next++;
  const struct view_test_event *event = &view_events[rows->next++];
  assert_int_equal(row->number, rows->next);
  assert_int_equal(row->time_ns, event->time_ns);
  snprintf(wanted, sizeof wanted, "value = %u", event->value);
  assert_string_equal(row->text, wanted);
  rows->count++;
  return true;
}

static void expect_rows(struct view *view, struct view_filter *filter) {
  struct kymo_error error = {0};
  for (unsigned i = 0; i < 50; i++) {
    struct rows rows = {.next = view_chance(VIEW_TEST_EVENTS)};
    uint64_t left = VIEW_TEST_EVENTS - rows.next, first = rows.next;
    view_expect_ok(view_rows(view, NULL, first, 20, expect_row, &rows, &error), &error);
    assert_int_equal(rows.count, left < 20 ? left : 20);
  }
  for (unsigned i = 0; i < 50; i++) {
    struct rows rows = {.next = view_chance(VIEW_TEST_EVENTS - 2000), .is_filtered = true};
    uint64_t first = view_row_of(view, filter, rows.next + 1);
    view_expect_ok(view_rows(view, filter, first, 20, expect_row, &rows, &error), &error);
    assert_int_equal(rows.count, 20);
  }
}

/* The view of a whole trace, and a filter that has looked at all of it. */
static struct view *start_with_filter(struct view_filter **filter) {
  struct kymo_error error = {0};
  view_write_trace("t", VIEW_TEST_EVENTS);
  struct view *view = view_start(below("t"), VIEW_BY_THREAD, NULL, false);
  view_read_all();
  view_finish(view);
  view_expect_ok(view_filter_new(filter, view, "value < 250", &error), &error);
  while (view_filter_step(*filter, 10000, &error) == KYMO_OK)
    continue;
  return view;
}

/* Also where seeks by time take long, from some event on. */
static void rows_are_those_of_the_trace(void **state) {
  (void)state;
  struct view_filter *filter;
  struct view *view = start_with_filter(&filter);
  expect_rows(view, filter);
  view->slow_seeks = VIEW_SLOW_SEEKS;
  expect_rows(view, filter);
  view_filter_free(filter);
  view_close(view);
}

static uint64_t look(const struct view_search *search, const char *name, const char *track) {
  const struct view_test_event *on = track ? view_first_on(track, VIEW_BY_THREAD) : NULL;
  for (uint64_t i = 0, at = search->number; i < VIEW_TEST_EVENTS; i++) {
    at = search->is_back ? (at <= 1 ? VIEW_TEST_EVENTS : at - 1) : at % VIEW_TEST_EVENTS + 1;
    if ((!name || strcmp(view_events[at - 1].name, name) == 0) &&
        (!track || (on && view_share_track(&view_events[at - 1], on, VIEW_BY_THREAD))) &&
        (!search->filter || wants_low(&view_events[at - 1])))
      return at;
  }
  return 0;
}

static void searching_goes_round_both_ways(void **state) {
  (void)state;
  struct view_filter *filter;
  struct view *view = start_with_filter(&filter);
  for (unsigned i = 0; i < rounds(400); i++) {
    struct view_kind_info kind;
    struct view_track_info track;
    struct view_mark mark;
    struct view_search search = {.number = 1 + view_chance(VIEW_TEST_EVENTS), .is_back = i & 1};
    search.kind = i & 2 ? view_kind_find(view, i & 8 ? "t:rare" : "t:io_end") : UINT32_MAX;
    search.track = i & 4 ? (uint32_t)view_chance(VIEW_TEST_TRACKS) : UINT32_MAX;
    search.filter = i & 16 ? filter : NULL;
    view_kind(view, search.kind, &kind);
    view_track(view, search.track, &track);
    uint64_t wanted = look(&search, i & 2 ? kind.name : NULL, i & 4 ? track.name : NULL);
    assert_int_equal(view_search(view, &search, &mark), wanted ? KYMO_OK : KYMO_END);
    if (wanted) {
      assert_int_equal(mark.number, wanted);
      assert_int_equal(mark.time_ns, view_events[wanted - 1].time_ns);
    }
  }
  view_filter_free(filter);
  view_close(view);
}

/* ---- the index that is kept ---- */

static char *kept_file(void) {
  static char path[256];
  glob_t found;
  assert_int_equal(glob(below("cache/kymo/view-*"), 0, NULL, &found), 0);
  assert_int_equal(found.gl_pathc, 1);
  snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
  globfree(&found);
  return path;
}

static bool open_again(void) {
  struct view_info info;
  struct view *view = view_start(below("t"), VIEW_BY_THREAD, NULL, true);
  view_info(view, &info);
  bool is_from_cache = info.is_from_cache;
  view_finish(view);
  view_info(view, &info);
  if (info.rebuilt)
    view_finish(view);
  expect_tiles(view, VIEW_BY_THREAD, NULL, NULL);
  view_close(view);
  return is_from_cache;
}

static void an_index_is_kept_for_the_same_files(void **state) {
  (void)state;
  view_write_trace("t", VIEW_TEST_EVENTS);
  view_path = below("t");
  view_read_all();
  setenv("XDG_CACHE_HOME", below("cache"), 1);
  assert_false(open_again());
  assert_true(open_again());
  view_write_trace("t", VIEW_TEST_EVENTS);
  view_read_all();
  assert_false(open_again());
  assert_true(open_again());
  chmod(kept_file(), 0666); /* anybody could have written it */
  assert_false(open_again());
  /* other bytes, of which the size and the time are those of before */
  struct stat info;
  assert_int_equal(stat(below("t/stream_0"), &info), 0);
  FILE *file = fopen(below("t/stream_0"), "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, info.st_size / 2, SEEK_SET), 0);
  assert_int_equal(fputc(0, file), 0);
  assert_int_equal(fclose(file), 0);
  const struct timespec times[] = {info.st_atim, info.st_mtim};
  assert_int_equal(utimensat(AT_FDCWD, below("t/stream_0"), times, 0), 0);
  struct view *view = view_start(below("t"), VIEW_BY_THREAD, NULL, true);
  assert_false(view->is_from_cache);
  view_close(view);
}

/* The file has no more than it needs. */
static void an_index_takes_little_space(void **state) {
  (void)state;
  struct stat info;
  view_write_trace("t", 2000);
  setenv("XDG_CACHE_HOME", below("cache"), 1);
  struct view *view = view_start(below("t"), VIEW_BY_THREAD, NULL, true);
  view_finish(view);
  assert_int_equal(stat(kept_file(), &info), 0);
  assert_true(info.st_size < 64 << 10);
  view_close(view);
}

/* Whatever is changed in the file: it is built anew, or nothing of it was read. */
static void an_index_that_lies_draws_nothing_wrong(void **state) {
  (void)state;
  view_write_trace("t", VIEW_TEST_EVENTS);
  view_path = below("t");
  view_read_all();
  setenv("XDG_CACHE_HOME", below("cache"), 1);
  assert_false(open_again());
  for (unsigned i = 0; i < rounds(40); i++) {
    FILE *file = fopen(kept_file(), "r+b");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long at = (long)view_chance((uint64_t)ftell(file));
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 1 << view_chance(8), file);
    fclose(file);
    if (i % 10 == 9)
      assert_int_equal(truncate(kept_file(), at), 0);
    open_again();
  }
}

/* A word of a leaf of an index that is kept: where it is in the file, and an event of its block. */
struct leaf_word {
  uint64_t offset, number;
};

static struct leaf_word random_leaf_word(const struct view *view) {
  const struct view_series *series;
  do
    series = &view->tracks[view_chance(view->track_count)].events;
  while (series->blocks == 0);
  uint64_t block = view_chance(series->blocks), chunk = block / VIEW_CHUNK,
           word = view_chance(1 + sizeof(struct view_leaf) / 8),
           at = word ? offsetof(struct view_leaves, list[block % VIEW_CHUNK]) + (word - 1) * 8
                     : offsetof(struct view_leaves, times_ns[block % VIEW_CHUNK]);
  struct view_entry entry =
      view_series_get(series, &view->store, block * VIEW_BLOCK + view_chance(VIEW_BLOCK));
  return (struct leaf_word){series->summaries[chunk].leaves + at, entry.value};
}

static void change_word(uint64_t offset, uint64_t bits) {
  uint64_t word;
  FILE *file = fopen(kept_file(), "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, (long)offset, SEEK_SET), 0);
  assert_int_equal(fread(&word, sizeof word, 1, file), 1);
  word ^= bits;
  assert_int_equal(fseek(file, (long)offset, SEEK_SET), 0);
  assert_int_equal(fwrite(&word, sizeof word, 1, file), 1);
  assert_int_equal(fclose(file), 0);
}

static bool take_field(void *user, const char *path, const char *text) {
  (void)user;
  (void)path;
  (void)text;
  return true;
}

/* What is looked up in an index of which nothing is checked yet: it is right, or not there. */
static void expect_lookups(struct view *view, uint64_t number) {
  struct kymo_error error = {0};
  struct rows rows = {.next = number > 4 ? number - 4 : 0};
  struct view_mark mark;
  struct view_row row = {0};
  int status = view_rows(view, NULL, rows.next, 6, expect_row, &rows, &error);
  view_expect_ok(status, &error);
  assert_true(status == KYMO_AGAIN || rows.count == 6 || rows.next == view_event_count);
  status = view_event(view, number, &row, take_field, NULL, &error);
  view_expect_ok(status, &error);
  assert_true(status == KYMO_AGAIN ||
              (row.number == number && row.time_ns == view_events[number - 1].time_ns));
  if (view_find(view, number, &mark))
    assert_int_equal(mark.time_ns, view_events[number - 1].time_ns);
  else
    assert_true(view->is_wrong);
}

/* Each member of a leaf, at any place: nothing is looked up by it. */
static void a_leaf_that_lies_leads_nowhere(void **state) {
  (void)state;
  view_write_trace("t", VIEW_TEST_EVENTS);
  view_path = below("t");
  view_read_all();
  setenv("XDG_CACHE_HOME", below("cache"), 1);
  assert_false(open_again());
  for (unsigned i = 0; i < rounds(150); i++) {
    struct view_info info;
    struct view *view = view_start(below("t"), VIEW_BY_THREAD, NULL, true);
    assert_true(view->is_from_cache);
    const struct leaf_word word = random_leaf_word(view);
    uint64_t bits = UINT64_C(1) << view_chance(64);
    view_close(view);
    change_word(word.offset, bits);
    view = view_start(below("t"), VIEW_BY_THREAD, NULL, true);
    if (view->is_from_cache)
      expect_lookups(view, word.number);
    while (view->is_from_cache && view_build_step(view, 100000, NULL) == KYMO_OK)
      continue;
    view_info(view, &info);
    assert_false(info.is_from_cache);
    view_close(view);
    change_word(word.offset, bits);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(pixels_have_what_the_trace_has, make_top, remove_top),
      cmocka_unit_test_setup_teardown(filtered_pixels_have_what_the_filter_selects, make_top, remove_top),
      cmocka_unit_test_setup_teardown(rows_are_those_of_the_trace, make_top, remove_top),
      cmocka_unit_test_setup_teardown(searching_goes_round_both_ways, make_top, remove_top),
      cmocka_unit_test_setup_teardown(an_index_is_kept_for_the_same_files, make_top, remove_top),
      cmocka_unit_test_setup_teardown(an_index_takes_little_space, make_top, remove_top),
      cmocka_unit_test_setup_teardown(an_index_that_lies_draws_nothing_wrong, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_leaf_that_lies_leads_nowhere, make_top, remove_top),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(view_events);
  return failed;
}
