/* SPDX-License-Identifier: MIT */
/* Expressions over values: exact in 128 bits; what is absent stays absent, and is false. */
#include "expr/arithmetic.h"
#include "key/machine.h"
#include <string.h>

bool kymo_value_is_true(const struct kymo_key_value *value) {
  switch (value->sort) {
  case KYMO_SORT_NUMBER: return !kymo_wide_is_zero(value->n);
  case KYMO_SORT_FLOAT: return value->f != 0;
  default: return false;
  }
}

static bool is_equal_number_float(struct kymo_wide n, double f) { return kymo_wide_to_double(n) == f; }

bool kymo_value_is_equal(const struct kymo_key_value *a, const struct kymo_key_value *b) {
  if (a->sort == KYMO_SORT_FLOAT && b->sort == KYMO_SORT_NUMBER)
    return is_equal_number_float(b->n, a->f);
  if (a->sort == KYMO_SORT_NUMBER && b->sort == KYMO_SORT_FLOAT)
    return is_equal_number_float(a->n, b->f);
  if (a->sort != b->sort)
    return false;
  switch (a->sort) {
  case KYMO_SORT_NUMBER: return kymo_wide_compare(a->n, b->n) == 0;
  case KYMO_SORT_FLOAT: return a->f == b->f;
  case KYMO_SORT_BYTES: return a->size == b->size && (a->size == 0 || memcmp(a->p, b->p, a->size) == 0);
  case KYMO_SORT_ABSENT: break;
  }
  return false;
}

/* Whether both can be held against each other as `code` says, and how it ends. */
static bool compare(enum kymo_key_code code, const struct kymo_key_value *a, const struct kymo_key_value *b) {
  if (a->sort == KYMO_SORT_ABSENT || b->sort == KYMO_SORT_ABSENT)
    return false;
  if (code == KYMO_DO_EQUAL)
    return kymo_value_is_equal(a, b);
  bool are_bytes = a->sort == KYMO_SORT_BYTES || b->sort == KYMO_SORT_BYTES;
  if (code == KYMO_DO_UNEQUAL)
    return are_bytes && a->sort != b->sort ? false : !kymo_value_is_equal(a, b);
  if (are_bytes)
    return false;
  int order;
  if (a->sort == KYMO_SORT_NUMBER && b->sort == KYMO_SORT_NUMBER) {
    order = kymo_wide_compare(a->n, b->n);
  } else {
    double x = a->sort == KYMO_SORT_FLOAT ? a->f : kymo_wide_to_double(a->n);
    double y = b->sort == KYMO_SORT_FLOAT ? b->f : kymo_wide_to_double(b->n);
    if (x != x || y != y)
      return false;
    order = x < y ? -1 : x > y;
  }
  switch (code) {
  case KYMO_DO_LESS: return order < 0;
  case KYMO_DO_LESS_EQUAL: return order <= 0;
  case KYMO_DO_GREATER: return order > 0;
  default: return order >= 0;
  }
}

/* ---- arithmetic ---- */

static const char *function(enum kymo_key_code code, struct kymo_key_value *x, struct kymo_wide *out) {
  static const uint8_t operations[KYMO_DO_COUNT] = {
      [KYMO_DO_ADD] = KYMO_CALC_ADD,
      [KYMO_DO_SUBTRACT] = KYMO_CALC_SUBTRACT,
      [KYMO_DO_MULTIPLY] = KYMO_CALC_MULTIPLY,
      [KYMO_DO_DIVIDE] = KYMO_CALC_DIVIDE,
      [KYMO_DO_REMAINDER] = KYMO_CALC_REMAINDER,
      [KYMO_DO_SHIFT_LEFT] = KYMO_CALC_SHIFT_LEFT,
      [KYMO_DO_SHIFT_RIGHT] = KYMO_CALC_SHIFT_RIGHT,
      [KYMO_DO_AND] = KYMO_CALC_AND,
      [KYMO_DO_OR] = KYMO_CALC_OR,
      [KYMO_DO_XOR] = KYMO_CALC_XOR,
      [KYMO_DO_NEGATE] = KYMO_CALC_NEGATE,
      [KYMO_DO_COMPLEMENT] = KYMO_CALC_COMPLEMENT,
      [KYMO_DO_BITS] = KYMO_CALC_BITS,
      [KYMO_DO_SIGNED] = KYMO_CALC_SIGNED,
      [KYMO_DO_POWER] = KYMO_CALC_POWER,
      [KYMO_DO_MINIMUM] = KYMO_CALC_MINIMUM,
      [KYMO_DO_MAXIMUM] = KYMO_CALC_MAXIMUM,
      [KYMO_DO_ALIGN_UP] = KYMO_CALC_ALIGN_UP,
  };
  const struct kymo_wide numbers[] = {x[0].n,
                                      code == KYMO_DO_NEGATE || code == KYMO_DO_COMPLEMENT ? x[0].n : x[1].n,
                                      code == KYMO_DO_BITS ? x[2].n : x[0].n};
  return kymo_calculate((enum kymo_arithmetic)operations[code], numbers, out);
}

