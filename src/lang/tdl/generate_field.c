/* SPDX-License-Identifier: MIT */
/*
 * Fields and LETs → code: the raw value is pushed (or is in its slot already, loaded at a constant offset),
 * attributes are applied in the order of S19, and the result is stored where it is needed: in its slot, or in
 * a delivered slot or list.
 */
#include "lang/tdl/generate.h"
#include "base/strbuf.h"

static void emit(struct tdl_generator *gen, enum kymo_plan_code code) {
  kymo_plan_emit(gen->key, code, 0, 0, 0);
}

static bool is_list(const struct tdl_cell *cell) { return cell->slot->repeats > 0; }

bool kymo_tdl_is_delivered(const struct tdl_cell *cell) {
  const struct tdl_slot *slot = cell->slot;
  bool is_stamp = slot->role == TDL_ROLE_ACQUISITION && cell->options && cell->options->is_time;
  return slot->name && !slot->is_parameter && !is_stamp && cell->options;
}

static bool has_checks(const struct tdl_attributes *attributes) {
  return attributes->equals || attributes->in || (attributes->token && attributes->token->or_error) ||
         attributes->time.mode != TDL_TIME_NONE;
}

bool kymo_tdl_is_idle(const struct tdl_generator *gen, const struct tdl_item *item) {
  const struct tdl_cell *cell = kymo_tdl_cell(gen, item->slot);
  return !cell->is_used && !cell->is_measured && !kymo_tdl_is_delivered(cell) &&
         !has_checks(&item->field->attributes);
}

/* ---- the raw value ---- */

static void emit_size(struct tdl_generator *gen, const struct tdl_item *item, const struct tdl_type *type) {
  switch (type->kind) {
  case TDL_TYPE_BYTES:
  case TDL_TYPE_STRING:
  case TDL_TYPE_TEXT_NUMBER:
    if (type->size_form == TDL_SIZE_BYTES) {
      kymo_tdl_emit_whole(gen, type->size);
    } else if (type->size_form == TDL_SIZE_COUNTED) {
      kymo_tdl_emit_load(gen, item, type->element, type->element->order);
    } else {
      kymo_tdl_emit_get(gen, item->size_slot);
      if (item->size_plus != 0) {
        kymo_tdl_emit_number(gen, item->size_plus);
        emit(gen, KYMO_DO_ADD);
      }
    }
    break;
  default: kymo_tdl_emit_whole(gen, type->bits);
  }
}

void kymo_tdl_emit_load(struct tdl_generator *gen, const struct tdl_item *item, const struct tdl_type *type,
                        enum tdl_order order) {
  uint32_t index = kymo_tdl_type(gen, type, order);
  const struct kymo_plan_type *made = kymo_plan_item(gen->key, KYMO_SECTION_TYPE, index);
  if (made && made->size == KYMO_SIZE_POPPED)
    emit_size(gen, item, type);
  kymo_tdl_code(gen, KYMO_DO_LOAD, index, 0);
}

/* ---- checks, before the value is changed ---- */

/* "NAME is not WHAT", where WHAT is the description's own text. */
static uint32_t complaint(struct tdl_generator *gen, const struct tdl_item *item, const char *is_not,
                          uint32_t at, uint32_t length) {
  struct kymo_strbuf text = {0};
  kymo_strbuf_printf(&text, "%s %s ", item->name.word ? item->name.word->text : "a field", is_not);
  if (at <= gen->session->common.length && length <= gen->session->common.length - at)
    kymo_strbuf_add(&text, gen->session->common.text + at, length);
  gen->failed |= text.failed;
  uint32_t index = kymo_plan_add_text(gen->key, text.text ? text.text : "", text.length);
  kymo_strbuf_free(&text);
  return index;
}

/* [x ok] → x: the error shows the expected value, x, and where x begins. */
static void emit_found(struct tdl_generator *gen, uint32_t error, uint32_t text) {
  kymo_plan_emit(gen->key, KYMO_DO_CHECK, error, text,
                 (uint32_t)(gen->since_begin < UINT32_MAX ? gen->since_begin + 1 : 1));
}

