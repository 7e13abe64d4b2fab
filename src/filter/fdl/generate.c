/* SPDX-License-Identifier: MIT */
/* Expressions of filters → nodes. */
#include "base/fail.h"
#include "base/nearest.h"
#include "filter/fdl/fdl.h"
#include <string.h>

#define PS_PER_NS 1000

/* ---- nodes ---- */

bool kymo_fdl_is_ok(struct fdl_compiler *compiler) {
  struct tdl_session *session = &compiler->session;
  if (compiler->builder.failed == KYMO_E_MEMORY)
    return kymo_lang_no_memory(session);
  if (compiler->builder.failed)
    return kymo_tdl_fail(session, 0, "E61", "expected a filter of at most %u parts", KYMO_FILTER_PARTS);
  return !session->common.failed;
}

bool kymo_fdl_add(struct fdl_compiler *compiler, const struct kymo_filter_node *node,
                  struct fdl_value *value) {
  value->node = kymo_filter_add_node(&compiler->builder, node);
  return kymo_fdl_is_ok(compiler);
}

static struct kymo_filter_node new_node(uint8_t op, uint32_t a, uint32_t b, uint32_t c) {
  return (struct kymo_filter_node){.op = op, .a = a, .b = b, .c = c, .key = KYMO_FILTER_NONE};
}

bool kymo_fdl_add_span(struct fdl_compiler *compiler, const struct tdl_value *value, uint32_t *node) {
  struct kymo_filter_node span =
      new_node(KYMO_FILTER_SPAN, kymo_filter_add_wide(&compiler->builder, value->integer), 0, 0);
  span.detail = value->type == TDL_TICKS;
  *node = kymo_filter_add_node(&compiler->builder, &span);
  return kymo_fdl_is_ok(compiler);
}

const char *kymo_fdl_kind_name(unsigned kinds) {
  return kinds & FDL_TEXT       ? "a text"
         : kinds & FDL_BLOB     ? "bytes"
         : kinds & FDL_FLAGS    ? "flags"
         : kinds & FDL_LABELLED ? "a number with names"
         : kinds & FDL_NUMBER   ? "a number"
         : kinds & FDL_FRACTION ? "a number with a fraction"
         : kinds & FDL_SPAN     ? "a length of time"
         : kinds & FDL_MOMENT   ? "a moment"
                                : "a struct";
}

static bool fail_type(struct fdl_compiler *compiler, const struct fdl_value *value, const char *expected) {
  return kymo_tdl_fail(&compiler->session, value->at, "E41", "expected %s, found %s", expected,
                       value->is_many ? "a sequence" : kymo_fdl_kind_name(value->kinds));
}

/* ---- leaves ---- */

static bool generate_constant(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                              struct fdl_value *value) {
  struct kymo_filter_builder *builder = &compiler->builder;
  const struct tdl_value *constant = &expr->value;
  struct kymo_filter_node node = new_node(KYMO_FILTER_INTEGER, 0, 0, 0);
  value->literal = expr;
  switch (constant->type) {
  case TDL_INTEGER:
    value->kinds = FDL_NUMBER;
    node.a = kymo_filter_add_wide(builder, constant->integer);
    break;
  case TDL_FRACTION:
    value->kinds = FDL_FRACTION;
    node.op = KYMO_FILTER_FLOAT;
    node.a = kymo_filter_add_float(builder, constant->fraction);
    break;
  case TDL_BYTES:
    node.op = KYMO_FILTER_TEXT;
    node.detail = compiler->session.common.text[expr->at] == 'x';
    value->kinds = node.detail ? FDL_TEXT | FDL_BLOB : FDL_TEXT;
    node.a = kymo_filter_add_text(builder, (const char *)constant->bytes.data, constant->bytes.length);
    break;
  default: value->kinds = FDL_SPAN; return kymo_fdl_add_span(compiler, constant, &value->node);
  }
  return kymo_fdl_add(compiler, &node, value);
}

static struct fdl_definition *find_definition(const struct fdl_compiler *compiler,
                                              const struct tdl_path *path) {
  struct fdl_definition *definition = path->count == 1 ? compiler->definitions : NULL;
  while (definition && definition->name.word != path->names[0].word)
    definition = definition->next;
  return definition;
}