/* `count` operands, the first of which becomes the result. */
static bool arithmetic(struct kymo_key_machine *machine, enum kymo_key_code code, struct kymo_key_value *x,
                       unsigned count) {
  const char *wrong = NULL;
  if (code == KYMO_DO_RANGE && x->sort != KYMO_SORT_NUMBER)
    return true;
  if (code == KYMO_DO_RANGE)
    wrong = kymo_wide_fits(x->n) ? NULL : "a number beyond -2^63 to 2^64-1";
  for (unsigned i = 0; i < count; i++)
    if (x[i].sort == KYMO_SORT_ABSENT) {
      x->sort = KYMO_SORT_ABSENT;
      return true;
    }
  for (unsigned i = 0; i < count && !wrong; i++)
    wrong = x[i].sort == KYMO_SORT_NUMBER ? NULL : "an operand that is no whole number";
  if (!wrong && code != KYMO_DO_RANGE)
    wrong = function(code, x, &x->n);
  x->sort = wrong ? KYMO_SORT_ABSENT : KYMO_SORT_NUMBER;
  return !wrong || kymo_key_mark(machine, 10, "%s", wrong);
}

/* ---- the rest ---- */

static void set_truth(struct kymo_key_value *value, bool truth) { *value = kymo_value_u64(truth); }

bool kymo_token_find(const struct kymo_key *key, uint32_t token, const struct kymo_wide *n, uint32_t *item) {
  const struct kymo_key_token *list = &key->tokens[token];
  for (uint32_t i = 0; i < list->count; i++) {
    const struct kymo_key_token_item *one = &key->token_items[list->first + i];
    uint64_t low = kymo_key_wide(one->low_low, one->low_high),
             high = kymo_key_wide(one->high_low, one->high_high);
    struct kymo_wide from = one->is_unsigned ? kymo_wide_of_u64(low) : kymo_wide_of_i64((int64_t)low);
    struct kymo_wide to = one->is_unsigned ? kymo_wide_of_u64(high) : kymo_wide_of_i64((int64_t)high);
    if (kymo_wide_compare(from, *n) <= 0 && kymo_wide_compare(*n, to) <= 0) {
      *item = i;
      return true;
    }
  }
  return false;
}

static void text_at(struct kymo_key_value *x) {
  const struct kymo_key_value *offset = x + 1;
  bool is_there = x->sort == KYMO_SORT_BYTES && offset->sort == KYMO_SORT_NUMBER && offset->n.high == 0 &&
                  offset->n.low <= x->size;
  if (!is_there) {
    x->sort = KYMO_SORT_ABSENT;
    return;
  }
  x->p += offset->n.low;
  x->size -= (uint32_t)offset->n.low;
  const uint8_t *end = x->size ? memchr(x->p, 0, x->size) : NULL;
  if (end)
    x->size = (uint32_t)(end - x->p);
}

static size_t part_size(const struct kymo_key_value *x) {
  return 1 + (x->sort == KYMO_SORT_BYTES ? sizeof x->size + x->size : sizeof x->n);
}

static uint8_t *put_part(uint8_t *at, const struct kymo_key_value *x) {
  bool is_bytes = x->sort == KYMO_SORT_BYTES;
  *at++ = is_bytes;
  memcpy(at, is_bytes ? (const void *)&x->size : (const void *)&x->n,
         is_bytes ? sizeof x->size : sizeof x->n);
  at += is_bytes ? sizeof x->size : sizeof x->n;
  if (is_bytes && x->size)
    memcpy(at, x->p, x->size);
  return at + (is_bytes ? x->size : 0);
}

