/* SPDX-License-Identifier: MIT */
/* Skeletons of descriptions in TDL (kymo infer): facts from other sources, as a text that compiles. */
#ifndef KYMO_INFER_SKELETON_H
#define KYMO_INFER_SKELETON_H

#include "base/strbuf.h"
#include <kymo/schema.h>

/* The parts of a text under construction: TOKEN and FLAGS declarations, GROUPs, and the rest after them. */
struct tool_skeleton {
  struct kymo_strbuf lists, groups, body;
  char (*names)[80]; /* names of lists and groups so far, so that each is unique */
  size_t name_count, name_capacity;
  bool failed;      /* memory ran out for a name */
  unsigned unknown; /* places where only a comment could be written */
};

void tool_skeleton_free(struct tool_skeleton *skeleton);
/* A name in the form of TDL: "speed", "`END`"; `text` may be NULL or anything. Valid until the fourth call
 * after it. */
const char *tool_skeleton_name(const char *text);
/* The same, for a list or group: with a number if it was used before. */
const char *tool_skeleton_new_name(struct tool_skeleton *skeleton, const char *text);
/* Adds "text", escaped. */
void tool_skeleton_quote(struct kymo_strbuf *out, const char *text);
/* Adds a text to a comment; line ends are replaced. */
void tool_skeleton_comment(struct kymo_strbuf *out, const char *text);

/* A value or range of an enumeration; of flags: a mask in `low`. */
/* Of flags: the mask, and the value under it. */
struct tool_skeleton_value {
  const char *name;
  uint64_t low, high;
};
/* Adds a TOKEN or FLAGS declaration called `name`. Values that an earlier one already has are left out. */
void tool_skeleton_list(struct tool_skeleton *skeleton, const char *name,
                        const struct tool_skeleton_value *values, size_t count, bool is_flags,
                        bool is_signed);

/*
 * A skeleton of files that hold structs of this name one after another, as fwrite() of an array does, from
 * the debug information of an ELF file. `name` as in "struct point", "point" or a typedef's. Negative with
 * `error` if there is none. out->failed if memory ran out.
 */
int tool_infer_struct(struct kymo_strbuf *out, const char *path, const char *name, struct kymo_error *error);
/* A skeleton of the stream files of the first stream class of a trace in packets; `path` is named in errors.
 * The same. */
int tool_infer_trace(struct kymo_strbuf *out, const struct kymo_schema *schema, const char *path,
                     struct kymo_error *error);

#endif
