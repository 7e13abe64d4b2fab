/* SPDX-License-Identifier: MIT */
/* From the descriptors of call sites to types: codes, and listings of structs, enumerations and similar
 * types. */
#ifndef KYMO_RECORD_FIELDS_H
#define KYMO_RECORD_FIELDS_H

#include "record/point.h"
#include "schema/build.h"

/*
 * The payload of a tracepoint, interned, so that equal fields are one type wherever they come from. NULL: out
 * of memory, or the descriptor was not written by the macros (a listing is missing, its text has too few
 * names, it is nested deeper than a schema may be, tags occur twice).
 *
 *   scalar            integer, float, boolean; with the name of its C type, unless it has a byte order of its
 *                     own
 *   text              string
 *   array and count   _NAME_length and a sequence; bytes: a blob
 *   struct            struct, packed            union, untagged    union
 *   enumeration       integer with a mapping each
 *   flags             bit map; a constant of several bits names them all, one without bits is in the type's
 *                     attributes: {"kymo":{"zero":["NONE"]}}
 *   variant           _NAME_tag and a variant, with one more option, an empty struct, for all other tags
 *   optional          _NAME_present and an optional
 *   T name[2][3]      arrays of arrays; of char: the last dimension is a text
 */
const struct kymo_type *kymo_point_payload(struct kymo_builder *builder, const struct kymo_point_text *point);

/* An integer of this machine's byte order, packed. */
struct kymo_type kymo_integer_type(uint32_t bits, bool is_signed);

#endif
