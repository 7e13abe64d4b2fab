/* SPDX-License-Identifier: MIT */
/* Items in the order of the file: what they name, and their places as far as the text determines them. */
#include "lang/tdl/check.h"
#include <string.h>

#define BITS_MAX (INT64_C(1) << 60)

/* ---- places ---- */

/* True if a number is a multiple of 8 whatever the data are. */
static bool is_whole_bytes(const struct tdl_expr *expr) {
  struct kymo_wide value;
  if (kymo_tdl_is_constant(expr, &value))
    return value.low % 8 == 0;
  switch (expr->operation) {
  case TDL_MULTIPLY: return is_whole_bytes(expr->operands[0]) || is_whole_bytes(expr->operands[1]);
  case TDL_ADD:
  case TDL_SUBTRACT: return is_whole_bytes(expr->operands[0]) && is_whole_bytes(expr->operands[1]);
  case TDL_IF: return is_whole_bytes(expr->operands[1]) && is_whole_bytes(expr->operands[2]);
  case TDL_SHIFT_LEFT: return kymo_tdl_is_constant(expr->operands[1], &value) && value.low >= 3;
  default: return false;
  }
}

static void move(struct tdl_place *place, int64_t bits) {
  if (place->modulo >= 0)
    place->modulo = (int)((place->modulo + bits) % 8);
  place->bits = place->bits < 0 || bits > BITS_MAX || place->bits > BITS_MAX ? -1 : place->bits + bits;
}

/* Moves after something of unknown size, of whole bytes or not. */
static void lose(struct tdl_place *place, bool is_bytes) {
  place->bits = -1;
  if (!is_bytes)
    place->modulo = -1;
}

static void join(struct tdl_place *place, const struct tdl_place *other) {
  if (place->bits != other->bits)
    place->bits = -1;
  if (place->modulo != other->modulo)
    place->modulo = -1;
}

static bool on_byte(struct tdl_checker *checker, uint32_t at, const char *what) {
  int modulo = checker->body->place.modulo;
  return modulo <= 0 || kymo_tdl_fail(checker->session, at, "E53",
                                      "%s begins on the boundary of a byte, and here are %d bits of one left",
                                      what, 8 - modulo);
}

/* ---- fields and LET ---- */

static bool is_of_bits(const struct tdl_type *type) {
  return type->kind == TDL_TYPE_UNSIGNED || type->kind == TDL_TYPE_INTEGER || type->kind == TDL_TYPE_FIXED ||
         type->kind == TDL_TYPE_BCD;
}

/* Notes the place of a field, and moves after it. */
static bool place_field(struct tdl_checker *checker, struct tdl_item *item) {
  struct tdl_body *body = checker->body;
  struct tdl_place *place = &body->place;
  const struct tdl_type *type = item->field->type, *element = type;
  const struct tdl_expr *where = item->field->attributes.where;
  struct kymo_wide offset;
  if (where) {
    bool is_known = kymo_tdl_is_constant(where, &offset) && body->base_bits >= 0 && offset.low < UINT32_MAX;
    item->offset_bits = is_known ? body->base_bits + (int64_t)offset.low * 8 : -1;
    return true;
  }
  while (element->kind == TDL_TYPE_ARRAY)
    element = element->element;
  if (!is_of_bits(element) && !on_byte(checker, item->at, "this type"))
    return false;
  item->offset_bits = place->bits;
  bool is_bytes = !is_of_bits(element) || is_whole_bytes(element->bits);
  if (type->fixed_bits >= 0)
    move(place, type->fixed_bits);
  else
    lose(place, is_bytes);
  return true;
}

