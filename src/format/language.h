/* SPDX-License-Identifier: MIT */
/* Files that describe events and hold none: registries, and texts in any language that compiles to a
 * schema. */
#ifndef KYMO_FORMAT_LANGUAGE_H
#define KYMO_FORMAT_LANGUAGE_H

#include "base/fail.h"
#include <kymo/schema.h>

/* One kind of file. */
struct kymo_language {
  const char *name;
  const char *summary;
  /* True if a file begins like one of these. */
  bool (*is)(const uint8_t *bytes, size_t length);
  /* `warnings` may be NULL: then nobody hears them. */
  struct kymo_schema *(*compile)(const char *text, size_t length, const char *file,
                                 const struct kymo_warnings *warnings, struct kymo_error *error);
};

/* All of them, NULL at the end. */
extern const struct kymo_language *const kymo_languages[];
/* The one of this name, or NULL. */
const struct kymo_language *kymo_language_find(const char *name);
/* The one that a text looks like, or NULL. */
const struct kymo_language *kymo_language_guess(const char *text, size_t length);

/*
 * Reads the file at `path` ("-" is the standard input) and compiles it: as `language`, or if that is NULL as
 * what it looks like (TSDL, if like nothing). Metadata in packets is unpacked first. The schema is the
 * caller's (kymo_schema_release); NULL with `error` if the file is no good. Warnings go to `warnings`, which
 * may be NULL.
 */
struct kymo_schema *kymo_language_load(const char *path, const struct kymo_language *language,
                                       const struct kymo_warnings *warnings, struct kymo_error *error);
/* True if the file at `path` begins as a description does, and so is no trace; also for "-". */
bool kymo_language_is_known(const char *path);

#endif
