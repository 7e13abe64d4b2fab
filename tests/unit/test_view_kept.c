/* SPDX-License-Identifier: MIT */
/* Indexes that are kept: of which files, how many, and what is drawn when another program cuts them. */
#include "missing_pages.h"
#include "view/kept.h"
#include "view/state.h"
#include "view_trace.h"
#include <fcntl.h>
#include <glob.h>
#include <sys/file.h>
#include <sys/wait.h>

enum { EVENTS = 6000 };

static int begin(void **state) {
  int status = make_top(state);
  setenv("XDG_CACHE_HOME", below("cache"), 1);
  return status;
}

static size_t count_kept(void) {
  glob_t found;
  size_t count = glob(below("cache/kymo/view-*"), 0, NULL, &found) == 0 ? found.gl_pathc : 0;
  if (count)
    globfree(&found);
  return count;
}

static char *kept_file(void) {
  static char path[256];
  glob_t found;
  assert_int_equal(glob(below("cache/kymo/view-*"), 0, NULL, &found), 0);
  assert_int_equal(found.gl_pathc, 1);
  snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
  globfree(&found);
  return path;
}

static void finish(struct view *view) {
  struct kymo_error error = {0};
  int status;
  while ((status = view_build_step(view, 777, &error)) == KYMO_OK)
    continue;
  view_expect_ok(status, &error);
}

/* How many events the picture of a track has. */
static int count_drawn(struct view *view, uint32_t track, uint64_t *count) {
  struct view_cell cells[50];
  struct view_info info;
  view_info(view, &info);
  const struct view_window all = {info.begin_ns, info.end_ns + 1, 50};
  int status = view_tile(view, &all, &track, 1, NULL, cells);
  *count = 0;
  for (unsigned i = 0; i < 50; i++)
    *count += cells[i].count;
  return status;
}

static uint64_t events_of(struct view *view, const char *kind) {
  struct view_kind_info info;
  return view_kind(view, view_kind_find(view, kind), &info) ? info.events : 0;
}

/* Opens a trace, and looks at all of it: whether its index was kept. The pictures are those of the trace. */
static bool is_kept(const char *path) {
  struct view_info info;
  struct view_track_info track;
  struct view *view = view_start(path, VIEW_BY_THREAD, NULL, true);
  bool is_from_cache = view->is_from_cache;
  finish(view);
  view_read_all();
  view_info(view, &info);
  assert_int_equal(info.rebuilt, 0);
  assert_int_equal(info.events, view_event_count);
  for (uint32_t i = 0; view_track(view, i, &track); i++) {
    uint64_t wanted = 0, drawn;
    for (unsigned k = 0; k < view_event_count; k++)
      wanted += strcmp(view_track_of(&view_events[k], VIEW_BY_THREAD), track.name) == 0;
    assert_int_equal(count_drawn(view, i, &drawn), KYMO_OK);
    assert_int_equal(drawn, wanted);
  }
  view_close(view);
  return is_from_cache;
}

/* ---- which files ---- */

static void a_path_has_one_index_however_it_is_spelled(void **state) {
  (void)state;
  char here[512];
  struct view_track_info track;
  view_write_trace("t", EVENTS);
  assert_int_equal(symlink("t", below("link")), 0);
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(top), 0);
  assert_false(is_kept(below("t")));
  assert_true(is_kept("t"));
  assert_true(is_kept("./t/../t/"));
  assert_true(is_kept(below("link")));
  assert_int_equal(count_kept(), 1);
  struct view *view = view_start("link", VIEW_BY_THREAD, NULL, true);
  assert_true(view->is_from_cache);
  assert_true(view_track(view, 0, &track));
  assert_string_equal(track.part, "link"); /* as it is spelled this time */
  view_close(view);
  assert_int_equal(chdir(here), 0);
}

/* The places of damage have the paths of their files. */
static void problems_are_at_the_path_of_this_time(void **state) {
  (void)state;
  struct view_problem problem;
  view_write_trace("t", EVENTS);
  assert_int_equal(symlink("t", below("link")), 0);
  assert_int_equal(truncate(below("t/stream_0"), 5000), 0);
  assert_false(is_kept(below("t")));
  struct view *view = view_start(below("link"), VIEW_BY_THREAD, NULL, true);
  assert_true(view->is_from_cache);
  assert_true(view_problem(view, 0, &problem));
  assert_string_equal(problem.path, below("link/stream_0"));
  view_close(view);
}

