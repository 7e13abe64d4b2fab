/* SPDX-License-Identifier: MIT */
/* The requested fields of an event class; a field's id is its place in the list. */
#ifndef KYMO_DECODE_FIELD_H
#define KYMO_DECODE_FIELD_H

#include "decode/decoder.h"

/* A variant or optional on the path, and the chosen part. */
struct guard {
  const struct kymo_node *node;
  uint32_t option;
};

/* An integer that one load reads, at a constant distance from the event's header. */
struct near {
  bool is_there, is_signed, is_big;
  uint8_t size_bits;
  uint64_t offset_bits;
};

struct field {
  const struct kymo_node *node;
  const struct guard *guards;
  uint32_t guard_count;
  enum kymo_scope scope;
  const char *path; /* as it was asked for */
  struct near near; /* the field, if it is such an integer */
  bool has_place;   /* it begins at a constant distance there, and so does its length field: */
  struct near length;
};

struct kymo_fields {
  struct field *list;
  uint32_t count, capacity;
  const uint32_t *all; /* ids of all fields, in order, after the first kymo_field_list */
  size_t all_count;
};

/* The id of a field of an event class, or KYMO_FIELD_NONE: it is searched by its path in the payload, then in
 * specific, common and packet context. */
uint32_t kymo_event_plan_field_id(struct kymo_event_plan *plan, const struct kymo_stream_plan *stream,
                                  struct kymo_arena *arena, const char *path);
/* The ids of all its fields, in order, in `arena`; KYMO_E_MEMORY. */
int kymo_event_plan_fields(struct kymo_event_plan *plan, const struct kymo_stream_plan *stream,
                           struct kymo_arena *arena, const uint32_t **ids, size_t *count);
/* What a field is; KYMO_E_UNKNOWN. */
int kymo_event_plan_field_info(const struct kymo_event_plan *plan, uint32_t id, struct kymo_field *info);
/* Whether integers of this type are times: of a clock, or in a unit of time. */
bool kymo_is_time(const struct kymo_type *type);
/* The field of an id, or NULL. */
const struct field *kymo_find_field(const struct kymo_event_plan *plan, uint32_t id);

#endif
