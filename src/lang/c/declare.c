/* SPDX-License-Identifier: MIT */
/* Types by their ids: parts have lower ids than the types that contain them, so each is declared before its
 * use. */
#include "lang/c/declare.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/table.h"
#include "schema/attribute.h"
#include "schema/flag.h"
#include "schema/parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define VARIABLE UINT64_MAX

struct declared {
  uint64_t size; /* bits that each value takes; VARIABLE: they differ, or C cannot say it */
  char *name;    /* of a declaration, or NULL */
};

struct printer {
  struct kymo_strbuf *out;
  const struct kymo_schema *schema;
  struct kymo_arena arena;
  struct declared *types; /* by id */
  struct kymo_hash_table
      names;       /* the other halves of the hashes of all names in use; a collision costs a suffix */
  uint64_t spaces; /* of names: tags, others, and one for the members of each struct printed */
  uint32_t indent;
};

enum { SPACE_TAGS, SPACE_OTHERS, SPACES };

/* ---- names ---- */

static const char *const keywords[] = {
    "_Alignas",  "_Alignof",       "_Atomic",       "_Bool",    "_Complex", "_Generic", "_Imaginary",
    "_Noreturn", "_Static_assert", "_Thread_local", "asm",      "auto",     "bool",     "break",
    "case",      "char",           "const",         "continue", "default",  "do",       "double",
    "else",      "enum",           "extern",        "false",    "float",    "for",      "goto",
    "if",        "inline",         "int",           "long",     "register", "restrict", "return",
    "short",     "signed",         "sizeof",        "static",   "struct",   "switch",   "true",
    "typedef",   "typeof",         "union",         "unsigned", "void",     "volatile", "while",
};

struct name {
  char text[200];
};

/* The text with '_' for each character that an identifier cannot have. */
static struct name make_name(const char *text) {
  struct name name = {""};
  size_t length = 0;
  if (text[0] == '\0' || (text[0] >= '0' && text[0] <= '9'))
    name.text[length++] = '_';
  for (; *text && length < sizeof name.text - 32; text++) {
    bool is_good =
        (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || (*text >= '0' && *text <= '9');
    name.text[length++] = is_good ? *text : '_';
  }
  name.text[length] = '\0';
  for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
    if (strcmp(name.text, keywords[i]) == 0)
      name.text[length] = '_', name.text[length + 1] = '\0';
  return name;
}

/* Takes the name if nothing in this space has it yet, and returns true. */
static bool give(struct printer *printer, uint64_t space, const char *name) {
  uint64_t full = kymo_hash64(name, strlen(name), space);
  uint32_t hash = (uint32_t)full, at = hash;
  uintptr_t rest = (uintptr_t)(full >> 32) | 1, item;
  while ((item = kymo_hash_table_next(&printer->names, hash, &at)))
    if (item == rest)
      return false;
  printer->out->failed |= !kymo_hash_table_add(&printer->names, NULL, hash, rest);
  return true;
}

/* The name made of a text, with a number after it if the name is taken already. */
static struct name unique_name(struct printer *printer, uint64_t space, const char *text, uint64_t number) {
  struct name name = make_name(text);
  size_t length = strlen(name.text);
  while (!give(printer, space, name.text))
    snprintf(name.text + length, sizeof name.text - length, "_%" PRIu64, number++);
  return name;
}

/* ---- layout ---- */

static uint64_t struct_size(const struct printer *printer, const struct kymo_type *type) {
  uint64_t at = 0;
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct kymo_type *member = type->members[i].type;
    uint64_t size = printer->types[member->id].size;
    at = size == VARIABLE ? VARIABLE : kymo_align_up(at, member->align_bits);
    if (at == VARIABLE || __builtin_add_overflow(at, size, &at))
      return VARIABLE;
  }
  return at;
}

/* Elements of an array of C have no space between them. */
static uint64_t array_size(const struct printer *printer, const struct kymo_type *type) {
  uint64_t element = printer->types[type->element->id].size, size;
  bool has_gaps = element % 8 != 0 || (element % type->element->align_bits != 0 && type->length > 1);
  if (element == VARIABLE || has_gaps || __builtin_mul_overflow(element, type->length, &size))
    return VARIABLE;
  return size;
}

