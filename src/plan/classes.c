/* SPDX-License-Identifier: MIT */
/* The schema of a plan: what users see of the files that it describes. classes.h shows the layout of
 * rows. */
#include "plan/classes.h"
#include "base/fail.h"
#include "base/list.h"
#include "schema/attribute.h"
#include "schema/build.h"
#include "schema/flag.h"
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

/* ---- forms ---- */

static double double_of(uint32_t low, uint32_t high) {
  uint64_t bits = kymo_plan_wide(low, high);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

struct kymo_plan_form kymo_plan_form(const struct kymo_plan *plan, uint32_t shape, uint32_t bits,
                                     uint32_t view) {
  struct kymo_plan_form form = {.view = view == KYMO_PLAN_NONE ? NULL : &plan->views[view],
                                .bytes = bits / 8};
  static const enum kymo_plan_form_kind kinds[] = {[KYMO_SHAPE_UNSIGNED] = KYMO_FORM_UNSIGNED,
                                                   [KYMO_SHAPE_SIGNED] = KYMO_FORM_SIGNED,
                                                   [KYMO_SHAPE_FLOAT] = KYMO_FORM_FLOAT,
                                                   [KYMO_SHAPE_TEXT] = KYMO_FORM_TEXT,
                                                   [KYMO_SHAPE_BLOB] = KYMO_FORM_BLOB};
  form.kind = kinds[shape];
  if (form.kind == KYMO_FORM_BLOB && bits)
    form.kind = KYMO_FORM_BLOB_FIXED;
  if (!form.view)
    return form;
  form.show = (enum kymo_plan_show)form.view->show;
  bool is_number = form.kind == KYMO_FORM_UNSIGNED || form.kind == KYMO_FORM_SIGNED;
  bool is_text =
      is_number ? form.show == KYMO_SHOW_CHAR : form.show == KYMO_SHOW_ADDRESS || form.show == KYMO_SHOW_UUID;
  if (form.view->has_scale) {
    form.has_scale = true;
    form.scale = double_of(form.view->scale_low, form.view->scale_high);
    double divisor = form.scale != 0 ? nearbyint(1 / form.scale) : 0;
    form.divisor = fabs(divisor) > 1 && 1 / divisor == form.scale ? divisor : 0;
    form.offset = double_of(form.view->offset_low, form.view->offset_high);
    form.kind = KYMO_FORM_FLOAT;
    form.bytes = 8;
  } else if (is_text && form.kind != KYMO_FORM_TEXT && form.kind != KYMO_FORM_FLOAT) {
    form.kind = KYMO_FORM_TEXT;
  }
  return form;
}

bool kymo_plan_field_is_list(const struct kymo_plan *plan, const struct kymo_plan_field *field) {
  return field->inner_count > 0 || field->count > 0 || plan->letters[field->letter].count > 0;
}

/* ---- numbers of classes ---- */

/* The clock of the time stamp that these instructions compute; NONE: they compute none. */
static uint32_t clock_in(const struct kymo_plan *plan, uint32_t block) {
  if (block == KYMO_PLAN_NONE)
    return KYMO_PLAN_NONE;
  const struct kymo_plan_instruction *what = plan->code + plan->blocks[block].first;
  for (uint32_t i = 0; i < plan->blocks[block].count; i++)
    if (what[i].code == KYMO_DO_TIME && (what[i].b & KYMO_TIME_IS_ACQUISITION))
      return what[i].a;
  return KYMO_PLAN_NONE;
}

/* The clock of the trace: that of the events that users see is preferred to that of headers and other parts
 * between them. */
static uint32_t clock_of(const struct kymo_plan *plan) {
  uint32_t clock = KYMO_PLAN_NONE;
  for (uint32_t i = 0; clock == KYMO_PLAN_NONE && i < KYMO_PLAN_COUNT(plan, KIND); i++) {
    const struct kymo_plan_kind *kind = &plan->kinds[i];
    if (kind->class_ != KYMO_CLASS_EVENT)
      continue;
    clock = clock_in(plan, kind->part.block);
    if (clock == KYMO_PLAN_NONE && kind->prefix != KYMO_PLAN_NONE)
      clock = clock_in(plan, plan->prefixes[kind->prefix].part.block);
  }
  for (uint32_t i = 0; clock == KYMO_PLAN_NONE && i < KYMO_PLAN_COUNT(plan, OVERRIDE); i++)
    clock = plan->overrides[i].clock;
  for (uint32_t i = 0; clock == KYMO_PLAN_NONE && i < KYMO_PLAN_COUNT(plan, BLOCK); i++)
    clock = clock_in(plan, i);
  return clock;
}

/* Whether a record has a time whatever its bytes are: one is computed before anything may be left out or is
 * looked up elsewhere. */
static bool sets_time(const struct kymo_plan *plan, uint32_t block) {
  static const bool is_uncertain[KYMO_DO_COUNT] = {
      [KYMO_DO_ABSENT] = true, [KYMO_DO_KEPT] = true,       [KYMO_DO_PREVIOUS] = true,
      [KYMO_DO_LOOKUP] = true, [KYMO_DO_ABSENT_IF] = true,  [KYMO_DO_TEXT_AT] = true,
      [KYMO_DO_JUMP] = true,   [KYMO_DO_JUMP_FALSE] = true, [KYMO_DO_JUMP_TRUE] = true,
      [KYMO_DO_LOOP] = true,   [KYMO_DO_FIELD] = true,      [KYMO_DO_NAME_OF] = true,
      [KYMO_DO_CONCAT] = true};
  const struct kymo_plan_instruction *what =
      block == KYMO_PLAN_NONE ? NULL : plan->code + plan->blocks[block].first;
  for (uint32_t i = 0; what && i < plan->blocks[block].count && !is_uncertain[what[i].code]; i++) {
    uint32_t mode = what[i].b & KYMO_TIME_MODE;
    if (what[i].code == KYMO_DO_TIME &&
        (mode == KYMO_TIME_POINT || mode == KYMO_TIME_DISTANCE || mode == KYMO_TIME_LOW))
      return true;
  }
  return false;
}

/* Whether an event may have no time. A record that damage cuts off before its time does not count. */
static bool may_lack_time(const struct kymo_plan *plan) {
  bool may = false;
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, KIND) && !may; i++) {
    const struct kymo_plan_kind *kind = &plan->kinds[i];
    may = kind->class_ == KYMO_CLASS_EVENT && !sets_time(plan, kind->part.block) &&
          (kind->prefix == KYMO_PLAN_NONE || !sets_time(plan, plan->prefixes[kind->prefix].part.block));
  }
  return may;
}

