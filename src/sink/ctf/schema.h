/* SPDX-License-Identifier: MIT */
/*
 * The schema of a trace that is written as CTF, made from the one that it is read by.
 *
 * TSDL has words for nearly every layout; what it calls a type does not matter here (docs/registry.md lists
 * that). What it has no words for at all is laid down in another way in CTF 1.8:
 *
 *   varint                              integer of 64 bits
 *   number with contrary bits           the same with its bits in order
 *   string in UTF-16, UTF-32            string in UTF-8
 *   union with contrary bits in it      blob
 *
 * Packets of a trace with any of these, and those that did not tell their sizes but have to, get 64 bits for
 * them, and for the id of their stream class if there are several.
 */
#ifndef KYMO_SINK_CTF_SCHEMA_H
#define KYMO_SINK_CTF_SCHEMA_H

#include <kymo/schema.h>

struct kymo_ctf_demand {
  bool is_ctf2;
  bool must_tell_sizes;    /* packets follow one another in files */
  int64_t clock_offset_ns; /* to become part of all clocks */
};

/* Whether CTF 1.8 needs another layout. False also when out of memory, which shows later. */
bool kymo_ctf_is_strange(const struct kymo_schema *schema);
/* Whether the packets of all streams tell their sizes. */
bool kymo_ctf_tells_sizes(const struct kymo_schema *schema);
/* For each type by id whether it, or anything in it, needs that; *any: whether one does. To be freed; NULL
 * when out of memory. */
bool *kymo_ctf_find_strange(const struct kymo_schema *schema, bool *any);
/* Changes a type of that schema to what it is in CTF 1.8. */
void kymo_ctf_make_plain(const bool *strange, struct kymo_type *type);
/* Moves a clock's zero by `ns`, to the cycle. */
void kymo_ctf_shift_clock(struct kymo_clock *clock, int64_t ns);
/* On success *out is the caller's share of a schema. KYMO_E_MEMORY and what kymo_builder_finish says. */
int kymo_ctf_schema_new(struct kymo_schema **out, const struct kymo_schema *in,
                        const struct kymo_ctf_demand *demand, struct kymo_error *error);

#endif
