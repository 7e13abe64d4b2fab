/* SPDX-License-Identifier: MIT */
/* The parser's inside: parse.c (tokens, attributes, blocks) and parse_type.c (types). Functions
 * that return bool or a pointer have reported an error when they return false or NULL. */
#ifndef KYMO_LANG_TSDL_PARSER_H
#define KYMO_LANG_TSDL_PARSER_H

#include "lang/tsdl/attributes.h"
#include "lang/tsdl/lexer.h"

struct tsdl_parser {
  struct tsdl_session *session;
  struct tsdl_lexer lexer;
  struct tsdl_token token; /* the next one */
  uint32_t depth;          /* of types inside one another */
};

/* A type before the names of what has it. Aliases are looked up only then, since the stars of
 * pointers belong to the alias: "void *". */
struct tsdl_specifier {
  struct tsdl_type *type; /* described here, or NULL */
  struct tsdl_word *key;  /* name of an alias, or NULL */
  bool is_const;
  bool is_new; /* the type has a tag and a body: it needs no declarator */
  uint32_t at;
};

/* ---- parse.c ---- */

/* Takes the current token. */
void kymo_tsdl_next(struct tsdl_parser *parser);
/* "expected WANTED, found …" at the current token. */
bool kymo_tsdl_unexpected(struct tsdl_parser *parser, const char *wanted);
/* Takes a token that must be there. */
bool kymo_tsdl_expect(struct tsdl_parser *parser, int kind, const char *wanted);
/* True if the next token is this keyword. */
bool kymo_tsdl_at_keyword(const struct tsdl_parser *parser, enum tsdl_keyword keyword);
/* "a.b.c" or "a->b" */
bool kymo_tsdl_parse_path(struct tsdl_parser *parser, struct tsdl_path *path);
/* Signs and a number. */
bool kymo_tsdl_parse_number(struct tsdl_parser *parser, struct tsdl_value *value);
/* "{ name = value; name := type; declaration; }"; *attributes in their order. */
bool kymo_tsdl_parse_attributes(struct tsdl_parser *parser, struct tsdl_attribute **attributes);
/* Space for one more item in a list that doubles at powers of two; NULL after reporting. */
void *kymo_tsdl_grow(struct tsdl_session *session, void *list, uint32_t count, size_t size);

/* ---- parse_type.c ---- */

bool kymo_tsdl_parse_specifier(struct tsdl_parser *parser, struct tsdl_specifier *specifier);
/* The type of a specifier and the stars after it. */
struct tsdl_type *kymo_tsdl_parse_pointers(struct tsdl_parser *parser,
                                           const struct tsdl_specifier *specifier);
/* typedef, typealias, or a struct, variant, enum with tag and body; with the semicolon. */
bool kymo_tsdl_parse_declaration(struct tsdl_parser *parser);
/* True if the next token begins such a declaration. */
bool kymo_tsdl_at_declaration(const struct tsdl_parser *parser);

#endif
