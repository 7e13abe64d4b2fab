/* SPDX-License-Identifier: MIT */
/*
 * Schema → text of the registry, in the order of the binary form: each event class follows the types that
 * were added with it. Types are referred to by their ids; comments say what an id is, so that a struct can be
 * read by itself.
 */
#include "base/utf8.h"
#include "lang/registry/text.h"
#include "lang/registry/words.h"
#include "lang/text/cursor.h"
#include "schema/parts.h"
#include <inttypes.h>
#include <string.h>

struct writer {
  struct kymo_strbuf *out;
  const struct kymo_schema *schema;
  uint32_t types; /* written so far */
};

/* ---- words and texts ---- */

static bool is_word(const char *text) {
  if (!kymo_is_letter(text[0]))
    return false;
  while (kymo_is_letter(*text) || (*text >= '0' && *text <= '9'))
    text++;
  return *text == '\0';
}

/* The bytes of the character at `at` if it is one of UTF-8 that can be shown, else 0. */
static size_t shown_length(const char *at) {
  bool is_control =
      (unsigned char)at[0] < 0x20 || at[0] == 0x7f || (at[0] == '\xc2' && (unsigned char)at[1] < 0xa0);
  return is_control ? 0 : kymo_character_length(at, strnlen(at, 4));
}

static void put_escape(struct kymo_strbuf *out, unsigned char byte) {
  static const char letters[] = "trn", bytes[] = "\t\r\n";
  const char *known = strchr(bytes, byte);
  if (known)
    kymo_strbuf_printf(out, "\\%c", letters[known - bytes]);
  else
    kymo_strbuf_printf(out, "\\x%02x", byte);
}

static void put_quoted(struct kymo_strbuf *out, const char *text) {
  kymo_strbuf_puts(out, "\"");
  for (const char *at = text; *at;) {
    size_t length = shown_length(at);
    if (length == 0) {
      put_escape(out, (unsigned char)*at);
      length = 1;
    } else {
      kymo_strbuf_add(out, "\\", *at == '"' || *at == '\\');
      kymo_strbuf_add(out, at, length);
    }
    at += length;
  }
  kymo_strbuf_puts(out, "\"");
}

/* A name: bare if it is a word. */
static void put_name(struct kymo_strbuf *out, const char *name) {
  if (is_word(name))
    kymo_strbuf_puts(out, name);
  else
    put_quoted(out, name);
}

/* "  key = "text";", if there is a text. */
static void put_text(struct kymo_strbuf *out, const char *key, const char *text) {
  if (!text)
    return;
  kymo_strbuf_printf(out, "  %s = ", key);
  put_quoted(out, text);
  kymo_strbuf_puts(out, ";\n");
}

static void put_number(struct kymo_strbuf *out, const char *key, uint64_t value) {
  kymo_strbuf_printf(out, "  %s = %" PRIu64 ";\n", key, value);
}

/* The same for what is usually zero. */
static void put_rare_number(struct kymo_strbuf *out, const char *key, uint64_t value) {
  if (value != 0)
    put_number(out, key, value);
}

static void put_uuid(struct kymo_strbuf *out, const uint8_t *uuid) {
  kymo_strbuf_puts(out, "  uuid = \"");
  for (unsigned i = 0; i < 16; i++)
    kymo_strbuf_printf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
  kymo_strbuf_puts(out, "\";\n");
}

static void put_id(struct kymo_strbuf *out, const char *key, const struct kymo_type *type) {
  if (type)
    kymo_strbuf_printf(out, "  %s = #%" PRIu32 ";\n", key, type->id);
}

static void put_value(struct kymo_strbuf *out, uint64_t value, bool is_signed) {
  if (is_signed)
    kymo_strbuf_printf(out, "%" PRId64, (int64_t)value);
  else
    kymo_strbuf_printf(out, "%" PRIu64, value);
}

