/* SPDX-License-Identifier: MIT */
/*
 * Operations and functions of filters, which expr/operate.h works out. An operation without a result (an
 * overflow, a division by zero) is absent and counted (R10).
 */
#include "filter/machine.h"

static const struct filter_value absent = {.v.sort = KYMO_SORT_ABSENT};

bool kymo_filter_is_true(const struct filter_value *value) { return kymo_value_is_true(&value->v); }

static void operate(struct filter_look *look, enum kymo_operation operation, const struct kymo_expr_value *x,
                    struct filter_value *value) {
  *value = absent;
  look->machine->counts.failed += kymo_operate(operation, x, &value->v) != NULL;
}

void kymo_filter_calculate(const struct filter_bound *bound, struct filter_look *look,
                           struct filter_value *value) {
  static const uint8_t operations[] = {
      [KYMO_FILTER_ADD] = KYMO_OP_ADD,
      [KYMO_FILTER_SUBTRACT] = KYMO_OP_SUBTRACT,
      [KYMO_FILTER_MULTIPLY] = KYMO_OP_MULTIPLY,
      [KYMO_FILTER_DIVIDE] = KYMO_OP_DIVIDE,
      [KYMO_FILTER_REMAINDER] = KYMO_OP_REMAINDER,
      [KYMO_FILTER_SHIFT_LEFT] = KYMO_OP_SHIFT_LEFT,
      [KYMO_FILTER_SHIFT_RIGHT] = KYMO_OP_SHIFT_RIGHT,
      [KYMO_FILTER_BITS_AND] = KYMO_OP_AND,
      [KYMO_FILTER_BITS_OR] = KYMO_OP_OR,
      [KYMO_FILTER_BITS_XOR] = KYMO_OP_XOR,
      [KYMO_FILTER_NEGATE] = KYMO_OP_NEGATE,
      [KYMO_FILTER_INVERT] = KYMO_OP_COMPLEMENT,
  };
  enum kymo_operation operation = (enum kymo_operation)operations[bound->node->op];
  struct filter_value x;
  struct kymo_expr_value operands[2];
  bound->a->get(bound->a, look, &x);
  operands[0] = operands[1] = x.v;
  if (kymo_operands[operation] > 1) {
    bound->b->get(bound->b, look, &x);
    operands[1] = x.v;
  }
  operate(look, operation, operands, value);
}

/* ---- functions ---- */

/* min and max: of values that can be compared, also by their types (kymo_filter_relate). */
static void find_extreme(const struct filter_bound *bound, struct filter_look *look,
                         struct filter_value *value) {
  enum kymo_filter_relation relation =
      bound->node->detail == KYMO_FILTER_MIN ? KYMO_FILTER_LESS : KYMO_FILTER_GREATER;
  struct filter_value next;
  bound->list[0]->get(bound->list[0], look, value);
  for (uint32_t i = 1; i < bound->list_count && value->v.sort != KYMO_SORT_ABSENT; i++) {
    bound->list[i]->get(bound->list[i], look, &next);
    if (next.v.sort == KYMO_SORT_ABSENT || kymo_filter_relate(&next, relation, value)) {
      *value = next;
    } else if (!kymo_filter_relate(value, relation, &next) &&
               !kymo_filter_relate(value, KYMO_FILTER_EQUAL, &next)) {
      *value = absent;
      look->machine->counts.failed++;
    }
  }
}

void kymo_filter_call(const struct filter_bound *bound, struct filter_look *look,
                      struct filter_value *value) {
  static const uint8_t operations[] = {
      [KYMO_FILTER_BITS_OF] = KYMO_OP_BITS, [KYMO_FILTER_SIGNED] = KYMO_OP_SIGNED,
      [KYMO_FILTER_POWER] = KYMO_OP_POWER,  [KYMO_FILTER_ALIGN] = KYMO_OP_ALIGN_UP,
      [KYMO_FILTER_TEXT_OF] = KYMO_OP_TEXT, [KYMO_FILTER_IS_PRESENT] = KYMO_OP_PRESENT,
  };
  enum kymo_filter_function function = bound->node->detail;
  struct filter_value x = absent;
  struct kymo_expr_value operands[3];
  if (function == KYMO_FILTER_MIN || function == KYMO_FILTER_MAX) {
    find_extreme(bound, look, value);
    return;
  }
  if (function == KYMO_FILTER_DEFAULT) { /* the value together with its type */
    bound->list[0]->get(bound->list[0], look, value);
    if (value->v.sort == KYMO_SORT_ABSENT)
      bound->list[1]->get(bound->list[1], look, value);
    return;
  }
  for (uint32_t i = 0; i < 3; i++) {
    if (i < bound->list_count)
      bound->list[i]->get(bound->list[i], look, &x);
    operands[i] = x.v;
  }
  operate(look, (enum kymo_operation)operations[function], operands, value);
}
