/* SPDX-License-Identifier: MIT */
/*
 * Tables from names to objects.
 *
 *   name ──► entry { name, value }          base/table.h, in the arena
 *
 * The table of types grows with the builder; those of groups and event classes are built when the schema is
 * finished.
 */
#ifndef KYMO_SCHEMA_LOOKUP_H
#define KYMO_SCHEMA_LOOKUP_H

#include "schema/builder.h"

/* Types whose normal name with its zero is longer are not found by name. */
enum { KYMO_TYPE_NAME_MAX = 1024 };

/* The value for `name`, NULL at first, to be set by the caller; NULL itself if there is no memory. `name`
 * lives as long as the table. */
const void **kymo_name_table_add(struct name_table *table, struct kymo_arena *arena, const char *name);
/* The value, or NULL. */
const void *kymo_name_table_find(const struct name_table *table, const char *name);

/* Adds a type by its normal name, unless another one has it. False when out of memory. */
bool kymo_name_type(struct name_table *table, struct kymo_arena *arena, const struct kymo_type *type);
/* Sets type->member_index. False when out of memory. */
bool kymo_index_members(struct kymo_type *type, struct kymo_arena *arena);
/* Sets groups and versions. False when out of memory. */
bool kymo_schema_index(struct schema_impl *impl);

#endif
