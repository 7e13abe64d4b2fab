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
  char name[KYMO_NAME_MAX]; /* "group:name", or a free name */
  const char *file;
  uint32_t line;
  uint32_t count;
  char field[KYMO_FIELDS_MAX][KYMO_FIELD_NAME_MAX];
  uint64_t code[KYMO_FIELDS_MAX];
  struct kymo_slice type[KYMO_FIELDS_MAX];              /* of listed types: the name as written */
  const struct kymo_listing *listing[KYMO_FIELDS_MAX];  /* NULL for fields without one */
  bool names_only; /* the listings are out of reach, and types have to do with their names (kymo list) */
};

/*
 * Reads the macro's arguments as written (`text`, `size` bytes with the file's name behind the zero) and the
 * field codes; listings are not set. Names of fields: what a wrapper says, else the expression made an
 * identifier; a name that occurs twice is numbered. False if the text is not what the macro writes (a hostile
 * file, for kymo list).
 */
bool kymo_point_parse(struct kymo_point_text *out, const struct kymo_tracepoint *point, const uint64_t *codes,
                      const char *text, size_t size);

/* ---- the same for lists of members and enumerators ---- */

/* Takes the first argument off *rest, up to a comma outside brackets and quotes, without blanks around it. */
struct kymo_slice kymo_next_argument(struct kymo_slice *rest);
/* What the argument calls its field: what a wrapper says, else the argument itself. */
struct kymo_slice kymo_argument_name(struct kymo_slice argument);
/* The name made an identifier, at most `size` - 1 long: p->port[3] becomes p_port_3; "field`number`" if nothing is left. */
void kymo_identifier(char *out, size_t size, struct kymo_slice name, uint32_t number);

#endif
