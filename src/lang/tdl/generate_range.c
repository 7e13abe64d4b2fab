/* SPDX-License-Identifier: MIT */
/* Ranges of expressions: the least and the greatest number, whether they can be absent, text or bytes. A
 * range is never too narrow; it determines the width of a delivered value and where the machine need not
 * check its bounds. */
#include "expr/operate.h"
#include "lang/tdl/generate.h"

static struct tdl_range all(void) { return (struct tdl_range){{0, INT64_MIN}, {UINT64_MAX, INT64_MAX}}; }

struct tdl_range kymo_tdl_any_number(void) {
  return (struct tdl_range){{(uint64_t)INT64_MIN, -1}, {UINT64_MAX, 0}};
}

static struct tdl_range between(int64_t low, uint64_t high) {
  return (struct tdl_range){kymo_wide_of_i64(low), kymo_wide_of_u64(high)};
}

static struct kymo_wide least(struct kymo_wide a, struct kymo_wide b) {
  return kymo_wide_compare(a, b) < 0 ? a : b;
}

static struct kymo_wide most(struct kymo_wide a, struct kymo_wide b) {
  return kymo_wide_compare(a, b) > 0 ? a : b;
}

static struct tdl_range either(struct tdl_range a, struct tdl_range b) {
  return (struct tdl_range){least(a.low, b.low), most(a.high, b.high)};
}

static bool is_negative(struct tdl_range a) { return a.low.high < 0; }

bool kymo_tdl_constant(const struct tdl_expr *expr, uint64_t *value) {
  if (!expr || expr->operation != TDL_CONSTANT || expr->value.type == TDL_BYTES ||
      expr->value.integer.high != 0)
    return false;
  *value = expr->value.integer.low;
  return true;
}

/* 2^n - 1, where 2^n is the least power beyond both: what bit operations on numbers without sign stay
 * below. */
static struct kymo_wide bits_above(struct kymo_wide a, struct kymo_wide b) {
  struct kymo_wide any = kymo_wide_or(a, b);
  if (any.high != 0)
    return (struct kymo_wide){UINT64_MAX, INT64_MAX};
  unsigned width = any.low ? 64 - (unsigned)__builtin_clzll(any.low) : 0;
  return kymo_wide_of_u64(width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1);
}

typedef bool (*combine)(struct kymo_wide a, struct kymo_wide b, struct kymo_wide *out);

/* The extremes of a product and the like lie at the corners. */
static struct tdl_range corners(struct tdl_range a, struct tdl_range b, combine with) {
  struct kymo_wide values[4];
  if (!with(a.low, b.low, &values[0]) || !with(a.low, b.high, &values[1]) ||
      !with(a.high, b.low, &values[2]) || !with(a.high, b.high, &values[3]))
    return (struct tdl_range){
        is_negative(a) || is_negative(b) || with == kymo_wide_subtract ? all().low : kymo_wide_of_u64(0),
        all().high};
  return (struct tdl_range){least(least(values[0], values[1]), least(values[2], values[3])),
                            most(most(values[0], values[1]), most(values[2], values[3]))};
}

static bool shift_left(struct kymo_wide a, struct kymo_wide b, struct kymo_wide *out) {
  return b.high == 0 && b.low <= 63 && kymo_wide_shift_left(a, (unsigned)b.low, out);
}

static bool shift_right(struct kymo_wide a, struct kymo_wide b, struct kymo_wide *out) {
  if (b.high != 0 || b.low > 63)
    return false;
  *out = kymo_wide_shift_right(a, (unsigned)b.low);
  return true;
}

/* What shifts of 0 to 63 leave to do. */
static struct tdl_range shift_range(struct tdl_range b) {
  return (struct tdl_range){most(b.low, kymo_wide_of_u64(0)), least(b.high, kymo_wide_of_u64(63))};
}

/* All numbers that are no farther from zero than those of the range. */
static struct tdl_range mirrored(struct tdl_range a) {
  struct kymo_wide zero = kymo_wide_of_u64(0), low, high;
  if (!kymo_wide_subtract(zero, a.high, &low) || !kymo_wide_subtract(zero, a.low, &high))
    return all();
  return (struct tdl_range){least(a.low, low), most(a.high, high)};
}

/* A quotient is nowhere beyond its dividend; a remainder nowhere beyond dividend or divisor. */
static struct tdl_range quotient(struct tdl_range a, struct tdl_range b) {
  if (is_negative(a) || is_negative(b))
    return mirrored(a);
  return (struct tdl_range){kymo_wide_of_u64(0), a.high};
}

