/* SPDX-License-Identifier: MIT */
/* Schema → registry. Each record is written after a head that is filled in when its end is known. */
#include "base/fail.h"
#include "base/hash.h"
#include "schema/builder.h"
#include "schema/registry.h"
#include <stdlib.h>
#include <string.h>

uint32_t kymo_registry_checksum(const void *bytes, size_t size) {
  return (uint32_t)kymo_hash64(bytes, size, 0);
}

/* ---- what a kind of type can hold ---- */

#define PART(name) (UINT32_C(1) << KYMO_PART_##name)
#define ANY_KIND (PART(NAME) | PART(ROLES) | PART(CLOCK) | PART(UNIT) | PART(MEDIA_TYPE) | PART(ATTRIBUTES))

uint32_t kymo_registry_needed_parts(enum kymo_type_kind kind) {
  switch (kind) {
  case KYMO_KIND_TEXT_SEQUENCE:
  case KYMO_KIND_BLOB_SEQUENCE:
  case KYMO_KIND_VARIANT: return PART(SELECTOR);
  case KYMO_KIND_ARRAY: return PART(ELEMENT);
  case KYMO_KIND_SEQUENCE:
  case KYMO_KIND_OPTIONAL: return PART(ELEMENT) | PART(SELECTOR);
  default: return 0;
  }
}

uint32_t kymo_registry_parts(enum kymo_type_kind kind) {
  uint32_t parts = ANY_KIND | kymo_registry_needed_parts(kind);
  switch (kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_BITMAP:
  case KYMO_KIND_VARINT: return parts | PART(MAPPINGS);
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_BLOB_ARRAY:
  case KYMO_KIND_ARRAY: return parts | PART(LENGTH);
  case KYMO_KIND_STRUCT:
  case KYMO_KIND_VARIANT:
  case KYMO_KIND_UNION: return parts | PART(MEMBERS);
  case KYMO_KIND_OPTIONAL: return parts | PART(PRESENCE);
  default: return parts;
  }
}

bool kymo_registry_has_size(enum kymo_type_kind kind) {
  switch (kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_BOOLEAN:
  case KYMO_KIND_BITMAP:
  case KYMO_KIND_FLOAT:
  case KYMO_KIND_UNION: return true;
  default: return false;
  }
}

static uint32_t parts_of(const struct kymo_type *type) {
  uint32_t parts = (type->name ? PART(NAME) : 0) | (type->roles ? PART(ROLES) : 0) |
                   (type->clock ? PART(CLOCK) : 0) | (type->unit ? PART(UNIT) : 0) |
                   (type->mapping_count ? PART(MAPPINGS) : 0) | (type->length ? PART(LENGTH) : 0) |
                   (type->element ? PART(ELEMENT) : 0) | (type->member_count ? PART(MEMBERS) : 0) |
                   (type->selector_type ? PART(SELECTOR) : 0) | (type->presence_count ? PART(PRESENCE) : 0) |
                   (type->media_type ? PART(MEDIA_TYPE) : 0) | (type->attributes ? PART(ATTRIBUTES) : 0);
  return parts & kymo_registry_parts(type->kind);
}

/* ---- numbers and texts, in the order of this machine ---- */

static void put_u8(struct kymo_strbuf *out, uint8_t value) {
  kymo_strbuf_add(out, (const char *)&value, sizeof value);
}

static void put_u16(struct kymo_strbuf *out, uint16_t value) {
  kymo_strbuf_add(out, (const char *)&value, sizeof value);
}

static void put_u32(struct kymo_strbuf *out, uint32_t value) {
  kymo_strbuf_add(out, (const char *)&value, sizeof value);
}

static void put_u64(struct kymo_strbuf *out, uint64_t value) {
  kymo_strbuf_add(out, (const char *)&value, sizeof value);
}

static void put_text(struct kymo_strbuf *out, const char *text) {
  size_t length = text ? strlen(text) : 0;
  if (length >= KYMO_REGISTRY_NONE)
    out->failed = true;
  put_u32(out, text ? (uint32_t)length : KYMO_REGISTRY_NONE);
  kymo_strbuf_add(out, text, length);
}

static void put_type(struct kymo_strbuf *out, const struct kymo_type *type) {
  put_u32(out, type ? type->id : KYMO_REGISTRY_NONE);
}

