/* SPDX-License-Identifier: MIT */
/* Items → code, in the order of the text. */
#include "lang/tdl/generate.h"
#include <string.h>

static void emit(struct tdl_generator *gen, enum kymo_plan_code code) {
  kymo_plan_emit(gen->key, code, 0, 0, 0);
}

/* ---- checksums that wait ---- */

static void wait_for(struct tdl_generator *gen, struct tdl_item *item) {
  bool is_record = item->field->attributes.checksum.is_record;
  struct tdl_sum **list = is_record ? &gen->frame->pending : &gen->pending;
  struct tdl_sum *pending = kymo_lang_new(gen->session, 1, sizeof *pending);
  if (!pending) {
    gen->failed = true;
    return;
  }
  *pending = (struct tdl_sum){.item = item};
  while (*list)
    list = &(*list)->next;
  *list = pending;
}

void kymo_tdl_emit_pending(struct tdl_generator *gen, struct tdl_sum **pending) {
  struct kymo_tdl_span here = gen->origin;
  for (struct tdl_sum *each = *pending; each; each = each->next) {
    kymo_tdl_come_from(gen, (struct kymo_tdl_span){each->item->at, each->item->length});
    kymo_tdl_emit_checksum(gen, each->item);
  }
  if (*pending)
    kymo_tdl_come_from(gen, here);
  *pending = NULL;
}

/* ---- groups ---- */

enum kymo_plan_method kymo_tdl_method(enum tdl_transform transform) {
  static const uint8_t methods[] = {
      [TDL_TRANSFORM_NONE] = KYMO_METHOD_PLAIN,
      [TDL_ZLIB] = KYMO_METHOD_ZLIB,
      [TDL_LZ4] = KYMO_METHOD_LZ4,
      [TDL_ZSTD] = KYMO_METHOD_ZSTD,
      [TDL_XOR] = KYMO_METHOD_XOR,
  };
  return (enum kymo_plan_method)methods[transform];
}

static void emit_transform(struct tdl_generator *gen, const struct tdl_item *item) {
  if (item->transform == TDL_TRANSFORM_NONE)
    return;
  if (item->transform == TDL_XOR)
    kymo_tdl_emit_whole(gen, item->key);
  kymo_tdl_code(gen, KYMO_DO_AFTER, kymo_tdl_method(item->transform), 0);
}

static void emit_use(struct tdl_generator *gen, struct tdl_item *item) {
  const struct tdl_expr *argument = item->arguments;
  for (uint32_t i = 0; i < item->argument_count && argument; i++, argument = argument->next) {
    if (!kymo_tdl_cell(gen, item->parameters[i])->is_used)
      continue;
    kymo_tdl_emit_whole(gen, argument);
    kymo_tdl_code(gen, KYMO_DO_SET, kymo_tdl_key_slot(gen, item->parameters[i]), 0);
  }
  if (!item->within) {
    kymo_tdl_emit_items(gen, item->items);
    return;
  }
  struct tdl_sum *outer = gen->pending;
  gen->pending = NULL;
  kymo_tdl_emit_whole(gen, item->within);
  emit(gen, KYMO_DO_ENTER);
  emit_transform(gen, item);
  kymo_tdl_emit_items(gen, item->items);
  kymo_tdl_emit_pending(gen, &gen->pending);
  emit(gen, KYMO_DO_LEAVE);
  gen->pending = outer;
}

/* ---- filler ---- */

static int64_t up_to(int64_t position, uint64_t step) {
  if (step == 0 || step > INT32_MAX)
    return -1;
  return (int64_t)((step - (uint64_t)position % step) % step);
}

int64_t kymo_tdl_filler_size(const struct tdl_item *item, int64_t position) {
  uint64_t value;
  if (item->has_fill || !kymo_tdl_constant(item->expr, &value) || value > INT32_MAX)
    return -1;
  switch (item->filler) {
  case TDL_FILLER_BYTES: return (int64_t)value;
  case TDL_FILLER_BITS: return value % 8 == 0 ? (int64_t)value / 8 : -1;
  case TDL_FILLER_ALIGN: return position < 0 ? -1 : up_to(position, value);
  default: return position < 0 || (int64_t)value < position ? -1 : (int64_t)value - position;
  }
}

