/* SPDX-License-Identifier: MIT */
/*
 * The private part of the public structs: the schema owns the arena that contains everything, and schema and
 * stream classes have hash tables from ids and names to objects.
 *
 *   struct schema_impl { struct kymo_schema, owners, arena, stream table, tables of names }
 *   struct stream_impl { struct kymo_stream_class, event table }
 *
 * Every struct kymo_schema and kymo_stream_class is the first member of its impl.
 */
#ifndef KYMO_SCHEMA_MODEL_H
#define KYMO_SCHEMA_MODEL_H

#include "base/arena.h"
#include "schema/parts.h"
#include "base/table.h"
#include <kymo/schema.h>

/* Ids to values, in an arena. */
struct id_table {
  struct kymo_hash_table table; /* of struct id_entry, in model.c */
};

/* Names to values, in an arena. See lookup.h. */
struct name_table {
  struct kymo_hash_table table; /* of struct name_entry, in lookup.c */
};

const void *kymo_id_table_find(const struct id_table *table, uint64_t id);
/* Adds a new id. False if there is no memory. */
bool kymo_id_table_add(struct id_table *table, struct kymo_arena *arena, uint64_t id, const void *value);

struct schema_impl {
  struct kymo_schema schema;
  uint32_t owners; /* atomic */
  struct kymo_arena arena;
  struct id_table streams;
  struct name_table types_by_name, groups_by_name, events_by_name;
};

struct stream_impl {
  struct kymo_stream_class stream;
  const struct schema_impl *owner;
  struct id_table events;
};

/* ---- references ---- */

/* True if in all options of a variant these names of members lead to numbers of the same signedness as `like`
 * (see KYMO_STEP_ELEMENT). */
bool kymo_options_have(const struct kymo_type *variant, const char *const *names, uint32_t count,
                       const struct kymo_type *like);
/* The names along the steps from `step` on, which begin in `type`; returns their number, up to the
 * reference's depth. */
uint32_t kymo_reference_names(const struct kymo_type *type, const struct kymo_reference *reference,
                              uint32_t step, const char **names);
/* The part of a type that a step leads to; the first option of a variant if any option may be meant. */
static inline const struct kymo_type *kymo_type_step(const struct kymo_type *type, uint32_t step) {
  bool is_any = type->kind == KYMO_KIND_VARIANT && step == KYMO_STEP_ELEMENT;
  return step == KYMO_STEP_ELEMENT && !is_any ? type->element : type->members[is_any ? 0 : step].type;
}

#endif
