/* SPDX-License-Identifier: MIT */
/* The compiler of CTF 2 metadata: a JSON text sequence (RFC 7464) → schema. */
#ifndef KYMO_LANG_CTF2_H
#define KYMO_LANG_CTF2_H

#include <kymo/schema.h>
#include <stddef.h>

/*
 * Compiles `length` bytes of CTF 2 metadata (plain text; packetised metadata is unpacked by the CTF
 * format). `file` is named in errors only. Returns the schema, owned by the caller
 * (kymo_schema_release), or NULL with `error` holding line, column and excerpt, and in the message
 * the path of the JSON value, $ being the fragment: "$.payload-field-class.type: expected …".
 */
struct kymo_schema *kymo_ctf2_compile(const char *text, size_t length, const char *file,
                                      struct kymo_error *error);

#endif
