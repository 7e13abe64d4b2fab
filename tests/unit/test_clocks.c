/* SPDX-License-Identifier: MIT */
/* The text of clock snapshots: written, read, and refused. */
#include "base/fail.h"
#include "ring/clock.h"
#include "ring/clocks.h"
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#define HEAD "kymo-clocks 1\nclock counter 2500000000\nboot 4f\nhost kitchen\n"

static void what_is_written_is_read(void **state) {
  (void)state;
  char text[KYMO_CLOCKS_HEAD_MAX + 3 * KYMO_CLOCKS_LINE_MAX];
  const struct kymo_clocks_head head = {
      .is_counter = true, .frequency = UINT64_MAX, .boot = "4f-1", .host = "a\nb c"};
  const struct kymo_clock_snapshot snapshots[] = {
      {0, 0, 0, 0, 0, false},
      {UINT64_MAX, UINT64_MAX, INT64_MAX, -INT64_MAX, UINT64_MAX, true},
      {12, 34, -56, 78, 90, true},
  };
  size_t size = kymo_clocks_put_head(text, &head);
  for (int i = 0; i < 3; i++)
    size += kymo_clocks_put(text + size, &snapshots[i]);
  struct kymo_clocks clocks;
  assert_int_equal(kymo_clocks_parse(&clocks, text, size, "clocks", NULL), KYMO_OK);
  assert_true(clocks.head.is_counter);
  assert_true(clocks.head.frequency == UINT64_MAX);
  assert_string_equal(clocks.head.boot, "4f-1");
  assert_string_equal(clocks.head.host, "a_b c");
  assert_int_equal(clocks.count, 3);
  for (int i = 0; i < 3; i++) { /* written again it is the same */
    char was[KYMO_CLOCKS_LINE_MAX], is[KYMO_CLOCKS_LINE_MAX];
    size_t length = kymo_clocks_put(was, &snapshots[i]);
    assert_int_equal(kymo_clocks_put(is, &clocks.snapshots[i]), length);
    assert_memory_equal(was, is, length);
  }
  kymo_clocks_free(&clocks);
}

static void an_origin_is_taken_by_the_same_clock_and_boot(void **state) {
  (void)state;
  char text[KYMO_CLOCK_ORIGIN_MAX], other[KYMO_CLOCK_ORIGIN_MAX];
  const struct kymo_session_clock from = {
      .is_counter = true, .frequency = 2500000000, .offset_seconds = -7, .offset_cycles = 2499999999};
  struct kymo_session_clock to = {.is_counter = true, .frequency = 1},
                            monotonic = {.is_counter = false, .frequency = 9},
                            none = {.is_counter = true, .is_none = true};
  size_t length = kymo_session_clock_put_origin(&from, text);
  assert_int_equal(length, strlen(text));
  assert_true(kymo_session_clock_take_origin(&to, text, false));
  assert_true(to.frequency == from.frequency && to.offset_seconds == -7 &&
              to.offset_cycles == from.offset_cycles);
  assert_false(kymo_session_clock_take_origin(&monotonic, text, true));
  assert_true(monotonic.frequency == 9);
  assert_false(kymo_session_clock_take_origin(&none, text, true));
  snprintf(other, sizeof other, "counter 1000 5 999 another-boot");
  assert_false(kymo_session_clock_take_origin(&to, other, false));
  assert_true(to.offset_seconds == -7);
  assert_true(kymo_session_clock_take_origin(&to, other, true));
  assert_true(to.offset_seconds == 5);
  static const char *const wrong[] = {
      "", "counter", "counter 1000 5 1000 b", "counter 999 5 1 b", "sundial 1000 5 1 b", "counter 1000 5 1"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_false(kymo_session_clock_take_origin(&to, wrong[i], true));
  assert_true(to.frequency == 1000 && to.offset_seconds == 5 && to.offset_cycles == 999);
}

static void a_line_that_is_being_written_does_not_count(void **state) {
  (void)state;
  const char text[] = HEAD "at 1 2 3 4 - free\nat 1 2 3";
  struct kymo_clocks clocks;
  assert_int_equal(kymo_clocks_parse(&clocks, text, sizeof text - 1, "clocks", NULL), KYMO_OK);
  assert_int_equal(clocks.count, 1);
  assert_true(clocks.snapshots[0].error_ns == UINT64_MAX);
  kymo_clocks_free(&clocks);
}

static void what_makes_no_sense_is_refused_with_its_place(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t line, column;
    const char *message;
  } cases[] = {
      {"", 1, 1, "expected kymo-clocks 1"},
      {"kymo-clocks 2\n", 1, 1, "expected kymo-clocks 1"},
      {"kymo-clocks 1\nclock sun 1\n", 2, 7, "expected clock counter or clock monotonic"},
      {"kymo-clocks 1\nclock counter 0\n", 2, 16, "expected a frequency"},
      {"kymo-clocks 1\nclock counter 99999999999999999999\n", 2, 34, "expected a frequency"},
      {"kymo-clocks 1\nclock counter 1\nboot 0123456789012345678901234567890123456789\n", 3, 6,
       "expected boot and an id"},
      {HEAD "at x\n", 5, 4, "expected at and cycles"},
      {HEAD "at 1 2 3 4 - free\nat 1 2 9223372036854775808 4 - free\n", 6, 27, "expected nanoseconds"},
      {HEAD "at 1 2 3 4 - frozen\n", 5, 13, "expected synchronised or free"},
      {HEAD "at 1 2 3 4 5 free \n", 5, 13, "expected synchronised or free"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct kymo_clocks clocks;
    struct kymo_error error = {0};
    assert_int_equal(kymo_clocks_parse(&clocks, cases[i].text, strlen(cases[i].text), "clocks", &error),
                     KYMO_E_SYNTAX);
    if (error.line != cases[i].line || error.column != cases[i].column ||
        strcmp(error.message, cases[i].message))
      fail_msg("case %zu: %" PRIu64 ":%" PRIu64 ": %s", i, (uint64_t)error.line, (uint64_t)error.column,
               error.message);
    kymo_clocks_free(&clocks);
  }
}

static void a_look_shows_what_the_clocks_show(void **state) {
  (void)state;
  struct kymo_clock_snapshot look;
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  kymo_clocks_look(false, &look);
  clock_gettime(CLOCK_MONOTONIC, &after);
  assert_true(look.monotonic_ns >= before.tv_sec * INT64_C(1000000000) + before.tv_nsec);
  assert_true(look.monotonic_ns <= after.tv_sec * INT64_C(1000000000) + after.tv_nsec);
  assert_true(look.cycles + look.span >= (uint64_t)look.monotonic_ns);
  assert_true(look.cycles <= (uint64_t)look.monotonic_ns + look.span);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_origin_is_taken_by_the_same_clock_and_boot),
      cmocka_unit_test(what_is_written_is_read),
      cmocka_unit_test(a_line_that_is_being_written_does_not_count),
      cmocka_unit_test(what_makes_no_sense_is_refused_with_its_place),
      cmocka_unit_test(a_look_shows_what_the_clocks_show),
  };
  return cmocka_run_group_tests_name("clocks", tests, NULL, NULL);
}
