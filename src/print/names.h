/* SPDX-License-Identifier: MIT */
/*
 * Prepared names: for every struct type of a trace the texts before its members' values (", port = " or
 * ",\"port\":"), rendered once in the sink's own spelling.
 *
 *   labels = kymo_names_labels(names, part->index, type)       of a struct type
 *   label  = &labels[value.member - type->members]
 *
 * Also the members that are not shown, since they serve only the decoder (sizes, time stamps, counters of
 * packets).
 */
#ifndef KYMO_PRINT_NAMES_H
#define KYMO_PRINT_NAMES_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "print/out.h"
#include <kymo/read.h>

struct kymo_label {
  const char *text; /* KYMO_PIECE_SLACK bytes after it are readable */
  uint32_t length;
  bool is_hidden;     /* a field for the decoder: nothing is printed */
  bool is_referenced; /* a length or tag needs it: not hidden, whatever its role */
};

/* Writes the text before a member called `name`. It begins with one or more separator characters; a struct's
 * first member omits the first of them. */
typedef void kymo_label_writer(struct kymo_strbuf *out, const char *name);

struct kymo_names_part {
  struct kymo_label **labels; /* by type id; NULL for types without members */
  bool *is_hidden;            /* by type id: nothing in it is shown */
};

struct kymo_names {
  bool are_unique; /* set before the names are created: no two members of a struct have one name */
  struct kymo_arena arena;
  struct kymo_names_part *parts; /* by part index */
};

/* Creates the names of all parts of a trace. kymo_names_end ends it also after a failure. */
int kymo_names_begin(struct kymo_names *names, const struct kymo_trace *trace, kymo_label_writer *writer,
                     struct kymo_error *error);
/* Determines which members are hidden; without it, none is. */
void kymo_names_hide(struct kymo_names *names, const struct kymo_trace *trace);
void kymo_names_end(struct kymo_names *names);

/* Adds the name of a member, unique in its struct: of several members called `a`, the second one is `a#2`. */
void kymo_names_add_unique(struct kymo_strbuf *out, const struct kymo_type *type, uint32_t index);

/* A copy of `buf` in the arena with the slack that pieces need; empties `buf`. NULL: no memory. */
const char *kymo_names_keep(struct kymo_arena *arena, struct kymo_strbuf *buf, uint32_t *length);

static inline const struct kymo_label *kymo_names_labels(const struct kymo_names *names, uint32_t part,
                                                         const struct kymo_type *type) {
  return names->parts[part].labels[type->id];
}

#endif
