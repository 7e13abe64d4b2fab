/* SPDX-License-Identifier: MIT */
/*
 * Reading numbers out of bytes: whole ones of both byte orders, and 1 to 64 bits at any bit.
 *
 * Bits are numbered from the first bit of `data`. What "first" means inside a byte depends on
 * the byte order, as CTF packs (least significant bit first, or most significant first):
 *
 *   little  byte 0: 7 6 5 4 3 2 1 0   byte 1: 15 14 13 …    low bits of the value come first
 *   big     byte 0: 0 1 2 3 4 5 6 7   byte 1: 8 9 10 …      high bits of the value come first
 *
 * The plain functions trust the caller's bounds check and touch only the bytes that hold the bits asked for,
 * at most nine. struct kymo_bytes is for headers: it checks each step; after the first step beyond the end
 * it returns zeros and remembers the failure.
 */
#ifndef KYMO_BASE_BYTES_H
#define KYMO_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define KYMO_HOST_IS_BIG true
#else
#define KYMO_HOST_IS_BIG false
#endif

static inline uint16_t kymo_load_host16(const void *from) {
  uint16_t value;
  memcpy(&value, from, sizeof value);
  return value;
}

static inline uint32_t kymo_load_host32(const void *from) {
  uint32_t value;
  memcpy(&value, from, sizeof value);
  return value;
}

static inline uint64_t kymo_load_host64(const void *from) {
  uint64_t value;
  memcpy(&value, from, sizeof value);
  return value;
}

static inline uint16_t kymo_load_le16(const void *from) {
  uint16_t value = kymo_load_host16(from);
  return KYMO_HOST_IS_BIG ? __builtin_bswap16(value) : value;
}

static inline uint32_t kymo_load_le32(const void *from) {
  uint32_t value = kymo_load_host32(from);
  return KYMO_HOST_IS_BIG ? __builtin_bswap32(value) : value;
}

static inline uint64_t kymo_load_le64(const void *from) {
  uint64_t value = kymo_load_host64(from);
  return KYMO_HOST_IS_BIG ? __builtin_bswap64(value) : value;
}

static inline void kymo_store_le64(void *to, uint64_t value) {
  value = KYMO_HOST_IS_BIG ? __builtin_bswap64(value) : value;
  memcpy(to, &value, sizeof value);
}

static inline uint16_t kymo_load_be16(const void *from) {
  uint16_t value = kymo_load_host16(from);
  return KYMO_HOST_IS_BIG ? value : __builtin_bswap16(value);
}

static inline uint32_t kymo_load_be32(const void *from) {
  uint32_t value = kymo_load_host32(from);
  return KYMO_HOST_IS_BIG ? value : __builtin_bswap32(value);
}

static inline uint64_t kymo_load_be64(const void *from) {
  uint64_t value = kymo_load_host64(from);
  return KYMO_HOST_IS_BIG ? value : __builtin_bswap64(value);
}

/* The lowest `width` bits set; width 1 to 64. */
static inline uint64_t kymo_bits_mask(unsigned width) { return UINT64_MAX >> (64 - width); }

/* Widens a two's complement number of `width` (1 to 64) bits. Bits above it are ignored. */
static inline int64_t kymo_sign_extend(uint64_t value, unsigned width) {
  uint64_t sign = UINT64_C(1) << (width - 1);
  return (int64_t)(((value & kymo_bits_mask(width)) ^ sign) - sign);
}

/* The lowest `width` (1 to 64) bits in reverse order; the bits above are dropped. */
static inline uint64_t kymo_bits_reverse(uint64_t value, unsigned width) {
  value = (value >> 1 & UINT64_C(0x5555555555555555)) | (value & UINT64_C(0x5555555555555555)) << 1;
  value = (value >> 2 & UINT64_C(0x3333333333333333)) | (value & UINT64_C(0x3333333333333333)) << 2;
  value = (value >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (value & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
  return __builtin_bswap64(value) >> (64 - width);
}

/* The slow cases of kymo_bits_le and kymo_bits_be: `shift` (0 to 7) bits into the first byte. */
static inline uint64_t kymo_bits_le_any(const uint8_t *from, unsigned shift, unsigned width) {
  unsigned bytes = (shift + width + 7) / 8;
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes && i < 8; i++)
    value |= (uint64_t)from[i] << (8 * i);
  value >>= shift;
  if (bytes == 9)
    value |= (uint64_t)from[8] << (64 - shift);
  return value & kymo_bits_mask(width);
}

static inline uint64_t kymo_bits_be_any(const uint8_t *from, unsigned shift, unsigned width) {
  unsigned end = shift + width, bytes = (end + 7) / 8;
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes && i < 8; i++)
    value = value << 8 | from[i];
  if (bytes == 9)
    value = value << (end - 64) | (uint64_t)from[8] >> (72 - end);
  else
    value >>= bytes * 8 - end;
  return value & kymo_bits_mask(width);
}

