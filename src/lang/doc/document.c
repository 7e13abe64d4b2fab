/* SPDX-License-Identifier: MIT */
/*
 * Schema → Markdown:
 *
 *   ## `net:rx`
 *
 *   | field | type | unit | values |
 *   |---|---|---|---|
 *   | `port` | unsigned 16 | | |
 *   | `to.host` | text of at most 16 bytes | | |        members of structs follow them, with their paths
 *   | `state` | token, unsigned 8 | | 1 OPEN, 2–3 HALF OPEN |
 *
 * Texts of the trace are escaped: they are never read as Markdown or HTML.
 */
#include "lang/doc/document.h"
#include "schema/attribute.h"
#include "schema/flag.h"
#include "schema/parts.h"
#include <inttypes.h>
#include <string.h>

#define CLASS "\"kymo.class\"" /* of records, unless they are events */

enum { PATH_DEPTH = 64 };

struct document {
  struct kymo_strbuf *out;
  const char *path[PATH_DEPTH]; /* names from the payload's member to the field */
  uint32_t depth;
};

/* ---- texts ---- */

/* A text where Markdown is read. */
static void put_text(struct kymo_strbuf *out, const char *text) {
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c < ' ' || c == 0x7f)
      kymo_strbuf_puts(out, " ");
    else if (c == '<' || c == '&')
      kymo_strbuf_puts(out, c == '<' ? "&lt;" : "&amp;");
    else
      kymo_strbuf_printf(out, strchr("\\`*_[]|#", c) ? "\\%c" : "%c", c);
  }
}

/* A name, as code. */
static void put_code(struct kymo_strbuf *out, const char *text) {
  kymo_strbuf_puts(out, "`");
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    bool is_special = c < ' ' || c == 0x7f || c == '`' || c == '|'; /* a table ends there even within code */
    kymo_strbuf_add(out, is_special ? "?" : text, 1);
  }
  kymo_strbuf_puts(out, "`");
}

/* ---- types ---- */

static const char *const words[] = {
    [KYMO_KIND_BOOLEAN] = "boolean",     [KYMO_KIND_FLOAT] = "float",
    [KYMO_KIND_STRING] = "text",         [KYMO_KIND_TEXT_ARRAY] = "text",
    [KYMO_KIND_TEXT_SEQUENCE] = "text",  [KYMO_KIND_BLOB_ARRAY] = "bytes",
    [KYMO_KIND_BLOB_SEQUENCE] = "bytes", [KYMO_KIND_STRUCT] = "group",
    [KYMO_KIND_VARIANT] = "one of",      [KYMO_KIND_UNION] = "all of, in the same bytes",
};

static void put_number_type(struct kymo_strbuf *out, const struct kymo_type *type) {
  if (type->kind == KYMO_KIND_BITMAP)
    kymo_strbuf_puts(out, "flags, ");
  else if (type->is_enumeration || type->mapping_count > 0)
    kymo_strbuf_puts(out, "token, ");
  kymo_strbuf_puts(out, type->is_address ? "address" : type->is_signed ? "signed" : "unsigned");
  if (type->kind == KYMO_KIND_VARINT)
    kymo_strbuf_puts(out, " of variable length");
  else
    kymo_strbuf_printf(out, " %" PRIu32, type->size_bits);
  if (type->roles & (KYMO_ROLE_TIMESTAMP | KYMO_ROLE_TIMESTAMP_END))
    kymo_strbuf_puts(out, ", time");
}

/* The type with its lists and options, down to what the elements are. */
static const struct kymo_type *put_type(struct kymo_strbuf *out, const struct kymo_type *type) {
  const struct kymo_member *only;
  for (;
       type->kind == KYMO_KIND_OPTIONAL || type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE;
       type = type->element) {
    if (type->kind == KYMO_KIND_ARRAY)
      kymo_strbuf_printf(out, "list of %" PRIu64 ": ", type->length);
    else
      kymo_strbuf_puts(out, type->kind == KYMO_KIND_SEQUENCE ? "list: " : "optional: ");
  }
  if ((only = kymo_element_member(type)) != NULL)
    return put_type(out, only->type);
  if (type->kind == KYMO_KIND_INTEGER || type->kind == KYMO_KIND_BITMAP || type->kind == KYMO_KIND_VARINT)
    put_number_type(out, type);
  else
    kymo_strbuf_puts(out, words[type->kind]);
  if (type->kind == KYMO_KIND_FLOAT)
    kymo_strbuf_printf(out, " %" PRIu32, type->size_bits);
  if (type->kind == KYMO_KIND_TEXT_ARRAY)
    kymo_strbuf_printf(out, " of at most %" PRIu64 " bytes", type->length);
  if (type->kind == KYMO_KIND_BLOB_ARRAY)
    kymo_strbuf_printf(out, ", %" PRIu64, type->length);
  return type;
}