static void copy_file(const char *from, const char *to) {
  struct stat info;
  assert_int_equal(stat(below(from), &info), 0);
  char *bytes = malloc((size_t)info.st_size);
  FILE *file = fopen(below(from), "rb");
  assert_non_null(file);
  assert_int_equal(fread(bytes, 1, (size_t)info.st_size, file), info.st_size);
  fclose(file);
  write_file(to, bytes, (size_t)info.st_size);
  const struct timespec times[] = {info.st_atim, info.st_mtim};
  assert_int_equal(utimensat(AT_FDCWD, below(to), times, 0), 0);
  free(bytes);
}

/* Copied, moved, replaced: other files, even of the same bytes and times. */
static void other_files_have_other_indexes(void **state) {
  (void)state;
  view_write_trace("t", EVENTS);
  assert_false(is_kept(below("t")));
  for (unsigned i = 0; i < VIEW_TEST_TRACKS; i++) {
    char from[32], to[32];
    snprintf(from, sizeof from, "t/stream_%u", i);
    snprintf(to, sizeof to, "c/stream_%u", i);
    copy_file(from, to);
  }
  copy_file("t/metadata", "c/metadata");
  assert_false(is_kept(below("c")));
  assert_int_equal(rename(below("t"), below("moved")), 0);
  assert_false(is_kept(below("moved")));
  assert_int_equal(rename(below("c"), below("t")), 0);
  assert_false(is_kept(below("t")));
  assert_true(is_kept(below("t")));
  assert_int_equal(rename(below("t/stream_0"), below("t/other")), 0);
  copy_file("t/other", "t/stream_0");
  assert_int_equal(unlink(below("t/other")), 0);
  assert_false(is_kept(below("t")));
  assert_true(is_kept(below("t")));
}

/* The reader follows links. */
static void what_a_link_leads_to_counts(void **state) {
  (void)state;
  view_write_trace("t", EVENTS);
  assert_int_equal(rename(below("t/stream_1"), below("elsewhere")), 0);
  assert_int_equal(symlink("../elsewhere", below("t/stream_1")), 0);
  assert_int_equal(symlink("nothing", below("t/nothing")), 0);
  mkdir(below("t/.more"), 0700);
  assert_int_equal(symlink("..", below("t/.more/up")), 0);
  assert_int_equal(symlink("../.more", below("t/.more/round")), 0);
  assert_false(is_kept(below("t")));
  assert_true(is_kept(below("t")));
  assert_int_equal(truncate(below("elsewhere"), VIEW_TEST_PACKET), 0);
  assert_false(is_kept(below("t")));
  assert_true(is_kept(below("t")));
}

/* ---- changes ---- */

static void write_kind(const char *mode, unsigned id, unsigned events) {
  static struct view_test_stream stream;
  stream = (struct view_test_stream){.used = VIEW_TEST_HEAD, .file = fopen(below("t/stream_0"), mode)};
  assert_non_null(stream.file);
  for (unsigned i = 0; i < events; i++)
    view_emit(&stream, 1 + i, id, i);
  view_end_stream(&stream);
}

/* Before Linux 6.13, times of change are those of ticks: an index that was begun in the same tick as the last
 * change of a file must not be taken for what comes in this tick too. */
static void a_change_in_the_same_tick_is_seen(void **state) {
  (void)state;
  view_begin_metadata("t");
  view_is_lossless = true;
  for (unsigned i = 0; i < 60; i++) {
    write_kind("wb", 0, 400);
    struct view *view = view_start(below("t"), VIEW_BY_THREAD, NULL, true);
    while (view->events == 0)
      assert_int_equal(view_build_step(view, 100, NULL), KYMO_OK);
    write_kind("r+b", 5, 400);
    finish(view);
    view_close(view);
    view = view_start(below("t"), VIEW_BY_THREAD, NULL, true);
    finish(view);
    assert_int_equal(events_of(view, "t:rare"), 400);
    view_close(view);
  }
}

enum change { APPENDED, CUT, OVERWRITTEN, REPLACED, CHANGES };

