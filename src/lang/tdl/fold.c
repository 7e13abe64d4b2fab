/* SPDX-License-Identifier: MIT */
/*
 * Values of expressions whose operands are constant. They are counted in 128 bits; a result that is no value
 * of the language (−2^63 … 2^64 − 1) stays an expression as long as it is an operand, since what is made of
 * it may be one.
 */
#include "lang/tdl/check.h"
#include "expr/arithmetic.h"
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
  int order =
      a->type == TDL_BYTES ? !same_bytes(a->bytes, b->bytes) : kymo_wide_compare(a->integer, b->integer);
  switch (operation) {
  case TDL_EQUAL: return order == 0;
  case TDL_UNEQUAL: return order != 0;
  case TDL_LESS: return order < 0;
  case TDL_LESS_EQUAL: return order <= 0;
  case TDL_GREATER: return order > 0;
  default: return order >= 0;
  }
}

/* a operation b; false if there is no such number. */
static bool calculate(enum tdl_operation operation, struct kymo_wide a, struct kymo_wide b,
                      struct kymo_wide *result) {
  static const uint8_t operations[] = {
      [TDL_ADD] = KYMO_CALC_ADD,
      [TDL_SUBTRACT] = KYMO_CALC_SUBTRACT,
      [TDL_MULTIPLY] = KYMO_CALC_MULTIPLY,
      [TDL_DIVIDE] = KYMO_CALC_DIVIDE,
      [TDL_REST] = KYMO_CALC_REMAINDER,
      [TDL_SHIFT_LEFT] = KYMO_CALC_SHIFT_LEFT,
      [TDL_SHIFT_RIGHT] = KYMO_CALC_SHIFT_RIGHT,
      [TDL_BIT_AND] = KYMO_CALC_AND,
      [TDL_BIT_OR] = KYMO_CALC_OR,
      [TDL_BIT_XOR] = KYMO_CALC_XOR,
      [TDL_INVERT] = KYMO_CALC_COMPLEMENT,
      [TDL_NEGATE] = KYMO_CALC_NEGATE,
  };
  return !kymo_calculate((enum kymo_arithmetic)operations[operation], (struct kymo_wide[]){a, b}, result);
}

/* ---- functions ---- */

/* min and max of all arguments. */
static void extreme(const struct tdl_expr *first, enum kymo_arithmetic what, struct kymo_wide *best) {
  *best = first->value.integer;
  for (const struct tdl_expr *argument = first->next; argument; argument = argument->next)
    kymo_calculate(what, (struct kymo_wide[]){*best, argument->value.integer}, best);
}

static bool call(const struct tdl_expr *expr, struct kymo_wide *result) {
  struct kymo_wide values[3] = {{0}};
  const struct tdl_expr *argument = expr->arguments;
  for (int i = 0; i < 3 && argument; i++, argument = argument->next)
    values[i] = argument->value.integer;
  switch (expr->function) {
  case TDL_BITS: return !kymo_calculate(KYMO_CALC_BITS, values, result);
  case TDL_SIGNED: return !kymo_calculate(KYMO_CALC_SIGNED, values, result);
  case TDL_POWER: return !kymo_calculate(KYMO_CALC_POWER, values, result);
  case TDL_MIN: extreme(expr->arguments, KYMO_CALC_MINIMUM, result); return true;
  case TDL_MAX: extreme(expr->arguments, KYMO_CALC_MAXIMUM, result); return true;
  case TDL_ALIGN: return !kymo_calculate(KYMO_CALC_ALIGN_UP, values, result);
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
  case TDL_INVERT:
  case TDL_NEGATE:
    return calculate(expr->operation, operands[0]->value.integer, (struct kymo_wide){0}, &value->integer);
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
    return calculate(expr->operation, operands[0]->value.integer, operands[1]->value.integer,
                     &value->integer);
  }
}

static bool can_fold(const struct tdl_expr *expr) {
  struct tdl_expr *const *operands = expr->operands;
  bool is_known = operands[0] && operands[0]->operation == TDL_CONSTANT;
  switch (expr->operation) {
  case TDL_IF: return is_known && operands[is_true(operands[0]) ? 1 : 2]->operation == TDL_CONSTANT;
  case TDL_AND:
  case TDL_OR:
    return is_known &&
           (is_true(operands[0]) == (expr->operation == TDL_OR) || operands[1]->operation == TDL_CONSTANT);
  case TDL_NEGATE:
  case TDL_INVERT:
  case TDL_ADD:
  case TDL_SUBTRACT:
  case TDL_BIT_OR:
  case TDL_BIT_XOR:
  case TDL_MULTIPLY:
  case TDL_DIVIDE:
  case TDL_REST:
  case TDL_SHIFT_LEFT:
  case TDL_SHIFT_RIGHT:
  case TDL_BIT_AND:
  case TDL_EQUAL:
  case TDL_UNEQUAL:
  case TDL_LESS:
  case TDL_LESS_EQUAL:
  case TDL_GREATER:
  case TDL_GREATER_EQUAL:
  case TDL_NOT: return operands_are_constant(expr);
  case TDL_CALL: return expr->function != TDL_TEXT && expr->type != TDL_BYTES && operands_are_constant(expr);
  default: return false;
  }
}

bool kymo_tdl_fold(struct tdl_checker *checker, struct tdl_expr *expr) {
  struct tdl_value value = {0};
  if (!can_fold(expr))
    return true;
  if (!evaluate(expr, &value))
    return checker->unneeded > 0 ||
           kymo_tdl_fail(checker->session, expr->at, "E41", "this expression has no value");
  expr->operation = TDL_CONSTANT;
  expr->value = value;
  return true;
}
