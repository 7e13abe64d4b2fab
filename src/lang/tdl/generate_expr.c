/* SPDX-License-Identifier: MIT */
/* Expressions → code that leaves one value on the stack. Operators except AND, OR, IF and sets are one
 * instruction each. */
#include "lang/tdl/generate.h"

static void emit(struct tdl_generator *gen, enum kymo_plan_code code) {
  kymo_plan_emit(gen->key, code, 0, 0, 0);
}

void kymo_tdl_emit_number(struct tdl_generator *gen, int64_t value) {
  kymo_plan_emit_number(gen->key, (uint64_t)value, false);
}

/* A number of any size that the tree can hold: durations go beyond 64 bits. */
static void emit_wide(struct tdl_generator *gen, struct kymo_wide value) {
  if (kymo_wide_fits(value)) {
    kymo_plan_emit_number(gen->key, value.low, value.high == 0);
    return;
  }
  struct kymo_wide high, rest;
  if (!kymo_wide_divide(value, kymo_wide_of_i64(INT64_C(1000000000000)), &high, &rest))
    return;
  emit_wide(gen, high);
  kymo_tdl_emit_number(gen, INT64_C(1000000000000));
  emit(gen, KYMO_DO_MULTIPLY);
  emit_wide(gen, rest);
  emit(gen, KYMO_DO_ADD);
}

static void emit_constant(struct tdl_generator *gen, const struct tdl_value *value) {
  if (value->type == TDL_BYTES)
    kymo_tdl_code(gen, KYMO_DO_TEXT, kymo_tdl_key_text(gen, value->bytes), 0);
  else
    emit_wide(gen, value->integer);
}

void kymo_tdl_emit_get(struct tdl_generator *gen, const struct tdl_slot *slot) {
  kymo_tdl_code(gen, KYMO_DO_GET, kymo_tdl_key_slot(gen, slot), 0);
}

/* Adds the distance of the machine's position from the nominal one. */
static void emit_shifted(struct tdl_generator *gen, enum kymo_plan_code code, int64_t shift) {
  emit(gen, code);
  if (shift == 0)
    return;
  kymo_tdl_emit_number(gen, shift);
  emit(gen, KYMO_DO_ADD);
}

void kymo_tdl_emit_here(struct tdl_generator *gen) { emit_shifted(gen, KYMO_DO_HERE, -gen->ahead); }

/* ---- references ---- */

static void emit_path(struct tdl_generator *gen, const struct tdl_expr *expr) {
  if (expr->reference.kind == TDL_REFERENCE_RECORD)
    kymo_tdl_code(gen, KYMO_DO_KEPT, kymo_tdl_kept(gen, expr->reference.record, expr->reference.slot), 0);
  else
    kymo_tdl_emit_get(gen, expr->reference.slot);
}

static void emit_size_of(struct tdl_generator *gen, const struct tdl_expr *expr) {
  if (expr->reference.kind == TDL_REFERENCE_RECORD) {
    emit_path(gen, expr);
    emit(gen, KYMO_DO_SIZE_OF);
    return;
  }
  const struct tdl_cell *cell = kymo_tdl_cell(gen, expr->reference.slot);
  kymo_tdl_code(gen, KYMO_DO_GET, cell->end, 0);
  kymo_tdl_code(gen, KYMO_DO_GET, cell->begin, 0);
  emit(gen, KYMO_DO_SUBTRACT);
}

static void emit_count_of(struct tdl_generator *gen, const struct tdl_expr *expr) {
  if (expr->reference.kind == TDL_REFERENCE_TABLE) {
    kymo_tdl_code(gen, KYMO_DO_COUNT_OF, expr->reference.table->index, 0);
  } else if (!gen->frame->record) {
    kymo_tdl_fail(gen->session, expr->at, "E42",
                  "elements of a prefix are counted in the records that have it: use COUNT OF there (LET)");
  } else {
    kymo_tdl_code(gen, KYMO_DO_LIST_COUNT, kymo_tdl_cell(gen, expr->reference.slot)->column, 0);
  }
}

static void emit_lookup(struct tdl_generator *gen, const struct tdl_expr *expr) {
  if (!expr->reference.table) {
    kymo_tdl_emit(gen, expr->operands[0]);
    kymo_tdl_code(gen, KYMO_DO_NAME_OF, expr->reference.token->index, 0);
    return;
  }
  if (expr->operands[1])
    kymo_tdl_emit(gen, expr->operands[1]);
  kymo_tdl_emit_whole(gen, expr->operands[0]);
  if (expr->operands[1])
    emit(gen, KYMO_DO_JOIN);
  kymo_tdl_code(gen, KYMO_DO_LOOKUP, expr->reference.table->index, 0);
}

/* ---- functions and operators ---- */