static bool is_declarable_union(const struct printer *printer, const struct kymo_type *type) {
  for (uint32_t i = 0; i < type->member_count; i++)
    if (printer->types[type->members[i].type->id].size == VARIABLE)
      return false;
  return true;
}

static uint64_t size_of(const struct printer *printer, const struct kymo_type *type) {
  switch (type->kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_BOOLEAN:
  case KYMO_KIND_BITMAP:
  case KYMO_KIND_FLOAT:
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_BLOB_ARRAY: return type->size_bits;
  case KYMO_KIND_ARRAY: return array_size(printer, type);
  case KYMO_KIND_STRUCT: return struct_size(printer, type);
  case KYMO_KIND_UNION: return is_declarable_union(printer, type) ? type->size_bits : VARIABLE;
  default: return VARIABLE;
  }
}

/* ---- members ---- */

static void put_indent(struct printer *printer) {
  for (uint32_t i = 0; i < printer->indent; i++)
    kymo_strbuf_puts(printer->out, "  ");
}

/* A text in a comment; it must not end the comment. */
static void put_comment_text(struct kymo_strbuf *out, const char *text) {
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    bool is_end = c == '/' || c < 0x20 || c == 0x7f;
    kymo_strbuf_add(out, is_end ? "_" : text, 1);
  }
}

static const char *const variable_words[] = {
    [KYMO_KIND_VARINT] = "varint",   [KYMO_KIND_STRING] = "string",      [KYMO_KIND_TEXT_ARRAY] = "text",
    [KYMO_KIND_BLOB_ARRAY] = "blob", [KYMO_KIND_TEXT_SEQUENCE] = "text", [KYMO_KIND_BLOB_SEQUENCE] = "blob",
    [KYMO_KIND_ARRAY] = "array",     [KYMO_KIND_SEQUENCE] = "sequence",  [KYMO_KIND_STRUCT] = "struct",
    [KYMO_KIND_VARIANT] = "variant", [KYMO_KIND_OPTIONAL] = "optional",  [KYMO_KIND_UNION] = "union",
};

static bool is_whole(const struct kymo_type *type) {
  return type->size_bits == 8 || type->size_bits == 16 || type->size_bits == 32 || type->size_bits == 64;
}

/* The C type of a member that is no compound. */
static void put_scalar(struct kymo_strbuf *out, const struct kymo_type *type) {
  const char *sign = type->kind == KYMO_KIND_INTEGER && type->is_signed ? "" : "u";
  if (type->kind == KYMO_KIND_TEXT_ARRAY)
    kymo_strbuf_puts(out, "char");
  else if (type->kind == KYMO_KIND_BLOB_ARRAY || (type->kind == KYMO_KIND_FLOAT && type->size_bits > 64))
    kymo_strbuf_puts(out, "uint8_t");
  else if (type->kind == KYMO_KIND_FLOAT && type->size_bits >= 32)
    kymo_strbuf_puts(out, type->size_bits == 32 ? "float" : "double");
  else
    kymo_strbuf_printf(out, "%sint%u_t", sign, is_whole(type) ? type->size_bits : 64);
}

static void put_lengths(struct kymo_strbuf *out, const struct kymo_type *type) {
  for (; type->kind == KYMO_KIND_ARRAY; type = type->element)
    kymo_strbuf_printf(out, "[%" PRIu64 "]", type->length);
  if (type->kind == KYMO_KIND_TEXT_ARRAY || type->kind == KYMO_KIND_BLOB_ARRAY)
    kymo_strbuf_printf(out, "[%" PRIu64 "]", type->length);
  else if (type->kind == KYMO_KIND_FLOAT && type->size_bits > 64)
    kymo_strbuf_printf(out, "[%u]", type->size_bits / 8);
  else if (type->kind < KYMO_KIND_FLOAT && !is_whole(type))
    kymo_strbuf_printf(out, " : %u", type->size_bits);
}

