/* SPDX-License-Identifier: MIT */
/*
 * A whole TRACE: its declarations and its layout. Declarations are appended to lists of the tree, whose ends
 * the state below remembers; the table at the end has the first word of each declaration.
 */
#include "base/fail.h"
#include "base/nearest.h"
#include "lang/tdl/syntax.h"
#include "lang/tdl/tdl.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_LIMIT 65536

/* One parse: the tree, and where the next declaration of each kind goes. */
struct state {
  struct tdl_parser parser;
  struct tdl_tree *tree;
  struct tdl_constant **constants;
  struct tdl_named_type **named_types;
  struct tdl_clock **clocks;
  struct tdl_token_list **tokens;
  struct tdl_flag_list **flags;
  struct tdl_types **types;
  struct tdl_table **tables;
  struct tdl_group **groups;
  struct tdl_prefix **prefixes;
  struct tdl_record **records;
  bool has_order, has_bit_order;
};

bool kymo_tdl_expect_end(struct tdl_parser *parser, const char *what, uint32_t at) {
  const struct tdl_token *token = &parser->token;
  if (token->kind == TDL_KEYWORD_END || (token->kind != TDL_TOKEN_END && token->kind <= TDL_TOKEN_KEYWORDS))
    return kymo_tdl_expect(parser, TDL_KEYWORD_END);
  uint32_t line = 1;
  for (uint32_t i = 0; i < at; i++)
    line += parser->session->common.text[i] == '\n';
  return kymo_tdl_fail(parser->session, token->at, "E22",
                       "expected END of the %s that begins in line %u, found %s", what, line,
                       token->kind == TDL_TOKEN_END ? "the end of the text" : kymo_tdl_keyword(token->kind));
}

bool kymo_tdl_expect_order(struct tdl_parser *parser, enum tdl_order *order) {
  *order = parser->token.kind == TDL_KEYWORD_BIG ? TDL_BIG : TDL_LITTLE;
  if (parser->token.kind != TDL_KEYWORD_BIG && parser->token.kind != TDL_KEYWORD_LITTLE)
    return kymo_tdl_unexpected(parser, "LITTLE or BIG");
  kymo_tdl_advance(parser);
  return true;
}

bool kymo_tdl_parse_kinds(struct tdl_parser *parser, struct tdl_names **kinds) {
  struct tdl_names **end = kinds;
  do {
    struct tdl_names *kind = *end = kymo_lang_new(parser->session, 1, sizeof *kind);
    if (!kind || !kymo_tdl_expect_name(parser, "a kind of records", &kind->name))
      return false;
    end = &kind->next;
  } while (kymo_tdl_accept(parser, TDL_KEYWORD_OR));
  return true;
}

/* ---- words of one line ---- */

static bool parse_byte_order(struct state *state) {
  if (state->has_order)
    return kymo_tdl_fail(state->parser.session, state->parser.end, "E33",
                         "the byte order is already defined");
  state->has_order = true;
  return kymo_tdl_expect_order(&state->parser, &state->tree->order);
}

static bool parse_bit_order(struct state *state) {
  if (state->has_bit_order)
    return kymo_tdl_fail(state->parser.session, state->parser.end, "E33",
                         "the order of bits is already defined");
  state->has_bit_order = true;
  if (kymo_tdl_accept(&state->parser, TDL_KEYWORD_LSB))
    state->tree->bit_order = TDL_BITS_LSB;
  else if (kymo_tdl_accept(&state->parser, TDL_KEYWORD_MSB))
    state->tree->bit_order = TDL_BITS_MSB;
  else
    return kymo_tdl_unexpected(&state->parser, "LSB or MSB");
  return kymo_tdl_expect(&state->parser, TDL_KEYWORD_FIRST);
}

static bool parse_encoding(struct state *state) {
  if (state->tree->encoding.data)
    return kymo_tdl_fail(state->parser.session, state->parser.end, "E33", "the encoding is already defined");
  state->tree->encoding_at = state->parser.token.at;
  return kymo_tdl_expect_string(&state->parser, &state->tree->encoding);
}

static bool parse_constant(struct state *state) {
  struct tdl_constant *constant = *state->constants =
      kymo_lang_new(state->parser.session, 1, sizeof *constant);
  if (!constant)
    return false;
  state->constants = &constant->next;
  return kymo_tdl_expect_name(&state->parser, "a name", &constant->name) &&
         kymo_tdl_expect(&state->parser, '=') && (constant->expr = kymo_tdl_parse_expression(&state->parser));
}

