/* SPDX-License-Identifier: MIT */
/* The items of records. Each parser below starts after the first word of its item. */
#include "base/glob.h"
#include "base/nearest.h"
#include "lang/tdl/syntax.h"
#include <string.h>

#define REPEAT_LIMIT 1048576

static struct tdl_item *new_item(struct tdl_parser *parser, enum tdl_item_kind kind, uint32_t at) {
  if (++parser->session->item_count > TDL_ITEMS_MAX) {
    kymo_tdl_fail(parser->session, at, "E61", "expected at most %d items", TDL_ITEMS_MAX);
    return NULL;
  }
  struct tdl_item *item = kymo_lang_new(parser->session, 1, sizeof *item);
  if (item)
    *item = (struct tdl_item){.kind = kind, .at = at, .offset_bits = -1};
  return item;
}

/* Items between words, one level deeper. */
static bool parse_nested(struct tdl_parser *parser, struct tdl_item **items) {
  if (!kymo_tdl_enter(parser))
    return false;
  bool is_good = kymo_tdl_parse_items(parser, items);
  kymo_tdl_leave(parser);
  return is_good;
}

/* ---- plain items ---- */

bool kymo_tdl_parse_transform(struct tdl_parser *parser, enum tdl_transform *transform,
                              struct tdl_expr **key) {
  if (kymo_tdl_accept(parser, TDL_KEYWORD_ZLIB))
    *transform = TDL_ZLIB;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_LZ4))
    *transform = TDL_LZ4;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_ZSTD))
    *transform = TDL_ZSTD;
  else if (!kymo_tdl_accept(parser, TDL_KEYWORD_XOR))
    return kymo_tdl_unexpected(parser, "ZLIB, LZ4, ZSTD or XOR");
  else {
    *transform = TDL_XOR;
    return (*key = kymo_tdl_parse_sum(parser)) != NULL;
  }
  return true;
}

static bool parse_use(struct tdl_parser *parser, struct tdl_item *item) {
  if (!kymo_tdl_expect_name(parser, "a group", &item->group_name))
    return false;
  if (kymo_tdl_accept(parser, '(')) {
    struct tdl_expr **end = &item->arguments;
    do {
      if (item->argument_count == 255)
        return kymo_tdl_fail(parser->session, parser->token.at, "E61", "expected at most 255 arguments");
      if (!(*end = kymo_tdl_parse_expression(parser)))
        return false;
      end = &(*end)->next;
      item->argument_count++;
    } while (kymo_tdl_accept(parser, ','));
    if (!kymo_tdl_expect(parser, ')'))
      return false;
  }
  if (kymo_tdl_accept(parser, TDL_KEYWORD_WITHIN) &&
      (!(item->within = kymo_tdl_parse_sum(parser)) || !kymo_tdl_expect(parser, TDL_KEYWORD_BYTES)))
    return false;
  uint32_t at = parser->token.at;
  if (!kymo_tdl_accept(parser, TDL_KEYWORD_AFTER))
    return true;
  return item->within ? kymo_tdl_parse_transform(parser, &item->transform, &item->key)
                      : kymo_tdl_fail(parser->session, at, "E21", "expected WITHIN … BYTES before AFTER");
}

static bool parse_filler(struct tdl_parser *parser, struct tdl_item *item) {
  bool has_unit = false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_TO))
    item->filler = TDL_FILLER_TO;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_ALIGN))
    item->filler = TDL_FILLER_ALIGN;
  else
    has_unit = true;
  if (!(item->expr = kymo_tdl_parse_sum(parser)))
    return false;
  if (has_unit && kymo_tdl_accept(parser, TDL_KEYWORD_BITS))
    item->filler = TDL_FILLER_BITS;
  else if (has_unit) {
    item->filler = TDL_FILLER_BYTES;
    if (!kymo_tdl_accept(parser, TDL_KEYWORD_BYTES))
      return kymo_tdl_unexpected(parser, "BYTES or BITS");
  }
  item->has_fill = kymo_tdl_accept(parser, '=');
  return !item->has_fill ||
         kymo_tdl_expect_number(parser, item->filler == TDL_FILLER_BITS ? UINT64_MAX : 255, &item->fill);
}

