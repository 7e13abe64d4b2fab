/* SPDX-License-Identifier: MIT */
/* Verifying a plan: every index, range and bound that the machine relies on, once, in time linear in its
 * size. */
#include "plan/verify.h"
#include "base/fail.h"
#include "plan/machine.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define FIXED_MAX (UINT32_C(1) << 20)

bool kymo_plan_verify_fail(struct kymo_plan_verify *v, const char *format, ...) {
  char text[200];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  kymo_fail_at(v->error, KYMO_E_FORMAT, v->file, KYMO_ERROR_NO_OFFSET, "R8: the plan is invalid: %s", text);
  return false;
}

#define COUNT(name) KYMO_PLAN_COUNT(v->plan, name)

static bool is_range(uint32_t first, uint32_t count, uint32_t all) {
  return count <= all && first <= all - count;
}

static bool is_one(uint32_t index, uint32_t all) { return index == KYMO_PLAN_NONE || index < all; }

static bool need(struct kymo_plan_verify *v, bool is_good, const char *what, uint32_t index) {
  return is_good || kymo_plan_verify_fail(v, "%s %u is out of bounds", what, index);
}

/* ---- sections without code ---- */

static bool check_texts(struct kymo_plan_verify *v) {
  for (uint32_t i = 0; i < COUNT(TEXT); i++)
    if (!need(v, is_range(v->plan->texts[i].offset, v->plan->texts[i].size, v->plan->byte_count), "text", i))
      return false;
  for (uint32_t i = 0; i < COUNT(BLOCK); i++)
    if (!need(v, is_range(v->plan->blocks[i].first, v->plan->blocks[i].count, COUNT(INSTRUCTION)), "block",
              i))
      return false;
  return true;
}

static bool check_root(struct kymo_plan_verify *v) {
  const struct kymo_plan_root *root = v->plan->root;
  uint32_t texts = COUNT(TEXT);
  bool ok = root->name < texts && is_one(root->version, texts) && root->order <= KYMO_PLAN_BIG &&
            is_one(root->resync, texts) && root->sorted <= KYMO_SORTED_PER &&
            root->characters <= KYMO_CHARACTERS_UTF16_BIG && root->merge <= KYMO_MERGE_BY_SEQUENCE &&
            is_one(root->merge_pattern, texts) && is_one(root->source, texts) &&
            root->sequence_count <= 4096 && root->kept_count <= 65536;
  for (unsigned i = 0; i < 11; i++)
    ok = ok && root->policies[i] <= KYMO_PLAN_POLICY_RESYNC &&
         (root->policies[i] != KYMO_PLAN_POLICY_RESYNC || root->resync != KYMO_PLAN_NONE);
  ok = ok && (root->sorted != KYMO_SORTED_PER || root->sorted_low < texts);
  return need(v, ok && (root->resync == KYMO_PLAN_NONE || v->plan->texts[root->resync].size > 0), "root", 0);
}