static bool use_definition(struct fdl_compiler *compiler, struct fdl_definition *definition,
                           const struct tdl_expr *expr, struct fdl_value *value) {
  if (!definition->is_made)
    return kymo_tdl_fail(&compiler->session, expr->at, "E34", "\"%s\" is used before it is defined",
                         definition->name.word->text);
  definition->uses++;
  *value = *definition->value;
  value->at = expr->at;
  if (compiler->each && value->is_many)
    return fail_type(compiler, value, "one value");
  if (definition->uses > 1 || compiler->each) /* tested once an event, not for each element */
    compiler->builder.nodes[value->node].is_shared = true;
  return true;
}

/* Operand c of a field's node. */
static uint32_t each_of(const struct fdl_field *field) { return field->each ? field->each->node + 1 : 0; }

static bool generate_path(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                          struct fdl_value *value) {
  struct fdl_definition *definition = find_definition(compiler, &expr->path);
  if (definition)
    return use_definition(compiler, definition, expr, value);
  const struct fdl_field *field = value->field = kymo_fdl_find(compiler, &expr->path);
  if (!field)
    return false;
  value->kinds = field->kinds;
  value->is_many = field->is_many;
  struct kymo_filter_node node =
      new_node(KYMO_FILTER_FIELD, kymo_fdl_add_path(compiler, field), 0, each_of(field));
  return kymo_fdl_add(compiler, &node, value);
}

/* SIZE OF, COUNT OF, field[number] */
static bool generate_part(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                          struct fdl_value *value) {
  const struct fdl_field *field = kymo_fdl_find(compiler, &expr->path);
  struct kymo_filter_node node =
      new_node(expr->operation == TDL_SIZE_OF ? KYMO_FILTER_SIZE : KYMO_FILTER_COUNT, 0, 0, 0);
  struct fdl_value index = {.kinds = 0};
  if (!field)
    return false;
  if (expr->operation != TDL_SIZE_OF && !field->is_many)
    return kymo_tdl_fail(&compiler->session, expr->path.names[0].at, "E41", "expected a sequence, found %s",
                         kymo_fdl_kind_name(field->kinds));
  value->kinds = FDL_NUMBER;
  if (expr->operation == TDL_LOOKUP) {
    if (!kymo_fdl_generate(compiler, expr->operands[0], &index))
      return false;
    if (!(index.kinds & FDL_WHOLE) || index.is_many)
      return fail_type(compiler, &index, "a number");
    if (expr->operands[0]->operation == TDL_NEGATE)
      return kymo_tdl_fail(&compiler->session, index.at, "E41",
                           "expected the number of an element, from 0, found one below zero");
    node.op = KYMO_FILTER_ELEMENT;
    node.b = index.node;
    value->kinds = field->kinds;
    value->field = field;
  }
  node.a = kymo_fdl_add_path(compiler, field);
  node.c = each_of(field);
  return kymo_fdl_add(compiler, &node, value);
}

/* ANY list WITH (test), ALL list WITH (test), COUNT OF list WITH (test) */
static bool generate_with(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                          struct fdl_value *value) {
  struct fdl_each *each = kymo_fdl_find_list(compiler, &expr->path), *around = compiler->each;
  if (!each)
    return false;
  struct kymo_filter_node node =
      new_node(KYMO_FILTER_EACH, kymo_filter_add_text(&compiler->builder, each->path, strlen(each->path)),
               each->outer ? each->outer->node : KYMO_FILTER_NONE, 0);
  if (!kymo_fdl_add(compiler, &node, value))
    return false;
  each->node = value->node;
  compiler->each = each;
  node = new_node(expr->operation == TDL_COUNT_WITH ? KYMO_FILTER_TALLY : KYMO_FILTER_SOME, each->node, 0, 0);
  node.detail = expr->operation == TDL_ALL_WITH;
  bool is_good = kymo_fdl_generate_test(compiler, expr->operands[0], &node.b);
  compiler->each = around;
  value->kinds = FDL_NUMBER;
  return is_good && kymo_fdl_add(compiler, &node, value);
}

/* Tests with a memory are of events. */
static bool check_memory(struct fdl_compiler *compiler, const struct tdl_expr *expr) {
  return !compiler->each ||
         kymo_tdl_fail(&compiler->session, expr->at, "E41",
                       "a test with a memory is of events, and this condition of elements of \"%s\"",
                       compiler->each->names->names[compiler->each->names->count - 1].word->text);
}

/* ---- arithmetic ---- */

