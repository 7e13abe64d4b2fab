/* SPDX-License-Identifier: MIT */
/*
 * A streaming JSON writer on top of print/out.h: it writes commas, escapes and numbers; the caller gives the
 * values.
 *
 *   kymo_json_begin(json, '{');
 *   kymo_json_key(json, "port");
 *   kymo_json_uint(json, 80);
 *   kymo_json_end(json, '}');                                   {"port":80}
 *
 * Integers are exact to 64 bits. Floats have the fewest digits that read back as the same value; values that
 * JSON cannot express become the strings "NaN", "Infinity", "-Infinity". Texts are written as UTF-8; bytes
 * that are invalid in their encoding become U+FFFD. It allocates nothing.
 */
#ifndef KYMO_PRINT_JSON_WRITER_H
#define KYMO_PRINT_JSON_WRITER_H

#include "base/strbuf.h"
#include "print/out.h"
#include <kymo/schema.h>

/* Deepest nesting: that of types and some objects around them. */
#define KYMO_JSON_DEPTH 80

struct kymo_json {
  struct kymo_out *out;
  uint32_t depth;
  bool after_key;                 /* a value comes: no comma */
  bool more[KYMO_JSON_DEPTH + 1]; /* per level: it has an element already */
};

void kymo_json_start(struct kymo_json *json, struct kymo_out *out);
/* '{' or '['; beyond KYMO_JSON_DEPTH levels the commas are wrong. */
void kymo_json_begin(struct kymo_json *json, char bracket);
/* '}' or ']'. */
void kymo_json_end(struct kymo_json *json, char bracket);
void kymo_json_key(struct kymo_json *json, const char *key);
/* A key that is a literal and needs no escapes. */
#define kymo_json_fixed_key(json, key) kymo_json_plain_key(json, "\"" key "\":", sizeof(key) + 2)
void kymo_json_plain_key(struct kymo_json *json, const char *text, size_t length);
/* A member with such a key; `kind`: int, uint, bool, text, or begin with its bracket. */
#define kymo_json_member(json, key, kind, value) \
  (kymo_json_fixed_key(json, key), kymo_json_##kind(json, value))
/* A prepared key (print/names.h): ,"name": */
void kymo_json_label(struct kymo_json *json, const char *text, size_t length);
void kymo_json_uint(struct kymo_json *json, uint64_t value);
void kymo_json_int(struct kymo_json *json, int64_t value);
/* `single`: the value was a 32-bit (or smaller) float. */
void kymo_json_float(struct kymo_json *json, double value, bool single);
void kymo_json_bool(struct kymo_json *json, bool value);
void kymo_json_null(struct kymo_json *json);
void kymo_json_string(struct kymo_json *json, const uint8_t *bytes, uint64_t size,
                      enum kymo_encoding encoding);
/* NULL: null. */
void kymo_json_text(struct kymo_json *json, const char *text);
/* Bytes as a string of hexadecimal digits. */
void kymo_json_hex(struct kymo_json *json, const uint8_t *bytes, uint64_t size);
/* A whole value that was rendered before (a piece, see print/out.h). */
void kymo_json_raw(struct kymo_json *json, const char *text, size_t length);
/* The comma before a value that the caller renders into json->out. */
void kymo_json_open_value(struct kymo_json *json);
/* The end of a line of JSON text. */
void kymo_json_newline(struct kymo_json *json);

/* The text between the quotes of a string. */
void kymo_json_put_characters(struct kymo_out *out, const uint8_t *from, uint64_t size,
                              enum kymo_encoding encoding);
/* Writes one character of a string: at most 6 bytes. KYMO_BAD_CHARACTER becomes U+FFFD. */
char *kymo_json_put_character(char *at, uint32_t character);

/* The same into memory: a whole string of UTF-8 … */
void kymo_json_add_text(struct kymo_strbuf *buf, const char *text);
/* … and a value with labels: {"value":1,"label":"A"}, with "labels" if there are several; flags have
 * "labels", and "rest" if bits have no name. */
void kymo_json_add_labelled(struct kymo_strbuf *buf, const struct kymo_type *type, uint64_t value);

#endif
