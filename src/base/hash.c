/* SPDX-License-Identifier: MIT */
/* MurmurHash3 (x64, 128 bits; by Austin Appleby, public domain), with little-endian loads so
 * that the result does not depend on the machine, and with a seed of 64 bits. */
#include "base/hash.h"
#include "base/bytes.h"

#define C1 UINT64_C(0x87c37b91114253d5)
#define C2 UINT64_C(0x4cf5ad432745937f)

static uint64_t rotate(uint64_t value, unsigned by) {
  return value << by | value >> (64 - by);
}

static uint64_t finish(uint64_t value) {
  value ^= value >> 33;
  value *= UINT64_C(0xff51afd7ed558ccd);
  value ^= value >> 33;
  value *= UINT64_C(0xc4ceb9fe1a85ec53);
  value ^= value >> 33;
  return value;
}

/* Up to eight bytes at the end of the data. */
static uint64_t load_rest(const uint8_t *from, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; i++)
    value |= (uint64_t)from[i] << (8 * i);
  return value;
}

struct kymo_hash128 kymo_hash128(const void *data, size_t size, uint64_t seed) {
  const uint8_t *at = data;
  uint64_t h1 = seed, h2 = seed;
  for (size_t blocks = size / 16; blocks > 0; blocks--, at += 16) {
    h1 ^= rotate(kymo_load_le64(at) * C1, 31) * C2;
    h1 = (rotate(h1, 27) + h2) * 5 + 0x52dce729;
    h2 ^= rotate(kymo_load_le64(at + 8) * C2, 33) * C1;
    h2 = (rotate(h2, 31) + h1) * 5 + 0x38495ab5;
  }
  size_t rest = size % 16;
  if (rest > 8)
    h2 ^= rotate(load_rest(at + 8, rest - 8) * C2, 33) * C1;
  if (rest > 0)
    h1 ^= rotate(load_rest(at, rest < 8 ? rest : 8) * C1, 31) * C2;
  h1 ^= size;
  h2 ^= size;
  h1 += h2;
  h2 += h1;
  h1 = finish(h1);
  h2 = finish(h2);
  h1 += h2;
  h2 += h1;
  return (struct kymo_hash128){.high = h1, .low = h2};
}

uint64_t kymo_hash64(const void *data, size_t size, uint64_t seed) {
  return kymo_hash128(data, size, seed).high;
}
