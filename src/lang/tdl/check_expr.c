/* SPDX-License-Identifier: MIT */
/* Expressions: what their names mean, what type they have, and which of them never change. */
#include "base/nearest.h"
#include "lang/tdl/address.h"
#include "lang/tdl/check.h"
#include <inttypes.h>
#include <string.h>

static bool check(struct tdl_checker *checker, struct tdl_expr *expr);

const char *kymo_tdl_type_name(enum tdl_value_type type) {
  static const char *const names[] = {"a value known late", "a number",   "text or bytes", "a duration",
                                      "a count of ticks",   "a fraction", "a moment",      "a variant"};
  return names[type];
}

static bool fail_type(struct tdl_checker *checker, const struct tdl_expr *expr, const char *want) {
  return kymo_tdl_fail(checker->session, expr->at, "E41", "expected %s, found %s%s", want,
                       kymo_tdl_type_name(expr->type), kymo_tdl_address_hint(expr).text);
}

/* Parameters of an unused group have no type yet: they get the type that their first use needs. */
static void settle(struct tdl_expr *expr, enum tdl_value_type want) {
  if (expr->type != TDL_UNTYPED)
    return;
  expr->type = want;
  if (expr->operation == TDL_PATH && expr->reference.slot)
    expr->reference.slot->type = want;
}

static bool is_type(struct tdl_checker *checker, struct tdl_expr *expr, enum tdl_value_type want) {
  settle(expr, want);
  return expr->type == want || want == TDL_UNTYPED || fail_type(checker, expr, kymo_tdl_type_name(want));
}

static bool check_as(struct tdl_checker *checker, struct tdl_expr *expr, enum tdl_value_type want) {
  return check(checker, expr) && is_type(checker, expr, want);
}

/* An expression of the type that another one has. */
static bool check_like(struct tdl_checker *checker, struct tdl_expr *expr, struct tdl_expr *other) {
  if (!check(checker, expr))
    return false;
  settle(other, expr->type);
  return is_type(checker, expr, other->type);
}

/* ---- names ---- */

/* The expression reads this slot of its own record. */
static bool bind_slot(struct tdl_checker *checker, struct tdl_expr *expr, struct tdl_slot *slot) {
  expr->reference = (struct tdl_reference){.kind = TDL_REFERENCE_FIELD, .slot = slot};
  expr->type = slot->type;
  slot->is_used = true;
  checker->depends |= slot->depends;
  if (slot->top && (!checker->last_top || slot->top->at > checker->last_top->at))
    checker->last_top = slot->top;
  return true;
}

static bool bind_constant(struct tdl_checker *checker, struct tdl_expr *expr, struct tdl_binding *binding) {
  struct tdl_constant *constant = binding->declaration;
  if (binding->at >= expr->at || constant->expr->operation != TDL_CONSTANT)
    return kymo_tdl_unknown(checker, expr->path.names[0]);
  constant->is_used = true;
  expr->operation = TDL_CONSTANT;
  expr->value = constant->expr->value;
  expr->is_cut = constant->expr->is_cut;
  expr->type = expr->value.type;
  return true;
}

static bool bind_name(struct tdl_checker *checker, struct tdl_expr *expr) {
  struct tdl_name name = expr->path.names[0];
  struct tdl_binding *binding =
      checker->body ? kymo_tdl_look_in(checker, checker->body->scope, name.word) : NULL;
  if (!binding && (binding = kymo_tdl_look(checker, TDL_SPACE_CONST, name.word)))
    return bind_constant(checker, expr, binding);
  if (binding && binding->slot)
    return bind_slot(checker, expr, binding->slot);
  if (!binding && kymo_tdl_look(checker, TDL_SPACE_RECORD, name.word))
    return kymo_tdl_fail(checker->session, name.at, "E41",
                         "\"%s\" is a kind of records: name one of its fields, %s.FIELD", name.word->text,
                         name.word->text);
  struct tdl_slot *slot = kymo_tdl_find_slot(checker, name);
  return slot && bind_slot(checker, expr, slot);
}

