/* SPDX-License-Identifier: MIT */
/* Types of fields and their attributes. */
#include "lang/tdl/syntax.h"
#include <string.h>

/* ---- types ---- */

static bool starts_sum(const struct tdl_parser *parser) {
  switch (parser->token.kind) {
  case TDL_TOKEN_NUMBER:
  case TDL_TOKEN_STRING:
  case TDL_TOKEN_HEX:
  case TDL_KEYWORD_VALUE:
  case TDL_KEYWORD_POSITION:
  case TDL_KEYWORD_REMAINING:
  case TDL_KEYWORD_FILE:
  case TDL_KEYWORD_SIZE:
  case TDL_KEYWORD_COUNT:
  case '-':
  case '~':
  case '(': return true;
  default: return kymo_tdl_is_name(parser);
  }
}

static struct tdl_type *parse_type(struct tdl_parser *parser);

static bool expect_byte(struct tdl_parser *parser, uint8_t *byte) {
  uint64_t number = 0;
  bool is_good = kymo_tdl_expect_number(parser, 255, &number);
  *byte = (uint8_t)number;
  return is_good;
}

/* [sum [PADDED num] | ENDED num | COUNTED type | TO END] */
static bool parse_size(struct tdl_parser *parser, struct tdl_type *type) {
  if (kymo_tdl_accept(parser, TDL_KEYWORD_TO)) {
    type->size_form = TDL_SIZE_TO_END;
    return kymo_tdl_expect(parser, TDL_KEYWORD_END);
  }
  if (type->kind != TDL_TYPE_BYTES && kymo_tdl_accept(parser, TDL_KEYWORD_ENDED)) {
    type->size_form = TDL_SIZE_ENDED;
    return expect_byte(parser, &type->end);
  }
  if (type->kind != TDL_TYPE_BYTES && kymo_tdl_accept(parser, TDL_KEYWORD_COUNTED)) {
    type->size_form = TDL_SIZE_COUNTED;
    return (type->element = parse_type(parser)) != NULL;
  }
  if (!starts_sum(parser))
    return true;
  type->size_form = TDL_SIZE_BYTES;
  type->size = kymo_tdl_parse_sum(parser);
  type->is_padded = type->size && type->kind != TDL_TYPE_BYTES && kymo_tdl_accept(parser, TDL_KEYWORD_PADDED);
  return type->size && (!type->is_padded || expect_byte(parser, &type->pad));
}

/* LEB|SLEB|ZIGZAG|MSB [MAX num] */
static bool parse_varint(struct tdl_parser *parser, struct tdl_type *type) {
  uint64_t most = 0;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_LEB))
    type->varint = TDL_LEB;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_SLEB))
    type->varint = TDL_SLEB;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_ZIGZAG))
    type->varint = TDL_ZIGZAG;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_MSB))
    type->varint = TDL_MSB;
  else
    return kymo_tdl_unexpected(parser, "LEB, SLEB, ZIGZAG or MSB");
  uint32_t at = parser->token.at;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_MAX)) {
    if (!kymo_tdl_expect_number(parser, 10, &most))
      return false;
    if (most == 0)
      return kymo_tdl_fail(parser->session, at, "E13", "expected at least one byte");
  }
  type->number = (uint32_t)most;
  return true;
}

/* [BASE num] of TEXT NUMBER */
static bool parse_base(struct tdl_parser *parser, struct tdl_type *type) {
  uint64_t base = 10;
  uint32_t at = parser->token.at;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_BASE)) {
    if (!kymo_tdl_expect_number(parser, 36, &base))
      return false;
    if (base < 2)
      return kymo_tdl_fail(parser->session, at, "E13", "expected a base from 2 to 36");
  }
  type->number = (uint32_t)base;
  return true;
}

static bool parse_fixed(struct tdl_parser *parser, struct tdl_type *type) {
  uint64_t fraction = 0;
  type->bits = kymo_tdl_parse_sum(parser);
  if (!kymo_tdl_expect(parser, TDL_KEYWORD_FRACTION) || !kymo_tdl_expect_number(parser, 64, &fraction))
    return false;
  type->number = (uint32_t)fraction;
  return true;
}

static bool parse_array(struct tdl_parser *parser, struct tdl_type *type) {
  type->count = kymo_tdl_parse_sum(parser);
  return kymo_tdl_expect(parser, TDL_KEYWORD_OF) && (type->element = parse_type(parser));
}

