/* SPDX-License-Identifier: MIT */
/*
 * Getting one field by its id. An id is an index in its event class's list of fields that were
 * asked for. Running the event's program noted where each segment began, so a field is one load
 * away; a field in variants or optionals is first checked to be there, by the saved tags.
 */
#include "base/fail.h"
#include "read/step.h"
#include "read/value.h"

#define GUARDS_MAX KYMO_WALK_DEPTH

/* A variant or optional on the way, and which of its parts the way goes through. */
struct guard { const struct kymo_node *node; uint32_t option; };

struct field {
  const struct kymo_node *node;
  const struct guard *guards;
  uint32_t guard_count;
};

struct kymo_fields { struct field *list; uint32_t count, capacity; };

struct way {
  const struct kymo_node *node;
  struct guard guards[GUARDS_MAX];
  uint32_t guard_count;
};

static bool pass(struct way *way, uint32_t option) {
  if (way->guard_count == GUARDS_MAX)
    return false;
  way->guards[way->guard_count++] = (struct guard){way->node, option};
  return true;
}

/* Goes to the member `name` (`length` bytes) of the struct or variant at way->node. */
static bool go_down(struct way *way, const char *name, size_t length) {
  while (way->node->type->kind == KYMO_KIND_OPTIONAL) {
    if (!pass(way, 0))
      return false;
    way->node = kymo_node_first(way->node);
  }
  const struct kymo_type *type = way->node->type;
  if (type->kind != KYMO_KIND_STRUCT && type->kind != KYMO_KIND_VARIANT && type->kind != KYMO_KIND_UNION)
    return false;
  const struct kymo_node *part = kymo_node_first(way->node);
  for (uint32_t i = 0; i < type->member_count; i++, part += part->span) {
    const char *member = type->members[i].name;
    if (strncmp(member, name, length) != 0 || member[length] != 0)
      continue;
    if (type->kind == KYMO_KIND_VARIANT && !pass(way, i))
      return false;
    way->node = part;
    return true;
  }
  return false;
}

/* Member names may hold dots themselves (CTF 2), so every split is tried, the longest name first. */
static bool find(struct way *way, const char *path) {
  struct way start = *way;
  for (size_t length = strlen(path); length > 0; length--) {
    if (path[length] != 0 && path[length] != '.')
      continue;
    *way = start;
    if (go_down(way, path, length) && (path[length] == 0 || find(way, path + length + 1)))
      return true;
  }
  return false;
}

static uint32_t add_field(struct kymo_trace *trace, struct kymo_event_plan *plan, const struct way *way) {
  struct kymo_fields *fields = plan->fields;
  if (!fields && !(fields = plan->fields = kymo_arena_alloc(&trace->arena, sizeof *fields)))
    return KYMO_FIELD_NONE;
  for (uint32_t i = 0; i < fields->count; i++)
    if (fields->list[i].node == way->node)
      return i;
  if (fields->count == fields->capacity) {
    uint32_t capacity = fields->capacity ? fields->capacity * 2 : 8;
    struct field *list = kymo_arena_array(&trace->arena, capacity, sizeof *list);
    if (!list)
      return KYMO_FIELD_NONE;
    if (fields->count)
      memcpy(list, fields->list, fields->count * sizeof *list);
    fields->list = list;
    fields->capacity = capacity;
  }
  struct guard *guards = kymo_arena_array(&trace->arena, way->guard_count + 1u, sizeof *guards);
  if (!guards)
    return KYMO_FIELD_NONE;
  memcpy(guards, way->guards, way->guard_count * sizeof *guards);
  fields->list[fields->count] = (struct field){way->node, guards, way->guard_count};
  return fields->count++;
}

static struct kymo_event_plan *plan_of(struct kymo_trace *trace, const struct kymo_event_class *class_,
                                       struct kymo_stream_plan **stream) {
  for (size_t i = 0; i < trace->part_count; i++) {
    struct kymo_schema_plan *plan = trace->parts[i]->plan;
    if (class_->stream->index >= plan->schema->stream_count)
      continue;
    *stream = &plan->streams[class_->stream->index];
    if ((*stream)->class_ == class_->stream)
      return &(*stream)->events[class_->index];
  }
  return NULL;
}