/* The rest of a path after a named USE or REPEAT. */
static bool bind_in_use(struct tdl_checker *checker, struct tdl_expr *expr, const struct tdl_scope *use,
                        uint32_t from) {
  for (uint32_t i = from; use && i < expr->path.count; i++) {
    struct tdl_name name = expr->path.names[i];
    struct tdl_binding *binding = kymo_tdl_look(checker, use->space, name.word);
    if (binding && binding->slot && i + 1 == expr->path.count)
      return bind_slot(checker, expr, binding->slot);
    if (!binding || !binding->use || i + 1 == expr->path.count) {
      struct kymo_nearest nearest = kymo_nearest_to(name.word->text);
      for (binding = use->bindings; binding; binding = binding->next)
        kymo_nearest_consider(&nearest, binding->word->text);
      return kymo_tdl_fail(checker->session, name.at, "E31", "no field \"%s\" in \"%s\"%s", name.word->text,
                           expr->path.names[i - 1].word->text, kymo_nearest_hint(&nearest).text);
    }
    use = binding->use;
  }
  return false;
}

static enum tdl_value_type type_of_item(const struct tdl_item *item) {
  if (item->kind != TDL_ITEM_FIELD || !item->field || !item->field->type)
    return TDL_INTEGER;
  const struct tdl_type *type = item->field->type;
  while (type->kind == TDL_TYPE_ARRAY)
    type = type->element;
  switch (type->kind) {
  case TDL_TYPE_BYTES:
  case TDL_TYPE_STRING: return TDL_BYTES;
  case TDL_TYPE_FLOAT:
  case TDL_TYPE_FIXED: return TDL_FRACTION;
  default: return TDL_INTEGER;
  }
}

static bool fail_record_field(struct tdl_checker *checker, const struct tdl_expr *expr,
                              const struct tdl_record *record, const struct tdl_scope *scope) {
  struct tdl_name name = expr->path.names[1];
  struct kymo_nearest nearest = kymo_nearest_to(name.word->text);
  for (; scope; scope = scope->outer)
    for (const struct tdl_binding *binding = scope->bindings; binding; binding = binding->next)
      kymo_nearest_consider(&nearest, binding->word->text);
  return kymo_tdl_fail(checker->session, name.at, "E31", "no field \"%s\" in records \"%s\"%s",
                       name.word->text, record->name.word->text, kymo_nearest_hint(&nearest).text);
}

/* A field of a record that is being checked: its type is read off its declaration, its slot is bound at the
 * end. */
static bool bind_late(struct tdl_checker *checker, struct tdl_expr *expr, struct tdl_record *record) {
  const struct tdl_item *item = kymo_tdl_scan(checker, record->items, expr->path.names[1].word);
  if (!item || expr->path.count > 2)
    return fail_record_field(checker, expr, record, checker->record_scopes[record->index]);
  struct tdl_late *late = kymo_lang_new(checker->session, 1, sizeof *late);
  if (!late)
    return false;
  *late = (struct tdl_late){.next = checker->lates, .expr = expr, .record = record};
  checker->lates = late;
  expr->type = type_of_item(item);
  expr->reference = (struct tdl_reference){.kind = TDL_REFERENCE_RECORD, .record = record};
  return true;
}

