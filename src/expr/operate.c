/* SPDX-License-Identifier: MIT */
#include "expr/operate.h"
#include "expr/arithmetic.h"
#include <math.h>
#include <string.h>

const uint8_t kymo_operands[KYMO_OPERATIONS] = {
    [KYMO_OP_ADD] = 2,       [KYMO_OP_SUBTRACT] = 2,   [KYMO_OP_MULTIPLY] = 2,   [KYMO_OP_DIVIDE] = 2,
    [KYMO_OP_REMAINDER] = 2, [KYMO_OP_NEGATE] = 1,     [KYMO_OP_SHIFT_LEFT] = 2, [KYMO_OP_SHIFT_RIGHT] = 2,
    [KYMO_OP_AND] = 2,       [KYMO_OP_OR] = 2,         [KYMO_OP_XOR] = 2,        [KYMO_OP_COMPLEMENT] = 1,
    [KYMO_OP_BITS] = 3,      [KYMO_OP_SIGNED] = 2,     [KYMO_OP_POWER] = 2,      [KYMO_OP_ALIGN_UP] = 2,
    [KYMO_OP_MINIMUM] = 2,   [KYMO_OP_MAXIMUM] = 2,    [KYMO_OP_EQUAL] = 2,      [KYMO_OP_UNEQUAL] = 2,
    [KYMO_OP_LESS] = 2,      [KYMO_OP_LESS_EQUAL] = 2, [KYMO_OP_GREATER] = 2,    [KYMO_OP_GREATER_EQUAL] = 2,
    [KYMO_OP_BETWEEN] = 3,   [KYMO_OP_NOT] = 1,        [KYMO_OP_TRUTH] = 1,      [KYMO_OP_PRESENT] = 1,
    [KYMO_OP_DEFAULT] = 2,   [KYMO_OP_ABSENT_IF] = 2,  [KYMO_OP_TEXT] = 2,       [KYMO_OP_SIZE_OF] = 1,
};

/* ---- truth ---- */

bool kymo_value_is_true(const struct kymo_expr_value *value) {
  switch (value->sort) {
  case KYMO_SORT_NUMBER:
  case KYMO_SORT_SPAN:
  case KYMO_SORT_MOMENT: return !kymo_wide_is_zero(value->n);
  case KYMO_SORT_FLOAT: return value->f != 0 && value->f == value->f;
  default: return false;
  }
}

static bool is_fraction(const struct kymo_expr_value *value) {
  return value->sort == KYMO_SORT_NUMBER || value->sort == KYMO_SORT_FLOAT;
}

static double to_double(const struct kymo_expr_value *value) {
  return value->sort == KYMO_SORT_FLOAT ? value->f : kymo_wide_to_double(value->n);
}

static bool relate_bytes(enum kymo_operation what, const struct kymo_expr_value *a,
                         const struct kymo_expr_value *b) {
  if (what != KYMO_OP_EQUAL && what != KYMO_OP_UNEQUAL)
    return false;
  bool are_equal = a->size == b->size && (a->size == 0 || memcmp(a->p, b->p, a->size) == 0);
  return are_equal == (what == KYMO_OP_EQUAL);
}

static bool relate_doubles(enum kymo_operation what, double x, double y) {
  return x == x && y == y && kymo_order_holds(what, x < y ? -1 : x > y);
}

bool kymo_relation_holds(enum kymo_operation what, const struct kymo_expr_value *a,
                         const struct kymo_expr_value *b) {
  if (a->sort != b->sort)
    return is_fraction(a) && is_fraction(b) && relate_doubles(what, to_double(a), to_double(b));
  switch (a->sort) {
  case KYMO_SORT_NUMBER:
  case KYMO_SORT_SPAN:
  case KYMO_SORT_MOMENT: return kymo_order_holds(what, kymo_wide_compare(a->n, b->n));
  case KYMO_SORT_FLOAT: return relate_doubles(what, a->f, b->f);
  case KYMO_SORT_BYTES: return relate_bytes(what, a, b);
  case KYMO_SORT_ABSENT: break;
  }
  return false;
}

bool kymo_values_compare(const struct kymo_expr_value *a, const struct kymo_expr_value *b) {
  return kymo_relation_holds(KYMO_OP_LESS, a, b) || kymo_relation_holds(KYMO_OP_GREATER_EQUAL, a, b);
}

/* ---- arithmetic ---- */

static const char no_number[] = "an operand that is no whole number";
static const char no_time[] = "times that are no operands of this";

