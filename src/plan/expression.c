/* SPDX-License-Identifier: MIT */
/* Expressions: operations are defined in expr/operate.h; those that need the machine are here. */
#include "expr/operate.h"
#include "plan/machine.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool kymo_token_find(const struct kymo_plan *plan, uint32_t token, const struct kymo_wide *n,
                     uint32_t *item) {
  const struct kymo_plan_token *list = &plan->tokens[token];
  for (uint32_t i = 0; i < list->count; i++) {
    const struct kymo_plan_token_item *one = &plan->token_items[list->first + i];
    uint64_t low = kymo_plan_wide(one->low_low, one->low_high),
             high = kymo_plan_wide(one->high_low, one->high_high);
    struct kymo_wide from = one->is_unsigned ? kymo_wide_of_u64(low) : kymo_wide_of_i64((int64_t)low);
    struct kymo_wide to = one->is_unsigned ? kymo_wide_of_u64(high) : kymo_wide_of_i64((int64_t)high);
    if (kymo_wide_compare(from, *n) <= 0 && kymo_wide_compare(*n, to) <= 0) {
      *item = i;
      return true;
    }
  }
  return false;
}

static size_t part_size(const struct kymo_expr_value *x) {
  return 1 + (x->sort == KYMO_SORT_BYTES ? sizeof(uint64_t) + x->size : sizeof x->n);
}

static uint8_t *put_part(uint8_t *at, const struct kymo_expr_value *x) {
  bool is_bytes = x->sort == KYMO_SORT_BYTES;
  uint64_t size = x->size;
  *at++ = is_bytes;
  memcpy(at, is_bytes ? (const void *)&size : (const void *)&x->n, is_bytes ? sizeof size : sizeof x->n);
  at += is_bytes ? sizeof size : sizeof x->n;
  if (is_bytes && size)
    memcpy(at, x->p, size);
  return at + (is_bytes ? size : 0);
}

/* Two keys as one sequence of bytes, which differs for all other pairs. False after raising. */
static bool join(struct kymo_plan_machine *machine, struct kymo_expr_value *x) {
  bool is_key[2];
  for (unsigned i = 0; i < 2; i++)
    is_key[i] = x[i].sort == KYMO_SORT_NUMBER || x[i].sort == KYMO_SORT_BYTES;
  size_t size = is_key[0] && is_key[1] ? part_size(&x[0]) + part_size(&x[1]) : 0;
  if (size == 0 || size > UINT32_MAX) {
    x->sort = KYMO_SORT_ABSENT;
    return true;
  }
  uint8_t *bytes = kymo_plan_work(machine, size);
  if (!bytes)
    return false;
  put_part(put_part(bytes, &x[0]), &x[1]);
  *x = kymo_value_bytes(bytes, (uint32_t)size);
  return true;
}

#define DIGITS 48

/* A value as part of a text: bytes themselves, or the digits of a number in `digits`. */
static struct kymo_expr_value as_text(const struct kymo_expr_value *x, char digits[DIGITS]) {
  uint64_t magnitude = x->n.high < 0 ? -x->n.low : x->n.low;
  if (x->sort == KYMO_SORT_BYTES)
    return *x;
  snprintf(digits, DIGITS, "%s%" PRIu64, x->n.high < 0 ? "-" : "", magnitude);
  return kymo_value_bytes((const uint8_t *)digits, (uint32_t)strlen(digits));
}

/* [x y] → their text; absent if one is. */
static bool concat(struct kymo_plan_machine *machine, struct kymo_expr_value *x) {
  char digits[2][DIGITS];
  for (unsigned i = 0; i < 2; i++)
    if (x[i].sort != KYMO_SORT_BYTES && (x[i].sort != KYMO_SORT_NUMBER || !kymo_wide_fits(x[i].n))) {
      x->sort = KYMO_SORT_ABSENT;
      return true;
    }
  struct kymo_expr_value a = as_text(&x[0], digits[0]), b = as_text(&x[1], digits[1]);
  size_t size = (size_t)a.size + b.size;
  if (size > UINT32_MAX)
    return kymo_plan_raise(machine, 9, kymo_plan_offset(machine), "a text of 4 GiB or more");
  uint8_t *bytes = kymo_plan_work(machine, size + 1);
  if (!bytes)
    return false;
  memcpy(bytes, a.p, a.size);
  memcpy(bytes + a.size, b.p, b.size);
  *x = kymo_value_bytes(bytes, (uint32_t)size);
  return true;
}

/* [x] → its text in a token list, or absent. */
static void name_of(const struct kymo_plan_machine *machine, uint32_t token, struct kymo_expr_value *x) {
  const struct kymo_plan *plan = machine->plan;
  uint32_t item, size;
  if (x->sort != KYMO_SORT_NUMBER || !kymo_token_find(plan, token, &x->n, &item)) {
    x->sort = KYMO_SORT_ABSENT;
    return;
  }
  const uint8_t *text = kymo_plan_text(plan, plan->token_items[plan->tokens[token].first + item].text, &size);
  *x = kymo_value_bytes(text, size);
}

