/* SPDX-License-Identifier: MIT */
/*
 * Floating-point numbers by powers of two: a bar for each that has numbers, on both sides of zero, and one
 * for zero itself. What is not a number, and infinities, are counted apart.
 */
#ifndef KYMO_STAT_FLOATS_H
#define KYMO_STAT_FLOATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers from `from` to below `to`; of zero both are 0. */
struct kymo_float_bar {
  double from, to;
  uint64_t count;
};

struct kymo_floats {
  uint64_t count, nans, infinities[2]; /* count: of finite numbers; infinities: above, and below zero */
  double least, most, mean;            /* of finite ones */
  struct kymo_float_place {
    int32_t place; /* in order: below zero, zero, above */
    uint64_t count;
  } * places; /* that have numbers, by their place */
  uint32_t place_count, room;
};

/* False: out of memory. */
bool kymo_floats_add(struct kymo_floats *floats, double value);
/* Adds all numbers of `more`; false: out of memory. */
bool kymo_floats_join(struct kymo_floats *floats, const struct kymo_floats *more);
/* The bars in order, `index` below place_count. */
struct kymo_float_bar kymo_floats_bar(const struct kymo_floats *floats, uint32_t index);
static inline size_t kymo_floats_bytes(const struct kymo_floats *floats) {
  return sizeof *floats + floats->room * sizeof *floats->places;
}
/* NULL is fine. */
void kymo_floats_free(struct kymo_floats *floats);

#endif
