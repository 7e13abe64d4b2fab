/* SPDX-License-Identifier: MIT */
/*
 * Expressions, from the loosest operator to the tightest:
 *
 *   OR · AND · NOT · = <> < <= > >= IN MATCHES LIKE HAS IS · + - | ^ · * / % << >> & · - ~
 *
 * Trees are at most TDL_HEIGHT_MAX high, so walks over them may recurse.
 */
#include "lang/tdl/syntax.h"
#include <string.h>

/* ---- nodes ---- */

static struct tdl_expr *new_expr(struct tdl_parser *parser, enum tdl_operation operation, uint32_t at) {
  struct tdl_expr *expr = kymo_lang_new(parser->session, 1, sizeof *expr);
  if (expr)
    *expr = (struct tdl_expr){.operation = operation, .at = at, .height = 1};
  return expr;
}

static void raise(struct tdl_expr *expr, const struct tdl_expr *operand) {
  if (operand && operand->height >= expr->height)
    expr->height = operand->height + 1;
}

/* Completes a node, which ends at the last taken token. NULL if it is invalid. */
static struct tdl_expr *finish(struct tdl_parser *parser, struct tdl_expr *expr) {
  if (!expr || parser->session->common.failed)
    return NULL;
  expr->length = parser->end - expr->at;
  for (int i = 0; i < 3; i++)
    raise(expr, expr->operands[i]);
  for (const struct tdl_expr *argument = expr->arguments; argument; argument = argument->next)
    raise(expr, argument);
  for (const struct tdl_member *member = expr->set ? expr->set->members : NULL; member;
       member = member->next) {
    raise(expr, member->low);
    raise(expr, member->high);
  }
  if (expr->height <= TDL_HEIGHT_MAX)
    return expr;
  kymo_tdl_fail(parser->session, expr->at, "E61", "expected an expression of at most %d steps",
                TDL_HEIGHT_MAX);
  return NULL;
}

static struct tdl_expr *join(struct tdl_parser *parser, enum tdl_operation operation, struct tdl_expr *left,
                             struct tdl_expr *right) {
  struct tdl_expr *expr = left && right ? new_expr(parser, operation, left->at) : NULL;
  if (expr) {
    expr->operands[0] = left;
    expr->operands[1] = right;
  }
  return finish(parser, expr);
}

/* ---- what means something else than it seems to ---- */

static bool is_number(const struct tdl_expr *expr) {
  return expr && expr->operation == TDL_CONSTANT && expr->value.type == TDL_INTEGER;
}

/* 80-90 where a range is meant: a difference of two numbers below zero. */
static bool check_value(struct tdl_parser *parser, const struct tdl_expr *expr) {
  bool is_dash = expr && expr->operation == TDL_SUBTRACT && is_number(expr->operands[0]) &&
                 is_number(expr->operands[1]) &&
                 kymo_wide_compare(expr->operands[0]->value.integer, expr->operands[1]->value.integer) < 0;
  return !is_dash || kymo_tdl_fail(parser->session, expr->at, "E21",
                                   "expected a value, or a range with .., found a difference below zero");
}

/* a = 1 OR 2: the 2 is a condition that always holds. */
static bool check_condition(struct tdl_parser *parser, const struct tdl_expr *expr) {
  bool is_stray = is_number(expr) && kymo_wide_compare(expr->value.integer, kymo_wide_of_u64(1)) > 0;
  return !is_stray || kymo_tdl_fail(parser->session, expr->at, "E21", "expected a condition, found a number");
}

static struct tdl_expr *join_conditions(struct tdl_parser *parser, enum tdl_operation operation,
                                        struct tdl_expr *left, struct tdl_expr *right) {
  bool is_good = check_condition(parser, left) && check_condition(parser, right);
  return is_good ? join(parser, operation, left, right) : NULL;
}

/* E43 unless the text is in this language. */
static bool only_in(struct tdl_parser *parser, enum tdl_language language) {
  char what[80];
  size_t length = parser->token.length < sizeof what ? parser->token.length : sizeof what - 1;
  memcpy(what, parser->session->common.text + parser->token.at, length);
  what[length] = '\0';
  return parser->session->language == language ||
         kymo_tdl_fail(parser->session, parser->token.at, "E43", "%s is only for %s", what,
                       language == TDL_LANGUAGE_TDL ? "descriptions of traces" : "filters");
}

/* ---- units ---- */