static bool bind_record(struct tdl_checker *checker, struct tdl_expr *expr, struct tdl_record *record) {
  struct tdl_item *last_top = checker->last_top;
  uint64_t depends = checker->depends;
  bool allows_value = checker->allows_value;
  record->is_named = true;
  if (checker->record_progress[record->index] == TDL_UNCHECKED && checker->record_depth < TDL_DEPTH_MAX &&
      !kymo_tdl_check_record(checker, record))
    return false;
  checker->last_top = last_top;
  checker->depends = depends;
  checker->allows_value = allows_value;
  struct tdl_scope *scope = checker->record_scopes[record->index];
  struct tdl_binding *binding = scope ? kymo_tdl_look_in(checker, scope, expr->path.names[1].word) : NULL;
  if (!binding && checker->record_progress[record->index] != TDL_CHECKED)
    return bind_late(checker, expr, record);
  if (!binding)
    return fail_record_field(checker, expr, record, scope);
  struct tdl_slot *slot = binding->slot;
  if (binding->use || expr->path.count > 2) {
    if (!binding->use)
      return fail_record_field(checker, expr, record, scope);
    if (!bind_in_use(checker, expr, binding->use, 2))
      return checker->session->common.failed ? false : fail_record_field(checker, expr, record, scope);
    slot = expr->reference.slot;
    checker->last_top = last_top;
  }
  slot->is_kept = true;
  expr->type = slot->type;
  expr->reference = (struct tdl_reference){.kind = TDL_REFERENCE_RECORD, .record = record, .slot = slot};
  return true;
}

static bool bind_path(struct tdl_checker *checker, struct tdl_expr *expr) {
  if (expr->path.count == 1)
    return bind_name(checker, expr);
  struct tdl_name name = expr->path.names[0];
  struct tdl_binding *binding =
      checker->body ? kymo_tdl_look_in(checker, checker->body->scope, name.word) : NULL;
  if (binding && binding->use)
    return bind_in_use(checker, expr, binding->use, 1);
  struct tdl_record *record = kymo_tdl_find(checker, TDL_SPACE_RECORD, name, "kind of records");
  return record && bind_record(checker, expr, record);
}

static bool check_path(struct tdl_checker *checker, struct tdl_expr *expr) {
  if (!bind_path(checker, expr))
    return false;
  if (expr->type == TDL_FRACTION)
    return kymo_tdl_fail(checker->session, expr->at, "E41", "fractions take part only in filters");
  return expr->type != TDL_MIXED ||
         kymo_tdl_fail(checker->session, expr->at, "E41", "\"%s\" has different types in its branches",
                       expr->path.names[expr->path.count - 1].word->text);
}

/* ---- tables ---- */

static enum tdl_value_type key_type(const struct tdl_table *table) {
  return table->key == TDL_KEY_NUMBER ? TDL_INTEGER : TDL_BYTES;
}

/* The table is read here: remembers it, and the field that it is PER. */
static bool read_table(struct tdl_checker *checker, struct tdl_table *table, struct tdl_expr *expr) {
  table->is_used = true;
  checker->depends |= table->bit;
  expr->reference = (struct tdl_reference){.kind = TDL_REFERENCE_TABLE, .table = table};
  if (table->per != TDL_PER_NAME)
    return true;
  struct tdl_expr *per = kymo_lang_new(checker->session, 1, sizeof *per);
  if (!per)
    return false;
  *per = (struct tdl_expr){.operation = TDL_PATH, .at = expr->at, .length = expr->length, .height = 1};
  struct tdl_name name = table->per_name;
  name.at = expr->at;
  struct tdl_slot *slot = kymo_tdl_find_slot(checker, name);
  expr->operands[1] = per;
  return slot && bind_slot(checker, per, slot);
}

/* TOKEN list [ number ]: its name */
static bool check_name_of(struct tdl_checker *checker, struct tdl_expr *expr) {
  struct tdl_token_list *token = kymo_tdl_find(checker, TDL_SPACE_TOKEN, expr->path.names[0], "token list");
  if (!token || !check_as(checker, expr->operands[0], TDL_INTEGER))
    return false;
  token->is_used = true;
  expr->reference = (struct tdl_reference){.kind = TDL_REFERENCE_TABLE, .token = token};
  expr->type = TDL_BYTES;
  return true;
}

