/* SPDX-License-Identifier: MIT */
/* Copies of the items of groups, one a USE, since each USE binds their names anew. */
#include "lang/tdl/check.h"
#include <string.h>

/* Nodes of all copies together. */
#define CLONED_MAX 500000

/* A copy of one struct, NULL after reporting. */
static void *copy_of(struct tdl_checker *checker, const void *original, size_t size) {
  if (++checker->cloned > CLONED_MAX) {
    kymo_tdl_fail(checker->session, checker->body->top->at, "E61",
                  "expected groups that grow to fewer fields");
    return NULL;
  }
  void *copy = kymo_lang_new(checker->session, 1, size);
  if (copy)
    memcpy(copy, original, size);
  return copy;
}
#define COPY(checker, pointer) (*(pointer) = copy_of(checker, *(pointer), sizeof **(pointer)))

static bool clone_expr(struct tdl_checker *checker, struct tdl_expr **expr);

static bool clone_set(struct tdl_checker *checker, struct tdl_set **set) {
  if (!*set)
    return true;
  if (!COPY(checker, set))
    return false;
  for (struct tdl_member **member = &(*set)->members; *member; member = &(*member)->next)
    if (!COPY(checker, member) || !clone_expr(checker, &(*member)->low) ||
        !clone_expr(checker, &(*member)->high))
      return false;
  return true;
}

static bool clone_list(struct tdl_checker *checker, struct tdl_expr **list) {
  for (; *list; list = &(*list)->next)
    if (!clone_expr(checker, list))
      return false;
  return true;
}

static bool clone_expr(struct tdl_checker *checker, struct tdl_expr **expr) {
  if (!*expr)
    return true;
  if (!COPY(checker, expr))
    return false;
  for (int i = 0; i < 3; i++)
    if (!clone_expr(checker, &(*expr)->operands[i]))
      return false;
  return clone_list(checker, &(*expr)->arguments) && clone_set(checker, &(*expr)->set);
}

static bool clone_type(struct tdl_checker *checker, struct tdl_type **type) {
  if (!*type)
    return true;
  return COPY(checker, type) && clone_expr(checker, &(*type)->bits) && clone_expr(checker, &(*type)->count) &&
         clone_expr(checker, &(*type)->size) && clone_type(checker, &(*type)->element);
}

static bool clone_attributes(struct tdl_checker *checker, struct tdl_attributes *attributes) {
  return clone_expr(checker, &attributes->equals) && clone_set(checker, &attributes->in) &&
         clone_expr(checker, &attributes->where) && clone_expr(checker, &attributes->absent) &&
         clone_expr(checker, &attributes->as) && clone_expr(checker, &attributes->time.unit) &&
         clone_expr(checker, &attributes->time.rate);
}

/* Joined names share one field, which is copied once. */
static bool clone_field(struct tdl_checker *checker, struct tdl_item *item, const struct tdl_item *original,
                        const struct tdl_item *previous, const struct tdl_item *previous_original) {
  if (!item->field)
    return true;
  if (previous && previous_original->field == original->field) {
    item->field = previous->field;
    return true;
  }
  return COPY(checker, &item->field) && clone_type(checker, &item->field->type) &&
         clone_attributes(checker, &item->field->attributes);
}

static bool clone_branches(struct tdl_checker *checker, struct tdl_branch **branches) {
  for (; *branches; branches = &(*branches)->next)
    if (!COPY(checker, branches) || !clone_expr(checker, &(*branches)->condition) ||
        !clone_set(checker, &(*branches)->set) ||
        !kymo_tdl_clone(checker, (*branches)->items, &(*branches)->items))
      return false;
  return true;
}

static bool clone_choices(struct tdl_checker *checker, struct tdl_order_choice **choices) {
  for (; *choices; choices = &(*choices)->next)
    if (!COPY(checker, choices) || !clone_expr(checker, &(*choices)->condition))
      return false;
  return true;
}

static bool clone_overrides(struct tdl_checker *checker, struct tdl_override **overrides) {
  for (; *overrides; overrides = &(*overrides)->next)
    if (!COPY(checker, overrides) || !clone_attributes(checker, &(*overrides)->attributes))
      return false;
  return true;
}

/* The parts of an item, except its field. */
static bool clone_parts(struct tdl_checker *checker, struct tdl_item *item) {
  struct tdl_expr **const exprs[] = {
      &item->expr,        &item->within,        &item->key,         &item->to_expr,
      &item->record_name, &item->record_length, &item->of,          &item->labels,
      &item->list_name,   &item->list_type,     &item->list_size,   &item->list_absent,
      &item->list_scale,  &item->list_over,     &item->list_offset, &item->list_units,
  };
  for (size_t i = 0; i < sizeof exprs / sizeof exprs[0]; i++)
    if (!clone_expr(checker, exprs[i]))
      return false;
  return clone_list(checker, &item->arguments) && clone_branches(checker, &item->branches) &&
         clone_choices(checker, &item->choices) && clone_overrides(checker, &item->overrides) &&
         kymo_tdl_clone(checker, item->then, &item->then) &&
         kymo_tdl_clone(checker, item->items, &item->items);
}

bool kymo_tdl_clone(struct tdl_checker *checker, const struct tdl_item *items, struct tdl_item **copy) {
  const struct tdl_item *previous = NULL, *previous_original = NULL;
  *copy = NULL;
  for (const struct tdl_item *original = items; original; original = original->next) {
    struct tdl_item *item = *copy = copy_of(checker, original, sizeof *original);
    if (!item || !clone_field(checker, item, original, previous, previous_original) ||
        !clone_parts(checker, item))
      return false;
    item->next = NULL;
    previous = item;
    previous_original = original;
    copy = &item->next;
  }
  return true;
}