static bool check_interpretations(struct kymo_plan_verify *v) {
  const struct kymo_plan *plan = v->plan;
  uint32_t texts = COUNT(TEXT);
  for (uint32_t i = 0; i < COUNT(TOKEN); i++)
    if (!need(v,
              plan->tokens[i].name < texts &&
                  is_range(plan->tokens[i].first, plan->tokens[i].count, COUNT(TOKEN_ITEM)) &&
                  plan->tokens[i].count <= 65536,
              "token list", i))
      return false;
  for (uint32_t i = 0; i < COUNT(TOKEN_ITEM); i++)
    if (!need(v, plan->token_items[i].text < texts, "token", i))
      return false;
  for (uint32_t i = 0; i < COUNT(FLAG); i++)
    if (!need(v,
              plan->flags[i].name < texts &&
                  is_range(plan->flags[i].first, plan->flags[i].count, COUNT(FLAG_ITEM)) &&
                  plan->flags[i].count <= 65536,
              "list of flags", i))
      return false;
  for (uint32_t i = 0; i < COUNT(FLAG_ITEM); i++)
    if (!need(v, plan->flag_items[i].text < texts, "flag", i))
      return false;
  for (uint32_t i = 0; i < COUNT(TABLE); i++)
    if (!need(v,
              plan->tables[i].name < texts && plan->tables[i].holds <= KYMO_HOLDS_BYTES &&
                  plan->tables[i].per <= KYMO_PER_VALUE && plan->tables[i].known <= KYMO_KNOWN_ALWAYS &&
                  plan->tables[i].pass < 64,
              "table", i))
      return false;
  for (uint32_t i = 0; i < COUNT(VIEW); i++) {
    const struct kymo_plan_view *view = &plan->views[i];
    bool is_names = view->names == KYMO_PLAN_NONE ||
                    (view->names < COUNT(TABLE) && plan->tables[view->names].holds == KYMO_HOLDS_NAMES);
    if (!need(v,
              is_one(view->token, COUNT(TOKEN)) && is_names && is_one(view->flags, COUNT(FLAG)) &&
                  is_one(view->unit, texts) && view->show <= KYMO_SHOW_CHAR,
              "view", i))
      return false;
  }
  return true;
}

/* A delivered form. */
static bool is_shape(uint32_t shape, uint32_t bits) {
  switch (shape) {
  case KYMO_SHAPE_UNSIGNED:
  case KYMO_SHAPE_SIGNED: return bits == 8 || bits == 16 || bits == 32 || bits == 64;
  case KYMO_SHAPE_FLOAT: return bits == 32 || bits == 64;
  case KYMO_SHAPE_TEXT:
  case KYMO_SHAPE_BLOB: return bits % 8 == 0 && bits <= (UINT32_C(1) << 23);
  default: return false;
  }
}

static bool is_absent(const struct kymo_plan_verify *v, uint32_t absent, uint32_t low) {
  return absent <= KYMO_ABSENT_TEXT && (absent != KYMO_ABSENT_TEXT || low < COUNT(TEXT));
}

/* The size of a letter's values may be left to the definition if these are bytes or texts. */
static bool is_letter_sized(const struct kymo_plan_type *type, uint32_t count) {
  if (type->size != KYMO_SIZE_POPPED)
    return true;
  return count == 0 && (type->encoding == KYMO_TYPE_BYTES || type->encoding == KYMO_TYPE_STRING ||
                        type->encoding == KYMO_TYPE_STRING_WHOLE || type->encoding == KYMO_TYPE_TEXT_NUMBER);
}

static bool check_types(struct kymo_plan_verify *v) {
  const struct kymo_plan *plan = v->plan;
  for (uint32_t i = 0; i < COUNT(TYPE); i++) {
    const struct kymo_plan_type *type = &plan->types[i];
    bool is_number = type->encoding == KYMO_TYPE_TEXT_NUMBER || type->encoding == KYMO_TYPE_TEXT_NUMBER_ENDED;
    bool is_base = !is_number || type->extra == 0 || (type->extra >= 2 && type->extra <= 36);
    bool is_fraction = type->encoding != KYMO_TYPE_FIXED || type->fraction <= 64;
    if (!need(v,
              type->encoding <= KYMO_TYPE_TEXT_NUMBER_ENDED && type->order <= KYMO_PLAN_CURRENT &&
                  type->is_msb_first <= 2 && is_base && is_fraction && (is_number || type->extra <= 256),
              "type", i))
      return false;
  }
  for (uint32_t i = 0; i < COUNT(LETTERS); i++)
    if (!need(v,
              plan->letter_lists[i].name < COUNT(TEXT) &&
                  is_range(plan->letter_lists[i].first, plan->letter_lists[i].count, COUNT(LETTER)),
              "list of types", i))
      return false;
  for (uint32_t i = 0; i < COUNT(LETTER); i++) {
    const struct kymo_plan_letter *letter = &plan->letters[i];
    bool ok = letter->text < COUNT(TEXT) && letter->type < COUNT(TYPE) &&
              is_shape(letter->shape, letter->bits) && is_one(letter->view, COUNT(VIEW)) &&
              letter->count <= 65536 && is_absent(v, letter->absent, letter->absent_low);
    if (!need(v, ok && is_letter_sized(&plan->types[letter->type], letter->count), "letter", i))
      return false;
  }
  return true;
}