static void change(enum change change) {
  FILE *file;
  switch (change) {
  case APPENDED:
    file = fopen(below("t/stream_0"), "ab");
    assert_non_null(file);
    static const uint8_t some[VIEW_TEST_PACKET];
    assert_int_equal(fwrite(some, 1, sizeof some, file), sizeof some);
    fclose(file);
    break;
  case CUT: assert_int_equal(truncate(below("t/stream_0"), 2 * VIEW_TEST_PACKET), 0); break;
  case OVERWRITTEN: write_kind("r+b", 5, 3000); break;
  case REPLACED:
    assert_int_equal(unlink(below("t/stream_0")), 0);
    write_kind("wb", 5, 3000);
    break;
  default: break;
  }
}

/* At its begin, in the middle, when all but the end is read. */
static void what_changes_while_it_is_indexed_is_not_kept(void **state) {
  (void)state;
  view_begin_metadata("t");
  view_is_lossless = true;
  for (unsigned i = 0; i < 3 * CHANGES; i++) {
    if (i % CHANGES == CUT && !MISSING_PAGES_ARE_FOUND)
      continue;
    write_kind("wb", 0, 3000);
    struct view *view = view_start(below("t"), VIEW_BY_THREAD, NULL, true);
    while (view->events < i / CHANGES * 1450)
      assert_int_equal(view_build_step(view, 10, NULL), KYMO_OK);
    change(i % CHANGES);
    while (view_build_step(view, 777, NULL) == KYMO_OK)
      continue;
    view_close(view);
    assert_int_equal(count_kept(), 0);
  }
}

/* ---- how many ---- */

static struct view *start(const char *path, uint64_t most) {
  struct view *view;
  struct kymo_error error = {0};
  view_path = path;
  const struct view_options options = {
      .open = view_open_trace, .paths = &view_path, .path_count = 1, .is_kept = true, .kept_most = most};
  view_expect_ok(view_open(&view, &options, &error), &error);
  finish(view);
  return view;
}

static bool open_some(unsigned number, uint64_t most) {
  char name[16];
  snprintf(name, sizeof name, "t%u", number);
  struct view *view = start(below(name), most);
  bool is_from_cache = view->is_from_cache;
  view_close(view);
  return is_from_cache;
}

static uint64_t bytes_kept(void) {
  glob_t found;
  uint64_t bytes = 0;
  if (glob(below("cache/kymo/*"), 0, NULL, &found) != 0)
    return 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    struct stat info;
    bytes += stat(found.gl_pathv[i], &info) == 0 ? (uint64_t)info.st_size : 0;
  }
  globfree(&found);
  return bytes;
}

static void write_some(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    char name[16];
    snprintf(name, sizeof name, "t%u", i);
    view_write_trace(name, EVENTS);
  }
}

static void wait_for_tick(void) { nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); }

/* Of three indexes two may stay: the one that was used last the longest ago goes. */
static void what_was_used_the_longest_ago_goes(void **state) {
  (void)state;
  write_some(4);
  open_some(0, 0);
  uint64_t one = bytes_kept(), most = one * 5 / 2;
  wait_for_tick();
  assert_false(open_some(1, most));
  wait_for_tick();
  assert_true(open_some(0, most));
  wait_for_tick();
  assert_false(open_some(2, most));
  assert_int_equal(count_kept(), 2);
  assert_true(bytes_kept() <= most);
  assert_true(open_some(0, most));
  assert_true(open_some(2, most));
  assert_false(open_some(1, most));
  wait_for_tick();
  assert_false(open_some(3, one / 2)); /* too large by itself: the others stay */
  assert_int_equal(count_kept(), 2);
}

static void what_is_in_use_stays(void **state) {
  (void)state;
  write_some(3);
  struct view *made = start(below("t0"), 0); /* the process that made it … */
  open_some(1, 0);
  uint64_t most = bytes_kept();
  struct view *taken = start(below("t1"), 0); /* … and one that took it */
  assert_true(taken->is_from_cache);
  wait_for_tick();
  assert_false(open_some(2, most));
  view_kept_trim(below("cache/kymo"), 0);
  assert_int_equal(count_kept(), 2);
  view_close(made);
  view_close(taken);
  assert_true(open_some(0, most));
  assert_true(open_some(1, most));
  view_kept_trim(below("cache/kymo"), 0);
  assert_int_equal(count_kept(), 0);
}

