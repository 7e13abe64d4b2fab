/* SPDX-License-Identifier: MIT */
/*
 * What the parsers of TDL and FDL have in common: a cursor over tokens, and expressions. A parser of FDL:
 *
 *   struct tdl_session session = {.common = {.text = …, .length = …, .file = …, .error = …}};
 *   if (!kymo_tdl_begin(&session, TDL_LANGUAGE_FDL)) …
 *   struct tdl_parser parser = kymo_tdl_parser(&session);
 *   if (kymo_tdl_expect(&parser, TDL_KEYWORD_SELECT)) expr = kymo_tdl_parse_expression(&parser);
 *
 * All that parse return NULL or false after an error was reported; then tokens are BAD and nothing matches
 * any more.
 */
#ifndef KYMO_LANG_TDL_PARSER_H
#define KYMO_LANG_TDL_PARSER_H

#include "lang/tdl/lexer.h"

struct tdl_parser {
  struct tdl_session *session;
  struct tdl_lexer lexer;
  struct tdl_token token; /* the current one, not yet taken */
  uint32_t end;           /* after the token taken last */
};

/* A parser at the first token. */
struct tdl_parser kymo_tdl_parser(struct tdl_session *session);
/* Takes the current token. */
void kymo_tdl_advance(struct tdl_parser *parser);
/* Takes the current token if it is of this kind (a character, a TDL_TOKEN, a TDL_KEYWORD). */
bool kymo_tdl_accept(struct tdl_parser *parser, int kind);
/* The same; anything else is E21. */
bool kymo_tdl_expect(struct tdl_parser *parser, int kind);
/* E21 at the current token: "expected WHAT, found …". Returns false. */
bool kymo_tdl_unexpected(struct tdl_parser *parser, const char *what);
/* A name, or a keyword that is a name where one is wanted (EVENT, SEQUENCE, TEXT). `what` is for the
 * error. */
bool kymo_tdl_expect_name(struct tdl_parser *parser, const char *what, struct tdl_name *name);
/* True if the current token is a name in that sense. */
bool kymo_tdl_is_name(const struct tdl_parser *parser);
/* A plain number without a fraction, at most `most`. */
bool kymo_tdl_expect_number(struct tdl_parser *parser, uint64_t most, uint64_t *number);
/* "…" */
bool kymo_tdl_expect_string(struct tdl_parser *parser, struct tdl_bytes *bytes);

/* expr, sum, set and path of the grammar. The forms of FDL are E43 in TDL and the other way round. */
struct tdl_expr *kymo_tdl_parse_expression(struct tdl_parser *parser);
struct tdl_expr *kymo_tdl_parse_sum(struct tdl_parser *parser);
struct tdl_set *kymo_tdl_parse_set(struct tdl_parser *parser);
bool kymo_tdl_parse_path(struct tdl_parser *parser, struct tdl_path *path);
/* oper: a name (a PATH of one name), or an expression in parentheses. */
struct tdl_expr *kymo_tdl_parse_operand(struct tdl_parser *parser);
/* num word, e.g. `5 ms`: a DURATION, or TICKS. */
bool kymo_tdl_parse_duration(struct tdl_parser *parser, struct tdl_value *value);

#endif