/* FILLER n BITS = number: the bits are one number. */
static void emit_filled_bits(struct tdl_generator *gen, const struct tdl_item *item) {
  struct tdl_type type = {.kind = TDL_TYPE_UNSIGNED, .bits = item->expr};
  static const char text[] = "the filler is not what it should be";
  enum tdl_order order = gen->tree->order == TDL_ORDER_NONE ? TDL_LITTLE : gen->tree->order;
  kymo_tdl_emit_load(gen, item, &type, order);
  kymo_plan_emit_number(gen->key, item->fill, true);
  emit(gen, KYMO_DO_EQUAL);
  kymo_tdl_code(gen, KYMO_DO_CHECK, 4, kymo_plan_add_text(gen->key, text, sizeof text - 1));
}

static void emit_filler(struct tdl_generator *gen, const struct tdl_item *item) {
  uint32_t fill = item->has_fill ? (uint32_t)(item->fill & 0xff) + 1 : 0;
  if (item->filler == TDL_FILLER_BITS && item->has_fill) {
    emit_filled_bits(gen, item);
    return;
  }
  kymo_tdl_emit_whole(gen, item->expr);
  switch (item->filler) {
  case TDL_FILLER_BYTES: kymo_tdl_code(gen, KYMO_DO_FILL, 8, fill); break;
  case TDL_FILLER_BITS: kymo_tdl_code(gen, KYMO_DO_FILL, 1, fill); break;
  case TDL_FILLER_ALIGN: kymo_tdl_code(gen, KYMO_DO_ALIGN, 0, fill); break;
  case TDL_FILLER_TO: kymo_tdl_code(gen, KYMO_DO_GO, 0, fill); break;
  }
}

/* ---- branches ---- */

static uint32_t count_branches(const struct tdl_branch *branches) {
  uint32_t count = 0;
  for (; branches; branches = branches->next)
    count++;
  return count;
}

/* The slot that the branches of a CASE compare: that of the field itself, or one for the computed value. */
static uint32_t case_slot(struct tdl_generator *gen, const struct tdl_expr *expr) {
  if (expr->operation == TDL_PATH && expr->reference.kind == TDL_REFERENCE_FIELD)
    return kymo_tdl_key_slot(gen, expr->reference.slot);
  uint32_t slot = kymo_tdl_new_slot(gen);
  kymo_tdl_emit_whole(gen, expr);
  kymo_tdl_code(gen, KYMO_DO_SET, slot, 0);
  return slot;
}

static void emit_branches(struct tdl_generator *gen, const struct tdl_item *item) {
  uint32_t *ends = kymo_lang_new(gen->session, count_branches(item->branches) + 1u, sizeof *ends), count = 0;
  uint32_t slot = item->kind == TDL_ITEM_CASE ? case_slot(gen, item->expr) : 0;
  bool had_time = gen->frame->has_time, has_time = had_time;
  struct tdl_item *last_time = gen->last_time;
  if (!ends) {
    gen->failed = true;
    return;
  }
  for (const struct tdl_branch *branch = item->branches; branch; branch = branch->next) {
    uint32_t missed = 0;
    bool is_else = !branch->condition && !branch->set;
    gen->frame->has_time = had_time;
    gen->last_time = last_time;
    if (branch->set) {
      kymo_tdl_code(gen, KYMO_DO_GET, slot, 0);
      kymo_tdl_emit_in(gen, branch->set);
    } else if (!is_else) {
      kymo_tdl_emit(gen, branch->condition);
    }
    if (!is_else)
      missed = kymo_tdl_code(gen, KYMO_DO_JUMP_FALSE, 0, 0);
    kymo_tdl_emit_items(gen, branch->items);
    has_time |= gen->frame->has_time;
    if (branch->next)
      ends[count++] = kymo_tdl_code(gen, KYMO_DO_JUMP, 0, 0);
    if (!is_else)
      kymo_tdl_aim(gen, missed);
  }
  for (uint32_t i = 0; i < count; i++)
    kymo_tdl_aim(gen, ends[i]);
  gen->frame->has_time = has_time;
}

/* ---- repetition ---- */

/*
 * In a turn a name means this turn's value, afterwards the last present one (S3). What each turn fills needs
 * nothing. Other slots are cleared when a turn begins, and what they had is remembered in slots of ours.
 */
static void collect(struct tdl_generator *gen, const struct tdl_item *items, const struct tdl_item *loop) {
  for (const struct tdl_item *item = items; item; item = item->next) {
    struct tdl_cell *cell = item->slot ? kymo_tdl_cell(gen, item->slot) : NULL;
    if (cell && cell->is_used && cell->surely_in != loop && cell->tally == 0) {
      cell->tally = 1;
      gen->failed |= !kymo_tdl_push(gen, cell);
    }
    for (const struct tdl_branch *branch = item->branches; branch; branch = branch->next)
      collect(gen, branch->items, loop);
    collect(gen, item->items, loop);
  }
}