/* `width` (1 to 64) bits from bit `at` of `data`, little-endian packing. */
static inline uint64_t kymo_bits_le(const uint8_t *data, uint64_t at, unsigned width) {
  const uint8_t *from = data + at / 8;
  unsigned shift = (unsigned)(at % 8);
  if (shift == 0) {
    switch (width) {
    case 8: return *from;
    case 16: return kymo_load_le16(from);
    case 32: return kymo_load_le32(from);
    case 64: return kymo_load_le64(from);
    }
  }
  return kymo_bits_le_any(from, shift, width);
}

/* `width` (1 to 64) bits from bit `at` of `data`, big-endian packing. */
static inline uint64_t kymo_bits_be(const uint8_t *data, uint64_t at, unsigned width) {
  const uint8_t *from = data + at / 8;
  unsigned shift = (unsigned)(at % 8);
  if (shift == 0) {
    switch (width) {
    case 8: return *from;
    case 16: return kymo_load_be16(from);
    case 32: return kymo_load_be32(from);
    case 64: return kymo_load_be64(from);
    }
  }
  return kymo_bits_be_any(from, shift, width);
}

static inline uint64_t kymo_bits(const uint8_t *data, uint64_t at, unsigned width, bool is_big) {
  return is_big ? kymo_bits_be(data, at, width) : kymo_bits_le(data, at, width);
}

/* Stores the lowest `width` (1 to 64) bits of `value` at bit `at` of `data`, and leaves all others alone. */
static inline void kymo_bits_put(uint8_t *data, uint64_t at, unsigned width, bool is_big, uint64_t value) {
  uint8_t *to = data + at / 8;
  for (unsigned shift = (unsigned)(at % 8); width > 0; shift = 0, to++) {
    unsigned part = 8 - shift < width ? 8 - shift : width, place = is_big ? 8 - shift - part : shift;
    uint8_t mask = (uint8_t)(((1u << part) - 1) << place);
    uint64_t bits = is_big ? value >> (width - part) : value;
    *to = (uint8_t)((*to & ~mask) | ((bits << place) & mask));
    value = is_big ? value : value >> part;
    width -= part;
  }
}

/* `at` rounded up to a multiple of `align` (a power of two). UINT64_MAX if that does not fit. */
static inline uint64_t kymo_align_up(uint64_t at, uint64_t align) {
  uint64_t up = (at + (align - 1)) & ~(align - 1);
  return up < at ? UINT64_MAX : up;
}

/* A place in bounded bytes. Start with { .data = …, .size = …, .is_big = … }. */
struct kymo_bytes {
  const uint8_t *data;
  size_t size, at; /* at ≤ size always */
  bool is_big;
  bool failed; /* a read went beyond the end; all values since then are zero */
};

/* The next `count` bytes, or NULL when there are fewer. */
static inline const uint8_t *kymo_bytes_take(struct kymo_bytes *bytes, size_t count) {
  if (bytes->failed || count > bytes->size - bytes->at) {
    bytes->failed = true;
    return NULL;
  }
  const uint8_t *here = bytes->data + bytes->at;
  bytes->at += count;
  return here;
}

static inline uint8_t kymo_bytes_u8(struct kymo_bytes *bytes) {
  const uint8_t *from = kymo_bytes_take(bytes, 1);
  return from ? *from : 0;
}

static inline uint16_t kymo_bytes_u16(struct kymo_bytes *bytes) {
  const uint8_t *from = kymo_bytes_take(bytes, 2);
  return !from ? 0 : bytes->is_big ? kymo_load_be16(from) : kymo_load_le16(from);
}

static inline uint32_t kymo_bytes_u32(struct kymo_bytes *bytes) {
  const uint8_t *from = kymo_bytes_take(bytes, 4);
  return !from ? 0 : bytes->is_big ? kymo_load_be32(from) : kymo_load_le32(from);
}

static inline uint64_t kymo_bytes_u64(struct kymo_bytes *bytes) {
  const uint8_t *from = kymo_bytes_take(bytes, 8);
  return !from ? 0 : bytes->is_big ? kymo_load_be64(from) : kymo_load_le64(from);
}

#endif
