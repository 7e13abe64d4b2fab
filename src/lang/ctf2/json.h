/* SPDX-License-Identifier: MIT */
/*
 * JSON text with indentation, as the CTF 2 writer needs it:
 *
 *   kymo_ctf2_open(json, NULL, '{');
 *   kymo_ctf2_put_text(json, "type", "preamble");
 *   kymo_ctf2_put_uint(json, "version", 2);
 *   kymo_ctf2_close(json, '}');
 *
 * Every value has a key in an object and NULL as key in an array. Texts come out as UTF-8, with U+FFFD
 * for bytes that are none.
 */
#ifndef KYMO_LANG_CTF2_JSON_H
#define KYMO_LANG_CTF2_JSON_H

#include "base/strbuf.h"
#include <kymo/schema.h>

struct ctf2_json {
  struct kymo_strbuf *out;
  uint32_t indent;
  uint32_t flat; /* levels that are written on one line with the enclosing level */
  bool has_item; /* the innermost object or array is not empty */
};

/* '{' or '['. */
void kymo_ctf2_open(struct ctf2_json *json, const char *key, char bracket);
/* The same, written on one line with all its contents. */
void kymo_ctf2_open_flat(struct ctf2_json *json, const char *key, char bracket);
/* '}' or ']'. */
void kymo_ctf2_close(struct ctf2_json *json, char bracket);
void kymo_ctf2_put_text(struct ctf2_json *json, const char *key, const char *text);
void kymo_ctf2_put_uint(struct ctf2_json *json, const char *key, uint64_t value);
void kymo_ctf2_put_int(struct ctf2_json *json, const char *key, int64_t value);
void kymo_ctf2_put_bool(struct ctf2_json *json, const char *key, bool value);
/* Numbers on one line: [1, 2, 3]. */
void kymo_ctf2_put_bytes(struct ctf2_json *json, const char *key, const uint8_t *bytes, size_t count);
/* Ranges on one line: [[1, 2], [5, 5]]. */
void kymo_ctf2_put_ranges(struct ctf2_json *json, const char *key, const struct kymo_range *ranges,
                          size_t count, bool is_signed);
/* The members of an object given as JSON text that has some, among those of the innermost object. */
void kymo_ctf2_put_members(struct ctf2_json *json, const char *object);
/* True if the text is one JSON object that has members, nested no deeper than 64. */
bool kymo_ctf2_has_members(const char *text);

#endif
