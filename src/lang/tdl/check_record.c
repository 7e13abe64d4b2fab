/* SPDX-License-Identifier: MIT */
/* Prefixes and records: their items, and the clauses about the whole. */
#include "lang/tdl/check.h"

/* ---- prefixes ---- */

static bool branches_have_order(const struct tdl_branch *branches);

/* Whether ORDER FILE is among the items. */
static bool has_order_file(const struct tdl_item *items) {
  for (const struct tdl_item *item = items; item; item = item->next)
    if ((item->kind == TDL_ITEM_ORDER && item->is_file) || branches_have_order(item->branches) ||
        (item->kind == TDL_ITEM_REPEAT && has_order_file(item->items)))
      return true;
  return false;
}

static bool branches_have_order(const struct tdl_branch *branches) {
  for (; branches; branches = branches->next)
    if (has_order_file(branches->items))
      return true;
  return false;
}

/* A body with nothing in it; the caller's goes to *outer. */
static bool begin(struct tdl_checker *checker, struct tdl_body *body, struct tdl_scope *outer) {
  body->scope = kymo_tdl_new_scope(checker, outer);
  body->place = (struct tdl_place){0, 0};
  checker->body = body;
  return body->scope != NULL;
}

static bool fill_prefix(struct tdl_checker *checker, struct tdl_prefix *prefix, struct tdl_body *body) {
  if (!begin(checker, body, NULL))
    return false;
  checker->prefix_scopes[prefix->index] = body->scope;
  body->slot_end = &prefix->slots;
  body->has_order_file = has_order_file(prefix->items);
  if (!kymo_tdl_check_items(checker, prefix->items, true) || !kymo_tdl_close_scope(checker, body->scope))
    return false;
  prefix->slot_count = body->slot_count;
  prefix->fixed_bits = body->place.bits;
  prefix->clock = body->clock;
  prefix->has_order = body->has_order;
  return true;
}

bool kymo_tdl_check_prefix(struct tdl_checker *checker, struct tdl_prefix *prefix) {
  struct tdl_body body = {.prefix = prefix}, *outer = checker->body;
  if (checker->prefix_progress[prefix->index] != TDL_UNCHECKED)
    return true;
  checker->prefix_progress[prefix->index] = TDL_CHECKING;
  bool is_good = fill_prefix(checker, prefix, &body);
  checker->body = outer;
  checker->prefix_progress[prefix->index] = TDL_CHECKED;
  return is_good;
}

/* ---- heads of records ---- */

/* WHEN is `prefix field = constant`, either way round. */
static void note_jump(struct tdl_record *record) {
  const struct tdl_expr *when = record->when;
  if (!when || when->operation != TDL_EQUAL)
    return;
  const struct tdl_expr *field = when->operands[0], *constant = when->operands[1];
  if (field->operation == TDL_CONSTANT) {
    field = constant;
    constant = when->operands[0];
  }
  if (field->operation != TDL_PATH || field->reference.kind != TDL_REFERENCE_FIELD ||
      constant->operation != TDL_CONSTANT)
    return;
  record->when_slot = field->reference.slot;
  record->when_value = constant->value;
}

static bool check_from(struct tdl_checker *checker, struct tdl_record *record) {
  if (!record->from_name.word)
    return true;
  record->from = kymo_tdl_find(checker, TDL_SPACE_TABLE, record->from_name, "table");
  if (!record->from)
    return false;
  record->from->is_used = true;
  if (record->from->holds != TDL_HOLDS_RECORDS)
    return kymo_tdl_fail(checker->session, record->from_name.at, "E41",
                         "expected a table that HOLDS RECORDS");
  return kymo_tdl_check_expr(checker, record->from_key,
                             record->from->key == TDL_KEY_NUMBER ? TDL_INTEGER : TDL_BYTES);
}

