/* SPDX-License-Identifier: MIT */
/* Tokens, attributes and blocks. Stray semicolons are skipped wherever one could end something. */
#include "lang/tsdl/parser.h"
#include <string.h>

/* ---- tokens ---- */

void kymo_tsdl_next(struct tsdl_parser *parser) { parser->token = kymo_tsdl_lex(&parser->lexer); }

bool kymo_tsdl_unexpected(struct tsdl_parser *parser, const char *wanted) {
  const struct tsdl_token *token = &parser->token;
  if (token->kind == TSDL_TOKEN_BAD)
    return false;
  if (token->kind == TSDL_TOKEN_END)
    return kymo_lang_fail(parser->session, token->at, "expected %s, found the end of the text", wanted);
  const char *what = token->kind == TSDL_TOKEN_WORD && token->word->keyword ? "the keyword " : "";
  int length = token->length > 40 ? 40 : (int)token->length;
  const char *text = parser->session->common.text + token->at,
             *quote = token->kind == TSDL_TOKEN_TEXT ? "" : "\"";
  return kymo_lang_fail(parser->session, token->at, "expected %s, found %s%s%.*s%s%s", wanted, what, quote,
                        length, text, token->length > 40 ? "..." : "", quote);
}

bool kymo_tsdl_expect(struct tsdl_parser *parser, int kind, const char *wanted) {
  if (parser->token.kind != kind)
    return kymo_tsdl_unexpected(parser, wanted);
  kymo_tsdl_next(parser);
  return true;
}

bool kymo_tsdl_at_keyword(const struct tsdl_parser *parser, enum tsdl_keyword keyword) {
  return parser->token.kind == TSDL_TOKEN_WORD && parser->token.word->keyword == keyword;
}

static bool accept(struct tsdl_parser *parser, int kind) {
  if (parser->token.kind != kind)
    return false;
  kymo_tsdl_next(parser);
  return true;
}

void *kymo_tsdl_grow(struct tsdl_session *session, void *list, uint32_t count, size_t size) {
  if (count > 0 && (count & (count - 1)) != 0)
    return list;
  void *larger = kymo_lang_new(session, (size_t)count * 2 + 1, size);
  if (larger && count > 0)
    memcpy(larger, list, count * size);
  return larger;
}

/* ---- paths and values ---- */

bool kymo_tsdl_parse_path(struct tsdl_parser *parser, struct tsdl_path *path) {
  path->at = parser->token.at;
  do {
    if (parser->token.kind != TSDL_TOKEN_WORD)
      return kymo_tsdl_unexpected(parser, "a name");
    struct tsdl_word **words = kymo_tsdl_grow(parser->session, path->words, path->count, sizeof *words);
    if (!words)
      return false;
    path->words = words;
    path->words[path->count++] = parser->token.word;
    kymo_tsdl_next(parser);
  } while (accept(parser, '.') || accept(parser, TSDL_TOKEN_ARROW));
  return true;
}

/* The whole path as one word: "model.emf.uri". */
static struct tsdl_word *joined(struct tsdl_parser *parser, const struct tsdl_path *path) {
  if (path->count == 1)
    return path->words[0];
  size_t length = path->count - 1, at = 0;
  for (uint32_t i = 0; i < path->count; i++)
    length += path->words[i]->length;
  char *text = kymo_lang_new(parser->session, length, 1);
  if (!text)
    return NULL;
  for (uint32_t i = 0; i < path->count; i++) {
    if (i > 0)
      text[at++] = '.';
    memcpy(text + at, path->words[i]->text, path->words[i]->length);
    at += path->words[i]->length;
  }
  return kymo_tsdl_word(parser->session, text, length);
}

bool kymo_tsdl_parse_number(struct tsdl_parser *parser, struct tsdl_value *value) {
  value->kind = TSDL_VALUE_INTEGER;
  value->at = parser->token.at;
  while (parser->token.kind == '-' || parser->token.kind == '+') {
    value->is_negative ^= parser->token.kind == '-';
    kymo_tsdl_next(parser);
  }
  value->magnitude = parser->token.number;
  return kymo_tsdl_expect(parser, TSDL_TOKEN_NUMBER, "a number");
}

static bool parse_value(struct tsdl_parser *parser, struct tsdl_value *value) {
  int kind = parser->token.kind;
  value->at = parser->token.at;
  if (kind == '-' || kind == '+' || kind == TSDL_TOKEN_NUMBER)
    return kymo_tsdl_parse_number(parser, value);
  if (kind == TSDL_TOKEN_TEXT) {
    value->kind = TSDL_VALUE_STRING;
    value->word = parser->token.word;
    kymo_tsdl_next(parser);
    return true;
  }
  if (kind != TSDL_TOKEN_WORD)
    return kymo_tsdl_unexpected(parser, "a number, a text or a name");
  struct tsdl_path path = {0};
  value->kind = TSDL_VALUE_NAME;
  return kymo_tsdl_parse_path(parser, &path) && (value->word = joined(parser, &path));
}

/* ---- attributes ---- */

