/* SPDX-License-Identifier: MIT */
/* The cursor over tokens. */
#include "lang/tdl/syntax.h"
#include "base/nearest.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct tdl_parser kymo_tdl_parser(struct tdl_session *session) {
  struct tdl_parser parser = {
      .session = session,
      .lexer = {.session = session, .cursor = {session->common.text, session->common.length, 0}}};
  parser.token = kymo_tdl_lex(&parser.lexer);
  return parser;
}

void kymo_tdl_advance(struct tdl_parser *parser) {
  parser->end = parser->token.at + parser->token.length;
  parser->token = kymo_tdl_lex(&parser->lexer);
}

bool kymo_tdl_accept(struct tdl_parser *parser, int kind) {
  if (parser->token.kind != kind || parser->session->common.failed)
    return false;
  kymo_tdl_advance(parser);
  return true;
}

/* What a token of this kind is called. */
static const char *name_of(int kind, char buffer[8]) {
  switch (kind) {
  case TDL_TOKEN_END: return "the end of the text";
  case TDL_TOKEN_NAME: return "a name";
  case TDL_TOKEN_NUMBER: return "a number";
  case TDL_TOKEN_STRING: return "a string";
  case TDL_TOKEN_HEX: return "bytes";
  case TDL_TOKEN_REGEX: return "a regular expression";
  case TDL_TOKEN_DOTS: return "\"..\"";
  default:
    snprintf(buffer, 8, "\"%c\"", kind);
    return kind > TDL_TOKEN_KEYWORDS ? kymo_tdl_keyword(kind) : buffer;
  }
}

bool kymo_tdl_unexpected(struct tdl_parser *parser, const char *what) {
  const struct tdl_token *token = &parser->token;
  const struct tdl_session *session = parser->session;
  if (token->kind == TDL_TOKEN_END)
    return kymo_tdl_fail(parser->session, token->at, "E21", "expected %s, found the end of the text", what);
  struct kymo_nearest nearest = kymo_nearest_to(token->word ? token->word->text : "");
  if (token->kind == TDL_TOKEN_NAME)
    kymo_nearest_consider(&nearest, what);
  return kymo_tdl_fail(parser->session, token->at, "E21", "expected %s, found %.*s%s", what,
                       (int)(token->length < 60 ? token->length : 60), session->common.text + token->at,
                       kymo_nearest_hint(&nearest).text);
}

bool kymo_tdl_expect(struct tdl_parser *parser, int kind) {
  char buffer[8];
  return kymo_tdl_accept(parser, kind) || kymo_tdl_unexpected(parser, name_of(kind, buffer));
}

bool kymo_tdl_is_name(const struct tdl_parser *parser) {
  switch (parser->token.kind) {
  case TDL_TOKEN_NAME:
  case TDL_KEYWORD_EVENT:
  case TDL_KEYWORD_SEQUENCE:
  case TDL_KEYWORD_TEXT: return true;
  default: return false;
  }
}

bool kymo_tdl_expect_name(struct tdl_parser *parser, const char *what, struct tdl_name *name) {
  if (!kymo_tdl_is_name(parser))
    return kymo_tdl_unexpected(parser, what);
  *name =
      (struct tdl_name){.word = parser->token.word, .at = parser->token.at, .length = parser->token.length};
  kymo_tdl_advance(parser);
  return true;
}

bool kymo_tdl_expect_number(struct tdl_parser *parser, uint64_t most, uint64_t *number) {
  const struct tdl_token *token = &parser->token;
  if (token->kind != TDL_TOKEN_NUMBER)
    return kymo_tdl_unexpected(parser, "a number");
  if (token->value.type != TDL_INTEGER || token->value.integer.low > most)
    return kymo_tdl_fail(parser->session, token->at, "E13", "expected a whole number of at most %" PRIu64,
                         most);
  *number = token->value.integer.low;
  kymo_tdl_advance(parser);
  return true;
}

bool kymo_tdl_expect_string(struct tdl_parser *parser, struct tdl_bytes *bytes) {
  if (parser->token.kind != TDL_TOKEN_STRING)
    return kymo_tdl_unexpected(parser, "a string");
  *bytes = parser->token.bytes;
  kymo_tdl_advance(parser);
  return true;
}

bool kymo_tdl_enter(struct tdl_parser *parser) {
  if (parser->session->depth >= TDL_DEPTH_MAX)
    return kymo_tdl_fail(parser->session, parser->token.at, "E61", "expected at most %d levels of nesting",
                         TDL_DEPTH_MAX);
  parser->session->depth++;
  return true;
}

void kymo_tdl_leave(struct tdl_parser *parser) { parser->session->depth--; }
