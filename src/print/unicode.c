/* SPDX-License-Identifier: MIT */
/* Decoding UTF-8, UTF-16 and UTF-32. What is wrong is taken byte by byte (unit by unit), so that
 * sound text behind it is found again. */
#include "print/unicode.h"

static bool is_surrogate(uint32_t character) { return character >= 0xD800 && character <= 0xDFFF; }

static uint32_t next_utf8(const uint8_t **at, const uint8_t *end) {
  const uint8_t *from = *at;
  uint32_t first = *from, character, least;
  unsigned more;
  *at = from + 1;
  if (first < 0x80)
    return first;
  if (first >= 0xC2 && first < 0xE0)
    more = 1, character = first & 0x1F, least = 0x80;
  else if (first >= 0xE0 && first < 0xF0)
    more = 2, character = first & 0x0F, least = 0x800;
  else if (first >= 0xF0 && first < 0xF5)
    more = 3, character = first & 0x07, least = 0x10000;
  else
    return KYMO_BAD_CHARACTER;
  if ((size_t)(end - from) <= more)
    return KYMO_BAD_CHARACTER;
  for (unsigned i = 1; i <= more; i++) {
    if ((from[i] & 0xC0) != 0x80)
      return KYMO_BAD_CHARACTER;
    character = character << 6 | (from[i] & 0x3F);
  }
  if (character < least || character > 0x10FFFF || is_surrogate(character))
    return KYMO_BAD_CHARACTER;
  *at = from + 1 + more;
  return character;
}

static uint32_t unit16(const uint8_t *from, bool is_big) {
  return is_big ? (uint32_t)(from[0] << 8 | from[1]) : (uint32_t)(from[1] << 8 | from[0]);
}

static uint32_t next_utf16(const uint8_t **at, const uint8_t *end, bool is_big) {
  const uint8_t *from = *at;
  if (end - from < 2) {
    *at = end;
    return KYMO_BAD_CHARACTER;
  }
  *at = from + 2;
  uint32_t first = unit16(from, is_big);
  if (!is_surrogate(first))
    return first;
  uint32_t second = end - from < 4 ? 0 : unit16(from + 2, is_big);
  if (first >= 0xDC00 || second < 0xDC00 || second > 0xDFFF)
    return KYMO_BAD_CHARACTER;
  *at = from + 4;
  return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
}

static uint32_t next_utf32(const uint8_t **at, const uint8_t *end, bool is_big) {
  const uint8_t *from = *at;
  if (end - from < 4) {
    *at = end;
    return KYMO_BAD_CHARACTER;
  }
  *at = from + 4;
  uint32_t high = unit16(is_big ? from : from + 2, is_big), low = unit16(is_big ? from + 2 : from, is_big);
  uint32_t character = high << 16 | low;
  return character > 0x10FFFF || is_surrogate(character) ? KYMO_BAD_CHARACTER : character;
}

uint32_t kymo_next_character(enum kymo_encoding encoding, const uint8_t **at, const uint8_t *end) {
  switch (encoding) {
  case KYMO_ENCODING_UTF16LE: return next_utf16(at, end, false);
  case KYMO_ENCODING_UTF16BE: return next_utf16(at, end, true);
  case KYMO_ENCODING_UTF32LE: return next_utf32(at, end, false);
  case KYMO_ENCODING_UTF32BE: return next_utf32(at, end, true);
  default: return next_utf8(at, end);
  }
}
