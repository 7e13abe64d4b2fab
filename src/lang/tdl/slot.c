/* SPDX-License-Identifier: MIT */
/*
 * Slots: the named values of a record. A name that recurs in exclusive branches is one slot: leaving a branch
 * makes its slots inactive, so that the next branch may have them again, and the end of all branches makes
 * them active for good.
 */
#include "lang/tdl/check.h"
#include <string.h>

/* ---- making slots ---- */

static enum tdl_role role_of(const struct tdl_word *word) {
  static const struct {
    const char *name;
    enum tdl_role role;
  } roles[] = {
      {"EVENT", TDL_ROLE_EVENT},   {"ACQUISITION", TDL_ROLE_ACQUISITION},
      {"STREAM", TDL_ROLE_STREAM}, {"SEQUENCE", TDL_ROLE_SEQUENCE},
      {"LOST", TDL_ROLE_LOST},     {"DURATION", TDL_ROLE_DURATION},
      {"TEXT", TDL_ROLE_TEXT},
  };
  for (size_t i = 0; word && i < sizeof roles / sizeof roles[0]; i++)
    if (strcmp(roles[i].name, word->text) == 0)
      return roles[i].role;
  return TDL_ROLE_NONE;
}

static struct tdl_slot *new_slot(struct tdl_checker *checker, struct tdl_name name,
                                 enum tdl_value_type type) {
  struct tdl_body *body = checker->body;
  struct tdl_slot *slot = *body->slot_end = kymo_lang_new(checker->session, 1, sizeof *slot);
  if (!slot)
    return NULL;
  body->slot_end = &slot->next;
  slot->name = name.word;
  slot->index = body->slot_count++;
  slot->type = type;
  slot->is_hidden = !name.word || name.word->text[0] == '_';
  slot->use = body->use;
  return slot;
}

static bool remember(struct tdl_checker *checker, struct tdl_slot *slot) {
  struct tdl_body *body = checker->body;
  if (body->declared_count == body->declared_size) {
    uint32_t size = body->declared_size ? body->declared_size * 2 : 64;
    struct tdl_slot **declared = kymo_lang_new(checker->session, size, sizeof(struct tdl_slot *));
    if (!declared)
      return false;
    if (body->declared_count)
      memcpy(declared, body->declared, body->declared_count * sizeof(struct tdl_slot *));
    body->declared = declared;
    body->declared_size = size;
  }
  body->declared[body->declared_count++] = slot;
  return true;
}

/* The outermost scope that sees a name of the innermost. */
static struct tdl_scope *root_of(struct tdl_scope *scope, enum tdl_role role) {
  while ((scope->is_group && scope->is_open) || ((scope->is_group || scope->list) && role != TDL_ROLE_NONE))
    scope = scope->outer;
  return scope;
}

struct tdl_binding *kymo_tdl_look_same(struct tdl_checker *checker, const struct tdl_word *word) {
  struct tdl_scope *scope = checker->body->scope;
  struct tdl_binding *binding = kymo_tdl_look(checker, scope->space, word);
  return binding ? binding : kymo_tdl_look_here(checker, root_of(scope, TDL_ROLE_NONE), word);
}

/* The slot that the name has already, NULL if it has none; false after reporting. */
static bool find_same(struct tdl_checker *checker, struct tdl_name name, enum tdl_role role,
                      struct tdl_slot **slot) {
  struct tdl_scope *scope = checker->body->scope;
  struct tdl_binding *binding = kymo_tdl_look(checker, scope->space, name.word);
  if (!binding)
    binding = kymo_tdl_look_here(checker, root_of(scope, role), name.word);
  *slot = binding ? binding->slot : NULL;
  return !binding || (*slot && !(*slot)->is_active && !(*slot)->is_parameter) ||
         kymo_tdl_fail(checker->session, name.at, "E33",
                       "\"%s\" is here already, and not in a branch that excludes this one", name.word->text);
}

/* Whether a named USE or REPEAT around it has a name that is not listed. */
static bool is_in_hidden_use(const struct tdl_slot *slot) {
  for (const struct tdl_item *use = slot->use; use; use = use->outer_use)
    if (use->name.word->text[0] == '_')
      return true;
  return false;
}

static void join_ranges(struct tdl_slot *slot, const struct tdl_item *item) {
  struct kymo_wide low, high;
  bool has_range = item->kind == TDL_ITEM_FIELD && kymo_tdl_range(item->field, &low, &high);
  if (slot->first == item && has_range) {
    slot->low = low;
    slot->high = high;
    slot->has_range = true;
    return;
  }
  slot->has_range = slot->has_range && has_range;
  if (!slot->has_range)
    return;
  if (kymo_wide_compare(low, slot->low) < 0)
    slot->low = low;
  if (kymo_wide_compare(high, slot->high) > 0)
    slot->high = high;
}

