/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic of filters. Whole numbers are exact, in 128 bits; what has no result (an overflow, a division by
 * zero) is absent and counted (R10). A number with a fraction makes the result one. Lengths of time add,
 * scale and compare.
 */
#include "expr/arithmetic.h"
#include "filter/machine.h"
#include <math.h>

static const struct filter_value absent = {.kind = FILTER_ABSENT};

static bool is_number(const struct filter_value *value) {
  return value->kind == FILTER_INTEGER || value->kind == FILTER_FLOAT;
}

static double to_double(const struct filter_value *value) {
  return value->kind == FILTER_FLOAT ? value->number : kymo_wide_to_double(value->integer);
}

bool kymo_filter_is_true(const struct filter_value *value) {
  if (value->kind == FILTER_FLOAT)
    return value->number != 0 && !isnan(value->number);
  return value->kind != FILTER_ABSENT && value->kind != FILTER_TEXT && !kymo_wide_is_zero(value->integer);
}

static void fail(struct filter_look *look, struct filter_value *value) {
  *value = absent;
  look->machine->counts.failed++;
}

static void set_integer(struct filter_value *value, struct kymo_wide integer) {
  *value = (struct filter_value){.kind = FILTER_INTEGER, .integer = integer};
}

/* ---- two whole numbers ---- */

static bool calculate_integers(enum kymo_filter_op op, struct kymo_wide a, struct kymo_wide b,
                               struct kymo_wide *out) {
  static const uint8_t operations[] = {
      [KYMO_FILTER_ADD] = KYMO_CALC_ADD,
      [KYMO_FILTER_SUBTRACT] = KYMO_CALC_SUBTRACT,
      [KYMO_FILTER_MULTIPLY] = KYMO_CALC_MULTIPLY,
      [KYMO_FILTER_DIVIDE] = KYMO_CALC_DIVIDE,
      [KYMO_FILTER_REMAINDER] = KYMO_CALC_REMAINDER,
      [KYMO_FILTER_SHIFT_LEFT] = KYMO_CALC_SHIFT_LEFT,
      [KYMO_FILTER_SHIFT_RIGHT] = KYMO_CALC_SHIFT_RIGHT,
      [KYMO_FILTER_BITS_AND] = KYMO_CALC_AND,
      [KYMO_FILTER_BITS_OR] = KYMO_CALC_OR,
      [KYMO_FILTER_BITS_XOR] = KYMO_CALC_XOR,
      [KYMO_FILTER_NEGATE] = KYMO_CALC_NEGATE,
      [KYMO_FILTER_INVERT] = KYMO_CALC_COMPLEMENT,
  };
  return !kymo_calculate((enum kymo_arithmetic)operations[op], (struct kymo_wide[]){a, b}, out);
}

/* ---- fractions, times ---- */

static bool calculate_doubles(enum kymo_filter_op op, double a, double b, double *out) {
  switch (op) {
  case KYMO_FILTER_ADD: *out = a + b; return true;
  case KYMO_FILTER_SUBTRACT: *out = a - b; return true;
  case KYMO_FILTER_MULTIPLY: *out = a * b; return true;
  case KYMO_FILTER_DIVIDE: *out = a / b; return b != 0;
  default: return false;
  }
}

