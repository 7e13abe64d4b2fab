/* SPDX-License-Identifier: MIT */
/*
 * Getting one field by its id. An id is an index in its event class's list of requested fields. Running the
 * event's program stored where each segment began, so a field is one load away; for a field in variants or
 * optionals, the saved tags show first whether it is present.
 */
#include "base/sized.h"
#include "decode/field.h"
#include "decode/labels.h"
#include "decode/step.h"
#include "decode/value.h"
#include "decode/walk.h"
#include "schema/attribute.h"

/* ---- values ---- */

static bool is_there(const struct kymo_decoder *decoder, const struct field *field) {
  for (uint32_t i = 0; i < field->guard_count; i++) {
    const struct kymo_node *node = field->guards[i].node;
    uint64_t selector = decoder->slots[node->selector_slot];
    if (node->type->kind == KYMO_KIND_VARIANT
            ? kymo_variant_choose(node->type, selector) != field->guards[i].option
            : !kymo_optional_is_present(node->type, selector))
      return false;
  }
  return true;
}

/* The node of the field in this event: through variants and optionals at the end of the path. */
static const struct kymo_node *resolve(const struct kymo_decoder *decoder, const struct kymo_node *node) {
  for (;;) {
    const struct kymo_type *type = node->type;
    if (type->kind == KYMO_KIND_OPTIONAL) {
      if (!kymo_optional_is_present(type, decoder->slots[node->selector_slot]))
        return NULL;
      node = kymo_node_first(node);
    } else if (type->kind == KYMO_KIND_VARIANT) {
      int64_t index = kymo_variant_choose(type, decoder->slots[node->selector_slot]);
      if (index < 0)
        return NULL;
      for (node = kymo_node_first(node); index > 0; index--)
        node += node->span;
    } else {
      return node;
    }
  }
}

static inline uint64_t load_near(const struct kymo_event *event, const struct near *near) {
  return kymo_fast_bits(event->packet->data, kymo_body_bits(event) + near->offset_bits, near->size_bits,
                        near->is_big);
}

/* The place of the field in this event, and its length if another field contains it. */
struct place {
  const struct kymo_node *node;
  uint64_t at_bits, length;
};

static int find_place(const struct kymo_event *event, uint32_t id, struct place *place) {
  const struct kymo_fields *fields = event->plan->fields;
  if (!fields || id >= fields->count)
    return KYMO_E_UNKNOWN;
  const struct field *field = &fields->list[id];
  const struct kymo_node *node = field->node;
  if (field->has_place) {
    *place = (struct place){node, kymo_body_bits(event) + node->offset_bits, 0};
    if (field->length.is_there)
      place->length = load_near(event, &field->length);
    return KYMO_OK;
  }
  const struct kymo_decoder *decoder = kymo_located(event);
  if (KYMO_UNLIKELY(field->guard_count) && !is_there(decoder, field))
    return KYMO_E_ABSENT;
  if (KYMO_UNLIKELY(node->type->kind >= KYMO_KIND_VARIANT) && !(node = resolve(decoder, node)))
    return KYMO_E_ABSENT;
  if (node->segment == KYMO_SEGMENT_NONE)
    return KYMO_E_TYPE;
  place->node = node;
  place->at_bits = decoder->segments[node->segment] + node->offset_bits;
  place->length = node->selector_slot != KYMO_SLOT_NONE ? decoder->slots[node->selector_slot] : 0;
  return KYMO_OK;
}

