/* SPDX-License-Identifier: MIT */
/* Percentiles and bars: against the numbers in order. */
#include "stat/samples.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <float.h>
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

/* ---- floating-point numbers ---- */

/* Infinities, NaN, zeros of both signs, the least and the largest numbers, and powers of two, which begin a
 * bar above zero and end none below it. */
static double any_float(void) {
  static const double some[] = {0, -0.0, 1, -1, 0.5, -0.5, 5e-324, -5e-324, DBL_MAX, -DBL_MAX, DBL_MIN, -2};
  unsigned kind = (unsigned)rand() % 40;
  if (kind < sizeof some / sizeof *some)
    return some[kind];
  if (kind < 15)
    return kind == 12 ? (double)NAN : kind == 13 ? (double)INFINITY : -(double)INFINITY;
  return ldexp((double)rand() / RAND_MAX - 0.5, rand() % 200 - 100);
}

static void expect_bars(const struct kymo_floats *floats, const double *values, size_t count) {
  uint64_t finite = 0, nans = 0, infinite = 0, seen = 0;
  for (size_t i = 0; i < count; i++) {
    finite += isfinite(values[i]) != 0;
    nans += isnan(values[i]) != 0;
    infinite += isinf(values[i]) != 0;
  }
  for (uint32_t b = 0; b < floats->place_count; b++) {
    const struct kymo_float_bar bar = kymo_floats_bar(floats, b);
    uint64_t wanted = 0;
    for (size_t i = 0; i < count; i++)
      wanted += isfinite(values[i]) &&
                (bar.from == bar.to ? values[i] == 0
                                    : values[i] != 0 && values[i] >= bar.from && values[i] < bar.to);
    assert_int_equal(bar.count, wanted);
    assert_true(bar.count > 0);
    if (b > 0)
      assert_true(bar.from >= kymo_floats_bar(floats, b - 1).to);
    seen += bar.count;
  }
  assert_int_equal(seen, finite);
  assert_int_equal(floats->count, finite);
  assert_int_equal(floats->nans, nans);
  assert_int_equal(floats->infinities[0] + floats->infinities[1], infinite);
}

static void floats_are_in_bars_of_powers_of_two(void **state) {
  enum { COUNT = 5000, PARTS = 5 };
  double values[COUNT];
  struct kymo_samples all = {0}, joined = {0};
  (void)state;
  srand(5);
  for (unsigned part = 0; part < PARTS; part++) {
    struct kymo_samples some = {0};
    for (unsigned i = part * COUNT / PARTS; i < (part + 1) * COUNT / PARTS; i++) {
      values[i] = any_float();
      assert_true(kymo_samples_add_float(&all, values[i]));
      assert_true(kymo_samples_add_float(&some, values[i]));
    }
    assert_true(kymo_samples_join(&joined, &some));
    kymo_samples_free(&some);
  }
  expect_bars(all.floats, values, COUNT);
  expect_bars(joined.floats, values, COUNT);
  assert_true(all.floats->least == -DBL_MAX && joined.floats->least == -DBL_MAX);
  assert_true(all.floats->most == DBL_MAX && joined.floats->most == DBL_MAX);
  assert_int_equal(joined.count, COUNT);
  kymo_samples_free(&all);
  kymo_samples_free(&joined);
}

static void the_mean_of_floats_is_exact_to_rounding(void **state) {
  struct kymo_floats floats = {0}, huge = {0};
  (void)state;
  for (unsigned i = 1; i <= 1000; i++)
    assert_true(kymo_floats_add(&floats, i / 8.0));
  assert_true(fabs(floats.mean - 1001 / 16.0) < 1e-9);
  for (unsigned i = 0; i < 3; i++)
    assert_true(kymo_floats_add(&huge, DBL_MAX));
  assert_true(huge.mean > DBL_MAX / 2 && isfinite(huge.mean));
  free(floats.places);
  free(huge.places);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_numbers_are_exact),
      cmocka_unit_test(many_numbers_are_known_to_four_thousandths),
      cmocka_unit_test(digits_are_those_that_are_known),
      cmocka_unit_test(extremes_are_exact),
      cmocka_unit_test(joined_samples_are_those_of_all),
      cmocka_unit_test(floats_are_in_bars_of_powers_of_two),
      cmocka_unit_test(the_mean_of_floats_is_exact_to_rounding),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