/* Two keys as bytes that tell them apart from all others. False after raising. */
static bool join(struct kymo_key_machine *machine, struct kymo_key_value *x) {
  bool is_key[2];
  for (unsigned i = 0; i < 2; i++)
    is_key[i] = x[i].sort == KYMO_SORT_NUMBER || x[i].sort == KYMO_SORT_BYTES;
  size_t size = is_key[0] && is_key[1] ? part_size(&x[0]) + part_size(&x[1]) : 0;
  if (size == 0 || size > UINT32_MAX) {
    x->sort = KYMO_SORT_ABSENT;
    return true;
  }
  uint8_t *bytes = kymo_key_work(machine, size);
  if (!bytes)
    return false;
  put_part(put_part(bytes, &x[0]), &x[1]);
  *x = kymo_value_bytes(bytes, (uint32_t)size);
  return true;
}

static void size_of(struct kymo_key_value *x) {
  if (x->sort == KYMO_SORT_BYTES)
    *x = kymo_value_u64(x->size);
  else
    x->sort = KYMO_SORT_ABSENT;
}

static bool is_between(const struct kymo_key_value *x) {
  return compare(KYMO_DO_GREATER_EQUAL, x, x + 1) && compare(KYMO_DO_LESS_EQUAL, x, x + 2);
}

/* Operations that raise nothing. False if it is none of them. */
static bool plain(const struct kymo_key_machine *machine, const struct kymo_key_instruction *what,
                  struct kymo_key_value **top) {
  struct kymo_key_value *one = *top, *two = one - 1;
  uint32_t item;
  switch ((enum kymo_key_code)what->code) {
  case KYMO_DO_EQUAL:
  case KYMO_DO_UNEQUAL:
  case KYMO_DO_LESS:
  case KYMO_DO_LESS_EQUAL:
  case KYMO_DO_GREATER:
  case KYMO_DO_GREATER_EQUAL:
    set_truth(two, compare((enum kymo_key_code)what->code, two, one));
    *top = two;
    return true;
  case KYMO_DO_BETWEEN:
    set_truth(one - 2, is_between(one - 2));
    *top = one - 2;
    return true;
  case KYMO_DO_FALSE: set_truth(one, !kymo_value_is_true(one)); return true;
  case KYMO_DO_TRUTH: set_truth(one, kymo_value_is_true(one)); return true;
  case KYMO_DO_PRESENT: set_truth(one, one->sort != KYMO_SORT_ABSENT); return true;
  case KYMO_DO_KNOWN:
    set_truth(one, one->sort == KYMO_SORT_NUMBER && kymo_token_find(machine->key, what->a, &one->n, &item));
    return true;
  case KYMO_DO_SIZE_OF: size_of(one); return true;
  case KYMO_DO_DEFAULT:
    if (two->sort == KYMO_SORT_ABSENT)
      *two = *one;
    *top = two;
    return true;
  case KYMO_DO_ABSENT_IF:
    if (kymo_value_is_true(one))
      two->sort = KYMO_SORT_ABSENT;
    *top = two;
    return true;
  case KYMO_DO_TEXT_AT:
    text_at(two);
    *top = two;
    return true;
  default: return false;
  }
}

struct kymo_key_value *kymo_key_operate(struct kymo_key_machine *machine,
                                        const struct kymo_key_instruction *what, struct kymo_key_value *top) {
  if (plain(machine, what, &top))
    return top;
  if (what->code == KYMO_DO_JOIN)
    return join(machine, top - 1) ? top - 1 : NULL;
  unsigned count =
      what->code == KYMO_DO_BITS                                                                        ? 3
      : what->code == KYMO_DO_NEGATE || what->code == KYMO_DO_COMPLEMENT || what->code == KYMO_DO_RANGE ? 1
                                                                                                        : 2;
  struct kymo_key_value *first = top - (count - 1);
  return arithmetic(machine, (enum kymo_key_code)what->code, first, count) ? first : NULL;
}
