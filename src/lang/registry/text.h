/* SPDX-License-Identifier: MIT */
/* The registry as text (docs/registry.md): everything that the binary form holds, to be read and edited. */
#ifndef KYMO_LANG_REGISTRY_TEXT_H
#define KYMO_LANG_REGISTRY_TEXT_H

#include "base/strbuf.h"
#include <kymo/schema.h>

/* Writes all of a schema. Compiled again, it gives the same binary registry. */
void kymo_registry_print(struct kymo_strbuf *out, const struct kymo_schema *schema);

/* Compiles `length` bytes of text; `file` is named in errors only. The schema is the caller's
 * (kymo_schema_release); NULL with `error` holding line, column and excerpt. */
struct kymo_schema *kymo_registry_compile(const char *text, size_t length, const char *file,
                                          struct kymo_error *error);

/* True if a text begins as a registry does: with the word "registry", after blanks and comments. */
bool kymo_registry_is_text(const char *text, size_t length);

#endif