uint32_t kymo_field_id(struct kymo_trace *trace, const struct kymo_event_class *class_, const char *path) {
  struct kymo_stream_plan *stream;
  struct kymo_event_plan *plan = plan_of(trace, class_, &stream);
  if (!plan)
    return KYMO_FIELD_NONE;
  const struct kymo_node *roots[] = {plan->payload, plan->specific_context, stream->common_context,
                                     stream->packet_context};
  for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
    struct way way = {.node = roots[i]};
    if (roots[i] && find(&way, path))
      return add_field(trace, plan, &way);
  }
  return KYMO_FIELD_NONE;
}

/* ---- values ---- */

static bool is_there(const struct stream_state *stream, const struct field *field) {
  for (uint32_t i = 0; i < field->guard_count; i++) {
    const struct kymo_node *node = field->guards[i].node;
    uint64_t selector = stream->slots[node->selector_slot];
    if (node->type->kind == KYMO_KIND_VARIANT ? kymo_variant_choose(node->type, selector) != field->guards[i].option
                                              : !kymo_optional_is_present(node->type, selector))
      return false;
  }
  return true;
}

/* What the field is in this event: through variants and optionals at the end of the way. */
static const struct kymo_node *resolve(const struct stream_state *stream, const struct kymo_node *node) {
  for (;;) {
    const struct kymo_type *type = node->type;
    if (type->kind == KYMO_KIND_OPTIONAL) {
      if (!kymo_optional_is_present(type, stream->slots[node->selector_slot]))
        return NULL;
      node = kymo_node_first(node);
    } else if (type->kind == KYMO_KIND_VARIANT) {
      int64_t index = kymo_variant_choose(type, stream->slots[node->selector_slot]);
      if (index < 0)
        return NULL;
      for (node = kymo_node_first(node); index > 0; index--)
        node += node->span;
    } else {
      return node;
    }
  }
}

static int read_field(const struct kymo_event *event, uint32_t id, struct kymo_value *value, enum kymo_token wanted) {
  const struct stream_state *stream = kymo_located(event);
  const struct kymo_fields *fields = kymo_entry_of(event)->plan->fields;
  if (!fields || id >= fields->count)
    return KYMO_E_UNKNOWN;
  const struct field *field = &fields->list[id];
  const struct kymo_node *node = field->node;
  if (KYMO_UNLIKELY(field->guard_count) && !is_there(stream, field))
    return KYMO_E_ABSENT;
  if (KYMO_UNLIKELY(node->type->kind >= KYMO_KIND_VARIANT) && !(node = resolve(stream, node)))
    return KYMO_E_ABSENT;
  if (node->segment == KYMO_SEGMENT_NONE)
    return KYMO_E_TYPE;
  uint64_t at = stream->segments[node->segment] + node->offset_bits;
  uint64_t length = node->selector_slot != KYMO_SLOT_NONE ? stream->slots[node->selector_slot] : 0;
  enum kymo_token token =
      kymo_value_read(node->type, event->packet->data, &at, event->packet->content_bits, length, value);
  if (token == wanted)
    return KYMO_OK;
  return wanted == KYMO_TOKEN_TEXT && token == KYMO_TOKEN_BLOB ? KYMO_OK : KYMO_E_TYPE;
}

int kymo_get_uint(const struct kymo_event *event, uint32_t field, uint64_t *out) {
  struct kymo_value value;
  int status = read_field(event, field, &value, KYMO_TOKEN_INTEGER);
  if (status != KYMO_OK)
    return status;
  if (value.type->is_signed && value.i < 0)
    return KYMO_E_RANGE;
  *out = value.u;
  return KYMO_OK;
}

int kymo_get_int(const struct kymo_event *event, uint32_t field, int64_t *out) {
  struct kymo_value value;
  int status = read_field(event, field, &value, KYMO_TOKEN_INTEGER);
  if (status != KYMO_OK)
    return status;
  if (!value.type->is_signed && value.u > INT64_MAX)
    return KYMO_E_RANGE;
  *out = value.i;
  return KYMO_OK;
}

int kymo_get_float(const struct kymo_event *event, uint32_t field, double *out) {
  struct kymo_value value;
  int status = read_field(event, field, &value, KYMO_TOKEN_FLOAT);
  if (status == KYMO_OK)
    *out = value.f;
  return status;
}

int kymo_get_bytes(const struct kymo_event *event, uint32_t field, const uint8_t **out, uint64_t *count) {
  struct kymo_value value;
  int status = read_field(event, field, &value, KYMO_TOKEN_TEXT);
  if (status != KYMO_OK)
    return status;
  *out = value.bytes;
  *count = value.count;
  return KYMO_OK;
}