static const uint8_t arithmetic[] = {
    [TDL_NEGATE] = KYMO_FILTER_NEGATE,
    [TDL_INVERT] = KYMO_FILTER_INVERT,
    [TDL_ADD] = KYMO_FILTER_ADD,
    [TDL_SUBTRACT] = KYMO_FILTER_SUBTRACT,
    [TDL_BIT_OR] = KYMO_FILTER_BITS_OR,
    [TDL_BIT_XOR] = KYMO_FILTER_BITS_XOR,
    [TDL_MULTIPLY] = KYMO_FILTER_MULTIPLY,
    [TDL_DIVIDE] = KYMO_FILTER_DIVIDE,
    [TDL_REST] = KYMO_FILTER_REMAINDER,
    [TDL_SHIFT_LEFT] = KYMO_FILTER_SHIFT_LEFT,
    [TDL_SHIFT_RIGHT] = KYMO_FILTER_SHIFT_RIGHT,
    [TDL_BIT_AND] = KYMO_FILTER_BITS_AND,
};

static bool is_of_bits(enum tdl_operation operation) {
  return operation != TDL_ADD && operation != TDL_SUBTRACT && operation != TDL_MULTIPLY &&
         operation != TDL_DIVIDE && operation != TDL_NEGATE;
}

static bool check_number(struct fdl_compiler *compiler, const struct fdl_value *value,
                         enum tdl_operation operation) {
  if (value->is_many)
    return fail_type(compiler, value, "one value");
  if (is_of_bits(operation))
    return (value->kinds & FDL_WHOLE) != 0 || fail_type(compiler, value, "a whole number");
  return (value->kinds & FDL_ANY_NUMBER) != 0 || fail_type(compiler, value, "a number");
}

/* Operations on lengths of time and moments: the kinds of the result, 0 if the operation is not allowed. */
static unsigned kinds_in_time(enum tdl_operation operation, unsigned a, unsigned b) {
  bool is_sum = operation == TDL_ADD || operation == TDL_SUBTRACT;
  if (a & FDL_MOMENT && b & FDL_MOMENT)
    return operation == TDL_SUBTRACT ? FDL_SPAN : 0;
  if (a & FDL_MOMENT && b & FDL_SPAN)
    return is_sum ? FDL_MOMENT : 0;
  if (a & FDL_SPAN && b & FDL_MOMENT)
    return operation == TDL_ADD ? FDL_MOMENT : 0;
  if (a & FDL_SPAN && b & FDL_SPAN)
    return is_sum ? FDL_SPAN : operation == TDL_DIVIDE || operation == TDL_REST ? FDL_NUMBER : 0;
  if (a & FDL_SPAN && b & FDL_ANY_NUMBER)
    return operation == TDL_MULTIPLY || operation == TDL_DIVIDE ? FDL_SPAN : 0;
  return b & FDL_SPAN && a & FDL_ANY_NUMBER && operation == TDL_MULTIPLY ? FDL_SPAN : 0;
}

static bool check_arithmetic(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                             const struct fdl_value *a, const struct fdl_value *b, unsigned *kinds) {
  bool is_time = (a->kinds | b->kinds) & (FDL_SPAN | FDL_MOMENT);
  if (is_time && !a->is_many && !b->is_many) {
    *kinds = kinds_in_time(expr->operation, a->kinds, b->kinds);
    return *kinds || kymo_tdl_fail(&compiler->session, expr->at, "E41", "%s and %s do not go together here",
                                   kymo_fdl_kind_name(a->kinds), kymo_fdl_kind_name(b->kinds));
  }
  if (!check_number(compiler, a, expr->operation) || !check_number(compiler, b, expr->operation))
    return false;
  *kinds = (a->kinds | b->kinds) & FDL_FRACTION ? FDL_FRACTION | FDL_NUMBER : FDL_NUMBER;
  return true;
}

static bool generate_arithmetic(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                                struct fdl_value *value) {
  struct fdl_value a, b;
  if (!kymo_fdl_generate(compiler, expr->operands[0], &a))
    return false;
  struct kymo_filter_node node = new_node(arithmetic[expr->operation], a.node, 0, 0);
  if (!expr->operands[1]) {
    bool is_span = expr->operation == TDL_NEGATE && a.kinds & FDL_SPAN;
    if (!is_span && !check_number(compiler, &a, expr->operation))
      return false;
    value->kinds = is_span ? FDL_SPAN : a.kinds & FDL_FRACTION ? FDL_FRACTION : FDL_NUMBER;
    return kymo_fdl_add(compiler, &node, value);
  }
  if (!kymo_fdl_generate(compiler, expr->operands[1], &b) ||
      !check_arithmetic(compiler, expr, &a, &b, &value->kinds))
    return false;
  node.b = b.node;
  return kymo_fdl_add(compiler, &node, value);
}

