/* SPDX-License-Identifier: MIT */
#include "stat/samples.h"
#include <math.h>
#include <stdlib.h>

/* Numbers below 16 have a bucket each; bucket 16 * o + s of octave o > 0 begins at (16 + s) << (o - 1). */
static unsigned bucket_of(uint64_t value) {
  if (value < KYMO_SAMPLES_STEPS)
    return (unsigned)value;
  unsigned octave = 64u - (unsigned)__builtin_clzll(value) - 4; /* 1 for 16 to 31 */
  return octave * KYMO_SAMPLES_STEPS + (unsigned)(value >> (octave - 1)) - KYMO_SAMPLES_STEPS;
}

uint64_t kymo_samples_bucket(unsigned index) {
  unsigned octave = index / KYMO_SAMPLES_STEPS, step = index % KYMO_SAMPLES_STEPS;
  return octave == 0 ? step : (uint64_t)(KYMO_SAMPLES_STEPS + step) << (octave - 1);
}

uint64_t kymo_samples_in(const struct kymo_samples *samples, bool is_below, unsigned index) {
  const struct kymo_buckets *side = samples->sides[is_below];
  const uint64_t *steps = side ? side->octaves[index / KYMO_SAMPLES_STEPS] : NULL;
  return steps ? steps[index % KYMO_SAMPLES_STEPS] : 0;
}

/* The counts of an octave, made if there are none; NULL: out of memory. */
static uint64_t *steps_of(struct kymo_samples *samples, bool is_below, unsigned octave) {
  struct kymo_buckets **side = &samples->sides[is_below];
  if (!*side && !(*side = calloc(1, sizeof **side)))
    return NULL;
  uint64_t **steps = &(*side)->octaves[octave];
  if (!*steps)
    *steps = calloc(KYMO_SAMPLES_STEPS, sizeof **steps);
  return *steps;
}

bool kymo_samples_add(struct kymo_samples *samples, int64_t value) {
  double distance = (double)value - samples->mean;
  unsigned bucket = bucket_of(value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
  uint64_t *steps = steps_of(samples, value < 0, bucket / KYMO_SAMPLES_STEPS);
  if (!steps)
    return false;
  steps[bucket % KYMO_SAMPLES_STEPS]++;
  samples->below_zero += value < 0;
  if (samples->count == 0 || value < samples->least)
    samples->least = value;
  if (samples->count == 0 || value > samples->most)
    samples->most = value;
  samples->count++;
  samples->total += (double)value;
  samples->mean += distance / (double)samples->count;
  samples->squares += distance * ((double)value - samples->mean);
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

bool kymo_samples_join(struct kymo_samples *samples, const struct kymo_samples *more) {
  double count = (double)samples->count, others = (double)more->count, distance = more->mean - samples->mean;
  if (more->count == 0)
    return true;
  if (!join_side(samples, more, false) || !join_side(samples, more, true))
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
  for (unsigned side = 0; side < 2; side++) {
    for (unsigned i = 0; samples->sides[side] && i < KYMO_SAMPLES_OCTAVES; i++)
      free(samples->sides[side]->octaves[i]);
    free(samples->sides[side]);
  }
}

double kymo_samples_deviation(const struct kymo_samples *samples) {
  return samples->count < 2 ? 0 : sqrt(samples->squares / (double)(samples->count - 1));
}

/* The middle of a bucket, as far as there are numbers. */
static int64_t middle_of(const struct kymo_samples *samples, bool is_below, unsigned bucket) {
  uint64_t first = kymo_samples_bucket(bucket), last = kymo_samples_bucket(bucket + 1) - 1;
  uint64_t middle = first + (last - first) / 2;
  if (middle > INT64_MAX) /* the size of INT64_MIN */
    return is_below ? samples->least : samples->most;
  int64_t value = is_below ? -(int64_t)middle : (int64_t)middle;
  return value > samples->most ? samples->most : value < samples->least ? samples->least : value;
}

int64_t kymo_samples_percentile(const struct kymo_samples *samples, double share) {
  uint64_t wanted = (uint64_t)ceil(share * (double)samples->count), seen = 0;
  for (unsigned i = KYMO_SAMPLES_BUCKETS; i > 0 && samples->below_zero; i--)
    if ((seen += kymo_samples_in(samples, true, i - 1)) >= wanted && seen)
      return middle_of(samples, true, i - 1);
  for (unsigned i = 0; i < KYMO_SAMPLES_BUCKETS; i++)
    if ((seen += kymo_samples_in(samples, false, i)) >= wanted && seen)
      return middle_of(samples, false, i);
  return samples->most;
}
