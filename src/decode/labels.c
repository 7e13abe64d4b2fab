/* SPDX-License-Identifier: MIT */
/* Enumerations and flags. */
#include "decode/labels.h"
#include "schema/flag.h"
#include "schema/parts.h"

struct kymo_labels kymo_labels_begin(const struct kymo_type *type, uint64_t value) {
  return (struct kymo_labels){.type = type, .value = value, .rest = value};
}

static const char *next_flag(struct kymo_labels *labels) {
  while (labels->index < labels->type->mapping_count) {
    struct kymo_flag flag = kymo_flag_take(labels->type, &labels->index);
    if (!kymo_flag_is_set(&flag, labels->value))
      continue;
    labels->rest &= ~flag.ones;
    return flag.name;
  }
  return NULL;
}

const char *kymo_labels_next(struct kymo_labels *labels) {
  const struct kymo_type *type = labels->type;
  if (type->kind == KYMO_KIND_BITMAP)
    return next_flag(labels);
  while (labels->index < type->mapping_count) {
    const char *name = type->mappings[labels->index].name;
    bool is_found = false;
    do
      is_found |= kymo_mapping_holds(type, &type->mappings[labels->index++], labels->value);
    while (labels->index < type->mapping_count && strcmp(type->mappings[labels->index].name, name) == 0);
    if (is_found)
      return name;
  }
  return NULL;
}
