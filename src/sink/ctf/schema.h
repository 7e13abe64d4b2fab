/* SPDX-License-Identifier: MIT */
/*
 * The schema of a trace that is written as CTF, derived from the one by which it is read.
 *
 * TSDL can express nearly every layout; names of types do not matter here (docs/registry.md lists them).
 * Types that it cannot express have another layout in CTF 1.8:
 *
 *   varint                              integer of 64 bits
 *   number with contrary bits           the same with its bits in order
 *   string in UTF-16, UTF-32            string in UTF-8
 *   union with contrary bits in it      blob
 *
 * Packets of a trace with any of these, and packets that lack their sizes but need them, have 64 bits for
 * them, and for the id of their stream class if there are several.
 */
#ifndef KYMO_SINK_CTF_SCHEMA_H
#define KYMO_SINK_CTF_SCHEMA_H

#include <kymo/schema.h>

struct kymo_ctf_demand {
  bool is_ctf2;
  bool needs_sizes;        /* packets follow one another in files */
  bool is_kernel;          /* names are those of LTTng, and packets have the number of their CPU (kernel.h) */
  int64_t clock_offset_ns; /* added to all clocks */
};

/* Whether CTF 1.8 needs another layout. False also if there is no memory, which a later call reports. */
bool kymo_ctf_is_strange(const struct kymo_schema *schema);
/* Whether the packets of all streams contain their sizes. */
bool kymo_ctf_has_sizes(const struct kymo_schema *schema);
/* For each type by id whether it, or anything in it, needs another layout; *any: whether one does. The caller
 * frees it; NULL if there is no memory. */
bool *kymo_ctf_find_strange(const struct kymo_schema *schema, bool *any);
/* Changes a type of that schema to its form in CTF 1.8. */
void kymo_ctf_make_plain(const bool *strange, struct kymo_type *type);
/* Moves a clock's zero by `ns`, to the cycle. */
void kymo_ctf_shift_clock(struct kymo_clock *clock, int64_t ns);
/* On success the caller owns a reference to *out. KYMO_E_MEMORY and errors of kymo_builder_finish. */
int kymo_ctf_schema_new(struct kymo_schema **out, const struct kymo_schema *in,
                        const struct kymo_ctf_demand *demand, struct kymo_error *error);

#endif
