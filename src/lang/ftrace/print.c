/* SPDX-License-Identifier: MIT */
/* Parses the print fmt of a format file: the format, then expressions by precedence. */
#include "lang/ftrace/print.h"
#include "lang/text/cursor.h"
#include "lang/text/session.h"
#include "lang/ftrace/print_parser.h"
#include <string.h>

#define DEPTH_MAX 100

/* ---- tokens ---- */

static const char *const signs[] = {"->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};

static bool next_quoted(struct print_session *session, struct print_token *token, char quote) {
  struct kymo_cursor *cursor = &session->cursor;
  size_t end = kymo_find_quote(cursor, cursor->at + 1, quote, KYMO_QUOTED_LINES);
  if (end == 0)
    return kymo_lang_fail(session, cursor->at, "a quote without end");
  token->kind = quote == '"' ? PRINT_TOKEN_TEXT : PRINT_TOKEN_CHARACTER;
  token->text = cursor->text + cursor->at + 1;
  token->length = end - cursor->at - 1;
  for (size_t i = 0; i < token->length; i++)
    session->is_beyond |= token->text[i] != '\n' && (token->text[i] < ' ' || token->text[i] > '~');
  cursor->at = end + 1;
  return true;
}

bool kymo_print_next(struct print_session *session) {
  struct kymo_cursor *cursor = &session->cursor;
  struct print_token *token = &session->token;
  if (!kymo_pass_c_blanks(cursor))
    return kymo_lang_fail(session, cursor->at, "a comment without end");
  int c = kymo_peek(cursor, 0);
  size_t begin = cursor->at;
  *token = (struct print_token){.kind = PRINT_TOKEN_END, .text = cursor->text + begin, .at = begin};
  if (c < 0)
    return true;
  if (c == '"' || c == '\'')
    return next_quoted(session, token, (char)c);
  if (kymo_is_letter(c) || kymo_is_digit(c)) {
    kymo_pass_word(cursor);
    token->kind = PRINT_TOKEN_WORD;
  } else {
    size_t length = 1;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
      if (cursor->length - begin >= 2 && memcmp(token->text, signs[i], 2) == 0)
        length = 2;
    cursor->at += length;
    token->kind = PRINT_TOKEN_SIGN;
  }
  token->length = cursor->at - begin;
  return true;
}

bool kymo_print_is(const struct print_session *session, const char *text) {
  const struct print_token *token = &session->token;
  return token->kind != PRINT_TOKEN_TEXT && token->kind != PRINT_TOKEN_CHARACTER &&
         token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

bool kymo_print_expect(struct print_session *session, const char *text) {
  if (!kymo_print_is(session, text))
    return kymo_lang_fail(session, session->token.at, "expected \"%s\"", text);
  return kymo_print_next(session);
}

/* ---- nodes ---- */

struct kymo_ftrace_node *kymo_print_node(struct print_session *session, enum kymo_ftrace_node_kind kind) {
  struct kymo_ftrace_node *node = kymo_lang_keep(session, 1, sizeof *node);
  if (node)
    node->kind = (uint8_t)kind;
  return node;
}

struct kymo_ftrace_node *kymo_print_done(struct print_session *session, struct kymo_ftrace_node *node) {
  const struct kymo_ftrace_node *parts[] = {node->a, node->b, node->c};
  for (size_t i = 0; i < 3; i++)
    if (parts[i] && parts[i]->depth >= node->depth)
      node->depth = parts[i]->depth + 1;
  if (node->depth <= DEPTH_MAX)
    return node;
  kymo_lang_fail(session, session->token.at, "an expression of more than %d levels", DEPTH_MAX);
  return NULL;
}

bool kymo_print_deepen(struct print_session *session) {
  return ++session->depth <= DEPTH_MAX ||
         kymo_lang_fail(session, session->token.at, "expressions are nested in more than %d levels",
                        DEPTH_MAX);
}

/* ---- casts ---- */

static const struct cast_name {
  const char *name;
  uint8_t bits; /* 0: of a long, or unknown: the value stays */
  bool is_signed, is_masked;
} cast_names[] = {
    {"char", 8, true, true},
    {"short", 16, true, true},
    {"int", 32, true, true},
    {"unsigned char", 8, false, true},
    {"unsigned short", 16, false, true},
    {"unsigned int", 32, false, true},
    {"unsigned", 32, false, false},
    {"u8", 8, false, true},
    {"u16", 16, false, true},
    {"u32", 32, false, true},
    {"u64", 64, false, false},
    {"s8", 8, true, true},
    {"s16", 16, true, true},
    {"s32", 32, true, true},
    {"s64", 64, true, false},
    {"__u8", 8, false, false},
    {"__u16", 16, false, false},
    {"__u32", 32, false, false},
    {"__u64", 64, false, false},
    {"__s8", 8, true, false},
    {"__s16", 16, true, false},
    {"__s32", 32, true, false},
    {"__s64", 64, true, false},
    {"long", 0, true, false},
    {"unsigned long", 0, false, false},
    {"long long", 64, true, false},
    {"unsigned long long", 64, false, false},
    {"size_t", 0, false, false},
    {"ssize_t", 0, true, false},
    {"bool", 0, false, false},
    {"gfp_t", 32, false, false},
    {"pid_t", 32, true, false},
    {"void", 0, false, false},
};

static void set_cast(struct kymo_ftrace_node *node, const char *name) {
  for (size_t i = 0; i < sizeof cast_names / sizeof *cast_names; i++)
    if (strcmp(cast_names[i].name, name) == 0) {
      node->bits = cast_names[i].bits;
      node->is_signed = cast_names[i].is_signed;
      node->is_masked = cast_names[i].is_masked;
    }
}

bool kymo_print_size(const char *name, uint64_t *size) {
  for (size_t i = 0; i < sizeof cast_names / sizeof *cast_names; i++)
    if (strcmp(cast_names[i].name, name) == 0 && strcmp(name, "void") != 0) {
      *size = strcmp(name, "bool") == 0 ? 1 : cast_names[i].bits / 8;
      return true;
    }
  return false;
}

static bool is_known_type(const char *name) {
  uint64_t size;
  return kymo_print_size(name, &size);
}

/* After "(": words and asterisks up to ")", and what follows begins a value. The position moves only then. */
static bool take_cast(struct print_session *session, struct kymo_ftrace_node *node) {
  struct kymo_cursor saved = session->cursor;
  struct print_token first = session->token;
  char name[64] = "";
  size_t length = 0;
  bool is_cast =
      first.kind == PRINT_TOKEN_WORD && !kymo_is_digit(first.text[0]) && !kymo_print_is(session, "REC");
  for (bool more = is_cast; more; more = kymo_print_next(session)) {
    const struct print_token *token = &session->token;
    bool is_star = kymo_print_is(session, "*");
    if (!is_star && token->kind != PRINT_TOKEN_WORD)
      break;
    node->is_pointer |= is_star;
    if (is_star || kymo_print_is(session, "const") || kymo_print_is(session, "volatile"))
      continue;
    if (length + token->length + 2 > sizeof name) {
      is_cast = false;
      break;
    }
    if (length)
      name[length++] = ' ';
    memcpy(name + length, token->text, token->length);
    length += token->length;
    name[length] = '\0';
  }
  is_cast = is_cast && !session->common.failed && kymo_print_is(session, ")") && kymo_print_next(session) &&
            (session->token.kind == PRINT_TOKEN_WORD || session->token.kind == PRINT_TOKEN_TEXT ||
             session->token.kind == PRINT_TOKEN_CHARACTER || kymo_print_is(session, "(") ||
             (is_known_type(name) && (kymo_print_is(session, "-") || kymo_print_is(session, "~"))));
  if (!is_cast && !session->common.failed) {
    session->cursor = saved;
    session->token = first;
    node->is_pointer = false;
  }
  if (is_cast)
    set_cast(node, name);
  return is_cast;
}

/* ---- primary expressions ---- */

static struct kymo_ftrace_node *parse_number(struct print_session *session) {
  const struct print_token *token = &session->token;
  struct kymo_cursor digits = {.text = token->text, .length = token->length};
  struct kymo_ftrace_node *node = kymo_print_node(session, KYMO_FTRACE_NUMBER);
  int base = 10;
  if (token->length > 2 && token->text[0] == '0' && (token->text[1] | 0x20) == 'x') {
    base = 16;
    digits.at = 2;
  } else if (token->length > 1 && token->text[0] == '0') {
    base = 8;
  }
  if (!node)
    return NULL;
  kymo_pass_digits(&digits, base, false, &node->number);
  for (; digits.at < token->length; digits.at++)
    if (!strchr("uUlL", token->text[digits.at])) {
      kymo_lang_fail(session, token->at, "expected a number");
      return NULL;
    }
  return kymo_print_next(session) ? node : NULL;
}

static struct kymo_ftrace_node *parse_text(struct print_session *session) {
  struct kymo_ftrace_node *node = kymo_print_node(session, KYMO_FTRACE_TEXT);
  if (!node)
    return NULL;
  const struct print_token *token = &session->token;
  if (token->kind == PRINT_TOKEN_CHARACTER) {
    node->kind = KYMO_FTRACE_NUMBER;
    node->number = token->length ? (unsigned char)token->text[0] : 0;
    return kymo_print_next(session) ? node : NULL;
  }
  node->text = kymo_lang_keep_text(session, token->text, token->length);
  if (!node->text || !kymo_print_next(session))
    return NULL;
  while (token->kind == PRINT_TOKEN_TEXT) { /* texts in a row are one */
    size_t length = strlen(node->text);
    char *joined = kymo_lang_keep(session, length + token->length + 1, 1);
    if (!joined)
      return NULL;
    memcpy(joined, node->text, length);
    memcpy(joined + length, token->text, token->length);
    node->text = joined;
    if (!kymo_print_next(session))
      return NULL;
  }
  return node;
}

/* "REC->field", also "(REC)->field" */
static struct kymo_ftrace_node *parse_record(struct print_session *session, bool is_paren) {
  struct kymo_ftrace_node *node = kymo_print_node(session, KYMO_FTRACE_FIELD);
  if (!node || !kymo_print_next(session) || (is_paren && !kymo_print_expect(session, ")")) ||
      !kymo_print_expect(session, "->"))
    return NULL;
  return kymo_print_field(session, &node->field) ? node : NULL;
}

bool kymo_print_field(struct print_session *session, uint32_t *field) {
  const struct print_token *token = &session->token;
  if (token->kind != PRINT_TOKEN_WORD)
    return kymo_lang_fail(session, token->at, "expected the name of a field");
  *field = session->find(session->user, token->text, token->length);
  if (*field == UINT32_MAX)
    return kymo_lang_fail(session, token->at, "no field has the name %.*s", (int)token->length, token->text);
  return kymo_print_next(session);
}

static struct kymo_ftrace_node *parse_paren(struct print_session *session) {
  struct kymo_ftrace_node *cast;
  if (!kymo_print_next(session) || !(cast = kymo_print_node(session, KYMO_FTRACE_CAST)))
    return NULL;
  if (take_cast(session, cast)) {
    cast->a = kymo_print_unary(session);
    return cast->a ? kymo_print_done(session, cast) : NULL;
  }
  struct kymo_cursor saved = session->cursor;
  struct print_token first = session->token;
  if (kymo_print_is(session, "REC")) {
    if (!kymo_print_next(session))
      return NULL;
    bool is_record = kymo_print_is(session, ")");
    session->cursor = saved;
    session->token = first;
    if (is_record)
      return parse_record(session, true);
  }
  struct kymo_ftrace_node *node = kymo_print_expression(session);
  return node && kymo_print_expect(session, ")") ? node : NULL;
}

/* A name: a function, or a word that stays. Words in a row are one, as in "struct page". */
static struct kymo_ftrace_node *parse_word(struct print_session *session) {
  struct print_token name = session->token;
  if (kymo_print_is(session, "REC"))
    return parse_record(session, false);
  if (!kymo_print_next(session))
    return NULL;
  if (kymo_print_is(session, "("))
    return kymo_print_function(session, &name);
  struct kymo_ftrace_node *node = kymo_print_node(session, KYMO_FTRACE_TEXT);
  if (node)
    node->text = kymo_lang_keep_text(session, name.text, name.length);
  return node && node->text ? node : NULL;
}

static struct kymo_ftrace_node *parse_primary(struct print_session *session) {
  const struct print_token *token = &session->token;
  if (token->kind == PRINT_TOKEN_TEXT || token->kind == PRINT_TOKEN_CHARACTER)
    return parse_text(session);
  if (token->kind == PRINT_TOKEN_WORD)
    return kymo_is_digit(token->text[0]) ? parse_number(session) : parse_word(session);
  if (kymo_print_is(session, "("))
    return parse_paren(session);
  kymo_lang_fail(session, token->at, "expected a value");
  return NULL;
}

static struct kymo_ftrace_node *parse_postfix(struct print_session *session) {
  struct kymo_ftrace_node *node = parse_primary(session);
  bool is_operator = session->rules == KYMO_FTRACE_OF_TRACE_CMD; /* see print_trace_cmd.c */
  while (node && !is_operator && kymo_print_is(session, "[")) {
    struct kymo_ftrace_node *index = kymo_print_node(session, KYMO_FTRACE_INDEX);
    if (!index || !kymo_print_next(session))
      return NULL;
    index->a = node;
    index->b = kymo_print_expression(session);
    node = index->b && kymo_print_expect(session, "]") ? kymo_print_done(session, index) : NULL;
  }
  return node;
}

/* ---- operators ---- */

struct kymo_ftrace_node *kymo_print_unary(struct print_session *session) {
  static const struct {
    const char *sign;
    enum kymo_ftrace_operator operation;
  } unary[] = {{"!", KYMO_FTRACE_NOT},
               {"~", KYMO_FTRACE_COMPLEMENT},
               {"-", KYMO_FTRACE_MINUS},
               {"+", KYMO_FTRACE_PLUS}};
  struct kymo_ftrace_node *node = NULL;
  if (!kymo_print_deepen(session))
    return NULL;
  for (size_t i = 0; i < sizeof unary / sizeof *unary && !node; i++)
    if (kymo_print_is(session, unary[i].sign)) {
      node = kymo_print_node(session, KYMO_FTRACE_UNARY);
      if (!node || !kymo_print_next(session))
        return NULL;
      node->operation = (uint8_t)unary[i].operation;
      node->a = kymo_print_unary(session);
      node = node->a ? kymo_print_done(session, node) : NULL;
      session->depth--;
      return node;
    }
  node = parse_postfix(session);
  session->depth--;
  return node;
}

static const struct binary {
  const char *sign;
  uint8_t rank;
  enum kymo_ftrace_operator operation;
} binaries[] = {
    {"||", 1, KYMO_FTRACE_OR},      {"&&", 2, KYMO_FTRACE_AND},      {"|", 3, KYMO_FTRACE_BIT_OR},
    {"^", 4, KYMO_FTRACE_BIT_XOR},  {"&", 5, KYMO_FTRACE_BIT_AND},   {"==", 6, KYMO_FTRACE_EQUAL},
    {"!=", 6, KYMO_FTRACE_UNEQUAL}, {"<", 7, KYMO_FTRACE_LESS},      {">", 7, KYMO_FTRACE_GREATER},
    {"<=", 7, KYMO_FTRACE_AT_MOST}, {">=", 7, KYMO_FTRACE_AT_LEAST}, {"<<", 8, KYMO_FTRACE_LEFT},
    {">>", 8, KYMO_FTRACE_RIGHT},   {"+", 9, KYMO_FTRACE_PLUS},      {"-", 9, KYMO_FTRACE_MINUS},
    {"*", 10, KYMO_FTRACE_TIMES},   {"/", 10, KYMO_FTRACE_DIVIDE},   {"%", 10, KYMO_FTRACE_REMAINDER},
};

static const struct binary *find_binary(const struct print_session *session) {
  for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
    if (session->token.kind == PRINT_TOKEN_SIGN && kymo_print_is(session, binaries[i].sign))
      return &binaries[i];
  return NULL;
}

bool kymo_print_binary(const struct print_session *session, enum kymo_ftrace_operator *operation) {
  const struct binary *binary = find_binary(session);
  if (binary)
    *operation = binary->operation;
  return binary != NULL;
}

/* Operators of at least this rank. */
static struct kymo_ftrace_node *parse_binary(struct print_session *session, unsigned rank) {
  struct kymo_ftrace_node *left = kymo_print_unary(session);
  const struct binary *binary;
  while (left && (binary = find_binary(session)) != NULL && binary->rank >= rank) {
    struct kymo_ftrace_node *node = kymo_print_node(session, KYMO_FTRACE_BINARY);
    if (!node || !kymo_print_next(session))
      return NULL;
    node->operation = (uint8_t)binary->operation;
    node->a = left;
    node->b = parse_binary(session, binary->rank + 1u);
    left = node->b ? kymo_print_done(session, node) : NULL;
  }
  return left;
}

struct kymo_ftrace_node *kymo_print_expression(struct print_session *session) {
  if (session->rules == KYMO_FTRACE_OF_TRACE_CMD)
    return kymo_print_as_trace_cmd(session);
  if (!kymo_print_deepen(session))
    return NULL;
  struct kymo_ftrace_node *node = parse_binary(session, 1);
  if (node && kymo_print_is(session, "?")) {
    struct kymo_ftrace_node *condition = kymo_print_node(session, KYMO_FTRACE_CONDITION);
    if (!condition || !kymo_print_next(session))
      return NULL;
    condition->a = node;
    condition->b = kymo_print_expression(session);
    if (!condition->b || !kymo_print_expect(session, ":"))
      return NULL;
    condition->c = kymo_print_expression(session);
    node = condition->c ? kymo_print_done(session, condition) : NULL;
  }
  session->depth--;
  return node;
}

uint64_t kymo_ftrace_operate(enum kymo_ftrace_operator operation, uint64_t a, uint64_t b, bool is_signed) {
  int64_t x = (int64_t)a, y = (int64_t)b;
  bool overflows = is_signed && x == INT64_MIN && y == -1;
  switch (operation) {
  case KYMO_FTRACE_OR: return a || b;
  case KYMO_FTRACE_AND: return a && b;
  case KYMO_FTRACE_BIT_OR: return a | b;
  case KYMO_FTRACE_BIT_XOR: return a ^ b;
  case KYMO_FTRACE_BIT_AND: return a & b;
  case KYMO_FTRACE_EQUAL: return a == b;
  case KYMO_FTRACE_UNEQUAL: return a != b;
  case KYMO_FTRACE_LESS: return is_signed ? x < y : a < b;
  case KYMO_FTRACE_GREATER: return is_signed ? x > y : a > b;
  case KYMO_FTRACE_AT_MOST: return is_signed ? x <= y : a <= b;
  case KYMO_FTRACE_AT_LEAST: return is_signed ? x >= y : a >= b;
  case KYMO_FTRACE_LEFT: return a << (b & 63); /* as processors shift */
  case KYMO_FTRACE_RIGHT: return is_signed ? (uint64_t)(x >> (b & 63)) : a >> (b & 63);
  case KYMO_FTRACE_PLUS: return a + b;
  case KYMO_FTRACE_MINUS: return a - b;
  case KYMO_FTRACE_TIMES: return a * b;
  case KYMO_FTRACE_DIVIDE: return b == 0 || overflows ? 0 : is_signed ? (uint64_t)(x / y) : a / b;
  case KYMO_FTRACE_REMAINDER: return b == 0 || overflows ? 0 : is_signed ? (uint64_t)(x % y) : a % b;
  case KYMO_FTRACE_NOT: return !b;
  case KYMO_FTRACE_COMPLEMENT: return ~b;
  }
  return 0;
}
