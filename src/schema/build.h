/* SPDX-License-Identifier: MIT */
/* Functions of the builder for descriptions inside of the library, beyond <kymo/schema.h>. */
#ifndef KYMO_SCHEMA_BUILD_H
#define KYMO_SCHEMA_BUILD_H

#include "base/arena.h"
#include "schema/parts.h"
#include <kymo/schema.h>

/* Memory that lives as long as the schema: for names, member arrays, mappings, steps. */
struct kymo_arena *kymo_builder_arena(struct kymo_builder *builder);
/* An unsigned integer of whole bytes, printed as a decimal number. NULL: out of memory. */
const struct kymo_type *kymo_builder_number(struct kymo_builder *builder, uint32_t bits, uint32_t roles,
                                            const struct kymo_clock *clock);
/* A struct of these members, aligned to bytes. The members are copied, their names are not; source_name NULL
 * is the name. NULL if a member has no name or no type, since there was no memory for it, or if there is none
 * now. */
const struct kymo_type *kymo_builder_struct(struct kymo_builder *builder, const struct kymo_member *list,
                                            uint32_t count);
/* kymo_builder_finish if `status` is KYMO_OK; else frees the builder. NULL: *error says why. */
struct kymo_schema *kymo_builder_end(struct kymo_builder *builder, int status, struct kymo_error *error);
/* kymo_builder_finish for a description in this file, or NULL, which its error then names. */
struct kymo_schema *kymo_builder_finish_file(struct kymo_builder *builder, const char *file,
                                             struct kymo_error *error);
/* Whether an allocation has failed so far: kymo_builder_finish will report it. */
bool kymo_builder_has_failed(struct kymo_builder *builder);

/*
 * Checks now where the references of one scope lead, as kymo_builder_finish would, so that a description can
 * report the place: of the event class; if that is NULL, of the stream class; if both are, of the packet
 * header. All types are checked (kymo_builder_check). *fields, 0 at first, limits the work of all calls
 * together.
 */
int kymo_schema_check(const struct kymo_builder *builder, const struct kymo_stream_class *stream,
                      const struct kymo_event_class *event, uint64_t *fields, struct kymo_error *error);

#endif