static bool check_role(struct tdl_checker *checker, const struct tdl_item *item) {
  const struct tdl_attributes *attributes = &item->field->attributes;
  enum tdl_value_type type = item->slot->type;
  const char *want = NULL;
  switch (item->slot->role) {
  case TDL_ROLE_ACQUISITION:
    if (attributes->time.mode == TDL_TIME_NONE)
      want = "TIME";
    break;
  case TDL_ROLE_DURATION:
    if (attributes->time.mode != TDL_TIME_SPAN)
      want = "TIME with SPAN";
    break;
  case TDL_ROLE_SEQUENCE:
  case TDL_ROLE_LOST:
    if (type != TDL_INTEGER && type != TDL_UNTYPED)
      want = "a number";
    break;
  case TDL_ROLE_TEXT:
    if (type != TDL_BYTES && type != TDL_UNTYPED)
      want = "text or bytes";
    break;
  default: break;
  }
  return !want ||
         kymo_tdl_fail(checker->session, item->name.at, "E41", "%s needs %s", item->name.word->text, want);
}

static bool check_time(struct tdl_checker *checker, const struct tdl_item *item) {
  const struct tdl_time *time = &item->field->attributes.time;
  struct tdl_body *body = checker->body;
  switch (time->mode) {
  case TDL_TIME_POINT:
  case TDL_TIME_DISTANCE:
  case TDL_TIME_LOW:
    if (!body->clock || item->slot->role == TDL_ROLE_ACQUISITION)
      body->clock = time->clock;
    /* fall through */
  case TDL_TIME_BASE:
  case TDL_TIME_UNTIL:
  case TDL_TIME_SPAN: body->has_base = true; return true;
  case TDL_TIME_ADD:
    return body->has_base ||
           kymo_tdl_fail(checker->session, time->name.at, "E41", "ADD needs a field with TIME before it");
  default: return true;
  }
}

/* The common part of fields and LETs, once their type is known. */
static bool finish_value(struct tdl_checker *checker, struct tdl_item *item, enum tdl_value_type type) {
  const struct tdl_attributes *attributes = &item->field->attributes;
  if (!kymo_tdl_bind_size(checker, item) || !kymo_tdl_declare_slot(checker, item, type))
    return false;
  item->slot->is_used |= attributes->time.mode != TDL_TIME_NONE || attributes->equals || attributes->in ||
                         attributes->checksum.algorithm != TDL_CHECKSUM_NONE;
  if (item->size_slot)
    for (struct tdl_pending *pending = kymo_tdl_lengths(checker, checker->body->scope, item->name.word);
         pending; pending = pending->same)
      pending->attributes->length.slot = item->slot;
  if ((attributes->given & TDL_GIVES_PER) && item->slot->role != TDL_ROLE_SEQUENCE)
    return kymo_tdl_fail(checker->session, attributes->at, "E41", "PER needs a field SEQUENCE");
  return check_time(checker, item) && check_role(checker, item) && kymo_tdl_bind_attributes(checker, item);
}

static bool check_field(struct tdl_checker *checker, struct tdl_item *item) {
  struct tdl_field *field = item->field;
  bool is_joined = field->is_checked;
  checker->depends = 0;
  if (!kymo_tdl_check_field(checker, field))
    return false;
  if (is_joined && field->attributes.length.kind != TDL_LENGTH_NONE)
    return kymo_tdl_fail(checker->session, field->attributes.length.name.at, "E54",
                         "one length a part: this would be the length of it twice");
  struct tdl_place here = field->attributes.where ? (struct tdl_place){0, 0} : checker->body->place;
  return kymo_tdl_check_order(checker, field, &here) && place_field(checker, item) &&
         finish_value(checker, item, field->type->value_type);
}

static bool check_let(struct tdl_checker *checker, struct tdl_item *item) {
  checker->depends = 0;
  if (!kymo_tdl_check_expr(checker, item->expr, TDL_UNTYPED))
    return false;
  uint64_t depends = checker->depends | checker->body->depends;
  if (!kymo_tdl_check_view(checker, &item->field->attributes, item->expr->type) ||
      !finish_value(checker, item, item->expr->type))
    return false;
  item->slot->depends |= depends;
  return true;
}

/* ---- groups ---- */

