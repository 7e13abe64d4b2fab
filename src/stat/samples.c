/* SPDX-License-Identifier: MIT */
#include "stat/samples.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS (KYMO_SAMPLES_OCTAVES * KYMO_SAMPLES_STEPS)

static uint64_t size_of(int64_t value) { return value < 0 ? 0 - (uint64_t)value : (uint64_t)value; }

/* ---- buckets ---- */

/* Numbers below 256 have a bucket each; bucket 256 * o + s of octave o > 0 begins at (256 + s) << (o - 1). */
static unsigned bucket_of(uint64_t size) {
  if (size < KYMO_SAMPLES_STEPS)
    return (unsigned)size;
  unsigned octave = 64u - (unsigned)__builtin_clzll(size) - KYMO_SAMPLES_BITS; /* 1 for 256 to 511 */
  return octave * KYMO_SAMPLES_STEPS + (unsigned)(size >> (octave - 1)) - KYMO_SAMPLES_STEPS;
}

static uint64_t begin_of(unsigned bucket) {
  unsigned octave = bucket / KYMO_SAMPLES_STEPS, step = bucket % KYMO_SAMPLES_STEPS;
  return octave == 0 ? step : (uint64_t)(KYMO_SAMPLES_STEPS + step) << (octave - 1);
}

static uint64_t count_of(const struct kymo_samples *samples, bool is_below, unsigned bucket) {
  const struct kymo_buckets *side = samples->sides[is_below];
  const uint64_t *steps = side ? side->octaves[bucket / KYMO_SAMPLES_STEPS] : NULL;
  return steps ? steps[bucket % KYMO_SAMPLES_STEPS] : 0;
}

/* The counts of an octave, created if there are none; NULL: out of memory. */
static uint64_t *steps_of(struct kymo_samples *samples, bool is_below, unsigned octave) {
  struct kymo_buckets **side = &samples->sides[is_below];
  if (!*side && !(*side = calloc(1, sizeof **side)))
    return NULL;
  uint64_t **steps = &(*side)->octaves[octave];
  if (!*steps)
    *steps = calloc(KYMO_SAMPLES_STEPS, sizeof **steps);
  return *steps;
}

bool kymo_samples_fill(struct kymo_samples *samples, bool is_below, unsigned index, uint64_t count) {
  uint64_t *steps = index < BUCKETS ? steps_of(samples, is_below, index / KYMO_SAMPLES_STEPS) : NULL;
  if (steps)
    steps[index % KYMO_SAMPLES_STEPS] += count;
  return steps != NULL;
}

static bool put_in_bucket(struct kymo_samples *samples, int64_t value) {
  unsigned bucket = bucket_of(size_of(value));
  uint64_t *steps = steps_of(samples, value < 0, bucket / KYMO_SAMPLES_STEPS);
  if (!steps)
    return false;
  steps[bucket % KYMO_SAMPLES_STEPS]++;
  return true;
}

/* ---- adding ---- */

/* There are too many to keep them: from now on numbers are counted in buckets. */
static bool pour(struct kymo_samples *samples) {
  for (uint64_t i = 0; i < samples->count && samples->room; i++)
    if (!put_in_bucket(samples, samples->values[i]))
      return false;
  free(samples->values);
  samples->values = NULL;
  samples->room = 0;
  return true;
}

/* Keeps one more number than `count`. */
static bool keep(struct kymo_samples *samples, int64_t value) {
  if (samples->count >= KYMO_SAMPLES_EXACT)
    return (!samples->room || pour(samples)) && put_in_bucket(samples, value);
  if (samples->count == samples->room) {
    uint32_t room = samples->room ? samples->room * 2 : 4;
    int64_t *values = realloc(samples->values, room * sizeof *values);
    if (!values)
      return false;
    samples->values = values;
    samples->room = room;
  }
  samples->values[samples->count] = value;
  return true;
}

void kymo_samples_note(struct kymo_samples *samples, int64_t value) {
  double distance = (double)value - samples->mean;
  samples->below_zero += value < 0;
  if (samples->count == 0 || value < samples->least)
    samples->least = value;
  if (samples->count == 0 || value > samples->most)
    samples->most = value;
  samples->count++;
  samples->total += (double)value;
  samples->mean += distance / (double)samples->count;
  samples->squares += distance * ((double)value - samples->mean);
}

bool kymo_samples_add(struct kymo_samples *samples, int64_t value) {
  if (!keep(samples, value))
    return false;
  kymo_samples_note(samples, value);
  return true;
}

/* NULL: out of memory. */
static struct kymo_floats *floats_of(struct kymo_samples *samples) {
  if (!samples->floats)
    samples->floats = calloc(1, sizeof *samples->floats);
  return samples->floats;
}

bool kymo_samples_add_float(struct kymo_samples *samples, double value) {
  struct kymo_floats *floats = floats_of(samples);
  if (!floats || !kymo_floats_add(floats, value))
    return false;
  samples->count++;
  return true;
}

static bool join_side(struct kymo_samples *samples, const struct kymo_samples *more, bool is_below) {
  for (unsigned i = 0; more->sides[is_below] && i < KYMO_SAMPLES_OCTAVES; i++) {
    const uint64_t *from = more->sides[is_below]->octaves[i];
    uint64_t *to = from ? steps_of(samples, is_below, i) : NULL;
    if (from && !to)
      return false;
    for (unsigned k = 0; from && k < KYMO_SAMPLES_STEPS; k++)
      to[k] += from[k];
  }
  return true;
}

