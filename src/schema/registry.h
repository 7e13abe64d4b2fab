/* SPDX-License-Identifier: MIT */
/*
 * The registry: the binary form of a schema (docs/registry.md describes it byte by byte).
 *
 *   header ── records ──► trace · environment · clocks · types · packet header · streams · events
 *
 * Types are in the order of their ids and refer to lower ids only, so there can be no cycle, and a registry
 * only grows at its end: a later event class is its new types, then itself. Every prefix that ends where a
 * record ends is a registry.
 */
#ifndef KYMO_SCHEMA_REGISTRY_H
#define KYMO_SCHEMA_REGISTRY_H

#include "base/strbuf.h"
#include <kymo/schema.h>

#define KYMO_REGISTRY_MAGIC UINT32_C(0xa74b5952)
#define KYMO_REGISTRY_NONE UINT32_MAX /* no text, no type, no clock */
#define KYMO_REGISTRY_MACHINE_KNOWN UINT32_C(1)
#define KYMO_REGISTRY_CHAR_SIGNED UINT32_C(2)

enum {
  KYMO_REGISTRY_MAJOR = 1,
  KYMO_REGISTRY_MINOR = 0,
  KYMO_REGISTRY_HEADER_BYTES = 80,
  KYMO_REGISTRY_HEAD_BYTES = 8, /* of each record: kind, length of content; a checksum follows the content */
};

enum kymo_registry_record {
  KYMO_RECORD_TRACE = 1,
  KYMO_RECORD_ENVIRONMENT,
  KYMO_RECORD_CLOCK,
  KYMO_RECORD_TYPE,
  KYMO_RECORD_PACKET_HEADER,
  KYMO_RECORD_STREAM,
  KYMO_RECORD_EVENT,
  KYMO_RECORD_TEXT, /* see registry_metadata.h */
  KYMO_RECORD_PLAN, /* of a compiled description, see docs/key.md */
};

#define KYMO_REGISTRY_ROLES ((uint32_t)KYMO_ROLE_DISCARDED * 2 - 1) /* all that are known */
#define KYMO_REGISTRY_STEPS 64                                      /* of a reference, at most */

/* Flags of a type record. */
enum {
  KYMO_REGISTRY_IS_BIG = 1 << 0,
  KYMO_REGISTRY_IS_REVERSED = 1 << 1,
  KYMO_REGISTRY_IS_SIGNED = 1 << 2,
  KYMO_REGISTRY_IS_ADDRESS = 1 << 3,
  KYMO_REGISTRY_IS_ENUMERATION = 1 << 4,
  KYMO_REGISTRY_TYPE_FLAGS = (1 << 5) - 1,
};

/* Flags of a trace record and of a clock record. */
enum { KYMO_REGISTRY_HAS_UUID = 1 << 0, KYMO_REGISTRY_IS_EPOCH = 1 << 1 };

/* The parts of a type record, in the order of its bytes; bits of its mask. */
enum kymo_registry_part {
  KYMO_PART_NAME,
  KYMO_PART_ROLES,
  KYMO_PART_CLOCK,
  KYMO_PART_UNIT,
  KYMO_PART_MAPPINGS,
  KYMO_PART_LENGTH,
  KYMO_PART_ELEMENT,
  KYMO_PART_MEMBERS,
  KYMO_PART_SELECTOR,
  KYMO_PART_PRESENCE,
  KYMO_PART_MEDIA_TYPE,
  KYMO_PART_ATTRIBUTES,
  KYMO_PART_COUNT,
};

/* The parts that a type of this kind can have, and the required ones. */
uint32_t kymo_registry_parts(enum kymo_type_kind kind);
uint32_t kymo_registry_needed_parts(enum kymo_type_kind kind);
/* True if types of this kind have a width of their own (kymo_type.size_bits). */
bool kymo_registry_has_size(enum kymo_type_kind kind);

/* The end of header and records: a checksum over all before it in the header or record. */
uint32_t kymo_registry_checksum(const void *bytes, size_t size);

/* ---- writing piece by piece ---- */

/* The written part of a schema. Owns nothing, allocates nothing. */
struct kymo_registry_writer {
  struct kymo_strbuf *out;
  const struct kymo_builder *builder; /* of a schema under construction, or NULL */
  const struct kymo_schema *schema;
  uint32_t clocks, types;
};

/*
 * Adds the header and everything but event classes to `out`, which must live as long as the writer; the
 * caller may empty it between calls after it has stored its contents. out->failed reports that there was no
 * memory.
 */
void kymo_registry_begin(struct kymo_registry_writer *writer, struct kymo_strbuf *out,
                         const struct kymo_builder *builder);
/* Adds the clocks and types made since, then the event class. */
void kymo_registry_append_event(struct kymo_registry_writer *writer, const struct kymo_event_class *event);

/* ---- reading ---- */

/* True if the bytes begin like a registry, of any version. */
bool kymo_registry_is(const void *bytes, size_t size);

/*
 * As kymo_registry_read, for a registry whose writer was killed while appending: a truncated or corrupt
 * record ends the reading, and the part before it is the schema. KYMO_OK then, too: *used is the number of
 * valid bytes, and if that is less than `size`, `error` describes the fault after them. Fails as
 * kymo_registry_read does if header or trace record are invalid, or the readable part is not a schema.
 */
int kymo_registry_read_sound(struct kymo_schema **schema, const void *bytes, size_t size, size_t *used,
                             const char *file, struct kymo_error *error);

#endif
