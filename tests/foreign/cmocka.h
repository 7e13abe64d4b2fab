/* SPDX-License-Identifier: MIT */
/*
 * Replaces cmocka on machines for which Debian has no such package: the part of it that our unit tests use,
 * with the output that tests/run reads. A failed assertion leaves the case by longjmp.
 */
#ifndef KYMO_TEST_CMOCKA_H
#define KYMO_TEST_CMOCKA_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
  const char *name;
  void (*test)(void **state);
  int (*setup)(void **state), (*teardown)(void **state);
  void *initial;
};

static jmp_buf cm_case_end;
enum { CM_FAILED = 1, CM_SKIPPED = 2 };

#define cmocka_unit_test(f) cmocka_unit_test_prestate_setup_teardown(f, NULL, NULL, NULL)
#define cmocka_unit_test_setup(f, setup) cmocka_unit_test_prestate_setup_teardown(f, setup, NULL, NULL)
#define cmocka_unit_test_teardown(f, teardown) \
  cmocka_unit_test_prestate_setup_teardown(f, NULL, teardown, NULL)
#define cmocka_unit_test_setup_teardown(f, setup, teardown) \
  cmocka_unit_test_prestate_setup_teardown(f, setup, teardown, NULL)
#define cmocka_unit_test_prestate(f, state) cmocka_unit_test_prestate_setup_teardown(f, NULL, NULL, state)
#define cmocka_unit_test_prestate_setup_teardown(f, setup, teardown, state) \
  { #f, f, setup, teardown, state }

#define cmocka_run_group_tests(tests, setup, teardown) \
  cm_run_group(tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
  cmocka_run_group_tests(tests, setup, teardown)

static inline int cm_run_case(const struct CMUnitTest *test, void **state) {
  if (test->setup && test->setup(state) != 0)
    return CM_FAILED;
  int result = setjmp(cm_case_end);
  if (result == 0)
    test->test(state);
  if (test->teardown && test->teardown(state) != 0)
    result = CM_FAILED;
  return result;
}

static inline int cm_run_group(const struct CMUnitTest *tests, size_t count, int (*setup)(void **state),
                               int (*teardown)(void **state)) {
  void *shared = NULL;
  int failures = 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("1..%zu\n", count);
  if (setup && setup(&shared) != 0)
    return 1;
  for (size_t i = 0; i < count; i++) {
    void *state = tests[i].initial ? tests[i].initial : shared;
    int result = cm_run_case(&tests[i], &state);
    if (result == CM_SKIPPED)
      printf("ok %zu # SKIP %s\n", i + 1, tests[i].name);
    else
      printf("%s %zu - %s\n", result == 0 ? "ok" : "not ok", i + 1, tests[i].name);
    failures += result == CM_FAILED;
    if (tests[i].initial == NULL)
      shared = state;
  }
  if (teardown && teardown(&shared) != 0)
    failures++;
  return failures;
}

#define skip() longjmp(cm_case_end, CM_SKIPPED)
#define print_message printf
#define print_error printf
#define fail() cm_require(0, "fail()", __FILE__, __LINE__)
#define fail_msg(...) (printf("# " __VA_ARGS__), printf("\n"), fail())

static inline void cm_require(int holds, const char *what, const char *file, int line) {
  if (holds)
    return;
  printf("# %s:%d: %s does not hold\n", file, line, what);
  longjmp(cm_case_end, CM_FAILED);
}

static inline void cm_require_equal(uintmax_t a, uintmax_t b, const char *file, int line) {
  if (a == b)
    return;
  printf("# %s:%d: 0x%jx != 0x%jx\n", file, line, a, b);
  longjmp(cm_case_end, CM_FAILED);
}

static inline void cm_require_text(const char *a, const char *b, const char *file, int line) {
  if (strcmp(a, b) == 0)
    return;
  printf("# %s:%d: \"%s\" != \"%s\"\n", file, line, a, b);
  longjmp(cm_case_end, CM_FAILED);
}

/** A function rather than a comparison in place, which gcc warns of where low is 0. */
static inline bool cm_in_range(uintmax_t x, uintmax_t low, uintmax_t high) { return x >= low && x <= high; }

#define CM_REQUIRE(holds) cm_require(!!(holds), #holds, __FILE__, __LINE__)
#define assert_true(x) CM_REQUIRE(x)
#define assert_false(x) CM_REQUIRE(!(x))
#define assert_null(x) CM_REQUIRE((x) == NULL)
#define assert_non_null(x) CM_REQUIRE((x) != NULL)
#define assert_int_equal(a, b) cm_require_equal((uintmax_t)(a), (uintmax_t)(b), __FILE__, __LINE__)
#define assert_int_not_equal(a, b) CM_REQUIRE((uintmax_t)(a) != (uintmax_t)(b))
#define assert_ptr_equal(a, b) CM_REQUIRE((const void *)(a) == (const void *)(b))
#define assert_ptr_not_equal(a, b) CM_REQUIRE((const void *)(a) != (const void *)(b))
#define assert_string_equal(a, b) cm_require_text(a, b, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) CM_REQUIRE(strcmp(a, b) != 0)
#define assert_memory_equal(a, b, size) CM_REQUIRE(memcmp(a, b, size) == 0)
#define assert_memory_not_equal(a, b, size) CM_REQUIRE(memcmp(a, b, size) != 0)
#define assert_in_range(x, low, high) \
  CM_REQUIRE(cm_in_range((uintmax_t)(x), (uintmax_t)(low), (uintmax_t)(high)))
#define assert_not_in_range(x, low, high) \
  CM_REQUIRE(!cm_in_range((uintmax_t)(x), (uintmax_t)(low), (uintmax_t)(high)))
#define assert_return_code(x, error) CM_REQUIRE((x) >= 0)
#define assert_float_equal(a, b, epsilon) CM_REQUIRE(fabs((double)(a) - (double)(b)) <= (double)(epsilon))

#endif