static bool check_lookup(struct tdl_checker *checker, struct tdl_expr *expr) {
  const struct tdl_word *word = expr->path.names[0].word;
  if (!kymo_tdl_look(checker, TDL_SPACE_TABLE, word) && kymo_tdl_look(checker, TDL_SPACE_TOKEN, word))
    return check_name_of(checker, expr);
  struct tdl_table *table = kymo_tdl_find(checker, TDL_SPACE_TABLE, expr->path.names[0], "table");
  if (!table || !check_as(checker, expr->operands[0], key_type(table)) || !read_table(checker, table, expr))
    return false;
  expr->type = table->holds == TDL_HOLDS_NUMBERS ? TDL_INTEGER : TDL_BYTES;
  return table->holds != TDL_HOLDS_RECORDS ||
         kymo_tdl_fail(checker->session, expr->at, "E41", "expected a value, found a record of table \"%s\"",
                       table->name.word->text);
}

/* The named REPEAT of this record that the path leads to, or NULL. */
static struct tdl_slot *find_list(struct tdl_checker *checker, const struct tdl_path *path) {
  struct tdl_binding *binding =
      checker->body ? kymo_tdl_look_in(checker, checker->body->scope, path->names[0].word) : NULL;
  for (uint32_t i = 1; i < path->count && binding; i++)
    binding = binding->use ? kymo_tdl_look(checker, binding->use->space, path->names[i].word) : NULL;
  return binding && binding->use ? binding->use->list : NULL;
}

/* SIZE OF field, COUNT OF table or sequence */
static bool check_measure(struct tdl_checker *checker, struct tdl_expr *expr) {
  struct tdl_name name = expr->path.names[0];
  struct tdl_binding *field =
      checker->body ? kymo_tdl_look_in(checker, checker->body->scope, name.word) : NULL;
  struct tdl_binding *table = kymo_tdl_look(checker, TDL_SPACE_TABLE, name.word);
  if (expr->operation == TDL_COUNT_OF && expr->path.count == 1 && !field && table) {
    bool is_good = kymo_tdl_find(checker, TDL_SPACE_TABLE, name, "table") &&
                   read_table(checker, table->declaration, expr);
    expr->type = TDL_INTEGER;
    return is_good;
  }
  struct tdl_slot *list = expr->operation == TDL_COUNT_OF ? find_list(checker, &expr->path) : NULL;
  if (!(list ? bind_slot(checker, expr, list) : bind_path(checker, expr)))
    return false;
  const struct tdl_slot *slot = expr->reference.slot;
  expr->type = TDL_INTEGER;
  if (expr->operation == TDL_SIZE_OF && (!slot || slot->is_let || slot->is_parameter))
    return kymo_tdl_fail(checker->session, expr->at, "E41",
                         "SIZE OF needs a field that is read from the file");
  if (expr->operation == TDL_COUNT_OF && expr->reference.kind == TDL_REFERENCE_RECORD)
    return kymo_tdl_fail(checker->session, expr->at, "E41",
                         "COUNT OF counts in its own record: let \"%s\" have a LET with this number",
                         expr->reference.record->name.word->text);
  if (expr->operation == TDL_COUNT_OF && (!slot || slot->repeats == 0))
    return kymo_tdl_fail(checker->session, expr->at, "E41",
                         "COUNT OF needs a table, or a field within REPEAT or ARRAY");
  return true;
}

/* ---- functions ---- */

static const struct function {
  const char *name;
  enum tdl_function function;
  uint32_t least, most;
} functions[] = {
    {"bits", TDL_BITS, 3, 3},       {"signed", TDL_SIGNED, 2, 2}, {"power", TDL_POWER, 2, 2},
    {"min", TDL_MIN, 2, 255},       {"max", TDL_MAX, 2, 255},     {"default", TDL_DEFAULT, 2, 2},
    {"present", TDL_PRESENT, 1, 1}, {"text", TDL_TEXT, 2, 2},     {"align", TDL_ALIGN, 2, 2},
    {"join", TDL_JOIN, 2, 255},
};
#define FUNCTIONS (sizeof functions / sizeof functions[0])