/* [x] → x */
static void emit_checks(struct tdl_generator *gen, const struct tdl_item *item) {
  const struct tdl_attributes *attributes = &item->field->attributes;
  uint32_t error = gen->frame->record ? 4 : 3;
  if (gen->is_replay)
    return;
  if (attributes->equals) {
    emit(gen, KYMO_DO_DUP);
    kymo_tdl_emit(gen, attributes->equals);
    emit(gen, KYMO_DO_EQUAL);
    emit_found(gen, error,
               complaint(gen, item, "is not", attributes->equals->at, attributes->equals->length));
  }
  if (attributes->in) {
    emit(gen, KYMO_DO_DUP);
    kymo_tdl_emit_in(gen, attributes->in);
    emit_found(gen, error, complaint(gen, item, "is not in", attributes->in->at, attributes->in->length));
  }
}

/* [x] → x: ABSENT WHEN, AS. */
static void emit_changes(struct tdl_generator *gen, const struct tdl_item *item) {
  const struct tdl_attributes *attributes = &item->field->attributes;
  if (attributes->absent) {
    emit(gen, KYMO_DO_DUP);
    kymo_tdl_emit(gen, attributes->absent);
    emit(gen, KYMO_DO_EQUAL);
    emit(gen, KYMO_DO_ABSENT_IF);
  }
  if (!attributes->as)
    return;
  gen->value_slot = kymo_tdl_key_slot(gen, item->slot);
  gen->value_range = kymo_tdl_type_range(gen, item->field->type);
  kymo_tdl_code(gen, KYMO_DO_SET, gen->value_slot, 0);
  kymo_tdl_emit_whole(gen, attributes->as);
}

/* [x] → x: R5, unless x is absent. */
static void emit_known(struct tdl_generator *gen, const struct tdl_item *item, bool may_be_absent) {
  const struct tdl_token_list *token = item->field->attributes.token;
  uint32_t skip = 0;
  if (!token || !token->or_error || gen->is_replay)
    return;
  if (may_be_absent) {
    emit(gen, KYMO_DO_DUP);
    emit(gen, KYMO_DO_PRESENT);
    skip = kymo_tdl_code(gen, KYMO_DO_JUMP_FALSE, 0, 0);
  }
  emit(gen, KYMO_DO_DUP);
  kymo_tdl_code(gen, KYMO_DO_KNOWN, token->index, 0);
  emit_found(gen, 5,
             complaint(gen, item, "is none of", item->field->attributes.token_name.at,
                       item->field->attributes.token_name.length));
  if (may_be_absent)
    kymo_tdl_aim(gen, skip);
}

/* ---- times ---- */

static bool is_add(const struct tdl_item *item) {
  return item && item->field && item->field->attributes.time.mode == TDL_TIME_ADD;
}

/* Whether this time is the record's: that of ACQUISITION, or else the first one (S23). */
static bool is_stamp(struct tdl_generator *gen, const struct tdl_item *item) {
  const struct tdl_record *record = gen->frame->record;
  enum tdl_time_mode mode = item->field->attributes.time.mode;
  if (item->slot->role == TDL_ROLE_ACQUISITION || mode == TDL_TIME_NONE)
    return mode != TDL_TIME_NONE;
  bool is_time = mode == TDL_TIME_POINT || mode == TDL_TIME_DISTANCE || mode == TDL_TIME_LOW;
  return is_time && !gen->frame->has_time && !(record && record->roles[TDL_ROLE_ACQUISITION]);
}

/* [x] → ns */
static void emit_time(struct tdl_generator *gen, const struct tdl_item *item) {
  static const uint8_t modes[] = {
      [TDL_TIME_POINT] = KYMO_TIME_POINT, [TDL_TIME_DISTANCE] = KYMO_TIME_DISTANCE,
      [TDL_TIME_ADD] = KYMO_TIME_ADD,     [TDL_TIME_LOW] = KYMO_TIME_LOW,
      [TDL_TIME_BASE] = KYMO_TIME_BASE,   [TDL_TIME_UNTIL] = KYMO_TIME_UNTIL,
      [TDL_TIME_SPAN] = KYMO_TIME_SPAN,
  };
  const struct tdl_time *time = &item->field->attributes.time;
  uint32_t flags = modes[time->mode];
  if (time->unit) {
    kymo_tdl_emit_whole(gen, time->unit);
    flags |= time->unit->type == TDL_DURATION ? KYMO_TIME_UNIT : KYMO_TIME_TICKS;
  } else if (time->rate) {
    kymo_tdl_emit_whole(gen, time->rate);
    flags |= KYMO_TIME_RATE;
  }
  if (time->per) {
    kymo_tdl_emit_get(gen, time->per);
    flags |= KYMO_TIME_PER;
  }
  if (time->mode != TDL_TIME_ADD) {
    gen->last_time = (struct tdl_item *)item;
    gen->last_is_stamp = is_stamp(gen, item);
    gen->frame->has_time |= gen->last_is_stamp;
  }
  if (gen->last_is_stamp)
    flags |= KYMO_TIME_IS_ACQUISITION;
  if (kymo_tdl_may_be_negative(gen, item))
    flags |= KYMO_TIME_IS_SIGNED;
  kymo_plan_emit(gen->key, KYMO_DO_TIME, time->clock->index, flags, time->low_bits);
}