static void put_clock(struct kymo_strbuf *out, const struct kymo_clock *clock) {
  put_u32(out, clock ? clock->index : KYMO_REGISTRY_NONE);
}

static void put_ranges(struct kymo_strbuf *out, const struct kymo_range *ranges, uint32_t count) {
  put_u32(out, count);
  for (uint32_t i = 0; i < count; i++) {
    put_u64(out, ranges[i].low);
    put_u64(out, ranges[i].high);
  }
}

/* ---- records ---- */

/* The head of a record; its offset is passed to end_record, which fills in the length. */
static size_t begin_record(struct kymo_strbuf *out, enum kymo_registry_record kind) {
  size_t start = out->length;
  put_u32(out, kind);
  put_u32(out, 0);
  return start;
}

static void end_record(struct kymo_strbuf *out, size_t start) {
  if (out->failed)
    return;
  size_t content = out->length - start - KYMO_REGISTRY_HEAD_BYTES;
  uint32_t length = (uint32_t)content;
  if (content > UINT32_MAX) {
    out->failed = true;
    return;
  }
  memcpy(out->text + start + 4, &length, sizeof length);
  put_u32(out, kymo_registry_checksum(out->text + start, out->length - start));
}

/* Exactly as many bytes as a machine's name has, without the bytes after its zero. */
static void put_name(struct kymo_strbuf *out, const char *name) {
  char bytes[sizeof((struct kymo_machine){0}.name)] = "";
  memcpy(bytes, name, strnlen(name, sizeof bytes));
  kymo_strbuf_add(out, bytes, sizeof bytes);
}

/* 16 bytes: zeros if there is none. */
static void put_uuid(struct kymo_strbuf *out, bool is_there, const uint8_t *uuid) {
  static const uint8_t none[16];
  kymo_strbuf_add(out, (const char *)(is_there ? uuid : none), sizeof none);
}

static void put_header(struct kymo_strbuf *out, const struct kymo_machine *machine) {
  static const struct kymo_machine unknown = {0};
  size_t start = out->length;
  uint32_t flags = machine ? KYMO_REGISTRY_MACHINE_KNOWN : 0;
  if (machine && machine->char_is_signed)
    flags |= KYMO_REGISTRY_CHAR_SIGNED;
  machine = machine ? machine : &unknown;
  put_u32(out, KYMO_REGISTRY_MAGIC);
  put_u16(out, KYMO_REGISTRY_MAJOR);
  put_u16(out, KYMO_REGISTRY_MINOR);
  put_u32(out, KYMO_REGISTRY_HEADER_BYTES);
  put_u32(out, flags);
  put_u32(out, machine->page_size);
  put_name(out, machine->name);
  kymo_strbuf_add(out, (const char *)machine->sizes, KYMO_C_TYPE_COUNT);
  kymo_strbuf_add(out, (const char *)machine->alignments, KYMO_C_TYPE_COUNT);
  if (!out->failed)
    put_u32(out, kymo_registry_checksum(out->text + start, out->length - start));
}

static void put_trace(struct kymo_strbuf *out, const struct kymo_schema *schema) {
  size_t start = begin_record(out, KYMO_RECORD_TRACE);
  put_u8(out, (uint8_t)schema->order);
  put_u8(out, schema->has_uuid ? KYMO_REGISTRY_HAS_UUID : 0);
  put_u16(out, 0);
  put_u32(out, schema->major);
  put_u32(out, schema->minor);
  put_uuid(out, schema->has_uuid, schema->uuid);
  put_text(out, schema->trace_name);
  put_text(out, schema->attributes);
  end_record(out, start);
}

static void put_environment(struct kymo_strbuf *out, const struct kymo_environment *entry) {
  size_t start = begin_record(out, KYMO_RECORD_ENVIRONMENT);
  put_u64(out, entry->text ? 0 : (uint64_t)entry->integer);
  put_text(out, entry->name);
  put_text(out, entry->text);
  end_record(out, start);
}

static void put_clock_record(struct kymo_strbuf *out, const struct kymo_clock *clock) {
  size_t start = begin_record(out, KYMO_RECORD_CLOCK);
  put_u32(out, (clock->has_uuid ? KYMO_REGISTRY_HAS_UUID : 0) |
                   (clock->origin_is_epoch ? (uint32_t)KYMO_REGISTRY_IS_EPOCH : 0));
  put_u64(out, clock->frequency);
  put_u64(out, (uint64_t)clock->offset_seconds);
  put_u64(out, clock->offset_cycles);
  put_u64(out, clock->precision);
  put_uuid(out, clock->has_uuid, clock->uuid);
  put_text(out, clock->name);
  put_text(out, clock->description);
  put_text(out, clock->origin_namespace);
  put_text(out, clock->origin_name);
  put_text(out, clock->origin_uid);
  put_text(out, clock->attributes);
  end_record(out, start);
}

