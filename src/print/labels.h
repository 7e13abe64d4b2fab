/* SPDX-License-Identifier: MIT */
/* A small cache of the texts of enumerations and flags, so that a frequent value costs one lookup and one
 * copy. */
#ifndef KYMO_PRINT_LABELS_H
#define KYMO_PRINT_LABELS_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "decode/labels.h"
#include "print/out.h"
#include <kymo/read.h>

/* Writes the whole text of a value of an enumeration or bit map with mappings. */
typedef void kymo_value_writer(struct kymo_strbuf *out, const struct kymo_type *type, uint64_t value);

#define KYMO_MEMORY_TEXT 96
#define KYMO_MEMORY_BITS 8
#define KYMO_MEMORY_SLOTS (1u << KYMO_MEMORY_BITS)

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