static const char *calculate_doubles(enum kymo_operation what, double x, double y, double *out) {
  switch (what) {
  case KYMO_OP_ADD: *out = x + y; return NULL;
  case KYMO_OP_SUBTRACT: *out = x - y; return NULL;
  case KYMO_OP_MULTIPLY: *out = x * y; return NULL;
  case KYMO_OP_DIVIDE: *out = x / y; return y != 0 ? NULL : "a division by zero";
  case KYMO_OP_NEGATE: *out = -x; return NULL;
  default: return no_number;
  }
}

static const char *calculate_wides(enum kymo_operation what, struct kymo_wide x, struct kymo_wide y,
                                   struct kymo_wide *out) {
  return kymo_calculate(what, (struct kymo_expr_value[]){kymo_value_number(x), kymo_value_number(y)}, out);
}

/* A span times or divided by a number. */
static const char *scale_span(enum kymo_operation what, struct kymo_wide span,
                              const struct kymo_expr_value *by, struct kymo_expr_value *out) {
  double result;
  out->sort = KYMO_SORT_SPAN;
  if (by->sort == KYMO_SORT_NUMBER)
    return calculate_wides(what, span, by->n, &out->n);
  const char *wrong = calculate_doubles(what, kymo_wide_to_double(span), by->f, &result);
  if (!wrong && !(fabs(result) < 9e18))
    wrong = "a length of time beyond 9e18 ps";
  if (!wrong)
    out->n = kymo_wide_of_i64((int64_t)result);
  return wrong;
}

/* span ± span, span × n, n × span, span / n, span / span, span % span, -span */
static const char *calculate_span(enum kymo_operation what, const struct kymo_expr_value *x,
                                  struct kymo_expr_value *out) {
  bool is_first = x[0].sort == KYMO_SORT_SPAN;
  if (what == KYMO_OP_NEGATE || (is_first && x[1].sort == KYMO_SORT_SPAN)) {
    bool is_ratio = what == KYMO_OP_DIVIDE || what == KYMO_OP_REMAINDER;
    out->sort = is_ratio ? KYMO_SORT_NUMBER : KYMO_SORT_SPAN;
    return is_ratio || what == KYMO_OP_ADD || what == KYMO_OP_SUBTRACT || what == KYMO_OP_NEGATE
               ? calculate_wides(what, x[0].n, x[1].n, &out->n)
               : no_time;
  }
  const struct kymo_expr_value *by = &x[is_first];
  if (!is_fraction(by) || (what != KYMO_OP_MULTIPLY && (what != KYMO_OP_DIVIDE || !is_first)))
    return no_time;
  return scale_span(what, x[!is_first].n, by, out);
}

/* moment ± span, span + moment, moment - moment. Spans are in picoseconds, moments in nanoseconds. */
static const char *calculate_moment(enum kymo_operation what, const struct kymo_expr_value *x,
                                    struct kymo_expr_value *out) {
  const struct kymo_wide thousand = kymo_wide_of_u64(1000);
  struct kymo_wide step;
  const char *wrong;
  if (what != KYMO_OP_ADD && what != KYMO_OP_SUBTRACT)
    return no_time;
  if (x[0].sort == x[1].sort) {
    out->sort = KYMO_SORT_SPAN;
    wrong = what == KYMO_OP_SUBTRACT ? calculate_wides(what, x[0].n, x[1].n, &step) : no_time;
    return wrong ? wrong : calculate_wides(KYMO_OP_MULTIPLY, step, thousand, &out->n);
  }
  bool is_turned = x[0].sort == KYMO_SORT_SPAN;
  if (x[!is_turned].sort != KYMO_SORT_SPAN || (is_turned && what != KYMO_OP_ADD))
    return no_time;
  out->sort = KYMO_SORT_MOMENT;
  wrong = calculate_wides(KYMO_OP_DIVIDE, x[!is_turned].n, thousand, &step);
  return wrong ? wrong : calculate_wides(what, x[is_turned].n, step, &out->n);
}

static const char *choose(enum kymo_operation what, const struct kymo_expr_value *x,
                          struct kymo_expr_value *out) {
  if (!kymo_values_compare(&x[0], &x[1]))
    return "operands that do not compare";
  enum kymo_operation relation = what == KYMO_OP_MINIMUM ? KYMO_OP_LESS : KYMO_OP_GREATER;
  *out = x[kymo_relation_holds(relation, &x[1], &x[0])];
  return NULL;
}

