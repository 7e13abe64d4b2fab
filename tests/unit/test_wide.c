/* SPDX-License-Identifier: MIT */
/* Numbers of 128 bits against the compiler's own, where it has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/wide.h"

#ifdef __SIZEOF_INT128__
static uint64_t seed = 1;

static uint64_t next_random(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed;
}

/* Numbers of all sizes, and those at the boundaries. */
static struct kymo_wide random_wide(void) {
  unsigned bits = (unsigned)(next_random() % 129);
  uint64_t low = next_random(), high = next_random();
  struct kymo_wide value = {
      bits >= 64 ? low : low & ((UINT64_C(1) << bits) - 1),
      bits <= 64 ? 0 : (int64_t)(bits == 128 ? high : high & ((UINT64_C(1) << (bits - 64)) - 1))};
  switch (next_random() % 8) {
  case 0: return kymo_wide_not(value);
  case 1: return (struct kymo_wide){0, INT64_MIN};
  case 2: return (struct kymo_wide){UINT64_MAX, INT64_MAX};
  case 3: return kymo_wide_of_i64((int64_t)(next_random() % 3) - 1);
  default: return value;
  }
}

static __int128 plain(struct kymo_wide a) {
  return (__int128)((unsigned __int128)(uint64_t)a.high << 64 | a.low);
}

static void check(bool is_exact, struct kymo_wide got, bool overflows, __int128 wanted) {
  assert_int_equal(is_exact, !overflows);
  if (!overflows)
    assert_true(plain(got) == wanted);
}

static void check_pair(struct kymo_wide a, struct kymo_wide b) {
  __int128 x = plain(a), y = plain(b), wanted = 0;
  struct kymo_wide got = {0, 0}, rest = {0, 0};
  bool overflows = __builtin_add_overflow(x, y, &wanted);
  check(kymo_wide_add(a, b, &got), got, overflows, wanted);
  overflows = __builtin_sub_overflow(x, y, &wanted);
  check(kymo_wide_subtract(a, b, &got), got, overflows, wanted);
  overflows = __builtin_mul_overflow(x, y, &wanted);
  check(kymo_wide_multiply(a, b, &got), got, overflows, wanted);
  bool is_one = y != 0 && !(y == -1 && x == (__int128)((unsigned __int128)1 << 127));
  assert_int_equal(kymo_wide_divide(a, b, &got, &rest), is_one);
  if (is_one) {
    assert_true(plain(got) == x / y);
    assert_true(plain(rest) == x % y);
  }
  assert_int_equal(kymo_wide_compare(a, b) < 0, x < y);
  assert_int_equal(kymo_wide_compare(a, b) == 0, x == y);
  unsigned bits = (unsigned)(next_random() % 128);
  wanted = (__int128)((unsigned __int128)x << bits);
  check(kymo_wide_shift_left(a, bits, &got), got, wanted >> bits != x, wanted);
  assert_true(plain(kymo_wide_shift_right(a, bits)) == x >> bits);
}
#endif

static void arithmetic_is_that_of_128_bits(void **state) {
  (void)state;
#ifdef __SIZEOF_INT128__
  for (int i = 0; i < 200000; i++)
    check_pair(random_wide(), random_wide());
#else
  skip();
#endif
}

static void known_results_hold_on_every_machine(void **state) {
  (void)state;
  struct kymo_wide got, rest, most = kymo_wide_of_u64(UINT64_MAX);
  assert_false(kymo_wide_multiply(most, most, &got));
  assert_true(kymo_wide_multiply(most, kymo_wide_of_i64(-2), &got));
  assert_int_equal(got.low, 2);
  assert_int_equal(got.high, -2);
  assert_true(kymo_wide_divide(got, most, &got, &rest));
  assert_int_equal((int64_t)got.low, -2);
  assert_true(kymo_wide_is_zero(rest));
  assert_false(kymo_wide_divide(most, kymo_wide_of_u64(0), &got, &rest));
  assert_true(kymo_wide_divide(kymo_wide_of_i64(-7), kymo_wide_of_u64(2), &got, &rest));
  assert_int_equal((int64_t)got.low, -3);
  assert_int_equal((int64_t)rest.low, -1);
  assert_true(kymo_wide_fits(most));
  assert_true(kymo_wide_fits(kymo_wide_of_i64(INT64_MIN)));
  assert_true(kymo_wide_add(most, kymo_wide_of_u64(1), &got));
  assert_false(kymo_wide_fits(got));
  assert_true(kymo_wide_to_double(got) == 18446744073709551616.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arithmetic_is_that_of_128_bits),
      cmocka_unit_test(known_results_hold_on_every_machine),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
