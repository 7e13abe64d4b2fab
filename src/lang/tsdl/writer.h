/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the parts of the TSDL writer share: write.c (blocks), write_types.c (types),
 * write_declare.c (names of types) and write_names.c (identifiers, references, labels).
 *
 * The writer walks a scope and keeps the way from its root to the type it is writing, since
 * a reference is written relative to that way.
 *
 * TSDL chooses an option of a variant by the *labels* of an enumeration, the model by ranges of
 * any integer. So a field that is a tag is written as an enumeration that has a label for each
 * choice of everything that depends on it, and an optional as a variant of `absent` and `present`.
 * The labels must be known where the tag is written, which is before its dependents: hence
 * struct dependents, gathered per scope when first asked for, and found by the way to the tag.
 */
#ifndef KYMO_LANG_TSDL_WRITER_H
#define KYMO_LANG_TSDL_WRITER_H

#include "base/arena.h"
#include "base/strbuf.h"
#include <kymo/schema.h>

#define TSDL_DEPTH_MAX 64

struct choices;

/* A variant, optional or sequence, and its choices, once they were asked for. */
struct dependent {
  const struct kymo_type *type;
  uint32_t index; /* in the order of the fields */
  struct choices *choices;
};

/* Dependents whose tag or length is in one scope, sorted by the way to it; those of one tag in the order of
 * the fields. */
struct dependents {
  bool is_ready;
  uint32_t count;
  struct dependent *list;
};

/* A name of a type that is valid here, and the text of the type. */
struct tsdl_named {
  const char *name;
  struct kymo_strbuf plain;
};
struct tsdl_names {
  uint32_t count, begin;
  struct tsdl_named *list;
}; /* begin: those of the innermost braces */

/* All names of options below a root, in order. */
struct tsdl_options {
  const struct kymo_type *root;
  uint32_t count;
  const char **names;
};

struct tsdl_writer {
  struct kymo_strbuf *out;
  struct kymo_arena arena;
  const struct kymo_schema *schema;
  const struct kymo_stream_class *stream; /* whose blocks are being written, or NULL */
  const struct kymo_event_class *event;   /* likewise */
  const struct kymo_type *roots[KYMO_SCOPE_COUNT];
  struct dependents dependents[KYMO_SCOPE_COUNT];
  enum kymo_scope scope;
  uint32_t depth, indent;
  struct tsdl_names names;
  struct tsdl_options options;
  bool is_plain;   /* for comparison: with all names and bodies */
  bool is_element; /* the integer is that of an array */
  uint32_t reach;  /* the outermost step of the way that a reference depends on */
  uint32_t way[TSDL_DEPTH_MAX + 1];
};

/* One choice of a variant or optional. */
struct choice {
  const char *name;             /* before making a label of it */
  const struct kymo_type *type; /* NULL: nothing is there */
  const struct kymo_range *ranges;
  uint32_t range_count;
  uint32_t index; /* among the choices */
};
struct choices {
  uint32_t count;
  struct choice *list;
};

/* ---- write_names.c ---- */

struct tsdl_name {
  char text[512];
};

/* The name of a member of a struct of the scope being written (or of any scope). */
struct tsdl_name kymo_tsdl_member_name(const struct tsdl_writer *writer, enum kymo_scope scope,
                                       const struct kymo_type *parent, uint32_t index);
/* The name of an empty struct that is written before a member for its alignment; no member has it. */
struct tsdl_name kymo_tsdl_padding_name(const struct kymo_type *parent, uint32_t index);
/* An identifier made of any text; `number` makes it unique if the text is none. */
struct tsdl_name kymo_tsdl_identifier(const char *text, uint32_t number);
/* The same for entries of the environment, which may be keywords. */
struct tsdl_name kymo_tsdl_entry_name(const char *text, uint32_t number);
bool kymo_tsdl_is_identifier(const char *text);
/* What a VARIANT or OPTIONAL can be. */
struct choices kymo_tsdl_choices(struct tsdl_writer *writer, const struct kymo_type *type);
/* The label and option name of a choice of `type`. */
struct tsdl_name kymo_tsdl_label(struct tsdl_writer *writer, const struct kymo_type *type,
                                 const struct choice *choice);
/* True if the tag's own mappings hold this choice already. */
bool kymo_tsdl_choice_is_mapped(const struct kymo_type *type, const struct choice *choice);
/* Those that depend on the field of a scope that the way of `depth` steps leads to. */
struct dependents kymo_tsdl_dependents(struct tsdl_writer *writer, enum kymo_scope scope, const uint32_t *way,
                                       uint32_t depth);
/* True if anything depends on a field inside of the one that the way being written leads to. */
bool kymo_tsdl_is_looked_into(struct tsdl_writer *writer);
/* Writes the reference of the type that the way leads to. */
void kymo_tsdl_write_reference(struct tsdl_writer *writer, const struct kymo_type *type);
/* Writes a quoted text with escapes. */
void kymo_tsdl_write_quoted(struct kymo_strbuf *out, const char *text);

/* ---- write_declare.c ---- */

enum tsdl_naming {
  TSDL_UNNAMED, /* write it out */
  TSDL_NEW,     /* declare the name here */
  TSDL_KNOWN,   /* the name is enough */
};

/* Most mappings that flags are declared with. */
#define TSDL_FLAGS_MAX 1024

/* How to write the type that the way leads to; from a TSDL_NEW on, its name holds. */
enum tsdl_naming kymo_tsdl_name_type(struct tsdl_writer *writer, const struct kymo_type *type);
/* "point" of the struct "struct point", likewise of enumerations; NULL: the name is none with a tag. */
const char *kymo_tsdl_tag(const struct kymo_type *type);
/* A line with the names of the bits of a bit map, unless they are declared already. Returns the name of the
 * declared enumeration, or NULL. */
const char *kymo_tsdl_declare_flags(struct tsdl_writer *writer, const struct kymo_type *type,
                                    const char *member);
/* Called around everything in braces that may declare names. */
uint32_t kymo_tsdl_open_braces(struct tsdl_writer *writer);
void kymo_tsdl_close_braces(struct tsdl_writer *writer, uint32_t outer);

/* ---- write_types.c ---- */

/* The type that the way leads to, which is no array, with or without a tag. */
void kymo_tsdl_write_body(struct tsdl_writer *writer, const struct kymo_type *type, const char *tag);
/* "integer { … }" of integers, booleans, bit maps. */
void kymo_tsdl_write_integer(struct tsdl_writer *writer, const struct kymo_type *type);
/* " LABEL = 1 ... 3," */
void kymo_tsdl_write_mapping(struct tsdl_writer *writer, bool is_signed, const char *label,
                             const struct kymo_range *range);
void kymo_tsdl_write_indent(struct tsdl_writer *writer);
/* "struct { … } align(n)": a whole scope. */
void kymo_tsdl_write_scope(struct tsdl_writer *writer, enum kymo_scope scope);

#endif
