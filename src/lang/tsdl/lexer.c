/* SPDX-License-Identifier: MIT */
/*
 * Identifiers, numbers and texts as in C, with binary numbers (0b101) and without joining
 * adjacent texts. Line breaks may stand inside quotes, as babeltrace allows.
 */
#include "lang/tsdl/lexer.h"
#include "base/utf8.h"
#include <string.h>

static int peek(const struct tsdl_lexer *lexer, uint32_t ahead) {
  uint32_t left = lexer->session->length - lexer->at;
  return ahead < left ? (unsigned char)lexer->session->text[lexer->at + ahead] : -1;
}

static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static struct tsdl_token bad(struct tsdl_lexer *lexer) {
  return (struct tsdl_token){.kind = TSDL_TOKEN_BAD, .at = lexer->at};
}

/* Past white space and comments. False after reporting a comment without end. */
static bool skip_blanks(struct tsdl_lexer *lexer) {
  for (;;) {
    int c = peek(lexer, 0);
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      lexer->at++;
    } else if (c == '/' && peek(lexer, 1) == '/') {
      const char *from = lexer->session->text + lexer->at;
      const char *end = memchr(from, '\n', lexer->session->length - lexer->at);
      lexer->at = end ? (uint32_t)(end - lexer->session->text) + 1 : lexer->session->length;
    } else if (c == '/' && peek(lexer, 1) == '*') {
      const char *from = lexer->session->text + lexer->at + 2;
      const char *end = memmem(from, lexer->session->length - lexer->at - 2, "*/", 2);
      if (!end)
        return kymo_tsdl_fail(lexer->session, lexer->at, "this comment has no end");
      lexer->at = (uint32_t)(end - lexer->session->text) + 2;
    } else {
      return true;
    }
  }
}

/* ---- numbers ---- */