static const struct function *find_function(struct tdl_checker *checker, struct tdl_name name) {
  struct kymo_nearest nearest = kymo_nearest_to(name.word->text);
  for (size_t i = 0; i < FUNCTIONS; i++) {
    if (strcmp(functions[i].name, name.word->text) == 0)
      return &functions[i];
    kymo_nearest_consider(&nearest, functions[i].name);
  }
  kymo_tdl_fail(checker->session, name.at, "E31", "unknown function \"%s\"%s", name.word->text,
                kymo_nearest_hint(&nearest).text);
  return NULL;
}

/* Type of an argument: most functions are of numbers. */
static bool check_argument(struct tdl_checker *checker, struct tdl_expr *call, struct tdl_expr *argument) {
  bool is_first = argument == call->arguments;
  switch (call->function) {
  case TDL_PRESENT: return check(checker, argument);
  case TDL_TEXT: return check_as(checker, argument, is_first ? TDL_BYTES : TDL_INTEGER);
  case TDL_JOIN:
    if (!check(checker, argument))
      return false;
    settle(argument, TDL_BYTES);
    return argument->type == TDL_BYTES || argument->type == TDL_INTEGER ||
           fail_type(checker, argument, "text or a number");
  case TDL_DEFAULT:
  case TDL_MIN:
  case TDL_MAX: return is_first ? check(checker, argument) : check_like(checker, argument, call->arguments);
  default: return check_as(checker, argument, TDL_INTEGER);
  }
}

static bool check_call(struct tdl_checker *checker, struct tdl_expr *expr) {
  const struct function *function = find_function(checker, expr->path.names[0]);
  if (!function)
    return false;
  expr->function = function->function;
  if (expr->argument_count < function->least || expr->argument_count > function->most)
    return kymo_tdl_fail(checker->session, expr->at, "E41",
                         "%s takes %s%" PRIu32 " arguments, found %" PRIu32, function->name,
                         function->most == 255 ? "at least " : "", function->least, expr->argument_count);
  for (struct tdl_expr *argument = expr->arguments; argument; argument = argument->next)
    if (!check_argument(checker, expr, argument))
      return false;
  bool is_of_arguments =
      function->function == TDL_DEFAULT || function->function == TDL_MIN || function->function == TDL_MAX;
  expr->type = is_of_arguments                                                    ? expr->arguments->type
               : function->function == TDL_TEXT || function->function == TDL_JOIN ? TDL_BYTES
                                                                                  : TDL_INTEGER;
  return function->function == TDL_DEFAULT || !is_of_arguments || expr->type != TDL_BYTES ||
         fail_type(checker, expr->arguments, "a number");
}

/* ---- operators ---- */

static bool is_span(enum tdl_value_type type) { return type == TDL_DURATION || type == TDL_TICKS; }

/* Numbers go with numbers; spans add to spans of their kind and are scaled by numbers. */
static bool check_arithmetic(struct tdl_checker *checker, struct tdl_expr *expr) {
  struct tdl_expr *a = expr->operands[0], *b = expr->operands[1];
  if (!check(checker, a) || !check(checker, b))
    return false;
  enum tdl_operation operation = expr->operation;
  bool adds = operation == TDL_ADD || operation == TDL_SUBTRACT;
  bool scales = operation == TDL_MULTIPLY || operation == TDL_DIVIDE;
  settle(a, adds && is_span(b->type) ? b->type : TDL_INTEGER);
  if (a->type != TDL_INTEGER && !((adds || scales) && is_span(a->type)))
    return fail_type(checker, a, "a number");
  expr->type = a->type;
  if (a->type == TDL_INTEGER && operation == TDL_MULTIPLY && is_span(b->type)) {
    expr->type = b->type;
    return true;
  }
  return is_type(checker, b, scales ? TDL_INTEGER : a->type);
}