static void emit_call(struct tdl_generator *gen, const struct tdl_expr *expr) {
  static const uint16_t codes[] = {
      [TDL_BITS] = KYMO_DO_BITS,       [TDL_SIGNED] = KYMO_DO_SIGNED, [TDL_POWER] = KYMO_DO_POWER,
      [TDL_MIN] = KYMO_DO_MINIMUM,     [TDL_MAX] = KYMO_DO_MAXIMUM,   [TDL_DEFAULT] = KYMO_DO_DEFAULT,
      [TDL_PRESENT] = KYMO_DO_PRESENT, [TDL_TEXT] = KYMO_DO_TEXT_AT,  [TDL_ALIGN] = KYMO_DO_ALIGN_UP,
      [TDL_JOIN] = KYMO_DO_CONCAT,
  };
  bool folds = expr->function == TDL_MIN || expr->function == TDL_MAX || expr->function == TDL_JOIN;
  uint32_t count = 0;
  for (const struct tdl_expr *argument = expr->arguments; argument; argument = argument->next) {
    kymo_tdl_emit(gen, argument);
    if (folds && count++ > 0)
      emit(gen, codes[expr->function]);
  }
  if (!folds)
    emit(gen, codes[expr->function]);
}

/* a AND b, a OR b: b is evaluated only where it counts. */
static void emit_logic(struct tdl_generator *gen, const struct tdl_expr *expr) {
  bool is_and = expr->operation == TDL_AND;
  kymo_tdl_emit(gen, expr->operands[0]);
  uint32_t decided = kymo_tdl_code(gen, is_and ? KYMO_DO_JUMP_FALSE : KYMO_DO_JUMP_TRUE, 0, 0);
  kymo_tdl_emit(gen, expr->operands[1]);
  emit(gen, KYMO_DO_TRUTH);
  uint32_t end = kymo_tdl_code(gen, KYMO_DO_JUMP, 0, 0);
  kymo_tdl_aim(gen, decided);
  kymo_tdl_emit_number(gen, !is_and);
  kymo_tdl_aim(gen, end);
}

static void emit_choice(struct tdl_generator *gen, const struct tdl_expr *expr) {
  kymo_tdl_emit(gen, expr->operands[0]);
  uint32_t otherwise = kymo_tdl_code(gen, KYMO_DO_JUMP_FALSE, 0, 0);
  kymo_tdl_emit(gen, expr->operands[1]);
  uint32_t end = kymo_tdl_code(gen, KYMO_DO_JUMP, 0, 0);
  kymo_tdl_aim(gen, otherwise);
  kymo_tdl_emit(gen, expr->operands[2]);
  kymo_tdl_aim(gen, end);
}

/* [x] → [x truth] for one member. */
static void emit_member(struct tdl_generator *gen, const struct tdl_member *member) {
  emit(gen, KYMO_DO_DUP);
  kymo_tdl_emit(gen, member->low);
  if (member->high)
    kymo_tdl_emit(gen, member->high);
  emit(gen, member->high ? KYMO_DO_BETWEEN : KYMO_DO_EQUAL);
}

/* The jumps of all members that fit lead to one place: each leads to the next one's jump, the last one to the
 * end. */
void kymo_tdl_emit_in(struct tdl_generator *gen, const struct tdl_set *set) {
  if (!set->members) {
    kymo_tdl_code(gen, KYMO_DO_HAS_KEY, set->table->index, 0);
    return;
  }
  if (!set->members->next && !set->members->high) {
    kymo_tdl_emit(gen, set->members->low);
    emit(gen, KYMO_DO_EQUAL);
    return;
  }
  uint32_t found = KYMO_PLAN_NONE;
  for (const struct tdl_member *member = set->members; member; member = member->next) {
    emit_member(gen, member);
    uint32_t missed = kymo_tdl_code(gen, KYMO_DO_JUMP_FALSE, 0, 0);
    if (found != KYMO_PLAN_NONE)
      kymo_tdl_aim(gen, found);
    found = kymo_tdl_code(gen, KYMO_DO_JUMP, 0, 0);
    kymo_tdl_aim(gen, missed);
  }
  emit(gen, KYMO_DO_DROP);
  kymo_tdl_emit_number(gen, 0);
  uint32_t end = kymo_tdl_code(gen, KYMO_DO_JUMP, 0, 0);
  kymo_tdl_aim(gen, found);
  emit(gen, KYMO_DO_DROP);
  kymo_tdl_emit_number(gen, 1);
  kymo_tdl_aim(gen, end);
}

/* x NOT IN set is false for an absent x, as every comparison is (S8). */
static void emit_membership(struct tdl_generator *gen, const struct tdl_expr *expr) {
  uint32_t absent = KYMO_PLAN_NONE;
  if (!expr->set->members && expr->operands[1])
    kymo_tdl_emit(gen, expr->operands[1]);
  kymo_tdl_emit_whole(gen, expr->operands[0]);
  if (!expr->set->members && expr->operands[1])
    emit(gen, KYMO_DO_JOIN);
  if (expr->is_negated && kymo_tdl_may_be_absent(gen, expr->operands[0]) && expr->set->members) {
    emit(gen, KYMO_DO_DUP);
    emit(gen, KYMO_DO_PRESENT);
    absent = kymo_tdl_code(gen, KYMO_DO_JUMP_FALSE, 0, 0);
  }
  kymo_tdl_emit_in(gen, expr->set);
  if (expr->is_negated)
    emit(gen, KYMO_DO_FALSE);
  if (absent == KYMO_PLAN_NONE)
    return;
  uint32_t end = kymo_tdl_code(gen, KYMO_DO_JUMP, 0, 0);
  kymo_tdl_aim(gen, absent);
  emit(gen, KYMO_DO_DROP);
  kymo_tdl_emit_number(gen, 0);
  kymo_tdl_aim(gen, end);
}

