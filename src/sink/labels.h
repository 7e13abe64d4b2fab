/* SPDX-License-Identifier: MIT */
/*
 * Enumerations and flags: from values to labels, and a small memory of texts already made, so
 * that a value that comes often costs one look and one copy.
 */
#ifndef KYMO_SINK_LABELS_H
#define KYMO_SINK_LABELS_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "sink/out.h"
#include <kymo/read.h>

/* True if the value is in the mapping's range. */
static inline bool kymo_mapping_holds(const struct kymo_type *type, const struct kymo_mapping *mapping,
                                      uint64_t value) {
  if (type->is_signed)
    return (int64_t)value >= (int64_t)mapping->low && (int64_t)value <= (int64_t)mapping->high;
  return value >= mapping->low && value <= mapping->high;
}

/* The next label of `value` from mapping *index on, each name once; NULL: no more. */
const char *kymo_next_label(const struct kymo_type *type, uint64_t value, uint32_t *index);
/* The same for a bit map: names that have a set bit in their range of bit numbers. */
const char *kymo_next_flag(const struct kymo_type *type, uint64_t value, uint32_t *index);
/* The bits of a bit map that no mapping names. */
uint64_t kymo_unnamed_bits(const struct kymo_type *type, uint64_t value);

/* Writes the whole text of a value of an enumeration or bit map with mappings. */
typedef void kymo_value_writer(struct kymo_strbuf *out, const struct kymo_type *type, uint64_t value);

#define KYMO_MEMORY_TEXT 96
#define KYMO_MEMORY_SLOTS 32

struct kymo_memory_slot {
  uint64_t value;
  uint32_t length; /* 0: free */
  char text[KYMO_MEMORY_TEXT + KYMO_PIECE_SLACK];
};

struct kymo_label_memory {
  struct kymo_arena arena;
  kymo_value_writer *writer;
  struct kymo_strbuf buf;
  struct kymo_memory_slot ***slots; /* by part and type id: NULL, or KYMO_MEMORY_SLOTS of them */
};

int kymo_label_memory_begin(struct kymo_label_memory *memory, const struct kymo_trace *trace,
                            kymo_value_writer *writer, struct kymo_error *error);
void kymo_label_memory_end(struct kymo_label_memory *memory);
/* Prints a value of a type that has mappings or is an enumeration. */
void kymo_out_labelled(struct kymo_out *out, struct kymo_label_memory *memory, uint32_t part,
                       const struct kymo_value *value);

#endif
