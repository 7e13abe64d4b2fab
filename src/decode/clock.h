/* SPDX-License-Identifier: MIT */
/*
 * Cycles to nanoseconds, exact and cheap for the steps of a stream: from an anchor (a clock value, its
 * nanoseconds, and the fraction left over) a nearby value is one multiplication away:
 *
 *   ns = anchor_ns + (distance × 10^9 + rest) / frequency
 *
 * The division is a multiplication by the reciprocal; the result is at most one too small, and corrected by
 * the remainder. Far values move the anchor, by kymo_clock_ns.
 *
 * Readers of CTF agree on other nanoseconds where a clock does not count them: babeltrace2 converts the
 * clock's offset and the value each in double precision and drops the fractions. Times of CTF are rounded so
 * in every output, filter, index and query; kymo_ns_anchor computes them at every value: the reach is 0.
 * Rounding keeps the order of values.
 */
#ifndef KYMO_DECODE_CLOCK_H
#define KYMO_DECODE_CLOCK_H

#include <kymo/schema.h>

struct kymo_ns {
  const struct kymo_clock *clock; /* NULL: there is no time */
  uint64_t frequency, reciprocal; /* floor((2^64 - 1) / frequency) */
  int64_t shift_ns;               /* added to all times */
  bool is_rounded;                /* as readers of CTF do; anchor_ns is the time of cycle 0 */
  uint64_t anchor_cycles, rest;   /* rest < frequency: the fraction missing in anchor_ns, in 1/frequency ns */
  int64_t anchor_ns;
  bool is_beyond; /* set if an exact time does not fit 64 bits */
  uint64_t reach; /* distances below this need no new anchor; 0: always */
};

/* `is_rounded`: by the arithmetic of CTF, unless the time of cycle 0 does not fit 64 bits. */
void kymo_ns_begin(struct kymo_ns *ns, const struct kymo_clock *clock, int64_t shift_ns, bool is_rounded);
/* Returns the time of `cycles`, at most INT64_MAX - 1, and moves the anchor there if times are exact. */
int64_t kymo_ns_anchor(struct kymo_ns *ns, uint64_t cycles);

static inline uint64_t kymo_high_product(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
  return (uint64_t)((unsigned __int128)a * b >> 64);
#else
  uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
  uint64_t cross = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
  uint64_t middle = (a & UINT32_MAX) * (b >> 32) + (cross & UINT32_MAX);
  return (a >> 32) * (b >> 32) + (cross >> 32) + (middle >> 32);
#endif
}

static inline int64_t kymo_ns_of(struct kymo_ns *ns, uint64_t cycles) {
  uint64_t distance = cycles - ns->anchor_cycles;
  if (__builtin_expect(distance >= ns->reach, 0))
    return kymo_ns_anchor(ns, cycles);
  uint64_t scaled = distance * UINT64_C(1000000000) + ns->rest;
  uint64_t quotient = kymo_high_product(scaled, ns->reciprocal);
  quotient += scaled - quotient * ns->frequency >= ns->frequency;
  return ns->anchor_ns + (int64_t)quotient;
}

#endif
