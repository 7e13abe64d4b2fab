/* SPDX-License-Identifier: MIT */
/* The server's work between requests: the index, and tasks by it. Requests are made as they come after the
 * checks of who asks. */
#include "base/fail.h"
#include "serve/api.h"
#include "view_trace.h"
#include <time.h>

enum { MANY = 200, EVENTS = 4000 };

static struct view_cpel_event list[EVENTS];

/* Writes "t.cpel" of events on this number of tracks, in another file. */
static void write_tracks(unsigned tracks, unsigned events, uint32_t datum) {
  for (unsigned i = 0; i < events; i++)
    list[i] = (struct view_cpel_event){1000 + i, i % tracks, 0, datum};
  view_write_cpel("new.cpel", list, events, 1, tracks);
  char from[256];
  snprintf(from, sizeof from, "%s", below("new.cpel"));
  assert_int_equal(rename(from, below("t.cpel")), 0);
}

static struct api api;

static bool is_refused; /* nothing but the trace that is followed can be opened */

static int open_or_refuse(void *user, bool is_live, struct kymo_trace **out, struct kymo_error *error) {
  return is_refused && !is_live ? kymo_fail(error, KYMO_E_SYSTEM, "too many open files")
                                : view_open_trace(user, is_live, out, error);
}

static void begin_with(const char *name, bool is_live) {
  static char path[256];
  static struct view_options view;
  static struct serve_options options;
  struct kymo_error error = {0};
  snprintf(path, sizeof path, "%s", below(name));
  view_path = path;
  view = (struct view_options){
      .open = open_or_refuse, .paths = &view_path, .path_count = 1, .is_live = is_live, .is_kept = !is_live};
  options =
      (struct serve_options){.traces = {.view = &view, .file_count = 1, .title = "t", .command = "kymo cat"}};
  view_expect_ok(api_begin(&api, &options, &error), &error);
}

static void begin(void) { begin_with("t.cpel", false); }

/* Until nothing is to be done. */
static void work(void) {
  while (api_work(&api))
    continue;
}

static bool replies(const char *target, const char *words, bool is_loud) {
  struct http_reply reply = {0};
  void *rest = NULL;
  api_answer(&api, target, true, &reply, &rest);
  while (rest && !api_go_on(&api, rest, &reply))
    continue;
  bool is_there = reply.size && memmem(reply.bytes, reply.size, words, strlen(words));
  if (!is_there && is_loud)
    print_error("%s: %.*s\n", target, (int)reply.size, (const char *)reply.bytes);
  if (!reply.is_static)
    free(reply.bytes);
  return is_there;
}

static bool has(const char *target, const char *words) { return replies(target, words, true); }

/* Works until a reply has these words. */
static void until(const char *target, const char *words) {
  for (time_t begin = time(NULL); !replies(target, words, false);
       nanosleep(&(struct timespec){0, 1000000}, NULL)) {
    api_work(&api);
    if (time(NULL) - begin > 100)
      fail_msg("%s never has %s", target, words);
  }
}

static bool has_tasks(void) {
  for (unsigned i = 0; i < TASKS_MAX; i++)
    if (api.tasks.list[i].id)
      return true;
  return false;
}

static const char selection[] = "/api/selection?begin=0&end=9000000000000000000";

/* A row does not fit the index, which is then built anew within one piece of work: tasks of the earlier one
 * never run by it. */
static void tasks_end_with_their_index(void **state) {
  (void)state;
  setenv("XDG_CACHE_HOME", below("cache"), 1);
  write_tracks(MANY, EVENTS, 1);
  begin();
  work();
  api_end(&api);
  begin();
  assert_true(has("/api/state", "\"isFromCache\":true"));
  assert_true(has(selection, "\"state\":\"running\""));
  assert_true(has_tasks());
  write_tracks(1, 10, 2);
  assert_true(has("/api/rows?first=3000&count=1", "\"rows\":[]"));
  api_work(&api);
  assert_false(has_tasks());
  work();
  assert_true(has(selection, "\"state\""));
  work();
  assert_true(has(selection, "\"events\":\"10\",\"tracks\":[{\"track\":0,\"events\":\"10\"}]"));
  assert_true(has("/api/state", "\"isFromCache\":false"));
  api_end(&api);
}

/* A kept index that was checked as a whole, and then does not fit. */
static void a_wrong_index_is_built_anew_at_any_time(void **state) {
  (void)state;
  setenv("XDG_CACHE_HOME", below("cache"), 1);
  write_tracks(MANY, EVENTS, 1);
  begin();
  work();
  api_end(&api);
  begin();
  work();
  assert_true(has("/api/state", "\"isFromCache\":true"));
  write_tracks(1, 10, 2);
  assert_true(has("/api/rows?first=3000&count=1", "\"rows\":[]"));
  work();
  assert_true(has("/api/state", "\"events\":\"10\""));
  assert_true(has("/api/rows?first=0&count=1", "\"number\":\"1\""));
  assert_true(has("/api/event?number=0", "expected the number of an event, from 1"));
  api_end(&api);
}