static const struct {
  const char *text;
  int zeros;
} units[] = {{"s", 12}, {"ms", 9}, {"us", 6}, {"ns", 3}, {"ps", 0}};

/* Whether the current token is a unit; its power of ten of picoseconds, -1 for ticks. */
static bool is_unit(const struct tdl_parser *parser, int *zeros) {
  if (parser->token.kind != TDL_TOKEN_NAME || parser->session->common.text[parser->token.at] == '`')
    return false;
  const char *text = parser->token.word->text;
  *zeros = -1;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp(units[i].text, text) == 0)
      *zeros = units[i].zeros;
  return *zeros >= 0 || strcmp(text, "ticks") == 0;
}

/* The number at `token`, × 10^zeros, exactly; false if it is not whole or too large. */
static bool scale_exactly(const struct tdl_session *session, const struct tdl_token *token, int zeros,
                          struct kymo_wide *result) {
  const char *text = session->common.text + token->at;
  *result = token->value.integer;
  int point = -1;
  if (token->value.type != TDL_INTEGER) {
    *result = (struct kymo_wide){0};
    for (uint32_t i = 0; i < token->length; i++) {
      if (text[i] == '.')
        point = 0;
      else if (text[i] < '0' || text[i] > '9')
        continue;
      else if (!kymo_wide_multiply(*result, kymo_wide_of_u64(10), result) ||
               !kymo_wide_add(*result, kymo_wide_of_u64((uint64_t)(text[i] - '0')), result))
        return false;
      else if (point >= 0)
        point++;
    }
    zeros -= point > 0 ? point : 0;
  }
  for (; zeros > 0; zeros--)
    if (!kymo_wide_multiply(*result, kymo_wide_of_u64(10), result))
      return false;
  struct kymo_wide rest = {0};
  for (; zeros < 0 && kymo_wide_is_zero(rest); zeros++)
    kymo_wide_divide(*result, kymo_wide_of_u64(10), result, &rest);
  return kymo_wide_is_zero(rest);
}

static bool has_exponent(const struct tdl_session *session, const struct tdl_token *token) {
  return token->value.type != TDL_INTEGER && (memchr(session->common.text + token->at, 'e', token->length) ||
                                              memchr(session->common.text + token->at, 'E', token->length));
}

/* The number `token` with the current unit, which is taken. */
static bool take_unit(struct tdl_parser *parser, const struct tdl_token *token, int zeros,
                      struct tdl_value *value) {
  struct tdl_session *session = parser->session;
  value->type = zeros < 0 ? TDL_TICKS : TDL_DURATION;
  if (has_exponent(session, token) || !scale_exactly(session, token, zeros < 0 ? 0 : zeros, &value->integer))
    return kymo_tdl_fail(session, token->at, "E13",
                         zeros < 0 ? "expected a whole number of ticks"
                                   : "expected a whole number of picoseconds");
  kymo_tdl_advance(parser);
  return true;
}

bool kymo_tdl_parse_duration(struct tdl_parser *parser, struct tdl_value *value) {
  struct tdl_token token = parser->token;
  int zeros;
  if (!kymo_tdl_expect(parser, TDL_TOKEN_NUMBER))
    return false;
  if (!is_unit(parser, &zeros))
    return kymo_tdl_unexpected(parser, "a unit: s, ms, us, ns, ps or ticks");
  return take_unit(parser, &token, zeros, value);
}

/* ---- primaries ---- */

/* Whether a dot leads on to a name, and does not end a filter. */
static bool is_step(const struct tdl_parser *parser) {
  uint32_t next = parser->token.at + 1;
  if (parser->token.kind != '.' || next >= parser->session->common.length)
    return false;
  char c = parser->session->common.text[next];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '`';
}

bool kymo_tdl_parse_path(struct tdl_parser *parser, struct tdl_path *path) {
  struct tdl_name names[TDL_DEPTH_MAX];
  path->count = 0;
  do {
    if (path->count == TDL_DEPTH_MAX)
      return kymo_tdl_fail(parser->session, parser->token.at, "E61", "expected a path of at most %d names",
                           TDL_DEPTH_MAX);
    if (!kymo_tdl_expect_name(parser, "a name", &names[path->count]))
      return false;
    path->count++;
  } while (is_step(parser) && kymo_tdl_accept(parser, '.'));
  path->names = kymo_lang_new(parser->session, path->count, sizeof names[0]);
  if (!path->names)
    return false;
  memcpy(path->names, names, path->count * sizeof names[0]);
  return true;
}

