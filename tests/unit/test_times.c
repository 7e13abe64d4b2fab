/* SPDX-License-Identifier: MIT */
/* Times as users type them: the meaning of each form, and the place of the fault in wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <kymo/time.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S INT64_C(1000000000)
/* The trace: 2023-11-14 22:13:20 UTC, an hour and 5 ns long. Now: 2026-11-21 12:00 UTC. */
#define BEGIN (INT64_C(1700000000) * S)
#define END (BEGIN + 3600 * S + 5)
#define NOW (INT64_C(1795262400) * S)

/* One hour east of Greenwich in winter, two in summer. */
static int set_zone(void **state) {
  (void)state;
  setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  tzset();
  return 0;
}

static void assert_time(const char *text, bool is_gmt, int64_t expected_ns) {
  struct kymo_time_world world = {.is_gmt = is_gmt, .now_ns = NOW};
  struct kymo_time_mistake mistake = {0};
  struct kymo_time time;
  int64_t ns;
  if (!kymo_time_parse(&time, text, &world, &mistake))
    fail_msg("\"%s\": \"%.*s\": %s", text, mistake.length, mistake.at, mistake.why);
  assert_true(kymo_time_resolve(&time, BEGIN, END, &ns));
  if (ns != expected_ns)
    fail_msg("\"%s\" is %" PRId64 ", not %" PRId64, text, ns, expected_ns);
}

static void assert_refused(const char *text, const char *place, const char *why) {
  struct kymo_time_world world = {.now_ns = NOW};
  struct kymo_time_mistake mistake = {.at = "", .why = ""};
  struct kymo_time time;
  if (kymo_time_parse(&time, text, &world, &mistake))
    fail_msg("\"%s\" is taken", text);
  char said[200], wanted[200];
  snprintf(said, sizeof said, "%s: \"%.*s\": %s", text, mistake.length, mistake.at, mistake.why);
  snprintf(wanted, sizeof wanted, "%s: \"%s\": %s", text, place, why);
  assert_string_equal(said, wanted);
}

static void dates_are_local_or_of_their_zone(void **state) {
  (void)state;
  assert_time("2023-11-14 23:13:20", false, BEGIN);
  assert_time("2023-11-14 22:13:20", true, BEGIN);
  assert_time("2023-11-14T23:13:20", false, BEGIN);
  assert_time("2023-11-14T22:13:20Z", false, BEGIN);
  assert_time("2023-11-14 22:13:20 UTC", false, BEGIN);
  assert_time("2023-11-14t22:13:20z", false, BEGIN);
  assert_time("2023-11-15 00:13:20+02:00", false, BEGIN);
  assert_time("2023-11-14 16:43:20 -0530", true, BEGIN);
  assert_time("2023-11-14T21:13:20-01", false, BEGIN);
  assert_time("2023-11-14 23:13", false, BEGIN - 20 * S);
  assert_time("2023-11-14", false, BEGIN - (23 * 3600 + 13 * 60 + 20) * S);
  assert_time("2023-11-14Z", false, BEGIN - (22 * 3600 + 13 * 60 + 20) * S);
  assert_time("2024-02-29 12:00:00 GMT", false, INT64_C(1709208000) * S);
  assert_time("1969-12-31 23:59:59.999999999Z", false, -1);
}

static void summer_time_is_an_hour_ahead(void **state) {
  (void)state;
  assert_time("2023-07-01 12:00", false, INT64_C(1688205600) * S);
  assert_time("2023-12-01 12:00", false, INT64_C(1701428400) * S);
}

static void fractions_are_exact(void **state) {
  (void)state;
  assert_time("2023-11-14 23:13:20.123456789", false, BEGIN + 123456789);
  assert_time("2023-11-14 23:13:20.000000001", false, BEGIN + 1);
  assert_time("2023-11-14 23:13:20.5", false, BEGIN + S / 2);
  assert_time("2023-11-14 23:13:20.1234567890000", false, BEGIN + 123456789);
  assert_time("1700000000.000000001", false, BEGIN + 1);
  assert_time("9223372036.854775807", false, INT64_MAX);
}