/* Properties of every event that are not fields. */
__attribute__((noinline)) static int read_role(const struct kymo_event *event, uint32_t id,
                                               struct kymo_value *value, enum kymo_token wanted) {
  static const struct kymo_type number = {.kind = KYMO_KIND_INTEGER, .size_bits = 64},
                                time = {.kind = KYMO_KIND_INTEGER, .size_bits = 64, .is_signed = true};
  const struct kymo_stream *stream = event->packet->stream;
  if (id == KYMO_FIELD_NONE || wanted != KYMO_TOKEN_INTEGER)
    return id == KYMO_FIELD_NONE ? KYMO_E_UNKNOWN : KYMO_E_TYPE;
  if (id == KYMO_FIELD_ACQUISITION && !event->has_time)
    return KYMO_E_ABSENT;
  *value = (struct kymo_value){.type = id == KYMO_FIELD_ACQUISITION ? &time : &number};
  switch (id) {
  case KYMO_FIELD_EVENT: value->u = event->class_->id; return KYMO_OK;
  case KYMO_FIELD_ACQUISITION: value->i = event->time_ns; return KYMO_OK;
  case KYMO_FIELD_STREAM:
    value->u = stream->instance != UINT64_MAX ? stream->instance : stream->index;
    return KYMO_OK;
  default: return KYMO_E_UNKNOWN;
  }
}

static int read_field(const struct kymo_event *event, uint32_t id, struct kymo_value *value,
                      enum kymo_token wanted) {
  struct place place;
  if (KYMO_UNLIKELY(id >= KYMO_FIELD_STREAM))
    return read_role(event, id, value, wanted);
  int status = find_place(event, id, &place);
  if (status != KYMO_OK)
    return status;
  enum kymo_token token = kymo_value_read(place.node->type, event->packet->data, &place.at_bits,
                                          event->packet->content_bits, place.length, value);
  if (token == wanted)
    return KYMO_OK;
  return wanted == KYMO_TOKEN_TEXT && token == KYMO_TOKEN_BLOB ? KYMO_OK : KYMO_E_TYPE;
}

const struct kymo_type *kymo_event_get_type(const struct kymo_event *event, uint32_t id) {
  const struct kymo_decoder *decoder = kymo_located(event);
  const struct kymo_fields *fields = event->plan->fields;
  if (!fields || id >= fields->count || !is_there(decoder, &fields->list[id]))
    return NULL;
  const struct kymo_node *node = resolve(decoder, fields->list[id].node);
  return node ? node->type : NULL;
}

bool kymo_event_has(const struct kymo_event *event, uint32_t id) {
  struct kymo_value value;
  if (id >= KYMO_FIELD_STREAM)
    return read_role(event, id, &value, KYMO_TOKEN_INTEGER) == KYMO_OK;
  return kymo_event_get_type(event, id) != NULL;
}

/* The place of an integer that one load reads, or NULL. */
static inline const struct near *get_near(const struct kymo_event *event, uint32_t id, uint64_t *out) {
  const struct kymo_fields *fields = event->plan->fields;
  if (KYMO_UNLIKELY(!fields || id >= fields->count || !fields->list[id].near.is_there))
    return NULL;
  const struct near *near = &fields->list[id].near;
  uint64_t bits = load_near(event, near);
  *out = near->is_signed ? (uint64_t)kymo_sign_extend(bits, near->size_bits) : bits;
  return near;
}

/* An integer, as 64 bits and whether these have a sign. */
static inline int get_integer(const struct kymo_event *event, uint32_t id, uint64_t *out, bool *is_signed) {
  const struct near *near = get_near(event, id, out);
  struct kymo_value value;
  if (KYMO_LIKELY(near)) {
    *is_signed = near->is_signed;
    return KYMO_OK;
  }
  int status = read_field(event, id, &value, KYMO_TOKEN_INTEGER);
  if (status != KYMO_OK)
    return status;
  *out = value.u;
  *is_signed = value.type->is_signed;
  return KYMO_OK;
}

int kymo_event_get_uint(const struct kymo_event *event, uint32_t field, uint64_t *out) {
  uint64_t value;
  bool is_signed;
  int status = get_integer(event, field, &value, &is_signed);
  if (status != KYMO_OK)
    return status;
  if (is_signed && value > INT64_MAX)
    return KYMO_E_RANGE;
  *out = value;
  return KYMO_OK;
}

int kymo_event_get_int(const struct kymo_event *event, uint32_t field, int64_t *out) {
  uint64_t value;
  bool is_signed;
  int status = get_integer(event, field, &value, &is_signed);
  if (status != KYMO_OK)
    return status;
  if (!is_signed && value > INT64_MAX)
    return KYMO_E_RANGE;
  *out = (int64_t)value;
  return KYMO_OK;
}