static struct tdl_expr *parse_constant(struct tdl_parser *parser) {
  struct tdl_token token = parser->token;
  struct tdl_expr *expr = new_expr(parser, TDL_CONSTANT, token.at);
  int zeros;
  kymo_tdl_advance(parser);
  if (!expr)
    return NULL;
  expr->value = token.value;
  if (token.kind != TDL_TOKEN_NUMBER)
    expr->value = (struct tdl_value){.type = TDL_BYTES, .bytes = token.bytes};
  else if (is_unit(parser, &zeros) && !take_unit(parser, &token, zeros, &expr->value))
    return NULL;
  expr->type = expr->value.type;
  return finish(parser, expr);
}

/* function ( arguments ), the cursor after the parenthesis. */
static bool parse_arguments(struct tdl_parser *parser, struct tdl_expr *expr) {
  struct tdl_expr **end = &expr->arguments;
  do {
    if (expr->argument_count == 255)
      return kymo_tdl_fail(parser->session, parser->token.at, "E61", "expected at most 255 arguments");
    *end = kymo_tdl_parse_expression(parser);
    if (!*end)
      return false;
    end = &(*end)->next;
    expr->argument_count++;
  } while (kymo_tdl_accept(parser, ','));
  return kymo_tdl_expect(parser, ')');
}

/* OF FIELD string: of the record's definition; the cursor at OF. */
static bool parse_defined(struct tdl_parser *parser, struct tdl_expr *expr) {
  return kymo_tdl_expect(parser, TDL_KEYWORD_OF) && kymo_tdl_expect(parser, TDL_KEYWORD_FIELD) &&
         kymo_tdl_expect_string(parser, &expr->value.bytes);
}

/* A path, a call or a lookup; or TEXT OF FIELD string. */
static struct tdl_expr *parse_name(struct tdl_parser *parser) {
  bool may_be_text = parser->token.kind == TDL_KEYWORD_TEXT && parser->session->language == TDL_LANGUAGE_TDL;
  struct tdl_expr *expr = new_expr(parser, TDL_PATH, parser->token.at);
  if (!expr || !kymo_tdl_parse_path(parser, &expr->path))
    return NULL;
  if (may_be_text && expr->path.count == 1 && parser->token.kind == TDL_KEYWORD_OF) {
    expr->operation = TDL_TEXT_OF;
    return parse_defined(parser, expr) ? finish(parser, expr) : NULL;
  }
  if (expr->path.count == 1 && kymo_tdl_accept(parser, '(')) {
    expr->operation = TDL_CALL;
    if (!parse_arguments(parser, expr))
      return NULL;
  } else if (parser->token.kind == '[' &&
             (expr->path.count == 1 || parser->session->language == TDL_LANGUAGE_FDL)) {
    kymo_tdl_advance(parser);
    expr->operation = TDL_LOOKUP;
    expr->operands[0] = kymo_tdl_parse_expression(parser);
    if (!kymo_tdl_expect(parser, ']'))
      return NULL;
  }
  return finish(parser, expr);
}

/* (expr) or (IF expr THEN expr ELSE expr), the cursor at the parenthesis. */
static struct tdl_expr *parse_parentheses(struct tdl_parser *parser) {
  uint32_t at = parser->token.at;
  struct tdl_expr *expr;
  kymo_tdl_advance(parser);
  if (!kymo_tdl_accept(parser, TDL_KEYWORD_IF)) {
    expr = kymo_tdl_parse_expression(parser);
    return kymo_tdl_expect(parser, ')') ? expr : NULL;
  }
  expr = new_expr(parser, TDL_IF, at);
  if (!expr)
    return NULL;
  expr->operands[0] = kymo_tdl_parse_expression(parser);
  if (!kymo_tdl_expect(parser, TDL_KEYWORD_THEN))
    return NULL;
  expr->operands[1] = kymo_tdl_parse_expression(parser);
  if (!kymo_tdl_expect(parser, TDL_KEYWORD_ELSE))
    return NULL;
  expr->operands[2] = kymo_tdl_parse_expression(parser);
  return kymo_tdl_expect(parser, ')') ? finish(parser, expr) : NULL;
}

