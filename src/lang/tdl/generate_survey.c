/* SPDX-License-Identifier: MIT */
/*
 * Collects what must be known about all values before code can be generated: which ones are read (others are
 * skipped), which are kept for other records, which may be absent, in which forms they are delivered.
 */
#include "lang/tdl/generate.h"

#define STACK_OF_ONE \
  (KYMO_PLAN_STACK - 16) /* values that one expression may need; the rest is for those beside it */

/* ---- cells ---- */

struct tdl_cell *kymo_tdl_cell_in(const struct tdl_generator *gen, const struct tdl_record *record,
                                  const struct tdl_slot *slot) {
  const struct tdl_frame *frame = &gen->records[record->index];
  return slot->index < frame->first ? &frame->prefix->cells[slot->index]
                                    : &frame->cells[slot->index - frame->first];
}

struct tdl_cell *kymo_tdl_cell(const struct tdl_generator *gen, const struct tdl_slot *slot) {
  const struct tdl_frame *frame = gen->frame;
  return slot->index < frame->first ? &frame->prefix->cells[slot->index]
                                    : &frame->cells[slot->index - frame->first];
}

uint32_t kymo_tdl_key_slot(const struct tdl_generator *gen, const struct tdl_slot *slot) {
  return slot->index < gen->frame->first ? slot->index : slot->index + gen->frame->shift;
}

uint32_t kymo_tdl_new_slot(struct tdl_generator *gen) { return gen->frame->slot_count++; }

uint32_t kymo_tdl_kept(struct tdl_generator *gen, struct tdl_record *record, const struct tdl_slot *slot) {
  struct tdl_frame *frame = &gen->records[record->index];
  if (frame->kept[slot->index] == 0) {
    frame->kept[slot->index] = ++gen->kept_count;
    kymo_tdl_cell_in(gen, record, slot)->is_used = true;
  }
  return frame->kept[slot->index] - 1;
}

static bool make_cells(struct tdl_generator *gen, struct tdl_frame *frame, const struct tdl_slot *slots) {
  frame->cells = kymo_lang_new(gen->session, frame->count + 1u, sizeof *frame->cells);
  if (!frame->cells)
    return false;
  for (uint32_t i = 0; i < frame->count; i++)
    frame->cells[i].range = kymo_tdl_any_number();
  for (const struct tdl_slot *slot = slots; slot; slot = slot->next)
    if (slot->index >= frame->first && slot->index - frame->first < frame->count) {
      struct tdl_cell *cell = &frame->cells[slot->index - frame->first];
      cell->slot = slot;
      for (const struct tdl_item *item = slot->first; item; item = item->same_slot)
        cell->is_bytes |= item->kind == TDL_ITEM_FIELD && item->field->type->kind == TDL_TYPE_BYTES;
    }
  return true;
}

static bool make_frames(struct tdl_generator *gen) {
  const struct tdl_tree *tree = gen->tree;
  gen->prefixes = kymo_lang_new(gen->session, tree->prefix_count + 1u, sizeof *gen->prefixes);
  gen->records = kymo_lang_new(gen->session, tree->record_count + 1u, sizeof *gen->records);
  if (!gen->prefixes || !gen->records)
    return false;
  for (const struct tdl_prefix *prefix = tree->prefixes; prefix; prefix = prefix->next) {
    struct tdl_frame *frame = &gen->prefixes[prefix->index];
    frame->count = prefix->slot_count;
    frame->has_length = prefix->length;
    if (!make_cells(gen, frame, prefix->slots))
      return false;
  }
  for (struct tdl_record *record = tree->records; record; record = record->next) {
    struct tdl_frame *frame = &gen->records[record->index];
    frame->record = record;
    frame->prefix = record->prefix ? &gen->prefixes[record->prefix->index] : NULL;
    frame->first = record->prefix ? record->prefix->slot_count : 0;
    frame->count = record->slot_count - frame->first;
    frame->has_length = record->length || record->length_item || (frame->prefix && frame->prefix->has_length);
    frame->kept = kymo_lang_new(gen->session, record->slot_count + 1u, sizeof *frame->kept);
    if (!frame->kept || !make_cells(gen, frame, record->slots))
      return false;
  }
  return true;
}

/* ---- who reads what ---- */