/* span ± span, span × n, span / n, span / span; by a fraction too. */
static bool calculate_span(enum kymo_filter_op op, const struct filter_value *a, const struct filter_value *b,
                           struct filter_value *out) {
  bool are_spans = a->kind == FILTER_SPAN && b->kind == FILTER_SPAN;
  const struct filter_value *span = a->kind == FILTER_SPAN ? a : b, *factor = a->kind == FILTER_SPAN ? b : a;
  *out = (struct filter_value){.kind = FILTER_SPAN};
  if (op == KYMO_FILTER_ADD || op == KYMO_FILTER_SUBTRACT)
    return are_spans && calculate_integers(op, a->integer, b->integer, &out->integer);
  if (are_spans) {
    out->kind = FILTER_INTEGER;
    return (op == KYMO_FILTER_DIVIDE || op == KYMO_FILTER_REMAINDER) &&
           calculate_integers(op, a->integer, b->integer, &out->integer);
  }
  if (op != KYMO_FILTER_MULTIPLY && (op != KYMO_FILTER_DIVIDE || a->kind != FILTER_SPAN))
    return false;
  if (factor->kind == FILTER_INTEGER)
    return calculate_integers(op, span->integer, factor->integer, &out->integer);
  double result;
  if (!calculate_doubles(op, kymo_wide_to_double(span->integer), factor->number, &result) ||
      !(fabs(result) < 9e18))
    return false;
  out->integer = kymo_wide_of_i64((int64_t)result);
  return true;
}

/* moment ± span, moment - moment */
static bool calculate_moment(enum kymo_filter_op op, const struct filter_value *a,
                             const struct filter_value *b, struct filter_value *out) {
  const struct kymo_wide thousand = kymo_wide_of_u64(1000);
  struct kymo_wide step;
  if (op != KYMO_FILTER_ADD && op != KYMO_FILTER_SUBTRACT)
    return false;
  if (a->kind == FILTER_MOMENT && b->kind == FILTER_MOMENT) {
    *out = (struct filter_value){.kind = FILTER_SPAN};
    return op == KYMO_FILTER_SUBTRACT && kymo_wide_subtract(a->integer, b->integer, &step) &&
           kymo_wide_multiply(step, thousand, &out->integer);
  }
  bool is_turned = a->kind == FILTER_SPAN;
  const struct filter_value *moment = is_turned ? b : a, *span = is_turned ? a : b;
  *out = (struct filter_value){.kind = FILTER_MOMENT};
  return span->kind == FILTER_SPAN && (!is_turned || op == KYMO_FILTER_ADD) &&
         kymo_wide_divide(span->integer, thousand, &step, NULL) &&
         calculate_integers(op, moment->integer, step, &out->integer);
}

static bool calculate(enum kymo_filter_op op, const struct filter_value *a, const struct filter_value *b,
                      struct filter_value *out) {
  if (a->kind == FILTER_MOMENT || b->kind == FILTER_MOMENT)
    return calculate_moment(op, a, b, out);
  if (a->kind == FILTER_SPAN || b->kind == FILTER_SPAN)
    return calculate_span(op, a, b, out);
  if (!is_number(a) || !is_number(b))
    return false;
  if (a->kind == FILTER_INTEGER && b->kind == FILTER_INTEGER) {
    *out = (struct filter_value){.kind = FILTER_INTEGER};
    return calculate_integers(op, a->integer, b->integer, &out->integer);
  }
  *out = (struct filter_value){.kind = FILTER_FLOAT};
  return calculate_doubles(op, to_double(a), to_double(b), &out->number);
}

static void negate(const struct filter_bound *bound, struct filter_look *look, struct filter_value *value) {
  enum kymo_filter_op op = bound->node->op;
  value->type = NULL;
  value->literal = NULL;
  if (value->kind == FILTER_FLOAT && op == KYMO_FILTER_NEGATE)
    value->number = -value->number;
  else if ((value->kind != FILTER_INTEGER && (value->kind != FILTER_SPAN || op == KYMO_FILTER_INVERT)) ||
           !calculate_integers(op, value->integer, value->integer, &value->integer))
    fail(look, value);
}

void kymo_filter_calculate(const struct filter_bound *bound, struct filter_look *look,
                           struct filter_value *value) {
  struct filter_value a, b;
  if (bound->node->op == KYMO_FILTER_NEGATE || bound->node->op == KYMO_FILTER_INVERT) {
    bound->a->get(bound->a, look, value);
    if (value->kind != FILTER_ABSENT)
      negate(bound, look, value);
    return;
  }
  bound->a->get(bound->a, look, &a);
  bound->b->get(bound->b, look, &b);
  if (a.kind == FILTER_ABSENT || b.kind == FILTER_ABSENT)
    *value = absent;
  else if (!calculate(bound->node->op, &a, &b, value))
    fail(look, value);
}

