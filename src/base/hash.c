/* SPDX-License-Identifier: MIT */
/* MurmurHash3 (x64, 128 bits; by Austin Appleby, public domain), with little-endian loads so
 * that the result does not depend on the machine, and with a seed of 64 bits. */
#include "base/hash.h"
#include "base/bytes.h"
#include <sys/auxv.h>

#define C1 UINT64_C(0x87c37b91114253d5)
#define C2 UINT64_C(0x4cf5ad432745937f)

static uint64_t rotate(uint64_t value, unsigned by) { return value << by | value >> (64 - by); }

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

/* ---- keyed (SipHash, by Jean-Philippe Aumasson and Daniel J. Bernstein) ---- */

static inline void sip_round(struct kymo_keyed *h) {
  h->a += h->b;
  h->b = rotate(h->b, 13) ^ h->a;
  h->a = rotate(h->a, 32);
  h->c += h->d;
  h->d = rotate(h->d, 16) ^ h->c;
  h->a += h->d;
  h->d = rotate(h->d, 21) ^ h->a;
  h->c += h->b;
  h->b = rotate(h->b, 17) ^ h->c;
  h->c = rotate(h->c, 32);
}

/* The kernel gives each process 16 random bytes, from which libc derives its own secrets: ours are a hash of
 * them. */
static struct kymo_hash128 key(void) {
  static uint64_t low, high; /* relaxed: a thread that finds a zero computes the same value again */
  struct kymo_hash128 made = {.high = __atomic_load_n(&high, __ATOMIC_RELAXED),
                              .low = __atomic_load_n(&low, __ATOMIC_RELAXED)};
  const void *random = made.low && made.high ? NULL : (const void *)(uintptr_t)getauxval(AT_RANDOM);
  if (!random)
    return made;
  made = kymo_hash128(random, 16, 0);
  __atomic_store_n(&high, made.high, __ATOMIC_RELAXED);
  __atomic_store_n(&low, made.low, __ATOMIC_RELAXED);
  return made;
}

static inline void begin(struct kymo_keyed *hash) {
  struct kymo_hash128 k = key();
  *hash = (struct kymo_keyed){.a = k.low ^ UINT64_C(0x736f6d6570736575),
                              .b = k.high ^ UINT64_C(0x646f72616e646f6d),
                              .c = k.low ^ UINT64_C(0x6c7967656e657261),
                              .d = k.high ^ UINT64_C(0x7465646279746573)};
}

static inline void add(struct kymo_keyed *hash, uint64_t word) {
  hash->d ^= word;
  sip_round(hash);
  hash->a ^= word;
}

static inline uint64_t end(struct kymo_keyed *hash) {
  hash->c ^= 0xff;
  for (int i = 0; i < 3; i++)
    sip_round(hash);
  return hash->a ^ hash->b ^ hash->c ^ hash->d;
}

void kymo_keyed_begin(struct kymo_keyed *hash) { begin(hash); }
void kymo_keyed_add(struct kymo_keyed *hash, uint64_t word) { add(hash, word); }
uint64_t kymo_keyed_end(struct kymo_keyed *hash) { return end(hash); }

/* In one piece, so that all of it is in registers. */
uint64_t kymo_keyed_pair(uint64_t one, uint64_t other) {
  struct kymo_keyed hash;
  begin(&hash);
  add(&hash, one);
  add(&hash, other);
  return end(&hash);
}

static void add_bytes(struct kymo_keyed *hash, const char *from, size_t length) {
  for (; length >= 8; length -= 8, from += 8)
    kymo_keyed_add(hash, kymo_load_host64(from));
  if (length > 0)
    kymo_keyed_add(hash, load_rest((const uint8_t *)from, length));
}

void kymo_keyed_add_text(struct kymo_keyed *hash, const char *text) {
  size_t length = text ? strlen(text) : 0;
  kymo_keyed_add(hash, text ? length : UINT64_MAX);
  add_bytes(hash, text, length);
}

uint64_t kymo_keyed_text(const char *text, size_t length) {
  struct kymo_keyed hash;
  kymo_keyed_begin(&hash);
  kymo_keyed_add(&hash, length);
  add_bytes(&hash, text, length);
  return kymo_keyed_end(&hash);
}
