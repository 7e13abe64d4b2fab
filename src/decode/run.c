/* SPDX-License-Identifier: MIT */
/*
 * Runs programs. Every operation checks its own extent against the end, so positions never leave the packet;
 * zero-width iterations are charged to a budget.
 */
#include "decode/load.h"
#include "decode/program.h"
#include "decode/text.h"
#include "decode/walk.h"
#include <inttypes.h>
#include <stdio.h>

/* The mutable part of a run that has loops. */
struct loops {
  struct loop {
    uint64_t left, began;
  } stack[KYMO_WALK_DEPTH];
  unsigned depth;
};

__attribute__((noinline, cold)) static bool fail(struct kymo_run *run, enum kymo_decode_error what,
                                                 const struct kymo_op *op, uint64_t number) {
  run->error = what;
  run->node = op->node;
  run->number = number;
  return false;
}

/* A decode error in a field that is `op->offset` after run->at. */
static bool fail_ahead(struct kymo_run *run, enum kymo_decode_error what, const struct kymo_op *op) {
  run->at = op->offset < run->end - run->at ? run->at + op->offset : run->end;
  return fail(run, what, op, 0);
}

static uint64_t load_integer(const uint8_t *data, uint64_t at, const struct kymo_op *op) {
  uint64_t value = kymo_fast_bits(data, at, op->bits, op->is_big);
  if (op->is_reversed)
    value = kymo_bits_reverse(value, op->bits);
  return op->is_signed ? (uint64_t)kymo_sign_extend(value, op->bits) : value;
}

static void set_meaning(struct kymo_meaning *meaning, uint32_t roles, uint64_t value, unsigned bits) {
  meaning->present |= roles;
  if (roles & KYMO_ROLE_TIMESTAMP)
    meaning->clock = kymo_clock_update(meaning->clock, value, bits);
  for (; roles; roles &= roles - 1) {
    unsigned role = (unsigned)__builtin_ctz(roles);
    if (role >= KYMO_ROLE_COUNT)
      break;
    meaning->values[role] = value;
    meaning->widths[role] = (uint8_t)bits;
  }
}

/* Finds the first byte after the zero unit that ends a string; 0 if there is none before `end`. */
static uint64_t wide_string_end(const uint8_t *data, uint64_t at_bits, uint64_t end_bits,
                                unsigned unit_bits) {
  const uint8_t *from = data + at_bits / 8, *end = data + end_bits / 8;
  unsigned unit = unit_bits / 8;
  for (const uint8_t *p = from; (size_t)(end - p) >= unit && p <= end; p += unit) {
    uint8_t any = 0;
    for (unsigned i = 0; i < unit; i++)
      any |= p[i];
    if (!any)
      return (uint64_t)(p + unit - data) * 8;
  }
  return 0;
}

static bool run_string(struct kymo_run *run, const struct kymo_op *op) {
  const uint8_t *end = run->data + run->end / 8, *after;
  uint64_t to = 0;
  if (op->code == KYMO_OP_WIDE_STRING) {
    to = wide_string_end(run->data, run->at, run->end, op->bits);
  } else {
    after = kymo_string_end(run->data + run->at / 8, end);
    to = after <= end ? (uint64_t)(after - run->data) * 8 : 0;
  }
  if (to == 0)
    return fail(run, KYMO_DECODE_ERROR_STRING, op, 0);
  run->at = to;
  return true;
}

/* LEB128, at most 64 significant bits. Moves `at` after it. */
static bool read_varint(struct kymo_run *run, const struct kymo_op *op, uint64_t *value, unsigned *bits) {
  uint64_t sum = 0;
  unsigned shift = 0;
  for (;; shift += 7) {
    if (run->end - run->at < 8)
      return fail(run, KYMO_DECODE_ERROR_SHORT, op, 8);
    uint64_t byte = run->data[run->at / 8];
    run->at += 8;
    uint64_t low = byte & 0x7f;
    /* the tenth byte is only for bit 63: in signed numbers it repeats the sign */
    if (shift >= 70 || (shift == 63 && !(op->is_signed ? low == 0 || low == 0x7f : low == 1)))
      return fail(run, KYMO_DECODE_ERROR_VARINT, op, 0);
    if (shift < 64)
      sum |= low << shift;
    if (!(byte & 0x80))
      break;
  }
  shift += 7;
  if (op->is_signed && shift < 64)
    sum = (uint64_t)kymo_sign_extend(sum, shift);
  *value = sum;
  *bits = shift < 64 ? shift : 64;
  return true;
}

static bool run_varint(struct kymo_run *run, const struct kymo_op *op) {
  uint64_t value = 0;
  unsigned bits = 0;
  if (!read_varint(run, op, &value, &bits))
    return false;
  if (op->slot != KYMO_SLOT_NONE)
    run->slots[op->slot] = value;
  if (op->roles)
    set_meaning(run->meaning, op->roles, value, bits);
  return true;
}

