/* SPDX-License-Identifier: MIT */
/*
 * One glob (regex.h) or plain name, which a whole text must match: the result is the same in all locales and
 * C libraries, and the limits are those of our patterns.
 */
#ifndef KYMO_BASE_GLOB_H
#define KYMO_BASE_GLOB_H

#include "base/regex.h"

struct kymo_glob {
  char *name; /* a text without wildcards */
  struct kymo_regex *regex;
  struct kymo_regex_memory *memory;
};

/* Whether a text has wildcards. */
bool kymo_glob_is(const char *text, size_t length);
/* Returns NULL, or what is wrong with the glob ("out of memory" too); *at is the byte that is wrong. The
 * caller frees the glob in any case. */
const char *kymo_glob_make(struct kymo_glob *glob, const char *text, size_t length, size_t *at);
bool kymo_glob_matches(const struct kymo_glob *glob, const char *text);
void kymo_glob_free(struct kymo_glob *glob);

#endif
