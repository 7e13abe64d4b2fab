/* SPDX-License-Identifier: MIT */
/*
 * Whole numbers of 128 bits in two's complement, for expressions that must be exact over the ranges of both
 * int64_t and uint64_t. Compilers for 32 bits have no such type; these functions are the same everywhere.
 * Those that can overflow return false then.
 */
#ifndef KYMO_BASE_WIDE_H
#define KYMO_BASE_WIDE_H

#include <stdbool.h>
#include <stdint.h>

struct kymo_wide {
  uint64_t low;
  int64_t high;
};

static inline struct kymo_wide kymo_wide_of_u64(uint64_t value) { return (struct kymo_wide){value, 0}; }

static inline struct kymo_wide kymo_wide_of_i64(int64_t value) {
  return (struct kymo_wide){(uint64_t)value, value < 0 ? -1 : 0};
}

static inline bool kymo_wide_is_zero(struct kymo_wide a) { return (a.low | (uint64_t)a.high) == 0; }

/* Whether it is one of -2^63 … 2^64-1; then `low` holds it, as int64_t if `high` is negative. */
static inline bool kymo_wide_fits(struct kymo_wide a) {
  return a.high == 0 || (a.high == -1 && (int64_t)a.low < 0);
}

/* Negative, 0, positive: a < b, a = b, a > b. */
static inline int kymo_wide_compare(struct kymo_wide a, struct kymo_wide b) {
  if (a.high != b.high)
    return a.high < b.high ? -1 : 1;
  return a.low < b.low ? -1 : a.low > b.low;
}

static inline struct kymo_wide kymo_wide_and(struct kymo_wide a, struct kymo_wide b) {
  return (struct kymo_wide){a.low & b.low, a.high & b.high};
}

static inline struct kymo_wide kymo_wide_or(struct kymo_wide a, struct kymo_wide b) {
  return (struct kymo_wide){a.low | b.low, a.high | b.high};
}

static inline struct kymo_wide kymo_wide_xor(struct kymo_wide a, struct kymo_wide b) {
  return (struct kymo_wide){a.low ^ b.low, a.high ^ b.high};
}

static inline struct kymo_wide kymo_wide_not(struct kymo_wide a) {
  return (struct kymo_wide){~a.low, ~a.high};
}

/* True if *out is exact; else it is not set: the result does not fit 128 bits. */
bool kymo_wide_add(struct kymo_wide a, struct kymo_wide b, struct kymo_wide *out);
bool kymo_wide_subtract(struct kymo_wide a, struct kymo_wide b, struct kymo_wide *out);
bool kymo_wide_multiply(struct kymo_wide a, struct kymo_wide b, struct kymo_wide *out);
/* Truncates toward zero; the remainder has the sign of `a`. False also for a zero divisor. Either result may
 * be NULL. */
bool kymo_wide_divide(struct kymo_wide a, struct kymo_wide b, struct kymo_wide *quotient,
                      struct kymo_wide *remainder);
/* By 0 to 127 bits; a shift to the right keeps the sign. */
bool kymo_wide_shift_left(struct kymo_wide a, unsigned bits, struct kymo_wide *out);
struct kymo_wide kymo_wide_shift_right(struct kymo_wide a, unsigned bits);
double kymo_wide_to_double(struct kymo_wide a);

#endif