static bool parse_named_type(struct state *state) {
  struct tdl_named_type *type = *state->named_types = kymo_lang_new(state->parser.session, 1, sizeof *type);
  if (!type)
    return false;
  state->named_types = &type->next;
  return kymo_tdl_expect_name(&state->parser, "a name", &type->name) &&
         kymo_tdl_expect(&state->parser, '=') && (type->field = kymo_tdl_parse_field(&state->parser));
}

/* ---- clocks ---- */

/* One of EPOCH, RESOLUTION, RATE, PER, SLACK; false also if none follows. */
static bool parse_clock_option(struct tdl_parser *parser, struct tdl_clock *clock) {
  struct tdl_expr **expr = NULL;
  bool is_given = false;
  switch (parser->token.kind) {
  case TDL_KEYWORD_EPOCH: is_given = clock->epoch.data; break;
  case TDL_KEYWORD_PER: is_given = clock->per.word; break;
  case TDL_KEYWORD_RESOLUTION: expr = &clock->resolution; break;
  case TDL_KEYWORD_RATE: expr = &clock->rate; break;
  case TDL_KEYWORD_SLACK: expr = &clock->slack; break;
  default: return false;
  }
  if (is_given || (expr && *expr))
    return kymo_tdl_fail(parser->session, parser->token.at, "E33", "this property is given already");
  if (expr) {
    kymo_tdl_advance(parser);
    return (*expr = kymo_tdl_parse_sum(parser)) != NULL;
  }
  if (kymo_tdl_accept(parser, TDL_KEYWORD_PER))
    return kymo_tdl_expect_name(parser, "a field", &clock->per);
  kymo_tdl_advance(parser);
  uint32_t at = parser->token.at;
  return kymo_tdl_expect_string(parser, &clock->epoch) &&
         kymo_tdl_moment(parser->session, clock->epoch, at, &clock->epoch_ps);
}

static bool parse_clock(struct state *state) {
  struct tdl_parser *parser = &state->parser;
  struct tdl_clock *clock = *state->clocks = kymo_lang_new(parser->session, 1, sizeof *clock);
  if (!clock)
    return false;
  state->clocks = &clock->next;
  clock->index = state->tree->clock_count++;
  if (!kymo_tdl_expect_name(parser, "a name", &clock->name) || !kymo_tdl_expect(parser, TDL_KEYWORD_IS))
    return false;
  while (parse_clock_option(parser, clock))
    ;
  return !parser->session->common.failed;
}

/* ---- tokens and flags ---- */

/* A string with its place; then "=". */
static bool parse_label(struct tdl_parser *parser, struct tdl_bytes *text, uint32_t *at, uint32_t *length) {
  *at = parser->token.at;
  *length = parser->token.length;
  return kymo_tdl_expect_string(parser, text) && kymo_tdl_expect(parser, '=');
}

static bool parse_token_item(struct tdl_parser *parser, struct tdl_token_item *item) {
  return parse_label(parser, &item->text, &item->at, &item->length) &&
         (item->low = kymo_tdl_parse_sum(parser)) &&
         (!kymo_tdl_accept(parser, TDL_TOKEN_DOTS) || (item->high = kymo_tdl_parse_sum(parser)));
}

static bool parse_token_items(struct tdl_parser *parser, struct tdl_token_list *list) {
  struct tdl_token_item **end = &list->items;
  do {
    struct tdl_token_item *item = *end = kymo_lang_new(parser->session, 1, sizeof *item);
    if (!item || !parse_token_item(parser, item))
      return false;
    end = &item->next;
    list->count++;
  } while (kymo_tdl_accept(parser, ','));
  return kymo_tdl_expect(parser, ')');
}

static bool parse_tokens(struct state *state) {
  struct tdl_parser *parser = &state->parser;
  struct tdl_token_list *list = *state->tokens = kymo_lang_new(parser->session, 1, sizeof *list);
  if (!list)
    return false;
  state->tokens = &list->next;
  list->index = state->tree->token_count++;
  if (!kymo_tdl_expect_name(parser, "a name", &list->name) || !kymo_tdl_expect(parser, '=') ||
      !kymo_tdl_expect(parser, '(') || !parse_token_items(parser, list))
    return false;
  if (!kymo_tdl_accept(parser, TDL_KEYWORD_OR))
    return true;
  list->or_error = kymo_tdl_accept(parser, TDL_KEYWORD_ERROR);
  return list->or_error || kymo_tdl_accept(parser, TDL_KEYWORD_NUMBER) ||
         kymo_tdl_unexpected(parser, "NUMBER or ERROR");
}