static bool parse_kind_of_type(struct tdl_parser *parser, struct tdl_type *type) {
  int keyword = parser->token.kind;
  switch (keyword) {
  case TDL_KEYWORD_UNSIGNED: type->kind = TDL_TYPE_UNSIGNED; break;
  case TDL_KEYWORD_INTEGER: type->kind = TDL_TYPE_INTEGER; break;
  case TDL_KEYWORD_FLOAT: type->kind = TDL_TYPE_FLOAT; break;
  case TDL_KEYWORD_BCD: type->kind = TDL_TYPE_BCD; break;
  case TDL_KEYWORD_FIXED: type->kind = TDL_TYPE_FIXED; break;
  case TDL_KEYWORD_VARINT: type->kind = TDL_TYPE_VARINT; break;
  case TDL_KEYWORD_BYTES: type->kind = TDL_TYPE_BYTES; break;
  case TDL_KEYWORD_STRING: type->kind = TDL_TYPE_STRING; break;
  case TDL_KEYWORD_TEXT: type->kind = TDL_TYPE_TEXT_NUMBER; break;
  case TDL_KEYWORD_ARRAY: type->kind = TDL_TYPE_ARRAY; break;
  default: type->kind = TDL_TYPE_NAME; return kymo_tdl_expect_name(parser, "a type", &type->name);
  }
  kymo_tdl_advance(parser);
  switch (type->kind) {
  case TDL_TYPE_FIXED: return parse_fixed(parser, type);
  case TDL_TYPE_VARINT: return parse_varint(parser, type);
  case TDL_TYPE_BYTES:
  case TDL_TYPE_STRING: return parse_size(parser, type);
  case TDL_TYPE_TEXT_NUMBER:
    return kymo_tdl_expect(parser, TDL_KEYWORD_NUMBER) && parse_size(parser, type) &&
           parse_base(parser, type);
  case TDL_TYPE_ARRAY: return parse_array(parser, type);
  default: return (type->bits = kymo_tdl_parse_sum(parser)) != NULL;
  }
}

static struct tdl_type *parse_type(struct tdl_parser *parser) {
  struct tdl_type *type = kymo_lang_new(parser->session, 1, sizeof *type);
  if (!type || !kymo_tdl_enter(parser))
    return NULL;
  *type = (struct tdl_type){.at = parser->token.at, .fixed_bits = -1};
  bool is_good = parse_kind_of_type(parser, type);
  kymo_tdl_leave(parser);
  type->length = parser->end - type->at;
  return is_good && !parser->session->common.failed ? type : NULL;
}

/* ---- attributes ---- */

/* ["-"] num, as a double */
static bool parse_signed(struct tdl_parser *parser, double *number) {
  bool is_negative = kymo_tdl_accept(parser, '-');
  struct tdl_value value = parser->token.value;
  if (!kymo_tdl_expect(parser, TDL_TOKEN_NUMBER))
    return false;
  *number = value.type == TDL_INTEGER ? (double)value.integer.low : value.fraction;
  if (is_negative)
    *number = -*number;
  return true;
}

static bool parse_scale(struct tdl_parser *parser, struct tdl_attributes *attributes) {
  attributes->has_scale = true;
  return parse_signed(parser, &attributes->scale) &&
         (!kymo_tdl_accept(parser, TDL_KEYWORD_OFFSET) || parse_signed(parser, &attributes->offset));
}

static bool parse_show(struct tdl_parser *parser, struct tdl_attributes *attributes) {
  if (kymo_tdl_accept(parser, TDL_KEYWORD_HEX))
    attributes->show = TDL_SHOW_HEX;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_ADDRESS))
    attributes->show = TDL_SHOW_ADDRESS;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_UUID))
    attributes->show = TDL_SHOW_UUID;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_CHAR))
    attributes->show = TDL_SHOW_CHAR;
  else
    return kymo_tdl_unexpected(parser, "HEX, ADDRESS, UUID or CHAR");
  return true;
}

