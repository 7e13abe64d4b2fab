/* SPDX-License-Identifier: MIT */
/*
 * The meaning of names. One hash table has all name spaces; each scope of fields is a space with its own
 * number. A name is looked up in its scope, then in that of the record's prefix; groups see nothing outside.
 */
#include "base/nearest.h"
#include "lang/tdl/check.h"
#include <string.h>

/* The most items that are searched for names from elsewhere: bounds the time for untrusted texts. */
#define SCANNED_MAX 4000000

/* ---- the table ---- */

static uint32_t hash_of(uint32_t space, const struct tdl_word *word) {
  return word->hash + space * 0x9e3779b1u;
}

struct tdl_binding *kymo_tdl_look(struct tdl_checker *checker, uint32_t space, const struct tdl_word *word) {
  struct tdl_binding *binding;
  uint32_t hash = hash_of(space, word), at = hash;
  while ((binding = (struct tdl_binding *)kymo_hash_table_next(&checker->names, hash, &at)))
    if (binding->word == word && binding->space == space)
      break;
  return binding;
}

static struct tdl_binding *add(struct tdl_checker *checker, uint32_t space, struct tdl_name name) {
  struct tdl_binding *binding = kymo_lang_new(checker->session, 1, sizeof *binding);
  if (!binding)
    return NULL;
  *binding = (struct tdl_binding){.word = name.word, .space = space, .at = name.at};
  if (kymo_hash_table_add(&checker->names, &checker->session->common.temp, hash_of(space, name.word),
                          (uintptr_t)binding))
    return binding;
  kymo_lang_no_memory(checker->session);
  return NULL;
}

/* ---- global names ---- */

bool kymo_tdl_declare(struct tdl_checker *checker, enum tdl_space space, struct tdl_name name,
                      void *declaration) {
  if (kymo_tdl_look(checker, space, name.word))
    return kymo_tdl_fail(checker->session, name.at, "E33", "\"%s\" is declared already", name.word->text);
  struct tdl_binding *binding = add(checker, space, name);
  if (!binding)
    return false;
  binding->declaration = declaration;
  binding->next = checker->globals[space];
  checker->globals[space] = binding;
  return true;
}

void *kymo_tdl_find(struct tdl_checker *checker, enum tdl_space space, struct tdl_name name,
                    const char *what) {
  struct tdl_binding *binding = kymo_tdl_look(checker, space, name.word);
  if (binding && (space == TDL_SPACE_RECORD || binding->at < name.at))
    return binding->declaration;
  if (binding) {
    kymo_tdl_fail(checker->session, name.at, "E34", "the %s \"%s\" is used before it is declared", what,
                  name.word->text);
    return NULL;
  }
  struct kymo_nearest nearest = kymo_nearest_to(name.word->text);
  for (binding = checker->globals[space]; binding; binding = binding->next)
    kymo_nearest_consider(&nearest, binding->word->text);
  kymo_tdl_fail(checker->session, name.at, "E31", "unknown %s \"%s\"%s", what, name.word->text,
                kymo_nearest_hint(&nearest).text);
  return NULL;
}

/* ---- lengths ---- */

/* Spaces of the lengths of a scope's fields. */
#define LENGTHS 0x80000000u

bool kymo_tdl_add_length(struct tdl_checker *checker, struct tdl_pending *pending) {
  uint32_t space = checker->body->scope->space + LENGTHS;
  struct tdl_binding *binding = kymo_tdl_look(checker, space, pending->name.word);
  if (!binding && !(binding = add(checker, space, pending->name)))
    return false;
  pending->same = binding->declaration;
  binding->declaration = pending;
  return true;
}

struct tdl_pending *kymo_tdl_lengths(struct tdl_checker *checker, const struct tdl_scope *scope,
                                     const struct tdl_word *word) {
  for (; scope; scope = scope->is_group ? NULL : scope->outer) {
    struct tdl_binding *binding = kymo_tdl_look(checker, scope->space + LENGTHS, word);
    if (binding)
      return binding->declaration;
  }
  return NULL;
}

/* ---- fields ---- */

struct tdl_scope *kymo_tdl_new_scope(struct tdl_checker *checker, struct tdl_scope *outer) {
  struct tdl_scope *scope = kymo_lang_new(checker->session, 1, sizeof *scope);
  if (scope)
    *scope = (struct tdl_scope){.space = TDL_SPACES + checker->space_count++, .outer = outer};
  return scope;
}

