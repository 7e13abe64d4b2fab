/* SPDX-License-Identifier: MIT */
/* The functions that a print fmt may call. */
#include "lang/ftrace/print_parser.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- constants ---- */

/* Names of enumerations that older kernels leave in their format files. */
static const struct {
  const char *name;
  uint8_t value;
} known[] = {
    {"HI_SOFTIRQ", 0},      {"TIMER_SOFTIRQ", 1},    {"NET_TX_SOFTIRQ", 2},    {"NET_RX_SOFTIRQ", 3},
    {"BLOCK_SOFTIRQ", 4},   {"IRQ_POLL_SOFTIRQ", 5}, {"TASKLET_SOFTIRQ", 6},   {"SCHED_SOFTIRQ", 7},
    {"HRTIMER_SOFTIRQ", 8}, {"RCU_SOFTIRQ", 9},      {"HRTIMER_NORESTART", 0}, {"HRTIMER_RESTART", 1},
};

static uint64_t cast(const struct kymo_ftrace_node *node, uint64_t value) {
  if (node->is_pointer || node->bits == 0 || node->bits == 64)
    return value;
  value &= UINT64_MAX >> (64 - node->bits);
  uint64_t sign = UINT64_C(1) << (node->bits - 1);
  return node->is_signed ? (value ^ sign) - sign : value;
}

/* How names without a value, and casts, count. */
struct evaluation {
  bool is_trace_cmd;
  bool has_names; /* there are such names */
};

static uint64_t value_of_name(struct evaluation *evaluation, const char *name) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].name, name) == 0)
      return known[i].value;
  evaluation->has_names = true;
  return 0;
}

/* The value of an expression without fields; false: it has some. */
static bool evaluate(struct evaluation *evaluation, const struct kymo_ftrace_node *node, uint64_t *value) {
  uint64_t a = 0, b = 0;
  switch ((enum kymo_ftrace_node_kind)node->kind) {
  case KYMO_FTRACE_NUMBER: *value = node->number; return true;
  case KYMO_FTRACE_TEXT: *value = value_of_name(evaluation, node->text); return true;
  case KYMO_FTRACE_CAST:
    if (!evaluate(evaluation, node->a, &a))
      return false;
    *value = evaluation->is_trace_cmd && !node->is_masked ? a : cast(node, a);
    return true;
  case KYMO_FTRACE_UNARY:
    if (!evaluate(evaluation, node->a, &a))
      return false;
    *value = kymo_ftrace_operate((enum kymo_ftrace_operator)node->operation, 0, a, true);
    return true;
  case KYMO_FTRACE_BINARY:
    if (!evaluate(evaluation, node->a, &a) || !evaluate(evaluation, node->b, &b))
      return false;
    *value = kymo_ftrace_operate((enum kymo_ftrace_operator)node->operation, a, b, true);
    return true;
  default: return false;
  }
}

/* trace-cmd keeps the value as a text, which it reads as a number or a name that it knows: a negative one
 * is neither. */
static int64_t evaluate_as_trace_cmd(const struct kymo_ftrace_node *node) {
  struct evaluation evaluation = {.is_trace_cmd = true};
  uint64_t value = 0;
  while (node->kind == KYMO_FTRACE_CAST)
    node = node->a;
  evaluate(&evaluation, node, &value);
  if (node->kind == KYMO_FTRACE_NUMBER)
    return (int64_t)value;
  if (node->kind == KYMO_FTRACE_TEXT && evaluation.has_names)
    return -1;
  return (int64_t)value < 0 ? -1 : (int64_t)value;
}

/* ---- labels ---- */

struct label_list {
  struct kymo_ftrace_label *labels;
  uint32_t count, capacity;
};

static struct kymo_ftrace_label *add_label(struct print_session *session, struct label_list *list) {
  if (list->count == list->capacity) {
    uint32_t capacity = list->capacity ? 2 * list->capacity : 8;
    struct kymo_ftrace_label *labels = kymo_lang_keep(session, capacity, sizeof *labels);
    if (!labels)
      return NULL;
    if (list->count)
      memcpy(labels, list->labels, list->count * sizeof *labels);
    list->labels = labels;
    list->capacity = capacity;
  }
  return &list->labels[list->count++];
}

