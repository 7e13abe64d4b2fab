/* SPDX-License-Identifier: MIT */
/* TSDL text → tokens, one at a time. */
#ifndef KYMO_LANG_TSDL_LEXER_H
#define KYMO_LANG_TSDL_LEXER_H

#include "lang/text/cursor.h"
#include "lang/tsdl/tree.h"

/* Punctuation of one character is that character. */
enum tsdl_token_kind {
  TSDL_TOKEN_END = 0,
  TSDL_TOKEN_WORD = 256, /* identifier or keyword */
  TSDL_TOKEN_NUMBER,
  TSDL_TOKEN_TEXT,    /* quoted */
  TSDL_TOKEN_IS_TYPE, /* := */
  TSDL_TOKEN_DOTS,    /* ... */
  TSDL_TOKEN_ARROW,   /* -> */
  TSDL_TOKEN_BAD,     /* an error was reported */
};

struct tsdl_token {
  int kind;
  uint32_t at, length;
  struct tsdl_word *word; /* WORD; TEXT: without quotes and escapes */
  uint64_t number;
};

struct tsdl_lexer {
  struct tsdl_session *session;
  struct kymo_cursor cursor;
};

struct tsdl_token kymo_tsdl_lex(struct tsdl_lexer *lexer);

#endif
