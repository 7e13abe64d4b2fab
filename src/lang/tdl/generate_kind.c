/* SPDX-License-Identifier: MIT */
/* Prefixes and record kinds: columns, loads at constant offsets, then code for the rest (K3). */
#include "lang/tdl/generate.h"

static void emit(struct tdl_generator *gen, enum kymo_plan_code code) {
  kymo_plan_emit(gen->key, code, 0, 0, 0);
}

/* ---- slots of ours ---- */

/* An only option that is not a time is delivered from the slot itself, and so is a time whose number is not
 * read. */
static void assign_options(struct tdl_generator *gen, struct tdl_cell *cell) {
  uint32_t main = kymo_tdl_key_slot(gen, cell->slot);
  bool is_list = cell->slot->repeats > 0;
  if (!kymo_tdl_is_delivered(cell))
    return;
  for (struct tdl_option *option = cell->options; option; option = option->next) {
    bool is_same = cell->option_count == 1 && !(option->is_time && cell->is_used);
    option->slot = is_list ? 0 : is_same ? main : kymo_tdl_new_slot(gen);
  }
}

static void assign(struct tdl_generator *gen) {
  struct tdl_frame *frame = gen->frame;
  for (uint32_t i = 0; i < frame->count; i++) {
    struct tdl_cell *cell = &frame->cells[i];
    if (!cell->slot)
      continue;
    assign_options(gen, cell);
    frame->has_lists |= cell->slot->repeats > 0 && kymo_tdl_is_delivered(cell);
    if (cell->is_measured) {
      cell->begin = kymo_tdl_new_slot(gen);
      cell->end = kymo_tdl_new_slot(gen);
    }
  }
}

/* ---- loads ---- */

/* Bytes of a whole number that a load can take; -1: it cannot. */
static int64_t load_bytes(const struct tdl_type *type) {
  bool is_number = type->kind == TDL_TYPE_UNSIGNED || type->kind == TDL_TYPE_INTEGER;
  bool is_whole = type->fixed_bits > 0 && type->fixed_bits <= 64 && type->fixed_bits % 8 == 0;
  return is_number && is_whole ? type->fixed_bits / 8 : -1;
}

static void add_load(struct tdl_generator *gen, const struct tdl_item *item, int64_t offset) {
  enum tdl_order order = item->field->order;
  struct kymo_plan_load load = {
      .offset = (uint32_t)offset,
      .bits = (uint32_t)item->field->type->fixed_bits,
      .is_signed = item->field->type->kind == TDL_TYPE_INTEGER,
      .order = order == TDL_BIG             ? KYMO_PLAN_BIG
               : order == TDL_ORDER_DYNAMIC ? KYMO_PLAN_CURRENT
                                            : KYMO_PLAN_LITTLE,
      .slot = kymo_tdl_key_slot(gen, item->slot),
  };
  kymo_tdl_note_origin(gen, KYMO_SECTION_LOAD, (struct kymo_tdl_span){item->at, item->length});
  kymo_plan_add_load(gen->key, &load);
}

/* Bytes of an item at a constant offset: nothing reads them in turn, or a load does. -1: the part's code has
 * to. */
static int64_t fixed_field(struct tdl_generator *gen, const struct tdl_item *item) {
  const struct tdl_type *type = item->field->type;
  if (item->field->attributes.where)
    return 0;
  if (kymo_tdl_is_idle(gen, item))
    return type->fixed_bits >= 0 && type->fixed_bits % 8 == 0 ? type->fixed_bits / 8 : -1;
  int64_t bytes = load_bytes(type);
  if (bytes >= 0)
    add_load(gen, item, gen->fixed_bytes);
  return bytes;
}

/* Finds how far the constant offsets reach. False: up to gen->fixed_end. */
static bool plan_fixed(struct tdl_generator *gen, struct tdl_item *items) {
  for (struct tdl_item *item = items; item; item = item->next) {
    int64_t bytes = -1;
    switch (item->kind) {
    case TDL_ITEM_FIELD: bytes = fixed_field(gen, item); break;
    case TDL_ITEM_FILLER: bytes = kymo_tdl_filler_size(item, kymo_tdl_fixed_position(gen)); break;
    case TDL_ITEM_USE: bytes = item->within ? -1 : 0; break;
    case TDL_ITEM_LET:
    case TDL_ITEM_CHECK:
    case TDL_ITEM_SYNC:
    case TDL_ITEM_DEFINE:
    case TDL_ITEM_FORGET: bytes = 0; break;
    default: break;
    }
    if (bytes < 0 || gen->fixed_bytes + bytes > INT32_MAX) {
      gen->fixed_end = item;
      return false;
    }
    gen->fixed_bytes += bytes;
    if (item->kind == TDL_ITEM_USE && !plan_fixed(gen, item->items))
      return false;
  }
  return true;
}