static void put_range(struct kymo_strbuf *out, uint64_t low, uint64_t high, bool is_signed) {
  put_value(out, low, is_signed);
  if (high == low)
    return;
  kymo_strbuf_puts(out, " ... ");
  put_value(out, high, is_signed);
}

static void put_ranges(struct kymo_strbuf *out, const struct kymo_range *ranges, uint32_t count,
                       bool is_signed) {
  for (uint32_t i = 0; i < count; i++) {
    kymo_strbuf_puts(out, i > 0 ? ", " : "");
    put_range(out, ranges[i].low, ranges[i].high, is_signed);
  }
}

/* ---- types ---- */

/* Kinds whose words are followed by their width. */
static const char *word_of(const struct kymo_type *type) {
  switch (type->kind) {
  case KYMO_KIND_INTEGER: return type->is_signed ? "int" : "uint";
  case KYMO_KIND_BOOLEAN: return "bool";
  case KYMO_KIND_BITMAP: return "flags";
  case KYMO_KIND_FLOAT: return "float";
  case KYMO_KIND_UNION: return "union";
  default: return NULL;
  }
}

static void put_reference(struct kymo_strbuf *out, const struct kymo_type *type) {
  kymo_strbuf_puts(out, kymo_registry_scopes[type->selector.scope]);
  for (uint32_t i = 0; i < type->selector.depth; i++) {
    if (type->selector.steps[i] == KYMO_STEP_ELEMENT)
      kymo_strbuf_puts(out, "[]");
    else
      kymo_strbuf_printf(out, "[%" PRIu32 "]", type->selector.steps[i]);
  }
  kymo_strbuf_printf(out, " (#%" PRIu32 ")", type->selector_type->id);
}

/* The type in few words, for a comment or the beginning of its line. */
static void put_kind(struct kymo_strbuf *out, const struct kymo_type *type) {
  kymo_strbuf_puts(out, type->is_enumeration ? "enum " : "");
  if (word_of(type)) {
    kymo_strbuf_printf(out, "%s%" PRIu32, word_of(type), type->size_bits);
    return;
  }
  switch (type->kind) {
  case KYMO_KIND_VARINT: kymo_strbuf_puts(out, type->is_signed ? "varint" : "varuint"); break;
  case KYMO_KIND_STRING: kymo_strbuf_puts(out, "string"); break;
  case KYMO_KIND_TEXT_ARRAY: kymo_strbuf_printf(out, "text[%" PRIu64 "]", type->length); break;
  case KYMO_KIND_BLOB_ARRAY: kymo_strbuf_printf(out, "blob[%" PRIu64 "]", type->length); break;
  case KYMO_KIND_TEXT_SEQUENCE: kymo_strbuf_puts(out, "text"); break;
  case KYMO_KIND_BLOB_SEQUENCE: kymo_strbuf_puts(out, "blob"); break;
  case KYMO_KIND_ARRAY:
    kymo_strbuf_printf(out, "array[%" PRIu64 "] of #%" PRIu32, type->length, type->element->id);
    break;
  case KYMO_KIND_SEQUENCE: kymo_strbuf_printf(out, "sequence of #%" PRIu32, type->element->id); break;
  case KYMO_KIND_OPTIONAL: kymo_strbuf_printf(out, "optional #%" PRIu32, type->element->id); break;
  case KYMO_KIND_VARIANT: kymo_strbuf_puts(out, "variant"); break;
  default: kymo_strbuf_puts(out, "struct"); break;
  }
}

/* A comment after the use of an id: what kind of thing it is. */
static void put_comment(struct kymo_strbuf *out, const struct kymo_type *type) {
  kymo_strbuf_puts(out, " // ");
  if (type->name)
    put_name(out, type->name);
  else
    put_kind(out, type);
}