/* ---- functions ---- */

static const struct {
  const char *name;
  uint8_t function, count;
} functions[] = {
    {"bits", KYMO_FILTER_BITS_OF, 3},
    {"signed", KYMO_FILTER_SIGNED, 2},
    {"power", KYMO_FILTER_POWER, 2},
    {"min", KYMO_FILTER_MIN, 0},
    {"max", KYMO_FILTER_MAX, 0},
    {"default", KYMO_FILTER_DEFAULT, 2},
    {"present", KYMO_FILTER_IS_PRESENT, 1},
    {"text", KYMO_FILTER_TEXT_OF, 2},
    {"align", KYMO_FILTER_ALIGN, 2},
};

static bool find_function(struct fdl_compiler *compiler, const struct tdl_expr *expr, size_t *index) {
  const char *name = expr->path.names[0].word->text;
  struct kymo_nearest nearest = kymo_nearest_to(name);
  for (*index = 0; *index < sizeof functions / sizeof *functions; ++*index) {
    if (strcmp(functions[*index].name, name) == 0)
      break;
    kymo_nearest_consider(&nearest, functions[*index].name);
  }
  if (*index == sizeof functions / sizeof *functions)
    return kymo_tdl_fail(&compiler->session, expr->at, "E31", "there is no function \"%s\"%s", name,
                         kymo_nearest_hint(&nearest).text);
  if (functions[*index].count && functions[*index].count != expr->argument_count)
    return kymo_tdl_fail(&compiler->session, expr->at, "E41", "%s is of %u values, not of %u", name,
                         functions[*index].count, (unsigned)expr->argument_count);
  return true;
}

static bool check_argument(struct fdl_compiler *compiler, uint8_t function, uint32_t index,
                           const struct fdl_value *value) {
  if (function == KYMO_FILTER_IS_PRESENT)
    return true;
  if (value->is_many)
    return fail_type(compiler, value, "one value");
  if (function == KYMO_FILTER_DEFAULT)
    return true;
  if (function == KYMO_FILTER_TEXT_OF && index == 0)
    return (value->kinds & (FDL_TEXT | FDL_BLOB)) != 0 || fail_type(compiler, value, "a text");
  if (function == KYMO_FILTER_MIN || function == KYMO_FILTER_MAX)
    return (value->kinds & (FDL_ANY_NUMBER | FDL_SPAN | FDL_MOMENT)) != 0 ||
           fail_type(compiler, value, "a number");
  return (value->kinds & FDL_WHOLE) != 0 || fail_type(compiler, value, "a whole number");
}

static bool generate_call(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                          struct fdl_value *value) {
  size_t index;
  uint32_t count = 0,
           *list = kymo_lang_new(&compiler->session, expr->argument_count + (size_t)1, sizeof *list);
  if (!list || !find_function(compiler, expr, &index))
    return false;
  uint8_t function = functions[index].function;
  bool keeps_kind =
      function == KYMO_FILTER_DEFAULT || function == KYMO_FILTER_MIN || function == KYMO_FILTER_MAX;
  value->kinds = function == KYMO_FILTER_TEXT_OF ? FDL_TEXT : keeps_kind ? 0 : FDL_NUMBER;
  for (const struct tdl_expr *argument = expr->arguments; argument; argument = argument->next) {
    struct fdl_value one;
    if (!kymo_fdl_generate(compiler, argument, &one) || !check_argument(compiler, function, count, &one))
      return false;
    value->kinds |= keeps_kind ? one.kinds : 0;
    list[count++] = one.node;
  }
  struct kymo_filter_node node =
      new_node(KYMO_FILTER_CALL, kymo_filter_add_list(&compiler->builder, list, count), count, 0);
  node.detail = function;
  return kymo_fdl_add(compiler, &node, value);
}

