/* SPDX-License-Identifier: MIT */
/* Characters of texts in all encodings of schemas. */
#ifndef KYMO_PRINT_UNICODE_H
#define KYMO_PRINT_UNICODE_H

#include "base/utf8.h"
#include <kymo/schema.h>

/* Takes one character from *at, which must be below `end`, and moves it on by at least one byte. */
uint32_t kymo_next_character(enum kymo_encoding encoding, const uint8_t **at, const uint8_t *end);
/* Whether texts of this encoding are bytes that contain ASCII as itself. */
static inline bool kymo_is_byte_encoding(enum kymo_encoding encoding) {
  return encoding <= KYMO_ENCODING_UTF8;
}

/* Characters beyond ASCII that terminals and editors obey: C1 controls; marks, embeddings, overrides and
 * isolates of direction; ends of lines and paragraphs. */
static inline bool kymo_is_obeyed(uint32_t character) {
  return (character >= 0x80 && character < 0xA0) || character == 0x61C || character == 0x200E ||
         character == 0x200F || (character >= 0x2028 && character <= 0x202E) ||
         (character >= 0x2066 && character <= 0x2069);
}

#endif