static bool parse_flag(struct tdl_parser *parser, struct tdl_flag *flag) {
  uint64_t bit = 0;
  if (!parse_label(parser, &flag->text, &flag->at, &flag->length))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_BIT)) {
    bool is_good = kymo_tdl_expect_number(parser, 63, &bit);
    flag->mask = flag->value = UINT64_C(1) << bit;
    return is_good;
  }
  if (!kymo_tdl_accept(parser, TDL_KEYWORD_MASK))
    return kymo_tdl_unexpected(parser, "BIT or MASK");
  uint32_t at = parser->token.at;
  if (!kymo_tdl_expect_number(parser, UINT64_MAX, &flag->mask))
    return false;
  flag->value = flag->mask;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_VALUE)) {
    at = parser->token.at;
    if (!kymo_tdl_expect_number(parser, UINT64_MAX, &flag->value))
      return false;
  }
  return ((flag->value & ~flag->mask) == 0 && flag->mask != 0) ||
         kymo_tdl_fail(parser->session, at, "E13", "expected %s",
                       flag->mask ? "a value within the mask" : "a mask of at least one bit");
}

static bool parse_flags(struct state *state) {
  struct tdl_parser *parser = &state->parser;
  struct tdl_flag_list *list = *state->flags = kymo_lang_new(parser->session, 1, sizeof *list);
  if (!list)
    return false;
  state->flags = &list->next;
  list->index = state->tree->flag_count++;
  struct tdl_flag **end = &list->flags;
  if (!kymo_tdl_expect_name(parser, "a name", &list->name) || !kymo_tdl_expect(parser, '=') ||
      !kymo_tdl_expect(parser, '('))
    return false;
  do {
    struct tdl_flag *flag = *end = kymo_lang_new(parser->session, 1, sizeof *flag);
    if (!flag || !parse_flag(parser, flag))
      return false;
    end = &flag->next;
    list->count++;
  } while (kymo_tdl_accept(parser, ','));
  return kymo_tdl_expect(parser, ')');
}

/* string "=", or num "=": its digits */
static bool parse_type_label(struct tdl_parser *parser, struct tdl_types_item *item) {
  enum { DIGITS = 24 };
  if (parser->token.kind != TDL_TOKEN_NUMBER)
    return parse_label(parser, &item->key, &item->at, &item->length);
  uint64_t number = 0;
  char *digits = kymo_lang_new(parser->session, DIGITS, 1);
  item->at = parser->token.at;
  item->length = parser->token.length;
  if (!digits || !kymo_tdl_expect_number(parser, UINT64_MAX, &number) || !kymo_tdl_expect(parser, '='))
    return false;
  item->key =
      (struct tdl_bytes){(const uint8_t *)digits, (uint32_t)snprintf(digits, DIGITS, "%" PRIu64, number)};
  return true;
}

static bool parse_types(struct state *state) {
  struct tdl_parser *parser = &state->parser;
  struct tdl_types *list = *state->types = kymo_lang_new(parser->session, 1, sizeof *list);
  if (!list)
    return false;
  state->types = &list->next;
  list->index = state->tree->types_count++;
  struct tdl_types_item **end = &list->items;
  if (!kymo_tdl_expect_name(parser, "a name", &list->name) || !kymo_tdl_expect(parser, '=') ||
      !kymo_tdl_expect(parser, '('))
    return false;
  do {
    struct tdl_types_item *item = *end = kymo_lang_new(parser->session, 1, sizeof *item);
    if (!item || !parse_type_label(parser, item) || !(item->field = kymo_tdl_parse_field(parser)))
      return false;
    end = &item->next;
    list->count++;
  } while (kymo_tdl_accept(parser, ','));
  return kymo_tdl_expect(parser, ')');
}

/* ---- tables ---- */

