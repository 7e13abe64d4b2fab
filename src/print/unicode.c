/* SPDX-License-Identifier: MIT */
/* Characters of all encodings; those of UTF-8 and UTF-16 by base/utf8.h. */
#include "print/unicode.h"

static uint32_t next_utf32(const uint8_t **at, const uint8_t *end, bool is_big) {
  const uint8_t *from = *at;
  if (end - from < 4) {
    *at = end;
    return KYMO_BAD_CHARACTER;
  }
  *at = from + 4;
  uint32_t high = kymo_utf16_unit_(is_big ? from : from + 2, is_big),
           low = kymo_utf16_unit_(is_big ? from + 2 : from, is_big);
  uint32_t character = high << 16 | low;
  return character > 0x10FFFF || kymo_is_surrogate(character) ? KYMO_BAD_CHARACTER : character;
}

uint32_t kymo_next_character(enum kymo_encoding encoding, const uint8_t **at, const uint8_t *end) {
  switch (encoding) {
  case KYMO_ENCODING_UTF16LE: return kymo_next_utf16(at, end, false);
  case KYMO_ENCODING_UTF16BE: return kymo_next_utf16(at, end, true);
  case KYMO_ENCODING_UTF32LE: return next_utf32(at, end, false);
  case KYMO_ENCODING_UTF32BE: return next_utf32(at, end, true);
  default: return kymo_next_utf8(at, end);
  }
}