/* ---- parts ---- */

/* The counter of SEQUENCEs of this width and PER. */
static uint32_t counter(struct tdl_generator *gen, uint32_t bits, uint32_t per) {
  for (uint32_t i = 0; i < gen->sequences; i++)
    if (gen->counters[i].bits == bits && gen->counters[i].per == per)
      return i;
  gen->counters[gen->sequences].bits = bits;
  gen->counters[gen->sequences].per = per;
  return gen->sequences++;
}

/* SEQUENCE counts when the record is complete (S24). */
static void emit_sequence(struct tdl_generator *gen, const struct tdl_slot *slot) {
  static const uint8_t pers[] = {
      [TDL_PER_NONE] = KYMO_PER_FILE,   [TDL_PER_FILE] = KYMO_PER_FILE,  [TDL_PER_SEGMENT] = KYMO_PER_SEGMENT,
      [TDL_PER_TRACE] = KYMO_PER_TRACE, [TDL_PER_NAME] = KYMO_PER_VALUE,
  };
  const struct tdl_attributes *attributes = &slot->first->field->attributes;
  uint64_t bits = 64;
  if (slot->first->kind == TDL_ITEM_FIELD && !kymo_tdl_constant(slot->first->field->type->bits, &bits))
    bits = 64;
  uint32_t per = pers[attributes->per];
  kymo_tdl_emit_get(gen, slot);
  if (attributes->per_slot)
    kymo_tdl_emit_get(gen, attributes->per_slot);
  kymo_plan_emit(gen->key, KYMO_DO_SEQUENCE, counter(gen, (uint32_t)bits, per), (uint32_t)bits, per);
}

static void emit_end(struct tdl_generator *gen) {
  const struct tdl_record *record = gen->frame->record;
  kymo_tdl_emit_pending(gen, &gen->pending);
  if (!record)
    return;
  struct tdl_sum *of_prefix = gen->frame->prefix ? gen->frame->prefix->pending : NULL;
  kymo_tdl_emit_pending(gen, &of_prefix);
  kymo_tdl_emit_pending(gen, &gen->frame->pending);
  if (record->roles[TDL_ROLE_SEQUENCE])
    emit_sequence(gen, record->roles[TDL_ROLE_SEQUENCE]);
}

/* Which kind a record is, and so which columns it has, is known after its prefix: lists of the prefix are
 * filled now. */
static void emit_prefix_lists(struct tdl_generator *gen) {
  const struct tdl_record *record = gen->frame->record;
  if (!record || !record->prefix || !gen->frame->prefix->has_lists)
    return;
  int64_t ahead = gen->ahead;
  gen->ahead = 0;
  gen->is_fixed = false;
  gen->is_replay = true;
  kymo_tdl_emit_number(gen, 0);
  emit(gen, KYMO_DO_AT);
  kymo_tdl_emit_items(gen, record->prefix->items);
  emit(gen, KYMO_DO_BACK);
  gen->is_replay = false;
  gen->ahead = ahead;
}

static struct kymo_plan_part make_part(struct tdl_generator *gen, struct tdl_item *items,
                                       int64_t start_bits) {
  const struct tdl_record *record = gen->frame->record;
  struct kymo_plan_part part = {.first_load = kymo_plan_count(gen->key, KYMO_SECTION_LOAD)};
  gen->fixed_bytes = gen->ahead = 0;
  gen->fixed_start = start_bits >= 0 ? start_bits / 8 : -1;
  gen->fixed_end = NULL;
  gen->last_time = NULL;
  gen->pending = NULL;
  plan_fixed(gen, items);
  part.fixed = (uint32_t)gen->fixed_bytes;
  part.load_count = kymo_plan_count(gen->key, KYMO_SECTION_LOAD) - part.first_load;
  kymo_plan_block_begin(gen->key);
  gen->ahead = gen->fixed_bytes;
  emit_prefix_lists(gen);
  gen->is_fixed = true;
  if (record && record->length && !record->length_after)
    kymo_tdl_emit_record_length(gen, record);
  if (record && record->from && items)
    emit(gen, KYMO_DO_FIELDS);
  kymo_tdl_emit_items(gen, items);
  gen->is_fixed = false;
  gen->ahead = 0;
  emit_end(gen);
  part.block = kymo_plan_block_end(gen->key);
  return part;
}

/* ---- prefixes and kinds ---- */

static bool add_prefix(struct tdl_generator *gen, const struct tdl_prefix *prefix) {
  struct tdl_frame *frame = gen->frame = &gen->prefixes[prefix->index];
  frame->slot_count = frame->count;
  assign(gen);
  kymo_tdl_note_origin(gen, KYMO_SECTION_PREFIX, kymo_tdl_name_span(&prefix->name));
  kymo_tdl_come_from(gen, kymo_tdl_name_span(&prefix->name));
  struct kymo_plan_prefix out = {.name = kymo_tdl_key_word(gen, prefix->name.word)};
  out.part = make_part(gen, prefix->items, 0);
  kymo_plan_add_prefix(gen->key, &out);
  return !gen->failed && !gen->session->common.failed;
}

