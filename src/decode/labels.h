/* SPDX-License-Identifier: MIT */
/* Enumerations and flags: from values to labels. */
#ifndef KYMO_DECODE_LABELS_H
#define KYMO_DECODE_LABELS_H

#include "schema/parts.h"
#include <kymo/schema.h>

/* True if the value is in the mapping's range. */
static inline bool kymo_mapping_holds(const struct kymo_type *type, const struct kymo_mapping *mapping,
                                      uint64_t value) {
  if (type->is_signed)
    return (int64_t)value >= (int64_t)mapping->low && (int64_t)value <= (int64_t)mapping->high;
  return value >= mapping->low && value <= mapping->high;
}

/*
 * The labels of one value, each name once, in the order of the mappings.
 *
 * struct kymo_labels labels = kymo_labels_begin(type, value); while ((label = kymo_labels_next(&labels)) !=
 * NULL) …
 *
 * For the flags that are set: kymo_flag_is_set.
 */
struct kymo_labels {
  const struct kymo_type *type;
  uint64_t value;
  uint64_t rest; /* flags: bits of the value without a name so far */
  uint32_t index;
};
struct kymo_labels kymo_labels_begin(const struct kymo_type *type, uint64_t value);
/* NULL: no more. */
const char *kymo_labels_next(struct kymo_labels *labels);

#endif