/* A trace that was indexed in this run is replaced by a shorter one, with the same times, or by another one
 * of the same length: what was asked of it fails, and then all is of the new one. */
static void a_trace_that_is_replaced_is_indexed_anew(void **state) {
  (void)state;
  static const char histogram[] = "/api/histogram?field=datum", filter[] = "/api/filter?text=datum%20%3E%200",
                    row[] = "/api/rows?first=0&count=1";
  for (unsigned i = 0; i < 6; i++) {
    unsigned events = i & 1 ? 300 : 200;
    const char *asked = i < 2 ? histogram : i < 4 ? filter : row;
    char wanted[64];
    write_tracks(2, 300, 1);
    begin();
    work();
    assert_true(i > 3 || has(row, "\"text\":\"1\""));
    write_tracks(i < 4 ? 2 : 1, i < 4 ? events : 300 - i, 5);
    if (i < 4) {
      assert_true(has(asked, "\"state\":\"running\""));
      work();
      snprintf(wanted, sizeof wanted, "\"events\":\"%u\"", events);
      assert_true(has("/api/state", wanted));
      assert_true(has(asked, "\"state\":\"running\""));
      work();
      snprintf(wanted, sizeof wanted, "\"count\":\"%u\"", events);
      assert_true(has(asked, wanted));
    } else {
      assert_true(has("/api/rows?first=299&count=1", "the trace has changed: it is indexed anew"));
      work();
    }
    assert_true(has(row, "\"text\":\"5\""));
    api_end(&api);
  }
}

/* Events that were added later are not in what was counted: the index does not have them. */
static void a_trace_that_has_grown_is_as_it_was(void **state) {
  (void)state;
  static struct view_test_stream stream;
  static const char filter[] = "/api/filter?text=value%20%3C%2050";
  view_is_lossless = true;
  view_begin_metadata("l");
  view_begin_stream(&stream, "l", 0);
  for (unsigned i = 0; i < 60000; i++) {
    view_emit(&stream, 10 + i, 0, i % 100);
    if (i == 39999) {
      view_flush(&stream);
      fflush(stream.file);
      begin_with("l", false);
      work();
    }
  }
  view_flush(&stream);
  fclose(stream.file);
  assert_true(has(filter, "\"state\":\"running\""));
  work();
  assert_true(has(filter, "\"count\":\"20000\""));
  assert_true(has("/api/state", "\"events\":\"40000\""));
  assert_true(has("/api/rows?first=39999&count=2", "\"total\":\"40000\""));
  api_end(&api);
}

/* The same file has other events, and more of them: it looks as if it had grown. */
static void a_file_that_is_overwritten_by_a_longer_one_is_indexed_anew(void **state) {
  (void)state;
  static const unsigned sizes[] = {300, 4000};
  for (unsigned i = 0; i < 2; i++) {
    write_tracks(2, sizes[i] / 2, 1);
    begin();
    work();
    for (unsigned k = 0; k < sizes[i]; k++)
      list[k] = (struct view_cpel_event){1000 + k, k % 2, 0, 5};
    view_write_cpel("t.cpel", list, sizes[i], 1, 2); /* the same file, unlike write_tracks */
    assert_true(has("/api/filter?text=datum%20%3E%201", "\"state\":\"running\""));
    work();
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"events\":\"%u\"", sizes[i]);
    assert_true(has("/api/state", wanted));
    assert_true(has("/api/rows?first=0&count=1", "\"text\":\"5\""));
    api_end(&api);
  }
}

/* The same of a stream of packets that begin alike. */
static void a_stream_that_is_overwritten_by_a_longer_one_is_indexed_anew(void **state) {
  (void)state;
  static struct view_test_stream stream;
  view_is_lossless = true;
  view_begin_metadata("l");
  for (unsigned round = 0; round < 2; round++) {
    view_begin_stream(&stream, "l", 0);
    for (unsigned i = 0; i < 40000 + round * 100; i++)
      view_emit(&stream, 10 + i, 0, i < 10000 ? 1 : 1 + round);
    view_flush(&stream);
    fclose(stream.file);
    if (round == 0) {
      begin_with("l", false);
      work();
      assert_true(has("/api/rows?first=39999&count=1", "\"text\":\"value = 1\""));
    }
  }
  assert_true(has("/api/search?number=5", "the trace is indexed anew: ask again"));
  work();
  assert_true(has("/api/state", "\"events\":\"40100\""));
  assert_true(has("/api/rows?first=39999&count=1", "\"text\":\"value = 2\""));
  api_end(&api);
}