/* ---- kinds ---- */

static bool check_part(struct kymo_plan_verify *v, const struct kymo_plan_part *part,
                       const struct kymo_plan_verify_code *owner) {
  const struct kymo_plan *plan = v->plan;
  if (!is_range(part->first_load, part->load_count, COUNT(LOAD)) || part->fixed > FIXED_MAX ||
      part->load_count > KYMO_PLAN_SLOTS)
    return kymo_plan_verify_fail(v, "loads that are out of bounds");
  v->spent += part->load_count;
  for (uint32_t i = 0; i < part->load_count; i++) {
    const struct kymo_plan_load *load = &plan->loads[part->first_load + i];
    if (load->bits < 8 || load->bits > 64 || load->bits % 8 || load->order > KYMO_PLAN_CURRENT ||
        load->slot >= owner->slots || load->bits / 8 > part->fixed ||
        load->offset > part->fixed - load->bits / 8)
      return kymo_plan_verify_fail(v, "load %u is out of bounds", part->first_load + i);
  }
  return kymo_plan_verify_block(v, part->block, owner);
}

/* Lists of structs whose members come next: the column, and the one after the last member. */
struct open_list {
  uint32_t column, end;
};

/* Members follow their list, which is in that of its parent. */
static bool is_column_placed(const struct kymo_plan_column *column, uint32_t index, uint32_t end,
                             struct open_list *lists, uint32_t *depth) {
  while (*depth && lists[*depth - 1].end == index)
    --*depth;
  const struct open_list *outer = *depth ? &lists[*depth - 1] : NULL;
  if (column->parent != (outer ? outer->column + 1 : 0))
    return false;
  if (!column->is_struct)
    return column->inner_count == 0 && column->option_count >= 1 && column->option_count <= 64;
  end = outer ? outer->end : end;
  if (!column->is_list || column->option_count || column->inner_count >= end - index ||
      *depth == KYMO_PLAN_LISTS)
    return false;
  lists[(*depth)++] = (struct open_list){index, index + 1 + column->inner_count};
  return true;
}

static bool check_options(struct kymo_plan_verify *v, const struct kymo_plan_kind *kind,
                          const struct kymo_plan_column *column) {
  const struct kymo_plan *plan = v->plan;
  for (uint32_t k = 0; k < column->option_count; k++) {
    const struct kymo_plan_option *option = &plan->options[column->first_option + k];
    if (!need(v,
              is_shape(option->shape, option->bits) && is_one(option->view, COUNT(VIEW)) &&
                  (!kymo_plan_is_single(column) || option->slot < kind->slot_count),
              "option", column->first_option + k))
      return false;
  }
  return true;
}

static bool check_columns(struct kymo_plan_verify *v, const struct kymo_plan_kind *kind) {
  const struct kymo_plan *plan = v->plan;
  struct open_list lists[KYMO_PLAN_LISTS];
  uint32_t depth = 0, end = kind->first_column + kind->column_count;
  for (uint32_t i = kind->first_column; i < end; i++) {
    const struct kymo_plan_column *column = &plan->columns[i];
    if (!need(v,
              column->name < COUNT(TEXT) && is_column_placed(column, i, end, lists, &depth) &&
                  is_range(column->first_option, column->option_count, COUNT(OPTION)),
              "column", i) ||
        !check_options(v, kind, column))
      return false;
  }
  return true;
}