struct tdl_slot *kymo_tdl_declare_slot(struct tdl_checker *checker, struct tdl_item *item,
                                       enum tdl_value_type type) {
  struct tdl_body *body = checker->body;
  struct tdl_slot *slot = NULL;
  enum tdl_role role = role_of(item->name.word);
  if (item->name.word && !find_same(checker, item->name, role, &slot))
    return NULL;
  if (slot && slot->type != type)
    slot->type = TDL_MIXED;
  if (!slot && !(slot = new_slot(checker, item->name, type)))
    return NULL;
  slot->role = role;
  slot->is_hidden |= role == TDL_ROLE_NONE && is_in_hidden_use(slot);
  slot->is_let |= item->kind == TDL_ITEM_LET;
  if (item->name.word &&
      (!kymo_tdl_bind(checker, body->scope, item->name, slot, NULL) || !remember(checker, slot)))
    return NULL;
  slot->is_active = true;
  if (slot->last)
    slot->last->same_slot = item;
  else
    slot->first = item;
  slot->last = item;
  slot->top = body->record ? body->top : NULL;
  join_ranges(slot, item);
  uint32_t repeats = body->repeats;
  for (const struct tdl_type *t = item->field->type; t && t->kind == TDL_TYPE_ARRAY; t = t->element)
    repeats++;
  if (repeats > slot->repeats)
    slot->repeats = repeats;
  item->slot = slot;
  return slot;
}

struct tdl_slot *kymo_tdl_declare_list(struct tdl_checker *checker, const struct tdl_item *item) {
  struct tdl_slot *slot = new_slot(checker, (struct tdl_name){.at = item->name.at}, TDL_UNTYPED);
  if (!slot || !remember(checker, slot))
    return NULL;
  slot->is_active = true;
  slot->repeats = checker->body->repeats + 1;
  slot->top = checker->body->record ? checker->body->top : NULL;
  return slot;
}

struct tdl_slot *kymo_tdl_declare_parameter(struct tdl_checker *checker, struct tdl_name name,
                                            enum tdl_value_type type) {
  struct tdl_body *body = checker->body;
  if (kymo_tdl_look(checker, body->scope->space, name.word)) {
    kymo_tdl_fail(checker->session, name.at, "E33", "\"%s\" is a parameter already", name.word->text);
    return NULL;
  }
  struct tdl_slot *slot = new_slot(checker, name, type);
  if (!slot)
    return NULL;
  slot->is_parameter = slot->is_hidden = slot->is_active = true;
  slot->top = body->record ? body->top : NULL;
  return kymo_tdl_bind(checker, body->scope, name, slot, NULL) ? slot : NULL;
}

/* ---- names of other fields ---- */

struct tdl_slot *kymo_tdl_find_around(struct tdl_checker *checker, struct tdl_name name) {
  for (const struct tdl_scope *scope = checker->body->scope; scope; scope = scope->outer) {
    struct tdl_binding *binding = kymo_tdl_look(checker, scope->space, name.word);
    if (binding && binding->slot) {
      binding->slot->is_used = true;
      return binding->slot;
    }
  }
  if (checker->body->is_unused)
    return new_slot(checker, name, TDL_INTEGER);
  kymo_tdl_unknown(checker, name);
  return NULL;
}

static struct tdl_pending *new_pending(struct tdl_checker *checker, enum tdl_pending_kind kind,
                                       struct tdl_name name, struct tdl_item *item) {
  struct tdl_scope *scope = checker->body->scope;
  struct tdl_pending *pending = kymo_lang_new(checker->session, 1, sizeof *pending);
  if (!pending)
    return NULL;
  *pending = (struct tdl_pending){.next = scope->pendings,
                                  .kind = kind,
                                  .name = name,
                                  .attributes = &item->field->attributes,
                                  .slot = item->slot};
  scope->pendings = pending;
  return pending;
}

/* LENGTH OF RECORD: the first one defines the length, one at the end is checked. */
static bool bind_record_length(struct tdl_checker *checker, struct tdl_item *item) {
  struct tdl_body *body = checker->body;
  struct tdl_record *record = body->record;
  bool is_known = body->prefix && body->prefix->length;
  if (!record && !is_known) {
    body->prefix->length = item;
    return true;
  }
  is_known |= record && (record->length || record->length_item);
  if (!is_known) {
    record->length_item = item;
    record->length_after = body->top;
    return true;
  }
  item->field->attributes.length.is_check = true;
  return (record && !body->top->next) ||
         kymo_tdl_fail(checker->session, item->field->attributes.length.name.at, "E54",
                       "the record's length is already defined; only the last item may repeat it");
}

static bool bind_length(struct tdl_checker *checker, struct tdl_item *item) {
  struct tdl_length *length = &item->field->attributes.length;
  if (length->kind == TDL_LENGTH_NONE || length->kind == TDL_LENGTH_OF_PREVIOUS)
    return true;
  item->slot->is_used = true;
  if (length->kind == TDL_LENGTH_OF_RECORD)
    return bind_record_length(checker, item);
  if (kymo_tdl_look_in(checker, checker->body->scope, length->name.word))
    return kymo_tdl_fail(checker->session, length->name.at, "E34", "\"%s\" is read before its length",
                         length->name.word->text);
  struct tdl_pending *pending = new_pending(checker, TDL_PENDING_LENGTH, length->name, item);
  return pending && kymo_tdl_add_length(checker, pending);
}

