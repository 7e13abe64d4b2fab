/* SPDX-License-Identifier: MIT */
/* Requests of kymo types to the debug information. Implemented by choose.c, or refused by no_dwarf.c where
 * there is no libdw. */
#ifndef KYMO_INFER_TYPES_H
#define KYMO_INFER_TYPES_H

#include "base/strbuf.h"
#include <kymo/error.h>

/* What a type is traced as. */
enum kymo_types_kind {
  KYMO_TYPES_ANY, /* an enumeration is treated as flags if its values look like flags */
  KYMO_TYPES_ENUM,
  KYMO_TYPES_FLAGS,
  KYMO_TYPES_VARIANT, /* a union with unknown tags: it cannot be listed */
};

/* A type asked for. */
struct kymo_types_name {
  char *text; /* "struct point", "point_t", "enum *"; the caller owns it */
  enum kymo_types_kind kind;
  bool is_traced;          /* by a call site: a number's typedef needs no listing */
  bool is_found, is_other; /* found; found as a kind without listing */
};

struct kymo_types_wanted {
  const char *path;
  struct kymo_types_name *names;
  size_t count;
  const char *unit; /* types of the source files that this names, or of all: NULL */
};

/* Called for each type that is requested and not listed, with the reason. */
typedef void kymo_types_lacks(void *user, const char *name, const char *why);

struct kymo_types_made {
  kymo_types_lacks *lacks; /* both set by the caller */
  void *user;
  struct kymo_strbuf listings; /* the caller frees it */
  size_t listed;               /* types written */
  size_t lacking;              /* types that were requested and not listed */
  size_t unknown;              /* names from the user that nothing matches: nothing is written then */
  char build_id[65];           /* hexadecimal, or empty */
};

/* Writes the listings of the requested types, which are marked as found. Negative if the file cannot be
 * read. */
int kymo_types_make(struct kymo_types_made *made, const struct kymo_types_wanted *wanted,
                    struct kymo_error *error);

/* Adds a text of a file to a comment of a C program: characters that could end it, or are not ASCII, become
 * "?". */
void kymo_types_comment(struct kymo_strbuf *out, const char *text);

#endif
