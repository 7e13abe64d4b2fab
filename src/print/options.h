/* SPDX-License-Identifier: MIT */
/*
 * Options of a sink, "key,key=word+word,…" in kymo_sink_options.text, read into a struct of the sink's:
 *
 *   static const struct kymo_option_kind kinds[] = {
 *       {"date", offsetof(struct own, date), NULL},
 *       {"fields", offsetof(struct own, fields), words},
 *       {0},
 *   };
 *
 * A key without words sets a bool; a key with words sets the bits of each word in a uint32_t; a key with
 * kymo_option_any sets a struct kymo_option_text, up to the next comma.
 */
#ifndef KYMO_PRINT_OPTIONS_H
#define KYMO_PRINT_OPTIONS_H

#include <kymo/error.h>
#include <stddef.h>
#include <stdint.h>

struct kymo_option_word {
  const char *name;
  uint32_t bits;
};

extern const struct kymo_option_word kymo_option_any[];

/* A part of kymo_sink_options.text; NULL: it was not given. */
struct kymo_option_text {
  const char *text;
  size_t length;
};

struct kymo_option_kind {
  const char *key; /* NULL at the end */
  size_t offset;
  const struct kymo_option_word *words; /* … ended by a word without a name */
};

/* KYMO_E_USAGE for unknown keys and words, with the name of the sink. `text` may be NULL. */
int kymo_sink_options_read(const char *sink, const char *text, const struct kymo_option_kind *kinds,
                           void *into, struct kymo_error *error);

#endif