static struct tdl_range remainder_range(struct tdl_range a, struct tdl_range b) {
  struct tdl_range of = mirrored(a), by = mirrored(b);
  if (is_negative(a))
    return (struct tdl_range){most(of.low, by.low), least(of.high, by.high)};
  return (struct tdl_range){kymo_wide_of_u64(0), least(a.high, by.high)};
}

/* Bits of numbers that are 64 bits with a sign. */
static struct tdl_range signed_bits(struct tdl_range a, struct tdl_range b) {
  struct tdl_range both = either(a, b), small = between(INT64_MIN, INT64_MAX);
  bool is_small =
      kymo_wide_compare(both.low, small.low) >= 0 && kymo_wide_compare(both.high, small.high) <= 0;
  return is_small ? small : all();
}

static struct tdl_range bit_and(struct tdl_range a, struct tdl_range b) {
  if (is_negative(a) && is_negative(b))
    return signed_bits(a, b);
  if (is_negative(a) || is_negative(b))
    return (struct tdl_range){kymo_wide_of_u64(0), is_negative(a) ? b.high : a.high};
  return (struct tdl_range){kymo_wide_of_u64(0), least(a.high, b.high)};
}

static struct tdl_range bit_or(struct tdl_range a, struct tdl_range b) {
  if (is_negative(a) || is_negative(b))
    return signed_bits(a, b);
  return (struct tdl_range){kymo_wide_of_u64(0), bits_above(a.high, b.high)};
}

/* Of all arguments. */
static struct tdl_range any_of(const struct tdl_generator *gen, const struct tdl_expr *argument) {
  struct tdl_range range = kymo_tdl_range_of(gen, argument);
  for (argument = argument->next; argument; argument = argument->next)
    range = either(range, kymo_tdl_range_of(gen, argument));
  return range;
}

/* Upward, by less than the divisor. */
static struct tdl_range aligned(struct tdl_range a, struct tdl_range by) {
  struct kymo_wide high;
  return is_negative(by) || !kymo_wide_add(a.high, by.high, &high) ? (struct tdl_range){a.low, all().high}
                                                                   : (struct tdl_range){a.low, high};
}

/* Of numbers that are not negative; one raised to 0 is 1. */
static struct tdl_range power_range(struct tdl_range a, struct tdl_range n) {
  const struct kymo_expr_value most_of[] = {kymo_value_number(a.high), kymo_value_number(n.high)};
  struct kymo_expr_value high;
  if (is_negative(a))
    return all();
  bool is_known = !is_negative(n) && !kymo_operate(KYMO_OP_POWER, most_of, &high);
  return (struct tdl_range){kymo_wide_of_u64(0), is_known ? most(high.n, kymo_wide_of_u64(1)) : all().high};
}

static struct tdl_range call(const struct tdl_generator *gen, const struct tdl_expr *expr) {
  const struct tdl_expr *first = expr->arguments, *second = first ? first->next : NULL;
  uint64_t bits;
  switch (expr->function) {
  case TDL_BITS:
    if (second && kymo_tdl_constant(second->next, &bits) && bits < 64)
      return between(0, (UINT64_C(1) << bits) - 1);
    return between(0, UINT64_MAX);
  case TDL_SIGNED: return between(INT64_MIN, INT64_MAX);
  case TDL_PRESENT: return between(0, 1);
  case TDL_MIN:
  case TDL_MAX:
  case TDL_DEFAULT: return any_of(gen, first);
  case TDL_ALIGN: return aligned(kymo_tdl_range_of(gen, first), kymo_tdl_range_of(gen, second));
  case TDL_POWER: return power_range(kymo_tdl_range_of(gen, first), kymo_tdl_range_of(gen, second));
  default: return all();
  }
}

static struct tdl_range path(const struct tdl_generator *gen, const struct tdl_expr *expr) {
  const struct tdl_record *other = expr->reference.record, *own = gen->frame ? gen->frame->record : NULL;
  bool is_other = expr->reference.kind == TDL_REFERENCE_RECORD,
       is_surveyed = is_other && own && other->index < own->index;
  if (is_other)
    return is_surveyed ? kymo_tdl_cell_in(gen, other, expr->reference.slot)->range : kymo_tdl_any_number();
  struct tdl_cell *cell = kymo_tdl_cell(gen, expr->reference.slot);
  return cell ? cell->range : kymo_tdl_any_number();
}

