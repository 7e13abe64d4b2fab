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

/* The labels of one value, each name once, in the order of the mappings.
 *
 *   struct kymo_labels labels = kymo_labels_begin(type, value);
 *   while ((label = kymo_labels_next(&labels)) != NULL) …
 *
 * A flag of several bits is set if any of them is; but of those that other flags have as well it needs all, so
 * that 1 is READ and not BOTH, where READ = 1, WRITE = 2, BOTH = 3. */
struct kymo_labels {
  const struct kymo_type *type;
  uint64_t value;
  uint64_t shared; /* flags: bits that several names have */
  uint64_t rest;   /* flags: bits of the value that no name so far has told */
  uint32_t index;
};
struct kymo_labels kymo_labels_begin(const struct kymo_type *type, uint64_t value);
/* NULL: no more. */
const char *kymo_labels_next(struct kymo_labels *labels);
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