static void put_plan(struct kymo_strbuf *out, const struct kymo_schema *schema) {
  size_t start = begin_record(out, KYMO_RECORD_PLAN);
  kymo_strbuf_add(out, (const char *)schema->plan, schema->plan_size);
  end_record(out, start);
}

/* ---- types ---- */

static void put_mappings(struct kymo_strbuf *out, const struct kymo_type *type) {
  put_u32(out, type->mapping_count);
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    put_u64(out, type->mappings[i].low);
    put_u64(out, type->mappings[i].high);
    put_text(out, type->mappings[i].name);
  }
}

static void put_members(struct kymo_strbuf *out, const struct kymo_type *type) {
  put_u32(out, type->member_count);
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct kymo_member *member = &type->members[i];
    bool same = !member->source_name || strcmp(member->source_name, member->name) == 0;
    put_type(out, member->type);
    put_text(out, member->name);
    put_text(out, same ? NULL : member->source_name);
    put_text(out, member->attributes);
    put_ranges(out, member->ranges, member->range_count);
  }
}

static void put_selector(struct kymo_strbuf *out, const struct kymo_type *type) {
  put_type(out, type->selector_type);
  put_u32(out, type->selector.scope);
  put_u32(out, type->selector.depth);
  for (uint32_t i = 0; i < type->selector.depth; i++)
    put_u32(out, type->selector.steps[i]);
}

static void put_part(struct kymo_strbuf *out, const struct kymo_type *type, enum kymo_registry_part part) {
  switch (part) {
  case KYMO_PART_NAME: put_text(out, type->name); break;
  case KYMO_PART_ROLES: put_u32(out, type->roles); break;
  case KYMO_PART_CLOCK: put_clock(out, type->clock); break;
  case KYMO_PART_UNIT: put_text(out, type->unit); break;
  case KYMO_PART_MAPPINGS: put_mappings(out, type); break;
  case KYMO_PART_LENGTH: put_u64(out, type->length); break;
  case KYMO_PART_ELEMENT: put_type(out, type->element); break;
  case KYMO_PART_MEMBERS: put_members(out, type); break;
  case KYMO_PART_SELECTOR: put_selector(out, type); break;
  case KYMO_PART_PRESENCE: put_ranges(out, type->presence, type->presence_count); break;
  case KYMO_PART_MEDIA_TYPE: put_text(out, type->media_type); break;
  case KYMO_PART_ATTRIBUTES: put_text(out, type->attributes); break;
  case KYMO_PART_COUNT: break;
  }
}

static uint8_t flags_of(const struct kymo_type *type) {
  return (uint8_t)((type->order == KYMO_ORDER_BIG ? KYMO_REGISTRY_IS_BIG : 0) |
                   (type->bits_reversed ? KYMO_REGISTRY_IS_REVERSED : 0) |
                   (type->is_signed ? KYMO_REGISTRY_IS_SIGNED : 0) |
                   (type->is_address ? KYMO_REGISTRY_IS_ADDRESS : 0) |
                   (type->is_enumeration ? KYMO_REGISTRY_IS_ENUMERATION : 0));
}

static void put_type_record(struct kymo_strbuf *out, const struct kymo_type *type) {
  size_t start = begin_record(out, KYMO_RECORD_TYPE);
  uint32_t parts = parts_of(type);
  put_u8(out, (uint8_t)type->kind);
  put_u8(out, flags_of(type));
  put_u8(out, type->base);
  put_u8(out, (uint8_t)type->encoding);
  put_u32(out, type->align_bits);
  put_u32(out, kymo_registry_has_size(type->kind) ? type->size_bits : 0);
  put_u32(out, parts);
  for (uint32_t part = 0; part < KYMO_PART_COUNT; part++)
    if (parts >> part & 1)
      put_part(out, type, (enum kymo_registry_part)part);
  end_record(out, start);
}

/* ---- classes ---- */

