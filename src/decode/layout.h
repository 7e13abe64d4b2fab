/* SPDX-License-Identifier: MIT */
/*
 * The layout: the types of a scope expanded to the places of fields.
 *
 * Types are interned, so one type may occur at many places; data of a place (is its value needed later as a
 * length or tag? where does it begin?) is in a node. The nodes of a scope are one array in the order of the
 * bytes; a node is followed by its parts, each `span` nodes long:
 *
 *   struct{ u8 n; struct{u8 x}[n] s; }      0 struct span 5
 *                                           1   n      span 1   slot 0
 *                                           2   s      span 3   selector 0
 *                                           3     struct span 2
 *                                           4       x  span 1
 *
 * Slots hold the values of fields that others refer to (lengths, tags, presence), for all scopes of an event:
 * first those of the packet, then of the event.
 *
 * Segments locate a field without walking: a segment is a range of bytes in which all distances are constant;
 * running an event's program stores where each segment began.
 */
#ifndef KYMO_DECODE_LAYOUT_H
#define KYMO_DECODE_LAYOUT_H

#include "base/arena.h"
#include "schema/parts.h"
#include <kymo/read.h>

#define KYMO_SLOT_NONE UINT32_MAX
#define KYMO_SEGMENT_NONE UINT32_MAX /* inside a loop: many places */

struct kymo_node {
  const struct kymo_type *type;
  const struct kymo_type *shown; /* the type that text and filters use, with names that are not in the trace
               * (decode/kernel.h); NULL: the type in the trace */
  const struct kymo_member *member; /* the name in the surrounding struct or variant, else NULL */
  uint32_t span;                    /* nodes of this subtree, with this one */
  uint32_t save_slot, selector_slot;
  uint32_t segment; /* segments[segment] + offset_bits is its first bit */
  uint64_t offset_bits;
};

/* State of creating the layout of an event class or packet: the next free numbers. */
struct kymo_counters {
  uint32_t slots, segments;
  uint64_t *nodes_left; /* how many more nodes may be created in this trace */
};

/* Maximum number of nodes of one scope, and of all scopes of all event classes of a trace. */
#define KYMO_SCOPE_NODES (UINT64_C(1) << 16)
#define KYMO_TRACE_NODES (UINT64_C(1) << 20)

/* Expands a scope's struct. NULL with `error` for more than KYMO_WALK_DEPTH levels or too many nodes. */
struct kymo_node *kymo_layout_new(struct kymo_arena *arena, const struct kymo_type *type,
                                  struct kymo_counters *counters, struct kymo_error *error);
/* The node of `reference` in the scope that begins at `root`, or NULL; if any option of a variant is meant,
 * that in the first one. */
struct kymo_node *kymo_layout_resolve(struct kymo_node *root, const struct kymo_reference *reference);
/* Assigns a slot to the target of `reference` if it has none; all possible targets share it. Returns the node
 * like kymo_layout_resolve. */
struct kymo_node *kymo_layout_save(struct kymo_node *root, const struct kymo_reference *reference,
                                   struct kymo_counters *counters);
/* Links each node of the tree that depends on another field to that field's slot. `roots` contains the trees
 * of all scopes so far. */
int kymo_layout_link(struct kymo_node *tree, struct kymo_node *const roots[KYMO_SCOPE_COUNT],
                     struct kymo_counters *counters, struct kymo_error *error);

/* The type by which text and filters use the node's value. */
static inline const struct kymo_type *kymo_shown_type(const struct kymo_node *node) {
  return node->shown ? node->shown : node->type;
}

/* The first part of a compound node; the next ones follow by span. */
static inline struct kymo_node *kymo_node_first(const struct kymo_node *node) {
  return (struct kymo_node *)node + 1;
}

/* Whether values of this type can be lengths and tags. */
static inline bool kymo_is_integer(const struct kymo_type *type) {
  return type->kind <= KYMO_KIND_BITMAP || type->kind == KYMO_KIND_VARINT;
}

static inline bool kymo_has_selector(const struct kymo_type *type) {
  switch (type->kind) {
  case KYMO_KIND_TEXT_SEQUENCE:
  case KYMO_KIND_BLOB_SEQUENCE:
  case KYMO_KIND_SEQUENCE:
  case KYMO_KIND_VARIANT:
  case KYMO_KIND_OPTIONAL: return true;
  default: return false;
  }
}

#endif
