/* SPDX-License-Identifier: MIT */
/*
 * Registry → schema, for bytes that may be corrupt or untrusted.
 *
 *   header ─► record ─► its reader ─► builder ─► … ─► finish ─► hashes compared
 *
 * Each record is read through a kymo_bytes of its own, so no length in it can reach beyond it. Counts are
 * compared with the bytes that are left before anything is allocated for them; ids are indices into earlier
 * records. The builder checks the promises of all schemas, and its messages get the offset of the record.
 */
#include "base/bytes.h"
#include "base/fail.h"
#include "base/list.h"
#include "schema/build.h"
#include "schema/registry.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The hashes in an event record, to be compared with those of the result. */
struct stored {
  size_t offset;
  struct kymo_hashes hashes;
  const struct kymo_event_class *event;
};

/* A list of `count` items in malloc'ed memory. */
struct list {
  void *items;
  uint32_t count, capacity;
};

struct reading {
  const uint8_t *bytes;
  size_t size;
  const char *file;
  struct kymo_error *error;
  struct kymo_builder *builder;
  struct kymo_bytes in; /* the content of the current record */
  size_t start;         /* of the current record; in.at counts from content */
  size_t content;
  bool has_trace;
  uint64_t fields;     /* checked so far */
  struct list types;   /* const struct kymo_type * by their number in the registry */
  struct list streams; /* struct kymo_stream_class * */
  struct list events;  /* struct stored */
};

/* ---- faults ---- */