static bool generate_if(struct fdl_compiler *compiler, const struct tdl_expr *expr, struct fdl_value *value) {
  struct fdl_value yes, no;
  uint32_t condition;
  if (!kymo_fdl_generate_test(compiler, expr->operands[0], &condition) ||
      !kymo_fdl_generate(compiler, expr->operands[1], &yes) ||
      !kymo_fdl_generate(compiler, expr->operands[2], &no))
    return false;
  if (yes.is_many || no.is_many)
    return fail_type(compiler, yes.is_many ? &yes : &no, "one value");
  value->kinds = yes.kinds | no.kinds;
  struct kymo_filter_node node = new_node(KYMO_FILTER_IF, condition, yes.node, no.node);
  return kymo_fdl_add(compiler, &node, value);
}

/* ---- logic ---- */

bool kymo_fdl_generate_test(struct fdl_compiler *compiler, const struct tdl_expr *expr, uint32_t *node) {
  struct fdl_value value;
  if (!kymo_fdl_generate(compiler, expr, &value))
    return false;
  if (value.is_many || !(value.kinds & FDL_ANY_NUMBER))
    return fail_type(compiler, &value, "a condition");
  *node = value.node;
  return true;
}

static uint32_t count_operands(const struct tdl_expr *expr, enum tdl_operation operation) {
  uint32_t count = 1;
  for (; expr->operation == operation; expr = expr->operands[0])
    count++;
  return count;
}

/* a AND b AND c is one node. */
static bool generate_logic(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                           struct fdl_value *value) {
  uint32_t count = count_operands(expr, expr->operation);
  uint32_t *list = kymo_lang_new(&compiler->session, count, sizeof *list);
  const struct tdl_expr **exprs = kymo_lang_new(&compiler->session, count, sizeof *exprs), *rest = expr;
  if (!list || !exprs)
    return false;
  for (uint32_t i = count - 1; i > 0; i--, rest = rest->operands[0])
    exprs[i] = rest->operands[1];
  exprs[0] = rest;
  for (uint32_t i = 0; i < count; i++)
    if (!kymo_fdl_generate_test(compiler, exprs[i], &list[i]))
      return false;
  uint8_t op = expr->operation == TDL_AND ? KYMO_FILTER_AND : KYMO_FILTER_OR;
  struct kymo_filter_node node =
      new_node(op, kymo_filter_add_list(&compiler->builder, list, count), count, 0);
  value->kinds = FDL_NUMBER;
  return kymo_fdl_add(compiler, &node, value);
}

static bool add_not(struct fdl_compiler *compiler, struct fdl_value *value) {
  struct kymo_filter_node node = new_node(KYMO_FILTER_NOT, value->node, 0, 0);
  return kymo_fdl_add(compiler, &node, value);
}

static bool generate_not(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                         struct fdl_value *value) {
  value->kinds = FDL_NUMBER;
  return kymo_fdl_generate_test(compiler, expr->operands[0], &value->node) && add_not(compiler, value);
}

/* IS [NOT] PRESENT, VALID, CHANGED */
static bool generate_is(struct fdl_compiler *compiler, const struct tdl_expr *expr, struct fdl_value *value) {
  struct fdl_value operand;
  uint8_t op = expr->operation == TDL_IS_PRESENT ? KYMO_FILTER_PRESENT
               : expr->operation == TDL_IS_VALID ? KYMO_FILTER_VALID
                                                 : KYMO_FILTER_CHANGED;
  if (op == KYMO_FILTER_CHANGED && !check_memory(compiler, expr))
    return false;
  if (!kymo_fdl_generate(compiler, expr->operands[0], &operand))
    return false;
  if (op == KYMO_FILTER_CHANGED && operand.is_many)
    return fail_type(compiler, &operand, "one value");
  struct kymo_filter_node node = new_node(op, operand.node, 0, 0);
  if (expr->per.count && !kymo_fdl_find_key(compiler, &expr->per, &node.key))
    return false;
  value->kinds = FDL_NUMBER;
  return kymo_fdl_add(compiler, &node, value) && (!expr->is_negated || add_not(compiler, value));
}

/* ---- records ---- */

static bool generate_kind(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                          struct fdl_value *value) {
  uint32_t count = 0, first = 0;
  for (const struct tdl_names *kind = expr->kinds; kind; kind = kind->next, count++) {
    if (!kymo_fdl_check_kind(compiler, &kind->name))
      return false;
    uint32_t text = kymo_filter_add_text(&compiler->builder, kind->name.word->text, kind->name.word->length);
    uint32_t at = kymo_filter_add_list(&compiler->builder, &text, 1);
    first = count == 0 ? at : first;
  }
  struct kymo_filter_node node = new_node(KYMO_FILTER_KIND, first, count, 0);
  return kymo_fdl_add(compiler, &node, value);
}

