/* SPDX-License-Identifier: MIT */
/*
 * Writes a schema as CTF 2 metadata: a JSON text sequence (RFC 7464), one indented fragment per record
 * separator. Output is deterministic.
 *
 * Properties that CTF 2 lacks are attributes of the namespace "kymo", which the compiler of lang/ctf2 reads
 * back:
 *
 *   any type       name, unit, address, base, encoding (none, ascii, of characters), clock, signed
 *   mappings       order (of the names; else they are sorted), enumeration
 *   member         source-name
 *   variant        options (of variants on the way to the tag), selector-field-ranges (that overlap)
 *   optional       truth (an integer that is not 0 means "present")
 *   both           alignment (which has no effect on the layout of what is chosen)
 *   event class    group, log-level, emf-uri, description, source-file, source-line, template
 *   trace class    byte-order, machine
 *
 * and types that CTF 2 lacks are written as types of the same bits, with the type itself as "stands-for":
 * unions, floats of 80 bits, UUIDs that are arrays or texts. A text, blob or varint of strict alignment is
 * the member of a structure that is a "wrapper".
 *
 * Not kept:
 *   the version of the description   it is 2.0
 *   texts that are not UTF-8         U+FFFD replaces each wrong byte
 *   a clock's offset                 cycles beyond the frequency become seconds
 *   attributes that are no object    of JSON, and those that claim the namespace "kymo"
 *   types that no event uses
 *   the byte order of what has none  (texts, blobs, compounds)
 *   an empty name of an event class  is none
 */
#ifndef KYMO_LANG_CTF2_WRITE_H
#define KYMO_LANG_CTF2_WRITE_H

#include "base/strbuf.h"
#include <kymo/schema.h>

/* Adds the metadata to `out`; out->failed is set if memory ran out. */
void kymo_ctf2_write(struct kymo_strbuf *out, const struct kymo_schema *schema);

#endif