/* The longest time before a clock's origin that can be represented: 146 years, so that other readers of our
 * output can represent it too. */
#define BIAS_SECONDS INT64_C(4611686018)

/* Whether some record may be before the origin. */
static bool has_negative_times(const struct kymo_plan *plan, uint32_t clock) {
  const struct kymo_plan_clock *what = clock == KYMO_PLAN_NONE ? NULL : &plan->clocks[clock];
  bool is = what && what->has_epoch && ((int32_t)what->epoch_days < 0 || (int32_t)what->epoch_high < 0),
       is_late = false;
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, INSTRUCTION); i++)
    is |= plan->code[i].code == KYMO_DO_TIME && (plan->code[i].b & KYMO_TIME_IS_SIGNED) &&
          (plan->code[i].b & KYMO_TIME_MODE) < KYMO_TIME_UNTIL;
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, OVERRIDE); i++)
    is_late |= plan->overrides[i].clock != KYMO_PLAN_NONE;
  for (uint32_t i = 0; is_late && i < KYMO_PLAN_COUNT(plan, LETTER); i++)
    is |= plan->letters[i].shape == KYMO_SHAPE_SIGNED || plan->letters[i].shape == KYMO_SHAPE_FLOAT;
  return is;
}

const struct kymo_plan_option *kymo_plan_event_option(const struct kymo_plan *plan,
                                                      const struct kymo_plan_kind *kind) {
  const struct kymo_plan_column *column =
      kind->event_column == KYMO_PLAN_NONE ? NULL : &plan->columns[kind->event_column];
  return column && kymo_plan_is_single(column) ? &plan->options[column->first_option] : NULL;
}

static const struct kymo_plan_view *event_view(const struct kymo_plan *plan,
                                               const struct kymo_plan_kind *kind) {
  const struct kymo_plan_option *option = kymo_plan_event_option(plan, kind);
  return !option || option->view == KYMO_PLAN_NONE ? NULL : &plan->views[option->view];
}

/* Numbers the distinct texts of a TOKEN list; `seen` is by text, and zeros. */
static void number_texts(struct kymo_plan_classes *classes, const struct kymo_plan *plan, uint32_t token,
                         uint32_t *seen) {
  const struct kymo_plan_token_item *items = &plan->token_items[plan->tokens[token].first];
  uint32_t count = 0, all = plan->tokens[token].count;
  for (uint32_t i = 0; i < all; i++) {
    uint32_t *number = &seen[items[i].text];
    if (!*number) {
      classes->token_item[token][count] = i;
      *number = ++count;
    }
    classes->token_class[token][i] = *number - 1;
  }
  for (uint32_t i = 0; i < all; i++)
    seen[items[i].text] = 0;
  classes->token_texts[token] = count;
}

/* The number of classes that a kind has besides its own. */
static uint32_t refinements(const struct kymo_plan_classes *classes, const struct kymo_plan *plan,
                            const struct kymo_plan_found *found, const struct kymo_plan_kind *kind) {
  const struct kymo_plan_view *view = event_view(plan, kind);
  if (kind->from_table != KYMO_PLAN_NONE)
    return found ? found->records[kind->from_table].count : 0;
  if (view && view->token != KYMO_PLAN_NONE)
    return classes->token_texts[view->token];
  return view && view->names != KYMO_PLAN_NONE && found ? found->names[view->names].count : 0;
}

