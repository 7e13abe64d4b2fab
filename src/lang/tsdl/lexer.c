/* SPDX-License-Identifier: MIT */
/*
 * Identifiers, numbers and texts as in C, with binary numbers (0b101) and without joining adjacent texts.
 * Line breaks are allowed inside quotes, as in babeltrace.
 */
#include "lang/tsdl/lexer.h"
#include "base/utf8.h"
#include <string.h>

static struct tsdl_token bad(struct tsdl_lexer *lexer) {
  return (struct tsdl_token){.kind = TSDL_TOKEN_BAD, .at = lexer->cursor.at};
}

/* Past white space and comments. False after reporting a comment without end. */
static bool skip_blanks(struct tsdl_lexer *lexer) {
  return kymo_pass_c_blanks(&lexer->cursor) ||
         kymo_lang_fail(lexer->session, lexer->cursor.at, "this comment has no end");
}

/* ---- numbers ---- */

static int number_base(struct tsdl_lexer *lexer) {
  int second = kymo_peek(&lexer->cursor, 1) | 0x20;
  if (kymo_peek(&lexer->cursor, 0) != '0')
    return 10;
  if ((second == 'x' && kymo_digit_value(kymo_peek(&lexer->cursor, 2)) < 16) ||
      (second == 'b' && kymo_digit_value(kymo_peek(&lexer->cursor, 2)) < 2)) {
    lexer->cursor.at += 2;
    return second == 'x' ? 16 : 2;
  }
  return 8;
}

static void skip_suffix(struct tsdl_lexer *lexer) {
  for (int left = 3, c = kymo_peek(&lexer->cursor, 0) | 0x20; left > 0 && (c == 'u' || c == 'l'); left--) {
    lexer->cursor.at++;
    c = kymo_peek(&lexer->cursor, 0) | 0x20;
  }
}

static struct tsdl_token lex_number(struct tsdl_lexer *lexer) {
  struct tsdl_token token = {.kind = TSDL_TOKEN_NUMBER, .at = lexer->cursor.at};
  bool fits = kymo_pass_digits(&lexer->cursor, number_base(lexer), false, &token.number);
  skip_suffix(lexer);
  token.length = lexer->cursor.at - token.at;
  if (!fits)
    kymo_lang_fail(lexer->session, token.at, "expected a number of at most 64 bits");
  else if (kymo_is_letter(kymo_peek(&lexer->cursor, 0)) || kymo_is_digit(kymo_peek(&lexer->cursor, 0)))
    kymo_lang_fail(lexer->session, lexer->cursor.at, "expected the end of the number, found \"%c\"",
                   kymo_peek(&lexer->cursor, 0));
  return lexer->session->common.failed ? bad(lexer) : token;
}

/* ---- texts ---- */

/* Growing bytes of the current text, in temporary memory. */
struct bytes {
  char *text;
  size_t length;
};

/* `most` digits of `base` at least one of them; false if there is none. */
static bool lex_code(struct tsdl_lexer *lexer, int base, int most, uint32_t *code) {
  int count = 0, digit;
  *code = 0;
  for (; count < most && (digit = kymo_digit_value(kymo_peek(&lexer->cursor, 0))) < base;
       count++, lexer->cursor.at++)
    *code = *code * (uint32_t)base + (uint32_t)digit;
  return count > 0;
}

/* The byte that an escape after a backslash means. */
static bool lex_escape(struct tsdl_lexer *lexer, struct bytes *bytes) {
  static const char letters[] = "abfnrtv\\\"'?", values[] = "\a\b\f\n\r\t\v\\\"'?";
  uint32_t start = lexer->cursor.at - 1, code;
  int c = kymo_peek(&lexer->cursor, 0);
  const char *letter = c > 0 ? strchr(letters, c) : NULL;
  if (letter) {
    lexer->cursor.at++;
    bytes->text[bytes->length++] = values[letter - letters];
    return true;
  }
  bool is_byte = c == 'x' || kymo_is_digit(c);
  if (c == 'x' || c == 'u' || c == 'U')
    lexer->cursor.at++;
  bool is_code = c == 'x'   ? lex_code(lexer, 16, 2, &code)
                 : c == 'u' ? lex_code(lexer, 16, 4, &code)
                 : c == 'U' ? lex_code(lexer, 16, 8, &code)
                            : lex_code(lexer, 8, 3, &code);
  if (!is_code)
    return kymo_lang_fail(lexer->session, start, "unknown escape in a text");
  if (code == 0 || code > (is_byte ? 0xff : 0x10ffff) || kymo_is_surrogate(code))
    return kymo_lang_fail(lexer->session, start, "this escape is no character");
  if (is_byte)
    bytes->text[bytes->length++] = (char)code;
  else
    bytes->length = (size_t)(kymo_put_character(bytes->text + bytes->length, code) - bytes->text);
  return true;
}