/* What is not all of whole numbers. `count`: 1 to 3. */
static const char *calculate_others(enum kymo_operation what, const struct kymo_expr_value *x, unsigned count,
                                    struct kymo_expr_value *out) {
  bool has_moment = false, has_span = false, are_fractions = count < 3;
  for (unsigned i = 0; i < count; i++) {
    has_moment |= x[i].sort == KYMO_SORT_MOMENT;
    has_span |= x[i].sort == KYMO_SORT_SPAN;
    are_fractions &= is_fraction(&x[i]);
  }
  if (what == KYMO_OP_MINIMUM || what == KYMO_OP_MAXIMUM)
    return choose(what, x, out);
  if (has_moment && count == 2)
    return calculate_moment(what, x, out);
  if (has_span && count < 3)
    return calculate_span(what, x, out);
  if (!are_fractions)
    return no_number;
  out->sort = KYMO_SORT_FLOAT;
  return calculate_doubles(what, to_double(&x[0]), count > 1 ? to_double(&x[1]) : 0, &out->f);
}

/* Operands of which some are no whole numbers. */
static __attribute__((noinline)) const char *calculate_mixed(enum kymo_operation what,
                                                             const struct kymo_expr_value *x, unsigned count,
                                                             struct kymo_expr_value *out) {
  struct kymo_expr_value result = {.sort = KYMO_SORT_ABSENT};
  const char *wrong = NULL;
  bool is_absent = false;
  for (unsigned i = 0; i < count; i++)
    is_absent |= x[i].sort == KYMO_SORT_ABSENT;
  if (!is_absent)
    wrong = calculate_others(what, x, count, &result);
  if (wrong)
    result.sort = KYMO_SORT_ABSENT;
  *out = result;
  return wrong;
}

static inline const char *calculate(enum kymo_operation what, const struct kymo_expr_value *x,
                                    struct kymo_expr_value *out) {
  unsigned count = kymo_operands[what];
  if (x[0].sort != KYMO_SORT_NUMBER || (count > 1 && x[1].sort != KYMO_SORT_NUMBER) ||
      (count > 2 && x[2].sort != KYMO_SORT_NUMBER))
    return calculate_mixed(what, x, count, out);
  const char *wrong = kymo_calculate(what, x, &out->n);
  out->sort = wrong ? KYMO_SORT_ABSENT : KYMO_SORT_NUMBER;
  return wrong;
}

/* ---- the rest ---- */

static const char *text_at(const struct kymo_expr_value *x, struct kymo_expr_value *out) {
  bool is_absent = x[0].sort == KYMO_SORT_ABSENT || x[1].sort == KYMO_SORT_ABSENT;
  if (x[0].sort != KYMO_SORT_BYTES || x[1].sort != KYMO_SORT_NUMBER || x[1].n.high != 0 ||
      x[1].n.low > x[0].size) {
    out->sort = KYMO_SORT_ABSENT;
    return is_absent ? NULL : "text() from a place outside of its bytes";
  }
  uint64_t size = x[0].size - x[1].n.low;
  const uint8_t *from = x[0].p + x[1].n.low, *zero = size ? memchr(from, 0, size) : NULL;
  *out = kymo_value_bytes(from, zero ? (uint64_t)(zero - from) : size);
  return NULL;
}

const char *kymo_operate(enum kymo_operation what, const struct kymo_expr_value *x,
                         struct kymo_expr_value *out) {
  switch (what) {
  case KYMO_OP_EQUAL:
  case KYMO_OP_UNEQUAL:
  case KYMO_OP_LESS:
  case KYMO_OP_LESS_EQUAL:
  case KYMO_OP_GREATER:
  case KYMO_OP_GREATER_EQUAL: *out = kymo_value_u64(kymo_relation_holds(what, &x[0], &x[1])); return NULL;
  case KYMO_OP_BETWEEN:
    *out = kymo_value_u64(kymo_relation_holds(KYMO_OP_GREATER_EQUAL, &x[0], &x[1]) &&
                          kymo_relation_holds(KYMO_OP_LESS_EQUAL, &x[0], &x[2]));
    return NULL;
  case KYMO_OP_NOT: *out = kymo_value_u64(!kymo_value_is_true(x)); return NULL;
  case KYMO_OP_TRUTH: *out = kymo_value_u64(kymo_value_is_true(x)); return NULL;
  case KYMO_OP_PRESENT: *out = kymo_value_u64(x->sort != KYMO_SORT_ABSENT); return NULL;
  case KYMO_OP_DEFAULT: *out = x[x->sort == KYMO_SORT_ABSENT]; return NULL;
  case KYMO_OP_ABSENT_IF: {
    bool is_absent = kymo_value_is_true(&x[1]);
    *out = x[0];
    out->sort = is_absent ? KYMO_SORT_ABSENT : out->sort;
    return NULL;
  }
  case KYMO_OP_TEXT: return text_at(x, out);
  case KYMO_OP_SIZE_OF:
    *out = x->sort == KYMO_SORT_BYTES ? kymo_value_u64(x->size)
                                      : (struct kymo_expr_value){.sort = KYMO_SORT_ABSENT};
    return NULL;
  default: return calculate(what, x, out);
  }
}
