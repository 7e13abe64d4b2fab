/* SPDX-License-Identifier: MIT */
/*
 * Expressions by the rules of trace-cmd 3.1.6, whose texts KYMO_FTRACE_OF_TRACE_CMD reproduces. It takes one
 * operator after the other and decides by its rank where in the tree so far it belongs:
 *
 *   a - b - c          is a - (b - c): an operator of the same rank goes into the right operand
 *   a & (b | c)        is (a & b) | c: parentheses do not protect an operator of a higher rank
 *   c ? x : d ? y : z  is (c ? x : d) ? y : z
 *
 * The higher the rank, the closer to the root.
 */
#include "lang/ftrace/print_parser.h"

#define RANK_NONE 0
#define RANK_UNKNOWN 255

static unsigned rank_of_operation(enum kymo_ftrace_operator operation) {
  switch (operation) {
  case KYMO_FTRACE_TIMES:
  case KYMO_FTRACE_DIVIDE:
  case KYMO_FTRACE_REMAINDER: return 6;
  case KYMO_FTRACE_PLUS:
  case KYMO_FTRACE_MINUS: return 7;
  case KYMO_FTRACE_LEFT:
  case KYMO_FTRACE_RIGHT: return 8;
  case KYMO_FTRACE_LESS:
  case KYMO_FTRACE_GREATER:
  case KYMO_FTRACE_AT_MOST:
  case KYMO_FTRACE_AT_LEAST: return 9;
  case KYMO_FTRACE_EQUAL:
  case KYMO_FTRACE_UNEQUAL: return 10;
  case KYMO_FTRACE_BIT_AND: return 11;
  case KYMO_FTRACE_BIT_XOR: return 12;
  case KYMO_FTRACE_BIT_OR: return 13;
  case KYMO_FTRACE_AND: return 14;
  case KYMO_FTRACE_OR: return 15;
  default: return RANK_UNKNOWN;
  }
}

/* The rank of the next token; RANK_NONE: it is no operator. */
static unsigned next_rank(const struct print_session *session, enum kymo_ftrace_operator *operation) {
  if (kymo_print_binary(session, operation))
    return rank_of_operation(*operation);
  return kymo_print_is(session, "?") ? 16 : kymo_print_is(session, "[") ? RANK_UNKNOWN : RANK_NONE;
}

static struct kymo_ftrace_node *take_operator(struct print_session *session, struct kymo_ftrace_node *node);

/* The operators after a node whose last right operand is `right`. */
static struct kymo_ftrace_node *take_more(struct print_session *session, struct kymo_ftrace_node *node,
                                          struct kymo_ftrace_node *right) {
  enum kymo_ftrace_operator operation;
  unsigned rank = next_rank(session, &operation);
  unsigned own = node->kind == KYMO_FTRACE_BINARY
                     ? rank_of_operation((enum kymo_ftrace_operator)node->operation)
                     : RANK_NONE;
  if (rank == RANK_NONE)
    return node;
  if (rank == RANK_UNKNOWN) {
    kymo_lang_fail(session, session->token.at, "an operator that trace-cmd does not take here");
    return NULL;
  }
  if (rank > own || !right)
    return take_operator(session, node);
  return take_operator(session, right) ? node : NULL;
}

/* "? b : c" */
static struct kymo_ftrace_node *take_condition(struct print_session *session, struct kymo_ftrace_node *node,
                                               struct kymo_ftrace_node *left) {
  enum kymo_ftrace_operator operation;
  struct kymo_ftrace_node *then, *otherwise;
  *node = (struct kymo_ftrace_node){.kind = KYMO_FTRACE_CONDITION, .a = left};
  if (!kymo_print_next(session) || !(then = kymo_print_unary(session)))
    return NULL;
  while (next_rank(session, &operation) != RANK_NONE)
    if (!take_operator(session, then))
      return NULL;
  if (!kymo_print_expect(session, ":") || !(otherwise = kymo_print_unary(session)))
    return NULL;
  node->b = then;
  node->c = otherwise;
  return kymo_print_done(session, node) ? take_more(session, node, NULL) : NULL;
}

/* "[b]", without operators in it */
static struct kymo_ftrace_node *take_index(struct print_session *session, struct kymo_ftrace_node *node,
                                           struct kymo_ftrace_node *left) {
  *node = (struct kymo_ftrace_node){.kind = KYMO_FTRACE_INDEX, .a = left};
  if (!kymo_print_next(session) || !(node->b = kymo_print_unary(session)) || !kymo_print_expect(session, "]"))
    return NULL;
  return kymo_print_done(session, node) ? take_more(session, node, NULL) : NULL;
}

/* Whether an operand's operator comes before the one that it is the right operand of. */
static bool comes_first(const struct kymo_ftrace_node *node, enum kymo_ftrace_operator operation) {
  unsigned rank = node->kind == KYMO_FTRACE_CONDITION ? 16
                  : node->kind == KYMO_FTRACE_BINARY
                      ? rank_of_operation((enum kymo_ftrace_operator)node->operation)
                      : RANK_NONE;
  return rank_of_operation(operation) < rank;
}

/* The operator that is the next token; `node`, its left operand, becomes the operation in its place. */
static struct kymo_ftrace_node *take_operator(struct print_session *session, struct kymo_ftrace_node *node) {
  enum kymo_ftrace_operator operation = KYMO_FTRACE_OR;
  struct kymo_ftrace_node *left = kymo_print_node(session, KYMO_FTRACE_NUMBER), *right;
  bool is_binary = kymo_print_binary(session, &operation);
  if (!left || !kymo_print_deepen(session))
    return NULL;
  *left = *node;
  if (!is_binary) {
    node =
        kymo_print_is(session, "?") ? take_condition(session, node, left) : take_index(session, node, left);
    session->depth--;
    return node;
  }
  if (!kymo_print_next(session) || !(right = kymo_print_unary(session)))
    return NULL;
  *node = (struct kymo_ftrace_node){
      .kind = KYMO_FTRACE_BINARY, .operation = (uint8_t)operation, .a = left, .b = right};
  if (comes_first(right, operation)) {
    struct kymo_ftrace_node first = *right;
    node->b = right->a;
    *right = *node;
    if (!kymo_print_done(session, right))
      return NULL;
    *node = first;
    node->a = right;
  }
  node = kymo_print_done(session, node) ? take_more(session, node, right) : NULL;
  session->depth--;
  return node ? kymo_print_done(session, node) : NULL;
}

struct kymo_ftrace_node *kymo_print_as_trace_cmd(struct print_session *session) {
  enum kymo_ftrace_operator operation;
  struct kymo_ftrace_node *node = kymo_print_deepen(session) ? kymo_print_unary(session) : NULL;
  while (node && next_rank(session, &operation) != RANK_NONE)
    node = take_operator(session, node);
  session->depth--;
  return node;
}