bool kymo_plan_classes_make(struct kymo_plan_classes *classes, struct kymo_arena *arena,
                            const struct kymo_plan *plan, const struct kymo_plan_found *found) {
  uint32_t tokens = KYMO_PLAN_COUNT(plan, TOKEN), kinds = KYMO_PLAN_COUNT(plan, KIND);
  *classes = (struct kymo_plan_classes){.clock = clock_of(plan)};
  classes->may_lack_time = classes->clock != KYMO_PLAN_NONE && may_lack_time(plan);
  classes->bias_ns = has_negative_times(plan, classes->clock) ? BIAS_SECONDS * 1000000000 : 0;
  classes->first = kymo_arena_array(arena, kinds + 1, sizeof *classes->first);
  classes->token_class = kymo_arena_array(arena, tokens + 1, sizeof *classes->token_class);
  classes->token_item = kymo_arena_array(arena, tokens + 1, sizeof *classes->token_item);
  classes->token_texts = kymo_arena_array(arena, tokens + 1, sizeof *classes->token_texts);
  uint32_t *seen = kymo_arena_array(arena, (size_t)KYMO_PLAN_COUNT(plan, TEXT) + 1, sizeof *seen);
  if (!classes->first || !classes->token_class || !classes->token_item || !classes->token_texts || !seen)
    return false;
  for (uint32_t i = 0; i < tokens; i++) {
    classes->token_class[i] =
        kymo_arena_array(arena, plan->tokens[i].count + 1, sizeof **classes->token_class);
    classes->token_item[i] = kymo_arena_array(arena, plan->tokens[i].count + 1, sizeof **classes->token_item);
    if (!classes->token_class[i] || !classes->token_item[i])
      return false;
    number_texts(classes, plan, i, seen);
  }
  for (uint32_t i = 0; i < kinds; i++) {
    uint32_t rest = KYMO_PLAN_CLASSES_MAX - classes->count, more;
    classes->first[i] = classes->count;
    more = refinements(classes, plan, found, &plan->kinds[i]);
    classes->count += more < rest ? 1 + more : rest ? 1 : 0;
  }
  classes->first[kinds] = classes->count;
  return true;
}

/* ---- types ---- */

#define STEPS_MAX (2 * KYMO_PLAN_LISTS + 3)

/* A payload, or an element of a list of structs, while its members are made. */
struct body {
  struct kymo_member *members;
  uint32_t count, capacity;
  size_t underscores;                       /* the prefix of the names of hidden members */
  uint32_t depth, way[2 * KYMO_PLAN_LISTS]; /* steps from the payload to this struct */
};

struct maker {
  const struct kymo_plan *plan;
  struct kymo_builder *builder;
  const struct kymo_plan_found *found;
  struct kymo_plan_classes classes;
  struct kymo_stream_class *stream;
  struct body *body; /* the current one */
  struct kymo_error *error;
};

static char *text_of(struct maker *maker, uint32_t text) {
  uint32_t size;
  const uint8_t *bytes = kymo_plan_text(maker->plan, text, &size);
  char *copy = bytes ? kymo_builder_alloc(maker->builder, (size_t)size + 1) : NULL;
  for (uint32_t i = 0; copy && i < size; i++)
    copy[i] = bytes[i] ? (char)bytes[i] : ' ';
  return copy;
}

static bool fits(struct kymo_wide n, bool is_signed, uint32_t bits) {
  if (!is_signed)
    return n.high == 0 && (bits == 64 || n.low >> bits == 0);
  int64_t value = (int64_t)n.low, most = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
  return n.high == (value < 0 ? -1 : 0) && value <= most && value >= -most - 1;
}

static void add_mapping(struct kymo_type *type, struct kymo_mapping *list, const char *name,
                        struct kymo_wide low, struct kymo_wide high) {
  if (name && fits(low, type->is_signed, type->size_bits) && fits(high, type->is_signed, type->size_bits))
    list[type->mapping_count++] = (struct kymo_mapping){name, low.low, high.low};
}

static bool map_token(struct maker *maker, struct kymo_type *type, const struct kymo_plan_token *token) {
  struct kymo_mapping *list = kymo_builder_alloc(maker->builder, (token->count + 1) * sizeof *list);
  for (uint32_t i = 0; list && i < token->count; i++) {
    const struct kymo_plan_token_item *item = &maker->plan->token_items[token->first + i];
    uint64_t low = kymo_plan_wide(item->low_low, item->low_high),
             high = kymo_plan_wide(item->high_low, item->high_high);
    add_mapping(type, list, text_of(maker, item->text),
                item->is_unsigned ? kymo_wide_of_u64(low) : kymo_wide_of_i64((int64_t)low),
                item->is_unsigned ? kymo_wide_of_u64(high) : kymo_wide_of_i64((int64_t)high));
  }
  type->mappings = list;
  type->is_enumeration = true;
  return list != NULL;
}

/* Mappings from the contents of a NAMES table in the first pass; of several names of a key the first one
 * counts. */
static bool map_names(struct maker *maker, struct kymo_type *type, uint32_t table) {
  const struct kymo_plan_pairs *pairs = maker->found ? &maker->found->pairs[table] : NULL;
  uint32_t count = pairs ? pairs->count : 0;
  struct kymo_mapping *list = kymo_builder_alloc(maker->builder, (count + 1) * sizeof *list);
  for (uint32_t i = 0; list && i < count; i++) {
    const struct kymo_expr_value *text = &maker->found->names[table].texts[pairs->list[i].name];
    char *copy = kymo_arena_copy(kymo_builder_arena(maker->builder), (const char *)text->p,
                                 strnlen((const char *)text->p, text->size));
    if (!copy)
      return false;
    add_mapping(type, list, copy, pairs->list[i].key, pairs->list[i].key);
  }
  type->mappings = list;
  type->is_enumeration = true;
  return list != NULL;
}

static uint32_t count_runs(uint64_t bits) { return (uint32_t)__builtin_popcountll(bits & ~(bits << 1)); }

