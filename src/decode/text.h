/* SPDX-License-Identifier: MIT */
/* The end of a text, many bytes at a time. */
#ifndef KYMO_DECODE_TEXT_H
#define KYMO_DECODE_TEXT_H

#include "base/bytes.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Bytes of a text before its zero, if there are fewer than KYMO_TEXT_GLANCE; else that. No branch depends on
 * them. */
#ifdef __SSE2__
#define KYMO_TEXT_GLANCE 16
static inline unsigned kymo_text_glance(const uint8_t *text) {
  __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
  unsigned zeros = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
  return (unsigned)__builtin_ctz(zeros | 1u << KYMO_TEXT_GLANCE);
}
#else
#define KYMO_TEXT_GLANCE 8
static inline unsigned kymo_text_glance(const uint8_t *text) {
  uint64_t word = kymo_load_le64(text);
  uint64_t zeros = (word - UINT64_C(0x0101010101010101)) & ~word & UINT64_C(0x8080808080808080);
  return zeros ? (unsigned)__builtin_ctzll(zeros) / 8 : KYMO_TEXT_GLANCE;
}
#endif

/* The first byte after the zero byte that ends a string. May read KYMO_SLACK bytes beyond `end`; a result
 * beyond `end` means that there is none before. */
static inline const uint8_t *kymo_string_end(const uint8_t *text, const uint8_t *end) {
#ifdef __SSE2__
  do {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
    unsigned zeros = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
    if (zeros)
      return text + __builtin_ctz(zeros) + 1;
    text += 16;
  } while (text < end);
#else
  do { /* x - 1 borrows into the high bit of the first zero byte */
    uint64_t word = kymo_load_le64(text);
    uint64_t zeros = (word - UINT64_C(0x0101010101010101)) & ~word & UINT64_C(0x8080808080808080);
    if (zeros)
      return text + (unsigned)__builtin_ctzll(zeros) / 8 + 1;
    text += 8;
  } while (text < end);
#endif
  return end + 1;
}

#endif