static bool parse_let(struct tdl_parser *parser, struct tdl_item *item) {
  item->field = kymo_lang_new(parser->session, 1, sizeof *item->field);
  return item->field && kymo_tdl_expect_name(parser, "a name", &item->name) && kymo_tdl_expect(parser, '=') &&
         (item->expr = kymo_tdl_parse_expression(parser)) &&
         kymo_tdl_parse_attributes(parser, TDL_VIEWS, &item->field->attributes);
}

static bool parse_check(struct tdl_parser *parser, struct tdl_item *item) {
  if (!(item->expr = kymo_tdl_parse_expression(parser)))
    return false;
  return parser->token.kind != TDL_TOKEN_STRING || kymo_tdl_expect_string(parser, &item->message);
}

static bool parse_sync(struct tdl_parser *parser, struct tdl_item *item) {
  return kymo_tdl_expect_name(parser, "a clock", &item->name) && kymo_tdl_expect(parser, '=') &&
         (item->expr = kymo_tdl_parse_sum(parser)) && kymo_tdl_expect(parser, TDL_KEYWORD_TO) &&
         kymo_tdl_expect_name(parser, "a clock", &item->to) && kymo_tdl_expect(parser, '=') &&
         (item->to_expr = kymo_tdl_parse_sum(parser));
}

/* ---- items that hold items ---- */

/* A branch that is appended to the item's. */
static struct tdl_branch *new_branch(struct tdl_parser *parser, struct tdl_branch ***end) {
  struct tdl_branch *branch = **end = kymo_lang_new(parser->session, 1, sizeof *branch);
  if (branch) {
    branch->at = parser->token.at;
    *end = &branch->next;
  }
  return branch;
}

static bool finish_branch(struct tdl_parser *parser, struct tdl_branch *branch) {
  branch->length = parser->end - branch->at;
  return parse_nested(parser, &branch->items);
}

static bool parse_else(struct tdl_parser *parser, struct tdl_branch **end) {
  struct tdl_branch *branch = parser->token.kind == TDL_KEYWORD_ELSE ? new_branch(parser, &end) : NULL;
  return !kymo_tdl_accept(parser, TDL_KEYWORD_ELSE) || (branch && finish_branch(parser, branch));
}

static bool parse_if(struct tdl_parser *parser, struct tdl_item *item) {
  struct tdl_branch **end = &item->branches;
  do {
    struct tdl_branch *branch = new_branch(parser, &end);
    if (!branch || !(branch->condition = kymo_tdl_parse_expression(parser)) ||
        !kymo_tdl_expect(parser, TDL_KEYWORD_THEN) || !finish_branch(parser, branch))
      return false;
  } while (kymo_tdl_accept(parser, TDL_KEYWORD_ELSIF));
  return parse_else(parser, end) && kymo_tdl_expect_end(parser, "IF", item->at);
}

static bool parse_case(struct tdl_parser *parser, struct tdl_item *item) {
  struct tdl_branch **end = &item->branches;
  if (!(item->expr = kymo_tdl_parse_sum(parser)))
    return false;
  while (kymo_tdl_accept(parser, TDL_KEYWORD_WHEN)) {
    struct tdl_branch *branch = new_branch(parser, &end);
    if (!branch || !(branch->set = kymo_tdl_parse_members(parser)) ||
        !kymo_tdl_expect(parser, TDL_KEYWORD_THEN) || !finish_branch(parser, branch))
      return false;
  }
  return parse_else(parser, end) && kymo_tdl_expect_end(parser, "CASE", item->at);
}