/* Adds the runs of ones in `bits`, `up` bits further up. */
static uint32_t add_runs(struct kymo_mapping *list, const char *name, uint64_t bits, uint64_t up) {
  uint32_t count = 0;
  while (bits) {
    uint64_t low = (uint64_t)__builtin_ctzll(bits), rest = ~(bits >> low);
    uint64_t length = rest ? (uint64_t)__builtin_ctzll(rest) : 64;
    list[count++] = (struct kymo_mapping){name, low + up, low + length - 1 + up};
    bits &= ~((length == 64 ? UINT64_MAX : (UINT64_C(1) << length) - 1) << low);
  }
  return count;
}

struct mask {
  uint64_t ones, zeros;
};

/* False: the field is too narrow for the flag. */
static bool find_mask(const struct kymo_plan_flag_item *item, const struct kymo_type *type,
                      struct mask *mask) {
  uint64_t bits = kymo_plan_wide(item->mask_low, item->mask_high),
           value = kymo_plan_wide(item->value_low, item->value_high);
  *mask = (struct mask){value & bits, bits & ~value};
  return type->size_bits >= 64 || !(bits >> type->size_bits);
}

/* The runs of ones and zeros of each flag; flags for which the field is too narrow are left out.
 * (schema/flag.h) */
static bool map_flags(struct maker *maker, struct kymo_type *type, const struct kymo_plan_flag *flags) {
  const struct kymo_plan_flag_item *items = &maker->plan->flag_items[flags->first];
  struct mask mask;
  size_t runs = 0;
  for (uint32_t i = 0; i < flags->count; i++)
    if (find_mask(&items[i], type, &mask))
      runs += count_runs(mask.ones) + count_runs(mask.zeros) + 1;
  struct kymo_mapping *list = kymo_builder_alloc(maker->builder, (runs + 1) * sizeof *list);
  for (uint32_t i = 0; list && i < flags->count; i++) {
    if (!find_mask(&items[i], type, &mask))
      continue;
    char *name = text_of(maker, items[i].text);
    if (!name)
      return false;
    type->mapping_count += add_runs(list + type->mapping_count, name, mask.ones, 0);
    type->mapping_count += add_runs(list + type->mapping_count, name, mask.zeros, 64);
    if (!mask.zeros && (mask.ones & (mask.ones - 1)))
      list[type->mapping_count++] = (struct kymo_mapping){name, KYMO_FLAG_VALUE_BIT, KYMO_FLAG_VALUE_BIT};
  }
  type->mappings = list;
  type->kind = KYMO_KIND_BITMAP;
  type->is_signed = false;
  return list != NULL;
}

/* Units and interpretations. */
static bool add_view(struct maker *maker, struct kymo_type *type, const struct kymo_plan_form *form) {
  const struct kymo_plan_view *view = form->view;
  bool is_number = form->kind == KYMO_FORM_UNSIGNED || form->kind == KYMO_FORM_SIGNED;
  if (form->unit)
    type->unit = kymo_builder_text(maker->builder, form->unit);
  else if (view && view->unit != KYMO_PLAN_NONE && form->kind <= KYMO_FORM_FLOAT)
    type->unit = text_of(maker, view->unit);
  if (!view || !is_number)
    return true;
  type->base = form->show == KYMO_SHOW_HEX || form->show == KYMO_SHOW_ADDRESS ? 16 : 10;
  type->is_address = form->show == KYMO_SHOW_ADDRESS;
  if (view->flags != KYMO_PLAN_NONE)
    return map_flags(maker, type, &maker->plan->flags[view->flags]);
  if (view->token != KYMO_PLAN_NONE)
    return map_token(maker, type, &maker->plan->tokens[view->token]);
  return view->names == KYMO_PLAN_NONE || map_names(maker, type, view->names);
}

/* The length of a blob of any length: a member before it, or one of the element that contains it. */
struct length {
  const struct kymo_type *type;
  uint32_t depth, steps[STEPS_MAX];
};

/* The place of a member of the current struct: `steps` lead there from the struct. */
static struct length place_of(const struct maker *maker, const struct kymo_type *type, uint32_t count,
                              const uint32_t *steps) {
  struct length length = {.type = type, .depth = maker->body->depth + count};
  memcpy(length.steps, maker->body->way, maker->body->depth * sizeof *steps);
  memcpy(length.steps + maker->body->depth, steps, count * sizeof *steps);
  return length;
}

static bool refer(struct maker *maker, struct kymo_reference *reference, const struct length *length) {
  uint32_t *steps = kymo_builder_alloc(maker->builder, length->depth * sizeof *steps);
  if (steps)
    memcpy(steps, length->steps, length->depth * sizeof *steps);
  *reference = (struct kymo_reference){.scope = KYMO_SCOPE_PAYLOAD, .depth = length->depth, .steps = steps};
  return steps != NULL;
}

static const struct kymo_type *value_type(struct maker *maker, const struct kymo_plan_form *form,
                                          const struct length *length) {
  struct kymo_type type = {.kind = KYMO_KIND_INTEGER, .align_bits = 8, .base = 10};
  switch (form->kind) {
  case KYMO_FORM_SIGNED: type.is_signed = true; /* fall through */
  case KYMO_FORM_UNSIGNED: type.size_bits = form->bytes * 8; break;
  case KYMO_FORM_FLOAT:
    type.kind = KYMO_KIND_FLOAT;
    type.base = 0;
    type.size_bits = form->bytes * 8;
    break;
  case KYMO_FORM_TEXT:
    type.kind = KYMO_KIND_STRING;
    type.base = 0;
    type.encoding = KYMO_ENCODING_UTF8;
    break;
  case KYMO_FORM_BLOB_FIXED:
    type.kind = KYMO_KIND_BLOB_ARRAY;
    type.base = 0;
    type.length = form->bytes;
    break;
  case KYMO_FORM_BLOB:
    type.kind = KYMO_KIND_BLOB_SEQUENCE;
    type.base = 0;
    type.selector_type = length->type;
    if (!refer(maker, &type.selector, length))
      return NULL;
  }
  return add_view(maker, &type, form) ? kymo_builder_type(maker->builder, &type) : NULL;
}

