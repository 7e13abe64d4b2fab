/* SPDX-License-Identifier: MIT */
/* Compiling the fast path of a kind from the plan. */
#include "base/list.h"
#include "plan/fast_op.h"
#include <stdlib.h>

/* ---- compiling ---- */

struct making {
  const struct kymo_plan *plan;
  struct kymo_fast_path *fast;
  uint32_t capacity, limit, depth;       /* of the operations: space, at most; of the stack */
  uint16_t sources[KYMO_PLAN_STACK + 1]; /* registers that hold the values of the stack */
  uint32_t at, guard;                    /* the current instruction; those before `guard` may be jumped
                                         * over */
  uint32_t *places;                      /* index of the operation of each instruction of the block */
  uint32_t base;                         /* of the current part in the record, if that is constant */
  bool has_base;
};

static struct kymo_fast_op *add(struct making *making, struct kymo_fast_op op) {
  if (making->fast->op_count == making->limit)
    return NULL;
  making->fast->ops[making->fast->op_count] = op;
  return &making->fast->ops[making->fast->op_count++];
}

static uint16_t top(const struct making *making, uint32_t below) {
  return making->sources[making->depth - 1 - below];
}

/* Pushes a value that is in a register already. */
static bool push_register(struct making *making, uint16_t source) {
  making->sources[making->depth++] = source;
  return true;
}

static bool push(struct making *making, struct kymo_fast_op op, enum kymo_fast_sort sort) {
  op.to = (uint16_t)(KYMO_FAST_SLOTS + making->depth);
  making->sources[making->depth++] = op.to;
  making->fast->sorts[op.to] = sort;
  return add(making, op) != NULL;
}

/* Where two branches leave one value, each stores it; elsewhere no operation is needed. */
static bool push_number(struct making *making, int64_t number) {
  struct kymo_fast_path *fast = making->fast;
  uint16_t place = (uint16_t)(KYMO_FAST_SLOTS + KYMO_PLAN_STACK + fast->constant_count);
  if (making->at < making->guard || fast->constant_count == KYMO_FAST_CONSTANTS)
    return push(making, (struct kymo_fast_op){.code = FAST_NUMBER, .number = number}, KYMO_FAST_NUMBER);
  fast->constants[fast->constant_count++] = number;
  fast->sorts[place] = KYMO_FAST_NUMBER;
  return push_register(making, place);
}

static bool push_slot(struct making *making, uint32_t slot) {
  enum kymo_fast_sort sort = making->fast->sorts[slot];
  if (sort == KYMO_FAST_UNSET)
    return false;
  if (making->at >= making->guard)
    return push_register(making, (uint16_t)slot);
  return push(making, (struct kymo_fast_op){.code = FAST_COPY, .a = (uint16_t)slot}, sort);
}

/* The operation that made the value stores it in the slot itself, unless the value comes from two branches
 * or from elsewhere. */
static bool make_set(struct making *making, uint32_t slot) {
  uint16_t from = top(making, 0);
  struct kymo_fast_op *last = making->fast->op_count ? &making->fast->ops[making->fast->op_count - 1] : NULL;
  for (uint32_t i = 0; i + 1 < making->depth; i++)
    if (making->sources[i] == slot)
      return false; /* the slot's old value is still needed */
  making->fast->sorts[slot] = making->fast->sorts[from];
  making->fast->places[slot].bytes = 0;
  making->depth--;
  if (last && making->at > making->guard && from >= KYMO_FAST_SLOTS &&
      from < KYMO_FAST_SLOTS + KYMO_PLAN_STACK && last->to == from) {
    last->to = (uint16_t)slot;
    return true;
  }
  return add(making, (struct kymo_fast_op){.code = FAST_COPY, .to = (uint16_t)slot, .a = from}) != NULL;
}

static enum kymo_fast_sort sort_of(const struct making *making, uint32_t below) {
  return making->fast->sorts[top(making, below)];
}

static uint8_t load_flags(bool is_signed, uint32_t order) {
  return (uint8_t)(is_signed | (order == KYMO_PLAN_BIG) << 1 | (order == KYMO_PLAN_CURRENT) << 2);
}