static bool parse_repeat(struct tdl_parser *parser, struct tdl_item *item) {
  item->limit = REPEAT_LIMIT;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_TIMES)) {
    item->repeat = TDL_REPEAT_TIMES;
    item->expr = kymo_tdl_parse_sum(parser);
  } else if (kymo_tdl_accept(parser, TDL_KEYWORD_TO)) {
    item->repeat = TDL_REPEAT_TO_END;
    kymo_tdl_expect(parser, TDL_KEYWORD_END);
  } else if (kymo_tdl_accept(parser, TDL_KEYWORD_UNTIL)) {
    item->repeat = TDL_REPEAT_UNTIL;
    item->expr = kymo_tdl_parse_expression(parser);
  } else {
    return kymo_tdl_unexpected(parser, "TIMES, TO END or UNTIL");
  }
  if (kymo_tdl_accept(parser, TDL_KEYWORD_LIMIT) && !kymo_tdl_expect_number(parser, UINT32_MAX, &item->limit))
    return false;
  return kymo_tdl_expect(parser, TDL_KEYWORD_IS) && parse_nested(parser, &item->items) &&
         kymo_tdl_expect_end(parser, "REPEAT", item->at);
}

/* ---- byte order ---- */

static bool parse_order_else(struct tdl_parser *parser, struct tdl_item *item) {
  if (kymo_tdl_accept(parser, TDL_KEYWORD_FAIL))
    return kymo_tdl_expect_string(parser, &item->message);
  if (parser->token.kind != TDL_KEYWORD_LITTLE && parser->token.kind != TDL_KEYWORD_BIG)
    return kymo_tdl_unexpected(parser, "LITTLE, BIG or FAIL");
  return kymo_tdl_expect_order(parser, &item->otherwise);
}

static bool parse_order(struct tdl_parser *parser, struct tdl_item *item) {
  struct tdl_order_choice **end = &item->choices;
  item->is_file = kymo_tdl_accept(parser, TDL_KEYWORD_FILE);
  parser->session->has_order_file |= item->is_file;
  do {
    if (item->choices && kymo_tdl_accept(parser, TDL_KEYWORD_ELSE))
      return parse_order_else(parser, item);
    struct tdl_order_choice *choice = *end = kymo_lang_new(parser->session, 1, sizeof *choice);
    if (!choice || !kymo_tdl_expect_order(parser, &choice->order) ||
        !kymo_tdl_expect(parser, TDL_KEYWORD_IF) || !(choice->condition = kymo_tdl_parse_expression(parser)))
      return false;
    end = &choice->next;
  } while (kymo_tdl_accept(parser, ','));
  return kymo_tdl_unexpected(parser, "\",\" and ELSE");
}

/* ---- tables ---- */

/* string, or LIKE string */
static bool parse_label(struct tdl_parser *parser, struct tdl_override *override) {
  struct kymo_glob glob;
  size_t at;
  override->is_pattern = kymo_tdl_accept(parser, TDL_KEYWORD_LIKE);
  uint32_t place = parser->token.at;
  if (!kymo_tdl_expect_string(parser, &override->label))
    return false;
  if (!override->is_pattern)
    return true;
  const char *wrong = kymo_glob_make(&glob, (const char *) override->label.data, override->label.length, &at);
  kymo_glob_free(&glob);
  return !wrong || kymo_tdl_fail(parser->session, place, "E12", "in this pattern: %s", wrong);
}

static bool parse_overrides(struct tdl_parser *parser, struct tdl_item *item) {
  struct tdl_override **end = &item->overrides;
  while (kymo_tdl_accept(parser, TDL_KEYWORD_FIELD)) {
    struct tdl_override *override = *end = kymo_lang_new(parser->session, 1, sizeof *override);
    if (!override)
      return false;
    override->at = parser->token.at;
    override->length = parser->token.length;
    if (!parse_label(parser, override) || !kymo_tdl_expect(parser, TDL_KEYWORD_IS))
      return false;
    override->is_filler = kymo_tdl_accept(parser, TDL_KEYWORD_FILLER);
    if (!override->is_filler && !kymo_tdl_parse_attributes(parser, UINT32_MAX, &override->attributes))
      return false;
    if (!override->is_filler && !override->attributes.given)
      return kymo_tdl_unexpected(parser, "FILLER or an attribute");
    end = &override->next;
  }
  return true;
}