static bool parse_table_contents(struct tdl_parser *parser, struct tdl_table *table) {
  static const struct {
    int keyword;
    enum tdl_holds holds;
  } contents[] = {
      {TDL_KEYWORD_RECORDS, TDL_HOLDS_RECORDS},
      {TDL_KEYWORD_NAMES, TDL_HOLDS_NAMES},
      {TDL_KEYWORD_NUMBERS, TDL_HOLDS_NUMBERS},
      {TDL_KEYWORD_BYTES, TDL_HOLDS_BYTES},
  };
  if (!kymo_tdl_expect(parser, TDL_KEYWORD_KEY))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_NAME))
    table->key = TDL_KEY_NAME;
  else if (!kymo_tdl_accept(parser, TDL_KEYWORD_NUMBER))
    return kymo_tdl_unexpected(parser, "NUMBER or NAME");
  if (!kymo_tdl_expect(parser, TDL_KEYWORD_HOLDS))
    return false;
  for (size_t i = 0; i < sizeof contents / sizeof contents[0]; i++)
    if (kymo_tdl_accept(parser, contents[i].keyword)) {
      table->holds = contents[i].holds;
      return true;
    }
  return kymo_tdl_unexpected(parser, "RECORDS, NAMES, NUMBERS or BYTES");
}

static bool parse_table_life(struct tdl_parser *parser, struct tdl_table *table) {
  if (kymo_tdl_accept(parser, TDL_KEYWORD_PER)) {
    if (kymo_tdl_accept(parser, TDL_KEYWORD_SEGMENT))
      table->per = TDL_PER_SEGMENT;
    else if (!kymo_tdl_accept(parser, TDL_KEYWORD_FILE)) {
      table->per = TDL_PER_NAME;
      kymo_tdl_expect_name(parser, "a field, FILE or SEGMENT", &table->per_name);
    }
  }
  if (!kymo_tdl_accept(parser, TDL_KEYWORD_KNOWN))
    return !parser->session->common.failed;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_ALWAYS)) {
    table->known = TDL_KNOWN_ALWAYS;
    return true;
  }
  table->known = TDL_KNOWN_BY_TIME;
  return kymo_tdl_expect(parser, TDL_KEYWORD_BY) && kymo_tdl_expect(parser, TDL_KEYWORD_TIME);
}

static bool parse_table(struct state *state) {
  struct tdl_parser *parser = &state->parser;
  struct tdl_table *table = *state->tables = kymo_lang_new(parser->session, 1, sizeof *table);
  if (!table)
    return false;
  state->tables = &table->next;
  table->index = state->tree->table_count++;
  table->per = TDL_PER_FILE;
  table->limit = TABLE_LIMIT;
  return kymo_tdl_expect_name(parser, "a name", &table->name) && parse_table_contents(parser, table) &&
         parse_table_life(parser, table) &&
         (!kymo_tdl_accept(parser, TDL_KEYWORD_LIMIT) ||
          kymo_tdl_expect_number(parser, UINT32_MAX, &table->limit));
}

/* ---- groups, prefixes, records ---- */

static bool parse_group(struct state *state) {
  struct tdl_parser *parser = &state->parser;
  uint32_t at = parser->token.at;
  struct tdl_group *group = *state->groups = kymo_lang_new(parser->session, 1, sizeof *group);
  if (!group || !kymo_tdl_expect_name(parser, "a name", &group->name))
    return false;
  state->groups = &group->next;
  if (kymo_tdl_accept(parser, '(')) {
    struct tdl_names **end = &group->parameters;
    do {
      struct tdl_names *parameter = *end = kymo_lang_new(parser->session, 1, sizeof *parameter);
      if (group->parameter_count == 255)
        return kymo_tdl_fail(parser->session, parser->token.at, "E61", "expected at most 255 parameters");
      if (!parameter || !kymo_tdl_expect_name(parser, "a parameter", &parameter->name))
        return false;
      end = &parameter->next;
      group->parameter_count++;
    } while (kymo_tdl_accept(parser, ','));
    if (!kymo_tdl_expect(parser, ')'))
      return false;
  }
  return kymo_tdl_expect(parser, TDL_KEYWORD_IS) && kymo_tdl_parse_items(parser, &group->items) &&
         kymo_tdl_expect_end(parser, "GROUP", at) && (group->end = parser->end);
}