static bool parse_attribute_value(struct tsdl_parser *parser, struct tsdl_value *value) {
  if (accept(parser, '='))
    return parse_value(parser, value);
  if (!kymo_tsdl_expect(parser, TSDL_TOKEN_IS_TYPE, "\"=\" or \":=\""))
    return false;
  struct tsdl_specifier specifier;
  value->kind = TSDL_VALUE_TYPE;
  value->at = parser->token.at;
  return kymo_tsdl_parse_specifier(parser, &specifier) &&
         (value->type = kymo_tsdl_parse_pointers(parser, &specifier));
}

/* One attribute with its semicolon, after *last. */
static bool parse_attribute(struct tsdl_parser *parser, struct tsdl_attribute ***last) {
  struct tsdl_attribute *attribute = kymo_lang_new(parser->session, 1, sizeof *attribute);
  struct tsdl_path path = {0};
  bool again = false;
  if (!attribute)
    return false;
  if (parser->token.kind != TSDL_TOKEN_WORD)
    return kymo_tsdl_unexpected(parser, "the name of an attribute or \"}\"");
  if (!kymo_tsdl_parse_path(parser, &path) || !(attribute->name = joined(parser, &path)))
    return false;
  attribute->at = path.at;
  if (!kymo_tsdl_declare(parser->session, TSDL_SPACE_ATTRIBUTE, attribute->name, &again))
    return again
               ? kymo_lang_fail(parser->session, path.at, "a second attribute \"%s\"", attribute->name->text)
               : false;
  if (!parse_attribute_value(parser, &attribute->value) || !kymo_tsdl_expect(parser, ';', "\";\""))
    return false;
  **last = attribute;
  *last = &attribute->next;
  return true;
}

bool kymo_tsdl_parse_attributes(struct tsdl_parser *parser, struct tsdl_attribute **attributes) {
  struct tsdl_attribute **last = attributes;
  *last = NULL;
  if (!kymo_tsdl_expect(parser, '{', "\"{\""))
    return false;
  uint32_t outer = kymo_tsdl_enter(parser->session);
  while (parser->token.kind != '}') {
    if (accept(parser, ';'))
      continue;
    bool ok = kymo_tsdl_at_declaration(parser) ? kymo_tsdl_parse_declaration(parser)
                                               : parse_attribute(parser, &last);
    if (!ok)
      return false;
  }
  kymo_tsdl_leave(parser->session, outer);
  kymo_tsdl_next(parser);
  return true;
}

/* ---- blocks ---- */

static bool is_block(const struct tsdl_parser *parser) {
  static const enum tsdl_keyword kinds[] = {TSDL_TRACE, TSDL_STREAM, TSDL_EVENT,
                                            TSDL_CLOCK, TSDL_ENV,    TSDL_CALLSITE};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (kymo_tsdl_at_keyword(parser, kinds[i]))
      return true;
  return false;
}

static bool unknown_block(struct tsdl_parser *parser) {
  static const char *const names[] = {"trace",     "stream",  "event",  "clock",   "env", "callsite",
                                      "typealias", "typedef", "struct", "variant", "enum"};
  const struct tsdl_token *token = &parser->token;
  if (token->kind != TSDL_TOKEN_WORD || token->word->keyword)
    return kymo_tsdl_unexpected(parser, "a block or a declaration");
  return kymo_lang_fail(parser->session, token->at, "expected a block or a declaration, found \"%.40s\"%s",
                        token->word->text,
                        kymo_hint_among(token->word->text, names, sizeof names / sizeof names[0]).text);
}

static bool parse_block(struct tsdl_parser *parser, struct tsdl_block ***last) {
  struct tsdl_block *block = kymo_lang_new(parser->session, 1, sizeof *block);
  if (!block)
    return false;
  block->kind = parser->token.word->keyword;
  block->at = parser->token.at;
  kymo_tsdl_next(parser);
  if (!kymo_tsdl_parse_attributes(parser, &block->attributes) || !kymo_tsdl_expect(parser, ';', "\";\""))
    return false;
  if (block->kind == TSDL_CALLSITE)
    return true; /* they are not used */
  **last = block;
  *last = &block->next;
  return true;
}

bool kymo_tsdl_parse(struct tsdl_session *session, struct tsdl_block **blocks) {
  struct tsdl_parser parser = {
      .session = session,
      .lexer = {.session = session, .cursor = {session->common.text, session->common.length, 0}}};
  struct tsdl_block **last = blocks;
  *last = NULL;
  uint32_t outer = kymo_tsdl_enter(session);
  kymo_tsdl_next(&parser);
  while (parser.token.kind != TSDL_TOKEN_END) {
    if (accept(&parser, ';'))
      continue;
    bool ok = is_block(&parser)                   ? parse_block(&parser, &last)
              : kymo_tsdl_at_declaration(&parser) ? kymo_tsdl_parse_declaration(&parser)
                                                  : unknown_block(&parser);
    if (!ok)
      return false;
  }
  kymo_tsdl_leave(session, outer);
  return true;
}