struct turn {
  uint32_t begin, count, first;
}; /* cells in gen->stack; slots of ours */

static struct turn begin_turns(struct tdl_generator *gen, const struct tdl_item *item) {
  struct turn turn = {.begin = gen->stack_count, .first = gen->frame->slot_count};
  collect(gen, item->items, item);
  turn.count = gen->stack_count - turn.begin;
  for (uint32_t i = 0; i < turn.count; i++)
    gen->stack[turn.begin + i]->tally = 0;
  gen->frame->slot_count += turn.count;
  if (turn.count > 0)
    kymo_tdl_code(gen, KYMO_DO_CLEAR, turn.first, turn.count);
  return turn;
}

static uint32_t turn_slot(const struct tdl_generator *gen, const struct turn *turn, uint32_t i) {
  return kymo_tdl_key_slot(gen, gen->stack[turn->begin + i]->slot);
}

static void clear_turn(struct tdl_generator *gen, const struct turn *turn) {
  for (uint32_t i = 0; i < turn->count;) {
    uint32_t first = turn_slot(gen, turn, i), count = 1;
    while (i + count < turn->count && turn_slot(gen, turn, i + count) == first + count)
      count++;
    kymo_tdl_code(gen, KYMO_DO_CLEAR, first, count);
    i += count;
  }
}

static void remember_turn(struct tdl_generator *gen, const struct turn *turn) {
  for (uint32_t i = 0; i < turn->count; i++) {
    kymo_tdl_code(gen, KYMO_DO_GET, turn_slot(gen, turn, i), 0);
    kymo_tdl_code(gen, KYMO_DO_GET, turn->first + i, 0);
    emit(gen, KYMO_DO_DEFAULT);
    kymo_tdl_code(gen, KYMO_DO_SET, turn->first + i, 0);
  }
}

static void end_turns(struct tdl_generator *gen, const struct turn *turn) {
  for (uint32_t i = 0; i < turn->count; i++) {
    kymo_tdl_code(gen, KYMO_DO_GET, turn->first + i, 0);
    kymo_tdl_code(gen, KYMO_DO_SET, turn_slot(gen, turn, i), 0);
  }
  gen->stack_count = turn->begin;
}

/* What a prefix has is appended when its kind is known. */
static void emit_element(struct tdl_generator *gen, const struct tdl_item *item) {
  const struct tdl_list *list = kymo_tdl_list(item->list);
  if (gen->frame->record && list && list->kind)
    kymo_tdl_code(gen, KYMO_DO_ELEMENT, list->column, 0);
}

static void emit_repeat(struct tdl_generator *gen, const struct tdl_item *item) {
  static const uint8_t loops[] = {
      [TDL_REPEAT_TIMES] = KYMO_LOOP_TIMES,
      [TDL_REPEAT_TO_END] = KYMO_LOOP_TO_END,
      [TDL_REPEAT_UNTIL] = KYMO_LOOP_UNTIL,
  };
  uint32_t limit = item->limit > UINT32_MAX ? UINT32_MAX : (uint32_t)item->limit;
  struct tdl_sum *outer = gen->pending;
  gen->pending = NULL;
  struct turn turn = begin_turns(gen, item);
  if (item->repeat == TDL_REPEAT_TIMES)
    kymo_tdl_emit_whole(gen, item->expr);
  uint32_t loop = kymo_plan_emit(gen->key, KYMO_DO_LOOP, 0, loops[item->repeat], limit);
  clear_turn(gen, &turn);
  emit_element(gen, item);
  kymo_tdl_emit_items(gen, item->items);
  kymo_tdl_emit_pending(gen, &gen->pending);
  remember_turn(gen, &turn);
  if (item->repeat == TDL_REPEAT_UNTIL)
    kymo_tdl_emit(gen, item->expr);
  kymo_tdl_code(gen, KYMO_DO_TURN, loop, 0);
  kymo_tdl_aim(gen, loop);
  end_turns(gen, &turn);
  gen->pending = outer;
}

/* ---- the rest ---- */

