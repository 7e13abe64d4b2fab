/* SPDX-License-Identifier: MIT */
/* Tokens of the registry's text, and the values that consist of one or two of them. */
#include "base/list.h"
#include "base/nearest.h"
#include "lang/registry/parser.h"
#include "lang/registry/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ---- */

/* As much of the current token as a message can hold. */
static int shown(const struct registry_token *token) { return token->length < 60 ? (int)token->length : 60; }

bool kymo_registry_expected(struct registry_parser *parser, const char *what) {
  const struct registry_token *token = &parser->token;
  const char *text = parser->cursor.text + token->at;
  if (token->kind == REGISTRY_TOKEN_END)
    return kymo_lang_fail(parser, token->at, "expected %s, found the end", what);
  if (token->kind == REGISTRY_TOKEN_TEXT)
    return kymo_lang_fail(parser, token->at, "expected %s, found a text in quotes", what);
  return kymo_lang_fail(parser, token->at, "expected %s, found \"%.*s\"", what, shown(token), text);
}

/* Past white space and comments; a comment without end ends the text. */
static bool skip_blanks(struct registry_parser *parser) {
  return kymo_pass_c_blanks(&parser->cursor) ||
         kymo_lang_fail(parser, parser->cursor.at, "this comment has no end");
}

/* ---- numbers ---- */

static bool lex_number(struct registry_parser *parser) {
  struct registry_token *token = &parser->token;
  bool is_hex = kymo_peek(&parser->cursor, 0) == '0' && (kymo_peek(&parser->cursor, 1) | 0x20) == 'x';
  parser->cursor.at += is_hex ? 2 : 0;
  size_t first = parser->cursor.at;
  if (!kymo_pass_digits(&parser->cursor, is_hex ? 16 : 10, false, &token->number))
    return kymo_lang_fail(parser, token->at, "expected a number of at most 64 bits");
  if (parser->cursor.at == first || kymo_is_letter(kymo_peek(&parser->cursor, 0)))
    return kymo_lang_fail(parser, parser->cursor.at, "expected %s of the number",
                          parser->cursor.at == first ? "digits" : "the end");
  return true;
}

/* ---- texts ---- */

static const char escape_letters[] = "nrt\\\"", escape_values[] = "\n\r\t\\\"";

/* The byte that an escape after a backslash means; 0 after reporting. */
static char lex_escape(struct registry_parser *parser) {
  size_t start = parser->cursor.at - 1;
  int c = kymo_peek(&parser->cursor, 0);
  const char *letter = c > 0 ? strchr(escape_letters, c) : NULL;
  int byte = c == 'x' ? kymo_hex_byte(&parser->cursor, 1) : -1;
  if (letter) {
    parser->cursor.at++;
    return escape_values[letter - escape_letters];
  }
  if (byte > 0) {
    parser->cursor.at += 3;
    return (char)byte;
  }
  kymo_lang_fail(parser, start,
                 "expected \\n, \\r, \\t, \\\\, \\\" or \\x and two digits of a byte that is not zero");
  return 0;
}

static bool lex_text(struct registry_parser *parser) {
  struct registry_token *token = &parser->token;
  parser->cursor.at++;
  size_t end = kymo_find_quote(&parser->cursor, parser->cursor.at, '"', KYMO_QUOTED_LINES), length = 0;
  if (end == 0)
    return kymo_lang_fail(parser, token->at, "this text has no closing quote");
  char *text = kymo_lang_keep(parser, end - parser->cursor.at + 1, 1);
  if (!text)
    return false;
  while (parser->cursor.at < end && !parser->common.failed) {
    char c = parser->cursor.text[parser->cursor.at++];
    if (c == '\0')
      return kymo_lang_fail(parser, parser->cursor.at - 1, "a zero byte in a text");
    text[length++] = c == '\\' ? lex_escape(parser) : c;
  }
  parser->cursor.at = end + 1;
  token->text = text;
  return !parser->common.failed;
}

/* ---- tokens ---- */

