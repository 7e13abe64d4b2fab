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
/* Whether the records that the record holds are somewhere else than in its bytes. */
bool tool_hex_is_container(const struct kymo_plan_machine *machine);
/* What is said of a field: "o[2].i[0]." (members of lists of structs), "load", "755 (75.5)"; the texts may be
 * NULL if they are empty. is_named: by the description or the file. */
struct tool_hex_text {
  struct kymo_strbuf place, name, value;
  bool has_value, is_named;
};
/* To be freed with tool_hex_text_free. Ends the program if memory runs out. */
void tool_hex_field(const struct kymo_look *look, const struct kymo_look_field *field,
                    struct tool_hex_text *text);
void tool_hex_text_free(struct tool_hex_text *text);
/* An event of a format that kymo reads by itself. */
void tool_hex_event(const struct kymo_event *event);

#endif