/* Expressions that are evaluated before the record's own items: they see the prefix alone. */
static bool check_head(struct tdl_checker *checker, struct tdl_record *record) {
  struct tdl_body *body = checker->body;
  struct kymo_wide align;
  checker->depends = 0;
  if (!kymo_tdl_check_condition(checker, record->when) || !check_from(checker, record))
    return false;
  body->depends = checker->depends;
  note_jump(record);
  checker->body = NULL; /* and this is evaluated before the prefix */
  bool is_good = kymo_tdl_check_expr(checker, record->align, TDL_INTEGER);
  checker->body = body;
  if (is_good && kymo_tdl_is_constant(record->align, &align) && (align.high != 0 || align.low == 0))
    return kymo_tdl_fail(checker->session, record->align->at, "E41",
                         "expected an alignment of at least one byte");
  return is_good;
}

static bool check_holds(struct tdl_checker *checker, struct tdl_record *record) {
  for (struct tdl_names *kind = record->holds; kind; kind = kind->next) {
    kind->record = kymo_tdl_find(checker, TDL_SPACE_RECORD, kind->name, "kind of records");
    if (!kind->record)
      return false;
    kind->record->is_used = true;
  }
  return kymo_tdl_check_expr(checker, record->holds_within, TDL_INTEGER) &&
         kymo_tdl_check_key(checker, record->holds_key);
}

static bool find_prefix(struct tdl_checker *checker, struct tdl_record *record) {
  if (!record->prefix_name.word)
    return true;
  record->prefix = kymo_tdl_find(checker, TDL_SPACE_PREFIX, record->prefix_name, "prefix");
  if (!record->prefix)
    return false;
  record->prefix->is_used = true;
  return kymo_tdl_check_prefix(checker, record->prefix);
}

/* ---- records ---- */

/* LENGTH is evaluated after the last top-level item that holds a field which it names. */
static bool check_length(struct tdl_checker *checker, struct tdl_record *record) {
  checker->last_top = NULL;
  checker->depends = 0;
  if (!record->length)
    return true;
  if (!kymo_tdl_check_expr(checker, record->length, TDL_INTEGER))
    return false;
  record->length_after = checker->last_top;
  if (record->prefix && record->prefix->length)
    return kymo_tdl_fail(checker->session, record->length->at, "E54",
                         "the prefix already defines the record's length");
  return true;
}

static void note_roles(struct tdl_record *record) {
  for (struct tdl_slot *slot = record->prefix ? record->prefix->slots : NULL; slot; slot = slot->next)
    if (slot->role != TDL_ROLE_NONE)
      record->roles[slot->role] = slot;
  for (struct tdl_slot *slot = record->slots; slot; slot = slot->next)
    if (slot->role != TDL_ROLE_NONE)
      record->roles[slot->role] = slot;
}

/* Tables KNOWN ALWAYS that the record fills need the tables that determine its kind and its length. */
static void note_dependencies(const struct tdl_item *items, uint64_t depends) {
  for (const struct tdl_item *item = items; item; item = item->next) {
    if (item->table)
      item->table->depends |= depends;
    note_dependencies(item->items, depends);
    for (const struct tdl_branch *branch = item->branches; branch; branch = branch->next)
      note_dependencies(branch->items, depends);
  }
}

static bool check_end(struct tdl_checker *checker, struct tdl_record *record, const struct tdl_body *body) {
  bool has_length = record->length || record->length_item || (record->prefix && record->prefix->length);
  record->slot_count = body->slot_count;
  record->fixed_bits = record->from ? -1 : body->place.bits;
  if (!has_length && !record->from && !record->holds && body->place.modulo > 0)
    return kymo_tdl_fail(checker->session, record->name.at, "E53",
                         "this record ends within a byte: %d bits of it are left", 8 - body->place.modulo);
  if (checker->tree->clocks && record->class_ == TDL_CLASS_EVENT && !record->from && !body->clock)
    kymo_tdl_warn(checker->session, record->name.at, "W12",
                  "records \"%s\" have no time: no field is ACQUISITION or a point of TIME",
                  record->name.word->text);
  record->clock = body->clock;
  note_roles(record);
  return true;
}