int kymo_event_get_float(const struct kymo_event *event, uint32_t field, double *out) {
  struct kymo_value value;
  int status = read_field(event, field, &value, KYMO_TOKEN_FLOAT);
  if (status == KYMO_OK)
    *out = value.f;
  return status;
}

int kymo_event_get_bytes(const struct kymo_event *event, uint32_t field, const uint8_t **out,
                         uint64_t *count) {
  struct kymo_value value;
  int status = read_field(event, field, &value, KYMO_TOKEN_TEXT);
  if (status != KYMO_OK)
    return status;
  *out = value.bytes;
  *count = value.count;
  return KYMO_OK;
}

int kymo_event_get_string(const struct kymo_event *event, uint32_t field, const char **out, uint64_t *count) {
  struct kymo_value value;
  int status = read_field(event, field, &value, KYMO_TOKEN_TEXT);
  if (status != KYMO_OK || value.type->kind == KYMO_KIND_BLOB_ARRAY ||
      value.type->kind == KYMO_KIND_BLOB_SEQUENCE)
    return status != KYMO_OK ? status : KYMO_E_TYPE;
  *out = (const char *)value.bytes;
  *count = value.count;
  return KYMO_OK;
}

/* ---- meanings ---- */

int kymo_event_get_token(const struct kymo_event *event, uint32_t field, uint64_t *code, const char **text) {
  struct kymo_value value;
  int status = read_field(event, field, &value, KYMO_TOKEN_INTEGER);
  if (status != KYMO_OK)
    return status;
  const struct kymo_type *type = value.type;
  if (field != KYMO_FIELD_EVENT &&
      (type->kind == KYMO_KIND_BITMAP || (!type->is_enumeration && !type->mapping_count)))
    return KYMO_E_TYPE;
  if (code)
    *code = value.u;
  if (text && field == KYMO_FIELD_EVENT) {
    *text = event->class_->name;
  } else if (text) {
    const struct kymo_mapping *mapping = kymo_mapping_find(type, value.u);
    *text = mapping ? mapping->name : NULL;
  }
  return KYMO_OK;
}

int kymo_event_get_flags(const struct kymo_event *event, uint32_t field, uint64_t *bits) {
  struct kymo_value value;
  int status = read_field(event, field, &value, KYMO_TOKEN_INTEGER);
  if (status != KYMO_OK)
    return status;
  if (value.type->kind != KYMO_KIND_BITMAP)
    return KYMO_E_TYPE;
  *bits = value.u;
  return KYMO_OK;
}

const char *kymo_type_flag_text(const struct kymo_type *type, uint64_t bits, uint32_t index) {
  struct kymo_labels labels = kymo_labels_begin(type, bits);
  const char *name = type->kind == KYMO_KIND_BITMAP ? kymo_labels_next(&labels) : NULL;
  while (name && index-- > 0)
    name = kymo_labels_next(&labels);
  return name;
}

static const struct {
  const char *unit;
  int64_t ns;
} units[] = {
    {"ns", 1}, {"us", 1000}, {"µs", 1000}, {"ms", 1000000}, {"s", 1000000000},
};

/* Nanoseconds in the unit, or 0. */
static int64_t unit_ns(const struct kymo_type *type) {
  for (size_t i = 0; type->unit && i < sizeof units / sizeof *units; i++)
    if (strcmp(type->unit, units[i].unit) == 0)
      return units[i].ns;
  return 0;
}

bool kymo_is_time(const struct kymo_type *type) {
  return kymo_is_integer(type) && ((type->clock && type->size_bits == 64) || unit_ns(type));
}

