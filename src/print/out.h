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

#include "base/digits.h"
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

#ifdef __SSE2__
static inline __m128i kymo_equal_own(__m128i bytes, const struct kymo_specials *specials, unsigned i) {
  return _mm_cmpeq_epi8(bytes, _mm_loadu_si128((const __m128i *)specials->own[i]));
}
#endif

/*
 * Copies 16 bytes, and returns how many of them precede the first special one. Both texts must have 16
 * accessible bytes.
 */
static inline unsigned kymo_copy_plain(char *at, const uint8_t *from, const struct kymo_specials *specials) {
#ifdef __SSE2__
  __m128i bytes = _mm_loadu_si128((const __m128i *)from);
  __m128i found =
      _mm_or_si128(_mm_or_si128(kymo_equal_own(bytes, specials, 0), kymo_equal_own(bytes, specials, 1)),
                   _mm_or_si128(kymo_equal_own(bytes, specials, 2), kymo_equal_own(bytes, specials, 3)));
  found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(127)));
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

/* ---- numbers: integers in base/digits.h ---- */

/* The shortest decimal form that reads back as the same double (the same float if `single`);
 * integral values get ".0" when `point`; needs 32 bytes. Not for NaN and infinities. */
char *kymo_put_double(char *at, double value, bool single, bool point);
/* 36 characters. */
char *kymo_put_uuid(char *at, const uint8_t uuid[16]);

#endif