/* "1 OPEN, 2–3 HALF OPEN". */
static void put_labels(struct kymo_strbuf *out, const struct kymo_type *type) {
  const char *format = type->is_signed ? "%" PRId64 : "%" PRIu64;
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    const struct kymo_mapping *mapping = &type->mappings[i];
    kymo_strbuf_puts(out, i > 0 ? ", " : "");
    kymo_strbuf_printf(out, format, mapping->low);
    if (mapping->low != mapping->high) {
      kymo_strbuf_puts(out, "–");
      kymo_strbuf_printf(out, format, mapping->high);
    }
    kymo_strbuf_puts(out, " ");
    put_text(out, mapping->name);
  }
}

/* "bit 0 READ, bits 4–5 SPEED", and of flags that ask for a value "all of bits 4–5 FULL, bit 4 SLOW, not bit
 * 5 SLOW". */
static void put_flags(struct kymo_strbuf *out, const struct kymo_type *type) {
  for (uint32_t next = 0, i = 0; next < type->mapping_count;) {
    struct kymo_flag flag = kymo_flag_take(type, &next);
    bool needs_all = flag.is_value && !flag.zeros;
    for (; i < next; i++) {
      const struct kymo_mapping *mapping = &type->mappings[i];
      if (mapping->low == KYMO_FLAG_VALUE_BIT)
        continue;
      bool is_range = mapping->low != mapping->high, is_zero = mapping->low > 63;
      kymo_strbuf_printf(out, "%s%s%s %" PRIu64, i > 0 ? ", " : "",
                         needs_all ? "all of "
                         : is_zero ? "not "
                                   : "",
                         is_range ? "bits" : "bit", mapping->low - (is_zero ? 64 : 0));
      if (is_range)
        kymo_strbuf_printf(out, "–%" PRIu64, mapping->high - (is_zero ? 64 : 0));
      kymo_strbuf_puts(out, " ");
      put_text(out, mapping->name);
    }
  }
}

/* ---- fields ---- */

static void put_path(const struct document *document) {
  struct kymo_strbuf path = {0};
  for (uint32_t i = 0; i < document->depth; i++) {
    kymo_strbuf_puts(&path, i > 0 ? "." : "");
    kymo_strbuf_puts(&path, document->path[i]);
  }
  put_code(document->out, path.text ? path.text : "");
  document->out->failed |= path.failed;
  kymo_strbuf_free(&path);
}

static void put_members(struct document *document, const struct kymo_type *type);

static void put_field(struct document *document, const struct kymo_member *member) {
  struct kymo_strbuf *out = document->out;
  if (kymo_member_is_hidden(member) || document->depth == PATH_DEPTH)
    return;
  document->path[document->depth++] = member->name;
  kymo_strbuf_puts(out, "| ");
  put_path(document);
  kymo_strbuf_puts(out, " | ");
  const struct kymo_type *type = put_type(out, member->type);
  kymo_strbuf_puts(out, " | ");
  put_text(out, type->unit ? type->unit : "");
  kymo_strbuf_puts(out, " | ");
  (type->kind == KYMO_KIND_BITMAP ? put_flags : put_labels)(out, type);
  kymo_strbuf_puts(out, " |\n");
  put_members(document, type);
  document->depth--;
}

static void put_members(struct document *document, const struct kymo_type *type) {
  for (uint32_t i = 0; i < type->member_count; i++)
    put_field(document, &type->members[i]);
}