/* VALUE, POSITION, REMAINING, FILE SIZE, FILE NUMBER: words for the decoding state. */
static struct tdl_expr *parse_state_of_decoding(struct tdl_parser *parser) {
  if (!only_in(parser, TDL_LANGUAGE_TDL))
    return NULL;
  struct tdl_expr *expr = new_expr(parser, TDL_VALUE, parser->token.at);
  if (!expr)
    return NULL;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_POSITION))
    expr->operation = TDL_POSITION;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_REMAINING))
    expr->operation = TDL_REMAINING;
  else if (!kymo_tdl_accept(parser, TDL_KEYWORD_FILE))
    kymo_tdl_advance(parser);
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_SIZE))
    expr->operation = TDL_FILE_SIZE;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_NUMBER))
    expr->operation = TDL_FILE_NUMBER;
  else
    kymo_tdl_unexpected(parser, "SIZE or NUMBER");
  return finish(parser, expr);
}

/* WITH ( condition ), the cursor at WITH. */
static bool parse_condition(struct tdl_parser *parser, struct tdl_expr *expr) {
  return kymo_tdl_expect(parser, TDL_KEYWORD_WITH) && kymo_tdl_expect(parser, '(') &&
         (expr->operands[0] = kymo_tdl_parse_expression(parser)) && kymo_tdl_expect(parser, ')');
}

/* SIZE OF name, COUNT OF name [WITH ( condition )] */
static struct tdl_expr *parse_measure(struct tdl_parser *parser, enum tdl_operation operation) {
  struct tdl_expr *expr = new_expr(parser, operation, parser->token.at);
  kymo_tdl_advance(parser);
  if (!expr || !kymo_tdl_expect(parser, TDL_KEYWORD_OF) || !kymo_tdl_parse_path(parser, &expr->path))
    return NULL;
  if (operation == TDL_COUNT_OF && parser->token.kind == TDL_KEYWORD_WITH) {
    expr->operation = TDL_COUNT_WITH;
    if (!only_in(parser, TDL_LANGUAGE_FDL) || !parse_condition(parser, expr))
      return NULL;
  }
  return finish(parser, expr);
}

/* NUMBER OF FIELD string */
static struct tdl_expr *parse_number_of(struct tdl_parser *parser) {
  if (!only_in(parser, TDL_LANGUAGE_TDL))
    return NULL;
  struct tdl_expr *expr = new_expr(parser, TDL_NUMBER_OF, parser->token.at);
  kymo_tdl_advance(parser);
  return expr && parse_defined(parser, expr) ? finish(parser, expr) : NULL;
}

static struct tdl_expr *parse_primary(struct tdl_parser *parser) {
  switch (parser->token.kind) {
  case TDL_TOKEN_NUMBER:
  case TDL_TOKEN_STRING:
  case TDL_TOKEN_HEX: return parse_constant(parser);
  case TDL_KEYWORD_VALUE:
  case TDL_KEYWORD_POSITION:
  case TDL_KEYWORD_REMAINING:
  case TDL_KEYWORD_FILE: return parse_state_of_decoding(parser);
  case TDL_KEYWORD_SIZE: return parse_measure(parser, TDL_SIZE_OF);
  case TDL_KEYWORD_COUNT: return parse_measure(parser, TDL_COUNT_OF);
  case TDL_KEYWORD_NUMBER: return parse_number_of(parser);
  case '(': return parse_parentheses(parser);
  default:
    if (kymo_tdl_is_name(parser))
      return parse_name(parser);
    kymo_tdl_unexpected(parser, "a value");
    return NULL;
  }
}

/* ---- arithmetic ---- */

static struct tdl_expr *parse_factor(struct tdl_parser *parser) {
  uint32_t at = parser->token.at;
  if (parser->token.kind != '-' && parser->token.kind != '~')
    return parse_primary(parser);
  enum tdl_operation operation = parser->token.kind == '-' ? TDL_NEGATE : TDL_INVERT;
  if (!kymo_tdl_enter(parser))
    return NULL;
  kymo_tdl_advance(parser);
  struct tdl_expr *expr = new_expr(parser, operation, at);
  if (expr)
    expr->operands[0] = parse_factor(parser);
  kymo_tdl_leave(parser);
  return finish(parser, expr);
}