static void mark_slot(struct tdl_generator *gen, const struct tdl_slot *slot) {
  if (slot)
    kymo_tdl_cell(gen, slot)->is_used = true;
}

static void mark_measured(struct tdl_generator *gen, const struct tdl_slot *slot) {
  if (slot)
    kymo_tdl_cell(gen, slot)->is_measured = true;
}

/* An expression; how many values it needs on the stack. */
static uint32_t mark(struct tdl_generator *gen, const struct tdl_expr *expr);

static uint32_t most(uint32_t a, uint32_t b) { return a > b ? a : b; }

static uint32_t mark_set(struct tdl_generator *gen, const struct tdl_set *set) {
  uint32_t need = 0;
  for (const struct tdl_member *member = set ? set->members : NULL; member; member = member->next) {
    need = most(need, 2 + mark(gen, member->low));
    need = most(need, 3 + mark(gen, member->high));
  }
  return need;
}

static void mark_reference(struct tdl_generator *gen, const struct tdl_expr *expr) {
  const struct tdl_reference *reference = &expr->reference;
  bool is_size = expr->operation == TDL_SIZE_OF;
  if (expr->operation != TDL_PATH && !is_size)
    return;
  if (reference->kind == TDL_REFERENCE_RECORD)
    kymo_tdl_kept(gen, reference->record, reference->slot);
  else if (reference->kind == TDL_REFERENCE_FIELD && is_size)
    mark_measured(gen, reference->slot);
  else if (reference->kind == TDL_REFERENCE_FIELD)
    mark_slot(gen, reference->slot);
}

static uint32_t mark(struct tdl_generator *gen, const struct tdl_expr *expr) {
  if (!expr)
    return 0;
  uint32_t need = 2, before = 0; /* leaves add something to something at most */
  bool is_choice = expr->operation == TDL_IF || expr->operation == TDL_AND || expr->operation == TDL_OR;
  mark_reference(gen, expr);
  for (unsigned i = 0; i < 3; i++)
    need = most(need, (is_choice ? 0 : i) + mark(gen, expr->operands[i]));
  for (const struct tdl_expr *argument = expr->arguments; argument; argument = argument->next)
    need = most(need, before++ + mark(gen, argument));
  need = most(need, mark_set(gen, expr->set));
  if (need == STACK_OF_ONE + 1)
    gen->failed = !kymo_tdl_fail(gen->session, expr->at, "E61", "this expression is nested too deeply");
  return need;
}

static void mark_type(struct tdl_generator *gen, const struct tdl_type *type) {
  for (; type; type = type->element) {
    mark(gen, type->bits);
    mark(gen, type->count);
    mark(gen, type->size);
  }
}

static void mark_attributes(struct tdl_generator *gen, const struct tdl_item *item) {
  const struct tdl_attributes *attributes = &item->field->attributes;
  mark(gen, attributes->equals);
  mark_set(gen, attributes->in);
  mark(gen, attributes->where);
  mark(gen, attributes->absent);
  mark(gen, attributes->as);
  mark(gen, attributes->time.unit);
  mark(gen, attributes->time.rate);
  mark_slot(gen, attributes->time.per);
  mark_slot(gen, attributes->per_slot);
  bool is_length = attributes->length.kind > TDL_LENGTH_OF_FIELD,
       is_sum = attributes->checksum.algorithm != TDL_CHECKSUM_NONE;
  bool has_role = item->slot->role == TDL_ROLE_SEQUENCE || item->slot->role == TDL_ROLE_LOST;
  if (is_length || is_sum || has_role)
    mark_slot(gen, item->slot);
  if (is_sum) {
    mark_measured(gen, item->slot);
    mark_measured(gen, attributes->checksum.from_slot);
    mark_measured(gen, attributes->checksum.to_slot);
  }
}

static void mark_items(struct tdl_generator *gen, const struct tdl_item *items) {
  for (const struct tdl_item *item = items; item; item = item->next) {
    if (item->kind == TDL_ITEM_FIELD)
      mark_type(gen, item->field->type);
    if (item->field)
      mark_attributes(gen, item);
    mark_slot(gen, item->size_slot);
    mark_slot(gen, item->per);
    const struct tdl_expr *const all[] = {item->expr,        item->within,        item->key, item->to_expr,
                                          item->record_name, item->record_length, item->of,  item->labels};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
      mark(gen, all[i]);
    for (const struct tdl_expr *argument = item->arguments; argument; argument = argument->next)
      mark(gen, argument);
    for (const struct tdl_order_choice *choice = item->choices; choice; choice = choice->next)
      mark(gen, choice->condition);
    for (const struct tdl_branch *branch = item->branches; branch; branch = branch->next) {
      mark(gen, branch->condition);
      mark_set(gen, branch->set);
      mark_items(gen, branch->items);
    }
    mark_items(gen, item->items);
  }
}