static bool run_role(struct kymo_run *run, const struct kymo_op *op) {
  uint64_t at = run->at + op->offset;
  if (op->roles == KYMO_ROLE_UUID && op->bits == 0) {
    set_meaning(run->meaning, op->roles, at, 0);
    return true;
  }
  if (op->bits > run->end - at)
    return fail_ahead(run, KYMO_DECODE_ERROR_SHORT, op);
  set_meaning(run->meaning, op->roles, load_integer(run->data, at, op), op->bits);
  return true;
}

/* Whether a text of wide characters ends with a whole one, or ends earlier by a zero one. */
static bool is_whole(struct kymo_run *run, const struct kymo_op *op, uint64_t at, uint64_t size_bytes) {
  bool fits = size_bytes <= (run->end - at) / 8;
  if (fits &&
      (size_bytes % (op->bits / 8) == 0 || wide_string_end(run->data, at, at + size_bytes * 8, op->bits)))
    return true;
  return fail(run, fits ? KYMO_DECODE_ERROR_UNIT : KYMO_DECODE_ERROR_SHORT, op, size_bytes);
}

static inline bool run_sequence(struct kymo_run *run, const struct kymo_op *op) {
  uint64_t count = run->slots[op->slot], total;
  if (op->count) {
    uint64_t spent;
    if (__builtin_mul_overflow(count, op->count, &spent) || spent > run->budget)
      return fail(run, KYMO_DECODE_ERROR_EMPTY, op, count);
    run->budget -= spent;
  }
  uint64_t at = kymo_round_up(run->at, op->align);
  if (count > 0) {
    if (__builtin_mul_overflow(count, op->stride, &total))
      return fail(run, KYMO_DECODE_ERROR_COUNT, op, count);
    total -= op->stride - op->size;
    if (at > run->end || total > run->end - at)
      return fail(run, KYMO_DECODE_ERROR_COUNT, op, count);
    if (op->code == KYMO_OP_SEQUENCE && op->bits && !is_whole(run, op, at, count))
      return false;
    at += total;
  } else if (at > run->end) {
    return fail(run, KYMO_DECODE_ERROR_SHORT, op, 0);
  }
  run->at = at;
  return true;
}

static uint32_t choose(const struct kymo_op *op, uint64_t tag) {
  for (uint32_t i = 0; i < op->case_count; i++) {
    const struct kymo_case *choice = &op->cases[i];
    if (choice->is_signed ? (int64_t)tag >= (int64_t)choice->low && (int64_t)tag <= (int64_t)choice->high
                          : tag >= choice->low && tag <= choice->high)
      return choice->target;
  }
  return op->target;
}

/* Begins a loop; false if it is not run at all. */
static bool begin_loop(struct kymo_run *run, const struct kymo_op *op, struct loops *loops) {
  uint64_t count = op->slot != KYMO_SLOT_NONE ? run->slots[op->slot] : op->count;
  if (count == 0)
    return false;
  loops->stack[loops->depth++] = (struct loop){count, run->at};
  return true;
}

enum next { NEXT_BODY, NEXT_OUT, NEXT_FAIL };

static enum next repeat(struct kymo_run *run, const struct kymo_op *op, struct loops *loops) {
  struct loop *loop = &loops->stack[loops->depth - 1];
  if (run->at == loop->began) {
    if (run->budget == 0) {
      fail(run, KYMO_DECODE_ERROR_EMPTY, op, loop->left);
      return NEXT_FAIL;
    }
    run->budget--;
  }
  if (--loop->left == 0) {
    loops->depth--;
    return NEXT_OUT;
  }
  run->at = loop->began = kymo_round_up(run->at, op->align);
  if (run->at <= run->end)
    return NEXT_BODY;
  fail(run, KYMO_DECODE_ERROR_SHORT, op, 0);
  return NEXT_FAIL;
}

/* A segment that begins in a loop has no number. */
static inline void note(struct kymo_run *run, uint32_t segment) {
  if (segment != KYMO_SEGMENT_NONE)
    run->segments[segment] = run->at;
}