/* W21: a field that is always below, above or beside the constant. */
static void warn_of_range(struct tdl_checker *checker, const struct tdl_expr *expr) {
  const struct tdl_expr *field = expr->operands[0], *constant = expr->operands[1];
  enum tdl_operation operation = expr->operation;
  if (field->operation == TDL_CONSTANT) {
    static const enum tdl_operation turned[] = {TDL_EQUAL,         TDL_UNEQUAL, TDL_GREATER,
                                                TDL_GREATER_EQUAL, TDL_LESS,    TDL_LESS_EQUAL};
    field = constant;
    constant = expr->operands[0];
    operation = turned[operation - TDL_EQUAL];
  }
  const struct tdl_slot *slot = field->operation == TDL_PATH ? field->reference.slot : NULL;
  if (!slot || !slot->has_range || constant->operation != TDL_CONSTANT || constant->type != TDL_INTEGER)
    return;
  int low = kymo_wide_compare(slot->low, constant->value.integer);
  int high = kymo_wide_compare(slot->high, constant->value.integer);
  bool is_beside = low > 0 || high < 0, always = false, never = false;
  switch (operation) {
  case TDL_EQUAL: never = is_beside; break;
  case TDL_UNEQUAL: always = is_beside; break;
  case TDL_LESS:
    always = high < 0;
    never = low >= 0;
    break;
  case TDL_LESS_EQUAL:
    always = high <= 0;
    never = low > 0;
    break;
  case TDL_GREATER:
    always = low > 0;
    never = high <= 0;
    break;
  default:
    always = low >= 0;
    never = high < 0;
    break;
  }
  if (always || never)
    kymo_tdl_warn(checker->session, expr->at, "W21",
                  "this is always %s: \"%s\" has values from %s%" PRIu64 " to %" PRIu64,
                  always ? "true" : "false", slot->name->text, slot->low.high < 0 ? "-" : "",
                  slot->low.high < 0 ? 0 - slot->low.low : slot->low.low, slot->high.low);
}

static bool check_comparison(struct tdl_checker *checker, struct tdl_expr *expr) {
  struct tdl_expr *a = expr->operands[0], *b = expr->operands[1];
  if (!check(checker, a) || !check_like(checker, b, a))
    return false;
  if (a->type == TDL_BYTES && expr->operation != TDL_EQUAL && expr->operation != TDL_UNEQUAL)
    return kymo_tdl_fail(checker->session, expr->at, "E41", "text and bytes have no order: expected = or <>");
  expr->type = TDL_INTEGER;
  warn_of_range(checker, expr);
  return true;
}

static bool check_member(struct tdl_checker *checker, struct tdl_member *member, enum tdl_value_type type) {
  if (!check_as(checker, member->low, type))
    return false;
  if (!member->high)
    return true;
  if (member->low->type == TDL_BYTES)
    return kymo_tdl_fail(checker->session, member->low->at, "E41", "text and bytes have no ranges");
  if (!check_as(checker, member->high, member->low->type))
    return false;
  bool is_constant = member->low->operation == TDL_CONSTANT && member->high->operation == TDL_CONSTANT;
  return !is_constant || kymo_wide_compare(member->low->value.integer, member->high->value.integer) <= 0 ||
         kymo_tdl_fail(checker->session, member->low->at, "E41", "this range ends before it begins");
}

bool kymo_tdl_check_set(struct tdl_checker *checker, struct tdl_set *set, enum tdl_value_type type) {
  if (set->name.word) {
    set->table = kymo_tdl_find(checker, TDL_SPACE_TABLE, set->name, "table");
    if (!set->table)
      return false;
    set->table->is_used = true;
    checker->depends |= set->table->bit;
    return key_type(set->table) == type ||
           kymo_tdl_fail(checker->session, set->at, "E41",
                         "the keys of table \"%s\" are %s, what is looked for is %s", set->name.word->text,
                         set->table->key == TDL_KEY_NUMBER ? "numbers" : "names", kymo_tdl_type_name(type));
  }
  for (struct tdl_member *member = set->members; member; member = member->next) {
    if (!check_member(checker, member, type))
      return false;
    type = member->low->type;
  }
  return true;
}