static int digit_value(int c) {
  if (is_digit(c))
    return c - '0';
  int lower = c | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

static int number_base(struct tsdl_lexer *lexer) {
  int second = peek(lexer, 1) | 0x20;
  if (peek(lexer, 0) != '0')
    return 10;
  if ((second == 'x' && digit_value(peek(lexer, 2)) < 16) ||
      (second == 'b' && digit_value(peek(lexer, 2)) < 2)) {
    lexer->at += 2;
    return second == 'x' ? 16 : 2;
  }
  return 8;
}

static void skip_suffix(struct tsdl_lexer *lexer) {
  for (int left = 3, c = peek(lexer, 0) | 0x20; left > 0 && (c == 'u' || c == 'l'); left--) {
    lexer->at++;
    c = peek(lexer, 0) | 0x20;
  }
}

static struct tsdl_token lex_number(struct tsdl_lexer *lexer) {
  struct tsdl_token token = {.kind = TSDL_TOKEN_NUMBER, .at = lexer->at};
  int base = number_base(lexer), digit;
  bool overflow = false;
  while ((digit = digit_value(peek(lexer, 0))) < base) {
    overflow |= __builtin_mul_overflow(token.number, (uint64_t)base, &token.number);
    overflow |= __builtin_add_overflow(token.number, (uint64_t)digit, &token.number);
    lexer->at++;
  }
  skip_suffix(lexer);
  token.length = lexer->at - token.at;
  if (overflow)
    kymo_tsdl_fail(lexer->session, token.at, "expected a number of at most 64 bits");
  else if (is_letter(peek(lexer, 0)) || is_digit(peek(lexer, 0)))
    kymo_tsdl_fail(lexer->session, lexer->at, "expected the end of the number, found \"%c\"", peek(lexer, 0));
  return lexer->session->failed ? bad(lexer) : token;
}

/* ---- texts ---- */

/* Growing bytes of the text at hand, in temporary memory. */
struct bytes {
  char *text;
  size_t length;
};

/* `most` digits of `base` at least one of them; false if there is none. */
static bool lex_code(struct tsdl_lexer *lexer, int base, int most, uint32_t *code) {
  int count = 0, digit;
  *code = 0;
  for (; count < most && (digit = digit_value(peek(lexer, 0))) < base; count++, lexer->at++)
    *code = *code * (uint32_t)base + (uint32_t)digit;
  return count > 0;
}

/* What stands behind a backslash. */
static bool lex_escape(struct tsdl_lexer *lexer, struct bytes *bytes) {
  static const char letters[] = "abfnrtv\\\"'?", values[] = "\a\b\f\n\r\t\v\\\"'?";
  uint32_t start = lexer->at - 1, code;
  int c = peek(lexer, 0);
  const char *letter = c > 0 ? strchr(letters, c) : NULL;
  if (letter) {
    lexer->at++;
    bytes->text[bytes->length++] = values[letter - letters];
    return true;
  }
  bool is_byte = c == 'x' || is_digit(c);
  if (c == 'x' || c == 'u' || c == 'U')
    lexer->at++;
  bool is_code = c == 'x'   ? lex_code(lexer, 16, 2, &code)
                 : c == 'u' ? lex_code(lexer, 16, 4, &code)
                 : c == 'U' ? lex_code(lexer, 16, 8, &code)
                            : lex_code(lexer, 8, 3, &code);
  if (!is_code)
    return kymo_tsdl_fail(lexer->session, start, "unknown escape in a text");
  if (code == 0 || code > (is_byte ? 0xff : 0x10ffff) || kymo_is_surrogate(code))
    return kymo_tsdl_fail(lexer->session, start, "this escape is no character");
  if (is_byte)
    bytes->text[bytes->length++] = (char)code;
  else
    bytes->length = (size_t)(kymo_put_character(bytes->text + bytes->length, code) - bytes->text);
  return true;
}

/* The end of the text that begins at the cursor, or 0: bounds the memory for it. */
static uint32_t find_quote(const struct tsdl_lexer *lexer, char quote) {
  const struct tsdl_session *session = lexer->session;
  for (uint32_t at = lexer->at; at < session->length; at++) {
    if (session->text[at] == quote)
      return at;
    if (session->text[at] == '\\')
      at++;
  }
  return 0;
}

/* Between quotes, into `bytes`; no escape is shorter than what it stands for. */
static bool lex_quoted(struct tsdl_lexer *lexer, char quote, struct bytes *bytes) {
  uint32_t start = lexer->at++, end = find_quote(lexer, quote);
  if (end == 0)
    return kymo_tsdl_fail(lexer->session, start, "this text has no closing quote");
  bytes->text = kymo_tsdl_new(lexer->session, end - start, 1);
  while (bytes->text && lexer->at < end) {
    char c = lexer->session->text[lexer->at++];
    if (c == '\0')
      return kymo_tsdl_fail(lexer->session, lexer->at - 1, "a zero byte in a text");
    if (c != '\\')
      bytes->text[bytes->length++] = c;
    else if (!lex_escape(lexer, bytes))
      return false;
  }
  lexer->at = end + 1;
  return bytes->text != NULL;
}

static struct tsdl_token lex_text(struct tsdl_lexer *lexer) {
  struct tsdl_token token = {.kind = TSDL_TOKEN_TEXT, .at = lexer->at};
  struct bytes bytes = {0};
  if (!lex_quoted(lexer, '"', &bytes) ||
      !(token.word = kymo_tsdl_word(lexer->session, bytes.text, bytes.length)))
    return bad(lexer);
  token.length = lexer->at - token.at;
  return token;
}

static struct tsdl_token lex_character(struct tsdl_lexer *lexer) {
  struct tsdl_token token = {.kind = TSDL_TOKEN_NUMBER, .at = lexer->at};
  struct bytes bytes = {0};
  if (!lex_quoted(lexer, '\'', &bytes))
    return bad(lexer);
  if (bytes.length != 1) {
    kymo_tsdl_fail(lexer->session, token.at, "expected one character between the quotes");
    return bad(lexer);
  }
  token.number = (unsigned char)bytes.text[0];
  token.length = lexer->at - token.at;
  return token;
}

/* ---- the rest ---- */

static struct tsdl_token lex_word(struct tsdl_lexer *lexer) {
  struct tsdl_token token = {.kind = TSDL_TOKEN_WORD, .at = lexer->at};
  while (is_letter(peek(lexer, 0)) || is_digit(peek(lexer, 0)))
    lexer->at++;
  token.length = lexer->at - token.at;
  token.word = kymo_tsdl_word(lexer->session, lexer->session->text + token.at, token.length);
  return token.word ? token : bad(lexer);
}

static struct tsdl_token lex_sign(struct tsdl_lexer *lexer) {
  struct tsdl_token token = {.kind = peek(lexer, 0), .at = lexer->at, .length = 1};
  int second = peek(lexer, 1);
  if (token.kind == ':' && second == '=') {
    token.kind = TSDL_TOKEN_IS_TYPE;
    token.length = 2;
  } else if (token.kind == '-' && second == '>') {
    token.kind = TSDL_TOKEN_ARROW;
    token.length = 2;
  } else if (token.kind == '.' && second == '.' && peek(lexer, 2) == '.') {
    token.kind = TSDL_TOKEN_DOTS;
    token.length = 3;
  } else if (token.kind <= ' ' || !strchr("{}()[]<>;,:=.*+-", token.kind)) {
    if (token.kind > ' ' && token.kind < 0x7f)
      kymo_tsdl_fail(lexer->session, token.at, "no such character in TSDL: \"%c\"", token.kind);
    else
      kymo_tsdl_fail(lexer->session, token.at, "no such character in TSDL: byte 0x%02x",
                     (unsigned)token.kind);
    return bad(lexer);
  }
  lexer->at += token.length;
  return token;
}

struct tsdl_token kymo_tsdl_lex(struct tsdl_lexer *lexer) {
  if (lexer->session->failed || !skip_blanks(lexer))
    return bad(lexer);
  int c = peek(lexer, 0);
  if (c < 0)
    return (struct tsdl_token){.kind = TSDL_TOKEN_END, .at = lexer->at};
  if (is_digit(c))
    return lex_number(lexer);
  if (c == '"' || (c == 'L' && peek(lexer, 1) == '"')) {
    lexer->at += c == 'L';
    return lex_text(lexer);
  }
  if (c == '\'')
    return lex_character(lexer);
  return is_letter(c) ? lex_word(lexer) : lex_sign(lexer);
}