/* The text of a label; a number is NULL, which ends the labels, and which trace-cmd takes for a text. */
static bool parse_name(struct print_session *session, struct kymo_ftrace_label *label) {
  char digits[24];
  struct evaluation evaluation = {0};
  uint64_t number = 0;
  size_t at = session->token.at;
  const struct kymo_ftrace_node *name = kymo_print_expression(session);
  if (!name)
    return false;
  if (name->kind == KYMO_FTRACE_TEXT) {
    label->name = name->text;
    return true;
  }
  if (!evaluate(&evaluation, name, &number))
    return kymo_lang_fail(session, at, "expected a name in quotes");
  int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
  label->is_end = true;
  label->name = kymo_lang_keep_text(session, digits, (size_t)length);
  return label->name != NULL;
}

/* "{ VALUE, "name" }" */
static bool parse_label(struct print_session *session, struct label_list *list) {
  struct evaluation evaluation = {0};
  size_t at = session->token.at;
  if (!kymo_print_expect(session, "{"))
    return false;
  struct kymo_ftrace_label *label = add_label(session, list);
  const struct kymo_ftrace_node *value = label ? kymo_print_expression(session) : NULL;
  if (!value)
    return false;
  if (!evaluate(&evaluation, value, &label->value))
    return kymo_lang_fail(session, at, "expected a constant");
  label->is_unknown = evaluation.has_names;
  label->trace_cmd_value = evaluate_as_trace_cmd(value);
  return kymo_print_expect(session, ",") && parse_name(session, label) && kymo_print_expect(session, "}");
}

/* ", { … }, { … } )", or ")" at once */
static bool parse_labels(struct print_session *session, struct kymo_ftrace_node *node) {
  struct label_list list = {0};
  while (kymo_print_is(session, ",")) {
    if (!kymo_print_next(session))
      return false;
    if (kymo_print_is(session, ")") || !parse_label(session, &list))
      break;
  }
  node->labels = list.labels;
  node->label_count = list.count;
  return !session->common.failed && kymo_print_expect(session, ")");
}

static bool parse_flags(struct print_session *session, struct kymo_ftrace_node *node) {
  if (!(node->a = kymo_print_expression(session)) || !kymo_print_expect(session, ","))
    return false;
  const struct kymo_ftrace_node *between = kymo_print_expression(session);
  if (!between)
    return false;
  if (between->kind != KYMO_FTRACE_TEXT)
    return kymo_lang_fail(session, session->token.at, "expected a text");
  node->text = between->text;
  return parse_labels(session, node);
}

static bool parse_symbolic(struct print_session *session, struct kymo_ftrace_node *node) {
  return (node->a = kymo_print_expression(session)) != NULL && parse_labels(session, node);
}

/* ---- arrays ---- */

/* "a, b)" or "a, b, c)" */
static bool parse_arguments(struct print_session *session, struct kymo_ftrace_node *node) {
  if (!(node->a = kymo_print_expression(session)) || !kymo_print_expect(session, ",") ||
      !(node->b = kymo_print_expression(session)))
    return false;
  if (node->kind == KYMO_FTRACE_ARRAY &&
      (!kymo_print_expect(session, ",") || !(node->c = kymo_print_expression(session))))
    return false;
  return kymo_print_expect(session, ")");
}

static bool parse_named(struct print_session *session, struct kymo_ftrace_node *node) {
  return kymo_print_field(session, &node->field) && kymo_print_expect(session, ")");
}

/* "sizeof(type)" or "sizeof(REC->field)" */
static struct kymo_ftrace_node *parse_sizeof(struct print_session *session) {
  struct kymo_ftrace_node *node = kymo_print_node(session, KYMO_FTRACE_SIZE);
  char name[64];
  size_t length = 0;
  if (!node)
    return NULL;
  if (kymo_print_is(session, "REC")) {
    if (!kymo_print_next(session) || !kymo_print_expect(session, "->") ||
        !kymo_print_field(session, &node->field))
      return NULL;
    return kymo_print_expect(session, ")") ? node : NULL;
  }
  while (session->token.kind == PRINT_TOKEN_WORD && length + session->token.length + 2 < sizeof name) {
    length += (size_t)snprintf(name + length, sizeof name - length, "%s%.*s", length ? " " : "",
                               (int)session->token.length, session->token.text);
    if (!kymo_print_next(session))
      return NULL;
  }
  node->field = UINT32_MAX;
  if (length == 0 || !kymo_print_size(name, &node->number)) {
    kymo_lang_fail(session, session->token.at, "a type whose size is not known");
    return NULL;
  }
  return kymo_print_expect(session, ")") ? node : NULL;
}