/* Several processes, which make, take and remove indexes of the same traces. */
static void several_processes_share_the_cache(void **state) {
  (void)state;
  enum { PROCESSES = 4, TRACES = 5, ROUNDS = 12 };
  write_some(TRACES);
  open_some(0, 0);
  uint64_t most = bytes_kept() * 5 / 2;
  for (unsigned i = 0; i < PROCESSES; i++) {
    if (fork() != 0)
      continue;
    bool is_right = true;
    for (unsigned k = 0; k < ROUNDS; k++) {
      char name[16];
      uint64_t drawn = 0, all = 0;
      snprintf(name, sizeof name, "t%u", (i * 3 + k * (i + 1)) % TRACES);
      struct view *view = start(below(name), most);
      for (uint32_t track = 0; track < view->track_count; track++, all += drawn)
        is_right &= count_drawn(view, track, &drawn) == KYMO_OK;
      is_right &= all == EVENTS;
      view_close(view);
    }
    _exit(is_right ? 0 : 1);
  }
  for (unsigned i = 0; i < PROCESSES; i++) {
    int status;
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
  }
  open_some(0, most);
  assert_true(bytes_kept() <= most);
}

/* A process that is removing it has locked it. */
static void what_is_being_removed_is_not_taken(void **state) {
  (void)state;
  view_write_trace("t", EVENTS);
  assert_false(is_kept(below("t")));
  int fd = open(kept_file(), O_RDWR);
  assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
  assert_false(is_kept(below("t")));
  close(fd);
  assert_true(is_kept(below("t")));
}

static void without_a_folder_nothing_is_kept(void **state) {
  (void)state;
  view_write_trace("t", EVENTS);
  write_file("cache", "no folder", 9);
  assert_false(is_kept(below("t")));
  assert_false(is_kept(below("t")));
  view_kept_trim(below("cache/kymo"), 0);
  assert_int_equal(unlink(below("cache")), 0);
  mkdir(below("cache"), 0700);
  assert_int_equal(chmod(below("cache"), 0500), 0);
  if (access(below("cache"), W_OK) != 0) { /* the superuser may write everywhere */
    assert_false(is_kept(below("t")));
    assert_int_equal(count_kept(), 0);
  }
  assert_int_equal(chmod(below("cache"), 0700), 0);
}

/* ---- files of indexes that another program cuts ---- */

/* All of it was checked, and is whole when the picture is begun. */
static void expect_nothing_wrong(struct view *view) {
  uint64_t drawn;
  struct view_track_info track;
  struct view_span span;
  struct view_mark mark;
  struct view_cell cells[50];
  const struct view_window all = {view->begin_ns, view->end_ns + 1, 50};
  assert_int_equal(truncate(kept_file(), 0), 0);
  for (uint32_t i = 0; view_track(view, i, &track); i++) {
    int status = count_drawn(view, i, &drawn);
    assert_int_equal(status, KYMO_AGAIN);
    assert_int_equal(drawn, 0);
    for (uint32_t k = 0; k < track.lanes; k++) {
      assert_int_equal(view_tile_spans(view, &all, i, k, cells), KYMO_AGAIN);
      assert_false(view->tracks[i].lanes[k].spans.count && view_span(view, i, k, 0, &span));
    }
    assert_false(view_nearest(view, i, view->begin_ns, &mark));
  }
  assert_false(view_find(view, 1, &mark));
  assert_true(view_is_wrong(view));
  finish(view);
  assert_int_equal(count_drawn(view, 0, &drawn), KYMO_OK);
  assert_true(view_track(view, 0, &track));
  assert_int_equal(drawn, track.events);
}

static void an_index_that_is_cut_draws_nothing_wrong(void **state) {
  (void)state;
  if (!MISSING_PAGES_ARE_FOUND)
    skip();
  view_write_trace("t", VIEW_TEST_EVENTS);
  struct view *made = start(below("t"), 0);
  expect_nothing_wrong(made); /* by the process that made it */
  view_close(made);
  struct view *taken = start(below("t"), 0);
  assert_true(taken->is_from_cache);
  expect_nothing_wrong(taken);
  view_close(taken);
}

