/* SPDX-License-Identifier: MIT */
/* Expands types to nodes, and finds the nodes of references. */
#include "decode/layout.h"
#include "base/fail.h"
#include "decode/walk.h"
#include "schema/model.h"
#include <string.h>

static bool has_element(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE ||
         type->kind == KYMO_KIND_OPTIONAL;
}

static bool has_members(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_VARIANT || type->kind == KYMO_KIND_UNION;
}

/* Nodes of a type, or 0 if there are more than `limit` or deeper levels than allowed. Shared types can have
 * exponentially many; counting ends at the limit. */
static uint64_t count_nodes(const struct kymo_type *type, uint64_t limit, unsigned depth) {
  if (depth >= KYMO_WALK_DEPTH || limit == 0)
    return 0;
  uint64_t count = 1;
  if (has_element(type)) {
    uint64_t part = count_nodes(type->element, limit - 1, depth + 1);
    return part ? part + 1 : 0;
  }
  for (uint32_t i = 0; has_members(type) && i < type->member_count; i++) {
    uint64_t part = count_nodes(type->members[i].type, limit - count, depth + 1);
    if (part == 0)
      return 0;
    count += part;
  }
  return count;
}

static uint32_t fill(struct kymo_node *node, const struct kymo_type *type, const struct kymo_member *member) {
  *node = (struct kymo_node){.type = type,
                             .member = member,
                             .span = 1,
                             .save_slot = KYMO_SLOT_NONE,
                             .selector_slot = KYMO_SLOT_NONE,
                             .segment = KYMO_SEGMENT_NONE};
  if (has_element(type))
    node->span += fill(node + 1, type->element, NULL);
  for (uint32_t i = 0; has_members(type) && i < type->member_count; i++)
    node->span += fill(node + node->span, type->members[i].type, &type->members[i]);
  return node->span;
}

struct kymo_node *kymo_layout_new(struct kymo_arena *arena, const struct kymo_type *type,
                                  struct kymo_counters *counters, struct kymo_error *error) {
  uint64_t limit = *counters->nodes_left < KYMO_SCOPE_NODES ? *counters->nodes_left : KYMO_SCOPE_NODES;
  uint64_t count = count_nodes(type, limit, 0);
  if (count == 0) {
    kymo_fail(error, KYMO_E_LIMIT, "a type is nested deeper than %d levels or has too many parts",
              KYMO_WALK_DEPTH);
    return NULL;
  }
  struct kymo_node *root = kymo_arena_array(arena, (size_t)count, sizeof *root);
  if (!root) {
    kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    return NULL;
  }
  *counters->nodes_left -= count;
  fill(root, type, NULL);
  return root;
}

static bool is_any_option(const struct kymo_node *node, uint32_t step) {
  return node->type->kind == KYMO_KIND_VARIANT && step == KYMO_STEP_ELEMENT && node->type->member_count > 0;
}

/* The node one step further down, or NULL. */
static struct kymo_node *take_step(const struct kymo_node *node, uint32_t step) {
  if (is_any_option(node, step))
    return kymo_node_first(node);
  if (has_element(node->type) ? step != KYMO_STEP_ELEMENT
                              : !has_members(node->type) || step >= node->type->member_count)
    return NULL;
  struct kymo_node *part = kymo_node_first(node);
  for (; step != KYMO_STEP_ELEMENT && step > 0; step--)
    part += part->span;
  return part;
}

struct kymo_node *kymo_layout_resolve(struct kymo_node *root, const struct kymo_reference *reference) {
  struct kymo_node *node = root;
  for (uint32_t i = 0; i < reference->depth && node; i++)
    node = take_step(node, reference->steps[i]);
  return node && kymo_is_integer(node->type) ? node : NULL;
}

/* Merges two slots that are never needed at the same time. */
static void join_slots(struct kymo_node *root, uint32_t from, uint32_t to) {
  for (struct kymo_node *node = root; node < root + root->span; node++) {
    node->save_slot = node->save_slot == from ? to : node->save_slot;
    node->selector_slot = node->selector_slot == from ? to : node->selector_slot;
  }
}

/* Assigns the slot to all numbers that the names lead to. */
static void save_by_names(struct kymo_node *root, struct kymo_node *node, const char *const *names,
                          uint32_t count, uint32_t slot) {
  bool is_choice = node->type->kind == KYMO_KIND_VARIANT || node->type->kind == KYMO_KIND_OPTIONAL;
  struct kymo_node *part = kymo_node_first(node);
  if (kymo_is_integer(node->type) && count == 0) {
    if (node->save_slot != KYMO_SLOT_NONE)
      join_slots(root, node->save_slot, slot);
    node->save_slot = slot;
  }
  for (; node->span > 1 && part < node + node->span; part += part->span) {
    if (is_choice)
      save_by_names(root, part, names, count, slot);
    else if (count > 0 && part->member && strcmp(part->member->name, names[0]) == 0)
      save_by_names(root, part, names + 1, count - 1, slot);
  }
}

/* The first variant on the path of which any option may be meant, and its step; or NULL. */
static struct kymo_node *find_any_option(struct kymo_node *root, const struct kymo_reference *reference,
                                         uint32_t *step) {
  struct kymo_node *node = root;
  for (*step = 0; *step < reference->depth && node; ++*step) {
    if (is_any_option(node, reference->steps[*step]))
      return node;
    node = take_step(node, reference->steps[*step]);
  }
  return NULL;
}

struct kymo_node *kymo_layout_save(struct kymo_node *root, const struct kymo_reference *reference,
                                   struct kymo_counters *counters) {
  const char *names[KYMO_WALK_DEPTH];
  uint32_t step;
  struct kymo_node *node = kymo_layout_resolve(root, reference);
  if (!node)
    return NULL;
  if (node->save_slot == KYMO_SLOT_NONE)
    node->save_slot = counters->slots++;
  struct kymo_node *variant = find_any_option(root, reference, &step);
  if (variant)
    save_by_names(root, variant, names, kymo_reference_names(variant->type, reference, step, names),
                  node->save_slot);
  return node;
}

int kymo_layout_link(struct kymo_node *tree, struct kymo_node *const roots[KYMO_SCOPE_COUNT],
                     struct kymo_counters *counters, struct kymo_error *error) {
  for (struct kymo_node *node = tree; node < tree + tree->span; node++) {
    if (!kymo_has_selector(node->type))
      continue;
    const struct kymo_reference *selector = &node->type->selector;
    struct kymo_node *root = selector->scope < KYMO_SCOPE_COUNT ? roots[selector->scope] : NULL;
    struct kymo_node *target = root ? kymo_layout_resolve(root, selector) : NULL;
    bool is_later = target && root == tree && target >= node;
    if (!target || is_later)
      return kymo_fail(error, KYMO_E_FORMAT, "the length or tag of field '%s' is no earlier integer field",
                       node->member ? node->member->name : "");
    if (root == tree)
      kymo_layout_save(root, selector, counters);
    else if (target->save_slot == KYMO_SLOT_NONE) /* all references into earlier scopes were resolved
                                                   * before */
      return kymo_fail(error, KYMO_E_FORMAT, "the length or tag of field '%s' cannot be followed",
                       node->member ? node->member->name : "");
    node->selector_slot = target->save_slot;
  }
  return KYMO_OK;
}