static bool check_in(struct tdl_checker *checker, struct tdl_expr *expr) {
  if (!check(checker, expr->operands[0]) || !kymo_tdl_check_set(checker, expr->set, expr->operands[0]->type))
    return false;
  expr->type = TDL_INTEGER;
  if (!expr->set->table || expr->set->table->per != TDL_PER_NAME)
    return true;
  struct tdl_expr *key = expr->operands[0];
  return read_table(checker, expr->set->table, expr) && (expr->operands[0] = key);
}

/* What a constant decides: 1 or 0; -1: it is none. */
static int decision(const struct tdl_expr *condition) {
  struct kymo_wide value;
  return kymo_tdl_is_constant(condition, &value) ? !kymo_wide_is_zero(value) : -1;
}

/* Only an operand that is needed must have a value. */
static bool check_if(struct tdl_checker *checker, struct tdl_expr *expr) {
  if (!check_as(checker, expr->operands[0], TDL_INTEGER))
    return false;
  int condition = decision(expr->operands[0]);
  checker->unneeded += condition == 0;
  bool ok = check(checker, expr->operands[1]);
  checker->unneeded -= condition == 0;
  checker->unneeded += condition == 1;
  ok = ok && check_like(checker, expr->operands[2], expr->operands[1]);
  checker->unneeded -= condition == 1;
  expr->type = expr->operands[1]->type;
  return ok;
}

static bool check_logic(struct tdl_checker *checker, struct tdl_expr *expr) {
  if (!check_as(checker, expr->operands[0], TDL_INTEGER))
    return false;
  bool is_decided = decision(expr->operands[0]) == (expr->operation == TDL_OR);
  checker->unneeded += is_decided;
  bool ok = check_as(checker, expr->operands[1], TDL_INTEGER);
  checker->unneeded -= is_decided;
  return ok;
}

static bool check_negation(struct tdl_checker *checker, struct tdl_expr *expr) {
  if (!check(checker, expr->operands[0]))
    return false;
  settle(expr->operands[0], TDL_INTEGER);
  expr->type = expr->operands[0]->type;
  return expr->type == TDL_INTEGER || is_span(expr->type) ||
         fail_type(checker, expr->operands[0], "a number");
}

/* Words for the decoding state, which are allowed only in records. */
static bool check_position(struct tdl_checker *checker, struct tdl_expr *expr) {
  expr->type = TDL_INTEGER;
  if (expr->operation == TDL_VALUE)
    return checker->allows_value ||
           kymo_tdl_fail(checker->session, expr->at, "E41", "VALUE has a meaning only after AS");
  return expr->operation == TDL_FILE_SIZE || expr->operation == TDL_FILE_NUMBER || checker->body ||
         kymo_tdl_fail(checker->session, expr->at, "E41", "this has a meaning only in records");
}

/* NUMBER OF FIELD, TEXT OF FIELD */
static bool check_defined(struct tdl_checker *checker, struct tdl_expr *expr) {
  const struct tdl_record *record = checker->body ? checker->body->record : NULL;
  expr->type = expr->operation == TDL_NUMBER_OF ? TDL_INTEGER : TDL_BYTES;
  return (record && record->from && checker->body->is_after_fields) ||
         (checker->body && checker->body->is_unused) ||
         kymo_tdl_fail(checker->session, expr->at, "E41",
                       "a FIELD of a definition is read after it: in RECORD … FROM table[key] IS … END");
}

static bool check_node(struct tdl_checker *checker, struct tdl_expr *expr) {
  expr->type = TDL_INTEGER;
  switch (expr->operation) {
  case TDL_PATH: return check_path(checker, expr);
  case TDL_VALUE:
  case TDL_POSITION:
  case TDL_REMAINING:
  case TDL_FILE_SIZE:
  case TDL_FILE_NUMBER: return check_position(checker, expr);
  case TDL_SIZE_OF:
  case TDL_COUNT_OF: return check_measure(checker, expr);
  case TDL_LOOKUP: return check_lookup(checker, expr);
  case TDL_NUMBER_OF:
  case TDL_TEXT_OF: return check_defined(checker, expr);
  case TDL_CALL: return check_call(checker, expr);
  case TDL_IF: return check_if(checker, expr);
  case TDL_NEGATE: return check_negation(checker, expr);
  case TDL_INVERT:
  case TDL_NOT: return check_as(checker, expr->operands[0], TDL_INTEGER);
  case TDL_IN: return check_in(checker, expr);
  case TDL_AND:
  case TDL_OR: return check_logic(checker, expr);
  case TDL_IS_PRESENT: return check(checker, expr->operands[0]) && (expr->type = TDL_INTEGER);
  default:
    return kymo_tdl_is_comparison(expr->operation) ? check_comparison(checker, expr)
                                                   : check_arithmetic(checker, expr);
  }
}