/* What C cannot say of a member. */
static void put_remarks(struct printer *printer, const struct kymo_type *type) {
  struct kymo_strbuf *out = printer->out;
  bool is_number = type->kind <= KYMO_KIND_FLOAT;
  const char *name = type->name ? type->name : type->kind == KYMO_KIND_BOOLEAN ? "boolean" : NULL;
  if (is_number && name) {
    kymo_strbuf_puts(out, " /* ");
    put_comment_text(out, name);
    kymo_strbuf_puts(out, " */");
  }
  if (type->kind == KYMO_KIND_FLOAT && type->size_bits != 32 && type->size_bits != 64)
    kymo_strbuf_printf(out, " /* a float of %u bits */", type->size_bits);
  if (is_number && type->size_bits != 8 && type->order != printer->schema->order)
    kymo_strbuf_puts(out, type->order == KYMO_ORDER_BIG ? " /* big-endian */" : " /* little-endian */");
  if (is_number && type->bits_reversed)
    kymo_strbuf_puts(out, " /* its bits are in the contrary order */");
}

static void put_body(struct printer *printer, const struct kymo_type *type);

static void put_member(struct printer *printer, const char *name, const struct kymo_type *type) {
  struct kymo_strbuf *out = printer->out;
  const struct kymo_type *base = type;
  while (base->kind == KYMO_KIND_ARRAY)
    base = base->element;
  put_indent(printer);
  if (base->kind == KYMO_KIND_STRUCT || base->kind == KYMO_KIND_UNION) {
    if (printer->types[base->id].name)
      kymo_strbuf_puts(out, printer->types[base->id].name);
    else {
      kymo_strbuf_puts(out, base->kind == KYMO_KIND_UNION ? "union __attribute__((packed))"
                                                          : "struct __attribute__((packed))");
      put_body(printer, base);
    }
  } else
    put_scalar(out, base);
  kymo_strbuf_printf(out, " %s", name);
  put_lengths(out, type);
  kymo_strbuf_puts(out, ";");
  put_remarks(printer, base);
  kymo_strbuf_puts(out, "\n");
}

static void put_variable(struct printer *printer, const struct kymo_member *member) {
  const char *word = variable_words[member->type->kind];
  put_indent(printer);
  kymo_strbuf_printf(printer->out, "/* %s ", word ? word : "number");
  put_comment_text(printer->out, member->name);
  kymo_strbuf_puts(printer->out, "; */\n");
}

/* `bits` without a name that users have. */
static void put_padding(struct printer *printer, uint64_t space, uint64_t bits, uint32_t number) {
  if (bits == 0)
    return;
  put_indent(printer);
  if (bits % 8 == 0)
    kymo_strbuf_printf(printer->out, "uint8_t %s[%" PRIu64 "];\n",
                       unique_name(printer, space, "padding", number).text, bits / 8);
  else
    kymo_strbuf_printf(printer->out, "uint64_t : %" PRIu64 ";\n", bits);
}

/* Members up to the first of variable size; it and all after it only as comments. */
static void put_members(struct printer *printer, const struct kymo_type *type) {
  bool is_union = type->kind == KYMO_KIND_UNION, is_placed = true;
  uint64_t at = 0, space = printer->spaces++;
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct kymo_member *member = &type->members[i];
    uint64_t size = printer->types[member->type->id].size;
    uint64_t place = is_union ? 0 : kymo_align_up(at, member->type->align_bits);
    is_placed = is_placed && size != VARIABLE && (place - at < 64 || (place - at) % 8 == 0);
    if (!is_placed) {
      put_variable(printer, member);
      continue;
    }
    put_padding(printer, space, is_union ? 0 : place - at, i);
    put_member(printer, unique_name(printer, space, member->name, i).text, member->type);
    at = place + size;
  }
  if (is_union) /* which may be larger than its members */
    put_padding(printer, space, type->size_bits, type->member_count);
}

static void put_body(struct printer *printer, const struct kymo_type *type) {
  kymo_strbuf_puts(printer->out, " {\n");
  printer->indent++;
  put_members(printer, type);
  printer->indent--;
  put_indent(printer);
  kymo_strbuf_puts(printer->out, "}");
}

/* ---- declarations ---- */