static void times_of_day_are_of_the_day_of_the_trace(void **state) {
  (void)state;
  assert_time("23:13:20.000000105", false, BEGIN + 105);
  assert_time("22:13:20.1", true, BEGIN + S / 10);
  assert_time("22:13:20.1Z", false, BEGIN + S / 10);
  assert_time("00:13:20 +02:00", false, BEGIN); /* there, it is the day after */
  assert_time("23:13", false, BEGIN - 20 * S);
  assert_time("1:02:03", true, BEGIN - (21 * 3600 + 11 * 60 + 17) * S);
  assert_time("[23:13:20.000000105]", false, BEGIN + 105);
}

static void words_mean_days_of_this_machine(void **state) {
  (void)state;
  assert_time("now", false, NOW);
  assert_time("today", false, NOW - 13 * 3600 * S);
  assert_time("today", true, NOW - 12 * 3600 * S);
  assert_time("today 15:04:05.5", false, NOW + (2 * 3600 + 4 * 60 + 5) * S + S / 2);
  assert_time("today 15:04Z", false, NOW + (3 * 3600 + 4 * 60) * S);
  assert_time("yesterday", false, NOW - 37 * 3600 * S);
  assert_time("yesterday 23:59", true, NOW - (12 * 3600 + 60) * S);
}

static void bare_numbers_are_seconds(void **state) {
  (void)state;
  assert_time("1700000000", false, BEGIN);
  assert_time("@1700000000.5", false, BEGIN + S / 2);
  assert_time("0", false, 0);
  assert_time("-5", false, -5 * S);
  assert_time("-0.25", false, -S / 4);
  assert_time("@-5", false, -5 * S);
}

static void units_make_other_numbers(void **state) {
  (void)state;
  assert_time("1700000000000000007ns", false, BEGIN + 7);
  assert_time("1700000000000000.5us", false, BEGIN + 500);
  assert_time("1700000000000.5ms", false, BEGIN + S / 2000);
  assert_time("1700000000s", false, BEGIN);
  assert_time("@-5ms", false, -5 * S / 1000);
  assert_time("0h", false, 0);
}

static void signs_with_units_are_distances(void **state) {
  (void)state;
  assert_time("+1.5s", false, BEGIN + 3 * S / 2);
  assert_time("+500ms", false, BEGIN + S / 2);
  assert_time("+1ns", false, BEGIN + 1);
  assert_time("+2us", false, BEGIN + 2000);
  assert_time("+2µs", false, BEGIN + 2000);
  assert_time("+3min", false, BEGIN + 180 * S);
  assert_time("+3m", false, BEGIN + 180 * S);
  assert_time("+1h30min0.5s", false, BEGIN + 5400 * S + S / 2);
  assert_time("+0.5h", false, BEGIN + 1800 * S);
  assert_time("+1 d", false, BEGIN + 86400 * S);
  assert_time("+1 sec", false, BEGIN + S);
  assert_time("-10s", false, END - 10 * S);
  assert_time("-1min 5ns", false, END - 60 * S - 5);
  assert_time("-0s", false, END);
}