static struct tdl_expr *parse_path_expression(struct tdl_parser *parser) {
  struct tdl_expr *expr = kymo_lang_new(parser->session, 1, sizeof *expr);
  if (!expr)
    return NULL;
  *expr = (struct tdl_expr){.operation = TDL_PATH, .at = parser->token.at, .height = 1};
  if (!kymo_tdl_parse_path(parser, &expr->path))
    return NULL;
  expr->length = parser->end - expr->at;
  return expr;
}

/* [OR table]: the definitions that are types, too */
static bool parse_nested_types(struct tdl_parser *parser, struct tdl_item *item) {
  return !kymo_tdl_accept(parser, TDL_KEYWORD_OR) ||
         kymo_tdl_expect_name(parser, "a table", &item->nested_name);
}

/* BY LETTERS name OF sum NAMES sum SPLIT string, after BY LETTERS name */
static bool parse_letters(struct tdl_parser *parser, struct tdl_item *item) {
  return kymo_tdl_expect(parser, TDL_KEYWORD_OF) && (item->of = kymo_tdl_parse_sum(parser)) &&
         kymo_tdl_expect(parser, TDL_KEYWORD_NAMES) && (item->labels = kymo_tdl_parse_sum(parser)) &&
         kymo_tdl_expect(parser, TDL_KEYWORD_SPLIT) && kymo_tdl_expect_string(parser, &item->split);
}

static bool parse_text(struct tdl_parser *parser, struct tdl_item *item) {
  return parse_nested_types(parser, item) && kymo_tdl_expect(parser, TDL_KEYWORD_OF) &&
         (item->of = kymo_tdl_parse_sum(parser)) && kymo_tdl_expect(parser, TDL_KEYWORD_SPLIT) &&
         kymo_tdl_expect_string(parser, &item->split);
}

/* SCALE (num | path), after SCALE */
static bool parse_list_scale(struct tdl_parser *parser, struct tdl_item *item) {
  struct tdl_value value = parser->token.value;
  if (!kymo_tdl_accept(parser, TDL_TOKEN_NUMBER))
    return (item->list_scale = parse_path_expression(parser)) != NULL;
  item->list_factor = value.type == TDL_INTEGER ? (double)value.integer.low : value.fraction;
  return true;
}

/* [ABSENT WHEN path] [SCALE (num | path)] [OVER path] [OFFSET ["-"] path] [UNITS path] */
static bool parse_list_attributes(struct tdl_parser *parser, struct tdl_item *item) {
  if (kymo_tdl_accept(parser, TDL_KEYWORD_ABSENT) &&
      (!kymo_tdl_expect(parser, TDL_KEYWORD_WHEN) || !(item->list_absent = parse_path_expression(parser))))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_SCALE) && !parse_list_scale(parser, item))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_OVER) && !(item->list_over = parse_path_expression(parser)))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_OFFSET)) {
    item->is_offset_negative = kymo_tdl_accept(parser, '-');
    if (!(item->list_offset = parse_path_expression(parser)))
      return false;
  }
  return !kymo_tdl_accept(parser, TDL_KEYWORD_UNITS) || (item->list_units = parse_path_expression(parser));
}

static bool parse_list(struct tdl_parser *parser, struct tdl_item *item) {
  return parse_nested_types(parser, item) && kymo_tdl_expect(parser, TDL_KEYWORD_NAME) &&
         (item->list_name = parse_path_expression(parser)) && kymo_tdl_expect(parser, TDL_KEYWORD_TYPE) &&
         (item->list_type = parse_path_expression(parser)) &&
         (!kymo_tdl_accept(parser, TDL_KEYWORD_SIZE) || (item->list_size = parse_path_expression(parser))) &&
         parse_list_attributes(parser, item);
}