/* The first look into the cut part: each function by itself. */
static void no_first_look_is_wrong(void **state) {
  (void)state;
  if (!MISSING_PAGES_ARE_FOUND)
    skip();
  view_write_trace("t", VIEW_TEST_EVENTS);
  for (unsigned i = 0; i < 5; i++) {
    struct view *view = start(below("t"), 0);
    struct view_search search = {.number = 1, .kind = 1, .track = UINT32_MAX};
    struct view_mark mark;
    uint32_t tracks[VIEW_TEST_TRACKS];
    uint64_t row;
    assert_int_equal(truncate(kept_file(), 4096), 0);
    switch (i) {
    case 0: assert_int_equal(view_search(view, &search, &mark), KYMO_AGAIN); break;
    case 1:
      assert_int_equal(view_row_at(view, NULL, (view->begin_ns + view->end_ns) / 2, &row), KYMO_AGAIN);
      break;
    case 2:
      assert_int_equal(view_activity(view, view->begin_ns + 9, view->end_ns - 9, NULL, tracks), KYMO_AGAIN);
      break;
    case 3: assert_int_equal(view_chase(view, NULL, NULL, 100, false, tracks), KYMO_AGAIN); break;
    default: assert_false(view_nearest(view, 0, (view->begin_ns + view->end_ns) / 2, &mark)); break;
    }
    assert_true(view_is_wrong(view));
    view_close(view);
    unlink(kept_file());
  }
}

/* The same of spans. */
static void no_span_that_is_cut_is_drawn(void **state) {
  (void)state;
  if (!MISSING_PAGES_ARE_FOUND)
    skip();
  static struct view_test_stream stream;
  view_is_lossless = true;
  view_begin_metadata("t");
  view_begin_stream(&stream, "t", 0);
  for (unsigned i = 0; i < EVENTS; i++)
    view_emit(&stream, 10 * i, 1 + i % 2, i);
  view_end_stream(&stream);
  for (unsigned i = 0; i < 3; i++) {
    struct view *view = start(below("t"), 0);
    const struct view_window window = {view->begin_ns, view->end_ns + 1, 50};
    struct view_cell cells[50];
    struct view_span span;
    assert_int_equal(view->tracks[0].lanes[0].spans.count, EVENTS / 2);
    assert_int_equal(truncate(kept_file(), 0), 0);
    if (i == 0)
      assert_int_equal(view_tile_spans(view, &window, 0, 0, cells), KYMO_AGAIN);
    else if (i == 1)
      assert_false(view_span_at(view, 0, 0, view->begin_ns + 2005, &span));
    else
      assert_false(view_span(view, 0, 0, 100, &span));
    assert_true(view_is_wrong(view));
    view_close(view);
    unlink(kept_file());
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_path_has_one_index_however_it_is_spelled, begin, remove_top),
      cmocka_unit_test_setup_teardown(problems_are_at_the_path_of_this_time, begin, remove_top),
      cmocka_unit_test_setup_teardown(other_files_have_other_indexes, begin, remove_top),
      cmocka_unit_test_setup_teardown(what_a_link_leads_to_counts, begin, remove_top),
      cmocka_unit_test_setup_teardown(a_change_in_the_same_tick_is_seen, begin, remove_top),
      cmocka_unit_test_setup_teardown(what_changes_while_it_is_indexed_is_not_kept, begin, remove_top),
      cmocka_unit_test_setup_teardown(what_was_used_the_longest_ago_goes, begin, remove_top),
      cmocka_unit_test_setup_teardown(what_is_in_use_stays, begin, remove_top),
      cmocka_unit_test_setup_teardown(several_processes_share_the_cache, begin, remove_top),
      cmocka_unit_test_setup_teardown(what_is_being_removed_is_not_taken, begin, remove_top),
      cmocka_unit_test_setup_teardown(without_a_folder_nothing_is_kept, begin, remove_top),
      cmocka_unit_test_setup_teardown(an_index_that_is_cut_draws_nothing_wrong, begin, remove_top),
      cmocka_unit_test_setup_teardown(no_first_look_is_wrong, begin, remove_top),
      cmocka_unit_test_setup_teardown(no_span_that_is_cut_is_drawn, begin, remove_top),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(view_events);
  return failed;
}