bool kymo_tdl_bind_attributes(struct tdl_checker *checker, struct tdl_item *item) {
  struct tdl_attributes *attributes = &item->field->attributes;
  struct tdl_time *time = &attributes->time;
  if (time->clock && time->clock->per.word) {
    struct tdl_name per = time->clock->per;
    per.at = time->name.at;
    if (!(time->per = kymo_tdl_find_around(checker, per)))
      return false;
  }
  if (attributes->per == TDL_PER_NAME && !new_pending(checker, TDL_PENDING_PER, attributes->per_name, item))
    return false;
  if (attributes->checksum.algorithm != TDL_CHECKSUM_NONE && !attributes->checksum.is_record &&
      !new_pending(checker, TDL_PENDING_CHECKSUM, attributes->checksum.from, item))
    return false;
  return bind_length(checker, item);
}

/* ---- sizes ---- */

/* Other fields that say the length of this one: all must have the same slot. */
static bool take_lengths(struct tdl_checker *checker, struct tdl_item *item, struct tdl_pending *pending) {
  struct tdl_name latest = pending->name;
  item->size_slot = pending->slot;
  item->size_plus = pending->attributes->length.plus;
  for (; pending; pending = pending->same) {
    if (pending->slot != item->size_slot || pending->attributes->length.plus != item->size_plus)
      return kymo_tdl_fail(checker->session, latest.at, "E54", "\"%s\" has two lengths", latest.word->text);
    pending->is_done = true;
    pending->attributes->length.slot = item->slot;
  }
  return true;
}

/* What can be written instead. */
static bool fail_no_size(struct tdl_checker *checker, const struct tdl_item *item,
                         const struct tdl_type *type) {
  const char *word = type->kind == TDL_TYPE_BYTES    ? "BYTES"
                     : type->kind == TDL_TYPE_STRING ? "STRING"
                                                     : "TEXT NUMBER";
  return kymo_tdl_fail(
      checker->session, type->at, "E51",
      "the size is unknown: use %s 16, %s TO END%s, or n: UNSIGNED 8 LENGTH OF %s before it", word, word,
      type->kind == TDL_TYPE_BYTES    ? ""
      : type->kind == TDL_TYPE_STRING ? ", STRING ENDED 0, STRING COUNTED UNSIGNED 8"
                                      : ", TEXT NUMBER ENDED 0, TEXT NUMBER COUNTED UNSIGNED 8",
      item->name.word ? item->name.word->text : "its name");
}

bool kymo_tdl_bind_size(struct tdl_checker *checker, struct tdl_item *item) {
  const struct tdl_type *type = item->field->type;
  struct tdl_pending *pending =
      item->name.word ? kymo_tdl_lengths(checker, checker->body->scope, item->name.word) : NULL;
  bool has_size = !type || !kymo_tdl_is_sized_late(type);
  if (pending && has_size)
    return kymo_tdl_fail(checker->session, item->name.at, "E54",
                         "\"%s\" has a size of its own, and another field is its length",
                         item->name.word->text);
  while (type && type->kind == TDL_TYPE_ARRAY)
    type = type->element;
  if (type && kymo_tdl_is_sized_late(type) && !pending)
    return fail_no_size(checker, item, type);
  return !pending || take_lengths(checker, item, pending);
}

/* ---- the end of a scope ---- */

static bool close_checksum(struct tdl_checker *checker, struct tdl_checksum *sum) {
  sum->from_slot = kymo_tdl_find_slot(checker, sum->from);
  sum->to_slot = sum->from_slot ? kymo_tdl_find_slot(checker, sum->to) : NULL;
  if (!sum->to_slot)
    return false;
  struct tdl_name wrong = sum->from_slot->is_let || sum->from_slot->is_parameter ? sum->from : sum->to;
  if (sum->from_slot->is_let || sum->from_slot->is_parameter || sum->to_slot->is_let ||
      sum->to_slot->is_parameter)
    return kymo_tdl_fail(checker->session, wrong.at, "E41",
                         "CHECKSUM needs a field that is read from the file");
  return sum->from_slot->index <= sum->to_slot->index ||
         kymo_tdl_fail(checker->session, sum->from.at, "E41", "this range ends before it begins");
}

static bool close_pending(struct tdl_checker *checker, struct tdl_pending *pending) {
  switch (pending->kind) {
  case TDL_PENDING_CHECKSUM: return close_checksum(checker, &pending->attributes->checksum);
  case TDL_PENDING_PER:
    pending->attributes->per_slot = kymo_tdl_find_around(checker, pending->name);
    return pending->attributes->per_slot != NULL;
  default:
    /* records that have the prefix may hold the field */
    return pending->is_done || !checker->body->record || kymo_tdl_unknown(checker, pending->name);
  }
}

bool kymo_tdl_close_scope(struct tdl_checker *checker, struct tdl_scope *scope) {
  for (struct tdl_pending *pending = scope->pendings; pending; pending = pending->next)
    if (!close_pending(checker, pending))
      return false;
  return true;
}