static struct tdl_expr *parse_term(struct tdl_parser *parser) {
  struct tdl_expr *expr = parse_factor(parser);
  while (expr) {
    enum tdl_operation operation;
    switch (parser->token.kind) {
    case '*': operation = TDL_MULTIPLY; break;
    case '/': operation = TDL_DIVIDE; break;
    case '%': operation = TDL_REST; break;
    case '&': operation = TDL_BIT_AND; break;
    case TDL_TOKEN_SHIFT_LEFT: operation = TDL_SHIFT_LEFT; break;
    case TDL_TOKEN_SHIFT_RIGHT: operation = TDL_SHIFT_RIGHT; break;
    default: return expr;
    }
    kymo_tdl_advance(parser);
    expr = join(parser, operation, expr, parse_factor(parser));
  }
  return NULL;
}

static struct tdl_expr *parse_sum(struct tdl_parser *parser) {
  struct tdl_expr *expr = parse_term(parser);
  while (expr) {
    enum tdl_operation operation;
    switch (parser->token.kind) {
    case '+': operation = TDL_ADD; break;
    case '-': operation = TDL_SUBTRACT; break;
    case '|': operation = TDL_BIT_OR; break;
    case '^': operation = TDL_BIT_XOR; break;
    default: return expr;
    }
    kymo_tdl_advance(parser);
    expr = join(parser, operation, expr, parse_term(parser));
  }
  return NULL;
}

struct tdl_expr *kymo_tdl_parse_sum(struct tdl_parser *parser) {
  if (!kymo_tdl_enter(parser))
    return NULL;
  struct tdl_expr *expr = parse_sum(parser);
  kymo_tdl_leave(parser);
  return expr;
}

struct tdl_set *kymo_tdl_parse_members(struct tdl_parser *parser) {
  struct tdl_set *set = kymo_lang_new(parser->session, 1, sizeof *set);
  struct tdl_member **end = set ? &set->members : NULL;
  if (!set)
    return NULL;
  set->at = parser->token.at;
  do {
    struct tdl_member *member = *end = kymo_lang_new(parser->session, 1, sizeof *member);
    if (!member || !(member->low = kymo_tdl_parse_sum(parser)) ||
        (kymo_tdl_accept(parser, TDL_TOKEN_DOTS) && !(member->high = kymo_tdl_parse_sum(parser))) ||
        (!member->high && !check_value(parser, member->low)))
      return NULL;
    end = &member->next;
  } while (kymo_tdl_accept(parser, ','));
  set->length = parser->end - set->at;
  return set;
}

struct tdl_set *kymo_tdl_parse_set(struct tdl_parser *parser) {
  struct tdl_set *set;
  if (kymo_tdl_accept(parser, '(')) {
    set = kymo_tdl_parse_members(parser);
    return set && kymo_tdl_expect(parser, ')') ? set : NULL;
  }
  set = kymo_lang_new(parser->session, 1, sizeof *set);
  if (!set || !kymo_tdl_expect_name(parser, "a set", &set->name))
    return NULL;
  set->at = set->name.at;
  set->length = set->name.length;
  return set;
}

/* ---- comparisons ---- */

/* HAS (ALL|ANY|NONE) OF (string, …), the cursor after HAS. */
static bool parse_has(struct tdl_parser *parser, struct tdl_expr *expr) {
  expr->operation = TDL_HAS;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_ALL))
    expr->quantifier = TDL_ALL_OF;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_ANY))
    expr->quantifier = TDL_ANY_OF;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_NONE))
    expr->quantifier = TDL_NONE_OF;
  else
    return kymo_tdl_unexpected(parser, "ALL, ANY or NONE");
  if (!kymo_tdl_expect(parser, TDL_KEYWORD_OF) || !kymo_tdl_expect(parser, '('))
    return false;
  struct tdl_texts **end = &expr->texts;
  do {
    struct tdl_texts *text = *end = kymo_lang_new(parser->session, 1, sizeof *text);
    if (!text)
      return false;
    text->at = parser->token.at;
    text->length = parser->token.length;
    if (!kymo_tdl_expect_string(parser, &text->text))
      return false;
    end = &text->next;
  } while (kymo_tdl_accept(parser, ','));
  return kymo_tdl_expect(parser, ')');
}

