/* SPDX-License-Identifier: MIT */
/* Expressions over values: exact in 128 bits; what is absent stays absent, and is false. */
#include "key/machine.h"
#include <string.h>

bool kymo_value_is_true(const struct kymo_key_value *value) {
  switch (value->sort) {
  case KYMO_SORT_NUMBER: return !kymo_wide_is_zero(value->n);
  case KYMO_SORT_FLOAT: return value->f != 0;
  default: return false;
  }
}

static bool is_equal_number_float(struct kymo_wide n, double f) {
  return kymo_wide_to_double(n) == f;
}

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

static const char *const overflow = "a number beyond 128 bits", *const no_number = "an operand that is no whole number";

/* 0 … 63, else false. */
static bool is_shift(struct kymo_wide n, unsigned *bits) {
  *bits = (unsigned)n.low;
  return n.high == 0 && n.low <= 63;
}

/* NULL, or what is wrong. */
static const char *binary(enum kymo_key_code code, struct kymo_wide x, struct kymo_wide y, struct kymo_wide *out) {
  unsigned bits;
  switch (code) {
  case KYMO_DO_ADD: return kymo_wide_add(x, y, out) ? NULL : overflow;
  case KYMO_DO_SUBTRACT: return kymo_wide_subtract(x, y, out) ? NULL : overflow;
  case KYMO_DO_MULTIPLY: return kymo_wide_multiply(x, y, out) ? NULL : overflow;
  case KYMO_DO_DIVIDE:
    return kymo_wide_divide(x, y, out, NULL) ? NULL : kymo_wide_is_zero(y) ? "a division by zero" : overflow;
  case KYMO_DO_REMAINDER:
    return kymo_wide_divide(x, y, NULL, out) ? NULL : kymo_wide_is_zero(y) ? "a division by zero" : overflow;
  case KYMO_DO_SHIFT_LEFT:
    return !is_shift(y, &bits) ? "a shift outside 0 to 63" : kymo_wide_shift_left(x, bits, out) ? NULL : overflow;
  case KYMO_DO_SHIFT_RIGHT:
    if (!is_shift(y, &bits))
      return "a shift outside 0 to 63";
    *out = kymo_wide_shift_right(x, bits);
    return NULL;
  case KYMO_DO_AND: *out = kymo_wide_and(x, y); return NULL;
  case KYMO_DO_OR: *out = kymo_wide_or(x, y); return NULL;
  case KYMO_DO_XOR: *out = kymo_wide_xor(x, y); return NULL;
  case KYMO_DO_MINIMUM: *out = kymo_wide_compare(x, y) < 0 ? x : y; return NULL;
  case KYMO_DO_MAXIMUM: *out = kymo_wide_compare(x, y) > 0 ? x : y; return NULL;
  default: return "an operation that there is not";
  }
}

/* a to the power n, 0 ≤ n. */
static const char *power(struct kymo_wide a, struct kymo_wide n, struct kymo_wide *out) {
  struct kymo_wide result = kymo_wide_of_u64(1);
  if (n.high < 0)
    return "a negative exponent";
  bool is_small = a.high == 0 && a.low <= 1;
  if (is_small || (a.high == -1 && a.low == UINT64_MAX)) { /* 0, 1, -1 */
    bool is_odd = n.low & 1;
    *out = kymo_wide_is_zero(n) ? result : is_small ? a : is_odd ? a : result;
    return NULL;
  }
  if (n.high != 0 || n.low > 127)
    return overflow;
  for (uint64_t i = 0; i < n.low; i++)
    if (!kymo_wide_multiply(result, a, &result))
      return overflow;
  *out = result;
  return NULL;
}

/* The n (0 … 64) bits from `low` (0 … 127). */
static const char *bits(const struct kymo_key_value *operands, struct kymo_wide *out) {
  struct kymo_wide low = operands[1].n, n = operands[2].n;
  if (low.high != 0 || low.low > 127 || n.high != 0 || n.low > 64)
    return "bits() of a place outside 0 to 127, or of more than 64 bits";
  struct kymo_wide shifted = kymo_wide_shift_right(operands[0].n, (unsigned)low.low);
  *out = kymo_wide_of_u64(n.low == 0 ? 0 : shifted.low & (UINT64_MAX >> (64 - n.low)));
  return NULL;
}

static const char *sign(struct kymo_wide x, struct kymo_wide n, struct kymo_wide *out) {
  if (n.high != 0 || n.low < 1 || n.low > 64)
    return "signed() of a width outside 1 to 64";
  uint64_t mask = UINT64_MAX >> (64 - n.low), top = UINT64_C(1) << (n.low - 1);
  *out = kymo_wide_of_i64((int64_t)(((x.low & mask) ^ top) - top));
  return NULL;
}

