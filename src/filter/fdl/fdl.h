/* SPDX-License-Identifier: MIT */
/*
 * FDL: text → tree (by the parser of expressions that TDL has, lang/tdl) → checks against schemas → nodes of
 * a filter.
 *
 *   compile.c   a filter's head, definitions, select
 *   generate.c  expressions: one pass that checks and adds nodes
 *   relate.c    comparisons, sets, patterns, flags: which operands match
 *   names.c     what a name means in the schemas
 */
#ifndef KYMO_FILTER_FDL_FDL_H
#define KYMO_FILTER_FDL_FDL_H

#include "base/regex.h"
#include "filter/names.h"
#include "filter/program.h"
#include "lang/tdl/parser.h"

/* The possible sorts of a value; several bits where event classes differ. */
enum fdl_kind {
  FDL_NUMBER = 1, /* whole number */
  FDL_FRACTION = 2,
  FDL_TEXT = 4,
  FDL_BLOB = 8,      /* bytes, which may be an address */
  FDL_LABELLED = 16, /* whole number, with interpretations */
  FDL_FLAGS = 32,
  FDL_SPAN = 64,
  FDL_MOMENT = 128,
  FDL_COMPOUND = 256, /* a struct: only its presence can be tested */
};
#define FDL_WHOLE (FDL_NUMBER | FDL_LABELLED | FDL_FLAGS)
#define FDL_ANY_NUMBER (FDL_WHOLE | FDL_FRACTION)

/* A list in whose elements a condition is (ANY list WITH): `path` of the list in the elements of `outer`, or
 * in the event; node: its EACH. */
struct fdl_each {
  struct fdl_each *outer;
  const struct tdl_path *names; /* as written: with those of outer lists */
  const char *path;
  uint32_t node;
};

/* A name in the schemas, with its types in the event classes. */
struct fdl_field {
  struct fdl_field *next;
  const char *path;
  const struct fdl_each *each; /* it is in the elements of this list, or NULL; */
  const char *inner;           /* the path there; "": the element itself */
  unsigned kinds;
  const struct kymo_type **types;
  uint32_t type_count, capacity;
  bool is_many;  /* a sequence, or within one */
  bool has_unit; /* of time */
  bool has_text; /* a text or bytes of the event, not a name */
  bool is_event; /* class names replace it in some event class */
  bool is_group;
  bool is_open;       /* labels that only the trace knows */
  bool is_late;       /* unknown now; the trace may have it */
  bool has_addresses; /* addresses whose names are in files of programs */
};

struct fdl_definition {
  struct fdl_definition *next;
  struct tdl_name name;
  struct tdl_expr *expr; /* or an activity: */
  struct tdl_expr *from, *to;
  struct tdl_path *same;
  uint32_t same_count;
  bool has_limit;
  struct tdl_value limit;
  /* when it is made */
  bool is_made;
  uint32_t uses, node;
  struct fdl_value *value;
};

struct fdl_compiler {
  struct tdl_session session;
  struct kymo_filter_builder builder;
  const struct kymo_schema *const *schemas;
  size_t schema_count;
  struct fdl_definition *definitions;
  struct fdl_field *fields; /* names looked up so far */
  struct fdl_each *each;    /* of the innermost WITH, or NULL */
};

/* An expression, compiled. */
struct fdl_value {
  uint32_t node;
  uint32_t at; /* in the text */
  unsigned kinds;
  const struct fdl_field *field;  /* if it is a plain path */
  const struct tdl_expr *literal; /* a constant, as written */
  bool is_many;
};

/* All return false (NULL) after reporting. */

bool kymo_fdl_generate(struct fdl_compiler *compiler, const struct tdl_expr *expr, struct fdl_value *value);
/* An expression where a condition is expected. */
bool kymo_fdl_generate_test(struct fdl_compiler *compiler, const struct tdl_expr *expr, uint32_t *node);
bool kymo_fdl_generate_relation(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                                struct fdl_value *value);
/* Members of RECORD IN and SEGMENT IN. */
bool kymo_fdl_generate_numbers(struct fdl_compiler *compiler, const struct tdl_set *set, uint32_t *first,
                               uint32_t *count);
/* Adds a node; checks for memory and limits. */
bool kymo_fdl_add(struct fdl_compiler *compiler, const struct kymo_filter_node *node,
                  struct fdl_value *value);
/* Adds a SPAN for a DURATION or TICKS. */
bool kymo_fdl_add_span(struct fdl_compiler *compiler, const struct tdl_value *value, uint32_t *node);
bool kymo_fdl_is_ok(struct fdl_compiler *compiler);
/* "a text", "a number" … */
const char *kymo_fdl_kind_name(unsigned kinds);
/* A node for the moment that a text says. */
bool kymo_fdl_add_moment(struct fdl_compiler *compiler, const struct tdl_expr *literal,
                         struct fdl_value *value);
/* TIME IN: the two moments. */
bool kymo_fdl_generate_time(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                            struct fdl_value *value);

/* What a path means; NULL after E31 if it is unknown. Within WITH, paths that begin with that of the list
 * mean the element. */
const struct fdl_field *kymo_fdl_find(struct fdl_compiler *compiler, const struct tdl_path *path);
/* The list of ANY, ALL or COUNT OF … WITH; its node is not made yet. NULL after E31 or E41. */
struct fdl_each *kymo_fdl_find_list(struct fdl_compiler *compiler, const struct tdl_path *path);
/* Whether files have the field as a number of 32 bits with the lowest byte first, by their description. */
bool kymo_fdl_is_little(const struct fdl_compiler *compiler, const struct fdl_field *field);
/* Adds the path's text to the filter. */
uint32_t kymo_fdl_add_path(struct fdl_compiler *compiler, const struct fdl_field *field);
/* A path of PER or SAME: one value. */
bool kymo_fdl_find_key(struct fdl_compiler *compiler, const struct tdl_path *path, uint32_t *text);
/* Whether some class of the field knows the label; false after E32 with a suggestion. Names that are known
 * late are reported by W24. */
bool kymo_fdl_check_label(struct fdl_compiler *compiler, const struct fdl_field *field,
                          struct tdl_bytes label, uint32_t at);
/* Whether some event class has a name that the pattern matches; true if that is not known. */
bool kymo_fdl_some_event(struct fdl_compiler *compiler, const struct kymo_regex *regex);
/* Whether there is a kind of this name. */
bool kymo_fdl_check_kind(struct fdl_compiler *compiler, const struct tdl_name *name);

#endif