static bool check_expression(struct kymo_plan_verify *v, uint32_t block, uint32_t slots,
                             const struct kymo_plan_kind *kind) {
  struct kymo_plan_verify_code owner = {.is_expression = true, .slots = slots, .kind = kind};
  return block == KYMO_PLAN_NONE || kymo_plan_verify_block(v, block, &owner);
}

/* FROM table[key]. */
static bool check_from(struct kymo_plan_verify *v, const struct kymo_plan_kind *kind) {
  if (kind->from_table == KYMO_PLAN_NONE)
    return true;
  if (kind->from_table >= COUNT(TABLE) || v->plan->tables[kind->from_table].holds != KYMO_HOLDS_RECORDS ||
      kind->from_key == KYMO_PLAN_NONE)
    return kymo_plan_verify_fail(v, "FROM a table that holds no records");
  return check_expression(v, kind->from_key, kind->slot_count, kind);
}

static bool check_kind(struct kymo_plan_verify *v, uint32_t index) {
  const struct kymo_plan *plan = v->plan;
  const struct kymo_plan_kind *kind = &plan->kinds[index];
  struct kymo_plan_verify_code owner = {.slots = kind->slot_count, .kind = kind};
  bool ok = kind->name < COUNT(TEXT) && kind->class_ <= KYMO_CLASS_SEGMENT &&
            is_one(kind->prefix, COUNT(PREFIX)) && kind->slot_count <= KYMO_PLAN_SLOTS &&
            is_range(kind->first_column, kind->column_count, COUNT(COLUMN)) &&
            is_range(kind->first_keep, kind->keep_count, COUNT(KEEP)) &&
            is_one(kind->holds, COUNT(DISPATCH)) && kind->column_count <= KYMO_PLAN_SLOTS;
  bool is_event =
      kind->event_column == KYMO_PLAN_NONE || (kind->event_column >= kind->first_column &&
                                               kind->event_column - kind->first_column < kind->column_count);
  if (!need(v, ok && is_event, "kind", index))
    return false;
  if (kind->prefix != KYMO_PLAN_NONE && v->prefix_slots[kind->prefix] > kind->slot_count)
    v->prefix_slots[kind->prefix] = kind->slot_count;
  for (uint32_t i = 0; i < kind->keep_count; i++) {
    const struct kymo_plan_keep *keep = &plan->keeps[kind->first_keep + i];
    if (!need(v, keep->slot < kind->slot_count && keep->index < plan->root->kept_count, "keep",
              kind->first_keep + i))
      return false;
  }
  return check_columns(v, kind) && check_expression(v, kind->when, kind->slot_count, NULL) &&
         check_expression(v, kind->align, 0, NULL) && check_part(v, &kind->part, &owner) &&
         check_from(v, kind);
}

static bool check_kinds(struct kymo_plan_verify *v) {
  for (uint32_t i = 0; i < COUNT(PREFIX); i++)
    v->prefix_slots[i] = KYMO_PLAN_SLOTS;
  for (uint32_t i = 0; i < COUNT(KIND); i++)
    if (!check_kind(v, i))
      return false;
  for (uint32_t i = 0; i < COUNT(PREFIX); i++) {
    struct kymo_plan_verify_code owner = {.slots = v->prefix_slots[i]};
    if (v->plan->prefixes[i].name >= COUNT(TEXT))
      return kymo_plan_verify_fail(v, "prefix %u is out of bounds", i);
    if (!check_part(v, &v->plan->prefixes[i].part, &owner))
      return false;
  }
  return true;
}

/* ---- dispatch, layout ---- */