/* Durations are whole picoseconds: a quotient with a remainder is cut. */
static void note_cut(struct tdl_expr *expr) {
  struct tdl_expr *const *operands = expr->operands;
  struct kymo_wide rest = {0};
  if (expr->type != TDL_DURATION || expr->operation == TDL_CONSTANT)
    return;
  for (int i = 0; i < 3; i++)
    expr->is_cut |= operands[i] && operands[i]->is_cut;
  for (const struct tdl_expr *argument = expr->arguments; argument; argument = argument->next)
    expr->is_cut |= argument->is_cut;
  if (expr->operation != TDL_DIVIDE)
    return;
  bool is_constant = operands[0]->operation == TDL_CONSTANT && operands[1]->operation == TDL_CONSTANT;
  bool is_known =
      is_constant && kymo_wide_divide(operands[0]->value.integer, operands[1]->value.integer, NULL, &rest);
  expr->is_cut |= !is_known || !kymo_wide_is_zero(rest);
}

static bool check(struct tdl_checker *checker, struct tdl_expr *expr) {
  if (expr->operation == TDL_CONSTANT) {
    expr->type = expr->value.type;
    return expr->type != TDL_FRACTION ||
           kymo_tdl_fail(checker->session, expr->at, "E41", "fractions take part only in filters");
  }
  if (!check_node(checker, expr))
    return false;
  note_cut(expr);
  return kymo_tdl_fold(checker, expr);
}

/* ---- what others call ---- */

bool kymo_tdl_check_expr(struct tdl_checker *checker, struct tdl_expr *expr, enum tdl_value_type want) {
  if (!expr)
    return true;
  if (!check(checker, expr))
    return false;
  if (expr->operation == TDL_CONSTANT && expr->type != TDL_BYTES && expr->type != TDL_DURATION &&
      !kymo_wide_fits(expr->value.integer))
    return kymo_tdl_fail(checker->session, expr->at, "E41", "expected a number from -2^63 to 2^64-1");
  return is_type(checker, expr, want);
}

bool kymo_tdl_check_constant(struct tdl_checker *checker, struct tdl_expr *expr, enum tdl_value_type want) {
  return kymo_tdl_check_expr(checker, expr, want) &&
         (!expr || expr->operation == TDL_CONSTANT ||
          kymo_tdl_fail(checker->session, expr->at, "E42",
                        "expected a constant: use numbers, CONST names and calculations with them; what the "
                        "file says is a field or LET of a record, and its names are a TABLE"));
}

bool kymo_tdl_check_unit(struct tdl_checker *checker, struct tdl_expr *expr, enum tdl_value_type want) {
  if (!kymo_tdl_check_expr(checker, expr, want))
    return false;
  if (expr && expr->is_cut)
    kymo_tdl_warn(
        checker->session, expr->at, "W15",
        "this need not be a whole number of picoseconds, and what is left over is lost each time: RATE is "
        "exact");
  return true;
}

bool kymo_tdl_check_condition(struct tdl_checker *checker, struct tdl_expr *expr) {
  if (!kymo_tdl_check_expr(checker, expr, TDL_INTEGER))
    return false;
  if (expr && expr->operation == TDL_CONSTANT)
    kymo_tdl_warn(checker->session, expr->at, "W21", "this is always %s",
                  kymo_wide_is_zero(expr->value.integer) ? "false" : "true");
  return true;
}
