/* SPDX-License-Identifier: MIT */
/* 64- and 128-bit hashes over bytes, the same on every architecture (not for enemies). */
#ifndef KYMO_BASE_HASH_H
#define KYMO_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct kymo_hash128 { uint64_t high, low; };

uint64_t kymo_hash64(const void *data, size_t size, uint64_t seed);
struct kymo_hash128 kymo_hash128(const void *data, size_t size, uint64_t seed);

#endif