static void emit_order(struct tdl_generator *gen, const struct tdl_item *item) {
  enum kymo_plan_code code = item->is_file ? KYMO_DO_ORDER_FILE : KYMO_DO_ORDER;
  uint32_t end = KYMO_PLAN_NONE;
  for (const struct tdl_order_choice *choice = item->choices; choice; choice = choice->next) {
    kymo_tdl_emit(gen, choice->condition);
    uint32_t missed = kymo_tdl_code(gen, KYMO_DO_JUMP_FALSE, 0, 0);
    kymo_tdl_code(gen, code, choice->order == TDL_BIG ? KYMO_PLAN_BIG : KYMO_PLAN_LITTLE, 0);
    if (end != KYMO_PLAN_NONE)
      kymo_tdl_aim(gen, end);
    end = kymo_tdl_code(gen, KYMO_DO_JUMP, 0, 0);
    kymo_tdl_aim(gen, missed);
  }
  if (item->otherwise == TDL_ORDER_NONE)
    kymo_tdl_code(gen, KYMO_DO_FAIL, 3, kymo_tdl_key_text(gen, item->message));
  else
    kymo_tdl_code(gen, code, item->otherwise == TDL_BIG ? KYMO_PLAN_BIG : KYMO_PLAN_LITTLE, 0);
  if (end != KYMO_PLAN_NONE)
    kymo_tdl_aim(gen, end);
}

static void emit_check(struct tdl_generator *gen, const struct tdl_item *item) {
  struct tdl_bytes text = item->message;
  if (!text.data)
    text =
        (struct tdl_bytes){(const uint8_t *)gen->session->common.text + item->expr->at, item->expr->length};
  kymo_tdl_emit(gen, item->expr);
  kymo_tdl_code(gen, KYMO_DO_CHECK, 4, kymo_tdl_key_text(gen, text));
}

static void emit_key(struct tdl_generator *gen, const struct tdl_item *item) {
  if (item->per)
    kymo_tdl_emit_get(gen, item->per);
  kymo_tdl_emit_whole(gen, item->key);
  if (item->per)
    emit(gen, KYMO_DO_JOIN);
}

static void emit_define(struct tdl_generator *gen, const struct tdl_item *item) {
  emit_key(gen, item);
  if (item->kind == TDL_ITEM_DEFINE)
    kymo_tdl_emit_whole(gen, item->expr);
  kymo_tdl_code(gen, item->kind == TDL_ITEM_DEFINE ? KYMO_DO_DEFINE : KYMO_DO_FORGET, item->table->index, 0);
}

static uint32_t list_column(struct tdl_generator *gen, const struct tdl_expr *path) {
  return path ? kymo_tdl_cell(gen, path->reference.slot)->column : KYMO_PLAN_NONE;
}

static void emit_sync(struct tdl_generator *gen, const struct tdl_item *item) {
  kymo_tdl_emit_whole(gen, item->expr);
  kymo_tdl_emit_whole(gen, item->to_expr);
  kymo_tdl_code(gen, KYMO_DO_SYNC, item->clock->index, item->to_clock->index);
}

/* One more than the column of a list; 0: there is none. */
static uint32_t attribute_column(struct tdl_generator *gen, const struct tdl_expr *path) {
  return path ? list_column(gen, path) + 1 : 0;
}

static void set_list(struct tdl_generator *gen, const struct tdl_item *item,
                     struct kymo_plan_recipe *recipe) {
  uint64_t factor = 0;
  memcpy(&factor, &item->list_factor, sizeof factor);
  recipe->name_column = list_column(gen, item->list_name);
  recipe->type_column = list_column(gen, item->list_type);
  recipe->size_column = list_column(gen, item->list_size);
  recipe->absent_column = attribute_column(gen, item->list_absent);
  recipe->scale_column = attribute_column(gen, item->list_scale);
  recipe->over_column = attribute_column(gen, item->list_over);
  recipe->offset_column = attribute_column(gen, item->list_offset);
  recipe->unit_column = attribute_column(gen, item->list_units);
  recipe->offset_is_negative = item->is_offset_negative;
  recipe->scale_low = (uint32_t)factor;
  recipe->scale_high = (uint32_t)(factor >> 32);
}