/* ---- members ---- */

static bool add_member(struct maker *maker, const char *name, const struct kymo_type *type, bool is_hidden) {
  struct body *body = maker->body;
  if (!KYMO_LIST_ROOM(body->members, body->capacity, body->count))
    return false;
  body->members[body->count++] = (struct kymo_member){.name = name,
                                                      .source_name = name,
                                                      .type = type,
                                                      .attributes = is_hidden ? KYMO_ATTRIBUTE_HIDDEN : NULL};
  return name && type;
}

/* A hidden number before a column; its name says what it is, and of which column. */
static bool add_number(struct maker *maker, const char *prefix, const char *name, uint32_t bits) {
  size_t underscores = maker->body->underscores;
  char *text = kymo_builder_alloc(maker->builder, underscores + strlen(prefix) + strlen(name) + 1);
  if (!text)
    return false;
  memset(text, '_', underscores);
  stpcpy(stpcpy(text + underscores, prefix), name);
  return add_member(maker, text, kymo_builder_number(maker->builder, bits, 0, NULL), true);
}

static struct length last_member(struct maker *maker) {
  uint32_t last = maker->body->count - 1;
  return place_of(maker, maker->body->members[last].type, 1, &last);
}

/* One field of rows: a column of the plan, or of a definition at run time, which has one form. */
struct field {
  const char *name;
  const struct kymo_plan_option *options;
  const struct kymo_plan_form *form; /* or NULL */
  uint32_t option_count;
  bool is_list, is_optional;
};

static struct kymo_plan_form form_of(const struct maker *maker, const struct field *field, uint32_t option) {
  const struct kymo_plan_option *what = field->form ? NULL : &field->options[option];
  return what ? kymo_plan_form(maker->plan, what->shape, what->bits, what->view) : *field->form;
}

static const struct kymo_type *option_type(struct maker *maker, const struct field *field, uint32_t option,
                                           const struct length *length) {
  struct kymo_plan_form form = form_of(maker, field, option);
  return value_type(maker, &form, length);
}

/* A variant that is selected by the number at `tag`; the number at `length` is the length of blobs in it. */
static const struct kymo_type *variant_type(struct maker *maker, const struct field *field,
                                            const struct length *tag, const struct length *length) {
  struct kymo_member *members = kymo_builder_alloc(maker->builder, field->option_count * sizeof *members);
  struct kymo_range *ranges = kymo_builder_alloc(maker->builder, field->option_count * sizeof *ranges);
  struct kymo_type type = {.kind = KYMO_KIND_VARIANT,
                           .align_bits = 8,
                           .members = members,
                           .member_count = field->option_count,
                           .selector_type = tag->type};
  if (!members || !ranges || !refer(maker, &type.selector, tag))
    return NULL;
  for (uint32_t i = 0; i < field->option_count; i++) {
    char *name = kymo_builder_alloc(maker->builder, 24);
    if (!name)
      return NULL;
    snprintf(name, 24, "option%u", i);
    ranges[i] = (struct kymo_range){i, i};
    members[i] = (struct kymo_member){.name = name,
                                      .source_name = name,
                                      .type = option_type(maker, field, i, length),
                                      .ranges = &ranges[i],
                                      .range_count = 1};
    if (!members[i].type)
      return NULL;
  }
  return kymo_builder_type(maker->builder, &type);
}

static bool has_counted(const struct maker *maker, const struct field *field) {
  bool is = false;
  for (uint32_t i = 0; i < field->option_count; i++)
    is |= form_of(maker, field, i).kind == KYMO_FORM_BLOB;
  return is;
}

/* An element of a list: the value, or a struct of it and the numbers that it needs. */
static const struct kymo_type *element_type(struct maker *maker, const struct field *field) {
  bool is_variant = field->option_count > 1, has_count = has_counted(maker, field);
  struct kymo_member members[3];
  uint32_t count = 0, steps[3] = {maker->body->count, KYMO_STEP_ELEMENT, 0};
  struct length tag = place_of(maker, kymo_builder_number(maker->builder, 8, 0, NULL), 3, steps);
  steps[2] = is_variant;
  struct length length = place_of(maker, kymo_builder_number(maker->builder, 32, 0, NULL), 3, steps);
  if (!is_variant && !has_count)
    return option_type(maker, field, 0, NULL);
  if (is_variant)
    members[count++] =
        (struct kymo_member){.name = "which", .type = tag.type, .attributes = KYMO_ATTRIBUTE_HIDDEN};
  if (has_count)
    members[count++] =
        (struct kymo_member){.name = "n", .type = length.type, .attributes = KYMO_ATTRIBUTE_HIDDEN};
  members[count] = (struct kymo_member){.name = "value", .attributes = KYMO_ATTRIBUTE_ELEMENT};
  members[count].type =
      is_variant ? variant_type(maker, field, &tag, &length) : option_type(maker, field, 0, &length);
  return kymo_builder_struct(maker->builder, members, count + 1);
}