/* Adds the kept numbers of `more`, in either form. */
static bool join_kept(struct kymo_samples *samples, const struct kymo_samples *more) {
  bool are_few = samples->count + more->count <= KYMO_SAMPLES_EXACT;
  if (!are_few && !pour(samples))
    return false;
  if (!more->room)
    return join_side(samples, more, false) && join_side(samples, more, true);
  if (are_few) {
    int64_t *values = realloc(samples->values, KYMO_SAMPLES_EXACT * sizeof *values);
    if (!values)
      return false;
    memcpy(values + samples->count, more->values, more->count * sizeof *values);
    samples->values = values;
    samples->room = KYMO_SAMPLES_EXACT;
    return true;
  }
  for (uint64_t i = 0; i < more->count; i++)
    if (!put_in_bucket(samples, more->values[i]))
      return false;
  return true;
}

bool kymo_samples_join(struct kymo_samples *samples, const struct kymo_samples *more) {
  double count = (double)samples->count, others = (double)more->count, distance = more->mean - samples->mean;
  if (more->count == 0)
    return true;
  if (more->floats && !(floats_of(samples) && kymo_floats_join(samples->floats, more->floats)))
    return false;
  if (!join_kept(samples, more))
    return false;
  if (samples->count == 0 || more->least < samples->least)
    samples->least = more->least;
  if (samples->count == 0 || more->most > samples->most)
    samples->most = more->most;
  samples->count += more->count;
  samples->below_zero += more->below_zero;
  samples->total += more->total;
  samples->mean += distance * others / (count + others);
  samples->squares += more->squares + distance * distance * count * others / (count + others);
  return true;
}

void kymo_samples_free(struct kymo_samples *samples) {
  kymo_floats_free(samples->floats);
  for (unsigned side = 0; side < 2; side++) {
    for (unsigned i = 0; samples->sides[side] && i < KYMO_SAMPLES_OCTAVES; i++)
      free(samples->sides[side]->octaves[i]);
    free(samples->sides[side]);
  }
  free(samples->values);
}

/* ---- asking ---- */

double kymo_samples_deviation(const struct kymo_samples *samples) {
  return samples->count < 2 ? 0 : sqrt(samples->squares / (double)(samples->count - 1));
}

/* The number from `low` to `high` with the fewest digits; of those, one near the middle. */
static uint64_t roundest(uint64_t low, uint64_t high, unsigned *unknown_digits) {
  uint64_t step = UINT64_C(10000000000000000000), middle = low + (high - low) / 2;
  *unknown_digits = low == high ? 0 : 19;
  if (low == high)
    return low;
  for (; step > 1; step /= 10, --*unknown_digits) {
    uint64_t below = middle / step * step, above = below + step;
    bool is_above = above > below && above <= high && (below < low || above - middle < middle - below);
    if (is_above)
      return above;
    if (below >= low)
      return below;
  }
  return middle;
}

/* A number of a bucket, within the range of existing numbers. */
static struct kymo_percentile number_in(const struct kymo_samples *samples, bool is_below, unsigned bucket) {
  uint64_t low = begin_of(bucket), high = bucket + 1 < BUCKETS ? begin_of(bucket + 1) - 1 : UINT64_MAX;
  int64_t nearest = is_below ? samples->most : samples->least,
          farthest = is_below ? samples->least : samples->most;
  if ((nearest < 0) == is_below && size_of(nearest) > low)
    low = size_of(nearest);
  if (size_of(farthest) < high)
    high = size_of(farthest);
  struct kymo_percentile percentile;
  uint64_t size = roundest(low, high, &percentile.unknown_digits);
  percentile.value = is_below ? (int64_t)(0 - size) : (int64_t)size;
  return percentile;
}

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static bool is_in_order(const struct kymo_samples *samples) {
  for (uint64_t i = 1; i < samples->count; i++)
    if (samples->values[i] < samples->values[i - 1])
      return false;
  return true;
}

struct kymo_percentile kymo_samples_percentile(struct kymo_samples *samples, unsigned thousandths) {
  uint64_t count = samples->count, seen = 0;
  uint64_t wanted = count / 1000 * thousandths + (count % 1000 * thousandths + 999) / 1000;
  if (wanted <= 1)
    return (struct kymo_percentile){.value = samples->least};
  if (wanted >= count)
    return (struct kymo_percentile){.value = samples->most};
  if (samples->room) {
    if (!is_in_order(samples))
      qsort(samples->values, count, sizeof *samples->values, compare);
    return (struct kymo_percentile){.value = samples->values[wanted - 1]};
  }
  for (unsigned i = BUCKETS; i > 0 && samples->below_zero; i--)
    if ((seen += count_of(samples, true, i - 1)) >= wanted)
      return number_in(samples, true, i - 1);
  for (unsigned i = 0; i < BUCKETS; i++)
    if ((seen += count_of(samples, false, i)) >= wanted)
      return number_in(samples, false, i);
  return (struct kymo_percentile){.value = samples->most};
}

static unsigned bits_of(uint64_t size) { return size ? 63u - (unsigned)__builtin_clzll(size) : 0; }

uint64_t kymo_samples_in(const struct kymo_samples *samples, bool is_below, unsigned bits) {
  uint64_t count = 0, first = bits ? UINT64_C(1) << bits : 0;
  for (uint64_t i = 0; i < samples->count && samples->room; i++)
    count += (samples->values[i] < 0) == is_below && bits_of(size_of(samples->values[i])) == bits;
  if (samples->room)
    return count;
  for (unsigned i = bucket_of(first); i < BUCKETS && bits_of(begin_of(i)) == bits; i++)
    count += count_of(samples, is_below, i);
  return count;
}