/* [THEN BY LIST name …]: more fields */
static bool parse_then(struct tdl_parser *parser, struct tdl_item *item) {
  for (struct tdl_item **end = &item->then; kymo_tdl_accept(parser, TDL_KEYWORD_THEN); end = &(*end)->then) {
    struct tdl_item *then = *end = kymo_lang_new(parser->session, 1, sizeof *then);
    if (!then)
      return false;
    *then = (struct tdl_item){
        .kind = TDL_ITEM_DEFINE_RECORD, .source = TDL_BY_LIST, .at = parser->token.at, .length = 1};
    if (!kymo_tdl_expect(parser, TDL_KEYWORD_BY) || !kymo_tdl_expect(parser, TDL_KEYWORD_LIST) ||
        !kymo_tdl_expect_name(parser, "a TYPES list", &then->types_name) || !parse_list(parser, then) ||
        !parse_overrides(parser, then))
      return false;
  }
  return true;
}

/* AS RECORD …, after AS */
static bool parse_record_definition(struct tdl_parser *parser, struct tdl_item *item) {
  static const struct {
    int keyword;
    enum tdl_source source;
    bool (*parse)(struct tdl_parser *parser, struct tdl_item *item);
  } sources[] = {
      {TDL_KEYWORD_LETTERS, TDL_BY_LETTERS, parse_letters},
      {TDL_KEYWORD_TEXT, TDL_BY_TEXT, parse_text},
      {TDL_KEYWORD_LIST, TDL_BY_LIST, parse_list},
  };
  item->kind = TDL_ITEM_DEFINE_RECORD;
  if (!kymo_tdl_expect(parser, TDL_KEYWORD_RECORD) || !(item->record_name = kymo_tdl_parse_sum(parser)) ||
      (kymo_tdl_accept(parser, TDL_KEYWORD_LENGTH) && !(item->record_length = kymo_tdl_parse_sum(parser))))
    return false;
  item->has_same_order = kymo_tdl_accept(parser, TDL_KEYWORD_SAME);
  if ((item->has_same_order && !kymo_tdl_expect(parser, TDL_KEYWORD_ORDER)) ||
      !kymo_tdl_expect(parser, TDL_KEYWORD_FIELDS) || !kymo_tdl_expect(parser, TDL_KEYWORD_BY))
    return false;
  for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
    if (kymo_tdl_accept(parser, sources[i].keyword)) {
      item->source = sources[i].source;
      return kymo_tdl_expect_name(parser, "a TYPES list", &item->types_name) &&
             sources[i].parse(parser, item) && parse_overrides(parser, item) && parse_then(parser, item);
    }
  return kymo_tdl_unexpected(parser, "LETTERS, TEXT or LIST");
}

static bool parse_key(struct tdl_parser *parser, struct tdl_item *item) {
  return kymo_tdl_expect_name(parser, "a table", &item->table_name) && kymo_tdl_expect(parser, '[') &&
         (item->key = kymo_tdl_parse_expression(parser)) && kymo_tdl_expect(parser, ']');
}

static bool parse_define(struct tdl_parser *parser, struct tdl_item *item) {
  if (!parse_key(parser, item))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_AS))
    return parse_record_definition(parser, item);
  return kymo_tdl_expect(parser, '=') && (item->expr = kymo_tdl_parse_expression(parser));
}

/* ---- all of them ---- */

static const struct item_syntax {
  int keyword;
  enum tdl_item_kind kind;
  bool (*parse)(struct tdl_parser *parser, struct tdl_item *item);
} syntaxes[] = {
    {TDL_KEYWORD_USE, TDL_ITEM_USE, parse_use},
    {TDL_KEYWORD_FILLER, TDL_ITEM_FILLER, parse_filler},
    {TDL_KEYWORD_LET, TDL_ITEM_LET, parse_let},
    {TDL_KEYWORD_CHECK, TDL_ITEM_CHECK, parse_check},
    {TDL_KEYWORD_IF, TDL_ITEM_IF, parse_if},
    {TDL_KEYWORD_CASE, TDL_ITEM_CASE, parse_case},
    {TDL_KEYWORD_REPEAT, TDL_ITEM_REPEAT, parse_repeat},
    {TDL_KEYWORD_ORDER, TDL_ITEM_ORDER, parse_order},
    {TDL_KEYWORD_SYNC, TDL_ITEM_SYNC, parse_sync},
    {TDL_KEYWORD_DEFINE, TDL_ITEM_DEFINE, parse_define},
    {TDL_KEYWORD_FORGET, TDL_ITEM_FORGET, parse_key},
};
#define SYNTAXES (sizeof syntaxes / sizeof syntaxes[0])

