/* SPDX-License-Identifier: MIT */
/*
 * The one evaluator of expressions. TDL's constants, plans and filters say which operation acts on
 * which values; what it means is here.
 *
 * What is computed of an absent value is absent; a comparison with it is false, `<>` too; a condition that is
 * absent is false. So is every relation of values that cannot be compared: of a number and bytes, of a time
 * and a number, of NaN and anything.
 */
#ifndef KYMO_EXPR_OPERATE_H
#define KYMO_EXPR_OPERATE_H

#include "expr/value.h"

enum kymo_operation {
  KYMO_OP_NONE,
  /* [x y] of numbers. A number with a fraction makes the result one; lengths of time add, scale, divide */
  KYMO_OP_ADD,
  KYMO_OP_SUBTRACT,
  KYMO_OP_MULTIPLY,
  KYMO_OP_DIVIDE,
  KYMO_OP_REMAINDER, /* truncated toward zero */
  KYMO_OP_NEGATE,    /* [x] */
  /* of whole numbers */
  KYMO_OP_SHIFT_LEFT,
  KYMO_OP_SHIFT_RIGHT, /* [x n]: by 0 … 63 */
  KYMO_OP_AND,
  KYMO_OP_OR,
  KYMO_OP_XOR,        /* [x y]: of two's complement without end */
  KYMO_OP_COMPLEMENT, /* [x] */
  KYMO_OP_BITS,       /* [x low n]: the n (0 … 64) bits of x from `low` (0 … 127) on */
  KYMO_OP_SIGNED,     /* [x n]: the lowest n (1 … 64) bits as a number with a sign */
  KYMO_OP_POWER,      /* [a n]: n is not negative */
  KYMO_OP_ALIGN_UP,   /* [x n]: the least multiple of n, which is positive, that is not less than x */
  /* [x y] of what compares */
  KYMO_OP_MINIMUM,
  KYMO_OP_MAXIMUM,
  /* relations: [x y], the result is 0 or 1 */
  KYMO_OP_EQUAL,
  KYMO_OP_UNEQUAL, /* bytes too */
  KYMO_OP_LESS,
  KYMO_OP_LESS_EQUAL,
  KYMO_OP_GREATER,
  KYMO_OP_GREATER_EQUAL,
  KYMO_OP_BETWEEN, /* [x low high]: low ≤ x ≤ high */
  /* conditions: the result is 0 or 1 */
  KYMO_OP_NOT,
  KYMO_OP_TRUTH,
  KYMO_OP_PRESENT, /* [x] */
  /* of all values */
  KYMO_OP_DEFAULT,   /* [x y]: x, or y if x is absent */
  KYMO_OP_ABSENT_IF, /* [x condition]: x, or absent if the condition is true */
  KYMO_OP_TEXT,      /* [bytes offset]: from there up to the first zero or the end */
  KYMO_OP_SIZE_OF,   /* [bytes]: their number; of other values absent */
  KYMO_OPERATIONS
};

/* How many values each operation takes. */
extern const uint8_t kymo_operands[KYMO_OPERATIONS];

/* x[0] … are the operands, *out becomes the result; it may be one of them. Returns NULL, or what is wrong, a
 * literal: then the result is absent. */
const char *kymo_operate(enum kymo_operation what, const struct kymo_expr_value *x,
                         struct kymo_expr_value *out);
/* Whether a relation of two values (EQUAL … GREATER_EQUAL) holds. */
bool kymo_relation_holds(enum kymo_operation what, const struct kymo_expr_value *a,
                         const struct kymo_expr_value *b);
/* Whether one of them is less than the other, or both are equal. */
bool kymo_values_compare(const struct kymo_expr_value *a, const struct kymo_expr_value *b);
/* Neither zero nor absent nor bytes. */
bool kymo_value_is_true(const struct kymo_expr_value *value);

/* Whether the relation holds of two things that are less than, equal to, greater than one another: `order` is
 * negative, 0, positive. */
static inline bool kymo_order_holds(enum kymo_operation what, int order) {
  switch (what) {
  case KYMO_OP_EQUAL: return order == 0;
  case KYMO_OP_UNEQUAL: return order != 0;
  case KYMO_OP_LESS: return order < 0;
  case KYMO_OP_LESS_EQUAL: return order <= 0;
  case KYMO_OP_GREATER: return order > 0;
  default: return order >= 0;
  }
}

static inline bool kymo_value_is_equal(const struct kymo_expr_value *a, const struct kymo_expr_value *b) {
  return kymo_relation_holds(KYMO_OP_EQUAL, a, b);
}

#endif
