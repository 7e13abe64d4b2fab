/* SPDX-License-Identifier: MIT */
/* Files that describe events and contain none: registries, and texts in any language that compiles to a
 * schema. */
#ifndef KYMO_FORMAT_LANGUAGE_H
#define KYMO_FORMAT_LANGUAGE_H

#include "base/fail.h"
#include <kymo/schema.h>

/* One kind of file. */
struct kymo_language {
  const char *name;
  const char *summary;
  /* True if a file looks like one in this language. */
  bool (*is)(const uint8_t *bytes, size_t length);
  /* `warnings` may be NULL: then there are no warnings. */
  struct kymo_schema *(*compile)(const char *text, size_t length, const char *file,
                                 const struct kymo_warnings *warnings, struct kymo_error *error);
};

/* All of them, NULL at the end. */
extern const struct kymo_language *const kymo_languages[];
/* The one of this name, or NULL. */
const struct kymo_language *kymo_language_find(const char *name);
/* The language that a text looks like, or NULL. */
const struct kymo_language *kymo_language_guess(const char *text, size_t length);

/*
 * Reads the file at `path` ("-" is standard input) and compiles it: as `language`, or if that is NULL as the
 * language it looks like (TSDL by default). Metadata in packets is unpacked first. The caller owns the schema
 * (kymo_schema_release); NULL with `error` if the file is invalid. Warnings go to `warnings`, which may be
 * NULL.
 */
struct kymo_schema *kymo_language_load(const char *path, const struct kymo_language *language,
                                       const struct kymo_warnings *warnings, struct kymo_error *error);
/* True if the file at `path` begins like a description, and so is not a trace; also for "-". */
bool kymo_language_is_known(const char *path);

#endif
