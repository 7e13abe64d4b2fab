/* SPDX-License-Identifier: MIT */
/*
 * Flags of a bit map. Mappings of one name are adjacent: bits below 64 belong to the flag; bit 64 + n means
 * that bit n has to be 0 while the others are 1, so parts of several bits have names for single values. Bit
 * 128 means that the flag requires such a value where all of its bits are 1.
 */
#ifndef KYMO_SCHEMA_FLAG_H
#define KYMO_SCHEMA_FLAG_H

#include "schema/parts.h"
#include <kymo/schema.h>
#include <string.h>

#define KYMO_FLAG_VALUE_BIT 128

struct kymo_flag {
  const char *name;
  uint64_t ones, zeros;
  bool is_value;
};

/* Bits `low` to `high` of 64; none if `low` is 64 or more. */
static inline uint64_t kymo_flag_bits(uint64_t low, uint64_t high) {
  if (low > 63)
    return 0;
  return UINT64_MAX >> (63 - (high > 63 ? 63 : high)) & UINT64_MAX << low;
}

static inline void kymo_flag_add(struct kymo_flag *flag, const struct kymo_mapping *mapping) {
  flag->ones |= kymo_flag_bits(mapping->low, mapping->high);
  if (mapping->low > 63)
    flag->zeros |= kymo_flag_bits(mapping->low - 64, mapping->high - 64);
  flag->is_value |=
      flag->zeros != 0 || (mapping->low <= KYMO_FLAG_VALUE_BIT && mapping->high == KYMO_FLAG_VALUE_BIT);
}

/* The flag whose mappings begin at *index, which moves after them. */
static inline struct kymo_flag kymo_flag_take(const struct kymo_type *type, uint32_t *index) {
  struct kymo_flag flag = {.name = type->mappings[*index].name};
  do
    kymo_flag_add(&flag, &type->mappings[(*index)++]);
  while (*index < type->mapping_count && strcmp(type->mappings[*index].name, flag.name) == 0);
  return flag;
}

/* The rule for all outputs and filters, which is that of CTF 2: any bit of the flag's ranges sets it. A flag
 * that requires a value needs all of its bits. */
static inline bool kymo_flag_is_set(const struct kymo_flag *flag, uint64_t value) {
  return flag->is_value ? (value & (flag->ones | flag->zeros)) == flag->ones : (value & flag->ones) != 0;
}

/* Whether the value has all that the flag requires. */
static inline bool kymo_flag_is_whole(const struct kymo_flag *flag, uint64_t value) {
  return (value & (flag->ones | flag->zeros)) == flag->ones;
}

#endif