/* A number must be in −2^63 … 2^64−1; other values pass. */
static bool check_range(struct kymo_plan_machine *machine, struct kymo_expr_value *x) {
  if (x->sort != KYMO_SORT_NUMBER || kymo_wide_fits(x->n))
    return true;
  x->sort = KYMO_SORT_ABSENT;
  return kymo_plan_mark(machine, 10, "a number beyond -2^63 to 2^64-1");
}

static const uint8_t operations[KYMO_DO_COUNT] = {
    [KYMO_DO_ADD] = KYMO_OP_ADD,
    [KYMO_DO_SUBTRACT] = KYMO_OP_SUBTRACT,
    [KYMO_DO_MULTIPLY] = KYMO_OP_MULTIPLY,
    [KYMO_DO_DIVIDE] = KYMO_OP_DIVIDE,
    [KYMO_DO_REMAINDER] = KYMO_OP_REMAINDER,
    [KYMO_DO_SHIFT_LEFT] = KYMO_OP_SHIFT_LEFT,
    [KYMO_DO_SHIFT_RIGHT] = KYMO_OP_SHIFT_RIGHT,
    [KYMO_DO_AND] = KYMO_OP_AND,
    [KYMO_DO_OR] = KYMO_OP_OR,
    [KYMO_DO_XOR] = KYMO_OP_XOR,
    [KYMO_DO_NEGATE] = KYMO_OP_NEGATE,
    [KYMO_DO_COMPLEMENT] = KYMO_OP_COMPLEMENT,
    [KYMO_DO_BITS] = KYMO_OP_BITS,
    [KYMO_DO_SIGNED] = KYMO_OP_SIGNED,
    [KYMO_DO_POWER] = KYMO_OP_POWER,
    [KYMO_DO_MINIMUM] = KYMO_OP_MINIMUM,
    [KYMO_DO_MAXIMUM] = KYMO_OP_MAXIMUM,
    [KYMO_DO_ALIGN_UP] = KYMO_OP_ALIGN_UP,
    [KYMO_DO_EQUAL] = KYMO_OP_EQUAL,
    [KYMO_DO_UNEQUAL] = KYMO_OP_UNEQUAL,
    [KYMO_DO_LESS] = KYMO_OP_LESS,
    [KYMO_DO_LESS_EQUAL] = KYMO_OP_LESS_EQUAL,
    [KYMO_DO_GREATER] = KYMO_OP_GREATER,
    [KYMO_DO_GREATER_EQUAL] = KYMO_OP_GREATER_EQUAL,
    [KYMO_DO_BETWEEN] = KYMO_OP_BETWEEN,
    [KYMO_DO_FALSE] = KYMO_OP_NOT,
    [KYMO_DO_TRUTH] = KYMO_OP_TRUTH,
    [KYMO_DO_PRESENT] = KYMO_OP_PRESENT,
    [KYMO_DO_DEFAULT] = KYMO_OP_DEFAULT,
    [KYMO_DO_ABSENT_IF] = KYMO_OP_ABSENT_IF,
    [KYMO_DO_TEXT_AT] = KYMO_OP_TEXT,
    [KYMO_DO_SIZE_OF] = KYMO_OP_SIZE_OF,
};

/* The operations that need the machine. */
static struct kymo_expr_value *operate_here(struct kymo_plan_machine *machine,
                                            const struct kymo_plan_instruction *what,
                                            struct kymo_expr_value *top) {
  uint32_t item;
  if (what->code == KYMO_DO_JOIN)
    return join(machine, top - 1) ? top - 1 : NULL;
  if (what->code == KYMO_DO_RANGE)
    return check_range(machine, top) ? top : NULL;
  if (what->code == KYMO_DO_CONCAT)
    return concat(machine, top - 1) ? top - 1 : NULL;
  if (what->code == KYMO_DO_NAME_OF) {
    name_of(machine, what->a, top);
    return top;
  }
  *top = kymo_value_u64(top->sort == KYMO_SORT_NUMBER &&
                        kymo_token_find(machine->plan, what->a, &top->n, &item));
  return top;
}

struct kymo_expr_value *kymo_plan_operate(struct kymo_plan_machine *machine,
                                          const struct kymo_plan_instruction *what,
                                          struct kymo_expr_value *top) {
  enum kymo_operation operation = (enum kymo_operation)operations[what->code];
  if (operation == KYMO_OP_NONE)
    return operate_here(machine, what, top);
  struct kymo_expr_value *first = top - (kymo_operands[operation] - 1);
  const char *wrong = kymo_operate(operation, first, first);
  bool goes_on = !wrong || operation == KYMO_OP_TEXT || kymo_plan_mark(machine, 10, "%s", wrong);
  return goes_on ? first : NULL;
}