/* IS [NOT] (PRESENT|VALID|CHANGED [PER path]), the cursor after IS. */
static bool parse_is(struct tdl_parser *parser, struct tdl_expr *expr) {
  expr->is_negated = kymo_tdl_accept(parser, TDL_KEYWORD_NOT);
  expr->operation = TDL_IS_PRESENT;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_PRESENT))
    return true;
  bool is_valid = parser->token.kind == TDL_KEYWORD_VALID;
  if (!is_valid && parser->token.kind != TDL_KEYWORD_CHANGED)
    return kymo_tdl_unexpected(parser, "PRESENT, VALID or CHANGED");
  if (!only_in(parser, TDL_LANGUAGE_FDL))
    return false;
  kymo_tdl_advance(parser);
  expr->operation = is_valid ? TDL_IS_VALID : TDL_IS_CHANGED;
  return is_valid || !kymo_tdl_accept(parser, TDL_KEYWORD_PER) || kymo_tdl_parse_path(parser, &expr->per);
}

/* [NOT] IN set, [NOT] MATCHES regex, [NOT] LIKE string */
static bool parse_membership(struct tdl_parser *parser, struct tdl_expr *expr) {
  expr->is_negated = kymo_tdl_accept(parser, TDL_KEYWORD_NOT);
  expr->operation = TDL_IN;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_IN))
    return (expr->set = kymo_tdl_parse_set(parser)) != NULL;
  int kind = parser->token.kind;
  if (kind != TDL_KEYWORD_MATCHES && kind != TDL_KEYWORD_LIKE)
    return kymo_tdl_unexpected(parser, "IN, MATCHES or LIKE");
  if (!only_in(parser, TDL_LANGUAGE_FDL))
    return false;
  kymo_tdl_advance(parser);
  expr->operation = kind == TDL_KEYWORD_MATCHES ? TDL_MATCHES : TDL_LIKE;
  expr->pattern = parser->token.bytes;
  return kymo_tdl_expect(parser, kind == TDL_KEYWORD_MATCHES ? TDL_TOKEN_REGEX : TDL_TOKEN_STRING);
}

static enum tdl_operation comparison(int kind) {
  switch (kind) {
  case '=': return TDL_EQUAL;
  case '<': return TDL_LESS;
  case '>': return TDL_GREATER;
  case TDL_TOKEN_UNEQUAL: return TDL_UNEQUAL;
  case TDL_TOKEN_LESS_EQUAL: return TDL_LESS_EQUAL;
  case TDL_TOKEN_GREATER_EQUAL: return TDL_GREATER_EQUAL;
  default: return TDL_CONSTANT;
  }
}

static struct tdl_expr *parse_relation(struct tdl_parser *parser) {
  struct tdl_expr *left = parse_sum(parser), *expr;
  enum tdl_operation operation = comparison(parser->token.kind);
  if (!left)
    return NULL;
  if (operation != TDL_CONSTANT) {
    kymo_tdl_advance(parser);
    expr = parse_sum(parser);
    return check_value(parser, expr) ? join(parser, operation, left, expr) : NULL;
  }
  int kind = parser->token.kind;
  if (kind != TDL_KEYWORD_NOT && kind != TDL_KEYWORD_IN && kind != TDL_KEYWORD_MATCHES &&
      kind != TDL_KEYWORD_LIKE && kind != TDL_KEYWORD_HAS && kind != TDL_KEYWORD_IS)
    return left;
  expr = new_expr(parser, TDL_IN, left->at);
  if (!expr || (kind == TDL_KEYWORD_HAS && !only_in(parser, TDL_LANGUAGE_FDL)))
    return NULL;
  expr->operands[0] = left;
  bool is_good;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_HAS))
    is_good = parse_has(parser, expr);
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_IS))
    is_good = parse_is(parser, expr);
  else
    is_good = parse_membership(parser, expr);
  return is_good ? finish(parser, expr) : NULL;
}

/* ---- tests of records, of elements, and those with a memory: of filters only ---- */

static bool parse_per(struct tdl_parser *parser, struct tdl_expr *expr) {
  return !kymo_tdl_accept(parser, TDL_KEYWORD_PER) || kymo_tdl_parse_path(parser, &expr->per);
}

static bool parse_moment(struct tdl_parser *parser, struct tdl_moment *moment) {
  moment->at = parser->token.at;
  struct tdl_token token = parser->token;
  bool is_good;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_START)) {
    moment->kind = TDL_MOMENT_START;
    is_good = true;
  } else if (kymo_tdl_accept(parser, TDL_KEYWORD_END)) {
    moment->kind = TDL_MOMENT_END;
    is_good = true;
  } else if (token.kind == '+' || token.kind == '-') {
    kymo_tdl_advance(parser);
    moment->kind = token.kind == '+' ? TDL_MOMENT_PLUS : TDL_MOMENT_MINUS;
    is_good = kymo_tdl_parse_duration(parser, &moment->distance);
  } else if (kymo_tdl_accept(parser, TDL_TOKEN_STRING)) {
    moment->kind = TDL_MOMENT_TEXT;
    is_good = kymo_tdl_moment(parser->session, token.bytes, token.at, &moment->since);
  } else {
    is_good = kymo_tdl_unexpected(parser, "START, END, a moment in quotes, + or - and a duration");
  }
  moment->length = parser->end - moment->at;
  return is_good;
}

