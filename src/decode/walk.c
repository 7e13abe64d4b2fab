/* SPDX-License-Identifier: MIT */
/*
 * Walking over all fields of a scope in the order of their bytes. The program that found the event's size has
 * checked all bytes before; the walk checks again only what its safety needs. It fills its own slots at the
 * fields that others refer to.
 */
#include "base/sized.h"
#include "decode/step.h"
#include "decode/value.h"
#include "decode/walk.h"
#include <stdlib.h>

static const struct kymo_node *root_of(const struct kymo_event *event, enum kymo_scope scope) {
  const struct kymo_decoder *decoder = kymo_decoder_of(event);
  if (scope == KYMO_SCOPE_PACKET_HEADER)
    return decoder->schema_plan->packet_header;
  if (scope == KYMO_SCOPE_PACKET_CONTEXT)
    return decoder->plan->packet_context;
  if (!event->plan) /* it stands for a packet */
    return NULL;
  switch (scope) {
  case KYMO_SCOPE_EVENT_HEADER: return decoder->plan->event_header;
  case KYMO_SCOPE_COMMON_CONTEXT: return decoder->plan->common_context;
  case KYMO_SCOPE_SPECIFIC_CONTEXT: return event->plan->specific_context;
  case KYMO_SCOPE_PAYLOAD: return event->plan->payload;
  default: return NULL;
  }
}

/* The begin of a scope's first field, in the packet. */
static uint64_t begin_of(const struct kymo_event *event, enum kymo_scope scope) {
  const struct kymo_event_plan *plan = event->plan;
  if (scope == KYMO_SCOPE_PACKET_HEADER)
    return 0;
  if (scope == KYMO_SCOPE_PACKET_CONTEXT)
    return kymo_decoder_of(event)->context_bits;
  if (scope == KYMO_SCOPE_EVENT_HEADER)
    return event->offset_bits;
  unsigned index = scope - KYMO_SCOPE_COMMON_CONTEXT;
  if (plan->has_fixed_scopes)
    return kymo_body_bits(event) + plan->scope_offsets[index];
  return kymo_located(event)->segments[plan->scopes[index].segment] + plan->scopes[index].offset_bits;
}

static uint64_t boundary_of(const struct kymo_node *node) {
  return node->type->align_bits ? node->type->align_bits : 1;
}

bool kymo_walk_begin(struct kymo_walk *walk, const struct kymo_event *event, enum kymo_scope scope) {
  const struct kymo_node *root = root_of(event, scope);
  walk->event = event;
  walk->depth = 0;
  if (!root)
    return false;
  const struct kymo_decoder *decoder = kymo_decoder_of(event);
  if (scope >= KYMO_SCOPE_COMMON_CONTEXT && event->plan->is_dependent[scope - KYMO_SCOPE_COMMON_CONTEXT])
    kymo_located(event);
  uint32_t count = decoder->schema_plan->slot_count;
  for (uint32_t i = 0; i < count && i < KYMO_WALK_SLOTS; i++)
    walk->slots[i] = decoder->slots[i];
  walk->at_bits = kymo_round_up(begin_of(event, scope), boundary_of(root));
  walk->frames[0] =
      (struct kymo_walk_frame){.node = root, .part = root + 1, .count = root->type->member_count};
  walk->depth = 1;
  return true;
}

void kymo_walk_at(struct kymo_walk *walk, const struct kymo_event *event, const struct kymo_node *node,
                  uint64_t at_bits, uint64_t count) {
  const struct kymo_decoder *decoder = kymo_located(event);
  uint32_t slots = decoder->schema_plan->slot_count;
  walk->event = event;
  for (uint32_t i = 0; i < slots && i < KYMO_WALK_SLOTS; i++)
    walk->slots[i] = decoder->slots[i];
  walk->at_bits = at_bits;
  walk->frames[0] =
      (struct kymo_walk_frame){.node = node, .part = node + 1, .count = count, .begin_bits = at_bits};
  walk->depth = 1;
}

static uint64_t *slot(struct kymo_walk *walk, uint32_t index) {
  const struct kymo_decoder *decoder = kymo_decoder_of(walk->event);
  return index < KYMO_WALK_SLOTS ? &walk->slots[index] : &decoder->slots[index];
}

/* The last step: nothing follows it. */
static enum kymo_token stop(struct kymo_walk *walk, enum kymo_token token) {
  walk->depth = 0;
  return token;
}