static bool check_table(struct kymo_plan_verify *v, const struct kymo_plan_dispatch *dispatch) {
  const struct kymo_plan *plan = v->plan;
  uint32_t prefix = plan->kinds[plan->kind_refs[dispatch->first].kind].prefix;
  if (prefix == KYMO_PLAN_NONE || dispatch->slot >= v->prefix_slots[prefix] ||
      !is_range(dispatch->first_case, dispatch->case_count, COUNT(CASE)))
    return false;
  for (uint32_t i = 0; i < dispatch->case_count; i++) {
    const struct kymo_plan_case *one = &plan->cases[dispatch->first_case + i];
    bool is_above = i == 0 || kymo_plan_wide(one[-1].low, one[-1].high) < kymo_plan_wide(one->low, one->high);
    if (!is_above || one->kind >= COUNT(KIND) || plan->kinds[one->kind].prefix != prefix)
      return false;
  }
  return dispatch->otherwise == KYMO_PLAN_NONE ||
         (dispatch->otherwise < COUNT(KIND) && plan->kinds[dispatch->otherwise].prefix == prefix);
}

static bool check_dispatches(struct kymo_plan_verify *v) {
  const struct kymo_plan *plan = v->plan;
  for (uint32_t i = 0; i < COUNT(KIND_REF); i++)
    if (!need(v, plan->kind_refs[i].kind < COUNT(KIND), "reference to a kind", i))
      return false;
  for (uint32_t i = 0; i < COUNT(DISPATCH); i++) {
    const struct kymo_plan_dispatch *dispatch = &plan->dispatches[i];
    bool ok = dispatch->count >= 1 && is_range(dispatch->first, dispatch->count, COUNT(KIND_REF)) &&
              (dispatch->slot == KYMO_PLAN_NONE || check_table(v, dispatch));
    if (!need(v, ok, "dispatch", i))
      return false;
  }
  return true;
}

static bool check_steps(struct kymo_plan_verify *v) {
  for (uint32_t i = 0; i < COUNT(STEP); i++) {
    const struct kymo_plan_step *step = &v->plan->steps[i];
    bool is_blocks = step->dispatch == KYMO_PLAN_NONE;
    bool ok = is_one(step->dispatch, COUNT(DISPATCH)) && is_one(step->until, COUNT(KIND)) &&
              step->inner_count < COUNT(STEP) - i &&
              (is_blocks ? step->size != KYMO_PLAN_NONE : step->inner_count == 0);
    if (!need(v, ok, "step", i) || !check_expression(v, step->times, 0, NULL) ||
        !check_expression(v, step->at, 0, NULL) || !check_expression(v, step->size, 0, NULL))
      return false;
  }
  return true;
}

static bool check_boxes(struct kymo_plan_verify *v) {
  const struct kymo_plan *plan = v->plan;
  for (uint32_t i = 0; i < COUNT(BOX); i++) {
    const struct kymo_plan_box *box = &plan->boxes[i];
    bool ok = box->kind < COUNT(KIND) && plan->kinds[box->kind].holds != KYMO_PLAN_NONE &&
              box->method <= KYMO_METHOD_PLAIN && (i == 0 || box[-1].kind < box->kind) &&
              (box->method == KYMO_METHOD_XOR) == (box->key != KYMO_PLAN_NONE);
    if (!need(v, ok, "box", i))
      return false;
    const struct kymo_plan_kind *kind = &plan->kinds[box->kind];
    if (!check_expression(v, box->bytes, kind->slot_count, kind) ||
        !check_expression(v, box->key, kind->slot_count, kind))
      return false;
  }
  return true;
}

static bool check_clocks(struct kymo_plan_verify *v) {
  for (uint32_t i = 0; i < COUNT(CLOCK); i++) {
    const struct kymo_plan_clock *clock = &v->plan->clocks[i];
    if (!need(v, clock->name < COUNT(TEXT) && (clock->resolution_low || clock->resolution_high), "clock",
              i) ||
        !check_expression(v, clock->rate, 0, NULL) || !check_expression(v, clock->slack, 0, NULL))
      return false;
  }
  return true;
}

/* One more than a column, or 0. */
static bool is_column(const struct kymo_plan_verify *v, uint32_t column) { return column <= COUNT(COLUMN); }