static const char *align_up(struct kymo_wide x, struct kymo_wide n, struct kymo_wide *out) {
  struct kymo_wide rest, gap;
  if (n.high < 0 || kymo_wide_is_zero(n))
    return "align() to a multiple of no positive number";
  if (!kymo_wide_divide(x, n, NULL, &rest))
    return overflow;
  if (kymo_wide_is_zero(rest)) {
    *out = x;
    return NULL;
  }
  gap = rest.high < 0 ? kymo_wide_of_u64(0) : n; /* truncated toward zero is up, for negative ones */
  return kymo_wide_subtract(x, rest, &x) && kymo_wide_add(x, gap, out) ? NULL : overflow;
}

static const char *function(enum kymo_key_code code, struct kymo_key_value *x, struct kymo_wide *out) {
  switch (code) {
  case KYMO_DO_BITS: return bits(x, out);
  case KYMO_DO_SIGNED: return sign(x[0].n, x[1].n, out);
  case KYMO_DO_POWER: return power(x[0].n, x[1].n, out);
  case KYMO_DO_ALIGN_UP: return align_up(x[0].n, x[1].n, out);
  case KYMO_DO_NEGATE: return kymo_wide_subtract(kymo_wide_of_u64(0), x[0].n, out) ? NULL : overflow;
  case KYMO_DO_COMPLEMENT: *out = kymo_wide_not(x[0].n); return NULL;
  case KYMO_DO_RANGE: *out = x[0].n; return kymo_wide_fits(x[0].n) ? NULL : "a number beyond -2^63 to 2^64-1";
  default: return binary(code, x[0].n, x[1].n, out);
  }
}

/* `count` operands, the first of which becomes the result. */
static bool arithmetic(struct kymo_key_machine *machine, enum kymo_key_code code, struct kymo_key_value *x, unsigned count) {
  const char *wrong = NULL;
  if (code == KYMO_DO_RANGE && x->sort != KYMO_SORT_NUMBER)
    return true;
  for (unsigned i = 0; i < count; i++)
    if (x[i].sort == KYMO_SORT_ABSENT) {
      x->sort = KYMO_SORT_ABSENT;
      return true;
    }
  for (unsigned i = 0; i < count && !wrong; i++)
    wrong = x[i].sort == KYMO_SORT_NUMBER ? NULL : no_number;
  wrong = wrong ? wrong : function(code, x, &x->n);
  x->sort = wrong ? KYMO_SORT_ABSENT : KYMO_SORT_NUMBER;
  return !wrong || kymo_key_mark(machine, 10, "%s", wrong);
}

/* ---- the rest ---- */

static void set_truth(struct kymo_key_value *value, bool truth) {
  *value = kymo_value_u64(truth);
}

bool kymo_token_find(const struct kymo_key *key, uint32_t token, const struct kymo_wide *n, uint32_t *item) {
  const struct kymo_key_token *list = &key->tokens[token];
  for (uint32_t i = 0; i < list->count; i++) {
    const struct kymo_key_token_item *one = &key->token_items[list->first + i];
    uint64_t low = kymo_key_wide(one->low_low, one->low_high), high = kymo_key_wide(one->high_low, one->high_high);
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
  memcpy(at, is_bytes ? (const void *)&x->size : (const void *)&x->n, is_bytes ? sizeof x->size : sizeof x->n);
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
static bool plain(const struct kymo_key_machine *machine, const struct kymo_key_instruction *what, struct kymo_key_value **top) {
  struct kymo_key_value *one = *top, *two = one - 1;
  uint32_t item;
  switch ((enum kymo_key_code)what->code) {
  case KYMO_DO_EQUAL: case KYMO_DO_UNEQUAL: case KYMO_DO_LESS: case KYMO_DO_LESS_EQUAL: case KYMO_DO_GREATER:
  case KYMO_DO_GREATER_EQUAL:
    set_truth(two, compare((enum kymo_key_code)what->code, two, one));
    *top = two;
    return true;
  case KYMO_DO_BETWEEN: set_truth(one - 2, is_between(one - 2)); *top = one - 2; return true;
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
  case KYMO_DO_TEXT_AT: text_at(two); *top = two; return true;
  default: return false;
  }
}

struct kymo_key_value *kymo_key_operate(struct kymo_key_machine *machine, const struct kymo_key_instruction *what,
                                        struct kymo_key_value *top) {
  if (plain(machine, what, &top))
    return top;
  if (what->code == KYMO_DO_JOIN)
    return join(machine, top - 1) ? top - 1 : NULL;
  unsigned count = what->code == KYMO_DO_BITS ? 3
                   : what->code == KYMO_DO_NEGATE || what->code == KYMO_DO_COMPLEMENT || what->code == KYMO_DO_RANGE ? 1 : 2;
  struct kymo_key_value *first = top - (count - 1);
  return arithmetic(machine, (enum kymo_key_code)what->code, first, count) ? first : NULL;
}
