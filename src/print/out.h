/* SPDX-License-Identifier: MIT */
/*
 * Fast text output: one big buffer before a FILE, and fast formatting of numbers.
 *
 *   char *at = kymo_out_room(out, 64);      at least 64 bytes to write to
 *   at = kymo_put_u64(at, value);           each put returns the end of its output
 *   out->at = at;
 *
 * The buffer goes to the file in blocks of KYMO_OUT_SIZE. The first failed write is remembered, and later
 * output is dropped; kymo_out_finish returns the error.
 */
#ifndef KYMO_PRINT_OUT_H
#define KYMO_PRINT_OUT_H

#include <kymo/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define KYMO_OUT_SIZE (128u << 10)
/* Maximum argument of kymo_out_room. */
#define KYMO_OUT_ROOM 1024u

struct kymo_out {
  char *at, *end; /* where the next byte is stored; the end of the buffer */
  char *data;
  FILE *file;
  int error_number; /* errno of the first failed write, or 0 */
  uint64_t flushes; /* how often the buffer was emptied */
};

/* KYMO_E_MEMORY if there is no memory for the buffer. The file belongs to the caller. */
int kymo_out_begin(struct kymo_out *out, FILE *file, struct kymo_error *error);
/* Writes the buffer to the file. */
void kymo_out_flush(struct kymo_out *out);
/* Bytes of any length. */
void kymo_out_long(struct kymo_out *out, const void *bytes, size_t size);
/* KYMO_E_SYSTEM once a write has failed, else KYMO_OK. */
int kymo_out_check(const struct kymo_out *out, struct kymo_error *error);
/* Writes the rest and frees the buffer; the result is that of kymo_out_check. */
int kymo_out_finish(struct kymo_out *out, struct kymo_error *error);

static inline char *kymo_out_room(struct kymo_out *out, size_t size) {
  if (__builtin_expect((size_t)(out->end - out->at) < size, 0))
    kymo_out_flush(out);
  return out->at;
}

static inline void kymo_out_bytes(struct kymo_out *out, const void *bytes, size_t size) {
  if (__builtin_expect(size > KYMO_OUT_ROOM, 0)) {
    kymo_out_long(out, bytes, size);
    return;
  }
  char *at = kymo_out_room(out, size);
  memcpy(at, bytes, size);
  out->at = at + size;
}

#define kymo_out_literal(out, text) kymo_out_bytes(out, "" text, sizeof(text) - 1)

static inline void kymo_out_byte(struct kymo_out *out, char byte) {
  *kymo_out_room(out, 1) = byte;
  out->at++;
}

/*
 * A prepared text: KYMO_PIECE_SLACK readable bytes follow it, so that short ones are copied by a fixed number
 * of moves instead of a call.
 */
struct kymo_piece {
  const char *text;
  uint32_t length;
};
#define KYMO_PIECE_SLACK 32

static inline void kymo_out_piece(struct kymo_out *out, const char *text, size_t length) {
  if (__builtin_expect(length > KYMO_PIECE_SLACK, 0)) {
    kymo_out_bytes(out, text, length);
    return;
  }
  char *at = kymo_out_room(out, KYMO_PIECE_SLACK);
  memcpy(at, text, 16);
  memcpy(at + 16, text + 16, 16);
  out->at = at + length;
}

/* ---- texts ---- */

/*
 * Bytes that a sink must not copy unchanged: all below 32, 127, four of its own (each 16 times, for the
 * comparison), and those above 127 if `high`.
 */
struct kymo_specials {
  char own[4][16];
  bool high;
};

#define KYMO_TIMES_16(c) \
  { c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c }

/*
 * Copies 16 bytes, and returns how many of them precede the first special one. Both texts must have 16
 * accessible bytes.
 */
static inline unsigned kymo_copy_plain(char *at, const uint8_t *from, const struct kymo_specials *specials) {
#ifdef __SSE2__
  __m128i bytes = _mm_loadu_si128((const __m128i *)from);
  __m128i found = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(127));
  for (int i = 0; i < 4; i++)
    found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_loadu_si128((const __m128i *)specials->own[i])));
  /* as signed bytes, those above 127 are below 32 too */
  __m128i low = specials->high ? _mm_cmplt_epi8(bytes, _mm_set1_epi8(32))
                               : _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(31)), bytes);
  _mm_storeu_si128((__m128i *)at, bytes);
  return (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(_mm_or_si128(found, low)) | 1u << 16);
#else
  unsigned i = 0;
  for (; i < 16; i++) {
    at[i] = (char)from[i];
    if (from[i] < 32 || from[i] == 127 || (specials->high && from[i] > 127) || at[i] == specials->own[0][0] ||
        at[i] == specials->own[1][0] || at[i] == specials->own[2][0] || at[i] == specials->own[3][0])
      break;
  }
  return i;
#endif
}

/*
 * ---- numbers ----
 * At most 20 bytes for 64 bits in base 10 (24 are touched), 66 in base 2.
 *
 * Eight digits are computed at once in one word: halves of four digits are split into pairs, pairs into
 * digits, each step for all parts together, since a product by a reciprocal does not reach the neighbouring
 * part. Leading zeros are shifted out before the word is stored.
 */

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
/* The shortest decimal form that reads back as the same double (the same float if `single`);
 * integral values get ".0" when `point`; needs 32 bytes. Not for NaN and infinities. */
char *kymo_put_double(char *at, double value, bool single, bool point);
/* A byte as two hexadecimal digits. */
char *kymo_put_hex_byte(char *at, uint8_t value);
/* 36 characters. */
char *kymo_put_uuid(char *at, const uint8_t uuid[16]);

#endif
