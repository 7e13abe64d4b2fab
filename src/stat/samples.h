/* SPDX-License-Identifier: MIT */
/*
 * What is told of many measured numbers without keeping them: count, sum, mean, deviation, extremes, and percentiles
 * from buckets. A bucket is a sixteenth of a power of two wide, so a percentile is off by 3 % at most. Numbers below zero
 * have buckets of their own, by their size.
 */
#ifndef KYMO_STAT_SAMPLES_H
#define KYMO_STAT_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KYMO_SAMPLES_OCTAVES 61 /* those of 16 to 31, …, 2^63 to 2^64 - 1, and of all below */
#define KYMO_SAMPLES_STEPS 16
#define KYMO_SAMPLES_BUCKETS (KYMO_SAMPLES_OCTAVES * KYMO_SAMPLES_STEPS)

/* Counts of the steps of each power of two; NULL: none. */
struct kymo_buckets { uint64_t *octaves[KYMO_SAMPLES_OCTAVES]; };

struct kymo_samples {
  uint64_t count;
  int64_t least, most;
  double total, mean, squares;   /* squares: of the distances from the mean */
  uint64_t below_zero;           /* how many are */
  struct kymo_buckets *sides[2]; /* of numbers from zero on, and of those below; NULL: none */
};

/* Adds a number; false: out of memory. */
bool kymo_samples_add(struct kymo_samples *samples, int64_t value);
/* Adds all numbers of `more`; false: out of memory. */
bool kymo_samples_join(struct kymo_samples *samples, const struct kymo_samples *more);
/* Frees the buckets. */
void kymo_samples_free(struct kymo_samples *samples);
/* The deviation of a sample, 0 for fewer than two numbers. */
double kymo_samples_deviation(const struct kymo_samples *samples);
/* The number below which `share` (0 to 1) of all numbers are. */
int64_t kymo_samples_percentile(const struct kymo_samples *samples, double share);
/* The smallest size of a bucket, index < KYMO_SAMPLES_BUCKETS. */
uint64_t kymo_samples_bucket(unsigned index);
/* How many numbers are in a bucket, of those below zero if `is_below`. */
uint64_t kymo_samples_in(const struct kymo_samples *samples, bool is_below, unsigned index);

#endif