/* The tag in "struct point" if the word is `keyword`; a bare name as it is; NULL for all else. */
static const char *tag_of(const char *name, const char *keyword) {
  size_t length = strlen(keyword);
  if (name && strncmp(name, keyword, length) == 0 && name[length] == ' ')
    return name + length + 1;
  return name && strchr(name, ' ') ? NULL : name;
}

static void put_enumeration(struct printer *printer, const struct kymo_type *type) {
  struct kymo_strbuf *out = printer->out;
  const char *tag = tag_of(type->name, "enum");
  if (type->mapping_count == 0 || !tag)
    return;
  kymo_strbuf_printf(out, "enum %s {\n", unique_name(printer, SPACE_TAGS, tag, type->id).text);
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    const struct kymo_mapping *mapping = &type->mappings[i];
    kymo_strbuf_printf(out, "  %s = ", unique_name(printer, SPACE_OTHERS, mapping->name, type->id).text);
    if (type->is_signed && (int64_t)mapping->low == INT64_MIN)
      kymo_strbuf_puts(out, "-INT64_MAX - 1,");
    else
      kymo_strbuf_printf(out, type->is_signed ? "%" PRId64 "," : "%" PRIu64 "u,", mapping->low);
    if (mapping->high != mapping->low)
      kymo_strbuf_printf(out, type->is_signed ? " /* to %" PRId64 " */" : " /* to %" PRIu64 " */",
                         mapping->high);
    kymo_strbuf_puts(out, "\n");
  }
  kymo_strbuf_puts(out, "};\n\n");
}

/* Flags: masks of their bits. A flag whose bits are not adjacent has several mappings, one after the
 * other. */
static void put_flags(struct printer *printer, const struct kymo_type *type) {
  struct kymo_strbuf *out = printer->out;
  const char *tag = tag_of(type->name, "enum");
  if (type->mapping_count == 0)
    return;
  kymo_strbuf_puts(out, "enum ");
  if (tag)
    kymo_strbuf_printf(out, "%s ", unique_name(printer, SPACE_TAGS, tag, type->id).text);
  kymo_strbuf_puts(out, "{\n");
  for (uint32_t i = 0, next; i < type->mapping_count; i = next) {
    next = i;
    struct kymo_flag flag = kymo_flag_take(type, &next);
    kymo_strbuf_printf(out, "  %s = 0x%" PRIx64 "u,",
                       unique_name(printer, SPACE_OTHERS, flag.name, type->id).text, flag.ones);
    if (flag.zeros)
      kymo_strbuf_printf(out, " /* of 0x%" PRIx64 " */", flag.ones | flag.zeros);
    kymo_strbuf_puts(out, "\n");
  }
  kymo_strbuf_puts(out, "};\n\n");
}

static void put_compound(struct printer *printer, const struct kymo_type *type) {
  const char *keyword = type->kind == KYMO_KIND_UNION ? "union" : "struct",
             *tag = tag_of(type->name, keyword);
  struct declared *declared = &printer->types[type->id];
  if (!tag || declared->size == VARIABLE)
    return;
  struct name name = unique_name(printer, SPACE_TAGS, tag, type->id);
  kymo_strbuf_printf(printer->out, "%s __attribute__((packed)) %s", keyword, name.text);
  put_body(printer, type);
  kymo_strbuf_puts(printer->out, ";\n\n");
  char text[220];
  int length = snprintf(text, sizeof text, "%s %s", keyword, name.text);
  declared->name = kymo_arena_copy(&printer->arena, text, (size_t)length);
  printer->out->failed |= !declared->name;
}

static void put_event(struct printer *printer, const struct kymo_event_class *event) {
  struct kymo_strbuf *out = printer->out;
  kymo_strbuf_puts(out, "/* event class \"");
  put_comment_text(out, event->name);
  kymo_strbuf_printf(out, "\", id %" PRIu64 " */\n", event->id);
  if (!event->payload || event->payload->member_count == 0) {
    kymo_strbuf_puts(out, "/* no fields */\n\n");
    return;
  }
  struct name name = unique_name(printer, SPACE_TAGS, event->name, event->id);
  kymo_strbuf_printf(out, "struct __attribute__((packed)) %s", name.text);
  put_body(printer, event->payload);
  kymo_strbuf_puts(out, ";\n\n");
}