/* TIME IN (moment .. moment), the cursor after TIME. */
static bool parse_time(struct tdl_parser *parser, struct tdl_expr *expr) {
  expr->moments = kymo_lang_new(parser->session, 2, sizeof *expr->moments);
  return expr->moments && kymo_tdl_expect(parser, TDL_KEYWORD_IN) && kymo_tdl_expect(parser, '(') &&
         parse_moment(parser, &expr->moments[0]) && kymo_tdl_expect(parser, TDL_TOKEN_DOTS) &&
         parse_moment(parser, &expr->moments[1]) && kymo_tdl_expect(parser, ')');
}

/* KIND IN (name, …), the cursor after KIND. */
static bool parse_kind(struct tdl_parser *parser, struct tdl_expr *expr) {
  struct tdl_names **end = &expr->kinds;
  if (!kymo_tdl_expect(parser, TDL_KEYWORD_IN) || !kymo_tdl_expect(parser, '('))
    return false;
  do {
    struct tdl_names *kind = *end = kymo_lang_new(parser->session, 1, sizeof *kind);
    if (!kind || !kymo_tdl_expect_name(parser, "a kind of records", &kind->name))
      return false;
    end = &kind->next;
  } while (kymo_tdl_accept(parser, ','));
  return kymo_tdl_expect(parser, ')');
}

/* BETWEEN oper AND oper [INCLUSIVE] [PER path] */
static bool parse_between(struct tdl_parser *parser, struct tdl_expr *expr) {
  expr->operands[0] = kymo_tdl_parse_operand(parser);
  if (!kymo_tdl_expect(parser, TDL_KEYWORD_AND))
    return false;
  expr->operands[1] = kymo_tdl_parse_operand(parser);
  expr->is_inclusive = kymo_tdl_accept(parser, TDL_KEYWORD_INCLUSIVE);
  return parse_per(parser, expr);
}

/* (AFTER|BEFORE) [FIRST|LAST] oper */
static bool parse_side(struct tdl_parser *parser, struct tdl_expr *expr) {
  expr->is_last = expr->operation == TDL_BEFORE;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_LAST))
    expr->is_last = true;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_FIRST))
    expr->is_last = false;
  expr->operands[0] = kymo_tdl_parse_operand(parser);
  return expr->operands[0] != NULL;
}

/* WITHIN num word (AFTER|BEFORE|AROUND) oper [PER path] */
static bool parse_within(struct tdl_parser *parser, struct tdl_expr *expr) {
  if (!kymo_tdl_parse_duration(parser, &expr->value))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_AFTER))
    expr->around = TDL_WITHIN_AFTER;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_BEFORE))
    expr->around = TDL_WITHIN_BEFORE;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_AROUND))
    expr->around = TDL_WITHIN_AROUND;
  else
    return kymo_tdl_unexpected(parser, "AFTER, BEFORE or AROUND");
  expr->operands[0] = kymo_tdl_parse_operand(parser);
  return parse_per(parser, expr);
}

/* (ANY|ALL) path WITH ( condition ) */
static bool parse_with(struct tdl_parser *parser, struct tdl_expr *expr) {
  return kymo_tdl_parse_path(parser, &expr->path) && parse_condition(parser, expr);
}

/* EVERY num [OF oper] */
static bool parse_every(struct tdl_parser *parser, struct tdl_expr *expr) {
  uint64_t number;
  uint32_t at = parser->token.at;
  if (!kymo_tdl_expect_number(parser, UINT64_MAX, &number))
    return false;
  if (number == 0)
    return kymo_tdl_fail(parser->session, at, "E13", "expected a number of at least 1");
  expr->value = (struct tdl_value){.type = TDL_INTEGER, .integer = kymo_wide_of_u64(number)};
  return !kymo_tdl_accept(parser, TDL_KEYWORD_OF) || (expr->operands[0] = kymo_tdl_parse_operand(parser));
}

