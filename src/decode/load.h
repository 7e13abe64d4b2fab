/* SPDX-License-Identifier: MIT */
/*
 * Loads for the decoder: 1 to 64 bits at any bit offset, by one unaligned word. They may read up to
 * KYMO_SLACK bytes after the last byte with a wanted bit; sources guarantee that these exist.
 */
#ifndef KYMO_DECODE_LOAD_H
#define KYMO_DECODE_LOAD_H

#include "base/bytes.h"

static inline uint64_t kymo_fast_le(const uint8_t *data, uint64_t at, unsigned bits) {
  const uint8_t *from = data + (at >> 3);
  unsigned shift = (unsigned)(at & 7);
  uint64_t value = kymo_load_le64(from) >> shift;
  if (__builtin_expect(shift + bits > 64, 0))
    value |= (uint64_t)from[8] << (64 - shift);
  return value & (UINT64_MAX >> (64 - bits));
}

static inline uint64_t kymo_fast_be(const uint8_t *data, uint64_t at, unsigned bits) {
  const uint8_t *from = data + (at >> 3);
  unsigned shift = (unsigned)(at & 7);
  uint64_t value = kymo_load_be64(from) << shift;
  if (__builtin_expect(shift + bits > 64, 0))
    value |= (uint64_t)from[8] >> (8 - shift);
  return value >> (64 - bits);
}

static inline uint64_t kymo_fast_bits(const uint8_t *data, uint64_t at, unsigned bits, bool is_big) {
  return is_big ? kymo_fast_be(data, at, bits) : kymo_fast_le(data, at, bits);
}

/* `at` rounded up to a power of two; positions are far below the overflow (see KYMO_MAX_BITS). */
static inline uint64_t kymo_round_up(uint64_t at, uint64_t align) { return (at + align - 1) & ~(align - 1); }

/* No packet is larger: sums of positions, sizes and alignments stay within 64 bits. */
#define KYMO_MAX_BITS (UINT64_C(1) << 60)

#endif
