/* SPDX-License-Identifier: MIT */
/*
 * Statistics of many measured numbers: count, sum, mean, deviation, extremes, percentiles. Up to
 * KYMO_SAMPLES_EXACT numbers are kept, and percentiles are numbers among them. Of more, only the count in
 * each bucket is kept; a bucket is 1/256 of a power of two wide, so a percentile is known to 0.4 %, and is
 * the roundest number in its bucket. Negative numbers have buckets of their own, by their size.
 */
#ifndef KYMO_STAT_SAMPLES_H
#define KYMO_STAT_SAMPLES_H

#include "stat/floats.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KYMO_SAMPLES_EXACT 4096
#define KYMO_SAMPLES_BITS 8
#define KYMO_SAMPLES_STEPS (1u << KYMO_SAMPLES_BITS)
#define KYMO_SAMPLES_OCTAVES \
  (65u - KYMO_SAMPLES_BITS) /* those of 256 to 511, …, 2^63 to 2^64 - 1, and of all below */

/* Counts of the steps of each power of two; NULL: none. */
struct kymo_buckets {
  uint64_t *octaves[KYMO_SAMPLES_OCTAVES];
};

struct kymo_samples {
  uint64_t count;
  int64_t least, most;
  double total, mean, squares; /* squares: of the distances from the mean */
  uint64_t below_zero;         /* how many are */
  int64_t *values;             /* all of them, while they are few; in no order */
  uint32_t room;
  struct kymo_buckets *sides[2]; /* of many: of numbers from zero on, and of negative ones; NULL: none */
  struct kymo_floats *floats;    /* of floating-point numbers, which are only counted here; or NULL */
};

/* A percentile: it is known in steps of 10^unknown_digits. */
struct kymo_percentile {
  int64_t value;
  unsigned unknown_digits;
};

/* Adds a number; false: out of memory. */
bool kymo_samples_add(struct kymo_samples *samples, int64_t value);
/* Adds a floating-point number; false: out of memory. */
bool kymo_samples_add_float(struct kymo_samples *samples, double value);
/* Adds a number only to count, sum, mean, deviation and extremes, which needs no memory; for samples whose
 * percentiles are not needed. */
void kymo_samples_note(struct kymo_samples *samples, int64_t value);
/* Adds all numbers of `more`; false: out of memory. */
bool kymo_samples_join(struct kymo_samples *samples, const struct kymo_samples *more);
/* Adds to a bucket (kymo_buckets), not to the rest; false: out of memory, or there is no such bucket. */
bool kymo_samples_fill(struct kymo_samples *samples, bool is_below, unsigned index, uint64_t count);
/* Its approximate size in bytes. */
static inline size_t kymo_samples_bytes(const struct kymo_samples *samples) {
  return samples->floats                       ? kymo_floats_bytes(samples->floats)
         : samples->room                       ? samples->room * sizeof *samples->values
         : samples->count > KYMO_SAMPLES_EXACT ? 16u << 10
                                               : 0;
}
/* Frees what is kept. */
void kymo_samples_free(struct kymo_samples *samples);
/* The deviation of a sample, 0 for fewer than two numbers. */
double kymo_samples_deviation(const struct kymo_samples *samples);
/* The least number that `thousandths` of all numbers do not exceed; 0 if there are none. Kept numbers are
 * sorted. */
struct kymo_percentile kymo_samples_percentile(struct kymo_samples *samples, unsigned thousandths);
/* How many numbers have a size from 2^bits to below 2^(bits + 1), of those below zero if `is_below`; of
 * `bits` 0 also 0 itself. */
uint64_t kymo_samples_in(const struct kymo_samples *samples, bool is_below, unsigned bits);

#endif