static bool parse_time(struct tdl_parser *parser, struct tdl_attributes *attributes) {
  static const struct {
    int keyword;
    enum tdl_time_mode mode;
  } modes[] = {
      {TDL_KEYWORD_POINT, TDL_TIME_POINT}, {TDL_KEYWORD_DISTANCE, TDL_TIME_DISTANCE},
      {TDL_KEYWORD_ADD, TDL_TIME_ADD},     {TDL_KEYWORD_LOW, TDL_TIME_LOW},
      {TDL_KEYWORD_BASE, TDL_TIME_BASE},   {TDL_KEYWORD_UNTIL, TDL_TIME_UNTIL},
      {TDL_KEYWORD_SPAN, TDL_TIME_SPAN},
  };
  struct tdl_time *time = &attributes->time;
  uint64_t bits = 0;
  if (!kymo_tdl_expect_name(parser, "a clock", &time->name))
    return false;
  for (size_t i = 0; i < sizeof modes / sizeof modes[0] && time->mode == TDL_TIME_NONE; i++)
    if (kymo_tdl_accept(parser, modes[i].keyword))
      time->mode = modes[i].mode;
  if (time->mode == TDL_TIME_NONE)
    return kymo_tdl_unexpected(parser, "POINT, DISTANCE, ADD, LOW, BASE, UNTIL or SPAN");
  uint32_t at = parser->token.at;
  if (time->mode == TDL_TIME_LOW && !kymo_tdl_expect_number(parser, 64, &bits))
    return false;
  if (time->mode == TDL_TIME_LOW && bits == 0)
    return kymo_tdl_fail(parser->session, at, "E13", "expected at least one bit");
  time->low_bits = (uint32_t)bits;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_UNIT))
    return (time->unit = kymo_tdl_parse_sum(parser)) != NULL;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_RATE))
    return (time->rate = kymo_tdl_parse_sum(parser)) != NULL;
  return true;
}

static bool parse_length(struct tdl_parser *parser, struct tdl_attributes *attributes) {
  struct tdl_length *length = &attributes->length;
  uint64_t plus = 0;
  length->name.at = parser->end;
  if (!kymo_tdl_expect(parser, TDL_KEYWORD_OF))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_RECORD))
    length->kind = TDL_LENGTH_OF_RECORD;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_PREVIOUS))
    length->kind = TDL_LENGTH_OF_PREVIOUS;
  else if (kymo_tdl_expect_name(parser, "a field, RECORD or PREVIOUS", &length->name))
    length->kind = TDL_LENGTH_OF_FIELD;
  bool is_minus = parser->token.kind == TDL_KEYWORD_MINUS;
  if (is_minus || parser->token.kind == TDL_KEYWORD_PLUS) {
    kymo_tdl_advance(parser);
    if (!kymo_tdl_expect_number(parser, INT64_MAX, &plus))
      return false;
  }
  length->plus = is_minus ? -(int64_t)plus : (int64_t)plus;
  return !parser->session->common.failed;
}

static bool parse_checksum(struct tdl_parser *parser, struct tdl_attributes *attributes) {
  struct tdl_checksum *sum = &attributes->checksum;
  if (!kymo_tdl_expect_name(parser, "an algorithm", &sum->name))
    return false;
  sum->has_seed = kymo_tdl_accept(parser, TDL_KEYWORD_SEED);
  if ((sum->has_seed && !kymo_tdl_expect_number(parser, UINT64_MAX, &sum->seed)) ||
      !kymo_tdl_expect(parser, TDL_KEYWORD_OVER))
    return false;
  sum->is_record = kymo_tdl_accept(parser, TDL_KEYWORD_RECORD);
  return sum->is_record ||
         (kymo_tdl_expect_name(parser, "a field or RECORD", &sum->from) &&
          kymo_tdl_expect(parser, TDL_TOKEN_DOTS) && kymo_tdl_expect_name(parser, "a field", &sum->to));
}

static bool parse_per(struct tdl_parser *parser, struct tdl_attributes *attributes) {
  attributes->per_name.at = parser->token.at;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_FILE))
    attributes->per = TDL_PER_FILE;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_TRACE))
    attributes->per = TDL_PER_TRACE;
  else if (kymo_tdl_expect_name(parser, "a field, FILE or TRACE", &attributes->per_name))
    attributes->per = TDL_PER_NAME;
  return !parser->session->common.failed;
}

