/* SPDX-License-Identifier: MIT */
/* Percentiles: against the numbers in order. */
#include "stat/samples.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

static const unsigned shares[] = {1, 10, 500, 900, 990, 999, 1000};

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static int64_t wanted_of(const int64_t *values, size_t count, unsigned thousandths) {
  size_t rank = (count * thousandths + 999) / 1000;
  return values[rank ? rank - 1 : 0];
}

static int64_t power_of_ten(unsigned digits) {
  int64_t power = 1;
  while (digits-- > 0)
    power *= 10;
  return power;
}

static void holds(struct kymo_samples *samples, int64_t *values, size_t count, double error) {
  qsort(values, count, sizeof *values, compare);
  for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
    struct kymo_percentile got = kymo_samples_percentile(samples, shares[i]);
    double wanted = (double)wanted_of(values, count, shares[i]);
    assert_true(fabs((double)got.value - wanted) <= error * fabs(wanted));
    assert_int_equal(got.value % power_of_ten(got.unknown_digits), 0);
    if (error == 0)
      assert_int_equal(got.unknown_digits, 0);
  }
}

/* A random number of a random size. */
static int64_t any(bool is_signed) {
  uint64_t value = (uint64_t)rand() << 40 ^ (uint64_t)rand() << 20 ^ (uint64_t)rand();
  int64_t number = (int64_t)(value & INT64_MAX) >> rand() % 63;
  return is_signed && rand() % 3 == 0 ? -number : number;
}

static void few_numbers_are_exact(void **state) {
  static int64_t values[KYMO_SAMPLES_EXACT];
  (void)state;
  srand(1);
  for (size_t count = 1; count <= KYMO_SAMPLES_EXACT; count = count * 3 / 2 + 1) {
    struct kymo_samples samples = {0};
    for (size_t i = 0; i < count; i++)
      assert_true(kymo_samples_add(&samples, values[i] = any(true)));
    holds(&samples, values, count, 0);
    kymo_samples_free(&samples);
  }
}

static void many_numbers_are_known_to_four_thousandths(void **state) {
  enum { COUNT = 50000 };
  int64_t *values = malloc(COUNT * sizeof *values);
  (void)state;
  assert_non_null(values);
  srand(2);
  for (int is_signed = 0; is_signed < 2; is_signed++) {
    struct kymo_samples samples = {0};
    for (size_t i = 0; i < COUNT; i++)
      assert_true(kymo_samples_add(&samples, values[i] = any(is_signed)));
    assert_null(samples.values);
    holds(&samples, values, COUNT, 1.0 / 256);
    kymo_samples_free(&samples);
  }
  free(values);
}

/* Whole microseconds stay whole, and a percentile has no digits that were not measured. */
static void digits_are_those_that_are_known(void **state) {
  struct kymo_samples samples = {0};
  (void)state;
  for (int i = 0; i < 100000; i++)
    assert_true(kymo_samples_add(&samples, 12000 + i % 3 * 1000));
  struct kymo_percentile p50 = kymo_samples_percentile(&samples, 500);
  assert_int_equal(p50.value, 13000);
  assert_int_equal(p50.unknown_digits, 3);
  assert_int_equal(kymo_samples_percentile(&samples, 1000).value, 14000);
  assert_int_equal(kymo_samples_percentile(&samples, 1000).unknown_digits, 0);
  kymo_samples_free(&samples);
}

static void extremes_are_exact(void **state) {
  struct kymo_samples samples = {0};
  (void)state;
  for (int i = 0; i < 5000; i++)
    assert_true(kymo_samples_add(&samples, i % 2 ? INT64_MAX : INT64_MIN));
  assert_true(kymo_samples_percentile(&samples, 500).value == INT64_MIN);
  assert_true(kymo_samples_percentile(&samples, 1000).value == INT64_MAX);
  assert_int_equal(kymo_samples_in(&samples, true, 63), 2500);
  assert_int_equal(kymo_samples_in(&samples, false, 62), 2500);
  kymo_samples_free(&samples);
}

/* Joined from pieces of any size, the numbers are the same. */
static void joined_samples_are_those_of_all(void **state) {
  static const size_t sizes[] = {1, 4000, 95, 5000, 1, 4096, 0, 10};
  int64_t *values = malloc(20000 * sizeof *values);
  struct kymo_samples all = {0};
  size_t count = 0;
  (void)state;
  assert_non_null(values);
  srand(3);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    struct kymo_samples part = {0};
    for (size_t k = 0; k < sizes[i]; k++)
      assert_true(kymo_samples_add(&part, values[count + k] = any(true)));
    assert_true(kymo_samples_join(&all, &part));
    kymo_samples_free(&part);
    count += sizes[i];
    assert_int_equal(all.count, count);
    holds(&all, values, count, count <= KYMO_SAMPLES_EXACT ? 0 : 1.0 / 256);
  }
  kymo_samples_free(&all);
  free(values);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_numbers_are_exact),
      cmocka_unit_test(many_numbers_are_known_to_four_thousandths),
      cmocka_unit_test(digits_are_those_that_are_known),
      cmocka_unit_test(extremes_are_exact),
      cmocka_unit_test(joined_samples_are_those_of_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