/* "__builtin_expect(condition, 0)" is the condition. */
static struct kymo_ftrace_node *parse_expect(struct print_session *session) {
  struct kymo_ftrace_node *node = kymo_print_expression(session);
  return node && kymo_print_expect(session, ",") && kymo_print_expression(session) &&
                 kymo_print_expect(session, ")")
             ? node
             : NULL;
}

static const struct function {
  const char *name;
  enum kymo_ftrace_node_kind kind;
  bool (*parse)(struct print_session *session, struct kymo_ftrace_node *node);
  bool is_text, is_beyond;
} functions[] = {
    {"__print_flags", KYMO_FTRACE_FLAGS, parse_flags, false, false},
    {"__print_flags_u64", KYMO_FTRACE_FLAGS, parse_flags, false, true},
    {"__print_symbolic", KYMO_FTRACE_SYMBOLIC, parse_symbolic, false, false},
    {"__print_symbolic_u64", KYMO_FTRACE_SYMBOLIC, parse_symbolic, false, true},
    {"__print_hex", KYMO_FTRACE_HEX, parse_arguments, false, false},
    {"__print_hex_str", KYMO_FTRACE_HEX_TEXT, parse_arguments, false, false},
    {"__print_array", KYMO_FTRACE_ARRAY, parse_arguments, false, false},
    {"__get_str", KYMO_FTRACE_VALUE, parse_named, true, false},
    {"__get_rel_str", KYMO_FTRACE_VALUE, parse_named, true, false},
    {"__get_bitmask", KYMO_FTRACE_BITMASK, parse_named, false, false},
    {"__get_rel_bitmask", KYMO_FTRACE_BITMASK, parse_named, false, false},
    {"__get_cpumask", KYMO_FTRACE_CPUMASK, parse_named, false, false},
    {"__get_rel_cpumask", KYMO_FTRACE_CPUMASK, parse_named, false, false},
    {"__get_dynamic_array", KYMO_FTRACE_VALUE, parse_named, false, false},
    {"__get_rel_dynamic_array", KYMO_FTRACE_VALUE, parse_named, false, false},
    {"__get_sockaddr", KYMO_FTRACE_VALUE, parse_named, false, false},
    {"__get_rel_sockaddr", KYMO_FTRACE_VALUE, parse_named, false, true},
    {"__get_dynamic_array_len", KYMO_FTRACE_LENGTH, parse_named, false, false},
    {"__get_rel_dynamic_array_len", KYMO_FTRACE_LENGTH, parse_named, false, false},
};

static bool is_name(const struct print_token *token, const char *name) {
  return token->length == strlen(name) && memcmp(token->text, name, token->length) == 0;
}

struct kymo_ftrace_node *kymo_print_function(struct print_session *session, const struct print_token *name) {
  const struct function *function = NULL;
  if (!kymo_print_next(session))
    return NULL;
  if (is_name(name, "__builtin_expect"))
    return parse_expect(session);
  if (is_name(name, "sizeof")) {
    session->is_beyond = true;
    return parse_sizeof(session);
  }
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (is_name(name, functions[i].name))
      function = &functions[i];
  if (!function) {
    kymo_lang_fail(session, name->at, "a function that is not known: %.*s", (int)name->length, name->text);
    return NULL;
  }
  struct kymo_ftrace_node *node = kymo_print_node(session, function->kind);
  if (!node)
    return NULL;
  node->is_text = function->is_text;
  session->is_beyond |= function->is_beyond;
  return function->parse(session, node) ? kymo_print_done(session, node) : NULL;
}