/* A list of elements of this type, after its hidden number `length`. */
static bool add_sequence(struct maker *maker, const char *name, const struct length *length,
                         const struct kymo_type *element) {
  struct kymo_type type = {
      .kind = KYMO_KIND_SEQUENCE, .align_bits = 8, .selector_type = length->type, .element = element};
  return element && refer(maker, &type.selector, length) &&
         add_member(maker, name, kymo_builder_type(maker->builder, &type), false);
}

static bool add_list(struct maker *maker, const struct field *field) {
  if (!add_number(maker, "n_", field->name, 32))
    return false;
  struct length length = last_member(maker);
  return add_sequence(maker, field->name, &length, element_type(maker, field));
}

static const struct kymo_type *optional_type(struct maker *maker, const struct kymo_type *element,
                                             const struct length *tag, uint64_t low, uint64_t high) {
  struct kymo_range *presence = kymo_builder_alloc(maker->builder, sizeof *presence);
  struct kymo_type type = {.kind = KYMO_KIND_OPTIONAL,
                           .align_bits = 8,
                           .element = element,
                           .selector_type = tag->type,
                           .presence = presence,
                           .presence_count = 1};
  if (!presence || !element || !refer(maker, &type.selector, tag))
    return NULL;
  *presence = (struct kymo_range){low, high};
  return kymo_builder_type(maker->builder, &type);
}

static bool add_field(struct maker *maker, const struct field *field) {
  struct length tag = {0}, length = {0};
  const struct kymo_type *type;
  bool is_variant = field->option_count > 1;
  if (field->is_list)
    return add_list(maker, field);
  if (is_variant || field->is_optional) {
    if (!add_number(maker, is_variant ? "which_" : "has_", field->name, 8))
      return false;
    tag = last_member(maker);
  }
  if (has_counted(maker, field)) {
    if (!add_number(maker, "n_", field->name, 32))
      return false;
    length = last_member(maker);
  }
  type = is_variant ? variant_type(maker, field, &tag, &length) : option_type(maker, field, 0, &length);
  if (is_variant)
    type = optional_type(maker, type, &tag, 0, field->option_count - 1);
  else if (field->is_optional)
    type = optional_type(maker, type, &tag, 1, 1);
  return add_member(maker, field->name, type, false);
}

/* ---- payloads, classes ---- */

/* Fields [first, end) of a definition, but not those in lists of structs among them. */
static void count_field_underscores(struct maker *maker, const struct kymo_plan_record *record,
                                    uint32_t first, uint32_t end) {
  size_t *underscores = &maker->body->underscores;
  for (uint32_t i = first; i < end; i += 1 + record->fields[i].inner_count)
    *underscores =
        kymo_hidden_underscores(*underscores, record->fields[i].name, strlen(record->fields[i].name));
}

/* The names of hidden members differ from those of all fields beside them: columns [first, end) that are in
 * no list of structs among them, and those of a definition. */
static void count_underscores(struct maker *maker, uint32_t first, uint32_t end,
                              const struct kymo_plan_record *record) {
  size_t *underscores = &maker->body->underscores;
  *underscores = 2;
  for (uint32_t i = first; i < end; i += 1 + maker->plan->columns[i].inner_count) {
    const struct kymo_plan_column *column = &maker->plan->columns[i];
    uint32_t size;
    const uint8_t *name = kymo_plan_text(maker->plan, column->name, &size);
    if (!column->is_hidden)
      *underscores = kymo_hidden_underscores(*underscores, (const char *)name, name ? size : 0);
  }
  if (record)
    count_field_underscores(maker, record, 0, record->field_count);
}

static bool add_columns(struct maker *maker, uint32_t first, uint32_t end);

/* Begins the element of a list of structs, whose number of elements is the last member. */
static void enter_list(struct maker *maker, struct body *body) {
  struct body *outer = maker->body;
  *body = (struct body){.depth = outer->depth + 2};
  memcpy(body->way, outer->way, outer->depth * sizeof *body->way);
  body->way[outer->depth] = outer->count;
  body->way[outer->depth + 1] = KYMO_STEP_ELEMENT;
  maker->body = body;
}

/* Ends it: adds the list to the struct around it. */
static bool leave_list(struct maker *maker, struct body *outer, const char *name, const struct length *length,
                       bool is_good) {
  struct body *body = maker->body;
  const struct kymo_type *element =
      is_good ? kymo_builder_struct(maker->builder, body->members, body->count) : NULL;
  maker->body = outer;
  free(body->members);
  return add_sequence(maker, name, length, element);
}

/* A list of structs: the column and its members. */
static bool add_structs(struct maker *maker, uint32_t index, const char *name) {
  uint32_t first = index + 1, end = first + maker->plan->columns[index].inner_count;
  struct body *outer = maker->body, body;
  if (!add_number(maker, "n_", name, 32))
    return false;
  struct length length = last_member(maker);
  enter_list(maker, &body);
  count_underscores(maker, first, end, NULL);
  return leave_list(maker, outer, name, &length, add_columns(maker, first, end));
}