static bool parse_order(struct tdl_parser *parser, struct tdl_attributes *attributes) {
  return kymo_tdl_expect_order(parser, &attributes->order);
}
static bool parse_equals(struct tdl_parser *parser, struct tdl_attributes *attributes) {
  return (attributes->equals = kymo_tdl_parse_sum(parser)) != NULL;
}
static bool parse_in(struct tdl_parser *parser, struct tdl_attributes *attributes) {
  return (attributes->in = kymo_tdl_parse_set(parser)) != NULL;
}
static bool parse_at(struct tdl_parser *parser, struct tdl_attributes *attributes) {
  return (attributes->where = kymo_tdl_parse_sum(parser)) != NULL;
}
static bool parse_absent(struct tdl_parser *parser, struct tdl_attributes *attributes) {
  return kymo_tdl_expect(parser, TDL_KEYWORD_WHEN) && (attributes->absent = kymo_tdl_parse_sum(parser));
}
static bool parse_as(struct tdl_parser *parser, struct tdl_attributes *attributes) {
  return (attributes->as = kymo_tdl_parse_sum(parser)) != NULL;
}
static bool parse_token(struct tdl_parser *parser, struct tdl_attributes *attributes) {
  return kymo_tdl_expect_name(parser, "a TOKEN list or a table", &attributes->token_name);
}
static bool parse_flags(struct tdl_parser *parser, struct tdl_attributes *attributes) {
  return kymo_tdl_expect_name(parser, "a FLAGS list", &attributes->flags_name);
}
static bool parse_units(struct tdl_parser *parser, struct tdl_attributes *attributes) {
  return kymo_tdl_expect_string(parser, &attributes->units);
}

static const struct attribute {
  int keyword; /* stays the current token for parse_order */
  enum tdl_attribute bit;
  bool (*parse)(struct tdl_parser *parser, struct tdl_attributes *attributes);
} attribute_table[] = {
    {TDL_KEYWORD_LITTLE, TDL_GIVES_ORDER, parse_order},
    {TDL_KEYWORD_BIG, TDL_GIVES_ORDER, parse_order},
    {'=', TDL_GIVES_EQUALS, parse_equals},
    {TDL_KEYWORD_IN, TDL_GIVES_IN, parse_in},
    {TDL_KEYWORD_AT, TDL_GIVES_AT, parse_at},
    {TDL_KEYWORD_ABSENT, TDL_GIVES_ABSENT, parse_absent},
    {TDL_KEYWORD_AS, TDL_GIVES_AS, parse_as},
    {TDL_KEYWORD_TOKEN, TDL_GIVES_TOKEN, parse_token},
    {TDL_KEYWORD_FLAGS, TDL_GIVES_FLAGS, parse_flags},
    {TDL_KEYWORD_SCALE, TDL_GIVES_SCALE, parse_scale},
    {TDL_KEYWORD_UNITS, TDL_GIVES_UNITS, parse_units},
    {TDL_KEYWORD_SHOW, TDL_GIVES_SHOW, parse_show},
    {TDL_KEYWORD_TIME, TDL_GIVES_TIME, parse_time},
    {TDL_KEYWORD_PER, TDL_GIVES_PER, parse_per},
    {TDL_KEYWORD_LENGTH, TDL_GIVES_LENGTH, parse_length},
    {TDL_KEYWORD_CHECKSUM, TDL_GIVES_CHECKSUM, parse_checksum},
};

static const struct attribute *attribute_of(int kind) {
  for (size_t i = 0; i < sizeof attribute_table / sizeof attribute_table[0]; i++)
    if (attribute_table[i].keyword == kind)
      return &attribute_table[i];
  return NULL;
}

bool kymo_tdl_parse_attributes(struct tdl_parser *parser, uint32_t allowed,
                               struct tdl_attributes *attributes) {
  const struct attribute *attribute;
  attributes->at = parser->token.at;
  while ((attribute = attribute_of(parser->token.kind))) {
    if (!(attribute->bit & allowed))
      return kymo_tdl_unexpected(parser, "TOKEN, FLAGS, SCALE, UNITS, SHOW, TIME or PER");
    if (attributes->given & attribute->bit)
      return kymo_tdl_fail(parser->session, parser->token.at, "E33", "this attribute is given already");
    attributes->given |= attribute->bit;
    if (attribute->parse != parse_order)
      kymo_tdl_advance(parser);
    if (!attribute->parse(parser, attributes))
      return false;
  }
  return !parser->session->common.failed;
}

struct tdl_field *kymo_tdl_parse_field(struct tdl_parser *parser) {
  struct tdl_field *field = kymo_lang_new(parser->session, 1, sizeof *field);
  if (!field || !(field->type = parse_type(parser)) ||
      !kymo_tdl_parse_attributes(parser, UINT32_MAX, &field->attributes))
    return NULL;
  return field;
}
