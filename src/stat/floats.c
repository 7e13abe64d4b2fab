/* SPDX-License-Identifier: MIT */
#include "stat/floats.h"
#include "base/list.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIDDLE = 1100 }; /* above all exponents of a double, so that place 0 is zero */

/* Of 2^k to below 2^(k + 1): k + MIDDLE; of -2^(k + 1) to below -2^k the same, negative. */
static int32_t place_of(double value) {
  int exponent;
  if (value == 0)
    return 0;
  double part = frexp(fabs(value), &exponent); /* from 1/2 to below 1 */
  if (value < 0)
    return -(exponent - 1 - (part == 0.5) + MIDDLE);
  return exponent - 1 + MIDDLE;
}

struct kymo_float_bar kymo_floats_bar(const struct kymo_floats *floats, uint32_t index) {
  const struct kymo_float_place *at = &floats->places[index];
  int exponent = abs(at->place) - MIDDLE;
  if (at->place == 0)
    return (struct kymo_float_bar){0, 0, at->count};
  if (at->place < 0)
    return (struct kymo_float_bar){-ldexp(1, exponent + 1), 0 - ldexp(1, exponent), at->count};
  return (struct kymo_float_bar){ldexp(1, exponent), ldexp(1, exponent + 1), at->count};
}

/* Adds to a place. Numbers mostly are in one of the last places or in few, so it is looked for in order. */
static bool add_at(struct kymo_floats *floats, int32_t place, uint64_t count) {
  uint32_t at = 0;
  while (at < floats->place_count && floats->places[at].place < place)
    at++;
  if (at == floats->place_count || floats->places[at].place != place) {
    if (!KYMO_LIST_ROOM(floats->places, floats->room, floats->place_count))
      return false;
    memmove(floats->places + at + 1, floats->places + at,
            (floats->place_count - at) * sizeof *floats->places);
    floats->places[at] = (struct kymo_float_place){.place = place};
    floats->place_count++;
  }
  floats->places[at].count += count;
  return true;
}

bool kymo_floats_add(struct kymo_floats *floats, double value) {
  if (isnan(value)) {
    floats->nans++;
    return true;
  }
  if (isinf(value)) {
    floats->infinities[value < 0]++;
    return true;
  }
  if (!add_at(floats, place_of(value), 1))
    return false;
  floats->least = floats->count && floats->least < value ? floats->least : value;
  floats->most = floats->count && floats->most > value ? floats->most : value;
  floats->count++;
  floats->mean += value / (double)floats->count - floats->mean / (double)floats->count;
  return true;
}

bool kymo_floats_join(struct kymo_floats *floats, const struct kymo_floats *more) {
  for (uint32_t i = 0; i < more->place_count; i++)
    if (!add_at(floats, more->places[i].place, more->places[i].count))
      return false;
  floats->nans += more->nans;
  for (unsigned i = 0; i < 2; i++)
    floats->infinities[i] += more->infinities[i];
  if (more->count == 0)
    return true;
  floats->least = floats->count && floats->least < more->least ? floats->least : more->least;
  floats->most = floats->count && floats->most > more->most ? floats->most : more->most;
  double part = (double)more->count / (double)(floats->count + more->count);
  floats->mean += more->mean * part - floats->mean * part;
  floats->count += more->count;
  return true;
}

void kymo_floats_free(struct kymo_floats *floats) {
  if (floats)
    free(floats->places);
  free(floats);
}