int kymo_event_get_time(const struct kymo_event *event, uint32_t field, int64_t *ns) {
  struct kymo_value value;
  int status = read_field(event, field, &value, KYMO_TOKEN_INTEGER);
  if (status != KYMO_OK)
    return status;
  const struct kymo_type *type = value.type;
  if (field == KYMO_FIELD_ACQUISITION) {
    *ns = value.i;
    return KYMO_OK;
  }
  if (!kymo_is_time(type))
    return KYMO_E_TYPE;
  if (type->clock && type->size_bits == 64) {
    struct kymo_ns clock;
    const struct kymo_decoder *decoder = kymo_decoder_of(event);
    kymo_ns_begin(&clock, type->clock, decoder->clock_offset_ns, decoder->is_rounded);
    *ns = kymo_ns_of(&clock, value.u);
    return clock.is_beyond ? KYMO_E_RANGE : KYMO_OK;
  }
  bool is_beyond = !type->is_signed && value.u > INT64_MAX;
  return is_beyond || __builtin_mul_overflow(value.i, unit_ns(type), ns) ? KYMO_E_RANGE : KYMO_OK;
}

/* ---- lists and groups ---- */

static bool is_list(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE;
}

static uint64_t count_of(const struct place *place) {
  const struct kymo_type *type = place->node->type;
  return type->kind == KYMO_KIND_ARRAY      ? type->length
         : type->kind == KYMO_KIND_SEQUENCE ? place->length
                                            : type->member_count;
}

int kymo_walk_field(struct kymo_walk *walk, const struct kymo_event *event, uint32_t field) {
  struct place place;
  int status = field >= KYMO_FIELD_STREAM ? KYMO_E_TYPE : find_place(event, field, &place);
  walk->depth = 0;
  if (status != KYMO_OK)
    return status;
  if (!is_list(place.node->type) && place.node->type->kind != KYMO_KIND_STRUCT &&
      place.node->type->kind != KYMO_KIND_UNION)
    return KYMO_E_TYPE;
  kymo_walk_at(walk, event, place.node, place.at_bits, count_of(&place));
  return KYMO_OK;
}

int kymo_event_get_count(const struct kymo_event *event, uint32_t field, uint64_t *count) {
  struct place place;
  int status = field >= KYMO_FIELD_STREAM ? KYMO_E_TYPE : find_place(event, field, &place);
  if (status != KYMO_OK || !is_list(place.node->type))
    return status != KYMO_OK ? status : KYMO_E_TYPE;
  *count = count_of(&place);
  return KYMO_OK;
}

/* Elements of one width are at constant distances. */
static bool has_one_width(const struct kymo_type *type) {
  return type->kind <= KYMO_KIND_FLOAT && type->size_bits > 0;
}

/* Passes `index` elements, each with all its parts. An element that needs numbers of its own is after them,
 * one level deeper. */
static enum kymo_token walk_to(struct kymo_walk *walk, uint64_t index, struct kymo_value *value) {
  enum kymo_token token = kymo_walk_next(walk, value);
  for (; index > 0 && token != KYMO_TOKEN_ERROR && token != KYMO_TOKEN_DONE; index--) {
    while (walk->depth > 1 && token != KYMO_TOKEN_ERROR)
      token = kymo_walk_next(walk, value);
    token = kymo_walk_next(walk, value);
  }
  bool is_around = token == KYMO_TOKEN_BEGIN && kymo_element_member(value->type);
  while (is_around && token != KYMO_TOKEN_ERROR) {
    token = kymo_walk_next(walk, value);
    is_around = !value->member || !kymo_member_is_element(value->member);
  }
  return token;
}

int kymo_walk_element(struct kymo_walk *walk, const struct kymo_event *event, uint32_t field,
                      uint64_t index) {
  struct place place;
  struct kymo_value value;
  int status = field >= KYMO_FIELD_STREAM ? KYMO_E_TYPE : find_place(event, field, &place);
  walk->depth = 0;
  if (status != KYMO_OK || !is_list(place.node->type))
    return status != KYMO_OK ? status : KYMO_E_TYPE;
  if (index >= count_of(&place))
    return KYMO_E_RANGE;
  kymo_walk_at(walk, event, place.node, place.at_bits, count_of(&place));
  enum kymo_token token = walk_to(walk, index, &value);
  if (token == KYMO_TOKEN_BEGIN) {
    walk->frames[0] = walk->frames[walk->depth - 1];
    walk->depth = 1;
    return KYMO_OK;
  }
  walk->depth = 0;
  return token == KYMO_TOKEN_ERROR ? KYMO_E_FORMAT : token == KYMO_TOKEN_ABSENT ? KYMO_E_ABSENT : KYMO_E_TYPE;
}

