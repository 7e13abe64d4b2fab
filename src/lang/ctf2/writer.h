/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the parts of the CTF 2 writer share: write.c (fragments), write_types.c (field classes)
 * and write_names.c (identifiers, field locations, attributes).
 *
 * As in the TSDL writer, `way` holds the steps from the root of the scope to the type being written.
 */
#ifndef KYMO_LANG_CTF2_WRITER_H
#define KYMO_LANG_CTF2_WRITER_H

#include "lang/ctf2/json.h"

#define CTF2_DEPTH_MAX 64

/* The one member of a wrapper (see write.h). */
#define CTF2_WRAPPER_MEMBER "value"

struct ctf2_writer {
  struct ctf2_json json;
  const struct kymo_schema *schema;
  const struct kymo_stream_class *stream; /* whose scopes are being written, or NULL */
  const struct kymo_type *roots[KYMO_SCOPE_COUNT];
  bool clocks_have_names; /* all have one, all different */
  enum kymo_scope scope;
  uint32_t depth, struct_depth; /* of the way; of the way to the innermost structure */
  uint32_t way[CTF2_DEPTH_MAX + 1];
};

/* ---- write_names.c ---- */

struct ctf2_name {
  char text[512];
};

/* The id of a clock class. */
struct ctf2_name kymo_ctf2_clock_id(const struct ctf2_writer *writer, const struct kymo_clock *clock);
/* Writes where the field is that the current type depends on. */
void kymo_ctf2_put_location(struct ctf2_writer *writer, const char *key, const struct kymo_type *type);
/* True if the location of what the type depends on leaves open which option of a variant is meant. */
bool kymo_ctf2_location_is_vague(const struct ctf2_writer *writer, const struct kymo_type *type);
/* Writes the options that a location leaves open as an array of their indices. */
void kymo_ctf2_put_options(struct ctf2_writer *writer, const char *key, const struct kymo_type *type);

#define CTF2_OWN_SPACE "kymo"

/* Attributes: our namespaces, opened when needed, then those of users. */
struct ctf2_attributes {
  const char *users, *space;
};

struct ctf2_attributes kymo_ctf2_attributes(const char *users);
/* Must be called before each attribute in a namespace of ours. */
void kymo_ctf2_own(struct ctf2_writer *writer, struct ctf2_attributes *attributes, const char *space);
/* An attribute in CTF2_OWN_SPACE that is a text; none for NULL. */
void kymo_ctf2_own_text(struct ctf2_writer *writer, struct ctf2_attributes *attributes, const char *key,
                        const char *text);
/* An attribute in CTF2_OWN_SPACE that is true. */
void kymo_ctf2_own_flag(struct ctf2_writer *writer, struct ctf2_attributes *attributes, const char *key);
/* Ends the attributes: adds those of users. */
void kymo_ctf2_attributes_end(struct ctf2_writer *writer, struct ctf2_attributes *attributes);

/* ---- write_types.c ---- */

/* True if the type is written as the member of a wrapper. */
bool kymo_ctf2_is_wrapped(const struct kymo_type *type);
/* Writes the field class of a whole scope. */
void kymo_ctf2_put_scope(struct ctf2_writer *writer, const char *key, enum kymo_scope scope);

#endif