static void put_members(struct kymo_strbuf *out, const struct kymo_type *type) {
  bool is_signed = type->selector_type && type->selector_type->is_signed;
  kymo_strbuf_puts(out, " {\n");
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct kymo_member *member = &type->members[i];
    kymo_strbuf_puts(out, "  ");
    put_name(out, member->name);
    kymo_strbuf_printf(out, ": #%" PRIu32, member->type->id);
    if (member->source_name && strcmp(member->source_name, member->name) != 0) {
      kymo_strbuf_puts(out, " source ");
      put_quoted(out, member->source_name);
    }
    if (member->range_count > 0) {
      kymo_strbuf_puts(out, " for ");
      put_ranges(out, member->ranges, member->range_count, is_signed);
    }
    if (member->attributes) {
      kymo_strbuf_puts(out, " attributes ");
      put_quoted(out, member->attributes);
    }
    kymo_strbuf_puts(out, ";");
    put_comment(out, member->type);
    kymo_strbuf_puts(out, "\n");
  }
  kymo_strbuf_puts(out, "}");
}

static void put_mappings(struct kymo_strbuf *out, const struct kymo_type *type) {
  bool is_signed = type->is_signed && type->kind != KYMO_KIND_BITMAP;
  kymo_strbuf_puts(out, " {\n");
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    kymo_strbuf_puts(out, "  ");
    put_name(out, type->mappings[i].name);
    kymo_strbuf_puts(out, " = ");
    put_range(out, type->mappings[i].low, type->mappings[i].high, is_signed);
    kymo_strbuf_puts(out, ",\n");
  }
  kymo_strbuf_puts(out, "}");
}

/* The part after the kind: the field that it depends on, members, mappings. */
static void put_body(struct kymo_strbuf *out, const struct kymo_type *type) {
  if (type->kind == KYMO_KIND_VARIANT)
    kymo_strbuf_puts(out, " chosen by ");
  else if (type->kind == KYMO_KIND_OPTIONAL)
    kymo_strbuf_puts(out, " if ");
  else if (type->selector_type)
    kymo_strbuf_puts(out, " counted by ");
  if (type->selector_type)
    put_reference(out, type);
  if (type->presence_count > 0) {
    kymo_strbuf_puts(out, " is (");
    put_ranges(out, type->presence, type->presence_count, type->selector_type->is_signed);
    kymo_strbuf_puts(out, ")");
  }
  if (type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_VARIANT || type->kind == KYMO_KIND_UNION)
    put_members(out, type);
  if (type->mapping_count > 0)
    put_mappings(out, type);
}

static void put_property(struct kymo_strbuf *out, const char *key, const char *text) {
  if (!text)
    return;
  kymo_strbuf_printf(out, ", %s ", key);
  put_quoted(out, text);
}

static bool is_number(const struct kymo_type *type) { return type->kind <= KYMO_KIND_FLOAT; }

static void put_properties(const struct writer *writer, const struct kymo_type *type) {
  struct kymo_strbuf *out = writer->out;
  enum kymo_byte_order usual = is_number(type) ? writer->schema->order : KYMO_ORDER_LITTLE;
  kymo_strbuf_printf(out, ", align %" PRIu32, type->align_bits);
  if (type->order != usual)
    kymo_strbuf_puts(out, type->order == KYMO_ORDER_BIG ? ", big" : ", little");
  kymo_strbuf_puts(out, type->bits_reversed ? ", reversed" : "");
  if (type->is_signed && type->kind != KYMO_KIND_INTEGER && type->kind != KYMO_KIND_VARINT)
    kymo_strbuf_puts(out, ", signed");
  if (type->base != 0)
    kymo_strbuf_printf(out, ", base %u", type->base);
  kymo_strbuf_puts(out, type->is_address ? ", address" : "");
  if (type->encoding != KYMO_ENCODING_NONE)
    kymo_strbuf_printf(out, ", encoding %s", kymo_registry_encodings[type->encoding]);
  for (uint32_t bit = 0; bit < KYMO_ROLE_COUNT; bit++)
    if (type->roles >> bit & 1)
      kymo_strbuf_printf(out, ", role %s", kymo_registry_roles[bit]);
  if (type->clock)
    kymo_strbuf_printf(out, ", clock %" PRIu32, type->clock->index);
  put_property(out, "unit", type->unit);
  put_property(out, "media", type->media_type);
  put_property(out, "attributes", type->attributes);
}

