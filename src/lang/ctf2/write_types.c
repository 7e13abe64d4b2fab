/* SPDX-License-Identifier: MIT */
/*
 * Types as field classes. Each is an object: its type, what CTF 2 knows of it, our own attributes and those
 * of users, then its parts.
 *
 *   no mappings, a bit map     fixed-length-bit-array
 *   union, float of 80 bits,
 *   UUID of integers or text   BLOB, or array of bit arrays, that "stands-for" it
 *   alignment that its field
 *   class cannot have          structure of that minimum alignment, a "wrapper"
 */
#include "lang/ctf2/writer.h"
#include "schema/flag.h"
#include "schema/parts.h"
#include <stdlib.h>
#include <string.h>

static void put_type(struct ctf2_writer *writer, const char *key, const struct kymo_type *type);

/* ---- what a type is called ---- */

/* Adds the mappings that CTF 2 can express to a list, or only counts them; returns their number. Flags that
 * ask for a value cannot be expressed. */
static uint32_t list_mappings(const struct kymo_type *type, const struct kymo_mapping **list) {
  bool is_bitmap = type->kind == KYMO_KIND_BITMAP;
  uint32_t count = 0;
  for (uint32_t first = 0, end; first < type->mapping_count; first = end) {
    end = first + !is_bitmap;
    struct kymo_flag flag = is_bitmap ? kymo_flag_take(type, &end) : (struct kymo_flag){.name = NULL};
    for (uint32_t i = first; i < end && !flag.is_value; i++, count++)
      if (list)
        list[count] = &type->mappings[i];
  }
  return count;
}

static const char *class_name(const struct kymo_type *type) {
  static const char *const names[] = {
      [KYMO_KIND_BOOLEAN] = "fixed-length-boolean",
      [KYMO_KIND_BITMAP] = "fixed-length-bit-map",
      [KYMO_KIND_FLOAT] = "fixed-length-floating-point-number",
      [KYMO_KIND_STRING] = "null-terminated-string",
      [KYMO_KIND_TEXT_ARRAY] = "static-length-string",
      [KYMO_KIND_TEXT_SEQUENCE] = "dynamic-length-string",
      [KYMO_KIND_BLOB_ARRAY] = "static-length-blob",
      [KYMO_KIND_BLOB_SEQUENCE] = "dynamic-length-blob",
      [KYMO_KIND_ARRAY] = "static-length-array",
      [KYMO_KIND_SEQUENCE] = "dynamic-length-array",
      [KYMO_KIND_STRUCT] = "structure",
      [KYMO_KIND_VARIANT] = "variant",
      [KYMO_KIND_OPTIONAL] = "optional",
      [KYMO_KIND_UNION] = "union",
  };
  if (type->kind == KYMO_KIND_INTEGER)
    return type->is_signed ? "fixed-length-signed-integer" : "fixed-length-unsigned-integer";
  if (type->kind == KYMO_KIND_VARINT)
    return type->is_signed ? "variable-length-signed-integer" : "variable-length-unsigned-integer";
  if (type->kind == KYMO_KIND_BITMAP && list_mappings(type, NULL) == 0)
    return "fixed-length-bit-array";
  return names[type->kind];
}

static bool is_integer(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_INTEGER || type->kind == KYMO_KIND_VARINT;
}

static bool is_fixed_scalar(const struct kymo_type *type) { return type->kind <= KYMO_KIND_FLOAT; }

static bool is_text(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_STRING || type->kind == KYMO_KIND_TEXT_ARRAY ||
         type->kind == KYMO_KIND_TEXT_SEQUENCE;
}

static bool is_choice(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_VARIANT || type->kind == KYMO_KIND_OPTIONAL;
}

/* The strictest alignment that the field class by itself has. */
static uint32_t said_alignment(const struct kymo_type *type) {
  switch (type->kind) {
  case KYMO_KIND_VARINT:
  case KYMO_KIND_STRING:
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_TEXT_SEQUENCE:
  case KYMO_KIND_BLOB_ARRAY:
  case KYMO_KIND_BLOB_SEQUENCE: return 8;
  default: return type->align_bits;
  }
}

