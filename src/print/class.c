/* SPDX-License-Identifier: MIT */
#include "print/class.h"
#include "print/level.h"
#include "schema/attribute.h"
#include <inttypes.h>
#include <string.h>

/* ---- types ---- */

static const char *order_text(const struct kymo_type *type, const struct kymo_schema *schema) {
  if (type->order == schema->order || type->size_bits <= 8)
    return "";
  return type->order == KYMO_ORDER_BIG ? " be" : " le";
}

static void add_number(struct kymo_strbuf *buf, const struct kymo_type *type, uint64_t value) {
  if (type->is_signed)
    kymo_strbuf_printf(buf, "%" PRId64, (int64_t)value);
  else
    kymo_strbuf_printf(buf, "%" PRIu64, value);
}

#define MAPPINGS_SHOWN 8

static void add_mappings(struct kymo_strbuf *buf, const struct kymo_type *type) {
  kymo_strbuf_puts(buf, " {");
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    const struct kymo_mapping *mapping = &type->mappings[i];
    if (i == MAPPINGS_SHOWN) {
      kymo_strbuf_printf(buf, ", %" PRIu32 " more", type->mapping_count - i);
      break;
    }
    kymo_strbuf_printf(buf, "%s %s = ", i ? "," : "", mapping->name);
    add_number(buf, type, mapping->low);
    if (mapping->high != mapping->low) {
      kymo_strbuf_puts(buf, "...");
      add_number(buf, type, mapping->high);
    }
  }
  kymo_strbuf_puts(buf, " }");
}

static void add_integer(struct kymo_strbuf *buf, const struct kymo_type *type,
                        const struct kymo_schema *schema) {
  bool is_enumeration = type->is_enumeration || (type->mapping_count && type->kind != KYMO_KIND_BITMAP);
  bool is_named_so = type->name && !strncmp(type->name, "enum ", 5);
  const char *kind = is_enumeration                   ? is_named_so ? "" : "enum "
                     : type->kind == KYMO_KIND_BITMAP ? "flags "
                                                      : "";
  if (type->kind == KYMO_KIND_VARINT)
    kymo_strbuf_printf(buf, "%svarint %c", kind, type->is_signed ? 'i' : 'u');
  else
    kymo_strbuf_printf(buf, "%s%c%" PRIu32 "%s", kind, type->is_signed ? 'i' : 'u', type->size_bits,
                       order_text(type, schema));
  if (type->is_address || type->base == 16)
    kymo_strbuf_puts(buf, " hex");
  else if (type->base == 8 || type->base == 2)
    kymo_strbuf_puts(buf, type->base == 8 ? " octal" : " binary");
  if (is_enumeration || type->kind == KYMO_KIND_BITMAP)
    add_mappings(buf, type);
}

static const char *encoding_text(enum kymo_encoding encoding) {
  static const char *const names[] = {"", " ascii", " utf8", " utf16le", " utf16be", " utf32le", " utf32be"};
  return names[encoding];
}

static void add_kind(struct kymo_strbuf *buf, const struct kymo_type *type,
                     const struct kymo_schema *schema) {
  switch (type->kind) {
  case KYMO_KIND_BOOLEAN: kymo_strbuf_printf(buf, "bool%" PRIu32, type->size_bits); break;
  case KYMO_KIND_FLOAT:
    kymo_strbuf_printf(buf, "f%" PRIu32 "%s", type->size_bits, order_text(type, schema));
    break;
  case KYMO_KIND_STRING: kymo_strbuf_printf(buf, "string%s", encoding_text(type->encoding)); break;
  case KYMO_KIND_TEXT_ARRAY:
    kymo_strbuf_printf(buf, "text%s[%" PRIu64 "]", encoding_text(type->encoding), type->length);
    break;
  case KYMO_KIND_TEXT_SEQUENCE: kymo_strbuf_printf(buf, "text%s[…]", encoding_text(type->encoding)); break;
  case KYMO_KIND_BLOB_ARRAY: kymo_strbuf_printf(buf, "bytes[%" PRIu64 "]", type->length); break;
  case KYMO_KIND_BLOB_SEQUENCE: kymo_strbuf_puts(buf, "bytes[…]"); break;
  case KYMO_KIND_STRUCT: kymo_strbuf_puts(buf, "struct"); break;
  case KYMO_KIND_UNION: kymo_strbuf_puts(buf, "union"); break;
  case KYMO_KIND_VARIANT: kymo_strbuf_puts(buf, "variant"); break;
  case KYMO_KIND_OPTIONAL: kymo_strbuf_puts(buf, "optional "); break;
  case KYMO_KIND_ARRAY: kymo_strbuf_printf(buf, "[%" PRIu64 "] ", type->length); break;
  case KYMO_KIND_SEQUENCE: kymo_strbuf_puts(buf, "[…] "); break;
  default: add_integer(buf, type, schema); break;
  }
}

