/* SPDX-License-Identifier: MIT */
#include "lang/text/cursor.h"
#include <string.h>

void kymo_pass_line(struct kymo_cursor *cursor) {
  const char *end = memchr(cursor->text + cursor->at, '\n', cursor->length - cursor->at);
  cursor->at = end ? (size_t)(end - cursor->text) : cursor->length;
}

bool kymo_pass_c_blanks(struct kymo_cursor *cursor) {
  for (;;) {
    int c = kymo_peek(cursor, 0);
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      cursor->at++;
    } else if (c == '/' && kymo_peek(cursor, 1) == '/') {
      kymo_pass_line(cursor);
    } else if (c == '/' && kymo_peek(cursor, 1) == '*') {
      const char *from = cursor->text + cursor->at + 2;
      const char *end = memmem(from, cursor->length - cursor->at - 2, "*/", 2);
      if (!end)
        return false;
      cursor->at = (size_t)(end - cursor->text) + 2;
    } else {
      return true;
    }
  }
}

bool kymo_pass_digits(struct kymo_cursor *cursor, int base, bool is_spaced, uint64_t *number) {
  bool overflow = false;
  for (;; cursor->at++) {
    int c = kymo_peek(cursor, 0), digit = kymo_digit_value(c);
    if (is_spaced && c == '_' && kymo_digit_value(kymo_peek(cursor, 1)) < base)
      continue;
    if (digit >= base)
      return !overflow;
    overflow |= __builtin_mul_overflow(*number, (uint64_t)base, number);
    overflow |= __builtin_add_overflow(*number, (uint64_t)digit, number);
  }
}

int kymo_hex_byte(const struct kymo_cursor *cursor, size_t ahead) {
  int high = kymo_digit_value(kymo_peek(cursor, ahead)), low = kymo_digit_value(kymo_peek(cursor, ahead + 1));
  return high < 16 && low < 16 ? high << 4 | low : -1;
}

size_t kymo_find_quote(const struct kymo_cursor *cursor, size_t from, char quote, enum kymo_quotation how) {
  for (size_t at = from; at < cursor->length; at++) {
    if (how != KYMO_QUOTED_LINES && cursor->text[at] == '\n')
      return 0;
    if (cursor->text[at] == quote)
      return at;
    at += cursor->text[at] == '\\' && how != KYMO_QUOTED_RAW_LINE;
  }
  return 0;
}

const char *kymo_parse_uuid(const char *text, uint8_t out[16]) {
  for (unsigned i = 0; i < 16; i++, text += 2) {
    if ((i == 4 || i == 6 || i == 8 || i == 10) && *text++ != '-')
      return NULL;
    int high = kymo_digit_value(text[0]), low = high < 16 ? kymo_digit_value(text[1]) : high;
    if (low >= 16)
      return NULL;
    out[i] = (uint8_t)(high << 4 | low);
  }
  return text;
}