static bool needs_stand_in(const struct kymo_type *type) {
  if (type->kind == KYMO_KIND_UNION || (type->kind == KYMO_KIND_FLOAT && type->size_bits == 80))
    return true;
  return (type->roles & KYMO_ROLE_UUID) && type->kind != KYMO_KIND_BLOB_ARRAY;
}

bool kymo_ctf2_is_wrapped(const struct kymo_type *type) {
  return type->align_bits > said_alignment(type) && !needs_stand_in(type);
}

/* ---- attributes ---- */

static const char *encoding_name(enum kymo_encoding encoding) {
  static const char *const names[] = {
      [KYMO_ENCODING_NONE] = "none",        [KYMO_ENCODING_ASCII] = "ascii",
      [KYMO_ENCODING_UTF8] = "utf-8",       [KYMO_ENCODING_UTF16LE] = "utf-16le",
      [KYMO_ENCODING_UTF16BE] = "utf-16be", [KYMO_ENCODING_UTF32LE] = "utf-32le",
      [KYMO_ENCODING_UTF32BE] = "utf-32be",
  };
  return names[encoding];
}

/* The encoding, if the field class itself does not say it. */
static const char *own_encoding(const struct kymo_type *type) {
  bool is_said = is_text(type) ? type->encoding >= KYMO_ENCODING_UTF8 : type->encoding == KYMO_ENCODING_NONE;
  return is_said ? NULL : encoding_name(type->encoding);
}

/* True if the names of the mappings come in the order of their bytes, in which they are written. */
static bool is_sorted(const struct kymo_type *type) {
  for (uint32_t i = 1; i < type->mapping_count; i++)
    if (strcmp(type->mappings[i - 1].name, type->mappings[i].name) > 0)
      return false;
  return true;
}

static void put_mapping_order(struct ctf2_writer *writer, const struct kymo_type *type) {
  kymo_ctf2_open_flat(&writer->json, "order", '[');
  for (uint32_t i = 0; i < type->mapping_count; i++)
    kymo_ctf2_put_text(&writer->json, NULL, type->mappings[i].name);
  kymo_ctf2_close(&writer->json, ']');
}

static const struct kymo_clock *implied_clock(const struct ctf2_writer *writer,
                                              const struct kymo_type *type) {
  bool is_time = type->roles & (KYMO_ROLE_TIMESTAMP | KYMO_ROLE_TIMESTAMP_END);
  return is_time && writer->stream ? writer->stream->clock : NULL;
}

static void put_own_scalar(struct ctf2_writer *writer, struct ctf2_attributes *attributes,
                           const struct kymo_type *type) {
  kymo_ctf2_own_text(writer, attributes, "encoding", own_encoding(type));
  if (type->is_address)
    kymo_ctf2_own_flag(writer, attributes, "address");
  if (type->is_signed && !is_integer(type))
    kymo_ctf2_own_flag(writer, attributes, "signed");
  if (type->base && !is_integer(type)) {
    kymo_ctf2_own(writer, attributes, CTF2_OWN_SPACE);
    kymo_ctf2_put_uint(&writer->json, "base", type->base);
  }
  if (type->is_enumeration != (is_integer(type) && type->mapping_count > 0)) {
    kymo_ctf2_own(writer, attributes, CTF2_OWN_SPACE);
    kymo_ctf2_put_bool(&writer->json, "enumeration", type->is_enumeration);
  }
  if (!is_sorted(type)) {
    kymo_ctf2_own(writer, attributes, CTF2_OWN_SPACE);
    put_mapping_order(writer, type);
  }
  if (type->clock != implied_clock(writer, type))
    kymo_ctf2_own_text(writer, attributes, "clock",
                       type->clock ? kymo_ctf2_clock_id(writer, type->clock).text : "");
}

