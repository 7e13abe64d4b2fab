/* SPDX-License-Identifier: MIT */
/* Copies the types and clocks of one schema into a builder, with a map from the old ones to the new ones. */
#ifndef KYMO_SCHEMA_COPY_H
#define KYMO_SCHEMA_COPY_H

#include "base/arena.h"
#include <kymo/schema.h>

struct kymo_schema_copy {
  struct kymo_builder *builder;
  const struct kymo_schema *schema; /* from here */
  const struct kymo_type **types;   /* the new ones, by the ids of the old ones */
  const struct kymo_clock **clocks; /* likewise, by index */
  void (*change)(
      void *user,
      struct kymo_type *type); /* or NULL: changes a type before it is created; its parts are already the
                                * new ones */
  void *user;
  const bool *wanted; /* by id; or NULL: all types */
  bool failed;        /* memory ran out */
};

/* Starts with empty maps in `work`. False: out of memory. */
bool kymo_schema_copy_begin(struct kymo_schema_copy *copy, struct kymo_arena *work);
/* Copies that live as long as the new schema; NULL for nothing. */
void *kymo_schema_copy_array(struct kymo_schema_copy *copy, const void *from, size_t count, size_t size);
const char *kymo_schema_copy_text(struct kymo_schema_copy *copy, const char *text);
/* The clock, with its own texts; not created yet. */
struct kymo_clock kymo_schema_copy_clock(struct kymo_schema_copy *copy, const struct kymo_clock *clock);
/* The event class, with its own texts, and its types if they are created; not created yet. */
struct kymo_event_class kymo_schema_copy_event(struct kymo_schema_copy *copy,
                                               const struct kymo_event_class *event);
/* Creates all types; the clocks must exist. False: out of memory. */
bool kymo_schema_copy_types(struct kymo_schema_copy *copy, struct kymo_arena *work);

/* The new type or clock for an old one; NULL for NULL. */
static inline const struct kymo_type *kymo_copied_type(const struct kymo_schema_copy *copy,
                                                       const struct kymo_type *type) {
  return type ? copy->types[type->id] : NULL;
}

static inline const struct kymo_clock *kymo_copied_clock(const struct kymo_schema_copy *copy,
                                                         const struct kymo_clock *clock) {
  return clock ? copy->clocks[clock->index] : NULL;
}

#endif