static bool generate_state(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                           struct fdl_value *value) {
  struct kymo_filter_node node = new_node(KYMO_FILTER_DAMAGED, 0, 0, 0);
  bool is_good = expr->operation < TDL_BETWEEN || check_memory(compiler, expr);
  value->kinds = FDL_NUMBER;
  if (is_good && expr->operands[0])
    is_good = kymo_fdl_generate_test(compiler, expr->operands[0], &node.a);
  switch (expr->operation) {
  case TDL_KIND_IN: return generate_kind(compiler, expr, value);
  case TDL_TIME_IN: return kymo_fdl_generate_time(compiler, expr, value);
  case TDL_RECORD_IN:
  case TDL_SEGMENT_IN:
    node.op = expr->operation == TDL_RECORD_IN ? KYMO_FILTER_RECORD : KYMO_FILTER_SEGMENT;
    is_good = kymo_fdl_generate_numbers(compiler, expr->set, &node.b, &node.c);
    break;
  case TDL_BETWEEN:
    node.op = KYMO_FILTER_BETWEEN;
    node.detail = expr->is_inclusive;
    is_good = is_good && kymo_fdl_generate_test(compiler, expr->operands[1], &node.b);
    break;
  case TDL_AFTER:
  case TDL_BEFORE:
    node.op = expr->operation == TDL_AFTER ? KYMO_FILTER_AFTER : KYMO_FILTER_BEFORE;
    node.detail = expr->is_last ? KYMO_FILTER_LAST : KYMO_FILTER_FIRST;
    break;
  case TDL_WITHIN:
    node.op = KYMO_FILTER_WITHIN;
    node.detail = (uint8_t)expr->around;
    is_good = is_good && kymo_fdl_add_span(compiler, &expr->value, &node.b);
    break;
  case TDL_EVERY:
    node.op = KYMO_FILTER_EVERY;
    node.a = expr->operands[0] ? node.a : KYMO_FILTER_NONE;
    node.b = kymo_filter_add_wide(&compiler->builder, expr->value.integer);
    break;
  default: break;
  }
  is_good = is_good && (!expr->per.count || kymo_fdl_find_key(compiler, &expr->per, &node.key));
  return is_good && kymo_fdl_add(compiler, &node, value);
}

/* ---- all ---- */

bool kymo_fdl_generate(struct fdl_compiler *compiler, const struct tdl_expr *expr, struct fdl_value *value) {
  *value = (struct fdl_value){.at = expr->at};
  switch (expr->operation) {
  case TDL_CONSTANT: return generate_constant(compiler, expr, value);
  case TDL_PATH: return generate_path(compiler, expr, value);
  case TDL_SIZE_OF:
  case TDL_COUNT_OF:
  case TDL_LOOKUP: return generate_part(compiler, expr, value);
  case TDL_ANY_WITH:
  case TDL_ALL_WITH:
  case TDL_COUNT_WITH: return generate_with(compiler, expr, value);
  case TDL_CALL: return generate_call(compiler, expr, value);
  case TDL_IF: return generate_if(compiler, expr, value);
  case TDL_IN:
  case TDL_MATCHES:
  case TDL_LIKE:
  case TDL_HAS: return kymo_fdl_generate_relation(compiler, expr, value);
  case TDL_NOT: return generate_not(compiler, expr, value);
  case TDL_AND:
  case TDL_OR: return generate_logic(compiler, expr, value);
  case TDL_IS_PRESENT:
  case TDL_IS_VALID:
  case TDL_IS_CHANGED: return generate_is(compiler, expr, value);
  case TDL_KIND_IN:
  case TDL_RECORD_IN:
  case TDL_SEGMENT_IN:
  case TDL_TIME_IN:
  case TDL_DAMAGED:
  case TDL_BETWEEN:
  case TDL_AFTER:
  case TDL_BEFORE:
  case TDL_WITHIN:
  case TDL_EVERY: return generate_state(compiler, expr, value);
  default:
    if (kymo_tdl_is_arithmetic(expr->operation))
      return generate_arithmetic(compiler, expr, value);
    if (kymo_tdl_is_comparison(expr->operation))
      return kymo_fdl_generate_relation(compiler, expr, value);
    return kymo_tdl_fail(&compiler->session, expr->at, "E43", "this is only for descriptions of traces");
  }
}
