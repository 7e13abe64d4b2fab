/* SPDX-License-Identifier: MIT */
/*
 * Characters as bytes: encoding and decoding UTF-8, decoding UTF-16. A sequence that is malformed, too long
 * for its character, or half of a pair of UTF-16 is no character.
 */
#ifndef KYMO_BASE_UTF8_H
#define KYMO_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Replaces bytes that are no character of their encoding. */
#define KYMO_BAD_CHARACTER UINT32_MAX

static inline bool kymo_is_surrogate(uint32_t character) { return (character & ~0x7FFu) == 0xD800; }

/* A wide character of a program: U+FFFD for one that is none, or half of one of UTF-16. */
static inline uint32_t kymo_sound_character(uint32_t character) {
  return character > 0x10FFFF || kymo_is_surrogate(character) ? 0xFFFD : character;
}

/* Writes a character (U+FFFD for one that is none) as UTF-8: 1 to 4 bytes. Returns the place after them. */
static inline char *kymo_put_character(char *at, uint32_t character) {
  if (character > 0x10FFFF)
    character = 0xFFFD;
  if (character < 0x80) {
    *at = (char)character;
    return at + 1;
  }
  unsigned more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  static const uint8_t marks[] = {0, 0xC0, 0xE0, 0xF0};
  *at++ = (char)(marks[more] | character >> 6 * more);
  while (more-- > 0)
    *at++ = (char)(0x80 | (character >> 6 * more & 0x3F));
  return at;
}

/* Whether a byte of UTF-8 begins a character: counting those counts characters. */
static inline bool kymo_begins_character(char byte) { return (byte & 0xC0) != 0x80; }

/* Takes one character from *at, which must be below `end`. If there is none it takes one byte, so that valid
 * text after it is found again. */
static inline uint32_t kymo_next_utf8(const uint8_t **at, const uint8_t *end) {
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
  if (character < least || character > 0x10FFFF || kymo_is_surrogate(character))
    return KYMO_BAD_CHARACTER;
  *at = from + 1 + more;
  return character;
}

/* The number of bytes of the character at `at`, of at least one and at most `left` bytes; 0: it is
 * invalid. */
static inline size_t kymo_character_length(const char *at, size_t left) {
  const uint8_t *from = (const uint8_t *)at, *next = from;
  return kymo_next_utf8(&next, from + left) == KYMO_BAD_CHARACTER ? 0 : (size_t)(next - from);
}

static inline uint32_t kymo_utf16_unit_(const uint8_t *from, bool is_big) {
  return is_big ? (uint32_t)(from[0] << 8 | from[1]) : (uint32_t)(from[1] << 8 | from[0]);
}

/* The same for UTF-16; if there is no character it takes one unit, or the last byte. */
static inline uint32_t kymo_next_utf16(const uint8_t **at, const uint8_t *end, bool is_big) {
  const uint8_t *from = *at;
  if (end - from < 2) {
    *at = end;
    return KYMO_BAD_CHARACTER;
  }
  *at = from + 2;
  uint32_t first = kymo_utf16_unit_(from, is_big);
  if (!kymo_is_surrogate(first))
    return first;
  uint32_t second = end - from < 4 ? 0 : kymo_utf16_unit_(from + 2, is_big);
  if (first >= 0xDC00 || second < 0xDC00 || second > 0xDFFF)
    return KYMO_BAD_CHARACTER;
  *at = from + 4;
  return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
}

#endif