static void put_attributes(struct ctf2_writer *writer, const struct kymo_type *type) {
  struct ctf2_attributes attributes = kymo_ctf2_attributes(type->attributes);
  kymo_ctf2_own_text(writer, &attributes, "name", type->name);
  kymo_ctf2_own_text(writer, &attributes, "unit", type->unit);
  put_own_scalar(writer, &attributes, type);
  if (kymo_ctf2_location_is_vague(writer, type)) {
    kymo_ctf2_own(writer, &attributes, CTF2_OWN_SPACE);
    kymo_ctf2_put_options(writer, "options", type);
  }
  if (is_choice(type) && type->align_bits > 1) {
    kymo_ctf2_own(writer, &attributes, CTF2_OWN_SPACE);
    kymo_ctf2_put_uint(&writer->json, "alignment", type->align_bits);
  }
  bool is_truth =
      type->kind == KYMO_KIND_OPTIONAL && type->presence_count == 0 && is_integer(type->selector_type);
  if (is_truth)
    kymo_ctf2_own_flag(writer, &attributes, "truth");
  kymo_ctf2_attributes_end(writer, &attributes);
}

/* ---- scalars and texts ---- */

static const struct {
  uint32_t role;
  const char *name;
} role_names[] = {
    {KYMO_ROLE_MAGIC, "packet-magic-number"},
    {KYMO_ROLE_UUID, "metadata-stream-uuid"},
    {KYMO_ROLE_STREAM_CLASS_ID, "data-stream-class-id"},
    {KYMO_ROLE_STREAM_ID, "data-stream-id"},
    {KYMO_ROLE_EVENT_CLASS_ID, "event-record-class-id"},
    {KYMO_ROLE_TIMESTAMP, "default-clock-timestamp"},
    {KYMO_ROLE_TIMESTAMP_END, "packet-end-default-clock-timestamp"},
    {KYMO_ROLE_PACKET_SIZE, "packet-total-length"},
    {KYMO_ROLE_CONTENT_SIZE, "packet-content-length"},
    {KYMO_ROLE_SEQUENCE_NUMBER, "packet-sequence-number"},
    {KYMO_ROLE_DISCARDED, "discarded-event-record-counter-snapshot"},
};

static void put_roles(struct ctf2_writer *writer, uint32_t roles) {
  if (roles == 0)
    return;
  kymo_ctf2_open_flat(&writer->json, "roles", '[');
  for (size_t i = 0; i < sizeof role_names / sizeof role_names[0]; i++)
    if (roles & role_names[i].role)
      kymo_ctf2_put_text(&writer->json, NULL, role_names[i].name);
  kymo_ctf2_close(&writer->json, ']');
}

static int by_name(const void *a, const void *b) {
  const struct kymo_mapping *x = *(const struct kymo_mapping *const *)a,
                            *y = *(const struct kymo_mapping *const *)b;
  int order = strcmp(x->name, y->name);
  return order ? order : x < y ? -1 : x > y;
}

/* The mappings sorted by name, those of one name in their order. The caller frees the list. */
static const struct kymo_mapping **sort_mappings(struct ctf2_writer *writer, const struct kymo_type *type) {
  const struct kymo_mapping **list = calloc(type->mapping_count, sizeof *list);
  if (list)
    qsort(list, list_mappings(type, list), sizeof *list, by_name);
  writer->json.out->failed |= !list;
  return list;
}

static void put_mappings(struct ctf2_writer *writer, const struct kymo_type *type) {
  uint32_t count = list_mappings(type, NULL);
  if (count == 0)
    return;
  const struct kymo_mapping **list = sort_mappings(writer, type);
  struct kymo_range *ranges = calloc(count, sizeof *ranges);
  writer->json.out->failed |= !ranges;
  kymo_ctf2_open(&writer->json, type->kind == KYMO_KIND_BITMAP ? "flags" : "mappings", '{');
  for (uint32_t i = 0, end; list && ranges && i < count; i = end) {
    for (end = i; end < count && strcmp(list[end]->name, list[i]->name) == 0; end++)
      ranges[end - i] = (struct kymo_range){list[end]->low, list[end]->high};
    kymo_ctf2_put_ranges(&writer->json, list[i]->name, ranges, end - i, type->is_signed && is_integer(type));
  }
  kymo_ctf2_close(&writer->json, '}');
  free(ranges);
  free(list);
}

