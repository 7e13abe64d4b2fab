/* SPDX-License-Identifier: MIT */
/*
 * Types as TSDL. A member is a base type, a name, and the lengths of the arrays around the
 * base type, outermost first:
 *
 *   ARRAY 3 of SEQUENCE by n of INTEGER   ►   integer { … } _name[3][_n];
 *
 * Types that CTF 1.8 lacks keep their layout where possible, and a comment says what was lost:
 *
 *   boolean                     unsigned integer of the same width
 *   bit map (flags)             the same, with an enumeration of its names declared beside it
 *   blob, union                 array or sequence of bytes
 *   text in UTF-16 or UTF-32    array or sequence of bytes
 *   float of 16, 80, 128 bits   integer, array of bytes
 *   optional                    variant of `absent` and `present`
 *   alignment of texts, arrays  an empty struct of that alignment before
 *   varint, reversed bits       not possible
 */
#include "lang/tsdl/writer.h"
#include "schema/parts.h"
#include <inttypes.h>
#include <string.h>

static void put(struct tsdl_writer *writer, const char *text) { kymo_strbuf_puts(writer->out, text); }

void kymo_tsdl_write_indent(struct tsdl_writer *writer) {
  for (uint32_t i = 0; i < writer->indent; i++)
    put(writer, "  ");
}

/* ---- scalars ---- */

static const char *encoding_name(enum kymo_encoding encoding) {
  return encoding == KYMO_ENCODING_UTF8 ? "UTF8" : encoding == KYMO_ENCODING_ASCII ? "ASCII" : NULL;
}

static void write_order(struct tsdl_writer *writer, enum kymo_byte_order order) {
  if (order != writer->schema->order)
    put(writer, order == KYMO_ORDER_BIG ? " byte_order = be;" : " byte_order = le;");
}

static void write_clock_map(struct tsdl_writer *writer, const struct kymo_clock *clock) {
  if (!clock)
    return;
  const char *name = clock->name ? clock->name : "clock";
  kymo_strbuf_printf(writer->out, " map = clock.%s.value;", kymo_tsdl_identifier(name, clock->index).text);
}

void kymo_tsdl_write_integer(struct tsdl_writer *writer, const struct kymo_type *type) {
  bool is_integer = type->kind == KYMO_KIND_INTEGER;
  kymo_strbuf_printf(writer->out, "integer { size = %" PRIu32 "; align = %" PRIu32 "; signed = %s;",
                     type->size_bits, type->align_bits, is_integer && type->is_signed ? "true" : "false");
  write_order(writer, type->order);
  uint8_t base = type->base ? type->base : type->is_address || type->kind == KYMO_KIND_BITMAP ? 16 : 0;
  if (base)
    kymo_strbuf_printf(writer->out, " base = %u;", base);
  bool is_character = type->size_bits == 8 && type->align_bits == 8; /* arrays of which are texts in TSDL */
  if (encoding_name(type->encoding) && !(writer->is_element && is_character))
    kymo_strbuf_printf(writer->out, " encoding = %s;", encoding_name(type->encoding));
  write_clock_map(writer, type->clock);
  put(writer, " }");
}

static void write_bytes_type(struct tsdl_writer *writer, uint32_t bits) {
  kymo_strbuf_printf(writer->out,
                     "integer { size = %" PRIu32 "; align = %" PRIu32 "; signed = false; base = 16; }", bits,
                     bits);
}

static void write_float(struct tsdl_writer *writer, const struct kymo_type *type) {
  if (type->size_bits == 32 || type->size_bits == 64) {
    bool is_double = type->size_bits == 64;
    kymo_strbuf_printf(writer->out, "floating_point { exp_dig = %d; mant_dig = %d; align = %" PRIu32 ";",
                       is_double ? 11 : 8, is_double ? 53 : 24, type->align_bits);
    write_order(writer, type->order);
    put(writer, " }");
  } else if (type->size_bits == 16) {
    kymo_strbuf_printf(writer->out, "integer { size = 16; align = %" PRIu32 "; signed = false; base = 16;",
                       type->align_bits);
    write_order(writer, type->order);
    put(writer, " } /* a float of 16 bits */");
  } else {
    write_bytes_type(writer, type->align_bits >= 8 ? 8 : 1);
    kymo_strbuf_printf(writer->out, " /* a float of %" PRIu32 " bits */", type->size_bits);
  }
}

