/* SPDX-License-Identifier: MIT */
/*
 * Building a schema: the only way to make one. A builder owns an arena; descriptions
 * allocate their types in it, hand them over, and finish.
 *
 *   builder = kymo_builder_new();
 *   type = kymo_builder_type(builder, &(struct kymo_type){...});      interned: equal types are one
 *   stream = kymo_builder_stream(builder, &(struct kymo_stream_class){...});
 *   kymo_builder_event(builder, stream, &(struct kymo_event_class){...}, error);
 *   schema = kymo_builder_finish(builder, error);                      validates everything
 */
#ifndef KYMO_SCHEMA_BUILD_H
#define KYMO_SCHEMA_BUILD_H

#include "base/arena.h"
#include <kymo/schema.h>

struct kymo_builder;

/* NULL when out of memory. */
struct kymo_builder *kymo_builder_new(void);
/* Frees an unfinished builder; NULL is fine. */
void kymo_builder_free(struct kymo_builder *builder);
/* Memory that lives as long as the schema: for names, member arrays, mappings, steps. */
struct kymo_arena *kymo_builder_arena(struct kymo_builder *builder);

/* Interns a type: copies the struct (not what it points to, which must be in the arena or
 * static) and returns the one type of this structure. align_bits 0 stands for the natural
 * minimum (1, or 8 for texts and blobs); a compound's alignment is raised to that of its parts.
 * NULL when out of memory. */
const struct kymo_type *kymo_builder_type(struct kymo_builder *builder, const struct kymo_type *type);

/* Checks one interned type now, as kymo_builder_finish would (all but where references lead), so
 * that a compiler can tell the place in its text. */
int kymo_builder_check(const struct kymo_builder *builder, const struct kymo_type *type, struct kymo_error *error);

struct kymo_clock *kymo_builder_clock(struct kymo_builder *builder, const struct kymo_clock *clock);
/* The schema under construction: set order, uuid, major, minor, trace_name, packet_header here. */
struct kymo_schema *kymo_builder_schema(struct kymo_builder *builder);
int kymo_builder_environment(struct kymo_builder *builder, const struct kymo_environment *entry);
/* KYMO_E_FORMAT for a second stream class with the same id; *out may be changed until finish. */
int kymo_builder_stream(struct kymo_builder *builder, const struct kymo_stream_class *stream,
                        struct kymo_stream_class **out, struct kymo_error *error);
int kymo_builder_event(struct kymo_builder *builder, struct kymo_stream_class *stream,
                       const struct kymo_event_class *event, struct kymo_event_class **out,
                       struct kymo_error *error);

/* Checks what every schema promises (references point to earlier integers, depth ≤ 64, widths,
 * alignments, mapping ranges), builds the lookups, and makes the schema immutable. The builder is
 * gone in either case. NULL on failure. */
struct kymo_schema *kymo_builder_finish(struct kymo_builder *builder, struct kymo_error *error);

#endif