/* Arguments and parameters, which are slots of the group's scope. */
static bool bind_parameters(struct tdl_checker *checker, struct tdl_item *item, struct tdl_scope *scope) {
  const struct tdl_group *group = item->group;
  struct tdl_scope *outer = checker->body->scope;
  if (item->argument_count != group->parameter_count)
    return kymo_tdl_fail(checker->session, item->group_name.at, "E41",
                         "group \"%s\" takes %u arguments, found %u", group->name.word->text,
                         group->parameter_count, item->argument_count);
  if (item->argument_count == 0)
    return true;
  item->parameters = kymo_lang_new(checker->session, item->argument_count, sizeof(struct tdl_slot *));
  const struct tdl_names *parameter = group->parameters;
  uint32_t i = 0;
  for (struct tdl_expr *argument = item->arguments; item->parameters && argument;
       argument = argument->next, i++) {
    checker->depends = 0;
    if (!kymo_tdl_check_expr(checker, argument, TDL_UNTYPED))
      return false;
    checker->body->scope = scope;
    item->parameters[i] = kymo_tdl_declare_parameter(checker, parameter->name, argument->type);
    checker->body->scope = outer;
    if (!item->parameters[i])
      return false;
    item->parameters[i]->depends = checker->depends;
    parameter = parameter->next;
  }
  return item->parameters != NULL;
}

static bool find_group(struct tdl_checker *checker, struct tdl_item *item) {
  const struct tdl_word *word = item->group_name.word;
  if (!kymo_tdl_look(checker, TDL_SPACE_GROUP, word) && kymo_tdl_look(checker, TDL_SPACE_RECORD, word))
    return kymo_tdl_fail(
        checker->session, item->group_name.at, "E41",
        "\"%s\" is a kind of records, and USE reads fields: make a GROUP of its fields, or let this record "
        "HOLD it%s",
        word->text,
        item->transform != TDL_TRANSFORM_NONE ? " (RECORD … HOLDS … WITHIN … BYTES AFTER …)" : "");
  struct tdl_group *group = item->group = kymo_tdl_find(checker, TDL_SPACE_GROUP, item->group_name, "group");
  if (!group)
    return false;
  if (item->group_name.at < group->end)
    return kymo_tdl_fail(checker->session, item->group_name.at, "E34", "the group \"%s\" is used in itself",
                         group->name.word->text);
  return checker->body->uses < TDL_DEPTH_MAX ||
         kymo_tdl_fail(checker->session, checker->body->top->at, "E61",
                       "expected at most %d groups within each other", TDL_DEPTH_MAX);
}

bool kymo_tdl_check_key(struct tdl_checker *checker, struct tdl_expr *key) {
  if (!kymo_tdl_check_expr(checker, key, TDL_UNTYPED))
    return false;
  return !key || key->type == TDL_INTEGER || key->type == TDL_BYTES || key->type == TDL_UNTYPED ||
         kymo_tdl_fail(checker->session, key->at, "E41", "expected a byte or bytes, found %s",
                       kymo_tdl_type_name(key->type));
}

/* The window of WITHIN begins on a byte, and has a base of its own. */
static bool check_within(struct tdl_checker *checker, struct tdl_item *item) {
  struct tdl_body *body = checker->body;
  if (!kymo_tdl_check_expr(checker, item->within, TDL_INTEGER) || !kymo_tdl_check_key(checker, item->key))
    return false;
  if (!on_byte(checker, item->at, "WITHIN"))
    return false;
  if (item->transform != TDL_TRANSFORM_NONE && item->transform != TDL_XOR)
    body->place = (struct tdl_place){-1, 0};
  body->base_bits = body->place.bits;
  return true;
}

/* Moves after the window, wherever its items ended. */
static void leave_window(struct tdl_checker *checker, const struct tdl_item *item,
                         const struct tdl_place *start) {
  struct kymo_wide bytes;
  struct tdl_place *place = &checker->body->place;
  *place = *start;
  if (kymo_tdl_is_constant(item->within, &bytes) && bytes.high == 0 && bytes.low < UINT32_MAX)
    move(place, (int64_t)bytes.low * 8);
  else
    lose(place, true);
}