/* ---- enumerations and tags ---- */

static void write_value(struct tsdl_writer *writer, bool is_signed, uint64_t value) {
  if (is_signed)
    kymo_strbuf_printf(writer->out, "%" PRId64, (int64_t)value);
  else
    kymo_strbuf_printf(writer->out, "%" PRIu64, value);
}

void kymo_tsdl_write_mapping(struct tsdl_writer *writer, bool is_signed, const char *label,
                             const struct kymo_range *range) {
  put(writer, " ");
  if (kymo_tsdl_is_identifier(label))
    put(writer, label);
  else
    kymo_tsdl_write_quoted(writer->out, label);
  put(writer, " = ");
  write_value(writer, is_signed, range->low);
  if (range->high != range->low) {
    put(writer, " ... ");
    write_value(writer, is_signed, range->high);
  }
  put(writer, ",");
}

/* Labels for the choices of one dependent that the tag does not have yet; writes them, or only
 * counts them. A label that an earlier dependent brought for the same values is written again,
 * which is harmless. */
static uint32_t write_labels(struct tsdl_writer *writer, const struct kymo_type *dependent, bool only_count) {
  struct choices choices = kymo_tsdl_choices(writer, dependent);
  uint32_t count = 0;
  for (uint32_t i = 0; i < choices.count; i++) {
    const struct choice *choice = &choices.list[i];
    if (kymo_tsdl_choice_is_mapped(dependent, choice))
      continue;
    count += choice->range_count;
    for (uint32_t at = 0; at < choice->range_count && !only_count; at++)
      kymo_tsdl_write_mapping(writer, dependent->selector_type->is_signed,
                              kymo_tsdl_label(writer, dependent, choice).text, &choice->ranges[at]);
  }
  return count;
}

static void write_tag(struct tsdl_writer *writer, const char *keyword, const char *tag) {
  kymo_strbuf_printf(writer->out, "%s %s%s", keyword, tag ? tag : "", tag ? " " : "");
}

static void write_enumeration(struct tsdl_writer *writer, const struct kymo_type *type,
                              const struct dependents *dependents, const char *tag) {
  write_tag(writer, "enum", tag);
  put(writer, ": ");
  kymo_tsdl_write_integer(writer, type);
  put(writer, " {");
  uint32_t own = type->kind == KYMO_KIND_INTEGER ? type->mapping_count : 0;
  for (uint32_t i = 0; i < own; i++)
    kymo_tsdl_write_mapping(writer, type->is_signed, type->mappings[i].name,
                            &(struct kymo_range){type->mappings[i].low, type->mappings[i].high});
  for (uint32_t i = 0; i < dependents->count; i++)
    write_labels(writer, dependents->list[i].type, false);
  put(writer, " }");
}

static void write_integer_or_enumeration(struct tsdl_writer *writer, const struct kymo_type *type,
                                         const char *tag) {
  struct dependents dependents = kymo_tsdl_dependents(writer, writer->scope, writer->way, writer->depth);
  uint32_t labels = type->kind == KYMO_KIND_INTEGER ? type->mapping_count : 0;
  for (uint32_t i = 0; i < dependents.count; i++)
    labels += write_labels(writer, dependents.list[i].type, true);
  if (labels > 0)
    write_enumeration(writer, type, &dependents, tag);
  else
    kymo_tsdl_write_integer(writer, type);
  if (type->kind == KYMO_KIND_BOOLEAN)
    put(writer, " /* a boolean */");
  if (type->is_enumeration && labels == 0)
    put(writer, " /* an enumeration without labels */");
  if (type->bits_reversed)
    put(writer, " /* its bits are in the contrary order */");
}

/* ---- compounds ---- */

static void write_member(struct tsdl_writer *writer, const char *name, const struct kymo_type *type);

