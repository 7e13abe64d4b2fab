/* SPDX-License-Identifier: MIT */
/* Records for people who search a fault: bytes, and their meaning. */
#ifndef KYMO_TOOL_HEX_H
#define KYMO_TOOL_HEX_H

#include "format/described/look.h"
#include "tool/tool.h"

/* One line: the offset of bits `begin_bits` to `end_bits`, at most eight of their bytes, and `text`. `bytes`
 * are those of offset `base`. */
void tool_hex_line(const uint8_t *bytes, uint64_t base, uint64_t begin_bits, uint64_t end_bits,
                   const char *text);
/* A record of a described file: its kind and place, then its fields and the bytes that are in no field. */
void tool_hex_record(const struct kymo_look *look);
/* The name of a record's kind, and its class: event, control … */
const char *tool_hex_kind(const struct kymo_look *look, int *length);
const char *tool_hex_class(const struct kymo_look *look);
/* An event of a format that kymo reads by itself. */
void tool_hex_event(const struct kymo_event *event);

#endif
