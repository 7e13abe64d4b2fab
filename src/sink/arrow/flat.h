/* SPDX-License-Identifier: MIT */
/*
 * Flatbuffers, in which Arrow describes its data: tables of optional fields, texts and vectors, in little
 * endian. References lead forward, so a table is written before what it refers to, and its references are
 * set afterwards:
 *
 *   size │ size of table │ place of field 0, 1, …      the vtable: 0 if a field is absent
 *   distance to the vtable │ fields …                  the table, at a multiple of 8
 *
 * Running out of memory is remembered in the buffer.
 */
#ifndef KYMO_SINK_ARROW_FLAT_H
#define KYMO_SINK_ARROW_FLAT_H

#include "base/strbuf.h"
#include <stddef.h>
#include <stdint.h>

struct kymo_flat_field {
  unsigned size;  /* in bytes; 0: absent; a reference has 4 */
  uint64_t value; /* of a reference: 0 */
  size_t at;      /* where it is, set by kymo_flat_table */
};

/* An empty buffer with the reference to its root, which kymo_flat_end sets. */
void kymo_flat_begin(struct kymo_strbuf *flat);
void kymo_flat_end(struct kymo_strbuf *flat, size_t root);

/* Each returns the place of what it has added. */
size_t kymo_flat_table(struct kymo_strbuf *flat, struct kymo_flat_field *fields, unsigned count);
size_t kymo_flat_text(struct kymo_strbuf *flat, const char *text);
/* `size_bytes` for each element: references (4 bytes, 0), or structs of 64-bit numbers. */
size_t kymo_flat_vector(struct kymo_strbuf *flat, const void *elements, size_t count, size_t size_bytes);
/* The reference at a place leads to another one. */
void kymo_flat_refer(struct kymo_strbuf *flat, size_t at, size_t to);
/* The place of a reference in a vector. */
static inline size_t kymo_flat_element(size_t vector, size_t index) { return vector + 4 + 4 * index; }

#endif
