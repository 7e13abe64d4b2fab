/* SPDX-License-Identifier: MIT */
/*
 * Names of types in TSDL.
 *
 *   "struct point", "enum state"    at the first place  struct point { … } _a;     then  struct point _b;
 *   "unsigned int", "point_t"       before it      typealias … := point_t;    then  point_t _b;
 *
 * A name holds from its declaration to the end of the braces around it, so every block declares what it uses,
 * and blocks never clash. Within that scope it means one type, since babeltrace 1 lets no tag hide another
 * one; two types are one if their plain text, every name and body written out, is the same. These are
 * written without their names:
 *
 *   types that refer to fields outside of themselves   are others at another place
 *   those that lengths or tags are looked for in       babeltrace2 2.0 forgets the underscores of a type that
 *                                                      is used by name; so a tag is named where it is
 *                                                      declared only
 *   the second type of a name
 *   names that are no words of TSDL                    std::pair
 *   names that an option has, too                      readers take the option for a type
 *   all types in headers                               names of fields have no underscore there
 *
 * Flags are plain integers in TSDL; an enumeration of the names of their bits is declared beside them.
 */
#include "lang/tsdl/writer.h"
#include "schema/parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most names that are valid at one place; further types have no name. */
#define NAMES_MAX 256

/* ---- which names can be said ---- */

static bool is_c_word(const char *text, size_t length) {
  static const char *const words[] = {"char",  "double", "float",    "int",  "long",
                                      "short", "signed", "unsigned", "_Bool"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0)
      return true;
  return false;
}

/* "unsigned long int" */
static bool is_c_words(const char *text) {
  for (;;) {
    size_t length = strcspn(text, " ");
    if (!is_c_word(text, length))
      return false;
    if (!text[length])
      return true;
    text += length + 1;
  }
}

static const char *after(const char *text, const char *start) {
  size_t length = strlen(start);
  return strncmp(text, start, length) == 0 ? text + length : NULL;
}

const char *kymo_tsdl_tag(const struct kymo_type *type) {
  const char *tag = NULL;
  if (type->name && type->kind == KYMO_KIND_STRUCT)
    tag = after(type->name, "struct ");
  else if (type->name && type->kind == KYMO_KIND_INTEGER && type->mapping_count > 0)
    tag = after(type->name, "enum ");
  return tag && kymo_tsdl_is_identifier(tag) ? tag : NULL;
}

/* Underscores begin the names of fields. */
static bool is_alias(const char *name) {
  return is_c_words(name) || (kymo_tsdl_is_identifier(name) && name[0] != '_');
}

static bool is_nameable(const struct kymo_type *type) {
  switch (type->kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_BOOLEAN:
  case KYMO_KIND_STRING:
  case KYMO_KIND_STRUCT: break;
  case KYMO_KIND_FLOAT:
    if (type->size_bits > 64)
      return false;
    break;
  default: return false;
  }
  return type->name && (kymo_tsdl_tag(type) || is_alias(type->name));
}

/* ---- names of options ---- */

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static uint32_t count_options(const struct kymo_type *type) {
  uint32_t count = type->kind == KYMO_KIND_VARIANT    ? type->member_count
                   : type->kind == KYMO_KIND_OPTIONAL ? 2
                                                      : 0;
  if (type->element)
    count += count_options(type->element);
  for (uint32_t i = 0; i < type->member_count; i++)
    count += count_options(type->members[i].type);
  return count;
}

static void add_options(struct tsdl_writer *writer, const struct kymo_type *type) {
  struct tsdl_options *options = &writer->options;
  bool has_options = type->kind == KYMO_KIND_VARIANT || type->kind == KYMO_KIND_OPTIONAL;
  struct choices choices = has_options ? kymo_tsdl_choices(writer, type) : (struct choices){0};
  for (uint32_t i = 0; i < choices.count; i++) {
    struct tsdl_name label = kymo_tsdl_label(writer, type, &choices.list[i]);
    const char *copy = kymo_arena_copy(&writer->arena, label.text, strlen(label.text));
    writer->out->failed |= !copy;
    if (copy)
      options->names[options->count++] = copy;
  }
  if (type->element)
    add_options(writer, type->element);
  for (uint32_t i = 0; i < type->member_count; i++)
    add_options(writer, type->members[i].type);
}