/* A table of the fields of a struct, or nothing if it is NULL or has none. */
static void put_fields(struct kymo_strbuf *out, const struct kymo_type *type, const char *head) {
  struct document document = {.out = out};
  if (!type || type->member_count == 0)
    return;
  kymo_strbuf_printf(out, "\n| %s | type | unit | values |\n|---|---|---|---|\n", head);
  put_members(&document, type);
}

/* ---- classes ---- */

static void put_class(struct kymo_strbuf *out, const char *attributes) {
  const char *value = kymo_attribute_find(attributes, CLASS);
  if (value && *value == '"' && strchr(value + 1, '"')) {
    size_t length = strcspn(value + 1, "\"");
    kymo_strbuf_puts(out, "\nRecords of class ");
    kymo_strbuf_add(out, value + 1, length);
    kymo_strbuf_puts(out, ", which are no events.\n");
  }
}

static bool is_alike(const struct kymo_event_class *a, const struct kymo_event_class *b) {
  bool is_plain = !a->description && !b->description && !a->source_file && !b->source_file;
  return is_plain && a->payload == b->payload && a->specific_context == b->specific_context &&
         a->level == b->level && !kymo_attribute_find(a->attributes, CLASS) &&
         !kymo_attribute_find(b->attributes, CLASS);
}

static void put_place(struct kymo_strbuf *out, const struct kymo_event_class *event) {
  if (event->level >= 0)
    kymo_strbuf_printf(out, ", level %" PRId32, event->level);
  if (event->source_file) {
    kymo_strbuf_puts(out, ", at ");
    put_code(out, event->source_file);
    kymo_strbuf_printf(out, " line %" PRIu32, event->source_line);
  }
  kymo_strbuf_puts(out, ".\n");
  if (event->description) {
    kymo_strbuf_puts(out, "\n");
    put_text(out, event->description);
    kymo_strbuf_puts(out, "\n");
  }
}

/* Classes that differ only in their names. */
static void put_events(struct kymo_strbuf *out, const struct kymo_event_class *const *events,
                       uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    kymo_strbuf_puts(out, i == 0 ? "\n## " : ", ");
    put_code(out, events[i]->name);
  }
  kymo_strbuf_puts(out, "\n");
  put_class(out, events[0]->attributes);
  for (uint32_t i = 0; i < count; i++)
    kymo_strbuf_printf(out, i == 0 ? "\nId %" PRIu64 : ", %" PRIu64, events[i]->id);
  put_place(out, events[0]);
  put_fields(out, events[0]->specific_context, "context");
  put_fields(out, events[0]->payload, "field");
}

static void put_clock(struct kymo_strbuf *out, const struct kymo_clock *clock) {
  kymo_strbuf_puts(out, "- Clock ");
  put_code(out, clock->name ? clock->name : "?");
  kymo_strbuf_printf(out, ": %" PRIu64 " ticks a second, from %s.", clock->frequency,
                     clock->origin_is_epoch ? "1970-01-01T00:00:00Z" : "an origin of its own");
  if (clock->description) {
    kymo_strbuf_puts(out, " ");
    put_text(out, clock->description);
  }
  kymo_strbuf_puts(out, "\n");
}

static void put_stream(struct kymo_strbuf *out, const struct kymo_stream_class *stream) {
  if (stream->common_context && stream->common_context->member_count > 0) {
    kymo_strbuf_printf(out, "\n## All events of stream class %" PRIu64 "\n", stream->id);
    put_fields(out, stream->common_context, "context");
  }
  for (uint32_t i = 0, next; i < stream->event_count; i = next) {
    for (next = i + 1; next < stream->event_count && is_alike(stream->events[i], stream->events[next]);)
      next++;
    put_events(out, stream->events + i, next - i);
  }
}

void kymo_doc_print(struct kymo_strbuf *out, const struct kymo_schema *schema) {
  kymo_strbuf_puts(out, "# Events");
  if (schema->trace_name) {
    kymo_strbuf_puts(out, " of ");
    put_text(out, schema->trace_name);
  }
  kymo_strbuf_puts(out, "\n");
  if (schema->clock_count > 0)
    kymo_strbuf_puts(out, "\n");
  for (uint32_t i = 0; i < schema->clock_count; i++)
    put_clock(out, schema->clocks[i]);
  for (uint32_t i = 0; i < schema->stream_count; i++)
    put_stream(out, schema->streams[i]);
}