static const struct state {
  int keyword;
  enum tdl_operation operation;
  bool (*parse)(struct tdl_parser *parser, struct tdl_expr *expr); /* NULL: nothing follows */
} states[] = {
    {TDL_KEYWORD_KIND, TDL_KIND_IN, parse_kind},    {TDL_KEYWORD_RECORD, TDL_RECORD_IN, NULL},
    {TDL_KEYWORD_SEGMENT, TDL_SEGMENT_IN, NULL},    {TDL_KEYWORD_TIME, TDL_TIME_IN, parse_time},
    {TDL_KEYWORD_DAMAGED, TDL_DAMAGED, NULL},       {TDL_KEYWORD_BETWEEN, TDL_BETWEEN, parse_between},
    {TDL_KEYWORD_AFTER, TDL_AFTER, parse_side},     {TDL_KEYWORD_BEFORE, TDL_BEFORE, parse_side},
    {TDL_KEYWORD_WITHIN, TDL_WITHIN, parse_within}, {TDL_KEYWORD_EVERY, TDL_EVERY, parse_every},
    {TDL_KEYWORD_ANY, TDL_ANY_WITH, parse_with},    {TDL_KEYWORD_ALL, TDL_ALL_WITH, parse_with},
};

static const struct state *state_of(int keyword) {
  for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
    if (states[i].keyword == keyword)
      return &states[i];
  return NULL;
}

static struct tdl_expr *parse_state(struct tdl_parser *parser, const struct state *state) {
  if (!only_in(parser, TDL_LANGUAGE_FDL))
    return NULL;
  struct tdl_expr *expr = new_expr(parser, state->operation, parser->token.at);
  kymo_tdl_advance(parser);
  if (!expr)
    return NULL;
  if (state->operation == TDL_RECORD_IN || state->operation == TDL_SEGMENT_IN) {
    if (!kymo_tdl_expect(parser, TDL_KEYWORD_IN) || !(expr->set = kymo_tdl_parse_set(parser)))
      return NULL;
  } else if (state->parse && !state->parse(parser, expr)) {
    return NULL;
  }
  return finish(parser, expr);
}

struct tdl_expr *kymo_tdl_parse_operand(struct tdl_parser *parser) {
  if (kymo_tdl_accept(parser, '(')) {
    struct tdl_expr *expr = kymo_tdl_parse_expression(parser);
    return kymo_tdl_expect(parser, ')') ? expr : NULL;
  }
  struct tdl_expr *expr = new_expr(parser, TDL_PATH, parser->token.at);
  struct tdl_name *name = kymo_lang_new(parser->session, 1, sizeof *name);
  if (!expr || !name ||
      !kymo_tdl_expect_name(parser, "the name of a definition, or an expression in parentheses", name))
    return NULL;
  expr->path = (struct tdl_path){.names = name, .count = 1};
  return finish(parser, expr);
}

/* ---- logic ---- */

static struct tdl_expr *parse_negation(struct tdl_parser *parser) {
  uint32_t at = parser->token.at;
  const struct state *state = state_of(parser->token.kind);
  if (state)
    return parse_state(parser, state);
  if (parser->token.kind != TDL_KEYWORD_NOT)
    return parse_relation(parser);
  if (!kymo_tdl_enter(parser))
    return NULL;
  kymo_tdl_advance(parser);
  struct tdl_expr *expr = new_expr(parser, TDL_NOT, at);
  if (expr)
    expr->operands[0] = parse_negation(parser);
  kymo_tdl_leave(parser);
  return finish(parser, expr);
}

static struct tdl_expr *parse_conjunction(struct tdl_parser *parser) {
  struct tdl_expr *expr = parse_negation(parser);
  while (expr && kymo_tdl_accept(parser, TDL_KEYWORD_AND))
    expr = join_conditions(parser, TDL_AND, expr, parse_negation(parser));
  return expr;
}

struct tdl_expr *kymo_tdl_parse_expression(struct tdl_parser *parser) {
  if (!kymo_tdl_enter(parser))
    return NULL;
  struct tdl_expr *expr = parse_conjunction(parser);
  while (expr && kymo_tdl_accept(parser, TDL_KEYWORD_OR))
    expr = join_conditions(parser, TDL_OR, expr, parse_conjunction(parser));
  kymo_tdl_leave(parser);
  return parser->session->common.failed ? NULL : expr;
}