/* The depth of a finished schema is bounded. */
static void gather_options(struct tsdl_writer *writer, const struct kymo_type *root) {
  struct tsdl_options *options = &writer->options;
  *options = (struct tsdl_options){.root = root};
  uint32_t count = count_options(root);
  if (count == 0)
    return;
  options->names = kymo_arena_array(&writer->arena, count, sizeof *options->names);
  if (!options->names) {
    writer->out->failed = true;
    return;
  }
  add_options(writer, root);
  qsort(options->names, options->count, sizeof *options->names, compare_names);
}

static bool is_option(struct tsdl_writer *writer, const char *name) {
  const struct kymo_type *root = writer->roots[writer->scope];
  if (writer->options.root != root)
    gather_options(writer, root);
  const struct tsdl_options *options = &writer->options;
  return options->count > 0 &&
         bsearch(&name, options->names, options->count, sizeof *options->names, compare_names) != NULL;
}

/* ---- names that hold ---- */

uint32_t kymo_tsdl_open_braces(struct tsdl_writer *writer) {
  uint32_t outer = writer->names.begin;
  writer->names.begin = writer->names.count;
  return outer;
}

void kymo_tsdl_close_braces(struct tsdl_writer *writer, uint32_t outer) {
  struct tsdl_names *names = &writer->names;
  while (names->count > names->begin)
    kymo_strbuf_free(&names->list[--names->count].plain);
  names->begin = outer;
}

/* Decides whether a name for a type of this plain text is declared, used or dropped. It takes over the plain
 * text; an empty one differs from all others. */
static enum tsdl_naming declare(struct tsdl_writer *writer, const char *name, struct kymo_strbuf *plain) {
  struct tsdl_names *names = &writer->names;
  enum tsdl_naming naming = TSDL_NEW;
  uint32_t at = names->count;
  while (at > 0 && strcmp(names->list[at - 1].name, name) != 0)
    at--;
  if (at > 0) {
    const struct kymo_strbuf *other = &names->list[at - 1].plain;
    bool is_same = plain->length > 0 && other->length == plain->length &&
                   memcmp(other->text, plain->text, plain->length) == 0;
    naming = is_same ? TSDL_KNOWN : TSDL_UNNAMED;
  }
  if (naming == TSDL_NEW && !names->list)
    names->list = kymo_arena_array(&writer->arena, NAMES_MAX, sizeof *names->list);
  writer->out->failed |= writer->arena.failed;
  if (naming == TSDL_NEW && (!names->list || names->count == NAMES_MAX))
    naming = TSDL_UNNAMED;
  if (naming == TSDL_NEW)
    names->list[names->count++] = (struct tsdl_named){name, *plain};
  else
    kymo_strbuf_free(plain);
  return naming;
}

/* The text of a type with all names and bodies; false if it refers to anything outside of itself. */
static bool write_plain(struct tsdl_writer *writer, const struct kymo_type *type, struct kymo_strbuf *plain) {
  struct kymo_strbuf *out = writer->out;
  uint32_t reach = writer->reach, indent = writer->indent;
  writer->out = plain;
  writer->is_plain = true;
  writer->reach = UINT32_MAX;
  writer->indent = 0;
  kymo_tsdl_write_body(writer, type, kymo_tsdl_tag(type));
  bool is_closed = writer->reach >= writer->depth;
  writer->is_plain = false;
  writer->reach = reach;
  writer->indent = indent;
  writer->out = out;
  out->failed |= plain->failed;
  return is_closed && !plain->failed;
}

enum tsdl_naming kymo_tsdl_name_type(struct tsdl_writer *writer, const struct kymo_type *type) {
  if (!is_nameable(type) || writer->scope <= KYMO_SCOPE_EVENT_HEADER)
    return TSDL_UNNAMED;
  if (writer->is_plain)
    return TSDL_NEW;
  bool is_tag = kymo_tsdl_tag(type) != NULL,
       is_single = type->kind == KYMO_KIND_STRUCT && kymo_tsdl_is_looked_into(writer);
  struct kymo_strbuf plain = {0};
  if ((!is_tag && (is_single || is_option(writer, type->name))) || !write_plain(writer, type, &plain)) {
    kymo_strbuf_free(&plain);
    return TSDL_UNNAMED;
  }
  if (is_single)
    kymo_strbuf_free(&plain);
  return declare(writer, type->name, &plain);
}