/* Decodes the text between quotes into `bytes`; no escape is shorter than the byte that it means. */
static bool lex_quoted(struct tsdl_lexer *lexer, char quote, struct bytes *bytes) {
  size_t start = lexer->cursor.at++,
         end = kymo_find_quote(&lexer->cursor, lexer->cursor.at, quote, KYMO_QUOTED_LINES);
  if (end == 0)
    return kymo_lang_fail(lexer->session, start, "this text has no closing quote");
  bytes->text = kymo_lang_new(lexer->session, end - start, 1);
  while (bytes->text && lexer->cursor.at < end) {
    char c = lexer->cursor.text[lexer->cursor.at++];
    if (c == '\0')
      return kymo_lang_fail(lexer->session, lexer->cursor.at - 1, "a zero byte in a text");
    if (c != '\\')
      bytes->text[bytes->length++] = c;
    else if (!lex_escape(lexer, bytes))
      return false;
  }
  lexer->cursor.at = end + 1;
  return bytes->text != NULL;
}

static struct tsdl_token lex_text(struct tsdl_lexer *lexer) {
  struct tsdl_token token = {.kind = TSDL_TOKEN_TEXT, .at = lexer->cursor.at};
  struct bytes bytes = {0};
  if (!lex_quoted(lexer, '"', &bytes) ||
      !(token.word = kymo_tsdl_word(lexer->session, bytes.text, bytes.length)))
    return bad(lexer);
  token.length = lexer->cursor.at - token.at;
  return token;
}

static struct tsdl_token lex_character(struct tsdl_lexer *lexer) {
  struct tsdl_token token = {.kind = TSDL_TOKEN_NUMBER, .at = lexer->cursor.at};
  struct bytes bytes = {0};
  if (!lex_quoted(lexer, '\'', &bytes))
    return bad(lexer);
  if (bytes.length != 1) {
    kymo_lang_fail(lexer->session, token.at, "expected one character between the quotes");
    return bad(lexer);
  }
  token.number = (unsigned char)bytes.text[0];
  token.length = lexer->cursor.at - token.at;
  return token;
}

/* ---- the rest ---- */

static struct tsdl_token lex_word(struct tsdl_lexer *lexer) {
  struct tsdl_token token = {.kind = TSDL_TOKEN_WORD, .at = lexer->cursor.at};
  kymo_pass_word(&lexer->cursor);
  token.length = lexer->cursor.at - token.at;
  token.word = kymo_tsdl_word(lexer->session, lexer->cursor.text + token.at, token.length);
  return token.word ? token : bad(lexer);
}

static struct tsdl_token lex_sign(struct tsdl_lexer *lexer) {
  struct tsdl_token token = {.kind = kymo_peek(&lexer->cursor, 0), .at = lexer->cursor.at, .length = 1};
  int second = kymo_peek(&lexer->cursor, 1);
  if (token.kind == ':' && second == '=') {
    token.kind = TSDL_TOKEN_IS_TYPE;
    token.length = 2;
  } else if (token.kind == '-' && second == '>') {
    token.kind = TSDL_TOKEN_ARROW;
    token.length = 2;
  } else if (token.kind == '.' && second == '.' && kymo_peek(&lexer->cursor, 2) == '.') {
    token.kind = TSDL_TOKEN_DOTS;
    token.length = 3;
  } else if (token.kind <= ' ' || !strchr("{}()[]<>;,:=.*+-", token.kind)) {
    if (token.kind > ' ' && token.kind < 0x7f)
      kymo_lang_fail(lexer->session, token.at, "no such character in TSDL: \"%c\"", token.kind);
    else
      kymo_lang_fail(lexer->session, token.at, "no such character in TSDL: byte 0x%02x",
                     (unsigned)token.kind);
    return bad(lexer);
  }
  lexer->cursor.at += token.length;
  return token;
}

struct tsdl_token kymo_tsdl_lex(struct tsdl_lexer *lexer) {
  if (lexer->session->common.failed || !skip_blanks(lexer))
    return bad(lexer);
  int c = kymo_peek(&lexer->cursor, 0);
  if (c < 0)
    return (struct tsdl_token){.kind = TSDL_TOKEN_END, .at = lexer->cursor.at};
  if (kymo_is_digit(c))
    return lex_number(lexer);
  if (c == '"' || (c == 'L' && kymo_peek(&lexer->cursor, 1) == '"')) {
    lexer->cursor.at += c == 'L';
    return lex_text(lexer);
  }
  if (c == '\'')
    return lex_character(lexer);
  return kymo_is_letter(c) ? lex_word(lexer) : lex_sign(lexer);
}
