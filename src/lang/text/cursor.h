/* SPDX-License-Identifier: MIT */
/*
 * The base of the lexers of all languages: a place in a text, and functions that move it over blanks, words,
 * digits, quoted text. Each language makes its own error messages.
 */
#ifndef KYMO_LANG_TEXT_CURSOR_H
#define KYMO_LANG_TEXT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kymo_cursor {
  const char *text; /* borrowed */
  size_t length, at;
};

/* The byte `ahead` bytes after the current one; -1: there is none. */
static inline int kymo_peek(const struct kymo_cursor *cursor, size_t ahead) {
  return ahead < cursor->length - cursor->at ? (unsigned char)cursor->text[cursor->at + ahead] : -1;
}

/* ---- characters ---- */

static inline bool kymo_is_digit(int c) { return c >= '0' && c <= '9'; }
static inline bool kymo_is_letter(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
/* Of a digit of any base up to 16; 99 of all else. */
static inline int kymo_digit_value(int c) {
  int lower = c | 0x20;
  return kymo_is_digit(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

/* ---- passing ---- */

/* To the end of the line, or of the text. */
void kymo_pass_line(struct kymo_cursor *cursor);
/* White space and the comments of C. False at a comment without end. */
bool kymo_pass_c_blanks(struct kymo_cursor *cursor);
/* Letters and digits. */
static inline void kymo_pass_word(struct kymo_cursor *cursor) {
  while (kymo_is_letter(kymo_peek(cursor, 0)) || kymo_is_digit(kymo_peek(cursor, 0)))
    cursor->at++;
}
/* Appends digits of a base to *number; if `is_spaced`, with _ between them. False: that needs more than 64
 * bits; the digits are skipped nevertheless. */
bool kymo_pass_digits(struct kymo_cursor *cursor, int base, bool is_spaced, uint64_t *number);
/* The byte of two hexadecimal digits that are `ahead`; -1: there are none. */
int kymo_hex_byte(const struct kymo_cursor *cursor, size_t ahead);

enum kymo_quotation { KYMO_QUOTED_LINES, KYMO_QUOTED_LINE, KYMO_QUOTED_RAW_LINE };
/* The place of the closing quote of the text that begins at `from`; 0: there is none. A backslash hides the
 * byte after it, unless the text is raw. Bounds the memory for what is between. */
size_t kymo_find_quote(const struct kymo_cursor *cursor, size_t from, char quote, enum kymo_quotation how);

/* ---- values ---- */

/* The bytes of the UUID at the beginning of a text, as "00112233-4455-6677-8899-aabbccddeeff". The text ends
 * with NUL. Returns the place after the UUID; NULL: it is none. */
const char *kymo_parse_uuid(const char *text, uint8_t out[16]);

#endif