/* A fault `at` bytes into the content of the current record. */
static int fail(struct reading *r, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int fail(struct reading *r, size_t at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  kymo_fail_at_args(r->error, KYMO_E_FORMAT, r->file, r->content + at, format, args);
  va_end(args);
  return KYMO_E_FORMAT;
}

static int no_memory(struct reading *r) {
  return kymo_fail(r->error, KYMO_E_MEMORY, "out of memory while reading a registry");
}

/* A fault of the record as a whole, also with the builder's message. */
static int refused(struct reading *r, int status, const char *why) {
  return kymo_fail_at(r->error, status, r->file, r->start, "%s", why);
}

/* ---- lists ---- */

/* Space for one more; NULL if there is no memory. */
static void *add(struct list *list, size_t size) {
  if (!KYMO_LIST_ROOM_OF(size, list->items, list->capacity, list->count))
    return NULL;
  return (char *)list->items + size * list->count++;
}

/* ---- parts of a record; each returns 0 or a negative status ---- */

/* A read exceeded the end of the record. */
static int cut(struct reading *r) {
  return fail(r, r->in.size, "the record ends in the middle of what it holds");
}

static int read_text(struct reading *r, const char **text) {
  size_t at = r->in.at;
  uint32_t length = kymo_bytes_u32(&r->in);
  *text = NULL;
  if (r->in.failed)
    return cut(r);
  if (length == KYMO_REGISTRY_NONE)
    return 0;
  const uint8_t *from = kymo_bytes_take(&r->in, length);
  if (!from)
    return fail(r, at, "a text of %" PRIu32 " bytes in a record with %zu left", length, r->in.size - at - 4);
  if (memchr(from, 0, length))
    return fail(r, at + 4, "a text with a zero byte in it");
  *text = kymo_arena_copy(kymo_builder_arena(r->builder), (const char *)from, length);
  return *text ? 0 : no_memory(r);
}

/* `count` texts. */
static int read_texts(struct reading *r, const char **const texts[], size_t count) {
  int status = 0;
  for (size_t i = 0; i < count && status == 0; i++)
    status = read_text(r, texts[i]);
  return status;
}

static int read_type(struct reading *r, const struct kymo_type **type) {
  size_t at = r->in.at;
  uint32_t id = kymo_bytes_u32(&r->in);
  *type = NULL;
  if (r->in.failed)
    return cut(r);
  if (id == KYMO_REGISTRY_NONE)
    return 0;
  if (id >= r->types.count)
    return fail(r, at, "expected one of the %" PRIu32 " types before it, found type %" PRIu32, r->types.count,
                id);
  *type = ((const struct kymo_type **)r->types.items)[id];
  return 0;
}

static int read_needed_type(struct reading *r, const struct kymo_type **type) {
  size_t at = r->in.at;
  int status = read_type(r, type);
  return status < 0 || *type ? status : fail(r, at, "expected a type, found none");
}

static int read_clock(struct reading *r, const struct kymo_clock **clock) {
  const struct kymo_schema *schema = kymo_builder_schema(r->builder);
  size_t at = r->in.at;
  uint32_t index = kymo_bytes_u32(&r->in);
  *clock = NULL;
  if (r->in.failed)
    return cut(r);
  if (index == KYMO_REGISTRY_NONE)
    return 0;
  if (index >= schema->clock_count)
    return fail(r, at, "expected one of the %" PRIu32 " clocks before it, found clock %" PRIu32,
                schema->clock_count, index);
  *clock = schema->clocks[index];
  return 0;
}

/* A count of items that take at least `least` bytes each, and zeroed memory for them. */
static int read_count(struct reading *r, size_t least, size_t size, uint32_t *count, void *items) {
  size_t at = r->in.at;
  *count = kymo_bytes_u32(&r->in);
  if (r->in.failed)
    return cut(r);
  if (*count > (r->in.size - r->in.at) / least)
    return fail(r, at, "a list of %" PRIu32 " in a record with %zu bytes left", *count,
                r->in.size - r->in.at);
  void *memory = kymo_arena_array(kymo_builder_arena(r->builder), *count, size);
  memcpy(items, &memory, sizeof memory);
  return memory ? 0 : no_memory(r);
}

static int read_ranges(struct reading *r, const struct kymo_range **ranges, uint32_t *count) {
  struct kymo_range *list;
  int status = read_count(r, 16, sizeof *list, count, &list);
  for (uint32_t i = 0; i < *count && status == 0; i++) {
    list[i].low = kymo_bytes_u64(&r->in);
    list[i].high = kymo_bytes_u64(&r->in);
  }
  *ranges = status == 0 ? list : NULL;
  return status;
}

static void read_uuid(struct reading *r, uint8_t *uuid) {
  const uint8_t *from = kymo_bytes_take(&r->in, 16);
  if (from)
    memcpy(uuid, from, 16);
}

/* ---- types ---- */

static int read_mappings(struct reading *r, struct kymo_type *type) {
  struct kymo_mapping *list;
  int status = read_count(r, 20, sizeof *list, &type->mapping_count, &list);
  for (uint32_t i = 0; i < type->mapping_count && status == 0; i++) {
    list[i].low = kymo_bytes_u64(&r->in);
    list[i].high = kymo_bytes_u64(&r->in);
    status = read_text(r, &list[i].name);
  }
  type->mappings = list;
  return status;
}

static int read_members(struct reading *r, struct kymo_type *type) {
  struct kymo_member *list;
  int status = read_count(r, 20, sizeof *list, &type->member_count, &list);
  for (uint32_t i = 0; i < type->member_count && status == 0; i++) {
    struct kymo_member *member = &list[i];
    status = read_needed_type(r, &member->type);
    if (status == 0)
      status =
          read_texts(r, (const char **const[]){&member->name, &member->source_name, &member->attributes}, 3);
    if (status == 0)
      status = read_ranges(r, &member->ranges, &member->range_count);
    if (!member->source_name)
      member->source_name = member->name;
  }
  type->members = list;
  return status;
}

static int read_selector(struct reading *r, struct kymo_type *type) {
  uint32_t *steps;
  int status = read_needed_type(r, &type->selector_type);
  if (status < 0)
    return status;
  size_t at = r->in.at;
  uint32_t scope = kymo_bytes_u32(&r->in);
  if (!r->in.failed && scope >= KYMO_SCOPE_COUNT)
    return fail(r, at, "expected a scope from 0 to %d, found %" PRIu32, KYMO_SCOPE_COUNT - 1, scope);
  at = r->in.at;
  status = read_count(r, 4, sizeof *steps, &type->selector.depth, &steps);
  if (status == 0 && type->selector.depth > KYMO_REGISTRY_STEPS)
    return fail(r, at, "a way deeper than %d steps", KYMO_REGISTRY_STEPS);
  for (uint32_t i = 0; i < type->selector.depth && status == 0; i++)
    steps[i] = kymo_bytes_u32(&r->in);
  type->selector.scope = (enum kymo_scope)scope;
  type->selector.steps = steps;
  return status;
}

static int read_roles(struct reading *r, struct kymo_type *type) {
  size_t at = r->in.at;
  type->roles = kymo_bytes_u32(&r->in);
  if (type->roles & ~KYMO_REGISTRY_ROLES)
    return fail(r, at, "expected roles below 0x%x, found 0x%" PRIx32, KYMO_REGISTRY_ROLES + 1, type->roles);
  return 0;
}

static int read_part(struct reading *r, struct kymo_type *type, enum kymo_registry_part part) {
  switch (part) {
  case KYMO_PART_NAME: return read_text(r, &type->name);
  case KYMO_PART_ROLES: return read_roles(r, type);
  case KYMO_PART_CLOCK: return read_clock(r, &type->clock);
  case KYMO_PART_UNIT: return read_text(r, &type->unit);
  case KYMO_PART_MAPPINGS: return read_mappings(r, type);
  case KYMO_PART_LENGTH: type->length = kymo_bytes_u64(&r->in); return 0;
  case KYMO_PART_ELEMENT: return read_needed_type(r, &type->element);
  case KYMO_PART_MEMBERS: return read_members(r, type);
  case KYMO_PART_SELECTOR: return read_selector(r, type);
  case KYMO_PART_PRESENCE: return read_ranges(r, &type->presence, &type->presence_count);
  case KYMO_PART_MEDIA_TYPE: return read_text(r, &type->media_type);
  case KYMO_PART_ATTRIBUTES: return read_text(r, &type->attributes);
  case KYMO_PART_COUNT: break;
  }
  return 0;
}

static const char *const kind_names[] = {
    "integer", "boolean",    "bit map",       "float",      "variable-length integer",
    "string",  "text array", "text sequence", "blob array", "blob sequence",
    "array",   "sequence",   "struct",        "variant",    "optional",
    "union",
};
static const char *const part_names[KYMO_PART_COUNT] = {
    "a name",     "roles",   "a clock",    "a unit",   "mappings",     "a length",
    "an element", "members", "a selector", "presence", "a media type", "attributes",
};

/* The name of a part that only one of two masks has, for messages. */
static const char *name_of_part(uint32_t parts) { return part_names[__builtin_ctz(parts)]; }

/* The fixed begin of a type record; *parts is the mask of the parts that follow. */
static int read_type_head(struct reading *r, struct kymo_type *type, uint32_t *parts) {
  uint8_t kind = kymo_bytes_u8(&r->in), flags = kymo_bytes_u8(&r->in);
  type->base = kymo_bytes_u8(&r->in);
  uint8_t encoding = kymo_bytes_u8(&r->in);
  type->align_bits = kymo_bytes_u32(&r->in);
  type->size_bits = kymo_bytes_u32(&r->in);
  size_t at = r->in.at;
  *parts = kymo_bytes_u32(&r->in);
  if (r->in.failed)
    return cut(r);
  if (kind > KYMO_KIND_UNION)
    return fail(r, 0, "expected a kind of type from 0 to %d, found %u", KYMO_KIND_UNION, kind);
  if (flags & ~KYMO_REGISTRY_TYPE_FLAGS)
    return fail(r, 1, "expected flags of a type below 0x%x, found 0x%x", KYMO_REGISTRY_TYPE_FLAGS + 1, flags);
  if (encoding > KYMO_ENCODING_UTF32BE)
    return fail(r, 3, "expected an encoding from 0 to %d, found %u", KYMO_ENCODING_UTF32BE, encoding);
  type->kind = (enum kymo_type_kind)kind;
  type->encoding = (enum kymo_encoding)encoding;
  type->order = flags & KYMO_REGISTRY_IS_BIG ? KYMO_ORDER_BIG : KYMO_ORDER_LITTLE;
  type->bits_reversed = flags & KYMO_REGISTRY_IS_REVERSED;
  type->is_signed = flags & KYMO_REGISTRY_IS_SIGNED;
  type->is_address = flags & KYMO_REGISTRY_IS_ADDRESS;
  type->is_enumeration = flags & KYMO_REGISTRY_IS_ENUMERATION;
  if (type->size_bits != 0 && !kymo_registry_has_size(type->kind))
    return fail(r, 8, "%s of a width of its own: %" PRIu32, kind_names[kind], type->size_bits);
  uint32_t known = (UINT32_C(1) << KYMO_PART_COUNT) - 1;
  uint32_t strange = *parts & known & ~kymo_registry_parts(type->kind);
  uint32_t missing = kymo_registry_needed_parts(type->kind) & ~*parts;
  if (strange)
    return fail(r, at, "%s with %s", kind_names[kind], name_of_part(strange));
  return missing ? fail(r, at, "%s without %s", kind_names[kind], name_of_part(missing)) : 0;
}

static int read_type_record(struct reading *r) {
  struct kymo_type type = {0};
  uint32_t parts;
  int status = read_type_head(r, &type, &parts);
  for (uint32_t part = 0; part < KYMO_PART_COUNT && status == 0; part++)
    if (parts >> part & 1)
      status = read_part(r, &type, (enum kymo_registry_part)part);
  if (status < 0)
    return status;
  if (r->in.failed)
    return cut(r);
  const struct kymo_type *made = kymo_builder_type(r->builder, &type);
  const struct kymo_type **place = made ? add(&r->types, sizeof *place) : NULL;
  if (!place)
    return no_memory(r);
  *place = made;
  struct kymo_error why;
  status = kymo_builder_check(r->builder, made, &why);
  return status < 0 ? refused(r, status, why.message) : 0;
}

/* ---- other records ---- */

static int read_trace(struct reading *r) {
  struct kymo_schema *schema = kymo_builder_schema(r->builder);
  if (r->has_trace)
    return fail(r, 0, "a second trace record");
  uint8_t order = kymo_bytes_u8(&r->in), flags = kymo_bytes_u8(&r->in);
  kymo_bytes_u16(&r->in);
  schema->major = kymo_bytes_u32(&r->in);
  schema->minor = kymo_bytes_u32(&r->in);
  read_uuid(r, schema->uuid);
  if (order > KYMO_ORDER_BIG)
    return fail(r, 0, "expected a byte order of 0 or 1, found %u", order);
  schema->order = (enum kymo_byte_order)order;
  schema->has_uuid = flags & KYMO_REGISTRY_HAS_UUID;
  r->has_trace = true;
  return read_texts(r, (const char **const[]){&schema->trace_name, &schema->attributes}, 2);
}

static int read_environment(struct reading *r) {
  struct kymo_environment entry = {.integer = (int64_t)kymo_bytes_u64(&r->in)};
  int status = read_texts(r, (const char **const[]){&entry.name, &entry.text}, 2);
  if (status < 0)
    return status;
  if (!entry.name)
    return fail(r, 8, "an entry of the environment without a name");
  return kymo_builder_environment(r->builder, &entry) < 0 ? no_memory(r) : 0;
}

static int read_clock_record(struct reading *r) {
  struct kymo_clock clock = {0};
  uint32_t flags = kymo_bytes_u32(&r->in);
  clock.frequency = kymo_bytes_u64(&r->in);
  clock.offset_seconds = (int64_t)kymo_bytes_u64(&r->in);
  clock.offset_cycles = kymo_bytes_u64(&r->in);
  clock.precision = kymo_bytes_u64(&r->in);
  read_uuid(r, clock.uuid);
  clock.has_uuid = flags & KYMO_REGISTRY_HAS_UUID;
  clock.origin_is_epoch = flags & KYMO_REGISTRY_IS_EPOCH;
  int status = read_texts(r,
                          (const char **const[]){&clock.name, &clock.description, &clock.origin_namespace,
                                                 &clock.origin_name, &clock.origin_uid, &clock.attributes},
                          6);
  if (status < 0)
    return status;
  if (clock.frequency == 0)
    return fail(r, 4, "a clock with a frequency of 0");
  return kymo_builder_clock(r->builder, &clock) ? 0 : no_memory(r);
}

/* A struct of fields, or NULL. */
static int read_scope(struct reading *r, const struct kymo_type **type) {
  size_t at = r->in.at;
  int status = read_type(r, type);
  if (status < 0 || !*type || (*type)->kind == KYMO_KIND_STRUCT)
    return status;
  return fail(r, at, "expected a struct, found type %" PRIu32 ": %s", (*type)->id, kind_names[(*type)->kind]);
}

/* Checks where the references of a class lead, or if both are NULL those of the packet header. */
static int check(struct reading *r, const struct kymo_stream_class *stream,
                 const struct kymo_event_class *event) {
  struct kymo_error why;
  int status = kymo_schema_check(r->builder, stream, event, &r->fields, &why);
  return status < 0 ? refused(r, status, why.message) : 0;
}

static int read_packet_header(struct reading *r) {
  struct kymo_schema *schema = kymo_builder_schema(r->builder);
  if (schema->packet_header)
    return fail(r, 0, "a second packet header");
  int status = read_scope(r, &schema->packet_header);
  return status == 0 ? check(r, NULL, NULL) : status;
}

static int read_stream(struct reading *r) {
  struct kymo_stream_class stream = {.id = kymo_bytes_u64(&r->in)}, *made;
  int status = read_clock(r, &stream.clock);
  if (status == 0)
    status = read_scope(r, &stream.packet_context);
  if (status == 0)
    status = read_scope(r, &stream.event_header);
  if (status == 0)
    status = read_scope(r, &stream.common_context);
  if (status == 0)
    status = read_texts(r, (const char **const[]){&stream.name, &stream.attributes}, 2);
  if (status < 0)
    return status;
  struct kymo_error why;
  struct kymo_stream_class **place = add(&r->streams, sizeof *place);
  if (!place)
    return no_memory(r);
  status = kymo_builder_stream(r->builder, &stream, &made, &why);
  if (status < 0)
    return refused(r, status, why.message);
  *place = made;
  return check(r, made, NULL);
}

static void read_hash(struct reading *r, struct kymo_hash *hash) {
  hash->high = kymo_bytes_u64(&r->in);
  hash->low = kymo_bytes_u64(&r->in);
}

static int read_event(struct reading *r) {
  struct kymo_event_class event = {.id = kymo_bytes_u64(&r->in)};
  struct stored *stored = add(&r->events, sizeof *stored);
  uint32_t stream = kymo_bytes_u32(&r->in);
  if (!stored)
    return no_memory(r);
  if (!r->in.failed && stream >= r->streams.count)
    return fail(r, 8, "expected one of the %" PRIu32 " streams before it, found stream %" PRIu32,
                r->streams.count, stream);
  event.level = (int32_t)kymo_bytes_u32(&r->in);
  event.source_line = kymo_bytes_u32(&r->in);
  int status = read_scope(r, &event.specific_context);
  if (status == 0)
    status = read_scope(r, &event.payload);
  read_hash(r, &stored->hashes.content);
  read_hash(r, &stored->hashes.layout);
  stored->offset = r->start;
  if (status == 0)
    status =
        read_texts(r,
                   (const char **const[]){&event.name, &event.group, &event.description, &event.source_file,
                                          &event.template_text, &event.uri, &event.attributes},
                   7);
  if (status < 0)
    return status;
  struct kymo_stream_class **streams = r->streams.items;
  struct kymo_event_class *made = NULL;
  struct kymo_error why;
  status = kymo_builder_event(r->builder, streams[stream], &event, &made, &why);
  stored->event = made;
  return status < 0 ? refused(r, status, why.message) : check(r, streams[stream], made);
}

/* The user of the plan verifies its contents. */
static int read_plan(struct reading *r) {
  struct kymo_schema *schema = kymo_builder_schema(r->builder);
  if (schema->plan)
    return fail(r, 0, "a second plan");
  uint8_t *plan = kymo_arena_alloc(kymo_builder_arena(r->builder), r->in.size + 1);
  if (!plan)
    return no_memory(r);
  memcpy(plan, r->in.data, r->in.size);
  schema->plan = plan;
  schema->plan_size = r->in.size;
  return 0;
}

/* ---- header and records ---- */

bool kymo_registry_is(const void *bytes, size_t size) {
  return size >= 4 &&
         (kymo_load_le32(bytes) == KYMO_REGISTRY_MAGIC || kymo_load_be32(bytes) == KYMO_REGISTRY_MAGIC);
}

static int read_machine(struct reading *r, uint32_t flags) {
  if (!(flags & KYMO_REGISTRY_MACHINE_KNOWN))
    return 0;
  struct kymo_machine *machine = kymo_arena_alloc(kymo_builder_arena(r->builder), sizeof *machine);
  if (!machine)
    return no_memory(r);
  machine->page_size = kymo_bytes_u32(&r->in);
  size_t at = r->in.at;
  memcpy(machine->name, kymo_bytes_take(&r->in, sizeof machine->name), sizeof machine->name);
  memcpy(machine->sizes, kymo_bytes_take(&r->in, KYMO_C_TYPE_COUNT), KYMO_C_TYPE_COUNT);
  memcpy(machine->alignments, kymo_bytes_take(&r->in, KYMO_C_TYPE_COUNT), KYMO_C_TYPE_COUNT);
  machine->char_is_signed = flags & KYMO_REGISTRY_CHAR_SIGNED;
  kymo_builder_schema(r->builder)->machine = machine;
  if (!memchr(machine->name, 0, sizeof machine->name))
    return fail(r, at, "a machine's name of more than %zu bytes", sizeof machine->name - 1);
  return 0;
}

/* *at becomes the offset of the first record. */
static int read_header(struct reading *r, size_t *at) {
  if (!kymo_registry_is(r->bytes, r->size))
    return kymo_fail_at(r->error, KYMO_E_UNKNOWN, r->file, 0, "no registry: the magic number is missing");
  r->in = (struct kymo_bytes){.data = r->bytes, .size = r->size, .at = 4};
  r->in.is_big = kymo_load_be32(r->bytes) == KYMO_REGISTRY_MAGIC;
  uint32_t major = kymo_bytes_u16(&r->in), minor = kymo_bytes_u16(&r->in), size = kymo_bytes_u32(&r->in);
  uint32_t flags = kymo_bytes_u32(&r->in);
  if (!r->in.failed && major != KYMO_REGISTRY_MAJOR)
    return kymo_fail_at(r->error, KYMO_E_UNKNOWN, r->file, 4,
                        "a registry of version %" PRIu32 ".%" PRIu32
                        ", which this kymo does not know (it reads %d.x)",
                        major, minor, KYMO_REGISTRY_MAJOR);
  if (r->in.failed || size > r->size)
    return fail(r, r->size, "the file ends in the middle of the header");
  if (size < KYMO_REGISTRY_HEADER_BYTES)
    return fail(r, 8, "expected a header of at least %d bytes, found %" PRIu32, KYMO_REGISTRY_HEADER_BYTES,
                size);
  struct kymo_bytes end = {.data = r->bytes, .size = size, .at = size - 4, .is_big = r->in.is_big};
  uint32_t stored = kymo_bytes_u32(&end), found = kymo_registry_checksum(r->bytes, size - 4);
  if (stored != found)
    return fail(r, size - 4, "the header is damaged: its checksum is %08" PRIx32 ", it says %08" PRIx32,
                found, stored);
  *at = size;
  return read_machine(r, flags);
}

typedef int record_reader(struct reading *);
static record_reader *const readers[] = {
    [KYMO_RECORD_TRACE] = read_trace,
    [KYMO_RECORD_ENVIRONMENT] = read_environment,
    [KYMO_RECORD_CLOCK] = read_clock_record,
    [KYMO_RECORD_TYPE] = read_type_record,
    [KYMO_RECORD_PACKET_HEADER] = read_packet_header,
    [KYMO_RECORD_STREAM] = read_stream,
    [KYMO_RECORD_EVENT] = read_event,
    [KYMO_RECORD_PLAN] = read_plan,
};

/* Finds the record at `at` and verifies its checksum. *kind and r->in are its kind and content; *next is the
 * offset of the following one. */
static int open_record(struct reading *r, size_t at, uint32_t *kind, size_t *next) {
  struct kymo_bytes record = {.data = r->bytes, .size = r->size, .at = at, .is_big = r->in.is_big};
  *kind = kymo_bytes_u32(&record);
  uint32_t length = kymo_bytes_u32(&record);
  const uint8_t *content = kymo_bytes_take(&record, length);
  uint32_t stored = kymo_bytes_u32(&record);
  r->start = at;
  r->content = at + KYMO_REGISTRY_HEAD_BYTES;
  if (record.failed)
    return refused(r, KYMO_E_FORMAT, "the file ends in the middle of a record");
  if (*kind == 0)
    return refused(r, KYMO_E_FORMAT, "expected a record, found kind 0");
  uint32_t found = kymo_registry_checksum(r->bytes + at, KYMO_REGISTRY_HEAD_BYTES + (size_t)length);
  if (stored != found)
    return kymo_fail_at(r->error, KYMO_E_FORMAT, r->file, at,
                        "the record is damaged: its checksum is %08" PRIx32 ", it says %08" PRIx32, found,
                        stored);
  r->in = (struct kymo_bytes){.data = content, .size = length, .is_big = record.is_big};
  *next = record.at;
  return 0;
}

/* Reads the opened record. Kinds of later minor versions are skipped. */
static int read_record(struct reading *r, uint32_t kind) {
  if (!r->has_trace && kind != KYMO_RECORD_TRACE)
    return refused(r, KYMO_E_FORMAT, "expected the trace record first, found another");
  if (kind >= sizeof readers / sizeof readers[0] || !readers[kind])
    return 0;
  int status = readers[kind](r);
  return status == 0 && r->in.failed ? cut(r) : status;
}

/* All records, or if `is_lenient` all up to the first truncated or corrupt one: *used is its offset. */
static int read_records(struct reading *r, bool is_lenient, size_t *used) {
  int status = read_header(r, used);
  while (status == 0 && *used < r->size) {
    uint32_t kind = 0;
    size_t next = 0;
    status = open_record(r, *used, &kind, &next);
    if (status < 0 && is_lenient && r->has_trace)
      return 0;
    if (status == 0)
      status = read_record(r, kind);
    if (status == 0)
      *used = next;
  }
  r->start = *used;
  return status == 0 && !r->has_trace ? refused(r, KYMO_E_FORMAT, "expected a trace record, found the end")
                                      : status;
}

/* ---- the end ---- */

/* Zeros: the writer did not store the hash. */
static bool differs(const struct kymo_hash *stored, const struct kymo_hash *found) {
  return (stored->high || stored->low) && (stored->high != found->high || stored->low != found->low);
}

/* Compares the hashes stored for event classes with the computed ones. */
static int compare_hashes(struct reading *r) {
  const struct stored *stored = r->events.items;
  for (uint32_t i = 0; i < r->events.count; i++) {
    const struct kymo_hashes *found = &stored[i].event->hashes;
    bool is_content = differs(&stored[i].hashes.content, &found->content);
    if (!is_content && !differs(&stored[i].hashes.layout, &found->layout))
      continue;
    const struct kymo_hash *a = is_content ? &found->content : &found->layout;
    const struct kymo_hash *b = is_content ? &stored[i].hashes.content : &stored[i].hashes.layout;
    return kymo_fail_at(r->error, KYMO_E_FORMAT, r->file, stored[i].offset,
                        "event \"%.100s\" is not what it was: its %s hash is %016" PRIx64 "%016" PRIx64
                        ", it says %016" PRIx64 "%016" PRIx64,
                        stored[i].event->name, is_content ? "content" : "layout", a->high, a->low, b->high,
                        b->low);
  }
  return 0;
}

/* The builder's schema; NULL after reporting. */
static struct kymo_schema *finish(struct reading *r) {
  struct kymo_error why;
  struct kymo_schema *schema = kymo_builder_finish(r->builder, &why);
  r->builder = NULL;
  if (!schema)
    kymo_fail_at(r->error, why.code, r->file, KYMO_ERROR_NO_OFFSET, "%s", why.message);
  else if (compare_hashes(r) == 0)
    return schema;
  kymo_schema_release(schema);
  return NULL;
}

static int read_all(struct reading *r, bool is_lenient, struct kymo_schema **schema, size_t *used) {
  struct kymo_error why = {.code = KYMO_E_MEMORY}, *error = r->error;
  r->error = error ? error : &why;
  r->builder = kymo_builder_new();
  int status = r->builder ? read_records(r, is_lenient, used) : no_memory(r);
  *schema = status == 0 ? finish(r) : NULL;
  if (status == 0 && !*schema)
    status = r->error->code;
  kymo_builder_free(r->builder);
  free(r->types.items);
  free(r->streams.items);
  free(r->events.items);
  return status;
}

int kymo_registry_read(struct kymo_schema **schema, const void *bytes, size_t size, const char *file,
                       struct kymo_error *error) {
  struct reading r = {.bytes = bytes, .size = size, .file = file, .error = error};
  size_t used = 0;
  return read_all(&r, false, schema, &used);
}

int kymo_registry_read_sound(struct kymo_schema **schema, const void *bytes, size_t size, size_t *used,
                             const char *file, struct kymo_error *error) {
  struct reading r = {.bytes = bytes, .size = size, .file = file, .error = error};
  *used = 0;
  return read_all(&r, true, schema, used);
}