static bool check_group_items(struct tdl_checker *checker, struct tdl_item *item, struct tdl_scope *scope) {
  struct tdl_body *body = checker->body;
  struct tdl_scope *outer = body->scope;
  struct tdl_item *use = body->use;
  bool was_muted = checker->session->is_muted;
  if (!kymo_tdl_clone(checker, item->group->items, &item->items))
    return false;
  checker->session->is_muted |= item->group->is_used;
  item->group->is_used = true;
  body->scope = scope;
  item->outer_use = use;
  body->use = item->name.word ? item : use;
  body->uses++;
  bool is_good = kymo_tdl_check_items(checker, item->items, false) && kymo_tdl_close_scope(checker, scope);
  body->uses--;
  body->use = use;
  body->scope = outer;
  checker->session->is_muted = was_muted;
  return is_good;
}

static bool check_use(struct tdl_checker *checker, struct tdl_item *item) {
  struct tdl_body *body = checker->body;
  if (!find_group(checker, item))
    return false;
  struct tdl_scope *scope = kymo_tdl_new_scope(checker, body->scope);
  if (!scope || !bind_parameters(checker, item, scope))
    return false;
  if (item->name.word && kymo_tdl_look_same(checker, item->name.word))
    return kymo_tdl_fail(checker->session, item->name.at, "E33", "\"%s\" is here already",
                         item->name.word->text);
  scope->is_group = true;
  scope->is_open = !item->name.word;
  struct tdl_place start = body->place;
  int64_t base_bits = body->base_bits;
  item->offset_bits = start.bits;
  if ((item->within && !check_within(checker, item)) || !check_group_items(checker, item, scope))
    return false;
  if (item->within)
    leave_window(checker, item, &start);
  body->base_bits = base_bits;
  return !item->name.word || kymo_tdl_bind(checker, body->scope, item->name, NULL, scope);
}

static bool check_unused(struct tdl_checker *checker, struct tdl_group *group) {
  struct tdl_body *body = checker->body;
  struct tdl_scope *scope = kymo_tdl_new_scope(checker, body->scope);
  if (!scope)
    return false;
  scope->is_group = true;
  body->scope = scope;
  for (const struct tdl_names *parameter = group->parameters; parameter; parameter = parameter->next)
    if (!kymo_tdl_declare_parameter(checker, parameter->name, TDL_UNTYPED))
      return false;
  body->scope = scope->outer;
  bool is_good = check_group_items(checker, body->top, scope);
  group->is_used = false;
  return is_good;
}

bool kymo_tdl_check_group(struct tdl_checker *checker, struct tdl_group *group) {
  struct tdl_record record = {.name = group->name};
  struct tdl_item use = {
      .kind = TDL_ITEM_USE, .at = group->name.at, .group_name = group->name, .group = group};
  struct tdl_body body = {.record = &record,
                          .slot_end = &record.slots,
                          .top = &use,
                          .place = {-1, -1},
                          .base_bits = -1,
                          .has_order = true,
                          .has_base = true,
                          .is_unused = true};
  body.scope = kymo_tdl_new_scope(checker, NULL);
  checker->body = &body;
  bool is_good = body.scope && check_unused(checker, group);
  checker->body = NULL;
  return is_good;
}

/* ---- filler ---- */

static bool check_filler(struct tdl_checker *checker, struct tdl_item *item) {
  struct tdl_body *body = checker->body;
  struct tdl_place *place = &body->place;
  struct kymo_wide number;
  if (!kymo_tdl_check_expr(checker, item->expr, TDL_INTEGER))
    return false;
  bool is_constant = kymo_tdl_is_constant(item->expr, &number);
  int64_t count = is_constant && number.high == 0 && number.low <= UINT32_MAX ? (int64_t)number.low : -1;
  bool aligns = item->filler == TDL_FILLER_ALIGN;
  if (is_constant && (count < 0 || (aligns && count == 0)))
    return kymo_tdl_fail(checker->session, item->expr->at, "E41", "expected a number from %d to 4294967295",
                         aligns);
  item->offset_bits = place->bits;
  if (item->filler == TDL_FILLER_BYTES || item->filler == TDL_FILLER_BITS) {
    int64_t bits = item->filler == TDL_FILLER_BYTES ? count * 8 : count;
    if (is_constant)
      move(place, bits);
    else
      lose(place, item->filler == TDL_FILLER_BYTES || is_whole_bytes(item->expr));
    return true;
  }
  bool is_known = is_constant && body->base_bits >= 0 && place->bits >= 0;
  int64_t here = place->bits - body->base_bits, there = count * 8;
  if (is_known && aligns)
    there = (here + there - 1) / there * there;
  if (is_known && there < here)
    return kymo_tdl_fail(checker->session, item->expr->at, "E41",
                         "this place is passed already: expected at least %d", (int)((here + 7) / 8));
  *place = (struct tdl_place){is_known ? body->base_bits + there : -1, 0};
  return true;
}

