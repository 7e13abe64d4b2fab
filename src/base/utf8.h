/* SPDX-License-Identifier: MIT */
#ifndef KYMO_BASE_UTF8_H
#define KYMO_BASE_UTF8_H

#include <stdint.h>

/* A wide character of a program: U+FFFD for one that is none, or half of one of UTF-16. */
static inline uint32_t kymo_sound_character(uint32_t character) {
  return character > 0x10FFFF || (character & ~0x7FFu) == 0xD800 ? 0xFFFD : character;
}

/* Writes a character (U+FFFD for one that is none) as UTF-8: 1 to 4 bytes. Returns the place behind them. */
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

#endif