static bool is_recipe_list(const struct kymo_plan_verify *v, const struct kymo_plan_recipe *recipe) {
  return recipe->name_column < COUNT(COLUMN) && recipe->type_column < COUNT(COLUMN) &&
         is_one(recipe->size_column, COUNT(COLUMN)) && is_column(v, recipe->scale_column) &&
         is_column(v, recipe->over_column) && is_column(v, recipe->offset_column) &&
         is_column(v, recipe->unit_column) && is_column(v, recipe->absent_column);
}

static bool is_recipe(const struct kymo_plan_verify *v, uint32_t index) {
  const struct kymo_plan *plan = v->plan;
  const struct kymo_plan_recipe *recipe = &plan->recipes[index];
  bool is_list = recipe->style == KYMO_STYLE_LIST;
  bool ok = recipe->table < COUNT(TABLE) && plan->tables[recipe->table].holds == KYMO_HOLDS_RECORDS &&
            recipe->style <= KYMO_STYLE_LIST && is_one(recipe->letters, COUNT(LETTERS)) &&
            is_range(recipe->first_override, recipe->override_count, COUNT(OVERRIDE));
  ok = ok && (is_list ? is_recipe_list(v, recipe)
                      : recipe->letters != KYMO_PLAN_NONE && recipe->split < COUNT(TEXT));
  ok = ok && (recipe->nested == 0 || (recipe->nested <= COUNT(TABLE) &&
                                      plan->tables[recipe->nested - 1].holds == KYMO_HOLDS_RECORDS));
  uint32_t next = recipe->next; /* later than this one, so that there is an end */
  return ok && (next == 0 || (next - 1 > index && next <= COUNT(RECIPE) &&
                              plan->recipes[next - 1].style == KYMO_STYLE_LIST));
}

static bool check_recipes(struct kymo_plan_verify *v) {
  const struct kymo_plan *plan = v->plan;
  for (uint32_t i = 0; i < COUNT(RECIPE); i++)
    if (!need(v, is_recipe(v, i), "recipe", i))
      return false;
  for (uint32_t i = 0; i < COUNT(OVERRIDE); i++) {
    const struct kymo_plan_override *one = &plan->overrides[i];
    bool ok = one->name < COUNT(TEXT) && is_one(one->view, COUNT(VIEW)) &&
              (one->order == KYMO_PLAN_NONE || one->order <= KYMO_PLAN_CURRENT) &&
              is_one(one->clock, COUNT(CLOCK)) && one->time_mode <= KYMO_TIME_SPAN &&
              (one->time_mode != KYMO_TIME_LOW || (one->low_bits >= 1 && one->low_bits <= 64)) &&
              (one->unit_kind & ~(uint32_t)KYMO_TIME_UNITS) == 0 &&
              is_absent(v, one->absent, one->absent_low);
    if (!need(v, ok, "override", i))
      return false;
  }
  return true;
}

int kymo_plan_verify(const struct kymo_plan *plan, const char *file, struct kymo_error *error) {
  uint64_t code = KYMO_PLAN_COUNT(plan, INSTRUCTION);
  struct kymo_plan_verify v = {.plan = plan, .file = file, .error = error, .budget = code * 16 + 1024};
  v.labels = calloc(code + 1, sizeof *v.labels);
  v.prefix_slots = calloc((size_t)KYMO_PLAN_COUNT(plan, PREFIX) + 1, sizeof *v.prefix_slots);
  bool has_memory = v.labels && v.prefix_slots;
  bool ok = has_memory;
  if (ok && KYMO_PLAN_COUNT(plan, ROOT) != 1)
    ok = kymo_plan_verify_fail(&v, "it has %u roots", KYMO_PLAN_COUNT(plan, ROOT));
  ok = ok && check_texts(&v) && check_root(&v) && check_interpretations(&v) && check_types(&v) &&
       check_recipes(&v) && check_kinds(&v) && check_dispatches(&v) && check_steps(&v) && check_boxes(&v) &&
       check_clocks(&v);
  free(v.labels);
  free(v.prefix_slots);
  if (!has_memory)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return ok ? KYMO_OK : KYMO_E_FORMAT;
}
