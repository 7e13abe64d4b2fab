/* SPDX-License-Identifier: MIT */
#include "base/wide.h"

struct magnitude {
  uint64_t low, high;
};

bool kymo_wide_add(struct kymo_wide a, struct kymo_wide b, struct kymo_wide *out) {
  uint64_t low = a.low + b.low, high = (uint64_t)a.high + (uint64_t)b.high + (low < a.low);
  struct kymo_wide sum = {low, (int64_t)high};
  if ((a.high < 0) == (b.high < 0) && (sum.high < 0) != (a.high < 0))
    return false;
  *out = sum;
  return true;
}

bool kymo_wide_subtract(struct kymo_wide a, struct kymo_wide b, struct kymo_wide *out) {
  uint64_t low = a.low - b.low, high = (uint64_t)a.high - (uint64_t)b.high - (a.low < b.low);
  struct kymo_wide difference = {low, (int64_t)high};
  if ((a.high < 0) != (b.high < 0) && (difference.high < 0) != (a.high < 0))
    return false;
  *out = difference;
  return true;
}

static struct magnitude negate(struct magnitude a) {
  return (struct magnitude){-a.low, ~a.high + (a.low == 0)};
}

static struct magnitude magnitude_of(struct kymo_wide a) {
  struct magnitude value = {a.low, (uint64_t)a.high};
  return a.high < 0 ? negate(value) : value;
}

/* Puts the sign back; false if the number does not have 127 bits (-2^127 does). */
static bool sign(struct magnitude value, bool is_negative, struct kymo_wide *out) {
  if (is_negative)
    value = negate(value);
  if ((value.low | value.high) != 0 && ((int64_t)value.high < 0) != is_negative)
    return false;
  *out = (struct kymo_wide){value.low, (int64_t)value.high};
  return true;
}

static struct magnitude product(uint64_t a, uint64_t b) {
  uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
  uint64_t cross = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
  uint64_t middle = (a & UINT32_MAX) * (b >> 32) + (cross & UINT32_MAX);
  return (struct magnitude){middle << 32 | (low & UINT32_MAX),
                            (a >> 32) * (b >> 32) + (cross >> 32) + (middle >> 32)};
}

bool kymo_wide_multiply(struct kymo_wide a, struct kymo_wide b, struct kymo_wide *out) {
  struct magnitude x = magnitude_of(a), y = magnitude_of(b);
  if (x.high != 0 && y.high != 0)
    return false;
  struct magnitude low = product(x.low, y.low);
  struct magnitude high = x.high != 0 ? product(x.high, y.low) : product(x.low, y.high);
  if (high.high != 0 || __builtin_add_overflow(low.high, high.low, &low.high))
    return false;
  return sign(low, (a.high < 0) != (b.high < 0), out);
}

/* Bit by bit, for operands that do not fit 64 bits. */
static struct magnitude divide(struct magnitude a, struct magnitude b, struct magnitude *rest) {
  struct magnitude quotient = {0, 0}, left = {0, 0};
  for (int bit = 127; bit >= 0; bit--) {
    uint64_t next = (bit >= 64 ? a.high >> (bit - 64) : a.low >> bit) & 1, carry = left.high >> 63;
    left = (struct magnitude){left.low << 1 | next, left.high << 1 | left.low >> 63};
    if (!carry && (left.high < b.high || (left.high == b.high && left.low < b.low)))
      continue;
    left = (struct magnitude){left.low - b.low, left.high - b.high - (left.low < b.low)};
    *(bit >= 64 ? &quotient.high : &quotient.low) |= UINT64_C(1) << bit % 64;
  }
  *rest = left;
  return quotient;
}

bool kymo_wide_divide(struct kymo_wide a, struct kymo_wide b, struct kymo_wide *quotient,
                      struct kymo_wide *remainder) {
  struct magnitude x = magnitude_of(a), y = magnitude_of(b), rest, result;
  struct kymo_wide signed_rest, signed_result;
  if (kymo_wide_is_zero(b))
    return false;
  if (x.high == 0 && y.high == 0) {
    result = (struct magnitude){x.low / y.low, 0};
    rest = (struct magnitude){x.low % y.low, 0};
  } else {
    result = divide(x, y, &rest);
  }
  if (!sign(result, (a.high < 0) != (b.high < 0), &signed_result) || !sign(rest, a.high < 0, &signed_rest))
    return false;
  if (quotient)
    *quotient = signed_result;
  if (remainder)
    *remainder = signed_rest;
  return true;
}

struct kymo_wide kymo_wide_shift_right(struct kymo_wide a, unsigned bits) {
  if (bits >= 64)
    return kymo_wide_of_i64(a.high >> (bits - 64));
  if (bits == 0)
    return a;
  return (struct kymo_wide){a.low >> bits | (uint64_t)a.high << (64 - bits), a.high >> bits};
}

bool kymo_wide_shift_left(struct kymo_wide a, unsigned bits, struct kymo_wide *out) {
  struct kymo_wide shifted = a;
  if (bits >= 64)
    shifted = (struct kymo_wide){0, (int64_t)(a.low << (bits - 64))};
  else if (bits > 0)
    shifted = (struct kymo_wide){a.low << bits, (int64_t)((uint64_t)a.high << bits | a.low >> (64 - bits))};
  if (kymo_wide_compare(kymo_wide_shift_right(shifted, bits), a) != 0)
    return false;
  *out = shifted;
  return true;
}

double kymo_wide_to_double(struct kymo_wide a) {
  if (kymo_wide_fits(a)) /* rounded once */
    return a.high < 0 ? (double)(int64_t)a.low : (double)a.low;
  return (double)a.high * 18446744073709551616.0 + (double)a.low;
}