/* ---- where values go ---- */

static const struct tdl_option *option_of(struct tdl_generator *gen, const struct tdl_item *item,
                                          uint32_t *index) {
  const struct tdl_option *option = kymo_tdl_cell(gen, item->slot)->options;
  *index = item->option;
  for (uint32_t i = 0; option && i < item->option; i++)
    option = option->next;
  return option;
}

/* [x] → : to the slot or list that is delivered. */
static void emit_delivery(struct tdl_generator *gen, const struct tdl_item *item) {
  struct tdl_cell *cell = kymo_tdl_cell(gen, item->slot);
  uint32_t index;
  const struct tdl_option *option = option_of(gen, item, &index);
  bool is_later =
      is_list(cell) && !gen->frame->record; /* what a prefix has is appended when its kind is known */
  if (!option || !kymo_tdl_is_delivered(cell) || is_later)
    emit(gen, KYMO_DO_DROP);
  else if (is_list(cell))
    kymo_tdl_code(gen, KYMO_DO_APPEND, cell->column, index);
  else
    kymo_tdl_code(gen, KYMO_DO_SET, option->slot, 0);
}

/* [x] → x: to its own slot, if anything reads that. */
static void emit_keeping(struct tdl_generator *gen, const struct tdl_item *item) {
  if (!kymo_tdl_cell(gen, item->slot)->is_used)
    return;
  emit(gen, KYMO_DO_DUP);
  kymo_tdl_code(gen, KYMO_DO_SET, kymo_tdl_key_slot(gen, item->slot), 0);
}

/* [x] → : a field with a time. What ADD makes is the time of the field that it adds to. */
static void emit_moment(struct tdl_generator *gen, const struct tdl_item *item) {
  const struct tdl_item *whole = is_add(item) ? gen->last_time : item;
  bool is_open = whole && is_list(kymo_tdl_cell(gen, whole->slot)) && is_add(item->next);
  emit_keeping(gen, item);
  if (is_add(item) && kymo_tdl_is_delivered(kymo_tdl_cell(gen, item->slot))) {
    emit(gen, KYMO_DO_DUP);
    emit_delivery(gen, item);
  }
  emit_time(gen, item);
  if (!whole || is_open)
    emit(gen, KYMO_DO_DROP);
  else
    emit_delivery(gen, whole);
}

/* [x] → : any other. */
static void emit_plain(struct tdl_generator *gen, const struct tdl_item *item) {
  struct tdl_cell *cell = kymo_tdl_cell(gen, item->slot);
  uint32_t main = kymo_tdl_key_slot(gen, item->slot), index;
  const struct tdl_option *option = option_of(gen, item, &index);
  bool is_same = option && !is_list(cell) && option->slot == main;
  if (!kymo_tdl_is_delivered(cell) || is_same) {
    bool is_wanted = cell->is_used || kymo_tdl_is_delivered(cell);
    kymo_tdl_code(gen, is_wanted ? KYMO_DO_SET : KYMO_DO_DROP, is_wanted ? main : 0, 0);
    return;
  }
  emit_keeping(gen, item);
  if (option && option->is_time) { /* a LET that is a duration, in picoseconds */
    kymo_tdl_emit_number(gen, 1000);
    emit(gen, KYMO_DO_DIVIDE);
  }
  emit_delivery(gen, item);
}

/* ---- lengths and losses ---- */

static void emit_own_length(struct tdl_generator *gen, const struct tdl_item *item) {
  kymo_tdl_emit_get(gen, item->slot);
  if (item->field->attributes.length.plus == 0)
    return;
  kymo_tdl_emit_number(gen, item->field->attributes.length.plus);
  emit(gen, KYMO_DO_ADD);
}