bool kymo_program_run(const struct kymo_program *program, struct kymo_run *run) {
  const struct kymo_op *op = program->ops;
  struct loops loops;
  loops.depth = 0;
  note(run, program->first_segment);
  for (;; op++) {
    if (op->offset > run->end - run->at)
      return fail_ahead(run, KYMO_DECODE_ERROR_SHORT, op);
    switch ((enum kymo_op_code)op->code) {
    case KYMO_OP_END: run->at += op->offset; return true;
    case KYMO_OP_SAVE:
      if (op->bits > run->end - run->at - op->offset)
        return fail_ahead(run, KYMO_DECODE_ERROR_SHORT, op);
      run->slots[op->slot] = load_integer(run->data, run->at + op->offset, op);
      continue;
    case KYMO_OP_ROLE:
      if (!run_role(run, op))
        return false;
      continue;
    case KYMO_OP_ORDER:
      if ((run->at + op->offset) & 7)
        return fail_ahead(run, KYMO_DECODE_ERROR_ORDER, op);
      continue;
    case KYMO_OP_WHOLE:
      if (!is_whole(run, op, run->at + op->offset, op->count))
        return false;
      continue;
    case KYMO_OP_SPEND:
      if (op->count > run->budget)
        return fail(run, KYMO_DECODE_ERROR_EMPTY, op, op->count);
      run->budget -= op->count;
      continue;
    case KYMO_OP_ALIGN:
      run->at = kymo_round_up(run->at + op->offset, op->align);
      if (run->at > run->end)
        return fail(run, KYMO_DECODE_ERROR_SHORT, op, 0);
      break;
    case KYMO_OP_STRING:
    case KYMO_OP_WIDE_STRING:
      run->at += op->offset;
      if (!run_string(run, op))
        return false;
      break;
    case KYMO_OP_VARINT:
      run->at += op->offset;
      if (!run_varint(run, op))
        return false;
      break;
    case KYMO_OP_COUNTED:
      run->slots[op->slot] = load_integer(run->data, run->at + op->offset - op->count_distance, op);
      run->at += op->offset;
      if (!run_sequence(run, op))
        return false;
      break;
    case KYMO_OP_SEQUENCE:
      run->at += op->offset;
      if (!run_sequence(run, op))
        return false;
      break;
    case KYMO_OP_LOOP:
      run->at += op->offset;
      if (begin_loop(run, op, &loops))
        continue; /* into the body */
      note(run, op->segment);
      op = program->ops + op->target - 1;
      continue;
    case KYMO_OP_REPEAT: {
      run->at += op->offset;
      enum next next = repeat(run, op, &loops);
      if (next == NEXT_FAIL)
        return false;
      if (next == NEXT_BODY) {
        op = program->ops + op->target - 1;
        continue;
      }
      break;
    }
    case KYMO_OP_SELECT: {
      run->at += op->offset;
      note(run, op->segment);
      op = program->ops + choose(op, run->slots[op->slot]) - 1;
      continue;
    }
    case KYMO_OP_GOTO:
      run->at += op->offset;
      note(run, op->segment);
      op = program->ops + op->target - 1;
      continue;
    case KYMO_OP_NO_CASE: return fail(run, KYMO_DECODE_ERROR_TAG, op, run->slots[op->node->selector_slot]);
    }
    note(run, op->segment);
  }
}

void kymo_decode_error_text(const struct kymo_run *run, char *out, size_t size) {
  const char *name = run->node && run->node->member ? run->node->member->name : NULL;
  const char *quote = name ? "'" : "", *field = name ? "field " : "a field";
  name = name ? name : "";
  switch (run->error) {
  case KYMO_DECODE_ERROR_SHORT:
    snprintf(out, size, "%s%s%s%s reaches beyond the end of the packet's content", field, quote, name, quote);
    break;
  case KYMO_DECODE_ERROR_ORDER:
    snprintf(out, size, "%s%s%s%s has another byte order than the bits before it in the same byte", field,
             quote, name, quote);
    break;
  case KYMO_DECODE_ERROR_STRING:
    snprintf(out, size, "%s%s%s%s: no end of string before the end of the packet's content", field, quote,
             name, quote);
    break;
  case KYMO_DECODE_ERROR_VARINT:
    snprintf(out, size, "%s%s%s%s: a variable-length integer has more than 64 bits", field, quote, name,
             quote);
    break;
  case KYMO_DECODE_ERROR_COUNT:
    snprintf(out, size, "%s%s%s%s: %" PRIu64 " elements do not fit the packet's content", field, quote, name,
             quote, run->number);
    break;
  case KYMO_DECODE_ERROR_UNIT:
    snprintf(out, size, "%s%s%s%s: %" PRIu64 " bytes are no whole number of characters", field, quote, name,
             quote, run->number);
    break;
  case KYMO_DECODE_ERROR_TAG:
    snprintf(out, size, "%s%s%s%s: no option of the variant has the tag %" PRIu64, field, quote, name, quote,
             run->number);
    break;
  case KYMO_DECODE_ERROR_EMPTY:
    snprintf(out, size, "%s%s%s%s: too many elements without bits (%" PRIu64 " more)", field, quote, name,
             quote, run->number);
    break;
  case KYMO_DECODE_ERROR_ID: snprintf(out, size, "no event class has the id %" PRIu64, run->number); break;
  case KYMO_DECODE_ERROR_NOTHING: snprintf(out, size, "an event without any bits"); break;
  case KYMO_DECODE_ERROR_HEADER:
    snprintf(out, size, "an event header of %" PRIu64 " bits", run->number);
    break;
  case KYMO_DECODE_ERROR_NONE: snprintf(out, size, "nothing is wrong"); break;
  }
}