static bool lex_sign(struct registry_parser *parser, int c) {
  if (c == '.' && kymo_peek(&parser->cursor, 1) == '.' && kymo_peek(&parser->cursor, 2) == '.') {
    parser->token.kind = REGISTRY_TOKEN_DOTS;
    parser->cursor.at += 3;
    return true;
  }
  if (c <= ' ' || c > '~')
    return kymo_lang_fail(parser, parser->cursor.at, "no such character in a registry: byte 0x%02x",
                          (unsigned)c);
  if (!strchr("{}()[]=:;,.-", c))
    return kymo_lang_fail(parser, parser->cursor.at, "no such character in a registry: \"%c\"", c);
  parser->token.kind = c;
  parser->cursor.at++;
  return true;
}

static bool lex_id(struct registry_parser *parser) {
  parser->cursor.at++;
  if (!kymo_is_digit(kymo_peek(&parser->cursor, 0)))
    return kymo_lang_fail(parser, parser->token.at, "expected the number of a type after \"#\"");
  return lex_number(parser);
}

static bool lex_word(struct registry_parser *parser) {
  kymo_pass_word(&parser->cursor);
  return true;
}

/* By the first character. */
static bool lex(struct registry_parser *parser) {
  int c = kymo_peek(&parser->cursor, 0);
  parser->token = (struct registry_token){.at = parser->cursor.at};
  if (c < 0)
    return true;
  parser->token.kind = kymo_is_digit(c)    ? REGISTRY_TOKEN_NUMBER
                       : c == '"'          ? REGISTRY_TOKEN_TEXT
                       : c == '#'          ? REGISTRY_TOKEN_ID
                       : kymo_is_letter(c) ? REGISTRY_TOKEN_WORD
                                           : c;
  switch (parser->token.kind) {
  case REGISTRY_TOKEN_NUMBER: return lex_number(parser);
  case REGISTRY_TOKEN_TEXT: return lex_text(parser);
  case REGISTRY_TOKEN_ID: return lex_id(parser);
  case REGISTRY_TOKEN_WORD: return lex_word(parser);
  default: return lex_sign(parser, c);
  }
}

bool kymo_registry_advance(struct registry_parser *parser) {
  bool is_good = !parser->common.failed && skip_blanks(parser) && lex(parser);
  parser->token.length = parser->cursor.at - parser->token.at;
  if (!is_good)
    parser->token.kind = REGISTRY_TOKEN_END;
  return is_good;
}

bool kymo_registry_is_word(const struct registry_parser *parser, const char *word) {
  const struct registry_token *token = &parser->token;
  return token->kind == REGISTRY_TOKEN_WORD && token->length == strlen(word) &&
         memcmp(parser->cursor.text + token->at, word, token->length) == 0;
}

bool kymo_registry_skip(struct registry_parser *parser, int kind) {
  return !parser->common.failed && parser->token.kind == kind && kymo_registry_advance(parser);
}

bool kymo_registry_skip_word(struct registry_parser *parser, const char *word) {
  return !parser->common.failed && kymo_registry_is_word(parser, word) && kymo_registry_advance(parser);
}

bool kymo_registry_expect(struct registry_parser *parser, int kind, const char *what) {
  if (parser->token.kind != kind)
    return kymo_registry_expected(parser, what);
  return kymo_registry_advance(parser);
}

int kymo_registry_one_of(struct registry_parser *parser, const char *const *words, size_t count,
                         const char *what) {
  char word[50];
  if (parser->token.kind != REGISTRY_TOKEN_WORD) {
    kymo_registry_expected(parser, what);
    return -1;
  }
  for (size_t i = 0; i < count; i++)
    if (kymo_registry_is_word(parser, words[i]))
      return kymo_registry_advance(parser) ? (int)i : -1;
  snprintf(word, sizeof word, "%.*s", shown(&parser->token), parser->cursor.text + parser->token.at);
  kymo_lang_fail(parser, parser->token.at, "expected %s, found \"%s\"%s", what, word,
                 kymo_hint_among(word, words, count).text);
  return -1;
}

/* ---- values ---- */