/* Code of operators whose operands are all evaluated first; 0: none. */
static uint16_t operator_code(enum tdl_operation operation) {
  static const uint16_t codes[TDL_OR + 1] = {
      [TDL_NEGATE] = KYMO_DO_NEGATE,
      [TDL_INVERT] = KYMO_DO_COMPLEMENT,
      [TDL_ADD] = KYMO_DO_ADD,
      [TDL_SUBTRACT] = KYMO_DO_SUBTRACT,
      [TDL_BIT_OR] = KYMO_DO_OR,
      [TDL_BIT_XOR] = KYMO_DO_XOR,
      [TDL_MULTIPLY] = KYMO_DO_MULTIPLY,
      [TDL_DIVIDE] = KYMO_DO_DIVIDE,
      [TDL_REST] = KYMO_DO_REMAINDER,
      [TDL_SHIFT_LEFT] = KYMO_DO_SHIFT_LEFT,
      [TDL_SHIFT_RIGHT] = KYMO_DO_SHIFT_RIGHT,
      [TDL_BIT_AND] = KYMO_DO_AND,
      [TDL_EQUAL] = KYMO_DO_EQUAL,
      [TDL_UNEQUAL] = KYMO_DO_UNEQUAL,
      [TDL_LESS] = KYMO_DO_LESS,
      [TDL_LESS_EQUAL] = KYMO_DO_LESS_EQUAL,
      [TDL_GREATER] = KYMO_DO_GREATER,
      [TDL_GREATER_EQUAL] = KYMO_DO_GREATER_EQUAL,
      [TDL_NOT] = KYMO_DO_FALSE,
  };
  return operation <= TDL_OR ? codes[operation] : 0;
}

static void emit_operator(struct tdl_generator *gen, const struct tdl_expr *expr) {
  uint16_t code = operator_code(expr->operation);
  if (code == 0) {
    gen->failed = true; /* forms of filters, which no checked tree of TDL has */
    kymo_tdl_fail(gen->session, expr->at, "E43", "this is only for filters");
    return;
  }
  kymo_tdl_emit(gen, expr->operands[0]);
  if (expr->operands[1])
    kymo_tdl_emit(gen, expr->operands[1]);
  emit(gen, code);
}

void kymo_tdl_emit(struct tdl_generator *gen, const struct tdl_expr *expr) {
  switch (expr->operation) {
  case TDL_CONSTANT: emit_constant(gen, &expr->value); break;
  case TDL_PATH: emit_path(gen, expr); break;
  case TDL_VALUE: kymo_tdl_code(gen, KYMO_DO_GET, gen->value_slot, 0); break;
  case TDL_POSITION: emit_shifted(gen, KYMO_DO_POSITION, -gen->ahead); break;
  case TDL_REMAINING: emit_shifted(gen, KYMO_DO_REMAINING, gen->ahead); break;
  case TDL_FILE_SIZE: emit(gen, KYMO_DO_FILE_SIZE); break;
  case TDL_FILE_NUMBER: emit(gen, KYMO_DO_FILE_NUMBER); break;
  case TDL_SIZE_OF: emit_size_of(gen, expr); break;
  case TDL_COUNT_OF: emit_count_of(gen, expr); break;
  case TDL_LOOKUP: emit_lookup(gen, expr); break;
  case TDL_NUMBER_OF:
  case TDL_TEXT_OF:
    kymo_tdl_code(gen, KYMO_DO_FIELD, kymo_tdl_key_text(gen, expr->value.bytes),
                  expr->operation == TDL_NUMBER_OF ? KYMO_FIELD_NUMBER : KYMO_FIELD_TEXT);
    break;
  case TDL_CALL: emit_call(gen, expr); break;
  case TDL_IF: emit_choice(gen, expr); break;
  case TDL_AND:
  case TDL_OR: emit_logic(gen, expr); break;
  case TDL_IN: emit_membership(gen, expr); break;
  case TDL_IS_PRESENT:
    kymo_tdl_emit(gen, expr->operands[0]);
    emit(gen, KYMO_DO_PRESENT);
    if (expr->is_negated)
      emit(gen, KYMO_DO_FALSE);
    break;
  default: emit_operator(gen, expr);
  }
}

void kymo_tdl_emit_whole(struct tdl_generator *gen, const struct tdl_expr *expr) {
  kymo_tdl_emit(gen, expr);
  if (kymo_tdl_may_be_out_of_range(gen, expr))
    emit(gen, KYMO_DO_RANGE);
}

uint32_t kymo_tdl_block(struct tdl_generator *gen, const struct tdl_expr *expr) {
  if (!expr)
    return KYMO_PLAN_NONE;
  kymo_plan_block_begin(gen->key);
  kymo_tdl_emit_whole(gen, expr);
  return kymo_plan_block_end(gen->key);
}