/* ---- flags ---- */

static bool is_first_of_name(const struct kymo_type *type, uint32_t index) {
  for (uint32_t i = 0; i < index; i++)
    if (strcmp(type->mappings[i].name, type->mappings[index].name) == 0)
      return false;
  return true;
}

/* Whether the name that the mapping has asks for a value, which TSDL has no words for. */
static bool asks_for_value(const struct kymo_type *type, uint32_t index) {
  for (uint32_t i = index; i < type->mapping_count; i++)
    if (type->mappings[i].low > 63 && strcmp(type->mappings[i].name, type->mappings[index].name) == 0)
      return true;
  return false;
}

/* All bits of the name that the mapping has. */
static uint64_t bits_of(const struct kymo_type *type, uint32_t index) {
  uint64_t bits = 0;
  for (uint32_t i = index; i < type->mapping_count; i++) {
    const struct kymo_mapping *mapping = &type->mappings[i];
    uint64_t high = mapping->high > 63 ? 63 : mapping->high;
    if (mapping->low <= 63 && strcmp(mapping->name, type->mappings[index].name) == 0)
      bits |= UINT64_MAX >> (63 - high) & UINT64_MAX << mapping->low;
  }
  return type->size_bits < 64 ? bits & ((UINT64_C(1) << type->size_bits) - 1) : bits;
}

/* "open_flags" of "enum open_flags", "flags_t"; of flags without a name that of the member, as
 * "mode_flags". */
static struct tsdl_name flags_name(const struct kymo_type *type, const char *member) {
  const char *bare = type->name ? after(type->name, "enum ") : NULL;
  struct tsdl_name name;
  while (*member == '_')
    member++;
  if (bare || type->name)
    snprintf(name.text, sizeof name.text, "%s", bare ? bare : type->name);
  else
    snprintf(name.text, sizeof name.text, "%.400s_flags", member);
  return name;
}

static void write_flags(struct tsdl_writer *writer, const struct kymo_type *type, const char *name) {
  kymo_strbuf_puts(writer->out, "typedef enum : ");
  kymo_tsdl_write_integer(writer, type);
  kymo_strbuf_puts(writer->out, " {");
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    uint64_t bits = bits_of(type, i);
    if (is_first_of_name(type, i) && !asks_for_value(type, i))
      kymo_tsdl_write_mapping(writer, false, type->mappings[i].name, &(struct kymo_range){bits, bits});
  }
  kymo_strbuf_printf(writer->out, " } %s;\n", name);
}

const char *kymo_tsdl_declare_flags(struct tsdl_writer *writer, const struct kymo_type *type,
                                    const char *member) {
  struct tsdl_name wanted = flags_name(type, member);
  if (type->mapping_count == 0 || type->mapping_count > TSDL_FLAGS_MAX ||
      writer->scope <= KYMO_SCOPE_EVENT_HEADER || !kymo_tsdl_is_identifier(wanted.text) ||
      wanted.text[0] == '_' || is_option(writer, wanted.text))
    return NULL;
  const char *name = kymo_arena_copy(&writer->arena, wanted.text, strlen(wanted.text));
  struct kymo_strbuf plain = {0}, *out = writer->out;
  writer->out = &plain;
  write_flags(writer, type, wanted.text);
  writer->out = out;
  out->failed |= plain.failed || !name;
  if (out->failed) {
    kymo_strbuf_free(&plain);
    return NULL;
  }
  enum tsdl_naming naming = writer->is_plain ? TSDL_NEW : declare(writer, name, &plain);
  if (naming == TSDL_NEW) {
    kymo_tsdl_write_indent(writer);
    write_flags(writer, type, name);
  }
  if (writer->is_plain)
    kymo_strbuf_free(&plain);
  return naming == TSDL_UNNAMED ? NULL : name;
}
