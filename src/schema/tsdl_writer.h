/* SPDX-License-Identifier: MIT */
/*
 * What the three parts of the TSDL writer share: tsdl_write.c (blocks), tsdl_types.c (types)
 * and tsdl_names.c (identifiers, references, labels).
 *
 * The writer walks a scope and keeps the way from its root to the type it is writing, since
 * a reference is written relative to that way.
 *
 * TSDL chooses an option of a variant by the *labels* of an enumeration, the model by ranges of
 * any integer. So a field that is a tag is written as an enumeration that has a label for each
 * choice of everything that depends on it, and an optional as a variant of `none` and `some`.
 * The labels must be known where the tag is written, which is before its dependents: hence
 * struct dependents, gathered per scope when first asked for.
 */
#ifndef KYMO_SCHEMA_TSDL_WRITER_H
#define KYMO_SCHEMA_TSDL_WRITER_H

#include "base/arena.h"
#include "base/strbuf.h"
#include <kymo/schema.h>

#define TSDL_DEPTH_MAX 64

/* The variants and optionals whose tag stands in one scope. */
struct dependents {
  bool is_ready;
  uint32_t count;
  const struct kymo_type **types;
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
  uint32_t way[TSDL_DEPTH_MAX + 1];
};

/* One thing that a variant or optional can be. */
struct choice {
  const char *name;             /* before making a label of it */
  const struct kymo_type *type; /* NULL: nothing is there */
  const struct kymo_range *ranges;
  uint32_t range_count;
  uint32_t index;               /* among the choices */
};
struct choices { uint32_t count; struct choice *list; };

/* ---- tsdl_names.c ---- */

struct tsdl_name { char text[512]; };

/* The name of a member of a struct of the scope being written (or of any: scope tells). */
struct tsdl_name kymo_tsdl_member_name(const struct tsdl_writer *writer, enum kymo_scope scope,
                                       const struct kymo_type *parent, uint32_t index);
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
/* Those that depend on fields of a scope. */
const struct dependents *kymo_tsdl_dependents(struct tsdl_writer *writer, enum kymo_scope scope);
/* Writes the reference of the type that the way leads to. */
void kymo_tsdl_write_reference(struct tsdl_writer *writer, const struct kymo_type *type);
/* Writes a quoted text with escapes. */
void kymo_tsdl_write_quoted(struct kymo_strbuf *out, const char *text);

/* ---- tsdl_types.c ---- */

/* "struct { … } align(n)": a whole scope. */
void kymo_tsdl_write_scope(struct tsdl_writer *writer, enum kymo_scope scope);

#endif