/* The fields of a record FROM a table are all in its definition. */
static bool check_actions(struct tdl_checker *checker, const struct tdl_item *items) {
  static const bool is_action[] = {
      [TDL_ITEM_LET] = true,    [TDL_ITEM_CHECK] = true,          [TDL_ITEM_IF] = true,
      [TDL_ITEM_CASE] = true,   [TDL_ITEM_SYNC] = true,           [TDL_ITEM_DEFINE] = true,
      [TDL_ITEM_FORGET] = true, [TDL_ITEM_DEFINE_RECORD] = false,
  };
  for (const struct tdl_item *item = items; item; item = item->next) {
    if (!is_action[item->kind])
      return kymo_tdl_fail(checker->session, item->at, "E41",
                           "the fields are those of the definition: expected LET, CHECK, IF, CASE, DEFINE, "
                           "FORGET or SYNC");
    for (const struct tdl_branch *branch = item->branches; branch; branch = branch->next)
      if (!check_actions(checker, branch->items))
        return false;
  }
  return true;
}

static bool fill_record(struct tdl_checker *checker, struct tdl_record *record, struct tdl_body *body) {
  if (!find_prefix(checker, record))
    return false;
  struct tdl_prefix *prefix = body->prefix = record->prefix;
  if (!begin(checker, body, prefix ? checker->prefix_scopes[prefix->index] : NULL))
    return false;
  checker->record_scopes[record->index] = body->scope;
  if (prefix) {
    body->slot_count = prefix->slot_count;
    body->place =
        (struct tdl_place){prefix->fixed_bits, prefix->fixed_bits < 0 ? -1 : (int)(prefix->fixed_bits % 8)};
    body->clock = prefix->clock;
    body->has_base = prefix->clock != NULL;
    body->has_order = prefix->has_order;
  }
  if (record->from_name.word)
    body->place = (struct tdl_place){-1, -1};
  body->slot_end = &record->slots;
  body->has_order_file = has_order_file(record->items);
  if (!check_head(checker, record) || (record->from && !check_actions(checker, record->items)))
    return false;
  body->is_after_fields = record->from != NULL;
  if (!kymo_tdl_check_items(checker, record->items, true) || !kymo_tdl_close_scope(checker, body->scope) ||
      !check_length(checker, record) || !check_holds(checker, record))
    return false;
  if (body->depends | checker->depends)
    note_dependencies(record->items, body->depends | checker->depends);
  return check_end(checker, record, body);
}

bool kymo_tdl_check_record(struct tdl_checker *checker, struct tdl_record *record) {
  struct tdl_body body = {.record = record}, *outer = checker->body;
  if (checker->record_progress[record->index] != TDL_UNCHECKED)
    return true;
  checker->record_progress[record->index] = TDL_CHECKING;
  checker->record_depth++;
  bool was_muted = checker->session->is_muted;
  checker->session->is_muted = false;
  bool is_good = fill_record(checker, record, &body);
  checker->session->is_muted = was_muted;
  checker->record_depth--;
  checker->body = outer;
  checker->record_progress[record->index] = TDL_CHECKED;
  return is_good;
}

bool kymo_tdl_check_late(struct tdl_checker *checker) {
  for (struct tdl_late *late = checker->lates; late; late = late->next) {
    struct tdl_name name = late->expr->path.names[1];
    struct tdl_scope *scope = checker->record_scopes[late->record->index];
    struct tdl_binding *binding = kymo_tdl_look_in(checker, scope, name.word);
    if (!binding || !binding->slot)
      return kymo_tdl_fail(checker->session, name.at, "E31", "no field \"%s\" in records \"%s\"",
                           name.word->text, late->record->name.word->text);
    if (binding->slot->type != late->expr->type)
      return kymo_tdl_fail(checker->session, name.at, "E41",
                           "records that read each other's LETs need numbers there, found %s",
                           kymo_tdl_type_name(binding->slot->type));
    binding->slot->is_kept = true;
    late->expr->reference.slot = binding->slot;
  }
  return true;
}
