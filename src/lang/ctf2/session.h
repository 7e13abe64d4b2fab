/* SPDX-License-Identifier: MIT */
/*
 * One compilation: the fragments of the text as JSON values.
 *
 * A struct ctf2_value is a JSON value and the way to it from its fragment: values are on the stack of the
 * functions that read them, so the way costs nothing, and an error has path, line and column.
 *
 * jansson has integers of int64_t only. Those above are marked before it parses: the digits become a text of
 * the same length that begins with U+0000, which no text of the metadata may contain.
 */
#ifndef KYMO_LANG_CTF2_SESSION_H
#define KYMO_LANG_CTF2_SESSION_H

#include "lang/text/session.h"
#include <jansson.h>
#include <kymo/schema.h>

#define CTF2_DEPTH_MAX 64

struct ctf2_fragment {
  struct ctf2_session *session;
  size_t at, length; /* in the text */
  json_t *json;
};

struct ctf2_value {
  json_t *json;
  const struct ctf2_fragment *fragment;
  const struct ctf2_value *up; /* NULL: the fragment itself */
  const char *key;             /* in the object `up`, or NULL … */
  size_t index;                /* … and its index in the array `up` */
};

struct ctf2_session {
  struct kymo_lang_session common; /* keep: the schema's */
  char *copy;                      /* of the text, with numbers marked and a NUL after it */
  struct ctf2_fragment *fragments;
  size_t fragment_count;
};

/* ---- session.c ---- */

/* Splits the text into fragments and parses each. False after reporting. The caller releases their JSON
 * values either way. */
bool kymo_ctf2_parse(struct ctf2_session *session);
/* If a value is a marked integer: its value. */
bool kymo_ctf2_is_marked(const json_t *json, uint64_t *value);

/* ---- value.c ---- */

/* Reports an error about a value. Returns false. */
bool kymo_ctf2_fail(const struct ctf2_value *value, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "expected …, found …". */
bool kymo_ctf2_expected(const struct ctf2_value *value, const char *what);

/* The fragment's value. */
struct ctf2_value kymo_ctf2_root(const struct ctf2_fragment *fragment);
/* The property of an object; false: there is none (*out still has its path). */
bool kymo_ctf2_get(const struct ctf2_value *object, const char *key, struct ctf2_value *out);
/* The property of an object that must have it; false after reporting. */
bool kymo_ctf2_need(const struct ctf2_value *object, const char *key, struct ctf2_value *out);
/* The element of an array. */
struct ctf2_value kymo_ctf2_element(const struct ctf2_value *array, size_t index);
/* Reports a property that is not in the list, which ends with NULL. */
bool kymo_ctf2_only(const struct ctf2_value *object, const char *const *known);

/* Values of a kind. False after reporting. */
bool kymo_ctf2_object(const struct ctf2_value *value);
bool kymo_ctf2_array(const struct ctf2_value *value);
bool kymo_ctf2_unsigned(const struct ctf2_value *value, uint64_t *out);
bool kymo_ctf2_signed(const struct ctf2_value *value, int64_t *out);
bool kymo_ctf2_bool(const struct ctf2_value *value, bool *out);
/* A text that lives as long as the schema. */
bool kymo_ctf2_text(const struct ctf2_value *value, const char **out);
/* The index of a text in a list that ends with NULL; the expected words are the list itself. */
bool kymo_ctf2_word(const struct ctf2_value *value, const char *const *words, uint32_t *out);
/* A power of two, up to 2^31. */
bool kymo_ctf2_alignment(const struct ctf2_value *value, uint32_t *out);

/* An array of `count` numbers up to 255. */
bool kymo_ctf2_bytes(const struct ctf2_value *value, uint8_t *out, size_t count);

/* The same for properties that may be absent: *out stays as it is. */
bool kymo_ctf2_get_unsigned(const struct ctf2_value *object, const char *key, uint64_t *out);
bool kymo_ctf2_get_text(const struct ctf2_value *object, const char *key, const char **out);

#endif