/* ---- branches ---- */

/* Slots declared from `mark` on become active or not. */
static void set_active(struct tdl_body *body, uint32_t mark, bool is_active) {
  for (uint32_t i = mark; i < body->declared_count; i++)
    body->declared[i]->is_active = is_active;
}

static bool check_branches(struct tdl_checker *checker, struct tdl_item *item) {
  struct tdl_body *body = checker->body;
  struct tdl_place start = body->place, end = start;
  uint32_t mark = body->declared_count;
  uint64_t depends = body->depends;
  bool has_else = false;
  checker->depends = 0;
  if (item->kind == TDL_ITEM_CASE && !kymo_tdl_check_expr(checker, item->expr, TDL_UNTYPED))
    return false;
  for (struct tdl_branch *branch = item->branches; branch; branch = branch->next) {
    uint32_t branch_mark = body->declared_count;
    body->place = start;
    if (!kymo_tdl_check_condition(checker, branch->condition) ||
        (branch->set && !kymo_tdl_check_set(checker, branch->set, item->expr->type)))
      return false;
    uint64_t reads = checker->depends;
    body->depends |= reads;
    if (!kymo_tdl_check_items(checker, branch->items, false))
      return false;
    checker->depends = reads;
    set_active(body, branch_mark, false);
    has_else |= !branch->condition && !branch->set;
    if (branch == item->branches)
      end = body->place;
    else
      join(&end, &body->place);
  }
  if (!has_else)
    join(&end, &start);
  body->place = end;
  body->depends = depends;
  set_active(body, mark, true);
  return true;
}

/* The scope of a named REPEAT: a new one, or that of the REPEAT of this name in another branch, whose list
 * both fill. NULL after reporting. */
static struct tdl_scope *list_scope(struct tdl_checker *checker, struct tdl_item *item) {
  struct tdl_body *body = checker->body;
  struct tdl_binding *binding = kymo_tdl_look_same(checker, item->name.word);
  struct tdl_scope *scope = binding ? binding->use : NULL;
  if (scope && scope->list && !scope->list->is_active && scope->around == body->repeat) {
    scope->list->is_active = true;
    return kymo_tdl_bind(checker, body->scope, item->name, NULL, scope) ? scope : NULL;
  }
  if (binding) {
    kymo_tdl_fail(checker->session, item->name.at, "E33",
                  "\"%s\" is here already, and not in a branch that excludes this one",
                  item->name.word->text);
    return NULL;
  }
  if (!(scope = kymo_tdl_new_scope(checker, body->scope)))
    return NULL;
  scope->item = item;
  scope->around = body->repeat;
  scope->list = kymo_tdl_declare_list(checker, item);
  return scope->list && kymo_tdl_bind(checker, body->scope, item->name, NULL, scope) ? scope : NULL;
}

/* The items of a turn; those of a named REPEAT have names of their own. */
static bool check_turn(struct tdl_checker *checker, struct tdl_item *item) {
  struct tdl_body *body = checker->body;
  struct tdl_scope *outer = body->scope, *scope = item->name.word ? list_scope(checker, item) : outer;
  struct tdl_item *use = item->outer_use = body->use;
  if (!scope)
    return false;
  item->list_slot = scope == outer ? NULL : scope->list;
  body->use = scope == outer ? use : scope->item;
  body->scope = scope;
  const struct tdl_item *around = body->repeat;
  body->repeat = item;
  body->repeats++;
  bool is_good = kymo_tdl_check_items(checker, item->items, false) &&
                 (item->repeat != TDL_REPEAT_UNTIL || kymo_tdl_check_condition(checker, item->expr)) &&
                 (scope == outer || kymo_tdl_close_scope(checker, scope));
  body->repeats--;
  body->repeat = around;
  body->scope = outer;
  body->use = use;
  return is_good;
}