static const struct item_syntax *syntax_of(int keyword) {
  for (size_t i = 0; i < SYNTAXES; i++)
    if (syntaxes[i].keyword == keyword)
      return &syntaxes[i];
  return NULL;
}

/* A name where neither ":" nor "," follows is perhaps a misspelt word. */
static bool fail_name(struct tdl_parser *parser, const struct tdl_name *name) {
  struct kymo_nearest nearest = kymo_nearest_to(name->word->text);
  for (size_t i = 0; i < SYNTAXES; i++)
    kymo_nearest_consider(&nearest, kymo_tdl_keyword(syntaxes[i].keyword));
  kymo_nearest_consider(&nearest, "END");
  if (!nearest.best)
    return kymo_tdl_expect(parser, ':');
  return kymo_tdl_fail(parser->session, name->at, "E21", "expected an item, found %s%s", name->word->text,
                       kymo_nearest_hint(&nearest).text);
}

/* Names and the colon; an item a name, or one without. */
static bool parse_names(struct tdl_parser *parser, struct tdl_item ***end) {
  struct tdl_item *item = **end = new_item(parser, TDL_ITEM_FIELD, parser->token.at);
  if (!item || kymo_tdl_accept(parser, ':'))
    return item != NULL;
  if (!kymo_tdl_is_name(parser))
    return kymo_tdl_unexpected(parser, "a name");
  kymo_tdl_expect_name(parser, "a name", &item->name);
  if (parser->token.kind != ':' && parser->token.kind != ',')
    return fail_name(parser, &item->name);
  while (kymo_tdl_accept(parser, ',')) {
    *end = &item->next;
    item = **end = new_item(parser, TDL_ITEM_FIELD, parser->token.at);
    if (!item || !kymo_tdl_expect_name(parser, "a name", &item->name))
      return false;
  }
  return kymo_tdl_expect(parser, ':');
}

/* Fields, or a named USE or REPEAT. */
static bool parse_fields(struct tdl_parser *parser, struct tdl_item **items, struct tdl_item ***end) {
  if (!parse_names(parser, end))
    return false;
  struct tdl_item *last = **end;
  if (items == *end && last->name.word && kymo_tdl_accept(parser, TDL_KEYWORD_USE)) {
    last->kind = TDL_ITEM_USE;
    return parse_use(parser, last);
  }
  if (items == *end && last->name.word && kymo_tdl_accept(parser, TDL_KEYWORD_REPEAT)) {
    last->kind = TDL_ITEM_REPEAT;
    return parse_repeat(parser, last);
  }
  struct tdl_field *field = kymo_tdl_parse_field(parser);
  for (struct tdl_item *item = *items; item; item = item->next) {
    item->field = field;
    item->length = parser->end - item->at;
  }
  return field != NULL;
}

/* One item; `end` is where it goes, and moves on to the last one of it. */
static bool parse_item(struct tdl_parser *parser, struct tdl_item ***end) {
  uint32_t at = parser->token.at;
  const struct item_syntax *syntax = syntax_of(parser->token.kind);
  bool is_good;
  if (!syntax) {
    is_good = parse_fields(parser, *end, end);
  } else {
    kymo_tdl_advance(parser);
    struct tdl_item *item = **end = new_item(parser, syntax->kind, at);
    is_good = item && syntax->parse(parser, item);
  }
  if (!is_good)
    return false;
  (**end)->length = parser->end - (**end)->at;
  *end = &(**end)->next;
  return kymo_tdl_expect(parser, ';');
}

bool kymo_tdl_parse_items(struct tdl_parser *parser, struct tdl_item **items) {
  struct tdl_item **end = items;
  while (parser->token.kind == ':' || kymo_tdl_is_name(parser) || syntax_of(parser->token.kind))
    if (!parse_item(parser, &end))
      return false;
  return !parser->session->common.failed;
}
