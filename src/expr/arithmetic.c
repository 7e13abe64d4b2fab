/* SPDX-License-Identifier: MIT */
#include "expr/arithmetic.h"
#include <stddef.h>

static const char *const overflow = "a number beyond 128 bits";

static const char *divide(struct kymo_wide x, struct kymo_wide y, struct kymo_wide *quotient,
                          struct kymo_wide *rest) {
  return kymo_wide_divide(x, y, quotient, rest) ? NULL
         : kymo_wide_is_zero(y)                 ? "a division by zero"
                                                : overflow;
}

static const char *shift(enum kymo_operation what, struct kymo_wide x, struct kymo_wide by,
                         struct kymo_wide *out) {
  if (by.high != 0 || by.low > 63)
    return "a shift outside 0 to 63";
  if (what == KYMO_OP_SHIFT_LEFT)
    return kymo_wide_shift_left(x, (unsigned)by.low, out) ? NULL : overflow;
  *out = kymo_wide_shift_right(x, (unsigned)by.low);
  return NULL;
}

static const char *bits(struct kymo_wide x, struct kymo_wide low, struct kymo_wide n, struct kymo_wide *out) {
  if (low.high != 0 || low.low > 127 || n.high != 0 || n.low > 64)
    return "bits() of a place outside 0 to 127, or of more than 64 bits";
  uint64_t shifted = kymo_wide_shift_right(x, (unsigned)low.low).low;
  *out = kymo_wide_of_u64(n.low == 0 ? 0 : shifted & (UINT64_MAX >> (64 - n.low)));
  return NULL;
}

static const char *sign(struct kymo_wide x, struct kymo_wide n, struct kymo_wide *out) {
  if (n.high != 0 || n.low < 1 || n.low > 64)
    return "signed() of a width outside 1 to 64";
  uint64_t mask = UINT64_MAX >> (64 - n.low), top = UINT64_C(1) << (n.low - 1);
  *out = kymo_wide_of_i64((int64_t)(((x.low & mask) ^ top) - top));
  return NULL;
}

static const char *power(struct kymo_wide a, struct kymo_wide n, struct kymo_wide *out) {
  struct kymo_wide result = kymo_wide_of_u64(1);
  bool is_small = a.high == 0 && a.low <= 1, is_minus_one = a.high == -1 && a.low == UINT64_MAX;
  if (n.high < 0)
    return "a negative exponent";
  if (is_small || is_minus_one) {
    *out = kymo_wide_is_zero(n) || (is_minus_one && n.low % 2 == 0) ? result : a;
    return NULL;
  }
  if (n.high != 0 || n.low > 127)
    return overflow;
  for (uint64_t i = 0; i < n.low; i++)
    if (!kymo_wide_multiply(result, a, &result))
      return overflow;
  *out = result;
  return NULL;
}

static const char *align_up(struct kymo_wide x, struct kymo_wide n, struct kymo_wide *out) {
  struct kymo_wide rest;
  if (n.high < 0 || kymo_wide_is_zero(n))
    return "align() to a multiple of no positive number";
  if (!kymo_wide_divide(x, n, NULL, &rest) || !kymo_wide_subtract(x, rest, &x))
    return overflow;
  *out = x; /* truncated toward zero is up, for negative ones */
  return rest.high < 0 || kymo_wide_is_zero(rest) || kymo_wide_add(x, n, out) ? NULL : overflow;
}

const char *kymo_calculate(enum kymo_operation what, const struct kymo_expr_value *x, struct kymo_wide *out) {
  switch (what) {
  case KYMO_OP_ADD: return kymo_wide_add(x[0].n, x[1].n, out) ? NULL : overflow;
  case KYMO_OP_SUBTRACT: return kymo_wide_subtract(x[0].n, x[1].n, out) ? NULL : overflow;
  case KYMO_OP_MULTIPLY: return kymo_wide_multiply(x[0].n, x[1].n, out) ? NULL : overflow;
  case KYMO_OP_DIVIDE: return divide(x[0].n, x[1].n, out, NULL);
  case KYMO_OP_REMAINDER: return divide(x[0].n, x[1].n, NULL, out);
  case KYMO_OP_SHIFT_LEFT:
  case KYMO_OP_SHIFT_RIGHT: return shift(what, x[0].n, x[1].n, out);
  case KYMO_OP_AND: *out = kymo_wide_and(x[0].n, x[1].n); return NULL;
  case KYMO_OP_OR: *out = kymo_wide_or(x[0].n, x[1].n); return NULL;
  case KYMO_OP_XOR: *out = kymo_wide_xor(x[0].n, x[1].n); return NULL;
  case KYMO_OP_MINIMUM: *out = kymo_wide_compare(x[0].n, x[1].n) < 0 ? x[0].n : x[1].n; return NULL;
  case KYMO_OP_MAXIMUM: *out = kymo_wide_compare(x[0].n, x[1].n) > 0 ? x[0].n : x[1].n; return NULL;
  case KYMO_OP_NEGATE: return kymo_wide_subtract(kymo_wide_of_u64(0), x[0].n, out) ? NULL : overflow;
  case KYMO_OP_COMPLEMENT: *out = kymo_wide_not(x[0].n); return NULL;
  case KYMO_OP_BITS: return bits(x[0].n, x[1].n, x[2].n, out);
  case KYMO_OP_SIGNED: return sign(x[0].n, x[1].n, out);
  case KYMO_OP_POWER: return power(x[0].n, x[1].n, out);
  case KYMO_OP_ALIGN_UP: return align_up(x[0].n, x[1].n, out);
  default: return "an operation that there is not";
  }
}