static void wrong_times_are_told_by_their_place(void **state) {
  (void)state;
  assert_refused("", "", "a time must be given");
  assert_refused("x", "x", "expected a time");
  assert_refused(".5", ".", "expected a time");
  assert_refused("2023-13-14", "2023-13-14", "there is no such day");
  assert_refused("2023-02-29 12:00", "2023-02-29", "there is no such day");
  assert_refused("1900-02-29", "1900-02-29", "there is no such day");
  assert_refused("2023-1-14 12:00", "2023-1-14", "a date is YYYY-MM-DD");
  assert_refused("2023-11-14 12", "12", "a time of day is hh:mm:ss");
  assert_refused("2023-11-14 24:00", "24:00", "there is no such time of day");
  assert_refused("12:60:00", "12:60:00", "there is no such time of day");
  assert_refused("12:5", "12:5", "a time of day is hh:mm:ss");
  assert_refused("12:05:", "12:05:", "a time of day is hh:mm:ss");
  assert_refused("12:05.5", ".", "this is neither a time nor a zone");
  assert_refused("12:05:00 CET", "C", "this is neither a time nor a zone");
  assert_refused("12:05:00Z+1", "+", "nothing may follow the time zone");
  assert_refused("12:05:00+1", "+1", "a time zone is Z, +hh:mm or -hh:mm");
  assert_refused("12:05:00+25:00", "+25:00", "a time zone is Z, +hh:mm or -hh:mm");
  assert_refused("12:05:00.", ".", "digits must follow");
  assert_refused("12:05:00.1234567891", ".1234567891", "no clock here counts parts of nanoseconds");
  assert_refused("2023-11-14T", "", "a time of day is hh:mm:ss");
  assert_refused("now 12:00", " ", "nothing may follow \"now\"");
  assert_refused("todayish", "i", "this is neither a time nor a zone");
  assert_refused("+5", "5", "a unit must follow: ns, us, ms, s, min, h or d");
  assert_refused("+5 fortnights", "5 fortnights", "a unit must follow: ns, us, ms, s, min, h or d");
  assert_refused("+", "", "a number must follow");
  assert_refused("+1min30", "30", "a unit must follow: ns, us, ms, s, min, h or d");
  assert_refused("+0.5ns", "0.5ns", "no clock here counts parts of nanoseconds");
  assert_refused("9223372036.854775808", "9223372036.854775808", "too large");
  assert_refused("1700000000000000000", "1700000000000000000", "too large");
  assert_refused("99999999999999999999", "99999999999999999999", "too large");
  assert_refused("+9000000000000d", "9000000000000d", "too large");
  assert_refused("2999-01-01", "2999-01-01", "the day does not fit a 64-bit clock");
  assert_refused("[12:05:00", "", "this is neither a time nor a zone");
}

static void sums_beyond_64_bits_are_refused(void **state) {
  (void)state;
  struct kymo_time time;
  struct kymo_time_mistake mistake;
  int64_t ns;
  assert_true(kymo_time_parse(&time, "+9000000000s", &(struct kymo_time_world){0}, &mistake));
  assert_false(kymo_time_resolve(&time, BEGIN, END, &ns));
  assert_true(kymo_time_parse(&time, "-9000000000s", &(struct kymo_time_world){0}, &mistake));
  assert_true(kymo_time_resolve(&time, BEGIN, END, &ns));
  assert_false(kymo_time_resolve(&time, INT64_MIN, INT64_MIN, &ns));
}

/* ---- to text ---- */

static void times_are_written_as_they_are_read(void **state) {
  (void)state;
  static const struct {
    int64_t ns;
    enum kymo_time_form form;
    const char *text;
  } cases[] = {
      {0, KYMO_TIME_SECONDS, "0.000000000"},
      {-1, KYMO_TIME_SECONDS, "-0.000000001"},
      {INT64_MIN, KYMO_TIME_SECONDS, "-9223372036.854775808"},
      {INT64_C(1700000000500000001), KYMO_TIME_SECONDS, "1700000000.500000001"},
      {INT64_C(1700000000500000001), KYMO_TIME_UTC, "2023-11-14T22:13:20.500000001Z"},
      {-1, KYMO_TIME_UTC, "1969-12-31T23:59:59.999999999Z"},
  };
  struct kymo_time_world world = {.is_gmt = true};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[KYMO_TIME_TEXT];
    struct kymo_time time;
    struct kymo_time_mistake mistake;
    int64_t ns;
    assert_string_equal(kymo_time_to_text(cases[i].ns, cases[i].form, text), cases[i].text);
    if (cases[i].form == KYMO_TIME_UTC) {
      assert_true(kymo_time_parse(&time, text, &world, &mistake));
      assert_true(kymo_time_resolve(&time, 0, 0, &ns));
      assert_int_equal(ns, cases[i].ns);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(times_are_written_as_they_are_read),
      cmocka_unit_test(dates_are_local_or_of_their_zone),
      cmocka_unit_test(summer_time_is_an_hour_ahead),
      cmocka_unit_test(fractions_are_exact),
      cmocka_unit_test(times_of_day_are_of_the_day_of_the_trace),
      cmocka_unit_test(words_mean_days_of_this_machine),
      cmocka_unit_test(bare_numbers_are_seconds),
      cmocka_unit_test(units_make_other_numbers),
      cmocka_unit_test(signs_with_units_are_distances),
      cmocka_unit_test(wrong_times_are_told_by_their_place),
      cmocka_unit_test(sums_beyond_64_bits_are_refused),
  };
  return cmocka_run_group_tests(tests, set_zone, NULL);
}