static bool is_whole(uint32_t bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

static bool make_loads(struct making *making, const struct kymo_plan_part *part) {
  if (!add(making, (struct kymo_fast_op){.code = FAST_FIXED, .number = part->fixed}))
    return false;
  for (uint32_t i = 0; i < part->load_count; i++) {
    const struct kymo_plan_load *load = &making->plan->loads[part->first_load + i];
    if (!is_whole(load->bits) || load->offset > UINT16_MAX)
      return false;
    struct kymo_fast_op op = {.code = FAST_LOAD,
                              .x = load_flags(load->is_signed, load->order),
                              .to = (uint16_t)load->slot,
                              .a = (uint16_t)(load->bits / 8),
                              .b = (uint16_t)load->offset};
    making->fast->sorts[load->slot] = KYMO_FAST_NUMBER;
    if (making->has_base)
      making->fast->places[load->slot] =
          (struct kymo_fast_place){making->base + load->offset, (uint8_t)op.a, op.x};
    if (!add(making, op))
      return false;
  }
  making->base += part->fixed;
  return true;
}

static bool make_bytes(struct making *making, const struct kymo_plan_type *type) {
  bool is_cut = type->encoding == KYMO_TYPE_STRING;
  if (type->extra)
    return false;
  if (type->size == KYMO_SIZE_TO_END)
    return push(making, (struct kymo_fast_op){.code = FAST_BYTES_TO_END, .x = is_cut}, KYMO_FAST_BYTES);
  if (type->size != KYMO_SIZE_POPPED)
    return push(making, (struct kymo_fast_op){.code = FAST_BYTES, .x = is_cut, .number = type->size},
                KYMO_FAST_BYTES);
  if (sort_of(making, 0) != KYMO_FAST_NUMBER)
    return false;
  uint16_t size = top(making, 0);
  making->depth--;
  return push(making, (struct kymo_fast_op){.code = FAST_BYTES_OF, .x = is_cut, .a = size}, KYMO_FAST_BYTES);
}

static bool make_load(struct making *making, const struct kymo_plan_type *type) {
  bool is_number = type->encoding == KYMO_TYPE_UNSIGNED || type->encoding == KYMO_TYPE_SIGNED;
  bool is_float = type->encoding == KYMO_TYPE_FLOAT && (type->size == 32 || type->size == 64);
  struct kymo_fast_op op = {.code = FAST_TAKE,
                            .x = load_flags(type->encoding == KYMO_TYPE_SIGNED, type->order),
                            .a = (uint16_t)(type->size / 8)};
  if (is_number && is_whole(type->size))
    return push(making, op, KYMO_FAST_NUMBER);
  op.b = 1; /* a float */
  if (is_float)
    return push(making, op, KYMO_FAST_FLOAT);
  bool are_bytes = type->encoding == KYMO_TYPE_BYTES || type->encoding == KYMO_TYPE_STRING ||
                   type->encoding == KYMO_TYPE_STRING_WHOLE;
  return are_bytes && make_bytes(making, type);
}

static bool make_binary(struct making *making, enum kymo_fast_code code) {
  if (sort_of(making, 0) != KYMO_FAST_NUMBER || sort_of(making, 1) != KYMO_FAST_NUMBER)
    return false;
  struct kymo_fast_op op = {.code = (uint8_t)code, .a = top(making, 1), .b = top(making, 0)};
  making->depth -= 2;
  return push(making, op, KYMO_FAST_NUMBER);
}

static bool make_time(struct making *making, const struct kymo_plan_instruction *what) {
  uint32_t mode = what->b & KYMO_TIME_MODE;
  bool has_unit = what->b & KYMO_TIME_UNITS;
  if ((mode != KYMO_TIME_POINT && mode != KYMO_TIME_ADD) || what->b & KYMO_TIME_PER ||
      what->a >= KYMO_FAST_CLOCKS || making->plan->clocks[what->a].epoch_days ||
      sort_of(making, has_unit) != KYMO_FAST_NUMBER || (has_unit && sort_of(making, 0) != KYMO_FAST_NUMBER))
    return false;
  struct kymo_fast_op op = {.code = FAST_TIME,
                            .x = (uint8_t)what->a,
                            .a = top(making, has_unit),
                            .b = top(making, 0),
                            .number = what->b};
  making->depth -= 1u + has_unit;
  return push(making, op, KYMO_FAST_NUMBER);
}

/* Pops a number for an operation without result. */
static bool make_taking(struct making *making, struct kymo_fast_op op) {
  if (sort_of(making, 0) != KYMO_FAST_NUMBER)
    return false;
  op.a = top(making, 0);
  making->depth--;
  return add(making, op) != NULL;
}

static bool make_jump(struct making *making, const struct kymo_plan_instruction *what) {
  uint8_t code = what->code == KYMO_DO_JUMP         ? FAST_JUMP
                 : what->code == KYMO_DO_JUMP_FALSE ? FAST_JUMP_FALSE
                                                    : FAST_JUMP_TRUE;
  making->guard = what->a > making->guard ? what->a : making->guard;
  struct kymo_fast_op op = {.code = code, .number = what->a};
  return code == FAST_JUMP ? add(making, op) != NULL : make_taking(making, op);
}

/* Instructions that may be jumped over, since their only effect is a number on the stack. */
static bool make_plain(struct making *making, const struct kymo_plan_instruction *what, bool *is_plain) {
  int64_t number = (int64_t)kymo_plan_wide(what->b, what->c);
  *is_plain = true;
  switch ((enum kymo_plan_code)what->code) {
  case KYMO_DO_NUMBER: return (!what->a || number >= 0) && push_number(making, number);
  case KYMO_DO_KEPT:
    return push(making, (struct kymo_fast_op){.code = FAST_KEPT, .number = what->a}, KYMO_FAST_NUMBER);
  case KYMO_DO_GET: return push_slot(making, what->a);
  case KYMO_DO_DROP: making->depth--; return true;
  case KYMO_DO_RANGE: return true;
  case KYMO_DO_EQUAL: return make_binary(making, FAST_EQUAL);
  case KYMO_DO_UNEQUAL: return make_binary(making, FAST_UNEQUAL);
  case KYMO_DO_LESS: return make_binary(making, FAST_LESS);
  case KYMO_DO_LESS_EQUAL: return make_binary(making, FAST_LESS_EQUAL);
  case KYMO_DO_GREATER: return make_binary(making, FAST_GREATER);
  case KYMO_DO_GREATER_EQUAL: return make_binary(making, FAST_GREATER_EQUAL);
  case KYMO_DO_ADD: return make_binary(making, FAST_ADD);
  case KYMO_DO_SUBTRACT: return make_binary(making, FAST_SUBTRACT);
  case KYMO_DO_MULTIPLY: return make_binary(making, FAST_MULTIPLY);
  case KYMO_DO_AND: return make_binary(making, FAST_AND);
  case KYMO_DO_OR: return make_binary(making, FAST_OR);
  case KYMO_DO_XOR: return make_binary(making, FAST_XOR);
  case KYMO_DO_FALSE:
  case KYMO_DO_TRUTH: {
    struct kymo_fast_op op = {.code = what->code == KYMO_DO_FALSE ? FAST_FALSE : FAST_TRUTH,
                              .a = top(making, 0)};
    bool is_number = sort_of(making, 0) == KYMO_FAST_NUMBER;
    making->depth--;
    return is_number && push(making, op, KYMO_FAST_NUMBER);
  }
  case KYMO_DO_JUMP:
  case KYMO_DO_JUMP_FALSE:
  case KYMO_DO_JUMP_TRUE: return make_jump(making, what);
  default: *is_plain = false; return true;
  }
}

/* Instructions that may not be jumped over. */
static bool make_item(struct making *making, const struct kymo_plan_instruction *what) {
  switch ((enum kymo_plan_code)what->code) {
  case KYMO_DO_SET: return make_set(making, what->a);
  case KYMO_DO_LOAD: return make_load(making, &making->plan->types[what->a]);
  case KYMO_DO_FILL:
    return what->a == 8 && !what->b && make_taking(making, (struct kymo_fast_op){.code = FAST_SKIP_OF});
  case KYMO_DO_LENGTH: return make_taking(making, (struct kymo_fast_op){.code = FAST_LENGTH});
  case KYMO_DO_CHECK: return what->a >= 4 && make_taking(making, (struct kymo_fast_op){.code = FAST_CHECK});
  case KYMO_DO_TIME: return make_time(making, what);
  default: return false;
  }
}

/* In jumped-over code depths differ from what comes before: the verifier has recorded the depth at each
 * target, and the register of a value follows from its depth, so a value from two branches has one
 * register. */
static bool make_code(struct making *making, const struct kymo_plan_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    const struct kymo_plan_instruction *what = &making->plan->code[block->first + i];
    bool is_plain;
    making->at = block->first + i;
    making->places[i] = making->fast->op_count;
    if (i > 0 && what[-1].code == KYMO_DO_JUMP)
      making->depth--; /* the other branch to the same value */
    if (!make_plain(making, what, &is_plain))
      return false;
    if (!is_plain && (block->first + i < making->guard || !make_item(making, what)))
      return false;
  }
  making->places[block->count] = making->fast->op_count;
  for (uint32_t i = making->places[0]; i < making->fast->op_count; i++) {
    struct kymo_fast_op *op = &making->fast->ops[i];
    if (op->code >= FAST_JUMP && op->code <= FAST_JUMP_TRUE)
      op->b = (uint16_t)making->places[op->number - block->first];
  }
  return making->depth == 0;
}