static struct tdl_range two(const struct tdl_generator *gen, const struct tdl_expr *expr) {
  struct tdl_range a = kymo_tdl_range_of(gen, expr->operands[0]),
                   b = kymo_tdl_range_of(gen, expr->operands[1]);
  switch (expr->operation) {
  case TDL_ADD: return corners(a, b, kymo_wide_add);
  case TDL_SUBTRACT: return corners(a, b, kymo_wide_subtract);
  case TDL_MULTIPLY: return corners(a, b, kymo_wide_multiply);
  case TDL_DIVIDE: return quotient(a, b);
  case TDL_REST: return remainder_range(a, b);
  case TDL_SHIFT_LEFT: return corners(a, shift_range(b), shift_left);
  case TDL_SHIFT_RIGHT: return corners(a, shift_range(b), shift_right);
  case TDL_BIT_AND: return bit_and(a, b);
  case TDL_BIT_OR:
  case TDL_BIT_XOR: return bit_or(a, b);
  default: return between(0, 1); /* comparison and logic */
  }
}

struct tdl_range kymo_tdl_range_of(const struct tdl_generator *gen, const struct tdl_expr *expr) {
  switch (expr->operation) {
  case TDL_CONSTANT: return (struct tdl_range){expr->value.integer, expr->value.integer};
  case TDL_PATH: return path(gen, expr);
  case TDL_VALUE: return gen->value_range;
  case TDL_POSITION:
  case TDL_REMAINING:
  case TDL_FILE_SIZE:
  case TDL_FILE_NUMBER:
  case TDL_SIZE_OF:
  case TDL_COUNT_OF: return between(0, INT64_MAX);
  case TDL_LOOKUP:
  case TDL_NUMBER_OF:
  case TDL_TEXT_OF: return kymo_tdl_any_number();
  case TDL_CALL: return call(gen, expr);
  case TDL_IF:
    return either(kymo_tdl_range_of(gen, expr->operands[1]), kymo_tdl_range_of(gen, expr->operands[2]));
  case TDL_NEGATE: {
    struct tdl_range a = kymo_tdl_range_of(gen, expr->operands[0]), zero = between(0, 0);
    return corners(zero, a, kymo_wide_subtract);
  }
  case TDL_INVERT: {
    struct tdl_range a = kymo_tdl_range_of(gen, expr->operands[0]);
    return (struct tdl_range){kymo_wide_not(a.high), kymo_wide_not(a.low)};
  }
  case TDL_NOT:
  case TDL_IN:
  case TDL_IS_PRESENT: return between(0, 1);
  default: return two(gen, expr);
  }
}

/* ---- absence ---- */

static bool is_inside(struct tdl_range range, int64_t low, uint64_t high) {
  return kymo_wide_compare(range.low, kymo_wide_of_i64(low)) >= 0 &&
         kymo_wide_compare(range.high, kymo_wide_of_u64(high)) <= 0;
}

/* Whether numbers between operators may need more than 128 bits. */
static bool may_overflow(const struct tdl_generator *gen, const struct tdl_expr *expr) {
  struct tdl_range range = kymo_tdl_range_of(gen, expr);
  return kymo_wide_compare(range.low, all().low) == 0 || kymo_wide_compare(range.high, all().high) == 0;
}

/* Whether a function of numbers may have no result for those that it is given (R10, base/arithmetic.c). */
static bool call_may_fail(const struct tdl_generator *gen, const struct tdl_expr *expr) {
  const struct tdl_expr *second = expr->arguments ? expr->arguments->next : NULL,
                        *third = second ? second->next : NULL;
  switch (expr->function) {
  case TDL_BITS:
    return !is_inside(kymo_tdl_range_of(gen, second), 0, 127) ||
           !is_inside(kymo_tdl_range_of(gen, third), 0, 64);
  case TDL_SIGNED: return !is_inside(kymo_tdl_range_of(gen, second), 1, 64);
  case TDL_POWER: return is_negative(kymo_tdl_range_of(gen, second)) || may_overflow(gen, expr);
  case TDL_ALIGN: return !is_inside(kymo_tdl_range_of(gen, second), 1, UINT64_MAX) || may_overflow(gen, expr);
  default: return false;
  }
}

static bool calls_absent(const struct tdl_generator *gen, const struct tdl_expr *expr) {
  const struct tdl_expr *argument = expr->arguments;
  if (expr->function == TDL_PRESENT)
    return false;
  if (expr->function == TDL_TEXT)
    return true;
  if (expr->function == TDL_DEFAULT)
    return argument->next && kymo_tdl_may_be_absent(gen, argument->next);
  for (; argument; argument = argument->next)
    if (kymo_tdl_may_be_absent(gen, argument))
      return true;
  return call_may_fail(gen, expr);
}

