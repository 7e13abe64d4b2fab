/* SPDX-License-Identifier: MIT */
/*
 * Fast formatting of integers. Each put returns the end of its output.
 *
 * At most 20 bytes for 64 bits in base 10 (24 are touched), 66 in base 2.
 *
 * Eight digits are computed at once in one word: halves of four digits are split into pairs, pairs into
 * digits, each step for all parts together, since a product by a reciprocal does not reach the neighbouring
 * part. Leading zeros are shifted out before the word is stored.
 */
#ifndef KYMO_BASE_DIGITS_H
#define KYMO_BASE_DIGITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes that a decimal number of 64 bits, with its sign, and a hexadecimal one may touch. */
#define KYMO_DECIMAL_ROOM 25
#define KYMO_HEX_ROOM 16

extern const char kymo_digit_pairs[200];

static inline char *kymo_put_pair(char *at, uint32_t value) {
  memcpy(at, kymo_digit_pairs + 2 * value, 2);
  return at + 2;
}

/* The digits of a value below 10^8 as bytes 0 to 9, the first one lowest. */
static inline uint64_t kymo_eight_digits(uint32_t value) {
  uint64_t halves = value / 10000 | (uint64_t)(value % 10000) << 32;
  uint64_t high = (halves * 10486 >> 20) & UINT64_C(0x7f0000007f);
  uint64_t pairs = high | (halves - 100 * high) << 16;
  uint64_t tens = (pairs * 103 >> 10) & UINT64_C(0xf000f000f000f);
  return tens | (pairs - 10 * tens) << 8;
}

static inline void kymo_store_digits(char *at, uint64_t digits) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  digits = __builtin_bswap64(digits);
#endif
  memcpy(at, &digits, sizeof(digits));
}

#define KYMO_ZEROS UINT64_C(0x3030303030303030)

/* Exactly eight digits. */
static inline char *kymo_put_eight(char *at, uint32_t value) {
  kymo_store_digits(at, kymo_eight_digits(value) | KYMO_ZEROS);
  return at + 8;
}

/* A value below 10^8 without leading zeros; eight bytes are written. */
static inline char *kymo_put_short(char *at, uint32_t value) {
  uint64_t digits = kymo_eight_digits(value);
  unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;
  kymo_store_digits(at, (digits | KYMO_ZEROS) >> 8 * zeros);
  return at + 8 - zeros;
}

/* The same below 10^4, as most numbers are; four bytes are written. */
static inline uint32_t kymo_four_digits(uint32_t value) {
  uint32_t high = value * 5243 >> 19;
  uint32_t pairs = high | (value - 100 * high) << 16;
  uint32_t tens = (pairs * 103 >> 10) & 0xf000f;
  return tens | (pairs - 10 * tens) << 8;
}

static inline void kymo_store_four(char *at, uint32_t digits) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  digits = __builtin_bswap32(digits);
#endif
  memcpy(at, &digits, sizeof(digits));
}

static inline char *kymo_put_small(char *at, uint32_t value) {
  uint32_t digits = kymo_four_digits(value);
  unsigned zeros = (unsigned)__builtin_ctz(digits | 1u << 24) / 8;
  kymo_store_four(at, (digits | (uint32_t)KYMO_ZEROS) >> 8 * zeros);
  return at + 4 - zeros;
}

char *kymo_put_u64_long(char *at, uint64_t value);
/* Decimal digits of `value`. */
static inline char *kymo_put_u64(char *at, uint64_t value) {
  if (value < 10000)
    return kymo_put_small(at, (uint32_t)value);
  return value < 100000000 ? kymo_put_short(at, (uint32_t)value) : kymo_put_u64_long(at, value);
}

static inline char *kymo_put_i64(char *at, int64_t value) {
  *at = '-';
  return value < 0 ? kymo_put_u64(at + 1, 0 - (uint64_t)value) : kymo_put_u64(at, (uint64_t)value);
}

/* Nine digits: the part of a second. */
static inline char *kymo_put_nanoseconds(char *at, uint32_t value) {
  if (value < 10000) {
    memcpy(at, "00000", 5);
    kymo_store_four(at + 5, kymo_four_digits(value) | (uint32_t)KYMO_ZEROS);
    return at + 9;
  }
  *at = (char)('0' + value / 100000000);
  return kymo_put_eight(at + 1, value % 100000000);
}

/* The same for base 16: eight hexadecimal digits as bytes 0 to 15. */
static inline uint64_t kymo_eight_nibbles(uint32_t value) {
  uint64_t parts = (value | (uint64_t)value << 16) & UINT64_C(0xffff0000ffff);
  parts = (parts | parts << 8) & UINT64_C(0xff00ff00ff00ff);
  return __builtin_bswap64((parts | parts << 4) & UINT64_C(0xf0f0f0f0f0f0f0f));
}

/* Bytes 0 to 15 to characters; `letters` is the distance from '9' to the letter that follows it, less one. */
static inline uint64_t kymo_nibble_text(uint64_t nibbles, unsigned letters) {
  uint64_t above_nine = (nibbles + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
  return (nibbles | KYMO_ZEROS) + above_nine * letters;
}

/* Digits of `value` in base 16 (capitals if `upper`), without leading zeros; 16 bytes are written. */
static inline char *kymo_put_hex(char *at, uint64_t value, bool upper) {
  unsigned letters = upper ? 'A' - '9' - 1 : 'a' - '9' - 1;
  uint64_t high = kymo_eight_nibbles((uint32_t)(value >> 32)), low = kymo_eight_nibbles((uint32_t)value);
  unsigned zeros = (unsigned)__builtin_ctzll((value >> 32 ? high : low) | UINT64_C(1) << 56) / 8;
  if (value >> 32) {
    kymo_store_digits(at, kymo_nibble_text(high, letters) >> 8 * zeros);
    at += 8 - zeros;
    zeros = 0;
  }
  kymo_store_digits(at, kymo_nibble_text(low, letters) >> 8 * zeros);
  return at + 8 - zeros;
}

char *kymo_put_octal(char *at, uint64_t value);
/* The lowest `bits` bits, the highest of them first. */
char *kymo_put_binary(char *at, uint64_t value, unsigned bits);
/* A byte as two hexadecimal digits. */
char *kymo_put_hex_byte(char *at, uint8_t value);

#endif