/* ---- functions ---- */

/* text(bytes, offset): up to a zero or the end. */
static bool text_of(const struct filter_value *x, struct kymo_wide offset, struct filter_value *out) {
  if (x->kind != FILTER_TEXT || offset.high != 0 || offset.low > x->count)
    return false;
  *out = (struct filter_value){
      .kind = FILTER_TEXT, .bytes = x->bytes + offset.low, .count = x->count - offset.low};
  for (uint64_t i = 0; i < out->count; i++)
    if (out->bytes[i] == 0)
      out->count = i;
  return true;
}

static bool call_of_integers(enum kymo_filter_function function, const struct filter_value *x,
                             struct filter_value *out) {
  static const uint8_t operations[] = {[KYMO_FILTER_BITS_OF] = KYMO_CALC_BITS,
                                       [KYMO_FILTER_SIGNED] = KYMO_CALC_SIGNED,
                                       [KYMO_FILTER_POWER] = KYMO_CALC_POWER,
                                       [KYMO_FILTER_ALIGN] = KYMO_CALC_ALIGN_UP};
  const struct kymo_wide numbers[] = {x[0].integer, x[1].integer, x[2].integer};
  out->kind = FILTER_INTEGER;
  for (unsigned i = 0; i < (function == KYMO_FILTER_BITS_OF ? 3 : 2); i++)
    if (x[i].kind != FILTER_INTEGER)
      return false;
  return !kymo_calculate((enum kymo_arithmetic)operations[function], numbers, &out->integer);
}

/* min and max: of values that compare. */
static void find_extreme(const struct filter_bound *bound, struct filter_look *look,
                         struct filter_value *value) {
  enum kymo_filter_relation relation =
      bound->node->detail == KYMO_FILTER_MIN ? KYMO_FILTER_LESS : KYMO_FILTER_GREATER;
  struct filter_value next;
  bound->list[0]->get(bound->list[0], look, value);
  for (uint32_t i = 1; i < bound->list_count && value->kind != FILTER_ABSENT; i++) {
    bound->list[i]->get(bound->list[i], look, &next);
    if (next.kind == FILTER_ABSENT || kymo_filter_relate(&next, relation, value))
      *value = next;
  }
}

void kymo_filter_call(const struct filter_bound *bound, struct filter_look *look,
                      struct filter_value *value) {
  enum kymo_filter_function function = bound->node->detail;
  struct filter_value x[3] = {absent, absent, absent};
  if (function == KYMO_FILTER_MIN || function == KYMO_FILTER_MAX) {
    find_extreme(bound, look, value);
    return;
  }
  bound->list[0]->get(bound->list[0], look, &x[0]);
  if (function == KYMO_FILTER_IS_PRESENT) {
    set_integer(value, kymo_wide_of_u64(x[0].kind != FILTER_ABSENT));
    return;
  }
  if (function == KYMO_FILTER_DEFAULT && x[0].kind != FILTER_ABSENT) {
    *value = x[0];
    return;
  }
  *value = absent;
  for (uint32_t i = 1; i < bound->list_count && i < 3; i++)
    bound->list[i]->get(bound->list[i], look, &x[i]);
  for (uint32_t i = 0; i < bound->list_count && i < 3 && function != KYMO_FILTER_DEFAULT; i++)
    if (x[i].kind == FILTER_ABSENT)
      return;
  if (function == KYMO_FILTER_DEFAULT)
    *value = x[1];
  else if (function == KYMO_FILTER_TEXT_OF ? !text_of(&x[0], x[1].integer, value)
                                           : !call_of_integers(function, x, value))
    fail(look, value);
}