/* The strictest alignment that the type can be given in TSDL. */
static uint32_t said_alignment(const struct kymo_type *type) {
  switch (type->kind) {
  case KYMO_KIND_STRING:
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_TEXT_SEQUENCE:
  case KYMO_KIND_VARINT:
  case KYMO_KIND_BLOB_ARRAY:
  case KYMO_KIND_BLOB_SEQUENCE:
  case KYMO_KIND_UNION: return 8;
  case KYMO_KIND_FLOAT: return type->size_bits <= 64 || type->align_bits < 8 ? type->align_bits : 8;
  case KYMO_KIND_ARRAY:
  case KYMO_KIND_SEQUENCE: return said_alignment(type->element);
  case KYMO_KIND_VARIANT:
  case KYMO_KIND_OPTIONAL: return 1;
  default: return type->align_bits;
  }
}

static void write_struct(struct tsdl_writer *writer, const struct kymo_type *type, const char *tag) {
  uint32_t natural = 1, at = writer->depth, outer = kymo_tsdl_open_braces(writer);
  write_tag(writer, "struct", tag);
  put(writer, "{\n");
  writer->indent++;
  writer->depth++;
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct kymo_type *member = type->members[i].type;
    uint32_t said = said_alignment(member);
    natural = member->align_bits > natural ? member->align_bits : natural;
    if (said < member->align_bits) {
      kymo_tsdl_write_indent(writer);
      kymo_strbuf_printf(writer->out, "struct { } align(%" PRIu32 ") %s;\n", member->align_bits,
                         kymo_tsdl_padding_name(type, i).text);
    }
    writer->way[at] = i;
    write_member(writer, kymo_tsdl_member_name(writer, writer->scope, type, i).text, member);
  }
  kymo_tsdl_close_braces(writer, outer);
  writer->depth = at;
  writer->indent--;
  kymo_tsdl_write_indent(writer);
  put(writer, "}");
  if (type->align_bits > natural)
    kymo_strbuf_printf(writer->out, " align(%" PRIu32 ")", type->align_bits);
}

static void write_choice(struct tsdl_writer *writer, const struct kymo_type *type,
                         const struct choice *choice) {
  struct tsdl_name label = kymo_tsdl_label(writer, type, choice);
  if (choice->range_count == 0 && type->kind == KYMO_KIND_OPTIONAL)
    return; /* never absent, or never there: no label, and readers refuse options without */
  if (choice->type) {
    write_member(writer, label.text, choice->type);
    return;
  }
  kymo_tsdl_write_indent(writer);
  kymo_strbuf_printf(writer->out, "struct { } %s;\n", label.text);
}

static void write_variant(struct tsdl_writer *writer, const struct kymo_type *type) {
  struct choices choices = kymo_tsdl_choices(writer, type);
  uint32_t outer = kymo_tsdl_open_braces(writer);
  put(writer, "variant <");
  kymo_tsdl_write_reference(writer, type);
  put(writer, "> {\n");
  writer->indent++;
  uint32_t at = writer->depth++;
  for (uint32_t i = 0; i < choices.count; i++) {
    writer->way[at] = type->kind == KYMO_KIND_OPTIONAL ? KYMO_STEP_ELEMENT : i;
    write_choice(writer, type, &choices.list[i]);
  }
  kymo_tsdl_close_braces(writer, outer);
  writer->depth = at;
  writer->indent--;
  kymo_tsdl_write_indent(writer);
  put(writer, "}");
}

static void write_text_element(struct tsdl_writer *writer, const struct kymo_type *type) {
  const char *encoding = type->encoding == KYMO_ENCODING_NONE ? "UTF8" : encoding_name(type->encoding);
  if (encoding)
    kymo_strbuf_printf(writer->out, "integer { size = 8; align = 8; signed = false; encoding = %s; }",
                       encoding);
  else
    write_bytes_type(writer, 8);
}

