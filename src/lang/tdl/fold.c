/* SPDX-License-Identifier: MIT */
/*
 * Values of expressions whose operands are constant. They are counted in 128 bits; a result that is no value of the language
 * (−2^63 … 2^64 − 1) stays an expression as long as it is an operand, since what is made of it may be one.
 */
#include "lang/tdl/check.h"
#include <string.h>

bool kymo_tdl_is_constant(const struct tdl_expr *expr, struct kymo_wide *value) {
  if (!expr || expr->operation != TDL_CONSTANT || expr->value.type != TDL_INTEGER)
    return false;
  *value = expr->value.integer;
  return true;
}

static struct tdl_value integer(struct kymo_wide value, enum tdl_value_type type) {
  return (struct tdl_value){.type = type, .integer = value};
}
static struct tdl_value truth(bool value) { return integer(kymo_wide_of_u64(value), TDL_INTEGER); }

static bool same_bytes(struct tdl_bytes a, struct tdl_bytes b) {
  return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

/* Whether a comparison holds. */
static bool compare(enum tdl_operation operation, const struct tdl_value *a, const struct tdl_value *b) {
  int order = a->type == TDL_BYTES ? !same_bytes(a->bytes, b->bytes) : kymo_wide_compare(a->integer, b->integer);
  switch (operation) {
  case TDL_EQUAL: return order == 0;
  case TDL_UNEQUAL: return order != 0;
  case TDL_LESS: return order < 0;
  case TDL_LESS_EQUAL: return order <= 0;
  case TDL_GREATER: return order > 0;
  default: return order >= 0;
  }
}

static bool shift_count(struct kymo_wide value, unsigned *count) {
  *count = (unsigned)value.low;
  return value.high == 0 && value.low <= 63;
}

/* a operation b; false if there is no such number. */
static bool calculate(enum tdl_operation operation, struct kymo_wide a, struct kymo_wide b, struct kymo_wide *result) {
  unsigned count;
  switch (operation) {
  case TDL_ADD: return kymo_wide_add(a, b, result);
  case TDL_SUBTRACT: return kymo_wide_subtract(a, b, result);
  case TDL_MULTIPLY: return kymo_wide_multiply(a, b, result);
  case TDL_DIVIDE: return kymo_wide_divide(a, b, result, NULL);
  case TDL_REST: return kymo_wide_divide(a, b, NULL, result);
  case TDL_SHIFT_LEFT: return shift_count(b, &count) && kymo_wide_shift_left(a, count, result);
  case TDL_SHIFT_RIGHT:
    if (!shift_count(b, &count))
      return false;
    *result = kymo_wide_shift_right(a, count);
    return true;
  case TDL_BIT_AND: *result = kymo_wide_and(a, b); return true;
  case TDL_BIT_OR: *result = kymo_wide_or(a, b); return true;
  default: *result = kymo_wide_xor(a, b); return true;
  }
}

/* ---- functions ---- */

/* n low bits of x >> low. */
static bool bits(struct kymo_wide x, struct kymo_wide low, struct kymo_wide n, struct kymo_wide *result) {
  if (low.high != 0 || low.low > 63 || n.high != 0 || n.low > 64)
    return false;
  *result = kymo_wide_shift_right(x, (unsigned)low.low);
  result->high = 0;
  if (n.low < 64)
    result->low &= (UINT64_C(1) << n.low) - 1;
  return true;
}

/* The n low bits of x as a signed number. */
static bool sign(struct kymo_wide x, struct kymo_wide n, struct kymo_wide *result) {
  if (n.high != 0 || n.low < 1 || n.low > 64)
    return false;
  unsigned shift = 64 - (unsigned)n.low;
  *result = kymo_wide_of_i64((int64_t)(x.low << shift) >> shift);
  return true;
}

static bool power(struct kymo_wide base, struct kymo_wide n, struct kymo_wide *result) {
  struct kymo_wide one = kymo_wide_of_u64(1);
  *result = one;
  if (n.high != 0)
    return false;
  /* 0, 1 and -1 stay small for ever; all others leave 128 bits within 128 steps */
  bool is_small = base.high == -1 ? base.low == UINT64_MAX : base.high == 0 && base.low <= 1;
  uint64_t steps = is_small && n.low > 2 ? 2 + n.low % 2 : n.low;
  for (; steps > 0; steps--)
    if (!kymo_wide_multiply(*result, base, result))
      return false;
  return true;
}

static bool align(struct kymo_wide x, struct kymo_wide n, struct kymo_wide *result) {
  struct kymo_wide rest, zero = {0};
  if (kymo_wide_compare(x, zero) < 0 || kymo_wide_compare(n, zero) <= 0 || !kymo_wide_divide(x, n, NULL, &rest))
    return false;
  *result = x;
  return kymo_wide_is_zero(rest) || (kymo_wide_subtract(n, rest, result) && kymo_wide_add(x, *result, result));
}

/* min and max of all arguments. */
static struct kymo_wide extreme(const struct tdl_expr *first, int want) {
  struct kymo_wide best = first->value.integer;
  for (const struct tdl_expr *argument = first->next; argument; argument = argument->next)
    if (kymo_wide_compare(argument->value.integer, best) == want)
      best = argument->value.integer;
  return best;
}

static bool call(const struct tdl_expr *expr, struct kymo_wide *result) {
  struct kymo_wide values[3] = {{0}};
  const struct tdl_expr *argument = expr->arguments;
  for (int i = 0; i < 3 && argument; i++, argument = argument->next)
    values[i] = argument->value.integer;
  switch (expr->function) {
  case TDL_BITS: return bits(values[0], values[1], values[2], result);
  case TDL_SIGNED: return sign(values[0], values[1], result);
  case TDL_POWER: return power(values[0], values[1], result);
  case TDL_MIN: *result = extreme(expr->arguments, -1); return true;
  case TDL_MAX: *result = extreme(expr->arguments, 1); return true;
  case TDL_ALIGN: return align(values[0], values[1], result);
  case TDL_PRESENT: *result = kymo_wide_of_u64(1); return true;
  default: *result = values[0]; return true; /* default(x, y): x is there */
  }
}

/* ---- all nodes ---- */

static bool operands_are_constant(const struct tdl_expr *expr) {
  for (int i = 0; i < 3; i++)
    if (expr->operands[i] && expr->operands[i]->operation != TDL_CONSTANT)
      return false;
  for (const struct tdl_expr *argument = expr->arguments; argument; argument = argument->next)
    if (argument->operation != TDL_CONSTANT)
      return false;
  return true;
}

static bool is_true(const struct tdl_expr *expr) { return !kymo_wide_is_zero(expr->value.integer); }

/* The value of a node whose operands are constant; false if there is none. */
static bool evaluate(const struct tdl_expr *expr, struct tdl_value *value) {
  struct tdl_expr *const *operands = expr->operands;
  value->type = expr->type;
  switch (expr->operation) {
  case TDL_IF: *value = operands[is_true(operands[0]) ? 1 : 2]->value; return true;
  case TDL_NOT: *value = truth(!is_true(operands[0])); return true;
  case TDL_AND: *value = truth(is_true(operands[0]) && is_true(operands[1])); return true;
  case TDL_OR: *value = truth(is_true(operands[0]) || is_true(operands[1])); return true;
  case TDL_INVERT: value->integer = kymo_wide_not(operands[0]->value.integer); return true;
  case TDL_NEGATE: return kymo_wide_subtract((struct kymo_wide){0}, operands[0]->value.integer, &value->integer);
  case TDL_CALL: return call(expr, &value->integer);
  case TDL_EQUAL:
  case TDL_UNEQUAL:
  case TDL_LESS:
  case TDL_LESS_EQUAL:
  case TDL_GREATER:
  case TDL_GREATER_EQUAL:
    *value = truth(compare(expr->operation, &operands[0]->value, &operands[1]->value));
    return true;
  default:
    return calculate(expr->operation, operands[0]->value.integer, operands[1]->value.integer, &value->integer);
  }
}

static bool can_fold(const struct tdl_expr *expr) {
  switch (expr->operation) {
  case TDL_IF: case TDL_NEGATE: case TDL_INVERT: case TDL_ADD: case TDL_SUBTRACT: case TDL_BIT_OR: case TDL_BIT_XOR:
  case TDL_MULTIPLY: case TDL_DIVIDE: case TDL_REST: case TDL_SHIFT_LEFT: case TDL_SHIFT_RIGHT: case TDL_BIT_AND:
  case TDL_EQUAL: case TDL_UNEQUAL: case TDL_LESS: case TDL_LESS_EQUAL: case TDL_GREATER: case TDL_GREATER_EQUAL:
  case TDL_NOT: case TDL_AND: case TDL_OR: return operands_are_constant(expr);
  case TDL_CALL: return expr->function != TDL_TEXT && expr->type != TDL_BYTES && operands_are_constant(expr);
  default: return false;
  }
}

bool kymo_tdl_fold(struct tdl_checker *checker, struct tdl_expr *expr) {
  struct tdl_value value = {0};
  if (!can_fold(expr))
    return true;
  if (!evaluate(expr, &value))
    return kymo_tdl_fail(checker->session, expr->at, "E41", "this expression has no value");
  expr->operation = TDL_CONSTANT;
  expr->value = value;
  return true;
}