/* Unconditional jumps only as `IF … THEN x ELSE y`: both branches leave one value, which the code between
 * them relies on. */
static bool has_plain_jumps(const struct kymo_plan *plan, const struct kymo_plan_block *block) {
  for (uint32_t i = 1; i + 1 < block->count; i++) {
    const struct kymo_plan_instruction *what = &plan->code[block->first + i];
    bool is_value = what[1].code == KYMO_DO_NUMBER;
    if (what->code == KYMO_DO_JUMP && (!is_value || what->a != block->first + i + 2))
      return false;
  }
  return true;
}

static bool make_part(struct making *making, const struct kymo_plan_part *part) {
  static const struct kymo_plan_block none = {0, 0};
  const struct kymo_plan *plan = making->plan;
  const struct kymo_plan_block *block = part->block == KYMO_PLAN_NONE ? &none : &plan->blocks[part->block];
  if (block->count > 4096 || part->load_count > KYMO_FAST_SLOTS)
    return false;
  struct kymo_fast_path *fast = making->fast;
  making->limit = fast->op_count + block->count + part->load_count + 1;
  making->places = calloc((size_t)block->count + 1, sizeof *making->places);
  making->guard = 0;
  bool ok = KYMO_LIST_RESERVE(fast->ops, making->capacity, making->limit) && making->places &&
            make_loads(making, part) && has_plain_jumps(plan, block) && make_code(making, block);
  making->has_base &= block->count == 0;
  free(making->places);
  return ok;
}