void kymo_tsdl_write_body(struct tsdl_writer *writer, const struct kymo_type *type, const char *tag) {
  switch (type->kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_BOOLEAN:
  case KYMO_KIND_BITMAP: write_integer_or_enumeration(writer, type, tag); break;
  case KYMO_KIND_FLOAT: write_float(writer, type); break;
  case KYMO_KIND_STRING:
    put(writer, type->encoding == KYMO_ENCODING_ASCII  ? "string { encoding = ASCII; }"
                : type->encoding == KYMO_ENCODING_NONE ? "string { encoding = none; }"
                                                       : "string");
    if (type->encoding > KYMO_ENCODING_UTF8)
      put(writer, " /* in an encoding that CTF 1.8 cannot say */");
    break;
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_TEXT_SEQUENCE: write_text_element(writer, type); break;
  case KYMO_KIND_BLOB_ARRAY:
  case KYMO_KIND_BLOB_SEQUENCE: write_bytes_type(writer, 8); break;
  case KYMO_KIND_STRUCT: write_struct(writer, type, tag); break;
  case KYMO_KIND_VARIANT:
  case KYMO_KIND_OPTIONAL: write_variant(writer, type); break;
  case KYMO_KIND_UNION:
    write_bytes_type(writer, 8);
    put(writer, " /* a union */");
    break;
  default:
    write_bytes_type(writer, 8);
    put(writer, " /* a varint: CTF 1.8 cannot say it */");
    break;
  }
}

/* A type that is no array, declaring what it needs before its line. */
static void write_base(struct tsdl_writer *writer, const char *member, const struct kymo_type *type) {
  enum tsdl_naming naming = kymo_tsdl_name_type(writer, type);
  const char *tag = kymo_tsdl_tag(type), *flags = NULL;
  if (type->kind == KYMO_KIND_BITMAP)
    flags = kymo_tsdl_declare_flags(writer, type, member);
  kymo_tsdl_write_indent(writer);
  if (naming == TSDL_NEW && !tag) {
    put(writer, "typealias ");
    kymo_tsdl_write_body(writer, type, NULL);
    kymo_strbuf_printf(writer->out, " := %s;\n", type->name);
    kymo_tsdl_write_indent(writer);
    naming = TSDL_KNOWN;
  }
  if (naming == TSDL_KNOWN)
    put(writer, type->name);
  else
    kymo_tsdl_write_body(writer, type, naming == TSDL_NEW ? tag : NULL);
  if (type->kind == KYMO_KIND_BITMAP)
    kymo_strbuf_printf(writer->out, " /* flags%s%s */", flags ? " " : "", flags ? flags : "");
}

/* "[3][_n]" of all arrays around the base type; the way goes down to the base type. Returns it. */
static const struct kymo_type *write_lengths(struct tsdl_writer *writer, const struct kymo_type *type) {
  for (;; type = type->element) {
    switch (type->kind) {
    case KYMO_KIND_FLOAT:
      if (type->size_bits > 64)
        kymo_strbuf_printf(writer->out, "[%" PRIu32 "]",
                           type->align_bits >= 8 ? type->size_bits / 8 : type->size_bits);
      return type;
    case KYMO_KIND_UNION: kymo_strbuf_printf(writer->out, "[%" PRIu32 "]", type->size_bits / 8); return type;
    case KYMO_KIND_ARRAY:
    case KYMO_KIND_TEXT_ARRAY:
    case KYMO_KIND_BLOB_ARRAY: kymo_strbuf_printf(writer->out, "[%" PRIu64 "]", type->length); break;
    case KYMO_KIND_SEQUENCE:
    case KYMO_KIND_TEXT_SEQUENCE:
    case KYMO_KIND_BLOB_SEQUENCE:
      put(writer, "[");
      kymo_tsdl_write_reference(writer, type);
      put(writer, "]");
      break;
    default: return type;
    }
    if (!type->element)
      return type;
    writer->way[writer->depth++] = KYMO_STEP_ELEMENT;
  }
}

static void write_member(struct tsdl_writer *writer, const char *name, const struct kymo_type *type) {
  struct kymo_strbuf lengths = {0}, *out = writer->out;
  uint32_t depth = writer->depth;
  writer->out = &lengths;
  const struct kymo_type *base = write_lengths(writer, type);
  writer->out = out;
  writer->is_element = base != type;
  write_base(writer, name, base);
  kymo_strbuf_printf(out, " %s%s;\n", name, lengths.text ? lengths.text : "");
  out->failed |= lengths.failed;
  kymo_strbuf_free(&lengths);
  writer->depth = depth;
}

void kymo_tsdl_write_scope(struct tsdl_writer *writer, enum kymo_scope scope) {
  writer->scope = scope;
  writer->depth = 0;
  writer->options = (struct tsdl_options){0};
  write_struct(writer, writer->roots[scope], NULL);
}