static void emit_length(struct tdl_generator *gen, const struct tdl_item *item) {
  const struct tdl_length *length = &item->field->attributes.length;
  if (length->kind == TDL_LENGTH_OF_RECORD) {
    emit_own_length(gen, item);
    kymo_tdl_code(gen, length->is_check ? KYMO_DO_LENGTH_CHECK : KYMO_DO_LENGTH,
                  length->is_check ? 0 : (uint32_t)gen->ahead, 0);
  } else if (length->kind == TDL_LENGTH_OF_PREVIOUS) {
    emit(gen, KYMO_DO_PREVIOUS);
    emit(gen, KYMO_DO_PRESENT);
    uint32_t first = kymo_tdl_code(gen, KYMO_DO_JUMP_FALSE, 0, 0);
    emit_own_length(gen, item);
    emit(gen, KYMO_DO_PREVIOUS);
    emit(gen, KYMO_DO_EQUAL);
    static const char text[] = "the record before has another length";
    kymo_tdl_code(gen, KYMO_DO_CHECK, 4, kymo_plan_add_text(gen->key, text, sizeof text - 1));
    kymo_tdl_aim(gen, first);
  }
}

/* [x] → : all that follows the raw value. */
static void emit_rest(struct tdl_generator *gen, struct tdl_item *item) {
  const struct tdl_attributes *attributes = &item->field->attributes;
  emit_known(gen, item, kymo_tdl_cell(gen, item->slot)->may_be_absent);
  if (attributes->time.mode == TDL_TIME_NONE) {
    emit_plain(gen, item);
  } else if (gen->is_replay) {
    emit_keeping(gen, item); /* clocks have moved already */
    emit(gen, KYMO_DO_DROP);
  } else {
    emit_moment(gen, item);
  }
  if (gen->is_replay)
    return;
  emit_length(gen, item);
  if (item->slot->role == TDL_ROLE_LOST) {
    kymo_tdl_emit_get(gen, item->slot);
    emit(gen, KYMO_DO_LOST);
  }
}

/* ---- fields ---- */

static void emit_mark(struct tdl_generator *gen, uint32_t slot) {
  kymo_tdl_emit_here(gen);
  kymo_tdl_code(gen, KYMO_DO_SET, slot, 0);
}

static void emit_typed(struct tdl_generator *gen, struct tdl_item *item, const struct tdl_type *type) {
  if (type->kind == TDL_TYPE_ARRAY) {
    kymo_tdl_emit_whole(gen, type->count);
    uint32_t loop = kymo_plan_emit(gen->key, KYMO_DO_LOOP, 0, KYMO_LOOP_TIMES, KYMO_PLAN_REPEAT_LIMIT);
    emit_typed(gen, item, type->element);
    kymo_tdl_code(gen, KYMO_DO_TURN, loop, 0);
    kymo_tdl_aim(gen, loop);
    return;
  }
  kymo_tdl_emit_load(gen, item, type, item->field->order);
  gen->since_begin = type->fixed_bits > 0 ? type->fixed_bits : 0;
  emit_checks(gen, item);
  emit_changes(gen, item);
  emit_rest(gen, item);
}

static void emit_skip(struct tdl_generator *gen, const struct tdl_item *item) {
  int64_t bits = item->field->type->fixed_bits;
  kymo_tdl_emit_number(gen, bits % 8 == 0 ? bits / 8 : bits);
  kymo_tdl_code(gen, KYMO_DO_FILL, bits % 8 == 0 ? 8 : 1, 0);
}

/* A value that was loaded already, at its constant offset, to its slot. */
static void emit_loaded(struct tdl_generator *gen, struct tdl_item *item, int64_t size) {
  const struct tdl_attributes *attributes = &item->field->attributes;
  struct tdl_cell *cell = kymo_tdl_cell(gen, item->slot);
  uint32_t main = kymo_tdl_key_slot(gen, item->slot), index;
  const struct tdl_option *option = option_of(gen, item, &index);
  bool is_elsewhere = kymo_tdl_is_delivered(cell) && (is_list(cell) || !option || option->slot != main);
  if (cell->is_measured)
    emit_mark(gen, cell->begin);
  gen->since_begin = gen->ahead * 8;
  gen->ahead -= size;
  if (cell->is_measured)
    emit_mark(gen, cell->end);
  if (kymo_tdl_is_idle(gen, item))
    return;
  if (has_checks(attributes) || attributes->absent || attributes->as || is_elsewhere) {
    kymo_tdl_code(gen, KYMO_DO_GET, main, 0);
    emit_checks(gen, item);
    emit_changes(gen, item);
    emit_rest(gen, item);
    return;
  }
  emit_length(gen, item);
  if (item->slot->role == TDL_ROLE_LOST) {
    kymo_tdl_emit_get(gen, item->slot);
    emit(gen, KYMO_DO_LOST);
  }
}