/* The name in the source, and the form unless its members show it. */
static void add_type(struct kymo_strbuf *buf, const struct kymo_type *type,
                     const struct kymo_schema *schema) {
  bool has_members = type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_UNION;
  struct kymo_strbuf kind = {0};
  if (!type->name || !has_members)
    add_kind(&kind, type, schema);
  if (type->name && (!kind.text || strcmp(kind.text, type->name) != 0))
    kymo_strbuf_printf(buf, has_members ? "%s" : "%s ", type->name);
  if (kind.text)
    kymo_strbuf_puts(buf, kind.text);
  buf->failed |= kind.failed;
  kymo_strbuf_free(&kind);
}

/* ---- classes ---- */

/* At most this many lines per class: types are shared, so a small description can mean very many fields. */
#define LINES_SHOWN 1000

struct printing {
  const struct kymo_schema *schema;
  struct kymo_strbuf *buf;
  uint32_t lines;
};

static void add_members(struct printing *printing, const struct kymo_type *type, unsigned depth);

/* The rest of a line: the type, through arrays and optionals; then the members inside. */
static void add_field(struct printing *printing, const struct kymo_type *type, unsigned depth) {
  for (;;) {
    const struct kymo_member *only = kymo_element_member(type);
    if (only) {
      type = only->type;
      continue;
    }
    add_type(printing->buf, type, printing->schema);
    if (type->kind != KYMO_KIND_ARRAY && type->kind != KYMO_KIND_SEQUENCE && type->kind != KYMO_KIND_OPTIONAL)
      break;
    type = type->element;
  }
  kymo_strbuf_puts(printing->buf, "\n");
  if (type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_UNION || type->kind == KYMO_KIND_VARIANT)
    add_members(printing, type, depth + 1);
}

static void add_members(struct printing *printing, const struct kymo_type *type, unsigned depth) {
  int width = 0;
  for (uint32_t i = 0; i < type->member_count; i++)
    if (!kymo_member_is_hidden(&type->members[i]) && (int)strlen(type->members[i].name) > width)
      width = (int)strlen(type->members[i].name);
  for (uint32_t i = 0; i < type->member_count; i++) {
    if (kymo_member_is_hidden(&type->members[i]))
      continue;
    if (printing->lines++ == LINES_SHOWN)
      kymo_strbuf_printf(printing->buf, "%*s(more fields)\n", (int)(2 * depth), "");
    if (printing->lines > LINES_SHOWN)
      return;
    kymo_strbuf_printf(printing->buf, "%*s%-*s  ", (int)(2 * depth), "", width < 24 ? width : 24,
                       type->members[i].name);
    add_field(printing, type->members[i].type, depth);
  }
}

static void add_name(struct kymo_strbuf *buf, const struct kymo_event_class *class_) {
  if (class_->name && *class_->name)
    kymo_strbuf_puts(buf, class_->name);
  else
    kymo_strbuf_printf(buf, "event %" PRIu64, class_->id);
}

static void add_properties(struct kymo_strbuf *buf, const struct kymo_event_class *class_) {
  char number[KYMO_LEVEL_MAX];
  size_t length;
  enum kymo_edge edge = kymo_event_class_edge(class_, &length);
  if (class_->level >= 0)
    kymo_strbuf_printf(buf, "  %s", kymo_level_text(class_->level, number));
  if (class_->source_file)
    kymo_strbuf_printf(buf, "  %s:%" PRIu32, class_->source_file, class_->source_line);
  if (edge)
    kymo_strbuf_printf(buf, "  %s %.*s", edge == KYMO_EDGE_BEGIN ? "begins" : "ends", (int)length,
                       class_->name);
  if (class_->description)
    kymo_strbuf_printf(buf, "  \"%s\"", class_->description);
}

void kymo_class_print(struct kymo_strbuf *buf, const struct kymo_schema *schema,
                      const struct kymo_event_class *class_, bool brief) {
  struct printing printing = {.schema = schema, .buf = buf};
  add_name(buf, class_);
  if (!brief)
    add_properties(buf, class_);
  kymo_strbuf_puts(buf, "\n");
  if (!brief && class_->payload)
    add_members(&printing, class_->payload, 1);
  if (!brief && class_->specific_context) {
    kymo_strbuf_puts(buf, "  (context)\n");
    add_members(&printing, class_->specific_context, 2);
  }
}
