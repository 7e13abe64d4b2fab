/* SPDX-License-Identifier: MIT */
/*
 * The compiler's inside: compile.c (fragments), place.c (scopes, aliases, compounds), scalar.c (field classes
 * without parts), resolve.c (field locations) and attributes.c.
 *
 * Placing walks a field class down from the root of a scope and keeps
 *   way     the steps from the root to the current field class: member, option or element
 *   frames  the structures on that way, with their members placed so far
 * where field locations begin: relative ones in the innermost frame, absolute ones in the first.
 */
#ifndef KYMO_LANG_CTF2_COMPILER_H
#define KYMO_LANG_CTF2_COMPILER_H

#include "lang/ctf2/session.h"
#include "schema/build.h"

/* A structure (or union) on the way. */
struct ctf2_frame {
  const struct ctf2_value *names; /* its "member-classes", or NULL */
  struct kymo_member *members;    /* the first `placed` of them are good */
  uint32_t placed;
  uint32_t depth; /* length of the way to it */
};

/* A field class alias. */
struct ctf2_alias {
  struct ctf2_value root, value;
  const struct kymo_type *placed; /* if it is the same wherever it is used */
};

struct ctf2_compiler {
  struct ctf2_session *session;
  struct kymo_builder *builder;
  struct kymo_schema *schema;
  struct ctf2_alias *aliases;
  uint32_t alias_count;
  json_t *alias_names, *clock_ids; /* to indices */
  bool has_trace_class, has_order;
  const struct kymo_type *roots[KYMO_SCOPE_COUNT]; /* scopes placed so far, those around an event */
  const struct kymo_clock *clock;                  /* of the current data stream class */
  enum kymo_scope scope;                           /* being placed */
  uint32_t depth, frame_count;
  uint32_t way[CTF2_DEPTH_MAX + 1];
  struct ctf2_frame frames[CTF2_DEPTH_MAX + 1];
  uint32_t least_align; /* of the next field class: it is in a wrapper */
  bool is_own;          /* the next field class is one of ours, and may be one that CTF 2 lacks */
  bool is_bound;        /* a part depends on its place: a location, a clock */
  uint64_t fields_left; /* that may still be placed */
};

/* Our own attributes of a field class that are not stored in the type directly. */
struct ctf2_hints {
  bool is_truth, is_wrapper;
  bool has_clock, has_encoding, has_enumeration, has_options, has_order; /* these are said */
  struct ctf2_value options;                                             /* that a location leaves open */
  struct ctf2_value order;                                               /* of the names of mappings */
};

/* ---- place.c ---- */

/* Places the field class of a whole scope, if the fragment has it. False after reporting. */
bool kymo_ctf2_place_scope(struct ctf2_compiler *compiler, const struct ctf2_value *fragment, const char *key,
                           enum kymo_scope scope);

/* Checks those properties of a field class that do not depend on its place. */
bool kymo_ctf2_check_class(const struct ctf2_value *value);
/* Reports a name that is not that of an alias. */
bool kymo_ctf2_no_alias(const struct ctf2_value *name);

/* ---- scalar.c ---- */

/* Fill in the properties of field classes without parts. */
bool kymo_ctf2_fixed_scalar(struct ctf2_compiler *compiler, const struct ctf2_value *value,
                            struct kymo_type *type);
bool kymo_ctf2_integer(struct ctf2_compiler *compiler, const struct ctf2_value *value,
                       const struct ctf2_hints *hints, struct kymo_type *type);
/* "preferred-display-base". */
bool kymo_ctf2_base(const struct ctf2_value *value, struct kymo_type *type);
/* "mappings" or "flags". */
bool kymo_ctf2_mappings(struct ctf2_compiler *compiler, const struct ctf2_value *value,
                        const struct ctf2_hints *hints, struct kymo_type *type);
bool kymo_ctf2_roles(struct ctf2_compiler *compiler, const struct ctf2_value *value,
                     const struct ctf2_hints *hints, struct kymo_type *type);
bool kymo_ctf2_encoding(const struct ctf2_value *value, const struct ctf2_hints *hints,
                        struct kymo_type *type);
/* Ranges of values of a signed or unsigned integer; *ranges lives as long as the schema. */
bool kymo_ctf2_ranges(struct ctf2_compiler *compiler, const struct ctf2_value *value, bool is_signed,
                      const struct kymo_range **ranges, uint32_t *count);

/* ---- compile.c ---- */

/* The clock class of this id. False after reporting. */
bool kymo_ctf2_find_clock(struct ctf2_compiler *compiler, const struct ctf2_value *id,
                          const struct kymo_clock **clock);

/* ---- resolve.c ---- */

/* The field that a location means at the current place: fills selector and selector_type. */
bool kymo_ctf2_resolve(struct ctf2_compiler *compiler, const struct ctf2_value *location,
                       const struct ctf2_hints *hints, struct kymo_type *type);

/* ---- attributes.c ---- */

/* Checks "attributes" and "extensions" of anything. *own is good if has_own. */
bool kymo_ctf2_attributes_of(const struct ctf2_value *value, struct ctf2_value *attributes,
                             struct ctf2_value *own, bool *has_own);
/* The users' attributes as compact JSON text without our own; *out stays NULL if there are none. */
bool kymo_ctf2_users_attributes(const struct ctf2_value *attributes, const char **out);
/* The same with the identity of the class that has them. */
bool kymo_ctf2_class_attributes(const struct ctf2_value *value, const char **out);
/* Reads our own attributes of a field class. */
bool kymo_ctf2_own_attributes(struct ctf2_compiler *compiler, const struct ctf2_value *own,
                              struct kymo_type *type, struct ctf2_hints *hints);
/* Reads the attributes of an event record class: ours, and level and URI of babeltrace and LTTng. */
bool kymo_ctf2_event_attributes(const struct ctf2_value *value, struct kymo_event_class *event);
/* The users' attributes and identity of a clock class; with a UUID, the model has a place for the uid. */
bool kymo_ctf2_clock_attributes(const struct ctf2_value *value, bool has_uuid, const char **out);
/* Reads our own attributes of the trace class. */
bool kymo_ctf2_trace_attributes(struct ctf2_compiler *compiler, const struct ctf2_value *value);

#endif
