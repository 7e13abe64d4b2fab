/* SPDX-License-Identifier: MIT */
/*
 * Names, numbers and texts. Whatever follows MATCHES and begins with a slash is a regular expression, so that
 * slashes divide everywhere else.
 */
#include "lang/tdl/lexer.h"
#include <stdlib.h>
#include <string.h>

static struct tdl_token bad(struct tdl_lexer *lexer) {
  return (struct tdl_token){.kind = TDL_TOKEN_BAD, .at = lexer->cursor.at};
}

static void skip_blanks(struct tdl_lexer *lexer) {
  for (;;) {
    int c = kymo_peek(&lexer->cursor, 0);
    if (c == '-' && kymo_peek(&lexer->cursor, 1) == '-') {
      kymo_pass_line(&lexer->cursor);
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      lexer->cursor.at++;
    } else {
      return;
    }
  }
}

/* ---- numbers ---- */

/* Digits with _ between them; false after reporting. */
static bool lex_digits(struct tdl_lexer *lexer, int base, uint64_t *number) {
  size_t start = lexer->cursor.at;
  bool fits = kymo_pass_digits(&lexer->cursor, base, true, number);
  if (lexer->cursor.at == start)
    return kymo_tdl_fail(lexer->session, start, "E13", "expected a digit of base %d", base);
  return fits || kymo_tdl_fail(lexer->session, start, "E13", "expected a number of at most 64 bits");
}

/* Digits of a number that is a double anyway. */
static void skip_digits(struct tdl_lexer *lexer) {
  while (kymo_is_digit(kymo_peek(&lexer->cursor, 0)) ||
         (kymo_peek(&lexer->cursor, 0) == '_' && kymo_is_digit(kymo_peek(&lexer->cursor, 1))))
    lexer->cursor.at++;
}

/* The double from `start` to the cursor, without underscores. */
static bool read_fraction(struct tdl_lexer *lexer, uint32_t start, double *fraction) {
  char digits[400];
  size_t used = 0;
  for (uint32_t at = start; at < lexer->cursor.at && used < sizeof digits - 1; at++)
    if (lexer->cursor.text[at] != '_')
      digits[used++] = lexer->cursor.text[at];
  digits[used] = '\0';
  if (used == sizeof digits - 1)
    return kymo_tdl_fail(lexer->session, start, "E13", "expected a number of fewer digits");
  *fraction = strtod(digits, NULL);
  return *fraction <= 1e308 ||
         kymo_tdl_fail(lexer->session, start, "E13", "expected a number of at most 1e308");
}

/* 15, 1.5, 1e9: whole if nothing is after a point and the exponent is positive. */
static bool lex_decimal(struct tdl_lexer *lexer, struct tdl_value *value) {
  uint32_t start = lexer->cursor.at;
  uint64_t number = 0;
  bool is_fraction = false;
  skip_digits(lexer);
  uint32_t end = lexer->cursor.at;
  if (kymo_peek(&lexer->cursor, 0) == '.' && kymo_is_digit(kymo_peek(&lexer->cursor, 1))) {
    is_fraction = true;
    lexer->cursor.at++;
    skip_digits(lexer);
  }
  int sign = kymo_peek(&lexer->cursor, 1) == '-' || kymo_peek(&lexer->cursor, 1) == '+';
  if ((kymo_peek(&lexer->cursor, 0) | 0x20) == 'e' &&
      kymo_is_digit(kymo_peek(&lexer->cursor, 1 + (uint32_t)sign))) {
    is_fraction |= kymo_peek(&lexer->cursor, 1) == '-';
    lexer->cursor.at += 1 + (uint32_t)sign;
    skip_digits(lexer);
  }
  uint32_t after = lexer->cursor.at;
  if (is_fraction) {
    value->type = TDL_FRACTION;
    return read_fraction(lexer, start, &value->fraction);
  }
  lexer->cursor.at = start;
  if (!lex_digits(lexer, 10, &number))
    return false;
  uint64_t exponent = 0;
  if (after > end) {
    lexer->cursor.at = end + 1 + (uint32_t)sign;
    if (!lex_digits(lexer, 10, &exponent))
      return false;
  }
  for (; exponent > 0 && number > 0; exponent--)
    if (__builtin_mul_overflow(number, 10, &number))
      return kymo_tdl_fail(lexer->session, start, "E13", "expected a number of at most 64 bits");
  value->integer = kymo_wide_of_u64(number);
  return true;
}

static bool is_unit(const char *text, uint32_t length) {
  static const char *const units[] = {"s", "ms", "us", "ns", "ps", "ticks"};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strlen(units[i]) == length && memcmp(units[i], text, length) == 0)
      return true;
  return false;
}

/* Only a unit may touch a number. */
static bool number_ends_well(struct tdl_lexer *lexer) {
  uint32_t length = 0;
  while (kymo_is_letter(kymo_peek(&lexer->cursor, length)) ||
         kymo_is_digit(kymo_peek(&lexer->cursor, length)))
    length++;
  const char *text = lexer->cursor.text + lexer->cursor.at;
  return length == 0 || is_unit(text, length) ||
         kymo_tdl_fail(lexer->session, lexer->cursor.at, "E13",
                       "expected the end of the number or a unit, found \"%.*s\"",
                       (int)(length < 40 ? length : 40), text);
}

