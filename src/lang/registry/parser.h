/* SPDX-License-Identifier: MIT */
/*
 * Text of the registry → schema. One pass: references go backwards, as in the binary form, so everything is
 * added to the builder at once.
 *
 *   text ──lexer.c──► tokens ──parse.c (blocks), parse_type.c──► builder ──► schema
 *
 * All functions return false after an error, of which the first one is kept.
 */
#ifndef KYMO_LANG_REGISTRY_PARSER_H
#define KYMO_LANG_REGISTRY_PARSER_H

#include "lang/text/cursor.h"
#include "lang/text/session.h"
#include "schema/build.h"

/* Punctuation of one character is that character. */
enum registry_token_kind {
  REGISTRY_TOKEN_END = 0,
  REGISTRY_TOKEN_WORD = 256,
  REGISTRY_TOKEN_NUMBER,
  REGISTRY_TOKEN_TEXT, /* quoted */
  REGISTRY_TOKEN_ID,   /* # and a number */
  REGISTRY_TOKEN_DOTS, /* ... */
};

struct registry_token {
  int kind;
  size_t at, length; /* in the source */
  uint64_t number;   /* NUMBER, ID */
  const char *text;  /* TEXT: without quotes and escapes, in the schema's memory */
};

/* A list that grows and is used again and again. */
struct registry_list {
  void *items;
  uint32_t count, capacity;
};

struct registry_parser {
  struct kymo_lang_session common; /* keep: the schema's */
  struct kymo_cursor cursor;       /* after the current token */
  struct registry_token token;
  struct kymo_builder *builder;
  uint64_t fields;            /* checked so far */
  struct registry_list types; /* const struct kymo_type * by number */
  struct registry_list members, mappings, ranges, streams;
};

/* ---- lexer.c ---- */

/* Moves to the next token. */
bool kymo_registry_advance(struct registry_parser *parser);
/* "expected WHAT, found …" at the current token. */
bool kymo_registry_expected(struct registry_parser *parser, const char *what);
/* True if the current token is this word. */
bool kymo_registry_is_word(const struct registry_parser *parser, const char *word);
/* Passes a token of this kind, or this word; without it, nothing happens and the result is false. */
bool kymo_registry_skip(struct registry_parser *parser, int kind);
bool kymo_registry_skip_word(struct registry_parser *parser, const char *word);
/* Passes a token that must be there. */
bool kymo_registry_expect(struct registry_parser *parser, int kind, const char *what);
/* The index of the current word among `count`; -1 after reporting that it is none: "no such WHAT". */
int kymo_registry_one_of(struct registry_parser *parser, const char *const *words, size_t count,
                         const char *what);

/* ---- values ---- */

bool kymo_registry_number(struct registry_parser *parser, uint64_t most, uint64_t *out);
/* Of two's complement if it is signed. */
bool kymo_registry_integer(struct registry_parser *parser, bool is_signed, uint64_t *out);
bool kymo_registry_text(struct registry_parser *parser, const char **out);
/* A text or a word. */
bool kymo_registry_name(struct registry_parser *parser, const char **out);
/* #ID of an earlier type. */
bool kymo_registry_type_id(struct registry_parser *parser, const struct kymo_type **out);
/* The number of an earlier clock. */
bool kymo_registry_clock(struct registry_parser *parser, const struct kymo_clock **out);

/* Space for one more item, or NULL after reporting. */
void *kymo_registry_add(struct registry_parser *parser, struct registry_list *list, size_t size);
/* A copy of all items in the schema's memory, and an empty list; NULL if there are none or after
 * reporting. */
void *kymo_registry_take(struct registry_parser *parser, struct registry_list *list, size_t size);

/* ---- parse_type.c ---- */

/* type #ID "name" = …; */
bool kymo_registry_parse_type(struct registry_parser *parser);

#endif