static void mark_steps(struct tdl_generator *gen, const struct tdl_step *steps) {
  for (const struct tdl_step *step = steps; step; step = step->next) {
    mark(gen, step->times);
    mark(gen, step->where);
    mark(gen, step->size);
    mark(gen, step->block);
    mark_steps(gen, step->steps);
  }
}

static void mark_all(struct tdl_generator *gen) {
  for (const struct tdl_prefix *prefix = gen->tree->prefixes; prefix; prefix = prefix->next) {
    gen->frame = &gen->prefixes[prefix->index];
    mark_items(gen, prefix->items);
  }
  for (const struct tdl_record *record = gen->tree->records; record; record = record->next) {
    gen->frame = &gen->records[record->index];
    const struct tdl_expr *const all[] = {record->when,     record->align,        record->length,
                                          record->from_key, record->holds_within, record->holds_key};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
      mark(gen, all[i]);
    mark_items(gen, record->items);
  }
  gen->frame = NULL; /* clocks and steps have no fields of their own */
  for (const struct tdl_clock *clock = gen->tree->clocks; clock; clock = clock->next) {
    mark(gen, clock->resolution);
    mark(gen, clock->rate);
    mark(gen, clock->slack);
  }
  mark_steps(gen, gen->tree->layout.steps);
}

/* ---- what may be absent, how it is delivered ---- */

bool kymo_tdl_push(struct tdl_generator *gen, struct tdl_cell *cell) {
  if (gen->stack_count == gen->stack_size) {
    uint32_t size = gen->stack_size ? 2 * gen->stack_size : 256;
    struct tdl_cell **stack = kymo_lang_new(gen->session, size, sizeof *stack);
    if (!stack)
      return false;
    for (uint32_t i = 0; i < gen->stack_count; i++)
      stack[i] = gen->stack[i];
    gen->stack = stack;
    gen->stack_size = size;
  }
  gen->stack[gen->stack_count++] = cell;
  return true;
}

/* The form is decided here once: when code is generated, ranges are those of all branches and another form
 * would fit. */
static bool add_option(struct tdl_generator *gen, struct tdl_cell *cell, struct tdl_item *item) {
  struct tdl_option option = kymo_tdl_option(gen, item), **link = &cell->options;
  item->option = 0;
  for (; *link; link = &(*link)->next, item->option++)
    if (kymo_tdl_same_option(*link, &option)) {
      bool is_blob = option.shape == KYMO_SHAPE_BLOB && (*link)->bits != option.bits;
      (*link)->bits = is_blob ? 0 : (*link)->bits > option.bits ? (*link)->bits : option.bits;
      return true;
    }
  *link = kymo_lang_new(gen->session, 1, sizeof **link);
  if (!*link)
    return false;
  **link = option;
  cell->option_count++;
  return true;
}

static void widen(struct tdl_cell *cell, struct tdl_range range) {
  if (kymo_wide_compare(range.low, cell->range.low) < 0)
    cell->range.low = range.low;
  if (kymo_wide_compare(range.high, cell->range.high) > 0)
    cell->range.high = range.high;
}

/* A FIELD or LET. */
static bool survey_value(struct tdl_generator *gen, struct tdl_item *item) {
  struct tdl_cell *cell = kymo_tdl_cell(gen, item->slot);
  const struct tdl_attributes *attributes = &item->field->attributes;
  const struct tdl_expr *computed = item->kind == TDL_ITEM_LET ? item->expr : attributes->as;
  bool is_array = item->kind == TDL_ITEM_FIELD && item->field->type->kind == TDL_TYPE_ARRAY,
       is_first = !cell->options;
  if (!add_option(gen, cell, item))
    return false;
  struct tdl_range range =
      computed ? kymo_tdl_range_of(gen, computed) : kymo_tdl_type_range(gen, item->field->type);
  if (is_first)
    cell->range = range;
  widen(cell, range);
  if (computed)
    cell->is_bytes |= computed->type == TDL_BYTES && kymo_tdl_is_bytes(gen, computed);
  bool is_text_number =
      item->kind == TDL_ITEM_FIELD && item->field->type->kind == TDL_TYPE_TEXT_NUMBER; /* which may be none */
  if (attributes->absent || is_array || is_text_number ||
      (computed && (kymo_tdl_may_be_absent(gen, computed) || kymo_tdl_may_miss_field(gen, computed))))
    cell->may_be_absent = true;
  return kymo_tdl_push(gen, cell);
}