static enum kymo_token enter(struct kymo_walk *walk, const struct kymo_node *node, uint64_t count,
                             struct kymo_value *value) {
  if (walk->depth == KYMO_WALK_DEPTH)
    return stop(walk, KYMO_TOKEN_ERROR);
  walk->frames[walk->depth++] =
      (struct kymo_walk_frame){.node = node, .part = node + 1, .count = count, .begin_bits = walk->at_bits};
  value->type = node->type;
  value->count = count;
  return KYMO_TOKEN_BEGIN;
}

/* Goes through variants and optionals to the part that is present; NULL: none is. */
static const struct kymo_node *choose(struct kymo_walk *walk, const struct kymo_node *node,
                                      struct kymo_value *value, enum kymo_token *without) {
  *without = KYMO_TOKEN_ABSENT;
  for (;;) {
    const struct kymo_type *type = node->type;
    if (type->kind == KYMO_KIND_OPTIONAL) {
      value->type = type;
      if (!kymo_optional_is_present(type, *slot(walk, node->selector_slot)))
        return NULL;
      node = node + 1;
    } else if (type->kind == KYMO_KIND_VARIANT) {
      int64_t index = kymo_variant_choose(type, *slot(walk, node->selector_slot));
      *without = KYMO_TOKEN_ERROR;
      if (index < 0)
        return NULL;
      value->option = &type->members[index];
      for (node = node + 1; index > 0; index--)
        node += node->span;
    } else {
      return node;
    }
    *without = KYMO_TOKEN_ABSENT;
  }
}

static enum kymo_token visit(struct kymo_walk *walk, const struct kymo_node *node, struct kymo_value *value) {
  const struct kymo_packet *packet = walk->event->packet;
  enum kymo_token without;
  value->member = node->member;
  value->option = NULL;
  node = choose(walk, node, value, &without);
  if (!node)
    return without == KYMO_TOKEN_ERROR ? stop(walk, without) : without;
  const struct kymo_type *type = node->type;
  walk->at_bits = kymo_round_up(walk->at_bits, boundary_of(node));
  uint64_t length = node->selector_slot != KYMO_SLOT_NONE ? *slot(walk, node->selector_slot) : 0;
  switch (type->kind) {
  case KYMO_KIND_STRUCT:
  case KYMO_KIND_UNION: return enter(walk, node, type->member_count, value);
  case KYMO_KIND_ARRAY: return enter(walk, node, type->length, value);
  case KYMO_KIND_SEQUENCE: return enter(walk, node, length, value);
  default: break;
  }
  enum kymo_token token =
      kymo_value_read(type, packet->data, &walk->at_bits, packet->content_bits, length, value);
  if (token == KYMO_TOKEN_ERROR)
    return stop(walk, token);
  if (node->save_slot != KYMO_SLOT_NONE)
    *slot(walk, node->save_slot) = value->u;
  return token;
}

static enum kymo_token step(struct kymo_walk *walk, struct kymo_value *value) {
  if (walk->depth == 0)
    return KYMO_TOKEN_DONE;
  struct kymo_walk_frame *frame = &walk->frames[walk->depth - 1];
  const struct kymo_type *type = frame->node->type;
  if (type->kind == KYMO_KIND_UNION) /* every member begins at the begin of the union */
    walk->at_bits = frame->begin_bits + (frame->index == frame->count ? type->size_bits : 0);
  if (frame->index == frame->count) {
    walk->depth--;
    if (walk->depth == 0)
      return KYMO_TOKEN_DONE;
    *value = (struct kymo_value){.type = type, .member = frame->node->member, .count = frame->count};
    return KYMO_TOKEN_END;
  }
  const struct kymo_node *part = frame->part;
  frame->index++;
  if (type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_UNION)
    frame->part += part->span;
  return visit(walk, part, value);
}

enum kymo_token kymo_walk_next_(struct kymo_walk *walk, struct kymo_value *value, size_t size) {
  if (KYMO_LIKELY(size == sizeof *value))
    return step(walk, value);
  struct kymo_value own = {.type = NULL};
  enum kymo_token token = step(walk, &own);
  kymo_sized_out(value, size, &own, sizeof own);
  return token;
}

struct kymo_walk *kymo_walk_new(void) {
  return calloc(1, sizeof(struct kymo_walk));
}

void kymo_walk_free(struct kymo_walk *walk) { free(walk); }