bool kymo_tdl_bind(struct tdl_checker *checker, struct tdl_scope *scope, struct tdl_name name,
                   struct tdl_slot *slot, struct tdl_scope *use) {
  for (;; scope = scope->outer) {
    struct tdl_binding *binding = add(checker, scope->space, name);
    if (!binding)
      return false;
    binding->slot = slot;
    binding->use = use;
    binding->next = scope->bindings;
    scope->bindings = binding;
    /* roles belong to the record, wherever they occur */
    bool is_role = slot && slot->role;
    bool is_seen_outside = scope->list || (scope->is_group && !scope->is_open) ? is_role : scope->is_group;
    is_seen_outside &= !(slot && slot->is_parameter);
    if (!is_seen_outside)
      return true;
  }
}

struct tdl_binding *kymo_tdl_look_in(struct tdl_checker *checker, const struct tdl_scope *scope,
                                     const struct tdl_word *word) {
  for (; scope; scope = scope->is_group ? NULL : scope->outer) {
    struct tdl_binding *binding = kymo_tdl_look(checker, scope->space, word);
    if (binding)
      return binding;
  }
  return NULL;
}

struct tdl_binding *kymo_tdl_look_here(struct tdl_checker *checker, const struct tdl_scope *scope,
                                       const struct tdl_word *word) {
  return scope->list ? kymo_tdl_look(checker, scope->space, word) : kymo_tdl_look_in(checker, scope, word);
}

const struct tdl_item *kymo_tdl_scan(struct tdl_checker *checker, const struct tdl_item *items,
                                     const struct tdl_word *word) {
  for (const struct tdl_item *item = items, *found; item && checker->scanned < SCANNED_MAX;
       item = item->next) {
    checker->scanned++;
    if (item->name.word == word && (item->kind == TDL_ITEM_FIELD || item->kind == TDL_ITEM_LET))
      return item;
    if (item->kind == TDL_ITEM_USE && !item->name.word && !item->items) {
      struct tdl_binding *group = kymo_tdl_look(checker, TDL_SPACE_GROUP, item->group_name.word);
      bool is_declared = group && group->at < item->at && checker->scan_depth < TDL_DEPTH_MAX;
      checker->scan_depth++;
      found =
          is_declared ? kymo_tdl_scan(checker, ((struct tdl_group *)group->declaration)->items, word) : NULL;
      checker->scan_depth--;
      if (found)
        return found;
    }
    bool is_apart = item->kind == TDL_ITEM_REPEAT && item->name.word; /* its fields have names of their own */
    if (!is_apart && (found = kymo_tdl_scan(checker, item->items, word)))
      return found;
    for (const struct tdl_branch *branch = item->branches; branch; branch = branch->next)
      if ((found = kymo_tdl_scan(checker, branch->items, word)))
        return found;
  }
  return NULL;
}

/* Whether an item of this name is among those that are being checked, as written. */
static bool is_later(struct tdl_checker *checker, const struct tdl_word *word) {
  const struct tdl_body *body = checker->body;
  const struct tdl_scope *scope = body->scope;
  for (; scope->list; scope = scope->outer)
    if (kymo_tdl_scan(checker, scope->item->items, word))
      return true;
  if (scope->is_group)
    return false;
  return kymo_tdl_scan(checker, body->record ? body->record->items : body->prefix->items, word) != NULL;
}

bool kymo_tdl_unknown(struct tdl_checker *checker, struct tdl_name name) {
  const struct tdl_body *body = checker->body;
  const char *text = name.word->text;
  if (body && is_later(checker, name.word))
    return kymo_tdl_fail(checker->session, name.at, "E34", "\"%s\" is used before it is read", text);
  if (kymo_tdl_look(checker, TDL_SPACE_CONST, name.word))
    return kymo_tdl_fail(checker->session, name.at, "E34", "\"%s\" is used before it is declared", text);
  struct kymo_nearest nearest = kymo_nearest_to(text);
  for (const struct tdl_scope *scope = body ? body->scope : NULL; scope;
       scope = scope->is_group ? NULL : scope->outer)
    for (const struct tdl_binding *binding = scope->bindings; binding; binding = binding->next)
      kymo_nearest_consider(&nearest, binding->word->text);
  for (const struct tdl_binding *binding = checker->globals[TDL_SPACE_CONST]; binding;
       binding = binding->next)
    kymo_nearest_consider(&nearest, binding->word->text);
  return kymo_tdl_fail(checker->session, name.at, "E31", "unknown name \"%s\"%s", text,
                       kymo_nearest_hint(&nearest).text);
}

struct tdl_slot *kymo_tdl_find_slot(struct tdl_checker *checker, struct tdl_name name) {
  struct tdl_binding *binding =
      checker->body ? kymo_tdl_look_in(checker, checker->body->scope, name.word) : NULL;
  if (binding && binding->slot)
    return binding->slot;
  if (binding)
    kymo_tdl_fail(checker->session, name.at, "E41", "\"%s\" is a group of fields, not a value",
                  name.word->text);
  else
    kymo_tdl_unknown(checker, name);
  return NULL;
}