static void put_fixed_scalar(struct ctf2_writer *writer, const struct kymo_type *type) {
  bool is_big = type->order == KYMO_ORDER_BIG;
  kymo_ctf2_put_uint(&writer->json, "length", type->size_bits);
  kymo_ctf2_put_text(&writer->json, "byte-order", is_big ? "big-endian" : "little-endian");
  if (type->bits_reversed)
    kymo_ctf2_put_text(&writer->json, "bit-order", is_big ? "first-to-last" : "last-to-first");
  if (type->align_bits > 1)
    kymo_ctf2_put_uint(&writer->json, "alignment", type->align_bits);
}

static void put_own_properties(struct ctf2_writer *writer, const struct kymo_type *type) {
  bool has_length = type->kind == KYMO_KIND_TEXT_ARRAY || type->kind == KYMO_KIND_BLOB_ARRAY ||
                    type->kind == KYMO_KIND_ARRAY;
  if (is_fixed_scalar(type))
    put_fixed_scalar(writer, type);
  if (is_integer(type) && type->base)
    kymo_ctf2_put_uint(&writer->json, "preferred-display-base", type->base);
  if (has_length)
    kymo_ctf2_put_uint(&writer->json, "length", type->length);
  if (is_text(type) && type->encoding > KYMO_ENCODING_UTF8)
    kymo_ctf2_put_text(&writer->json, "encoding", encoding_name(type->encoding));
  if (type->media_type)
    kymo_ctf2_put_text(&writer->json, "media-type", type->media_type);
  put_roles(writer, type->roles);
}

/* ---- compounds ---- */

static void put_part(struct ctf2_writer *writer, const char *key, const struct kymo_type *type,
                     uint32_t step) {
  uint32_t struct_depth = writer->struct_depth;
  writer->way[writer->depth++] = step;
  put_type(writer, key, type);
  writer->depth--;
  writer->struct_depth = struct_depth;
}

/* What aligns the compound around a type: variants and optionals do not, whatever they say. */
static uint32_t read_alignment(const struct kymo_type *type) {
  return is_choice(type) ? 1 : type->align_bits;
}

static void put_minimum_alignment(struct ctf2_writer *writer, const struct kymo_type *type) {
  uint32_t natural = type->element ? read_alignment(type->element) : 1;
  for (uint32_t i = 0; i < type->member_count; i++)
    if (read_alignment(type->members[i].type) > natural)
      natural = read_alignment(type->members[i].type);
  if (type->align_bits > natural)
    kymo_ctf2_put_uint(&writer->json, "minimum-alignment", type->align_bits);
}

static void put_members(struct ctf2_writer *writer, const struct kymo_type *type) {
  writer->struct_depth = writer->depth;
  if (type->kind == KYMO_KIND_UNION)
    kymo_ctf2_put_uint(&writer->json, "length", type->size_bits);
  put_minimum_alignment(writer, type);
  kymo_ctf2_open(&writer->json, "member-classes", '[');
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct kymo_member *member = &type->members[i];
    bool is_other = member->source_name && strcmp(member->source_name, member->name) != 0;
    kymo_ctf2_open(&writer->json, NULL, '{');
    kymo_ctf2_put_text(&writer->json, "name", member->name);
    struct ctf2_attributes attributes = kymo_ctf2_attributes(member->attributes);
    kymo_ctf2_own_text(writer, &attributes, "source-name", is_other ? member->source_name : NULL);
    kymo_ctf2_attributes_end(writer, &attributes);
    put_part(writer, "field-class", member->type, i);
    kymo_ctf2_close(&writer->json, '}');
  }
  kymo_ctf2_close(&writer->json, ']');
}

/* ---- choices ---- */

static bool overlap(bool is_signed, const struct kymo_range *a, const struct kymo_range *b) {
  if (is_signed)
    return (int64_t)a->low <= (int64_t)b->high && (int64_t)b->low <= (int64_t)a->high;
  return a->low <= b->high && b->low <= a->high;
}