static struct tdl_token lex_number(struct tdl_lexer *lexer) {
  struct tdl_token token = {.kind = TDL_TOKEN_NUMBER, .at = lexer->cursor.at, .value = {.type = TDL_INTEGER}};
  int second = kymo_peek(&lexer->cursor, 0) == '0' ? kymo_peek(&lexer->cursor, 1) : 0;
  bool good;
  if (second == 'x' || second == 'b') {
    uint64_t number = 0;
    lexer->cursor.at += 2;
    good = lex_digits(lexer, second == 'x' ? 16 : 2, &number);
    token.value.integer = kymo_wide_of_u64(number);
  } else {
    good = lex_decimal(lexer, &token.value);
  }
  if (!good || !number_ends_well(lexer))
    return bad(lexer);
  token.length = lexer->cursor.at - token.at;
  return token;
}

/* ---- texts ---- */

/* The closing quote of what begins at the cursor, on the same line; 0: none. */
static uint32_t find_quote(const struct tdl_lexer *lexer, char quote) {
  return (uint32_t)kymo_find_quote(&lexer->cursor, lexer->cursor.at + 1, quote,
                                   quote == '`' ? KYMO_QUOTED_RAW_LINE : KYMO_QUOTED_LINE);
}

/* The character of an escape after a backslash; -1 after reporting. */
static int lex_escape(struct tdl_lexer *lexer) {
  static const char letters[] = "nrt0\\\"", values[] = "\n\r\t\0\\\"";
  int c = kymo_peek(&lexer->cursor, 1);
  const char *letter = c > 0 ? memchr(letters, c, sizeof letters - 1) : NULL;
  if (letter) {
    lexer->cursor.at += 2;
    return (unsigned char)values[letter - letters];
  }
  int byte = c == 'x' ? kymo_hex_byte(&lexer->cursor, 2) : -1;
  if (byte >= 0) {
    lexer->cursor.at += 4;
    return byte;
  }
  kymo_tdl_fail(lexer->session, lexer->cursor.at, "E12", "expected one of \\n \\r \\t \\0 \\\\ \\\" \\xHH");
  return -1;
}

/* "…", the cursor at the quote. */
static struct tdl_token lex_string(struct tdl_lexer *lexer) {
  struct tdl_token token = {.kind = TDL_TOKEN_STRING, .at = lexer->cursor.at};
  uint32_t end = find_quote(lexer, '"');
  if (end == 0) {
    kymo_tdl_fail(lexer->session, lexer->cursor.at, "E12", "this string has no closing quote on its line");
    return bad(lexer);
  }
  uint8_t *bytes = kymo_lang_new(lexer->session, end - lexer->cursor.at, 1);
  for (lexer->cursor.at++; bytes && lexer->cursor.at < end;) {
    int c = (unsigned char)lexer->cursor.text[lexer->cursor.at];
    if (c != '\\')
      lexer->cursor.at++;
    else if ((c = lex_escape(lexer)) < 0)
      return bad(lexer);
    bytes[token.bytes.length++] = (uint8_t)c;
  }
  token.bytes.data = bytes;
  lexer->cursor.at = end + 1;
  token.length = lexer->cursor.at - token.at;
  return bytes ? token : bad(lexer);
}

/* x"…", the cursor at the x. */
static struct tdl_token lex_hex(struct tdl_lexer *lexer) {
  struct tdl_token token = {.kind = TDL_TOKEN_HEX, .at = lexer->cursor.at++};
  uint32_t end = find_quote(lexer, '"');
  if (end == 0) {
    kymo_tdl_fail(lexer->session, token.at, "E12", "these bytes have no closing quote on their line");
    return bad(lexer);
  }
  uint8_t *bytes = kymo_lang_new(lexer->session, (end - lexer->cursor.at) / 2 + 1, 1);
  for (lexer->cursor.at++; bytes && lexer->cursor.at < end;) {
    int byte = kymo_hex_byte(&lexer->cursor, 0);
    if (kymo_peek(&lexer->cursor, 0) == ' ') {
      lexer->cursor.at++;
    } else if (byte >= 0) {
      bytes[token.bytes.length++] = (uint8_t)byte;
      lexer->cursor.at += 2;
    } else {
      kymo_tdl_fail(lexer->session, lexer->cursor.at, "E12",
                    "expected whole bytes of two hexadecimal digits");
      return bad(lexer);
    }
  }
  token.bytes.data = bytes;
  lexer->cursor.at = end + 1;
  token.length = lexer->cursor.at - token.at;
  return bytes ? token : bad(lexer);
}

