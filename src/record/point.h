/* SPDX-License-Identifier: MIT */
/* What a tracepoint says of itself: the macro's arguments as written, and the codes of its fields. */
#ifndef KYMO_RECORD_POINT_H
#define KYMO_RECORD_POINT_H

#include <kymo/layout.h>
#include <stdbool.h>
#include <stddef.h>

enum { KYMO_NAME_MAX = 256, KYMO_FIELDS_MAX = 16, KYMO_FIELD_NAME_MAX = 64 };

/* Part of a text; no zero behind it. */
struct kymo_slice {
  const char *at;
  size_t length;
};

/* A tracepoint in readable form. `file` and `type` point into the text that was parsed. */
struct kymo_point_text {
  char name[KYMO_NAME_MAX]; /* "group:name", or a free name; for spans with _begin or _end behind it */
  const char *edge;         /* "begin" or "end" of a span, or NULL */
  const char *file;
  uint32_t line;
  int32_t level;               /* -1: none is said */
  char about[KYMO_ABOUT_MAX_]; /* what the event means, or "" */
  const char *format;          /* of KYMO_PRINTF, or NULL; points into the text that was parsed … */
  const char *wrong;           /* … and what is wrong with it: the event cannot be recorded */
  bool has_errno;     /* the format prints errno: the last field, which has no code in the descriptor */
  bool is_misordered; /* fields that are put later do not come last: the event cannot be recorded */
  uint32_t count;
  char field[KYMO_FIELDS_MAX + 1][KYMO_FIELD_NAME_MAX]; /* one more for errno */
  uint64_t code[KYMO_FIELDS_MAX + 1];
  struct kymo_slice type[KYMO_FIELDS_MAX + 1];             /* of listed types: the name as written */
  const struct kymo_listing *listing[KYMO_FIELDS_MAX + 1]; /* NULL for fields without one */
  bool names_only; /* the listings are out of reach, and types have to do with their names (kymo list) */
};

/*
 * Reads the macro's arguments as written (`text`, `size` bytes with the file's name behind the zero) and the
 * field codes; listings are not set. Names of fields: what a wrapper says, else the expression made an
 * identifier; a name that occurs twice is numbered. False if the text is not what the macro writes (an
 * untrusted file, for kymo list). Levels and descriptions are taken out from among the fields.
 */
bool kymo_point_parse(struct kymo_point_text *out, const struct kymo_tracepoint *point, const uint64_t *codes,
                      const char *text, size_t size);

/* Adds the field `name`. */
void kymo_point_add_field(struct kymo_point_text *out, struct kymo_slice name, uint64_t code);

/* Holds the fields against the format: sets what codes tell of texts (KYMO_LIMIT_…), makes pointers of what
 * is printed as such, and adds errno. What does not fit is told in `wrong`. */
void kymo_point_fit_format(struct kymo_point_text *out);

/* ---- the same for lists of members and enumerators ---- */

/* Takes the first argument off *rest, up to a comma outside brackets and quotes, without blanks around it. */
struct kymo_slice kymo_next_argument(struct kymo_slice *rest);
/* What the argument calls its field: what a wrapper says, else the argument itself. */
struct kymo_slice kymo_argument_name(struct kymo_slice argument);
/* The name made an identifier, at most `size` - 1 long: p->port[3] becomes p_port_3; "field`number`" if
 * nothing is left. */
void kymo_identifier(char *out, size_t size, struct kymo_slice name, uint32_t number);

#endif