static bool is_taken(const struct kymo_type *type, uint32_t option, const struct kymo_range *range) {
  for (uint32_t i = 0; i < option; i++)
    for (uint32_t at = 0; at < type->members[i].range_count; at++)
      if (overlap(type->selector_type->is_signed, &type->members[i].ranges[at], range))
        return true;
  return false;
}

/* CTF 2 requires that options have no value in common: values that earlier options take are only in an
 * attribute. */
static void put_option_ranges(struct ctf2_writer *writer, const struct kymo_type *type, uint32_t index) {
  const struct kymo_member *option = &type->members[index];
  bool is_signed = type->selector_type->is_signed;
  struct kymo_range *free_ranges = calloc(option->range_count + 1, sizeof *free_ranges);
  uint32_t count = 0;
  for (uint32_t i = 0; i < option->range_count && free_ranges; i++)
    if (!is_taken(type, index, &option->ranges[i]))
      free_ranges[count++] = option->ranges[i];
  writer->json.out->failed |= !free_ranges;
  struct ctf2_attributes attributes = kymo_ctf2_attributes(option->attributes);
  bool is_other = option->source_name && strcmp(option->source_name, option->name) != 0;
  kymo_ctf2_put_ranges(&writer->json, "selector-field-ranges", free_ranges, count, is_signed);
  kymo_ctf2_own_text(writer, &attributes, "source-name", is_other ? option->source_name : NULL);
  if (count < option->range_count) {
    kymo_ctf2_own(writer, &attributes, CTF2_OWN_SPACE);
    kymo_ctf2_put_ranges(&writer->json, "selector-field-ranges", option->ranges, option->range_count,
                         is_signed);
  }
  kymo_ctf2_attributes_end(writer, &attributes);
  free(free_ranges);
}

static void put_variant(struct ctf2_writer *writer, const struct kymo_type *type) {
  kymo_ctf2_put_location(writer, "selector-field-location", type);
  kymo_ctf2_open(&writer->json, "options", '[');
  for (uint32_t i = 0; i < type->member_count; i++) {
    kymo_ctf2_open(&writer->json, NULL, '{');
    kymo_ctf2_put_text(&writer->json, "name", type->members[i].name);
    put_option_ranges(writer, type, i);
    put_part(writer, "field-class", type->members[i].type, i);
    kymo_ctf2_close(&writer->json, '}');
  }
  kymo_ctf2_close(&writer->json, ']');
}

static void put_optional(struct ctf2_writer *writer, const struct kymo_type *type) {
  static const struct kymo_range true_unsigned[] = {{1, UINT64_MAX}};
  static const struct kymo_range true_signed[] = {{(uint64_t)INT64_MIN, UINT64_MAX}, {1, INT64_MAX}};
  const struct kymo_type *selector = type->selector_type;
  const char *key = "selector-field-ranges";
  kymo_ctf2_put_location(writer, "selector-field-location", type);
  if (type->presence_count > 0)
    kymo_ctf2_put_ranges(&writer->json, key, type->presence, type->presence_count, selector->is_signed);
  else if (is_integer(selector) && selector->is_signed)
    kymo_ctf2_put_ranges(&writer->json, key, true_signed, 2, true);
  else if (is_integer(selector))
    kymo_ctf2_put_ranges(&writer->json, key, true_unsigned, 1, false);
  put_part(writer, "field-class", type->element, KYMO_STEP_ELEMENT);
}

static void put_parts(struct ctf2_writer *writer, const struct kymo_type *type) {
  switch (type->kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_VARINT:
  case KYMO_KIND_BITMAP: put_mappings(writer, type); break;
  case KYMO_KIND_STRUCT:
  case KYMO_KIND_UNION: put_members(writer, type); break;
  case KYMO_KIND_VARIANT: put_variant(writer, type); break;
  case KYMO_KIND_OPTIONAL: put_optional(writer, type); break;
  case KYMO_KIND_TEXT_SEQUENCE:
  case KYMO_KIND_BLOB_SEQUENCE: kymo_ctf2_put_location(writer, "length-field-location", type); break;
  case KYMO_KIND_SEQUENCE:
    kymo_ctf2_put_location(writer, "length-field-location", type);
    /* fall through */
  case KYMO_KIND_ARRAY:
    put_minimum_alignment(writer, type);
    put_part(writer, "element-field-class", type->element, KYMO_STEP_ELEMENT);
    break;
  default: break;
  }
}

