/* SPDX-License-Identifier: MIT */
/* Reads the records of a described file one by one, with the bytes of each field. */
#ifndef KYMO_FORMAT_DESCRIBED_LOOK_H
#define KYMO_FORMAT_DESCRIBED_LOOK_H

#include "base/strbuf.h"
#include "plan/machine.h"
#include "source/map.h"
#include <kymo/event.h>

/* The place of a field: bits of the record's bytes (machine->bytes), which are those of the file if
 * machine->box is 0. `slot`, `column` (of lists, which may have both) or `name` (in a
 * run-time definition) identifies it; the others are KYMO_PLAN_NONE and NULL. `item`: the element of the list
 * that it became; NONE if it is absent there. `element`: of the list of structs that the column is a member
 * of. `value`: the stored value; absent for filler. `load` or `code` has read it: of these the part of the
 * description is known (lang/tdl/origin.h); both are NULL if none has. */
struct kymo_look_field {
  const uint8_t *bytes;
  uint64_t begin_bits, end_bits;
  uint32_t slot, column, item, element;
  const char *name;
  const struct kymo_plan_load *load;
  const struct kymo_plan_instruction *code;
  struct kymo_expr_value value;
};

struct kymo_look {
  const struct kymo_plan *plan;
  const char *path;
  struct kymo_plan_machine *machine; /* holds the record */
  struct kymo_look_field *fields;    /* of the record, in the order of their bytes, none twice; without a
                                      * record those of the record that kymo_look_damage is about */
  size_t field_count;
  /* private to the library from here on */
  const struct described *described;
  size_t field_capacity;
  struct kymo_plan_watch watch;
  struct kymo_map map;
  bool failed;
};

/* Begins before the first record of a file of a stream that is read with a description: 0 to path_count - 1
 * of the stream's part. KYMO_E_UNKNOWN if there is none, or the trace is of another kind. The trace must live
 * longer. To be ended also if this fails. */
int kymo_look_begin(struct kymo_look *look, const struct kymo_stream *stream, uint32_t file,
                    struct kymo_error *error);
/* The next record of any class; results as of kymo_plan_machine_next. */
int kymo_look_next(struct kymo_look *look, struct kymo_error *error);
/* The last damage that was found since the record before; NULL: none was, at most losses. */
const struct kymo_plan_note *kymo_look_damage(const struct kymo_look *look);
/* How many bytes belong to the record itself: without the region of records that it HOLDS. */
uint64_t kymo_look_own_bytes(const struct kymo_look *look);
/* Adds the displayed form of a value: the name of a token, names of flags, a scaled number, hexadecimal
 * digits, a text that is made of bytes. `option`: of its column. False if that is the value itself. */
bool kymo_look_show(const struct kymo_look *look, const struct kymo_plan_option *option,
                    const struct kymo_expr_value *value, struct kymo_strbuf *out);
void kymo_look_end(struct kymo_look *look);

#endif