static void add_keeps(struct tdl_generator *gen, const struct tdl_record *record,
                      struct kymo_plan_kind *kind) {
  const struct tdl_frame *frame = gen->frame;
  kind->first_keep = kymo_plan_count(gen->key, KYMO_SECTION_KEEP);
  for (uint32_t i = 0; i < record->slot_count; i++) {
    if (frame->kept[i] == 0)
      continue;
    struct kymo_plan_keep keep = {.slot = i < frame->first ? i : i + frame->shift,
                                  .index = frame->kept[i] - 1};
    kymo_plan_add_keep(gen->key, &keep);
    kind->keep_count++;
  }
}

/* Where the held records are, if that is not simply the rest of the record. */
static void add_box(struct tdl_generator *gen, const struct tdl_record *record) {
  if (!record->holds_within && record->holds_transform == TDL_TRANSFORM_NONE && !record->is_joined)
    return;
  struct kymo_plan_box box = {
      .kind = record->index,
      .bytes = kymo_tdl_block(gen, record->holds_within),
      .method = kymo_tdl_method(record->holds_transform),
      .key = kymo_tdl_block(gen, record->holds_key),
      .is_joined = record->is_joined,
  };
  kymo_plan_add_box(gen->key, &box);
}

static bool add_kind(struct tdl_generator *gen, struct tdl_record *record) {
  static const uint8_t classes[] = {
      [TDL_CLASS_EVENT] = KYMO_CLASS_EVENT,
      [TDL_CLASS_CONTROL] = KYMO_CLASS_CONTROL,
      [TDL_CLASS_DEFINITION] = KYMO_CLASS_DEFINITION,
      [TDL_CLASS_SEGMENT] = KYMO_CLASS_SEGMENT,
  };
  struct tdl_frame *frame = gen->frame = &gen->records[record->index];
  uint32_t before = frame->prefix ? frame->prefix->slot_count : 0;
  frame->shift = before - frame->first;
  frame->slot_count = before + frame->count;
  frame->has_time = frame->prefix && frame->prefix->has_time;
  assign(gen);
  kymo_tdl_come_from(gen, kymo_tdl_name_span(&record->name));
  struct kymo_plan_kind kind = {
      .name = kymo_tdl_key_word(gen, record->name.word),
      .class_ = classes[record->class_],
      .prefix = record->prefix ? record->prefix->index : KYMO_PLAN_NONE,
      .when = kymo_tdl_block(gen, record->when),
      .align = kymo_tdl_block(gen, record->align),
      .first_column = kymo_plan_count(gen->key, KYMO_SECTION_COLUMN),
      .event_column = KYMO_PLAN_NONE,
      .from_table = record->from ? record->from->index : KYMO_PLAN_NONE,
      .from_key = kymo_tdl_block(gen, record->from_key),
  };
  if (frame->prefix)
    kymo_tdl_add_columns(gen, frame->prefix, &kind);
  kymo_tdl_add_columns(gen, frame, &kind);
  kind.column_count = kymo_plan_count(gen->key, KYMO_SECTION_COLUMN) - kind.first_column;
  kymo_tdl_name_lists(gen, &kind);
  kind.part = make_part(gen, record->items, record->prefix ? record->prefix->fixed_bits : 0);
  kind.slot_count = frame->slot_count;
  add_keeps(gen, record, &kind);
  kymo_tdl_note_origin(gen, KYMO_SECTION_DISPATCH, kymo_tdl_name_span(&record->name));
  kind.holds = record->holds ? kymo_tdl_dispatch(gen, record->holds) : KYMO_PLAN_NONE;
  add_box(gen, record);
  kymo_tdl_note_origin(gen, KYMO_SECTION_KIND, kymo_tdl_name_span(&record->name));
  kymo_plan_add_kind(gen->key, &kind);
  if (frame->slot_count > KYMO_PLAN_SLOTS)
    return kymo_tdl_fail(gen->session, record->name.at, "E61", "this record has more than %d values",
                         KYMO_PLAN_SLOTS);
  return !gen->failed && !gen->session->common.failed;
}

bool kymo_tdl_kinds(struct tdl_generator *gen) {
  for (const struct tdl_prefix *prefix = gen->tree->prefixes; prefix; prefix = prefix->next)
    if (!add_prefix(gen, prefix))
      return false;
  for (struct tdl_record *record = gen->tree->records; record; record = record->next)
    if (!add_kind(gen, record))
      return false;
  return true;
}
