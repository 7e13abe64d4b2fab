/* SPDX-License-Identifier: MIT */
/* The TSDL compiler: CTF 1.8 metadata text → schema. */
#ifndef KYMO_LANG_TSDL_H
#define KYMO_LANG_TSDL_H

#include <kymo/schema.h>
#include <stddef.h>

/*
 * Compiles `length` bytes of TSDL (plain text; packetised metadata is unpacked by the CTF
 * format). `file` is named in errors only. Returns the schema, owned by the caller
 * (kymo_schema_release), or NULL with `error` holding line, column and excerpt.
 */
struct kymo_schema *kymo_tsdl_compile(const char *text, size_t length, const char *file,
                                      struct kymo_error *error);

#endif
