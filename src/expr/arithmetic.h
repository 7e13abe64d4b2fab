/* SPDX-License-Identifier: MIT */
/*
 * What operations on whole numbers mean, wherever an expression stands: as a constant, in a description, in a
 * filter. Numbers are exact in 128 bits; those between operators need be no value of the language (−2^63 …
 * 2^64 − 1).
 */
#ifndef KYMO_EXPR_ARITHMETIC_H
#define KYMO_EXPR_ARITHMETIC_H

#include "base/wide.h"

enum kymo_arithmetic {
  KYMO_CALC_ADD,
  KYMO_CALC_SUBTRACT,
  KYMO_CALC_MULTIPLY,
  KYMO_CALC_DIVIDE,
  KYMO_CALC_REMAINDER, /* truncated toward zero */
  KYMO_CALC_SHIFT_LEFT,
  KYMO_CALC_SHIFT_RIGHT, /* by 0 … 63 */
  KYMO_CALC_AND,
  KYMO_CALC_OR,
  KYMO_CALC_XOR, /* of two's complement without end */
  KYMO_CALC_MINIMUM,
  KYMO_CALC_MAXIMUM,
  KYMO_CALC_NEGATE,
  KYMO_CALC_COMPLEMENT, /* one operand */
  KYMO_CALC_BITS,       /* (x, low, n): the n (0 … 64) bits of x from `low` (0 … 127) on */
  KYMO_CALC_SIGNED,     /* (x, n): the lowest n (1 … 64) bits as a number with a sign */
  KYMO_CALC_POWER,      /* (a, n): n is not negative */
  KYMO_CALC_ALIGN_UP,   /* (x, n): the least multiple of n, which is positive, that is not less than x */
};

/* x[0] … hold the operands. NULL; or what is wrong, a literal: then there is no result. */
const char *kymo_calculate(enum kymo_arithmetic what, const struct kymo_wide *x, struct kymo_wide *out);

#endif
