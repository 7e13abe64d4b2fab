/* SPDX-License-Identifier: MIT */
/* Parses the text and the codes of a tracepoint: the macro's arguments as written, and the codes of its
 * fields. */
#ifndef KYMO_RECORD_POINT_H
#define KYMO_RECORD_POINT_H

#include <kymo/layout.h>
#include <stdbool.h>
#include <stddef.h>

enum { KYMO_NAME_MAX = 256, KYMO_FIELDS_MAX = 16, KYMO_FIELD_NAME_MAX = 64 };

/* Part of a text, without a zero at its end. */
struct kymo_slice {
  const char *at;
  size_t length;
};

/* A tracepoint in readable form. `file` and `type` point into the parsed text. */
struct kymo_point_text {
  char name[KYMO_NAME_MAX]; /* "group:name", or a free name; with _begin or _end for spans */
  const char *edge;         /* "begin" or "end" of a span, or NULL */
  const char *file;
  uint32_t line;
  int32_t level;               /* -1: none is said */
  char about[KYMO_ABOUT_MAX_]; /* the meaning of the event, or "" */
  const char *format;          /* of KYMO_PRINTF, or NULL; points into the parsed text … */
  const char *wrong;           /* … and what is wrong with it: the event cannot be recorded */
  bool has_errno;     /* the format prints errno: the last field, which has no code in the descriptor */
  bool is_misordered; /* fields that are put later are not the last ones: the event cannot be recorded */
  uint32_t count;
  char field[KYMO_FIELDS_MAX + 1][KYMO_FIELD_NAME_MAX]; /* one more for errno */
  uint64_t code[KYMO_FIELDS_MAX + 1];
  struct kymo_slice type[KYMO_FIELDS_MAX + 1];             /* of listed types: the name as written */
  const struct kymo_listing *listing[KYMO_FIELDS_MAX + 1]; /* NULL for fields without one */
  bool names_only; /* the listings cannot be read: types have names only (kymo list) */
};

/*
 * Parses the macro's arguments as written (`text`, `size` bytes, the file's name after the zero) and the
 * field codes; listings are not set. The name of a field is given by a wrapper, else it is the expression
 * made an identifier; a name that occurs twice is numbered. False if the macro did not write the text (an
 * untrusted file, for kymo list). Levels and descriptions are removed from the fields.
 */
bool kymo_point_parse(struct kymo_point_text *out, const struct kymo_tracepoint *point, const uint64_t *codes,
                      const char *text, size_t size);

/* Adds the field `name`. */
void kymo_point_add_field(struct kymo_point_text *out, struct kymo_slice name, uint64_t code);

/* Compares the fields with the format: sets the limits of texts in the codes (KYMO_LIMIT_…), turns fields
 * that are printed as pointers into pointers, and adds errno. `wrong` describes a mismatch. */
void kymo_point_fit_format(struct kymo_point_text *out);

/* ---- the same for lists of members and enumerators ---- */

/* Removes the first argument from *rest, up to a comma outside brackets and quotes, without blanks around
 * it. */
struct kymo_slice kymo_next_argument(struct kymo_slice *rest);
/* The field name of an argument: given by a wrapper, else the argument itself. */
struct kymo_slice kymo_argument_name(struct kymo_slice argument);
/* The name as an identifier, at most `size` - 1 long: p->port[3] becomes p_port_3; "field`number`" if nothing
 * is left. */
void kymo_identifier(char *out, size_t size, struct kymo_slice name, uint32_t number);

#endif