/* ---- constants of compiled descriptions ---- */

/* The name of a macro or constant, in capitals, that nothing else has. */
static struct name constant_name(struct printer *printer, const char *class_, const char *field,
                                 uint64_t number) {
  char text[200];
  snprintf(text, sizeof text, "%s%s%s", class_, *field ? "_" : "", field);
  for (char *at = text; *at; at++)
    if (*at >= 'a' && *at <= 'z')
      *at = (char)(*at - 'a' + 'A');
  return unique_name(printer, SPACE_OTHERS, text, number);
}

/* A text as a constant of C. */
static void put_quoted(struct kymo_strbuf *out, const char *text) {
  kymo_strbuf_puts(out, "\"");
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    bool is_plain = c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '?';
    kymo_strbuf_printf(out, is_plain ? "%c" : "\\%03o", c);
  }
  kymo_strbuf_puts(out, "\"");
}

static void put_kinds(struct printer *printer) {
  const struct kymo_schema *schema = printer->schema;
  uint32_t kind = 0;
  kymo_strbuf_puts(printer->out, "/* What kymo_event_get_class_number gives. */\nenum {\n");
  for (uint32_t i = 0; i < schema->stream_count; i++)
    for (uint32_t k = 0; k < schema->streams[i]->event_count; k++, kind++)
      kymo_strbuf_printf(printer->out, "  %s = %" PRIu32 ",\n",
                         constant_name(printer, schema->streams[i]->events[k]->name, "", kind).text, kind);
  kymo_strbuf_puts(printer->out, "};\n\n");
}

static void put_field_names(struct printer *printer, const struct kymo_event_class *event) {
  for (uint32_t i = 0; event->payload && i < event->payload->member_count; i++) {
    const struct kymo_member *member = &event->payload->members[i];
    if (kymo_member_is_hidden(member))
      continue;
    kymo_strbuf_printf(printer->out, "#define %s ",
                       constant_name(printer, event->name, member->name, i).text);
    put_quoted(printer->out, member->name);
    kymo_strbuf_puts(printer->out, "\n");
  }
}

static void put_constants(struct printer *printer) {
  const struct kymo_schema *schema = printer->schema;
  if (!schema->plan)
    return;
  put_kinds(printer);
  kymo_strbuf_puts(printer->out, "/* What kymo_field_id takes. */\n");
  for (uint32_t i = 0; i < schema->stream_count; i++)
    for (uint32_t k = 0; k < schema->streams[i]->event_count; k++)
      put_field_names(printer, schema->streams[i]->events[k]);
}

/* ---- the whole ---- */

static void put_type(struct printer *printer, const struct kymo_type *type) {
  printer->types[type->id].size = size_of(printer, type);
  switch (type->kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_VARINT: put_enumeration(printer, type); break;
  case KYMO_KIND_BITMAP: put_flags(printer, type); break;
  case KYMO_KIND_STRUCT:
  case KYMO_KIND_UNION: put_compound(printer, type); break;
  default: break;
  }
}

void kymo_c_print(struct kymo_strbuf *out, const struct kymo_schema *schema) {
  struct printer printer = {.out = out, .schema = schema, .spaces = SPACES};
  printer.types = kymo_arena_array(&printer.arena, schema->type_count, sizeof *printer.types);
  kymo_strbuf_printf(out, "/* Numbers are %s-endian, if nothing else is said. */\n",
                     schema->order == KYMO_ORDER_BIG ? "big" : "little");
  kymo_strbuf_puts(out, "#include <stdint.h>\n\n");
  if (!printer.types)
    out->failed = true;
  for (uint32_t i = 0; i < schema->type_count && !out->failed; i++)
    put_type(&printer, schema->types[i]);
  for (uint32_t i = 0; i < schema->stream_count && !out->failed; i++)
    for (uint32_t k = 0; k < schema->streams[i]->event_count; k++)
      put_event(&printer, schema->streams[i]->events[k]);
  if (!out->failed)
    put_constants(&printer);
  kymo_arena_free(&printer.arena);
  kymo_hash_table_free(&printer.names);
}