/* The recipe of a source, and those of the sources after it, which must come later. */
static uint32_t add_recipe(struct tdl_generator *gen, const struct tdl_item *item,
                           const struct tdl_item *first) {
  static const uint8_t styles[] = {
      [TDL_BY_LETTERS] = KYMO_STYLE_LETTERS,
      [TDL_BY_TEXT] = KYMO_STYLE_TEXT,
      [TDL_BY_LIST] = KYMO_STYLE_LIST,
  };
  struct kymo_plan_recipe recipe = {
      .table = first->table->index,
      .style = styles[item->source],
      .letters = item->types->index,
      .split = item->source == TDL_BY_LIST ? KYMO_PLAN_NONE : kymo_tdl_key_text(gen, item->split),
      .has_length = first == item && item->record_length,
      .same_order = first->has_same_order,
      .nested = item->nested ? item->nested->index + 1 : 0,
      .first_override = kymo_plan_count(gen->key, KYMO_SECTION_OVERRIDE),
  };
  set_list(gen, item, &recipe);
  for (const struct tdl_override *over = item->overrides; over; over = over->next, recipe.override_count++)
    kymo_tdl_add_override(gen, over);
  uint32_t index = kymo_plan_add_recipe(gen->key, &recipe);
  if (item->then) {
    uint32_t next = add_recipe(gen, item->then, first);
    struct kymo_plan_recipe *made = kymo_plan_item(gen->key, KYMO_SECTION_RECIPE, index);
    if (made) /* else memory ran out, which the end reports */
      made->next = next + 1;
  }
  return index;
}

static void emit_define_record(struct tdl_generator *gen, const struct tdl_item *item) {
  uint32_t index = add_recipe(gen, item, item);
  emit_key(gen, item);
  kymo_tdl_emit_whole(gen, item->record_name);
  if (item->of)
    kymo_tdl_emit_whole(gen, item->of);
  if (item->labels)
    kymo_tdl_emit_whole(gen, item->labels);
  if (item->record_length)
    kymo_tdl_emit_whole(gen, item->record_length);
  kymo_tdl_code(gen, KYMO_DO_DEFINE_RECORD, index, 0);
}

/* What must not happen twice. */
static bool is_once(const struct tdl_item *item) {
  return item->kind == TDL_ITEM_CHECK || item->kind == TDL_ITEM_SYNC || item->kind == TDL_ITEM_DEFINE ||
         item->kind == TDL_ITEM_FORGET || item->kind == TDL_ITEM_DEFINE_RECORD;
}

static void emit_item(struct tdl_generator *gen, struct tdl_item *item) {
  if (gen->is_replay && is_once(item))
    return;
  switch (item->kind) {
  case TDL_ITEM_FIELD:
    kymo_tdl_emit_field(gen, item);
    if (item->field->attributes.checksum.algorithm != TDL_CHECKSUM_NONE && !gen->is_replay)
      wait_for(gen, item);
    break;
  case TDL_ITEM_USE: emit_use(gen, item); break;
  case TDL_ITEM_FILLER:
    if (gen->is_fixed)
      gen->ahead -= kymo_tdl_filler_size(item, kymo_tdl_fixed_position(gen));
    else
      emit_filler(gen, item);
    break;
  case TDL_ITEM_LET: kymo_tdl_emit_let(gen, item); break;
  case TDL_ITEM_CHECK: emit_check(gen, item); break;
  case TDL_ITEM_IF:
  case TDL_ITEM_CASE: emit_branches(gen, item); break;
  case TDL_ITEM_REPEAT: emit_repeat(gen, item); break;
  case TDL_ITEM_ORDER: emit_order(gen, item); break;
  case TDL_ITEM_SYNC: emit_sync(gen, item); break;
  case TDL_ITEM_DEFINE:
  case TDL_ITEM_FORGET: emit_define(gen, item); break;
  case TDL_ITEM_DEFINE_RECORD: emit_define_record(gen, item); break;
  }
}

void kymo_tdl_emit_record_length(struct tdl_generator *gen, const struct tdl_record *record) {
  struct kymo_tdl_span here =
      kymo_tdl_come_from(gen, (struct kymo_tdl_span){record->length->at, record->length->length});
  kymo_tdl_emit_whole(gen, record->length);
  kymo_tdl_code(gen, KYMO_DO_LENGTH, (uint32_t)gen->ahead, 0);
  kymo_tdl_come_from(gen, here);
}

void kymo_tdl_emit_items(struct tdl_generator *gen, struct tdl_item *items) {
  for (struct tdl_item *item = items; item; item = item->next) {
    if (item == gen->fixed_end)
      gen->is_fixed = false;
    struct kymo_tdl_span outer = kymo_tdl_come_from(gen, (struct kymo_tdl_span){item->at, item->length});
    emit_item(gen, item);
    kymo_tdl_come_from(gen, outer);
    const struct tdl_record *record = gen->frame->record;
    if (record && record->length && record->length_after == item)
      kymo_tdl_emit_record_length(gen, record);
  }
}
