/* SPDX-License-Identifier: MIT */
/* Making the types and clocks of one schema anew in a builder, with a map from the old ones to the new. */
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
      struct kymo_type *type); /* or NULL: changes a type before it is made; its parts are new ones already */
  void *user;
  const bool *wanted; /* by id; or NULL: all types */
  bool failed;        /* memory ran out */
};

/* Starts with maps in `work` that are empty. False: out of memory. */
bool kymo_schema_copy_begin(struct kymo_schema_copy *copy, struct kymo_arena *work);
/* Copies that live as long as the new schema; of nothing NULL. */
void *kymo_schema_copy_array(struct kymo_schema_copy *copy, const void *from, size_t count, size_t size);
const char *kymo_schema_copy_text(struct kymo_schema_copy *copy, const char *text);
/* The clock, with texts of its own; not made yet. */
struct kymo_clock kymo_schema_copy_clock(struct kymo_schema_copy *copy, const struct kymo_clock *clock);
/* The event class, with texts of its own, and its types if they are made; not made yet. */
struct kymo_event_class kymo_schema_copy_event(struct kymo_schema_copy *copy,
                                               const struct kymo_event_class *event);
/* Makes all types; the clocks must be there. False: out of memory. */
bool kymo_schema_copy_types(struct kymo_schema_copy *copy, struct kymo_arena *work);

/* What an old type or clock is now; NULL for NULL. */
static inline const struct kymo_type *kymo_copied_type(const struct kymo_schema_copy *copy,
                                                       const struct kymo_type *type) {
  return type ? copy->types[type->id] : NULL;
}

static inline const struct kymo_clock *kymo_copied_clock(const struct kymo_schema_copy *copy,
                                                         const struct kymo_clock *clock) {
  return clock ? copy->clocks[clock->index] : NULL;
}

#endif