static void note_reads(struct kymo_fast_path *fast) {
  for (uint32_t i = 0; i < fast->op_count; i++) {
    const struct kymo_fast_op *op = &fast->ops[i];
    bool is_other = op->code == FAST_LOAD || op->code == FAST_TAKE ||
                    op->code == FAST_JUMP; /* a and b are no registers */
    fast->is_read[op->a] |= !is_other;
    fast->is_read[op->b] |= !is_other && (op->code < FAST_JUMP || op->code > FAST_JUMP_TRUE);
  }
}

struct kymo_fast_path *kymo_fast_path_new(const struct kymo_plan *plan, uint32_t index) {
  const struct kymo_plan_kind *kind = &plan->kinds[index];
  bool is_plain = kind->when == KYMO_PLAN_NONE && kind->align == KYMO_PLAN_NONE &&
                  kind->class_ == KYMO_CLASS_EVENT && kind->keep_count == 0 &&
                  kind->holds == KYMO_PLAN_NONE && kind->from_table == KYMO_PLAN_NONE &&
                  kind->slot_count <= KYMO_FAST_SLOTS;
  struct kymo_fast_path *fast = is_plain ? calloc(1, sizeof *fast) : NULL;
  struct making making = {.plan = plan, .fast = fast, .has_base = true};
  if (!fast)
    return NULL;
  fast->kind = index;
  if ((kind->prefix == KYMO_PLAN_NONE || make_part(&making, &plan->prefixes[kind->prefix].part)) &&
      make_part(&making, &kind->part)) {
    note_reads(fast);
    return fast;
  }
  kymo_fast_path_free(fast);
  return NULL;
}

void kymo_fast_path_free(struct kymo_fast_path *fast) {
  if (fast)
    free(fast->ops);
  free(fast);
}

uint32_t kymo_fast_path_kind(const struct kymo_plan_machine *machine) {
  const struct kymo_plan_state *state = &machine->state;
  const struct kymo_plan_frame *frame = state->depth ? &state->frames[state->depth - 1] : NULL;
  if (!frame || state->is_over || frame->box || frame->kind != KYMO_FRAME_REGION || frame->is_single ||
      frame->has_times || frame->until != KYMO_PLAN_NONE)
    return KYMO_PLAN_NONE;
  const struct kymo_plan_dispatch *dispatch = &machine->plan->dispatches[frame->dispatch];
  return dispatch->count == 1 && dispatch->slot == KYMO_PLAN_NONE
             ? machine->plan->kind_refs[dispatch->first].kind
             : KYMO_PLAN_NONE;
}