static bool check_repeat(struct tdl_checker *checker, struct tdl_item *item) {
  struct tdl_body *body = checker->body;
  int modulo = body->place.modulo;
  uint64_t depends = body->depends;
  checker->depends = 0;
  if (item->repeat == TDL_REPEAT_TIMES && !kymo_tdl_check_expr(checker, item->expr, TDL_INTEGER))
    return false;
  item->offset_bits = body->place.bits;
  body->depends |= checker->depends;
  body->place.bits = -1;
  bool is_good = check_turn(checker, item);
  body->depends = depends;
  body->place = (struct tdl_place){-1, body->place.modulo == modulo ? modulo : -1};
  return is_good && (kymo_tdl_consumes(item->items) ||
                     kymo_tdl_fail(checker->session, item->at, "E55", "a turn of this REPEAT reads nothing"));
}

static bool is_zero(const struct tdl_expr *expr) {
  struct kymo_wide value;
  return kymo_tdl_is_constant(expr, &value) && kymo_wide_is_zero(value);
}

static bool branches_consume(const struct tdl_branch *branches) {
  for (; branches; branches = branches->next)
    if (kymo_tdl_consumes(branches->items))
      return true;
  return false;
}

bool kymo_tdl_consumes(const struct tdl_item *items) {
  for (const struct tdl_item *item = items; item; item = item->next) {
    bool consumes = false;
    switch (item->kind) {
    case TDL_ITEM_FIELD:
      consumes = !item->field->attributes.where && item->field->type->fixed_bits != 0;
      break;
    case TDL_ITEM_FILLER: consumes = !is_zero(item->expr); break;
    case TDL_ITEM_USE:
      consumes = item->within ? !is_zero(item->within) : kymo_tdl_consumes(item->items);
      break;
    case TDL_ITEM_REPEAT: consumes = true; break;
    default: consumes = branches_consume(item->branches);
    }
    if (consumes)
      return true;
  }
  return false;
}

/* ---- order, clocks ---- */

static bool check_order(struct tdl_checker *checker, struct tdl_item *item) {
  for (struct tdl_order_choice *choice = item->choices; choice; choice = choice->next)
    if (!kymo_tdl_check_condition(checker, choice->condition))
      return false;
  if (item->is_file)
    checker->body->has_order_file = false;
  else
    checker->body->has_order = true;
  return true;
}

static bool check_sync(struct tdl_checker *checker, struct tdl_item *item) {
  item->clock = kymo_tdl_find(checker, TDL_SPACE_CLOCK, item->name, "clock");
  item->to_clock = item->clock ? kymo_tdl_find(checker, TDL_SPACE_CLOCK, item->to, "clock") : NULL;
  if (!item->to_clock)
    return false;
  item->clock->is_used = item->to_clock->is_used = true;
  return kymo_tdl_check_expr(checker, item->expr, TDL_INTEGER) &&
         kymo_tdl_check_expr(checker, item->to_expr, TDL_INTEGER);
}

/* ---- tables ---- */

/* Table, key, and the field that the table is PER. */
static bool check_table(struct tdl_checker *checker, struct tdl_item *item) {
  struct tdl_table *table = item->table = kymo_tdl_find(checker, TDL_SPACE_TABLE, item->table_name, "table");
  if (!table ||
      !kymo_tdl_check_expr(checker, item->key, table->key == TDL_KEY_NUMBER ? TDL_INTEGER : TDL_BYTES))
    return false;
  if (table->per != TDL_PER_NAME)
    return true;
  struct tdl_name per = table->per_name;
  per.at = item->table_name.at;
  return (item->per = kymo_tdl_find_around(checker, per)) != NULL;
}

