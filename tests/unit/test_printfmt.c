/* SPDX-License-Identifier: MIT */
/* Format strings from files: accepted and refused ones, and that numbers look as printf prints them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/printfmt.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kymo_arena arena;

static bool parse(struct kymo_printfmt *out, const char *text, struct kymo_printfmt_fault *fault) {
  return kymo_printfmt_parse(out, &arena, text, strlen(text), "diuoxXcsk", fault);
}

static void a_format_is_taken_apart(void **state) {
  (void)state;
  struct kymo_printfmt format;
  struct kymo_printfmt_fault fault;
  assert_true(parse(&format, "100%% of %-08.3lx, %s", &fault));
  assert_int_equal(format.count, 4);
  assert_int_equal(format.pieces[0].conversion, '%');
  assert_memory_equal(format.pieces[0].text, "100%", format.pieces[0].length);
  assert_memory_equal(format.pieces[1].text, " of ", format.pieces[1].length);
  assert_int_equal(format.pieces[1].conversion, 'x');
  assert_true(format.pieces[1].left && format.pieces[1].zero && format.pieces[1].has_precision);
  assert_int_equal(format.pieces[1].width, 8);
  assert_int_equal(format.pieces[1].precision, 3);
  assert_int_equal(format.pieces[2].conversion, 's');
  assert_int_equal(format.pieces[3].conversion, 0);
  assert_true(parse(&format, "", &fault));
  assert_int_equal(format.count, 1);
}

static void what_could_do_harm_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t at;
    const char *what;
  } cases[] = {
      {"a %n", 3, "a conversion that is not known"},   {"%*d", 1, "a conversion that is not known"},
      {"%1$d", 2, "a conversion that is not known"},   {"%1000000000d", 4, "a width or precision above 200"},
      {"%.201d", 4, "a width or precision above 200"}, {"%f", 1, "a conversion that is not known"},
      {"50%", 3, "a conversion without its letter"},   {"%-", 2, "a conversion without its letter"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct kymo_printfmt format;
    struct kymo_printfmt_fault fault;
    assert_false(parse(&format, cases[i].text, &fault));
    assert_string_equal(fault.what, cases[i].what);
    assert_int_equal(fault.at, cases[i].at);
  }
}

/* 20,000 random conversions of 32 and of 64 bits. */
static void numbers_look_as_printf_prints_them(void **state) {
  (void)state;
  srandom(1);
  for (int i = 0; i < 20000; i++) {
    static const char letters[] = "diuoxXc", flags[] = "-+ #0";
    char text[32] = "%", ours[KYMO_PRINTFMT_ROOM + 1], theirs[512], *at = text + 1;
    bool is_long = random() % 2;
    char letter = letters[(size_t)random() % (is_long ? 6 : 7)];
    for (const char *flag = flags; *flag; flag++)
      if (random() % 3 == 0 && !(letter == 'c' && *flag != '-'))
        *at++ = *flag;
    if (random() % 2)
      at += snprintf(at, 8, "%ld", 1 + random() % 30);
    if (letter != 'c' && random() % 3 == 0)
      at += snprintf(at, 8, ".%ld", random() % 25);
    snprintf(at, 8, "%s%c", is_long ? "ll" : "", letter);
    uint64_t value = random() % 4 ? (uint64_t)random() << (random() % 34) : (uint64_t)(random() % 3 - 1);
    struct kymo_printfmt format;
    struct kymo_printfmt_fault fault;
    assert_true(parse(&format, text, &fault));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int length = is_long ? snprintf(theirs, sizeof theirs, text, (unsigned long long)value)
                         : snprintf(theirs, sizeof theirs, text, (unsigned)value);
#pragma GCC diagnostic pop
    char *end = kymo_printfmt_number(ours, &format.pieces[0], value, is_long ? 64 : 32);
    assert_int_equal(end - ours, length);
    assert_memory_equal(ours, theirs, (size_t)length);
  }
  kymo_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_format_is_taken_apart),
      cmocka_unit_test(what_could_do_harm_is_refused),
      cmocka_unit_test(numbers_look_as_printf_prints_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
