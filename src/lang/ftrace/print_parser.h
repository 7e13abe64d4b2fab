/* SPDX-License-Identifier: MIT */
/* What the parser of print fmt consists of: expressions (print.c), functions (print_function.c), the format
 * (print_format.c). */
#ifndef KYMO_LANG_FTRACE_PRINT_PARSER_H
#define KYMO_LANG_FTRACE_PRINT_PARSER_H

#include "lang/ftrace/print.h"
#include "lang/text/cursor.h"
#include "lang/text/session.h"

struct print_token {
  enum {
    PRINT_TOKEN_END,
    PRINT_TOKEN_WORD, /* a name or a number */
    PRINT_TOKEN_TEXT, /* what is between the quotes, as it is in the file */
    PRINT_TOKEN_CHARACTER,
    PRINT_TOKEN_SIGN,
  } kind;
  const char *text;
  size_t length, at;
};

struct print_session {
  struct kymo_lang_session common;
  struct kymo_cursor cursor;
  struct print_token token; /* the current one */
  enum kymo_ftrace_rules rules;
  kymo_ftrace_find *find;
  const void *user;
  unsigned depth;
  bool is_beyond;
};

/* All return false or NULL after reporting an error. */

/* Moves to the next token. */
bool kymo_print_next(struct print_session *session);
/* Whether the token is this word or sign. */
bool kymo_print_is(const struct print_session *session, const char *text);
/* Moves after this word or sign. */
bool kymo_print_expect(struct print_session *session, const char *text);
/* Moves after the name of a field. */
bool kymo_print_field(struct print_session *session, uint32_t *field);

/* The size of a type by its name, 0: that of a long. False: it is not known. */
bool kymo_print_size(const char *name, uint64_t *size);
struct kymo_ftrace_node *kymo_print_node(struct print_session *session, enum kymo_ftrace_node_kind kind);
/* The same node once its parts are known; NULL if the tree is too deep. */
struct kymo_ftrace_node *kymo_print_done(struct print_session *session, struct kymo_ftrace_node *node);
struct kymo_ftrace_node *kymo_print_expression(struct print_session *session);
/* The same by the rules of trace-cmd. */
struct kymo_ftrace_node *kymo_print_as_trace_cmd(struct print_session *session);
/* A value with the operators before it. */
struct kymo_ftrace_node *kymo_print_unary(struct print_session *session);
/* Whether the token is an operator between two values. */
bool kymo_print_binary(const struct print_session *session, enum kymo_ftrace_operator *operation);
/* Begins another level; false if there are too many. */
bool kymo_print_deepen(struct print_session *session);
/* A call of the function `name`; the token is the parenthesis after it. */
struct kymo_ftrace_node *kymo_print_function(struct print_session *session, const struct print_token *name);
/* The pieces of a format, and from `arguments` on what they print. */
bool kymo_print_format(struct print_session *session, struct kymo_ftrace_print *out, const char *format,
                       size_t length, const struct kymo_ftrace_node *arguments);

#endif