static void put_packet_header(struct kymo_strbuf *out, const struct kymo_type *type) {
  size_t start = begin_record(out, KYMO_RECORD_PACKET_HEADER);
  put_type(out, type);
  end_record(out, start);
}

static void put_stream(struct kymo_strbuf *out, const struct kymo_stream_class *stream) {
  size_t start = begin_record(out, KYMO_RECORD_STREAM);
  put_u64(out, stream->id);
  put_clock(out, stream->clock);
  put_type(out, stream->packet_context);
  put_type(out, stream->event_header);
  put_type(out, stream->common_context);
  put_text(out, stream->name);
  put_text(out, stream->attributes);
  end_record(out, start);
}

static void put_hash(struct kymo_strbuf *out, const struct kymo_hash *hash) {
  put_u64(out, hash->high);
  put_u64(out, hash->low);
}

static void put_event(struct kymo_strbuf *out, const struct kymo_event_class *event) {
  size_t start = begin_record(out, KYMO_RECORD_EVENT);
  put_u64(out, event->id);
  put_u32(out, event->stream->index);
  put_u32(out, (uint32_t)event->level);
  put_u32(out, event->source_line);
  put_type(out, event->specific_context);
  put_type(out, event->payload);
  put_hash(out, &event->hashes.content);
  put_hash(out, &event->hashes.layout);
  put_text(out, event->name);
  put_text(out, event->group);
  put_text(out, event->description);
  put_text(out, event->source_file);
  put_text(out, event->template_text);
  put_text(out, event->uri);
  put_text(out, event->attributes);
  end_record(out, start);
}

/* ---- the whole ---- */

static void put_clocks(struct kymo_registry_writer *writer) {
  while (writer->clocks < writer->schema->clock_count)
    put_clock_record(writer->out, writer->schema->clocks[writer->clocks++]);
}

/* All types up to the one with this id, which refers to lower ones only, and the new clocks before them. */
static void put_types(struct kymo_registry_writer *writer, uint32_t last) {
  const struct kymo_type *const *types = writer->builder ? writer->builder->types : writer->schema->types;
  put_clocks(writer);
  while (writer->types <= last)
    put_type_record(writer->out, types[writer->types++]);
}

static void need(struct kymo_registry_writer *writer, const struct kymo_type *type) {
  if (type)
    put_types(writer, type->id);
}

static void begin(struct kymo_registry_writer *writer) {
  const struct kymo_schema *schema = writer->schema;
  put_header(writer->out, schema->machine);
  put_trace(writer->out, schema);
  for (uint32_t i = 0; i < schema->environment_count; i++)
    put_environment(writer->out, schema->environment[i]);
  put_clocks(writer);
  if (schema->packet_header) {
    need(writer, schema->packet_header);
    put_packet_header(writer->out, schema->packet_header);
  }
  for (uint32_t i = 0; i < schema->stream_count; i++) {
    need(writer, schema->streams[i]->packet_context);
    need(writer, schema->streams[i]->event_header);
    need(writer, schema->streams[i]->common_context);
    put_stream(writer->out, schema->streams[i]);
  }
}

void kymo_registry_begin(struct kymo_registry_writer *writer, struct kymo_strbuf *out,
                         const struct kymo_builder *builder) {
  *writer = (struct kymo_registry_writer){.out = out, .builder = builder, .schema = &builder->impl->schema};
  begin(writer);
}

void kymo_registry_append_event(struct kymo_registry_writer *writer, const struct kymo_event_class *event) {
  need(writer, event->specific_context);
  need(writer, event->payload);
  put_event(writer->out, event);
}

int kymo_registry_write(const struct kymo_schema *schema, uint8_t **bytes, size_t *size,
                        struct kymo_error *error) {
  struct kymo_strbuf out = {0};
  struct kymo_registry_writer writer = {.out = &out, .schema = schema};
  begin(&writer);
  for (uint32_t i = 0; i < schema->stream_count; i++)
    for (uint32_t k = 0; k < schema->streams[i]->event_count; k++)
      kymo_registry_append_event(&writer, schema->streams[i]->events[k]);
  if (schema->type_count > 0)
    put_types(&writer, schema->type_count - 1);
  if (schema->plan)
    put_plan(&out, schema);
  if (out.failed) {
    kymo_strbuf_free(&out);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory while writing a registry");
  }
  *bytes = (uint8_t *)out.text;
  *size = out.length;
  return KYMO_OK;
}