static bool parse_prefix(struct state *state) {
  struct tdl_parser *parser = &state->parser;
  uint32_t at = parser->token.at;
  struct tdl_prefix *prefix = *state->prefixes = kymo_lang_new(parser->session, 1, sizeof *prefix);
  if (!prefix)
    return false;
  state->prefixes = &prefix->next;
  prefix->index = state->tree->prefix_count++;
  return kymo_tdl_expect_name(parser, "a name", &prefix->name) && kymo_tdl_expect(parser, TDL_KEYWORD_IS) &&
         kymo_tdl_parse_items(parser, &prefix->items) && kymo_tdl_expect_end(parser, "PREFIX", at);
}

static bool parse_class(struct tdl_parser *parser, struct tdl_record *record) {
  if (kymo_tdl_accept(parser, TDL_KEYWORD_EVENT))
    record->class_ = TDL_CLASS_EVENT;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_CONTROL))
    record->class_ = TDL_CLASS_CONTROL;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_DEFINITION))
    record->class_ = TDL_CLASS_DEFINITION;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_SEGMENT))
    record->class_ = TDL_CLASS_SEGMENT;
  else
    return kymo_tdl_unexpected(parser, "EVENT, CONTROL, DEFINITION or SEGMENT");
  return true;
}

/* name {OR name} [WITHIN sum BYTES] [AFTER …] [JOINED] */
static bool parse_holds(struct tdl_parser *parser, struct tdl_record *record) {
  if (!kymo_tdl_parse_kinds(parser, &record->holds))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_WITHIN) &&
      (!(record->holds_within = kymo_tdl_parse_sum(parser)) || !kymo_tdl_expect(parser, TDL_KEYWORD_BYTES)))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_AFTER) &&
      !kymo_tdl_parse_transform(parser, &record->holds_transform, &record->holds_key))
    return false;
  record->is_joined = kymo_tdl_accept(parser, TDL_KEYWORD_JOINED);
  return true;
}

/* The clauses between class and items, in this order. */
static bool parse_record_head(struct tdl_parser *parser, struct tdl_record *record) {
  if (kymo_tdl_accept(parser, TDL_KEYWORD_WITH) &&
      !kymo_tdl_expect_name(parser, "a prefix", &record->prefix_name))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_WHEN) && !(record->when = kymo_tdl_parse_expression(parser)))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_ALIGN) && !(record->align = kymo_tdl_parse_sum(parser)))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_LENGTH) && !(record->length = kymo_tdl_parse_sum(parser)))
    return false;
  return !kymo_tdl_accept(parser, TDL_KEYWORD_HOLDS) || parse_holds(parser, record);
}

/* FROM table [ key ] [IS {item ;} END], after FROM */
static bool parse_from(struct tdl_parser *parser, struct tdl_record *record, uint32_t at) {
  if (!kymo_tdl_expect_name(parser, "a table", &record->from_name) || !kymo_tdl_expect(parser, '[') ||
      !(record->from_key = kymo_tdl_parse_expression(parser)) || !kymo_tdl_expect(parser, ']'))
    return false;
  return !kymo_tdl_accept(parser, TDL_KEYWORD_IS) ||
         (kymo_tdl_parse_items(parser, &record->items) && kymo_tdl_expect_end(parser, "RECORD", at));
}

static bool parse_record(struct state *state) {
  struct tdl_parser *parser = &state->parser;
  uint32_t at = parser->token.at;
  struct tdl_record *record = *state->records = kymo_lang_new(parser->session, 1, sizeof *record);
  if (!record)
    return false;
  state->records = &record->next;
  record->index = state->tree->record_count++;
  if (!kymo_tdl_expect_name(parser, "a name", &record->name) || !parse_class(parser, record) ||
      !parse_record_head(parser, record))
    return false;
  if (!record->length && !record->holds && kymo_tdl_accept(parser, TDL_KEYWORD_FROM))
    return parse_from(parser, record, at);
  return kymo_tdl_expect(parser, TDL_KEYWORD_IS) && kymo_tdl_parse_items(parser, &record->items) &&
         kymo_tdl_expect_end(parser, "RECORD", at);
}

/* ---- all of it ---- */