/* Pictures are of the index alone: the page looks at the state. */
static void a_trace_that_nobody_reads_is_looked_at(void **state) {
  (void)state;
  write_tracks(2, 300, 1);
  begin();
  work();
  assert_true(has("/api/state", "\"events\":\"300\""));
  write_tracks(2, 200, 1);
  until("/api/state", "\"events\":\"200\"");
  assert_int_equal(unlink(below("t.cpel")), 0);
  until("/api/state", "the files of the trace are gone: pictures and counts are of what was indexed");
  work();
  assert_true(has("/api/state", "\"events\":\"200\""));
  assert_true(has("/api/rowat?time=1100", "\"row\":"));
  assert_true(has("/api/filter?text=datum%20%3E%200", "cannot open"));
  assert_true(has("/api/rows?first=150&count=1", "cannot open"));
  assert_true(has("/api/state", "\"events\":\"200\""));
  write_tracks(2, 100, 1);
  until("/api/state", "\"events\":\"100\"");
  assert_true(has("/api/state", "\"error\":null"));
  api_end(&api);
}

/* What is looked up in the index, of a trace that was replaced meanwhile: no answer of the earlier one. */
static void nothing_is_looked_up_in_another_trace(void **state) {
  (void)state;
  static const char *const asked[] = {
      "/api/search?number=5",
      "/api/chase?filter=1&number=5",
      "/api/activity?begin=0&end=2000000000",
      "/api/rowat?time=1100",
      "/api/rowof?number=5",
      "/api/nearest?track=0&time=1100",
      "/api/spanat?track=0&lane=0&time=1100",
  };
  for (unsigned i = 0; i < sizeof asked / sizeof *asked; i++) {
    write_tracks(2, 300, 1);
    begin();
    work();
    assert_true(has("/api/filter?text=datum%20%3E%200", "\"id\":1"));
    work();
    assert_false(replies(asked[i], "\"message\"", false));
    api_end(&api);
    begin();
    work();
    assert_true(has("/api/filter?text=datum%20%3E%200", "\"id\":1"));
    work();
    write_tracks(2, 200, 5);
    assert_true(has(asked[i], "the trace is indexed anew: ask again"));
    work();
    assert_true(has("/api/state", "\"events\":\"200\""));
    api_end(&api);
  }
}

/* Selections count in the index, and read only for spans. */
static void a_selection_is_of_the_trace_of_now(void **state) {
  (void)state;
  static const char *const asked[] = {selection, "/api/selection?begin=1010&end=1100"};
  static const char *const wanted[] = {"\"events\":\"200\"", "\"events\":\"90\""};
  for (unsigned i = 0; i < 2; i++) {
    write_tracks(2, 300, 1);
    begin();
    work();
    write_tracks(i ? 1 : 2, 200, 5);
    assert_true(has(asked[i], "\"state\":\"running\""));
    work();
    assert_true(has(asked[i], "\"state\":\"running\"")); /* the first one has ended with its index */
    work();
    assert_true(has(asked[i], wanted[i]));
    assert_true(has("/api/state", "\"events\":\"200\""));
    api_end(&api);
  }
}

/* Of a trace that grows an earlier result is used while a newer one is made; if that fails, the reply says
 * so, and it is tried again. */
static void a_result_that_is_not_renewed_says_so(void **state) {
  (void)state;
  static struct view_test_stream stream;
  static const char filter[] = "/api/filter?text=value%20%3C%2050",
                    histogram[] = "/api/histogram?field=value&filter=1";
  view_is_lossless = true;
  view_begin_metadata("l");
  view_begin_stream(&stream, "l", 0);
  for (unsigned i = 0; i < 200; i++) {
    view_emit(&stream, 10 + i, 0, i % 100);
    if (i == 99) {
      view_flush(&stream);
      fflush(stream.file);
      begin_with("l", true);
      until("/api/state", "\"events\":\"100\"");
      until(filter, "\"state\":\"done\"");
      until(histogram, "\"state\":\"done\"");
      assert_true(has(filter, "\"renewal\":null"));
    }
  }
  view_flush(&stream);
  fflush(stream.file);
  is_refused = true;
  until("/api/state", "\"events\":\"200\"");
  until(filter, "\"renewal\":\"too many open files\"");
  until(histogram, "\"renewal\":\"too many open files\"");
  assert_true(has(filter, "\"state\":\"done\",\"indexed\":\"100\""));
  is_refused = false;
  until(filter, "\"indexed\":\"200\"");
  assert_true(has(filter, "\"renewal\":null"));
  until(histogram, "\"indexed\":\"200\"");
  assert_true(has(histogram, "\"renewal\":null"));
  fclose(stream.file);
  api_end(&api);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(tasks_end_with_their_index, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_wrong_index_is_built_anew_at_any_time, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_trace_that_is_replaced_is_indexed_anew, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_trace_that_has_grown_is_as_it_was, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_file_that_is_overwritten_by_a_longer_one_is_indexed_anew, make_top,
                                      remove_top),
      cmocka_unit_test_setup_teardown(a_stream_that_is_overwritten_by_a_longer_one_is_indexed_anew, make_top,
                                      remove_top),
      cmocka_unit_test_setup_teardown(a_trace_that_nobody_reads_is_looked_at, make_top, remove_top),
      cmocka_unit_test_setup_teardown(nothing_is_looked_up_in_another_trace, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_selection_is_of_the_trace_of_now, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_result_that_is_not_renewed_says_so, make_top, remove_top),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
