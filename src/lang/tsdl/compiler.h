/* SPDX-License-Identifier: MIT */
/*
 * The compiler's inside: compile.c (blocks), place.c (types), resolve.c (references).
 *
 * Placing walks a described type down from the root of a scope and keeps
 *   way     the steps from the root to the current type: member, option or element
 *   frames  the structs and variants on that way, with their members placed so far
 * so a reference is found by the word of its first name: FIELD declarations of a word know
 * their frame, hide outer ones, and go when their struct is left.
 */
#ifndef KYMO_LANG_TSDL_COMPILER_H
#define KYMO_LANG_TSDL_COMPILER_H

#include "lang/tsdl/tree.h"
#include "schema/build.h"

struct tsdl_frame {
  const struct tsdl_type *type; /* STRUCT or VARIANT */
  struct kymo_member *members;  /* the first way[depth] of them are placed */
  uint32_t depth;               /* length of the way to this type */
};

struct tsdl_compiler {
  struct tsdl_session *session;
  struct kymo_builder *builder;
  struct kymo_schema *schema;
  const struct kymo_type *roots[KYMO_SCOPE_COUNT]; /* scopes placed so far, those around an event */
  enum kymo_scope scope;                           /* being placed */
  uint32_t depth, frame_count;
  uint32_t way[TSDL_DEPTH_MAX + 1];
  struct tsdl_frame frames[TSDL_DEPTH_MAX + 1];
  uint64_t fields_left;           /* that may still be placed */
  const struct kymo_clock *clock; /* of the current stream class, once known */
};

/* Places the type of a whole scope. NULL after reporting. */
const struct kymo_type *kymo_tsdl_place_scope(struct tsdl_compiler *compiler, enum kymo_scope scope,
                                              struct tsdl_type *type);
/* The field that a path means at the current place. NULL after reporting. */
const struct kymo_type *kymo_tsdl_resolve(struct tsdl_compiler *compiler, const struct tsdl_path *path,
                                          struct kymo_reference *reference);
/* The name of a member as users see it: one leading underscore is taken off. */
static inline const char *kymo_tsdl_shown_name(const struct tsdl_word *word) {
  return word->text + (word->text[0] == '_');
}

#endif