static const struct {
  int keyword;
  bool (*parse)(struct state *state);
} declarations[] = {
    {TDL_KEYWORD_BYTES, parse_byte_order},  {TDL_KEYWORD_BITS, parse_bit_order},
    {TDL_KEYWORD_ENCODING, parse_encoding}, {TDL_KEYWORD_CONST, parse_constant},
    {TDL_KEYWORD_TYPE, parse_named_type},   {TDL_KEYWORD_CLOCK, parse_clock},
    {TDL_KEYWORD_TOKEN, parse_tokens},      {TDL_KEYWORD_FLAGS, parse_flags},
    {TDL_KEYWORD_TYPES, parse_types},       {TDL_KEYWORD_TABLE, parse_table},
    {TDL_KEYWORD_GROUP, parse_group},       {TDL_KEYWORD_PREFIX, parse_prefix},
    {TDL_KEYWORD_RECORD, parse_record},
};
#define DECLARATIONS (sizeof declarations / sizeof declarations[0])

/* A word that begins no declaration may be misspelt. */
static bool fail_declaration(struct tdl_parser *parser) {
  const struct tdl_token *token = &parser->token;
  struct kymo_nearest nearest = kymo_nearest_to(token->word ? token->word->text : "");
  for (size_t i = 0; i < DECLARATIONS; i++)
    kymo_nearest_consider(&nearest, kymo_tdl_keyword(declarations[i].keyword));
  kymo_nearest_consider(&nearest, "LAYOUT");
  if (token->kind != TDL_TOKEN_NAME || !nearest.best)
    return kymo_tdl_unexpected(parser, "a declaration or LAYOUT");
  return kymo_tdl_unexpected(parser, nearest.best);
}

static bool parse_declaration(struct state *state) {
  for (size_t i = 0; i < DECLARATIONS; i++)
    if (kymo_tdl_accept(&state->parser, declarations[i].keyword))
      return declarations[i].parse(state) && kymo_tdl_expect(&state->parser, ';');
  return fail_declaration(&state->parser);
}

static bool parse_head(struct state *state) {
  struct tdl_parser *parser = &state->parser;
  uint64_t version = 0;
  if (!kymo_tdl_expect(parser, TDL_KEYWORD_TRACE) ||
      !kymo_tdl_expect_name(parser, "a name", &state->tree->name) ||
      (kymo_tdl_accept(parser, TDL_KEYWORD_VERSION) && !kymo_tdl_expect_number(parser, UINT32_MAX, &version)))
    return false;
  state->tree->version = (uint32_t)version;
  return kymo_tdl_expect(parser, ';');
}

static bool parse_trace(struct state *state) {
  struct tdl_parser *parser = &state->parser;
  uint32_t at = parser->token.at;
  if (!parse_head(state))
    return false;
  while (!kymo_tdl_accept(parser, TDL_KEYWORD_LAYOUT))
    if (!parse_declaration(state))
      return false;
  state->tree->layout.at = parser->end;
  return kymo_tdl_parse_layout(parser, &state->tree->layout) && kymo_tdl_expect_end(parser, "TRACE", at) &&
         kymo_tdl_expect(parser, TDL_KEYWORD_TRACE) && kymo_tdl_expect(parser, '.') &&
         kymo_tdl_expect(parser, TDL_TOKEN_END);
}

static bool parse(struct tdl_tree *tree) {
  struct state state = {
      .tree = tree,
      .constants = &tree->constants,
      .named_types = &tree->named_types,
      .clocks = &tree->clocks,
      .tokens = &tree->tokens,
      .flags = &tree->flags,
      .types = &tree->types,
      .tables = &tree->tables,
      .groups = &tree->groups,
      .prefixes = &tree->prefixes,
      .records = &tree->records,
  };
  if (!kymo_tdl_begin(&tree->session, TDL_LANGUAGE_TDL))
    return false;
  state.parser = kymo_tdl_parser(&tree->session);
  bool is_good = parse_trace(&state);
  tree->has_order_file = tree->session.has_order_file;
  return is_good && !tree->session.common.failed;
}

struct tdl_tree *kymo_tdl_parse(const char *text, size_t length, const char *file, struct kymo_error *error) {
  struct tdl_tree *tree = calloc(1, sizeof *tree);
  if (!tree) {
    kymo_fail(error, KYMO_E_MEMORY, "out of memory while compiling %s", file);
    return NULL;
  }
  tree->session.common =
      (struct kymo_lang_session){.text = text, .length = length, .file = file, .what = file, .error = error};
  if (parse(tree))
    return tree;
  kymo_tdl_free(tree);
  return NULL;
}

void kymo_tdl_free(struct tdl_tree *tree) {
  if (!tree)
    return;
  kymo_lang_end(&tree->session);
  free(tree);
}