static void put_type(const struct writer *writer, const struct kymo_type *type) {
  struct kymo_strbuf *out = writer->out;
  kymo_strbuf_printf(out, "type #%" PRIu32 " ", type->id);
  if (type->name) {
    put_quoted(out, type->name);
    kymo_strbuf_puts(out, " ");
  }
  kymo_strbuf_puts(out, "= ");
  put_kind(out, type);
  put_body(out, type);
  put_properties(writer, type);
  kymo_strbuf_puts(out, ";\n");
}

/* All types up to this one, as in the binary form. */
static void need(struct writer *writer, const struct kymo_type *type) {
  while (type && writer->types <= type->id)
    put_type(writer, writer->schema->types[writer->types++]);
}

/* ---- blocks ---- */

static void put_machine(struct kymo_strbuf *out, const struct kymo_machine *machine) {
  if (!machine)
    return;
  kymo_strbuf_puts(out, "machine ");
  put_quoted(out, machine->name);
  kymo_strbuf_puts(out, " {\n");
  put_number(out, "page_size", machine->page_size);
  for (unsigned i = 0; i < KYMO_C_TYPE_COUNT; i++)
    kymo_strbuf_printf(out, "  %s = %u align %u%s;\n", kymo_registry_c_types[i], machine->sizes[i],
                       machine->alignments[i], i == KYMO_C_CHAR && machine->char_is_signed ? " signed" : "");
  kymo_strbuf_puts(out, "}\n\n");
}

static void put_trace(struct kymo_strbuf *out, const struct kymo_schema *schema) {
  kymo_strbuf_puts(out, "trace {\n");
  put_text(out, "name", schema->trace_name);
  kymo_strbuf_printf(out, "  byte_order = %s;\n", schema->order == KYMO_ORDER_BIG ? "big" : "little");
  kymo_strbuf_printf(out, "  version = %" PRIu32 ".%" PRIu32 ";\n", schema->major, schema->minor);
  if (schema->has_uuid)
    put_uuid(out, schema->uuid);
  put_text(out, "attributes", schema->attributes);
  kymo_strbuf_puts(out, "}\n\n");
}

static void put_environment(struct kymo_strbuf *out, const struct kymo_schema *schema) {
  if (schema->environment_count == 0)
    return;
  kymo_strbuf_puts(out, "env {\n");
  for (uint32_t i = 0; i < schema->environment_count; i++) {
    const struct kymo_environment *entry = schema->environment[i];
    kymo_strbuf_puts(out, "  ");
    put_name(out, entry->name);
    kymo_strbuf_puts(out, " = ");
    if (entry->text)
      put_quoted(out, entry->text);
    else
      put_value(out, (uint64_t)entry->integer, true);
    kymo_strbuf_puts(out, ";\n");
  }
  kymo_strbuf_puts(out, "}\n\n");
}

static void put_clock(struct kymo_strbuf *out, const struct kymo_clock *clock) {
  kymo_strbuf_printf(out, "clock %" PRIu32 " {\n", clock->index);
  put_text(out, "name", clock->name);
  put_text(out, "description", clock->description);
  put_number(out, "frequency", clock->frequency);
  if (clock->offset_seconds != 0)
    kymo_strbuf_printf(out, "  offset_seconds = %" PRId64 ";\n", clock->offset_seconds);
  put_rare_number(out, "offset_cycles", clock->offset_cycles);
  put_rare_number(out, "precision", clock->precision);
  kymo_strbuf_puts(out, clock->origin_is_epoch ? "  origin_is_epoch;\n" : "");
  put_text(out, "origin_namespace", clock->origin_namespace);
  put_text(out, "origin_name", clock->origin_name);
  put_text(out, "origin_uid", clock->origin_uid);
  if (clock->has_uuid)
    put_uuid(out, clock->uuid);
  put_text(out, "attributes", clock->attributes);
  kymo_strbuf_puts(out, "}\n\n");
}

