/* SPDX-License-Identifier: MIT */
/*
 * Values of expressions whose operands are constant. They are counted in 128 bits; a result that is no value
 * of the language (−2^63 … 2^64 − 1) stays an expression as long as it is an operand, since the final result
 * may be a value again.
 */
#include "lang/tdl/check.h"
#include "expr/operate.h"
#include <string.h>

bool kymo_tdl_is_constant(const struct tdl_expr *expr, struct kymo_wide *value) {
  if (!expr || expr->operation != TDL_CONSTANT || expr->value.type != TDL_INTEGER)
    return false;
  *value = expr->value.integer;
  return true;
}

/* Lengths of time are numbers: of picoseconds, or of ticks. */
static struct kymo_expr_value value_of(const struct tdl_value *value) {
  return value->type == TDL_BYTES ? kymo_value_bytes(value->bytes.data, value->bytes.length)
                                  : kymo_value_number(value->integer);
}

/* The operation acts on one or two operands, or on all arguments in turn. */
static enum kymo_operation operation_of(const struct tdl_expr *expr) {
  static const uint8_t operations[] = {
      [TDL_ADD] = KYMO_OP_ADD,
      [TDL_SUBTRACT] = KYMO_OP_SUBTRACT,
      [TDL_MULTIPLY] = KYMO_OP_MULTIPLY,
      [TDL_DIVIDE] = KYMO_OP_DIVIDE,
      [TDL_REST] = KYMO_OP_REMAINDER,
      [TDL_SHIFT_LEFT] = KYMO_OP_SHIFT_LEFT,
      [TDL_SHIFT_RIGHT] = KYMO_OP_SHIFT_RIGHT,
      [TDL_BIT_AND] = KYMO_OP_AND,
      [TDL_BIT_OR] = KYMO_OP_OR,
      [TDL_BIT_XOR] = KYMO_OP_XOR,
      [TDL_INVERT] = KYMO_OP_COMPLEMENT,
      [TDL_NEGATE] = KYMO_OP_NEGATE,
      [TDL_NOT] = KYMO_OP_NOT,
      [TDL_EQUAL] = KYMO_OP_EQUAL,
      [TDL_UNEQUAL] = KYMO_OP_UNEQUAL,
      [TDL_LESS] = KYMO_OP_LESS,
      [TDL_LESS_EQUAL] = KYMO_OP_LESS_EQUAL,
      [TDL_GREATER] = KYMO_OP_GREATER,
      [TDL_GREATER_EQUAL] = KYMO_OP_GREATER_EQUAL,
  };
  static const uint8_t functions[] = {
      [TDL_BITS] = KYMO_OP_BITS,       [TDL_SIGNED] = KYMO_OP_SIGNED,   [TDL_POWER] = KYMO_OP_POWER,
      [TDL_MIN] = KYMO_OP_MINIMUM,     [TDL_MAX] = KYMO_OP_MAXIMUM,     [TDL_ALIGN] = KYMO_OP_ALIGN_UP,
      [TDL_DEFAULT] = KYMO_OP_DEFAULT, [TDL_PRESENT] = KYMO_OP_PRESENT,
  };
  return (enum kymo_operation)(expr->operation == TDL_CALL ? functions[expr->function]
                                                           : operations[expr->operation]);
}

/* min and max take any number of arguments, two at a time. */
static bool operate(const struct tdl_expr *expr, struct tdl_value *value) {
  enum kymo_operation operation = operation_of(expr);
  struct kymo_expr_value x[3] = {{0}};
  unsigned count = 0, most = kymo_operands[operation];
  const char *wrong = NULL;
  for (unsigned i = 0; expr->operation != TDL_CALL && i < most; i++)
    x[count++] = value_of(&expr->operands[i]->value);
  for (const struct tdl_expr *argument = expr->arguments; argument && !wrong; argument = argument->next) {
    x[count++] = value_of(&argument->value);
    if (count == most && argument->next) {
      wrong = kymo_operate(operation, x, x);
      count = 1;
    }
  }
  wrong = wrong ? wrong : kymo_operate(operation, x, x);
  value->integer = x[0].n;
  return !wrong;
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
  case TDL_AND: value->integer = kymo_wide_of_u64(is_true(operands[0]) && is_true(operands[1])); return true;
  case TDL_OR: value->integer = kymo_wide_of_u64(is_true(operands[0]) || is_true(operands[1])); return true;
  default: return operate(expr, value);
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
  case TDL_NOT: return operands_are_constant(expr);
  case TDL_CALL:
    return expr->function != TDL_TEXT && expr->function != TDL_JOIN && expr->type != TDL_BYTES &&
           operands_are_constant(expr);
  default:
    return (kymo_tdl_is_arithmetic(expr->operation) || kymo_tdl_is_comparison(expr->operation)) &&
           operands_are_constant(expr);
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