/* Columns [first, end). */
static bool add_columns(struct maker *maker, uint32_t first, uint32_t end) {
  const struct kymo_plan *plan = maker->plan;
  for (uint32_t i = first; i < end; i += 1 + plan->columns[i].inner_count) {
    const struct kymo_plan_column *column = &plan->columns[i];
    struct field field = {.name = text_of(maker, column->name),
                          .options = &plan->options[column->first_option],
                          .option_count = column->option_count,
                          .is_list = column->is_list,
                          .is_optional = column->is_optional};
    if (column->is_hidden)
      continue;
    if (!field.name || !(column->is_struct ? add_structs(maker, i, field.name) : add_field(maker, &field)))
      return false;
  }
  return true;
}

static bool add_fields(struct maker *maker, const struct kymo_plan_record *record, uint32_t first,
                       uint32_t end);

static bool add_field_structs(struct maker *maker, const struct kymo_plan_record *record, uint32_t index) {
  uint32_t first = index + 1, end = first + record->fields[index].inner_count;
  struct body *outer = maker->body, body;
  const char *name = kymo_builder_text(maker->builder, record->fields[index].name);
  if (!name || !add_number(maker, "n_", name, 32))
    return false;
  struct length length = last_member(maker);
  enter_list(maker, &body);
  body.underscores = 2;
  count_field_underscores(maker, record, first, end);
  return leave_list(maker, outer, name, &length, add_fields(maker, record, first, end));
}

/* Fields [first, end) of a definition. */
static bool add_fields(struct maker *maker, const struct kymo_plan_record *record, uint32_t first,
                       uint32_t end) {
  for (uint32_t i = first; i < end; i += 1 + record->fields[i].inner_count) {
    const struct kymo_plan_field *from = &record->fields[i];
    if (!kymo_plan_is_delivered(maker->plan, record, i))
      continue;
    if (from->inner_count) {
      if (!add_field_structs(maker, record, i))
        return false;
      continue;
    }
    struct kymo_plan_form form = from->form;
    struct field field = {.name = kymo_builder_text(maker->builder, from->name),
                          .form = &form,
                          .option_count = 1,
                          .is_list = kymo_plan_field_is_list(maker->plan, from),
                          .is_optional = from->is_optional};
    if (!field.name || !add_field(maker, &field))
      return false;
  }
  return true;
}

static const struct kymo_type *payload_of(struct maker *maker, const struct kymo_plan_kind *kind,
                                          const struct kymo_plan_record *record) {
  static const struct kymo_plan_option rest = {.shape = KYMO_SHAPE_BLOB, .view = KYMO_PLAN_NONE};
  uint32_t first = kind->first_column, end = first + kind->column_count;
  maker->body->count = 0;
  count_underscores(maker, first, end, record);
  if (!add_columns(maker, first, end) ||
      (record && !record->is_bytes && !add_fields(maker, record, 0, record->field_count)))
    return NULL;
  if (kind->from_table != KYMO_PLAN_NONE && (!record || record->is_bytes) &&
      !add_field(maker, &(struct field){.name = "data", .options = &rest, .option_count = 1}))
    return NULL;
  return kymo_builder_struct(maker->builder, maker->body->members, maker->body->count);
}

/* The text of a class's interpretation, `index` among those of its kind; NULL: out of memory. */
static char *interpretation(struct maker *maker, const struct kymo_plan_kind *kind, uint32_t index) {
  const struct kymo_plan *plan = maker->plan;
  const struct kymo_plan_view *view = event_view(plan, kind);
  if (kind->from_table != KYMO_PLAN_NONE)
    return kymo_builder_text(maker->builder, maker->found->records[kind->from_table].list[index]->name);
  if (view->token == KYMO_PLAN_NONE) {
    const struct kymo_expr_value *text = &maker->found->names[view->names].texts[index];
    return kymo_arena_copy(kymo_builder_arena(maker->builder), (const char *)text->p,
                           strnlen((const char *)text->p, text->size));
  }
  uint32_t item = maker->classes.token_item[view->token][index];
  return text_of(maker, plan->token_items[plan->tokens[view->token].first + item].text);
}

/* Attributes of a class besides its name: that its records are no events, and their kind if the class is
 * named by their EVENT. */
static const char *attributes_of(struct maker *maker, const struct kymo_plan_kind *kind, const char *what) {
  static const char *const classes[] = {[KYMO_CLASS_CONTROL] = "\"kymo.class\":\"control\"",
                                        [KYMO_CLASS_DEFINITION] = "\"kymo.class\":\"definition\"",
                                        [KYMO_CLASS_SEGMENT] = "\"kymo.class\":\"segment\""};
  const char *class_ = kind->class_ == KYMO_CLASS_EVENT ? "" : classes[kind->class_],
             *name = text_of(maker, kind->name);
  bool has_kind = name && strcmp(name, what) != 0 && !strpbrk(name, "\"\\");
  if (!has_kind && !*class_)
    return NULL;
  size_t size = strlen(class_) + (has_kind ? strlen(name) : 0) + 32;
  char *attributes = kymo_builder_alloc(maker->builder, size);
  if (attributes && has_kind)
    snprintf(attributes, size, "{%s%s\"kymo.kind\":\"%s\"}", class_, *class_ ? "," : "", name);
  else if (attributes)
    snprintf(attributes, size, "{%s}", class_);
  return attributes;
}

