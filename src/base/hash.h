/* SPDX-License-Identifier: MIT */
/*
 * Hashes. Those over bytes are the same on every machine and may be stored in files; an attacker who chooses
 * the bytes can make them collide. The keyed one differs from process to process, which prevents that: for
 * tables of values from files.
 */
#ifndef KYMO_BASE_HASH_H
#define KYMO_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct kymo_hash128 {
  uint64_t high, low;
};

uint64_t kymo_hash64(const void *data, size_t size, uint64_t seed);
struct kymo_hash128 kymo_hash128(const void *data, size_t size, uint64_t seed);

/* A keyed hash (SipHash-1-3) of 64-bit words: begin, add each, end. */
struct kymo_keyed {
  uint64_t a, b, c, d;
};
void kymo_keyed_begin(struct kymo_keyed *hash);
void kymo_keyed_add(struct kymo_keyed *hash, uint64_t word);
/* Adds a text and its length; NULL and "" are different. */
void kymo_keyed_add_text(struct kymo_keyed *hash, const char *text);
uint64_t kymo_keyed_end(struct kymo_keyed *hash);
/* The keyed hash of two words. */
uint64_t kymo_keyed_pair(uint64_t one, uint64_t other);
/* The keyed hash of one text. */
uint64_t kymo_keyed_text(const char *text, size_t length);

#endif