bool kymo_registry_number(struct registry_parser *parser, uint64_t most, uint64_t *out) {
  struct registry_token token = parser->token;
  if (token.kind != REGISTRY_TOKEN_NUMBER)
    return kymo_registry_expected(parser, "a number");
  *out = token.number;
  if (token.number > most)
    return kymo_lang_fail(parser, token.at, "expected a number up to %" PRIu64 ", found %" PRIu64, most,
                          token.number);
  return kymo_registry_advance(parser);
}

bool kymo_registry_integer(struct registry_parser *parser, bool is_signed, uint64_t *out) {
  size_t at = parser->token.at;
  bool is_negative = kymo_registry_skip(parser, '-');
  if (is_negative && !is_signed)
    return kymo_lang_fail(parser, at, "a negative number, where none can be");
  uint64_t most = is_signed ? (uint64_t)INT64_MAX + is_negative : UINT64_MAX;
  if (!kymo_registry_number(parser, most, out))
    return false;
  *out = is_negative ? 0 - *out : *out;
  return true;
}

bool kymo_registry_text(struct registry_parser *parser, const char **out) {
  *out = parser->token.text;
  return kymo_registry_expect(parser, REGISTRY_TOKEN_TEXT, "a text in quotes");
}

bool kymo_registry_name(struct registry_parser *parser, const char **out) {
  const struct registry_token *token = &parser->token;
  *out = token->text;
  if (token->kind == REGISTRY_TOKEN_TEXT)
    return kymo_registry_advance(parser);
  if (token->kind != REGISTRY_TOKEN_WORD)
    return kymo_registry_expected(parser, "a name");
  *out = kymo_lang_keep_text(parser, parser->cursor.text + token->at, token->length);
  return *out && kymo_registry_advance(parser);
}

bool kymo_registry_type_id(struct registry_parser *parser, const struct kymo_type **out) {
  const struct registry_token token = parser->token;
  if (token.kind != REGISTRY_TOKEN_ID)
    return kymo_registry_expected(parser, "a type, as #1");
  if (token.number >= parser->types.count)
    return kymo_lang_fail(parser, token.at, "there is no type #%" PRIu64 " before this", token.number);
  *out = ((const struct kymo_type **)parser->types.items)[token.number];
  return kymo_registry_advance(parser);
}

bool kymo_registry_clock(struct registry_parser *parser, const struct kymo_clock **out) {
  const struct kymo_schema *schema = kymo_builder_schema(parser->builder);
  const struct registry_token token = parser->token;
  uint64_t number = 0;
  if (!kymo_registry_number(parser, UINT32_MAX, &number))
    return false;
  if (number >= schema->clock_count)
    return kymo_lang_fail(parser, token.at, "there is no clock %" PRIu64 " before this", number);
  *out = schema->clocks[number];
  return true;
}

/* ---- lists ---- */

void *kymo_registry_add(struct registry_parser *parser, struct registry_list *list, size_t size) {
  if (!KYMO_LIST_ROOM_OF(size, list->items, list->capacity, list->count)) {
    kymo_lang_no_memory(parser);
    return NULL;
  }
  return memset((char *)list->items + size * list->count++, 0, size);
}

void *kymo_registry_take(struct registry_parser *parser, struct registry_list *list, size_t size) {
  uint32_t count = list->count;
  list->count = 0;
  if (count == 0)
    return NULL;
  void *copy = kymo_lang_keep(parser, count, size);
  return copy ? memcpy(copy, list->items, count * size) : NULL;
}

/* ---- what a file is ---- */

bool kymo_registry_is_text(const char *text, size_t length) {
  static const char word[] = "registry";
  struct registry_parser parser = {.cursor = {text, length, 0}};
  if (!skip_blanks(&parser) || length - parser.cursor.at < sizeof word ||
      memcmp(text + parser.cursor.at, word, sizeof word - 1) != 0)
    return false;
  int next = kymo_peek(&parser.cursor, sizeof word - 1);
  return !kymo_is_letter(next) && !kymo_is_digit(next);
}