/* /…/, the cursor at the slash; \/ is a slash, everything else is unchanged. */
static struct tdl_token lex_regex(struct tdl_lexer *lexer) {
  struct tdl_token token = {.kind = TDL_TOKEN_REGEX, .at = lexer->cursor.at};
  uint32_t end = find_quote(lexer, '/');
  if (end == 0) {
    kymo_tdl_fail(lexer->session, lexer->cursor.at, "E12",
                  "this regular expression has no closing slash on its line");
    return bad(lexer);
  }
  uint8_t *bytes = kymo_lang_new(lexer->session, end - lexer->cursor.at, 1);
  for (lexer->cursor.at++; bytes && lexer->cursor.at < end; lexer->cursor.at++) {
    if (kymo_peek(&lexer->cursor, 0) == '\\' && kymo_peek(&lexer->cursor, 1) == '/')
      lexer->cursor.at++;
    else if (kymo_peek(&lexer->cursor, 0) == '\\')
      bytes[token.bytes.length++] = (uint8_t)lexer->cursor.text[lexer->cursor.at++];
    bytes[token.bytes.length++] = (uint8_t)lexer->cursor.text[lexer->cursor.at];
  }
  token.bytes.data = bytes;
  lexer->cursor.at = end + 1;
  token.length = lexer->cursor.at - token.at;
  return bytes ? token : bad(lexer);
}

/* ---- names and signs ---- */

/* `…`, the cursor at the quote. */
static struct tdl_token lex_quoted_name(struct tdl_lexer *lexer) {
  struct tdl_token token = {.kind = TDL_TOKEN_NAME, .at = lexer->cursor.at};
  uint32_t end = find_quote(lexer, '`'), length = end - lexer->cursor.at - 1;
  const char *text = lexer->cursor.text + lexer->cursor.at + 1;
  if (end == 0 || length == 0 || memchr(text, '\0', length)) {
    kymo_tdl_fail(lexer->session, lexer->cursor.at, "E12", "%s",
                  end == 0 ? "this name has no closing backquote on its line"
                           : "expected a name between the backquotes");
    return bad(lexer);
  }
  token.word = kymo_tdl_word(lexer->session, text, length);
  lexer->cursor.at = end + 1;
  token.length = lexer->cursor.at - token.at;
  return token.word ? token : bad(lexer);
}

static struct tdl_token lex_word(struct tdl_lexer *lexer) {
  struct tdl_token token = {.kind = TDL_TOKEN_NAME, .at = lexer->cursor.at};
  kymo_pass_word(&lexer->cursor);
  token.length = lexer->cursor.at - token.at;
  token.word = kymo_tdl_word(lexer->session, lexer->cursor.text + token.at, token.length);
  if (token.word && token.word->keyword)
    token.kind = token.word->keyword;
  return token.word ? token : bad(lexer);
}

static struct tdl_token lex_sign(struct tdl_lexer *lexer) {
  static const struct {
    char text[3];
    int kind;
  } pairs[] = {
      {"..", TDL_TOKEN_DOTS},          {"<>", TDL_TOKEN_UNEQUAL},    {"<=", TDL_TOKEN_LESS_EQUAL},
      {">=", TDL_TOKEN_GREATER_EQUAL}, {"<<", TDL_TOKEN_SHIFT_LEFT}, {">>", TDL_TOKEN_SHIFT_RIGHT},
  };
  struct tdl_token token = {.kind = kymo_peek(&lexer->cursor, 0), .at = lexer->cursor.at, .length = 1};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    if (token.kind == pairs[i].text[0] && kymo_peek(&lexer->cursor, 1) == pairs[i].text[1]) {
      token.kind = pairs[i].kind;
      token.length = 2;
    }
  if (token.length == 1 && (token.kind <= ' ' || !strchr("()[],;:.=<>+-*/%&|^~", token.kind))) {
    if (token.kind > ' ' && token.kind < 0x7f)
      kymo_tdl_fail(lexer->session, token.at, "E11", "no such character in the language: \"%c\"", token.kind);
    else
      kymo_tdl_fail(lexer->session, token.at, "E11", "no such character in the language: byte 0x%02x",
                    (unsigned)token.kind);
    return bad(lexer);
  }
  lexer->cursor.at += token.length;
  return token;
}

static struct tdl_token lex(struct tdl_lexer *lexer) {
  int c = kymo_peek(&lexer->cursor, 0);
  if (c < 0)
    return (struct tdl_token){.kind = TDL_TOKEN_END, .at = lexer->cursor.at};
  if (kymo_is_digit(c))
    return lex_number(lexer);
  if (c == '"')
    return lex_string(lexer);
  if (c == 'x' && kymo_peek(&lexer->cursor, 1) == '"')
    return lex_hex(lexer);
  if (c == '`')
    return lex_quoted_name(lexer);
  if (c == '/' && lexer->previous == TDL_KEYWORD_MATCHES)
    return lex_regex(lexer);
  return kymo_is_letter(c) ? lex_word(lexer) : lex_sign(lexer);
}

struct tdl_token kymo_tdl_lex(struct tdl_lexer *lexer) {
  if (lexer->session->common.failed)
    return bad(lexer);
  skip_blanks(lexer);
  struct tdl_token token = lex(lexer);
  lexer->previous = token.kind;
  return token;
}