static bool check_define(struct tdl_checker *checker, struct tdl_item *item) {
  checker->depends = checker->body->depends;
  if (!check_table(checker, item))
    return false;
  struct tdl_table *table = item->table;
  if (table->holds == TDL_HOLDS_RECORDS)
    return kymo_tdl_fail(checker->session, item->table_name.at, "E41",
                         "table \"%s\" holds records: expected AS RECORD", table->name.word->text);
  if (!kymo_tdl_check_expr(checker, item->expr, table->holds == TDL_HOLDS_NUMBERS ? TDL_INTEGER : TDL_BYTES))
    return false;
  table->depends |= checker->depends;
  table->is_filled = true;
  return true;
}

static bool check_forget(struct tdl_checker *checker, struct tdl_item *item) {
  checker->depends = checker->body->depends;
  if (!check_table(checker, item))
    return false;
  item->table->depends |= checker->depends;
  return true;
}

/* Parallel sequences: of each record's field one value. */
static bool check_sequence(struct tdl_checker *checker, struct tdl_expr *expr, enum tdl_value_type type) {
  if (!kymo_tdl_check_expr(checker, expr, type))
    return false;
  return !expr || (expr->reference.slot && expr->reference.slot->repeats > 0) ||
         kymo_tdl_fail(checker->session, expr->at, "E41", "expected a field within REPEAT or ARRAY");
}

/* A constant: a number, or a text. */
static bool check_absent(struct tdl_checker *checker, struct tdl_expr *absent) {
  return kymo_tdl_check_constant(checker, absent, TDL_UNTYPED) &&
         (absent->type == TDL_INTEGER || absent->type == TDL_BYTES ||
          kymo_tdl_fail(checker->session, absent->at, "E41", "expected a number or a text, found %s",
                        kymo_tdl_type_name(absent->type)));
}

static bool check_overrides(struct tdl_checker *checker, struct tdl_item *item) {
  struct tdl_body *body = checker->body;
  bool is_good = true;
  checker->body = NULL; /* they are of other records: fields of this one mean nothing there */
  for (struct tdl_override *override = item->overrides; is_good && override; override = override->next) {
    struct tdl_attributes *attributes = &override->attributes;
    const uint32_t allowed = TDL_VIEWS | TDL_GIVES_ORDER | TDL_GIVES_ABSENT | TDL_GIVES_AS;
    if (attributes->given & ~allowed)
      is_good = kymo_tdl_fail(checker->session, attributes->at, "E41",
                              "expected LITTLE, BIG, ABSENT, AS, TOKEN, FLAGS, SCALE, UNITS, SHOW or TIME");
    checker->allows_value = true;
    is_good = is_good && kymo_tdl_check_expr(checker, attributes->as, TDL_INTEGER);
    checker->allows_value = false;
    is_good = is_good && (!attributes->absent || check_absent(checker, attributes->absent)) &&
              kymo_tdl_check_view(checker, attributes, TDL_INTEGER);
  }
  checker->body = body;
  return is_good;
}

/* Types whose size definitions say need a source that can say it. */
static bool check_sizes(struct tdl_checker *checker, const struct tdl_item *item) {
  bool says_sizes = item->source == TDL_BY_TEXT || item->list_size;
  for (const struct tdl_types_item *type = item->types->items; type && !says_sizes; type = type->next)
    if (kymo_tdl_is_sized_late(type->field->type))
      return kymo_tdl_fail(checker->session, item->types_name.at, "E51",
                           "type \"%.*s\" of \"%s\" has no size, and these definitions say none: use %s",
                           (int)type->key.length, (const char *)type->key.data, item->types->name.word->text,
                           item->source == TDL_BY_LIST ? "SIZE after TYPE"
                                                       : "a size there, such as STRING 16");
  return true;
}