static int add_class(struct maker *maker, const struct kymo_plan_kind *kind, uint32_t id, const char *what,
                     const struct kymo_type *payload) {
  char *group = text_of(maker, maker->plan->root->name);
  size_t size = group && what ? strlen(group) + strlen(what) + 2 : 0;
  char *name = size ? kymo_builder_alloc(maker->builder, size) : NULL;
  if (!name || !payload)
    return kymo_fail(maker->error, KYMO_E_MEMORY, "out of memory");
  snprintf(name, size, "%s:%s", group, what);
  struct kymo_event_class event = {.id = id,
                                   .group = group,
                                   .name = name,
                                   .level = -1,
                                   .payload = payload,
                                   .attributes = attributes_of(maker, kind, what)};
  return kymo_builder_event(maker->builder, maker->stream, &event, NULL, maker->error);
}

static int add_kind(struct maker *maker, uint32_t index) {
  const struct kymo_plan_kind *kind = &maker->plan->kinds[index];
  uint32_t first = maker->classes.first[index], count = maker->classes.first[index + 1] - first;
  const struct kymo_type *payload = payload_of(maker, kind, NULL);
  int status = count ? add_class(maker, kind, first, text_of(maker, kind->name), payload) : KYMO_OK;
  for (uint32_t i = 1; i < count && status == KYMO_OK; i++) {
    if (kind->from_table != KYMO_PLAN_NONE)
      payload = payload_of(maker, kind, maker->found->records[kind->from_table].list[i - 1]);
    status = add_class(maker, kind, first + i, interpretation(maker, kind, i - 1), payload);
  }
  return status;
}

/* ---- clock, header ---- */

static const struct kymo_clock *make_clock(struct maker *maker) {
  const struct kymo_plan_clock *clock = &maker->plan->clocks[maker->classes.clock];
  return kymo_builder_clock(maker->builder,
                            &(struct kymo_clock){.name = text_of(maker, clock->name),
                                                 .frequency = 1000000000,
                                                 .offset_seconds = -maker->classes.bias_ns / 1000000000,
                                                 .origin_is_epoch = clock->has_epoch});
}

bool kymo_plan_counts_losses(const struct kymo_plan *plan) {
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, INSTRUCTION); i++)
    if (plan->code[i].code == KYMO_DO_SEQUENCE || plan->code[i].code == KYMO_DO_LOST)
      return true;
  return false;
}

bool kymo_plan_defines_late(const struct kymo_plan *plan) {
  bool is_late = false;
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, TABLE); i++)
    is_late |= plan->tables[i].holds == KYMO_HOLDS_RECORDS;
  return is_late;
}

bool kymo_plan_names_late(const struct kymo_plan *plan) {
  bool is_late = kymo_plan_defines_late(plan);
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, VIEW); i++)
    is_late |= plan->views[i].names != KYMO_PLAN_NONE;
  return is_late;
}

/* The number of records lost up to a packet. */
static const struct kymo_type *make_context(struct maker *maker) {
  const struct kymo_type *count = kymo_builder_number(maker->builder, 64, KYMO_ROLE_DISCARDED, NULL);
  struct kymo_member member = {.name = "events_discarded", .type = count};
  return count ? kymo_builder_struct(maker->builder, &member, 1) : NULL;
}

static int make_stream(struct maker *maker) {
  struct kymo_member members[3];
  uint32_t count = 0;
  const struct kymo_clock *clock = NULL;
  if (maker->classes.clock != KYMO_PLAN_NONE) {
    clock = make_clock(maker);
    const struct kymo_type *time = kymo_builder_number(maker->builder, 64, KYMO_ROLE_TIMESTAMP, clock);
    members[count++] = (struct kymo_member){.name = "time", .type = time};
  }
  const struct kymo_type *id = kymo_builder_number(maker->builder, 16, KYMO_ROLE_EVENT_CLASS_ID, NULL);
  members[count++] = (struct kymo_member){.name = "id", .type = id};
  if (maker->classes.may_lack_time)
    members[count++] =
        (struct kymo_member){.name = KYMO_TIMED, .type = kymo_builder_number(maker->builder, 8, 0, NULL)};
  struct kymo_stream_class stream = {.event_header = kymo_builder_struct(maker->builder, members, count),
                                     .clock = clock};
  bool counts_losses = kymo_plan_counts_losses(maker->plan);
  if (counts_losses)
    stream.packet_context = make_context(maker);
  if (!stream.event_header || (counts_losses && !stream.packet_context))
    return kymo_fail(maker->error, KYMO_E_MEMORY, "out of memory");
  return kymo_builder_stream(maker->builder, &stream, &maker->stream, maker->error);
}

struct kymo_schema *kymo_plan_schema(const struct kymo_plan *plan, struct kymo_builder *builder,
                                     const struct kymo_plan_found *found, struct kymo_error *error) {
  struct body payload = {0};
  struct maker maker = {.plan = plan, .builder = builder, .found = found, .body = &payload, .error = error};
  struct kymo_schema *schema = kymo_builder_schema(builder);
  schema->order = KYMO_ORDER_LITTLE;
  schema->major = 1;
  schema->minor = 8;
  schema->trace_name = text_of(&maker, plan->root->name);
  int status = kymo_plan_classes_make(&maker.classes, kymo_builder_arena(builder), plan, found)
                   ? make_stream(&maker)
                   : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, KIND) && status == KYMO_OK; i++)
    status = add_kind(&maker, i);
  free(payload.members);
  if (status == KYMO_OK)
    return kymo_builder_finish(builder, error);
  kymo_builder_free(builder);
  return NULL;
}