static void put_stream(struct writer *writer, const struct kymo_stream_class *stream) {
  struct kymo_strbuf *out = writer->out;
  need(writer, stream->packet_context);
  need(writer, stream->event_header);
  need(writer, stream->common_context);
  kymo_strbuf_puts(out, "stream {\n");
  put_number(out, "id", stream->id);
  put_text(out, "name", stream->name);
  if (stream->clock)
    put_number(out, "clock", stream->clock->index);
  put_id(out, "packet_context", stream->packet_context);
  put_id(out, "event_header", stream->event_header);
  put_id(out, "common_context", stream->common_context);
  put_text(out, "attributes", stream->attributes);
  kymo_strbuf_puts(out, "}\n\n");
}

static void put_hash(struct kymo_strbuf *out, const char *name, const struct kymo_hash *hash) {
  kymo_strbuf_printf(out, "  // %s %016" PRIx64 "%016" PRIx64 "\n", name, hash->high, hash->low);
}

static void put_event(struct writer *writer, const struct kymo_event_class *event) {
  struct kymo_strbuf *out = writer->out;
  need(writer, event->specific_context);
  need(writer, event->payload);
  kymo_strbuf_puts(out, "event ");
  put_quoted(out, event->name);
  kymo_strbuf_puts(out, " {\n");
  put_hash(out, "content", &event->hashes.content);
  put_hash(out, "layout ", &event->hashes.layout);
  put_number(out, "stream", event->stream->id);
  put_number(out, "id", event->id);
  if (event->group[0] != '\0' || strchr(event->name, ':'))
    put_text(out, "group", event->group);
  if (event->level != -1)
    kymo_strbuf_printf(out, "  level = %" PRId32 ";\n", event->level);
  put_text(out, "description", event->description);
  put_text(out, "source_file", event->source_file);
  put_rare_number(out, "source_line", event->source_line);
  put_text(out, "template", event->template_text);
  put_text(out, "uri", event->uri);
  put_text(out, "attributes", event->attributes);
  put_id(out, "specific_context", event->specific_context);
  put_id(out, "payload", event->payload);
  kymo_strbuf_puts(out, "}\n\n");
}

void kymo_registry_print(struct kymo_strbuf *out, const struct kymo_schema *schema) {
  struct writer writer = {.out = out, .schema = schema};
  kymo_strbuf_puts(out, "registry 1.0;\n\n");
  if (schema->plan)
    kymo_strbuf_puts(
        out,
        "// This was a compiled description: the plan, by which files are read, is not in the text.\n\n");
  put_machine(out, schema->machine);
  put_trace(out, schema);
  put_environment(out, schema);
  for (uint32_t i = 0; i < schema->clock_count; i++)
    put_clock(out, schema->clocks[i]);
  need(&writer, schema->packet_header);
  if (schema->packet_header)
    kymo_strbuf_printf(out, "packet_header = #%" PRIu32 ";\n\n", schema->packet_header->id);
  for (uint32_t i = 0; i < schema->stream_count; i++)
    put_stream(&writer, schema->streams[i]);
  for (uint32_t i = 0; i < schema->stream_count; i++)
    for (uint32_t k = 0; k < schema->streams[i]->event_count; k++)
      put_event(&writer, schema->streams[i]->events[k]);
  if (schema->type_count > 0)
    need(&writer, schema->types[schema->type_count - 1]);
  if (!out->failed && out->text[out->length - 2] == '\n') /* blocks end in an empty line; the text does not */
    out->text[--out->length] = '\0';
}
