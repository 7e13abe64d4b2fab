/* SPDX-License-Identifier: MIT */
/* Durations as texts, tables that fit, and the nearest word. */
#include "base/nearest.h"
#include "print/duration.h"
#include "stat/table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static void duration_has_four_digits_and_a_unit(void **state) {
  (void)state;
  static const struct {
    double ns;
    unsigned digits;
    const char *text;
  } cases[] = {
      {0, 4, "0 ns"},
      {1, 4, "1 ns"},
      {999, 4, "999 ns"},
      {1000, 4, "1.000 us"},
      {1234, 4, "1.234 us"},
      {12345, 4, "12.35 us"},
      {123456, 4, "123.5 us"},
      {999949, 4, "999.9 us"},
      {999950, 4, "1.000 ms"},
      {12345678, 4, "12.35 ms"},
      {999999999, 4, "1.000 s"},
      {86399999999900.0, 4, "86400 s"},
      {1234567890, 2, "1.2 s"},
      {1310720, 3, "1.31 ms"},
      {0.5, 4, "0.500 ns"},
      {12.5, 4, "12.50 ns"},
      {-1500, 4, "-1.500 us"},
      {-0.0, 4, "0 ns"},
      {9.3e18, 4, "9300000000 s"},
      {4e9, 1, "4 s"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[KYMO_DURATION_TEXT];
    assert_string_equal(kymo_duration_text(cases[i].ns, cases[i].digits, text), cases[i].text);
  }
}

static void exact_duration_has_all_digits(void **state) {
  (void)state;
  static const struct {
    uint64_t ns;
    const char *text;
  } cases[] = {
      {0, "0 ns"},
      {105, "105 ns"},
      {1400, "1.400 us"},
      {12345678, "12.345678 ms"},
      {86399999999900, "86399.999999900 s"},
      {UINT64_MAX, "18446744073.709551615 s"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[KYMO_DURATION_TEXT];
    assert_string_equal(kymo_duration_exact(cases[i].ns, text), cases[i].text);
  }
}

static const struct kymo_column columns[] = {
    {.title = "name", .kind = KYMO_CELL_NAME},
    {"count", 6, 0, KYMO_CELL_NUMBER},
    {"mean", 8, 1, KYMO_CELL_NUMBER},
    {"p99", 8, 2, KYMO_CELL_NUMBER},
    {.title = "end", .kind = KYMO_CELL_TEXT, .width = 4},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* A table of one row whose name is this, as wide as the terminal. */
static const char *row(const char *name, int width) {
  static char text[1024];
  const char *cells[COLUMNS] = {name, "7", "1.234 us", "12.35 ms", "ok"};
  struct kymo_table table;
  struct kymo_strbuf line = {0};
  kymo_table_begin(&table, columns, COLUMNS, kymo_text_width(name), width);
  kymo_table_row(&table, cells, &line);
  snprintf(text, sizeof text, "%s", line.text);
  kymo_strbuf_free(&line);
  return text;
}

static void table_is_as_wide_as_it_needs(void **state) {
  (void)state;
  assert_string_equal(row("a_long_name_of_thirty_letters_", 0),
                      "a_long_name_of_thirty_letters_       7  1.234 us  12.35 ms  ok\n");
  assert_string_equal(row("x", 80), "x          7  1.234 us  12.35 ms  ok\n");
}

static void narrow_table_leaves_out_columns_then_cuts_names(void **state) {
  (void)state;
  assert_string_equal(row("a_long_name_of_thirty_letters_", 60),
                      "a_long_name_of_t...etters_       7  1.234 us  12.35 ms  ok\n");
  assert_string_equal(row("a_long_name_of_thirty_letters_", 50),
                      "a_long_na...ers_       7  1.234 us  12.35 ms  ok\n");
  assert_string_equal(row("a_long_name_of_thirty_letters_", 45),
                      "a_long_name_...tters_       7  1.234 us  ok\n");
  assert_string_equal(row("a_long_name_of_thirty_letters_", 20), "a_long_na...ers_       7  ok\n");
}

static void names_are_cut_between_characters(void **state) {
  (void)state;
  assert_int_equal(kymo_text_width("größe"), 5);
  assert_string_equal(row("ääääääääääöööööööööö", 20), "äääääääää...öööö       7  ok\n");
  assert_string_equal(row("größe", 80), "größe       7  1.234 us  12.35 ms  ok\n");
}

static const char *nearest(const char *word, const char *const *words) {
  struct kymo_nearest nearest = kymo_nearest_to(word);
  for (; *words; words++)
    kymo_nearest_consider(&nearest, *words);
  return nearest.best ? nearest.best : "";
}

static void nearest_word_takes_two_exchanged_letters_for_one_change(void **state) {
  (void)state;
  static const char *const words[] = {"max", "name", "latency", "list", NULL};
  assert_string_equal(nearest("nmae", words), "name");
  assert_string_equal(nearest("latecny", words), "latency");
  assert_string_equal(nearest("lsit", words), "list");
  assert_string_equal(nearest("qqqqqq", words), "");
  assert_string_equal(nearest("", words), "");
  assert_int_equal(kymo_edit_distance("ab", 2, "ba", 2), 1);
  assert_int_equal(kymo_edit_distance("abc", 3, "", 0), 3);
  assert_int_equal(kymo_edit_distance("kitten", 6, "sitting", 7), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(duration_has_four_digits_and_a_unit),
      cmocka_unit_test(exact_duration_has_all_digits),
      cmocka_unit_test(table_is_as_wide_as_it_needs),
      cmocka_unit_test(narrow_table_leaves_out_columns_then_cuts_names),
      cmocka_unit_test(names_are_cut_between_characters),
      cmocka_unit_test(nearest_word_takes_two_exchanged_letters_for_one_change),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