/* OR table */
static bool check_nested(struct tdl_checker *checker, struct tdl_item *item) {
  if (!item->nested_name.word)
    return true;
  struct tdl_table *table = item->nested =
      kymo_tdl_find(checker, TDL_SPACE_TABLE, item->nested_name, "table");
  if (!table)
    return false;
  table->is_used = true;
  if (table->holds != TDL_HOLDS_RECORDS)
    return kymo_tdl_fail(checker->session, item->nested_name.at, "E41",
                         "expected a table that HOLDS RECORDS");
  if (table->per == TDL_PER_NAME)
    return kymo_tdl_fail(checker->session, item->nested_name.at, "E41",
                         "expected a table that is not PER a field");
  return item->source == TDL_BY_LIST || table->key == TDL_KEY_NAME ||
         kymo_tdl_fail(checker->session, item->nested_name.at, "E41",
                       "types in a text are names: expected a table with KEY NAME");
}

/* The lists, types and FIELDs of a source. */
static bool check_source(struct tdl_checker *checker, struct tdl_item *item) {
  item->types = kymo_tdl_find(checker, TDL_SPACE_TYPES, item->types_name, "list of types");
  if (!item->types)
    return false;
  item->types->is_used = true;
  return check_sequence(checker, item->list_name, TDL_UNTYPED) &&
         check_sequence(checker, item->list_type, TDL_UNTYPED) &&
         check_sequence(checker, item->list_size, TDL_INTEGER) &&
         check_sequence(checker, item->list_absent, TDL_INTEGER) &&
         check_sequence(checker, item->list_scale, TDL_INTEGER) &&
         check_sequence(checker, item->list_over, TDL_INTEGER) &&
         check_sequence(checker, item->list_offset, TDL_INTEGER) &&
         check_sequence(checker, item->list_units, TDL_BYTES) && check_sizes(checker, item) &&
         check_nested(checker, item) && check_overrides(checker, item);
}

static bool check_record_definition(struct tdl_checker *checker, struct tdl_item *item) {
  checker->depends = checker->body->depends;
  if (!check_table(checker, item))
    return false;
  if (item->table->holds != TDL_HOLDS_RECORDS)
    return kymo_tdl_fail(checker->session, item->table_name.at, "E41", "expected a table that HOLDS RECORDS");
  item->table->is_filled = true;
  if (!kymo_tdl_check_expr(checker, item->record_name, TDL_BYTES) ||
      !kymo_tdl_check_expr(checker, item->record_length, TDL_INTEGER) ||
      !kymo_tdl_check_expr(checker, item->of, TDL_BYTES) ||
      !kymo_tdl_check_expr(checker, item->labels, TDL_BYTES))
    return false;
  for (struct tdl_item *source = item; source; source = source->then)
    if (!check_source(checker, source))
      return false;
  item->table->depends |= checker->depends;
  return true;
}

/* ---- all of them ---- */

static bool check_item(struct tdl_checker *checker, struct tdl_item *item) {
  switch (item->kind) {
  case TDL_ITEM_FIELD: return check_field(checker, item);
  case TDL_ITEM_USE: return check_use(checker, item);
  case TDL_ITEM_FILLER: return check_filler(checker, item);
  case TDL_ITEM_LET: return check_let(checker, item);
  case TDL_ITEM_CHECK: return kymo_tdl_check_condition(checker, item->expr);
  case TDL_ITEM_IF:
  case TDL_ITEM_CASE: item->offset_bits = checker->body->place.bits; return check_branches(checker, item);
  case TDL_ITEM_REPEAT: return check_repeat(checker, item);
  case TDL_ITEM_ORDER: return check_order(checker, item);
  case TDL_ITEM_SYNC: return check_sync(checker, item);
  case TDL_ITEM_DEFINE: return check_define(checker, item);
  case TDL_ITEM_FORGET: return check_forget(checker, item);
  default: return check_record_definition(checker, item);
  }
}

bool kymo_tdl_check_items(struct tdl_checker *checker, struct tdl_item *items, bool is_top) {
  for (struct tdl_item *item = items; item; item = item->next) {
    if (is_top)
      checker->body->top = item;
    if (!check_item(checker, item))
      return false;
  }
  return true;
}
