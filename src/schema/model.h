/* SPDX-License-Identifier: MIT */
/*
 * What stands behind the public structs: the schema owns the arena that everything lives in,
 * and schema and stream classes carry a hash table from id to class.
 *
 *   struct schema_impl { struct kymo_schema, owners, arena, stream table }
 *   struct stream_impl { struct kymo_stream_class, event table }
 *
 * Every struct kymo_schema and kymo_stream_class is the first member of its impl.
 */
#ifndef KYMO_SCHEMA_MODEL_H
#define KYMO_SCHEMA_MODEL_H

#include "base/arena.h"
#include <kymo/schema.h>

/* Open addressing; `size` is a power of two, at most half of the slots are taken. */
struct id_table {
  struct id_slot { uint64_t id; const void *value; } *slots;
  uint32_t size, count;
};

const void *kymo_id_table_find(const struct id_table *table, uint64_t id);
/* Adds an id that is not there yet. False when out of memory. */
bool kymo_id_table_add(struct id_table *table, struct kymo_arena *arena, uint64_t id, const void *value);

struct schema_impl {
  struct kymo_schema schema;
  uint32_t owners; /* atomic */
  struct kymo_arena arena;
  struct id_table streams;
};

struct stream_impl {
  struct kymo_stream_class stream;
  const struct schema_impl *owner;
  struct id_table events;
};

#endif