/* Whether an operator may have no result (R10). */
static bool may_fail(const struct tdl_generator *gen, const struct tdl_expr *expr) {
  struct tdl_range by = kymo_tdl_range_of(gen, expr->operands[1]);
  struct kymo_wide zero = {0, 0};
  switch (expr->operation) {
  case TDL_DIVIDE:
  case TDL_REST: return kymo_wide_compare(by.low, zero) <= 0 && kymo_wide_compare(by.high, zero) >= 0;
  case TDL_SHIFT_LEFT: return !is_inside(by, 0, 63) || may_overflow(gen, expr);
  case TDL_SHIFT_RIGHT: return !is_inside(by, 0, 63);
  case TDL_ADD:
  case TDL_SUBTRACT:
  case TDL_MULTIPLY: return may_overflow(gen, expr);
  default: return false;
  }
}

bool kymo_tdl_may_be_absent(const struct tdl_generator *gen, const struct tdl_expr *expr) {
  switch (expr->operation) {
  case TDL_CONSTANT:
  case TDL_VALUE:
  case TDL_POSITION:
  case TDL_REMAINING:
  case TDL_FILE_SIZE:
  case TDL_FILE_NUMBER:
  case TDL_COUNT_OF: return false;
  case TDL_LOOKUP:
  case TDL_NUMBER_OF:
  case TDL_TEXT_OF: return true;
  case TDL_PATH:
  case TDL_SIZE_OF: {
    bool is_here = expr->reference.kind == TDL_REFERENCE_FIELD;
    struct tdl_cell *cell = is_here ? kymo_tdl_cell(gen, expr->reference.slot) : NULL;
    return !cell || cell->may_be_absent;
  }
  case TDL_CALL: return calls_absent(gen, expr);
  case TDL_IF:
    return kymo_tdl_may_be_absent(gen, expr->operands[1]) || kymo_tdl_may_be_absent(gen, expr->operands[2]);
  case TDL_NEGATE:
  case TDL_INVERT: return kymo_tdl_may_be_absent(gen, expr->operands[0]);
  default:
    if (!kymo_tdl_is_arithmetic(expr->operation))
      return false; /* comparison and logic are two-valued */
    return kymo_tdl_may_be_absent(gen, expr->operands[0]) || kymo_tdl_may_be_absent(gen, expr->operands[1]) ||
           may_fail(gen, expr);
  }
}

bool kymo_tdl_may_be_out_of_range(const struct tdl_generator *gen, const struct tdl_expr *expr) {
  if (expr->type != TDL_INTEGER || expr->operation == TDL_CONSTANT || expr->operation == TDL_PATH)
    return false;
  struct tdl_range range = kymo_tdl_range_of(gen, expr);
  return !kymo_wide_fits(range.low) || !kymo_wide_fits(range.high);
}

bool kymo_tdl_may_miss_field(const struct tdl_generator *gen, const struct tdl_expr *expr) {
  if (expr->type != TDL_INTEGER || expr->operation == TDL_CONSTANT || expr->operation == TDL_PATH)
    return false;
  struct tdl_range range = kymo_tdl_range_of(gen, expr);
  return !is_inside(range, 0, UINT64_MAX) && !is_inside(range, INT64_MIN, INT64_MAX);
}

/* ---- text or bytes ---- */

static bool table_is_bytes(const struct tdl_expr *expr) {
  return expr->reference.table && expr->reference.table->holds == TDL_HOLDS_BYTES;
}

bool kymo_tdl_is_bytes(const struct tdl_generator *gen, const struct tdl_expr *expr) {
  switch (expr->operation) {
  case TDL_LOOKUP: return table_is_bytes(expr);
  case TDL_IF: return kymo_tdl_is_bytes(gen, expr->operands[1]) || kymo_tdl_is_bytes(gen, expr->operands[2]);
  case TDL_CALL:
    return expr->function != TDL_TEXT && expr->function != TDL_JOIN && expr->arguments &&
           kymo_tdl_is_bytes(gen, expr->arguments);
  case TDL_PATH: {
    bool is_other = expr->reference.kind == TDL_REFERENCE_RECORD;
    struct tdl_cell *cell = is_other ? kymo_tdl_cell_in(gen, expr->reference.record, expr->reference.slot)
                                     : kymo_tdl_cell(gen, expr->reference.slot);
    return cell && cell->is_bytes;
  }
  default: return false;
  }
}