/* A slot that some branch does not fill, or that a loop may not reach, may be absent from here on. */
static void forget_from(struct tdl_generator *gen, uint32_t begin, uint32_t wanted) {
  uint32_t kept = begin;
  for (uint32_t i = begin; i < gen->stack_count; i++)
    gen->stack[i]->tally++;
  for (uint32_t i = begin; i < gen->stack_count; i++) {
    struct tdl_cell *cell = gen->stack[i];
    if (cell->tally == 0)
      continue;
    if (wanted != 0 && cell->tally == wanted)
      gen->stack[kept++] = cell;
    else
      cell->may_be_absent = true;
    cell->tally = 0;
  }
  gen->stack_count = kept;
}

static bool survey_items(struct tdl_generator *gen, struct tdl_item *items);

static bool survey_branches(struct tdl_generator *gen, const struct tdl_item *item) {
  uint32_t begin = gen->stack_count, count = 0;
  bool has_else = false;
  for (const struct tdl_branch *branch = item->branches; branch; branch = branch->next) {
    has_else |= !branch->condition && !branch->set;
    count++;
    if (!survey_items(gen, branch->items))
      return false;
  }
  forget_from(gen, begin, has_else ? count : 0);
  return true;
}

static bool survey_use(struct tdl_generator *gen, const struct tdl_item *item) {
  const struct tdl_expr *argument = item->arguments;
  for (uint32_t i = 0; i < item->argument_count && argument; i++, argument = argument->next) {
    struct tdl_cell *cell = kymo_tdl_cell(gen, item->parameters[i]);
    cell->range = kymo_tdl_range_of(gen, argument);
    cell->may_be_absent = kymo_tdl_may_be_absent(gen, argument);
    cell->is_bytes = argument->type == TDL_BYTES && kymo_tdl_is_bytes(gen, argument);
  }
  return survey_items(gen, item->items);
}

static bool survey_items(struct tdl_generator *gen, struct tdl_item *items) {
  for (struct tdl_item *item = items; item; item = item->next) {
    uint32_t begin = gen->stack_count;
    bool is_done = true;
    switch (item->kind) {
    case TDL_ITEM_FIELD:
    case TDL_ITEM_LET: is_done = survey_value(gen, item); break;
    case TDL_ITEM_USE: is_done = survey_use(gen, item); break;
    case TDL_ITEM_IF:
    case TDL_ITEM_CASE: is_done = survey_branches(gen, item); break;
    case TDL_ITEM_REPEAT:
      is_done = survey_items(gen, item->items);
      for (uint32_t i = begin; i < gen->stack_count; i++)
        gen->stack[i]->surely_in = item, gen->stack[i]->is_sure = !gen->stack[i]->may_be_absent;
      forget_from(gen, begin, 0);
      break;
    default: break;
    }
    if (!is_done)
      return false;
  }
  return true;
}

static bool survey_frame(struct tdl_generator *gen, struct tdl_frame *frame, struct tdl_item *items) {
  gen->frame = frame;
  gen->stack_count = 0;
  return survey_items(gen, items);
}

bool kymo_tdl_survey(struct tdl_generator *gen) {
  if (!make_frames(gen))
    return false;
  mark_all(gen);
  if (gen->failed)
    return false;
  for (const struct tdl_prefix *prefix = gen->tree->prefixes; prefix; prefix = prefix->next)
    if (!survey_frame(gen, &gen->prefixes[prefix->index], prefix->items))
      return false;
  for (const struct tdl_record *record = gen->tree->records; record; record = record->next)
    if (!survey_frame(gen, &gen->records[record->index], record->items))
      return false;
  return true;
}