static int get_element(const struct kymo_event *event, uint32_t field, uint64_t index,
                       struct kymo_value *value, enum kymo_token *token) {
  struct place place;
  struct kymo_walk walk;
  int status = field >= KYMO_FIELD_STREAM ? KYMO_E_TYPE : find_place(event, field, &place);
  if (status != KYMO_OK || !is_list(place.node->type))
    return status != KYMO_OK ? status : KYMO_E_TYPE;
  if (index >= count_of(&place))
    return KYMO_E_RANGE;
  const struct kymo_type *element = place.node->type->element;
  if (has_one_width(element)) {
    uint64_t at = kymo_round_up(place.at_bits, element->align_bits) +
                  index * kymo_round_up(element->size_bits, element->align_bits);
    *value = (struct kymo_value){.type = element};
    *token = kymo_value_read(element, event->packet->data, &at, event->packet->content_bits, 0, value);
  } else {
    kymo_walk_at(&walk, event, place.node, place.at_bits, count_of(&place));
    *token = walk_to(&walk, index, value);
  }
  return *token == KYMO_TOKEN_ERROR ? KYMO_E_FORMAT : *token == KYMO_TOKEN_ABSENT ? KYMO_E_ABSENT : KYMO_OK;
}

int kymo_event_get_element_(const struct kymo_event *event, uint32_t field, uint64_t index,
                            struct kymo_value *value, size_t size, enum kymo_token *token) {
  struct kymo_value own;
  if (KYMO_LIKELY(size == sizeof own))
    return get_element(event, field, index, value, token);
  kymo_sized_in(&own, sizeof own, value, size);
  int status = get_element(event, field, index, &own, token);
  kymo_sized_out(value, size, &own, sizeof own);
  return status;
}

static int get_value(const struct kymo_event *event, uint32_t field, struct kymo_value *value,
                     enum kymo_token *token) {
  struct place place;
  *token = KYMO_TOKEN_INTEGER;
  if (field >= KYMO_FIELD_STREAM)
    return read_role(event, field, value, KYMO_TOKEN_INTEGER);
  int status = find_place(event, field, &place);
  if (status != KYMO_OK)
    return status;
  const struct kymo_type *type = place.node->type;
  *value = (struct kymo_value){.type = type, .member = place.node->member, .count = count_of(&place)};
  *token = KYMO_TOKEN_BEGIN;
  if (!is_list(type) && type->kind != KYMO_KIND_STRUCT && type->kind != KYMO_KIND_UNION)
    *token = kymo_value_read(type, event->packet->data, &place.at_bits, event->packet->content_bits,
                             place.length, value);
  return *token == KYMO_TOKEN_ERROR ? KYMO_E_FORMAT : KYMO_OK;
}

int kymo_event_get_value_(const struct kymo_event *event, uint32_t field, struct kymo_value *value,
                          size_t size, enum kymo_token *token) {
  struct kymo_value own;
  if (KYMO_LIKELY(size == sizeof own))
    return get_value(event, field, value, token);
  kymo_sized_in(&own, sizeof own, value, size);
  int status = get_value(event, field, &own, token);
  kymo_sized_out(value, size, &own, sizeof own);
  return status;
}

/* ---- the whole event ---- */

int kymo_event_get_raw(const struct kymo_event *event, const uint8_t **bytes, uint64_t *count) {
  const struct kymo_decoder *decoder = kymo_decoder_of(event);
  uint64_t end = decoder->is_raw ? event->packet->content_bits : kymo_event_end(event);
  *bytes = event->packet->data + event->offset_bits / 8;
  *count = (end + 7) / 8 - event->offset_bits / 8;
  return KYMO_OK;
}