void kymo_tdl_emit_field(struct tdl_generator *gen, struct tdl_item *item) {
  struct tdl_cell *cell = kymo_tdl_cell(gen, item->slot);
  const struct tdl_expr *where = item->field->attributes.where;
  if (gen->is_fixed && !where) {
    emit_loaded(gen, item, item->field->type->fixed_bits / 8);
    return;
  }
  if (kymo_tdl_is_idle(gen, item) && (where || item->field->type->fixed_bits >= 0)) {
    if (!where)
      emit_skip(gen, item);
    return;
  }
  if (where) {
    kymo_tdl_emit_whole(gen, where);
    emit(gen, KYMO_DO_AT);
  }
  int64_t ahead = gen->ahead;
  gen->ahead = where ? 0 : ahead;
  if (cell->is_measured)
    emit_mark(gen, cell->begin);
  emit_typed(gen, item, item->field->type);
  if (cell->is_measured)
    emit_mark(gen, cell->end);
  if (where)
    emit(gen, KYMO_DO_BACK);
  gen->ahead = ahead;
}

void kymo_tdl_emit_let(struct tdl_generator *gen, struct tdl_item *item) {
  if (kymo_tdl_is_idle(gen, item))
    return;
  kymo_tdl_emit_whole(gen, item->expr);
  gen->since_begin = 0;
  emit_rest(gen, item);
}

/* ---- checksums ---- */

void kymo_tdl_emit_checksum(struct tdl_generator *gen, const struct tdl_item *item) {
  static const uint8_t algorithms[] = {
      [TDL_SUM8] = KYMO_SUM8,          [TDL_SUM16] = KYMO_SUM16, [TDL_SUM32] = KYMO_SUM32,
      [TDL_XOR8] = KYMO_XOR8,          [TDL_CRC8] = KYMO_CRC8,   [TDL_CRC16CCITT] = KYMO_CRC16_CCITT,
      [TDL_CRC16ARC] = KYMO_CRC16_ARC, [TDL_CRC32] = KYMO_CRC32, [TDL_CRC32C] = KYMO_CRC32C,
      [TDL_ADLER32] = KYMO_ADLER32,
  };
  const struct tdl_checksum *sum = &item->field->attributes.checksum;
  const struct tdl_cell *own = kymo_tdl_cell(gen, item->slot);
  kymo_tdl_emit_get(gen, item->slot);
  emit(gen, KYMO_DO_PRESENT);
  uint32_t absent = kymo_tdl_code(gen, KYMO_DO_JUMP_FALSE, 0, 0);
  if (sum->is_record) {
    emit(gen, KYMO_DO_START);
    emit(gen, gen->frame->has_length ? KYMO_DO_END : KYMO_DO_HERE);
  } else {
    kymo_tdl_code(gen, KYMO_DO_GET, kymo_tdl_cell(gen, sum->from_slot)->begin, 0);
    kymo_tdl_code(gen, KYMO_DO_GET, kymo_tdl_cell(gen, sum->to_slot)->end, 0);
  }
  kymo_tdl_code(gen, KYMO_DO_GET, own->begin, 0);
  kymo_tdl_code(gen, KYMO_DO_GET, own->end, 0);
  kymo_plan_emit(gen->key, KYMO_DO_CHECKSUM,
                 algorithms[sum->algorithm] | (sum->has_seed ? KYMO_CHECKSUM_SEEDED : 0), (uint32_t)sum->seed,
                 (uint32_t)(sum->seed >> 32));
  kymo_tdl_emit_get(gen, item->slot);
  kymo_tdl_code(gen, KYMO_DO_EXPECT, 4, complaint(gen, item, "is not the", sum->name.at, sum->name.length));
  kymo_tdl_aim(gen, absent);
}