/* ---- all ---- */

/* The field class of a type that has neither a wrapper nor a "stands-for". */
static void put_plain(struct ctf2_writer *writer, const char *key, const struct kymo_type *type) {
  kymo_ctf2_open(&writer->json, key, '{');
  kymo_ctf2_put_text(&writer->json, "type", class_name(type));
  put_own_properties(writer, type);
  put_attributes(writer, type);
  put_parts(writer, type);
  kymo_ctf2_close(&writer->json, '}');
}

/* A type of the same bits, for other readers. */
static void put_stand_in(struct ctf2_writer *writer, const char *key, const struct kymo_type *type) {
  struct ctf2_json *json = &writer->json;
  bool is_uuid = type->roles & KYMO_ROLE_UUID;
  uint32_t bits = is_uuid ? 128 : type->size_bits;
  bool is_blob = type->align_bits == 8 && bits % 8 == 0;
  kymo_ctf2_open(json, key, '{');
  kymo_ctf2_put_text(json, "type", is_blob ? "static-length-blob" : "static-length-array");
  kymo_ctf2_put_uint(json, "length", is_blob ? bits / 8 : bits);
  if (is_blob)
    put_roles(writer, type->roles);
  else
    kymo_ctf2_put_uint(json, "minimum-alignment", type->align_bits);
  kymo_ctf2_open(json, "attributes", '{');
  kymo_ctf2_open(json, CTF2_OWN_SPACE, '{');
  put_plain(writer, "stands-for", type);
  kymo_ctf2_close(json, '}');
  kymo_ctf2_close(json, '}');
  if (!is_blob) {
    kymo_ctf2_open(json, "element-field-class", '{');
    kymo_ctf2_put_text(json, "type", "fixed-length-bit-array");
    kymo_ctf2_put_uint(json, "length", 1);
    kymo_ctf2_put_text(json, "byte-order", type->order == KYMO_ORDER_BIG ? "big-endian" : "little-endian");
    kymo_ctf2_close(json, '}');
  }
  kymo_ctf2_close(json, '}');
}

static void put_wrapper(struct ctf2_writer *writer, const char *key, const struct kymo_type *type) {
  struct ctf2_attributes attributes = kymo_ctf2_attributes(NULL);
  uint32_t struct_depth = writer->struct_depth;
  writer->struct_depth = UINT32_MAX; /* no type has siblings in a wrapper */
  kymo_ctf2_open(&writer->json, key, '{');
  kymo_ctf2_put_text(&writer->json, "type", "structure");
  kymo_ctf2_put_uint(&writer->json, "minimum-alignment", type->align_bits);
  kymo_ctf2_own_flag(writer, &attributes, "wrapper");
  kymo_ctf2_attributes_end(writer, &attributes);
  kymo_ctf2_open(&writer->json, "member-classes", '[');
  kymo_ctf2_open(&writer->json, NULL, '{');
  kymo_ctf2_put_text(&writer->json, "name", CTF2_WRAPPER_MEMBER);
  put_plain(writer, "field-class", type);
  kymo_ctf2_close(&writer->json, '}');
  kymo_ctf2_close(&writer->json, ']');
  kymo_ctf2_close(&writer->json, '}');
  writer->struct_depth = struct_depth;
}

static void put_type(struct ctf2_writer *writer, const char *key, const struct kymo_type *type) {
  if (kymo_ctf2_is_wrapped(type))
    put_wrapper(writer, key, type);
  else if (needs_stand_in(type))
    put_stand_in(writer, key, type);
  else
    put_plain(writer, key, type);
}

void kymo_ctf2_put_scope(struct ctf2_writer *writer, const char *key, enum kymo_scope scope) {
  if (!writer->roots[scope])
    return;
  writer->scope = scope;
  writer->depth = writer->struct_depth = 0;
  put_plain(writer, key, writer->roots[scope]);
}
