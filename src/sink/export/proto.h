/* SPDX-License-Identifier: MIT */
/*
 * Messages of Protocol Buffers in memory. A message in a message is opened and closed; its length takes four
 * bytes, which the encoding allows (a number may have leading zeros), so that nothing is moved:
 *
 *   size_t at = kymo_proto_open(out, 11);
 *   kymo_proto_number(out, 9, 1);
 *   kymo_proto_close(out, at);
 */
#ifndef KYMO_SINK_EXPORT_PROTO_H
#define KYMO_SINK_EXPORT_PROTO_H

#include "base/strbuf.h"
#include <kymo/schema.h>

enum { KYMO_PROTO_NUMBER, KYMO_PROTO_64_BITS, KYMO_PROTO_LENGTH }; /* kinds of fields on the wire */

/* A number alone, without a field. */
void kymo_proto_varint(struct kymo_strbuf *out, uint64_t value);
/* The characters of a text, without a field. */
void kymo_proto_characters(struct kymo_strbuf *out, const void *bytes, size_t size,
                           enum kymo_encoding encoding);
/* Fields with a varint: unsigned and boolean values, enumerations, and int64 as two's complement. */
void kymo_proto_number(struct kymo_strbuf *out, uint32_t field, uint64_t value);
void kymo_proto_double(struct kymo_strbuf *out, uint32_t field, double value);
void kymo_proto_bytes(struct kymo_strbuf *out, uint32_t field, const void *bytes, size_t size);
/* A text of any encoding as UTF-8, with U+FFFD for bytes that are no characters. */
void kymo_proto_text(struct kymo_strbuf *out, uint32_t field, const void *bytes, size_t size,
                     enum kymo_encoding encoding);
void kymo_proto_name(struct kymo_strbuf *out, uint32_t field, const char *text);
/* Begins a message; returns its place, for kymo_proto_close. */
size_t kymo_proto_open(struct kymo_strbuf *out, uint32_t field);
/* Ends it. A message of 256 MiB or more is a failure, as if memory had run out. */
void kymo_proto_close(struct kymo_strbuf *out, size_t at);

#endif
