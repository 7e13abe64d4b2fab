/* SPDX-License-Identifier: MIT */
/*
 * Types of fields and their attributes. A named type is expanded: its type is copied, and its attributes are
 * used where the field does not have them itself. The declaration of a named type was checked already, so
 * only the field's own attributes are checked here.
 */
#include "base/nearest.h"
#include "lang/tdl/address.h"
#include "lang/tdl/check.h"
#include <inttypes.h>
#include <string.h>

/* ---- sizes ---- */

/* A number that is from `low` to `high`, if it is constant. */
static bool check_number(struct tdl_checker *checker, struct tdl_expr *expr, uint64_t low, uint64_t high,
                         const char *what) {
  struct kymo_wide value;
  if (!kymo_tdl_check_expr(checker, expr, TDL_INTEGER))
    return false;
  bool is_good =
      !kymo_tdl_is_constant(expr, &value) || (value.high == 0 && value.low >= low && value.low <= high);
  return is_good || kymo_tdl_fail(checker->session, expr->at, "E41",
                                  "expected %s from %" PRIu64 " to %" PRIu64, what, low, high);
}

static bool check_float(struct tdl_checker *checker, const struct tdl_expr *bits) {
  struct kymo_wide width;
  if (!kymo_tdl_is_constant(bits, &width))
    return true;
  return (width.high == 0 &&
          (width.low == 16 || width.low == 32 || width.low == 64 || width.low == 80 || width.low == 128)) ||
         kymo_tdl_fail(checker->session, bits->at, "E41", "expected a width of 16, 32, 64, 80 or 128 bits");
}

static bool check_bits(struct tdl_checker *checker, struct tdl_type *type) {
  struct kymo_wide width;
  if (type->kind == TDL_TYPE_FLOAT)
    return kymo_tdl_check_expr(checker, type->bits, TDL_INTEGER) && check_float(checker, type->bits);
  if (!check_number(checker, type->bits, 1, 64, "a width in bits"))
    return false;
  bool is_constant = kymo_tdl_is_constant(type->bits, &width);
  if (type->kind == TDL_TYPE_BCD && is_constant && width.low % 4 != 0)
    return kymo_tdl_fail(checker->session, type->bits->at, "E41",
                         "expected a width of whole digits of 4 bits");
  if (type->kind == TDL_TYPE_FIXED && is_constant && type->number > width.low)
    return kymo_tdl_fail(checker->session, type->bits->at, "E41",
                         "expected a width of at least the fraction's %u bits", type->number);
  return true;
}

int64_t kymo_tdl_width(const struct tdl_type *type) {
  struct kymo_wide width;
  return kymo_tdl_is_constant(type->bits, &width) && kymo_wide_fits(width) ? (int64_t)width.low : -1;
}

/* Sets fixed_bits and value_type. */
static void measure(struct tdl_type *type) {
  struct kymo_wide number;
  type->fixed_bits = -1;
  type->value_type = TDL_INTEGER;
  switch (type->kind) {
  case TDL_TYPE_FLOAT:
  case TDL_TYPE_FIXED: type->value_type = TDL_FRACTION; /* fall through */
  case TDL_TYPE_UNSIGNED:
  case TDL_TYPE_INTEGER:
  case TDL_TYPE_BCD: type->fixed_bits = kymo_tdl_width(type); return;
  case TDL_TYPE_ARRAY:
    type->value_type = type->element->value_type;
    if (type->element->fixed_bits >= 0 && kymo_tdl_is_constant(type->count, &number))
      type->fixed_bits = number.low <= UINT32_MAX && type->element->fixed_bits <= INT32_MAX
                             ? (int64_t)number.low * type->element->fixed_bits
                             : -1;
    return;
  case TDL_TYPE_BYTES:
  case TDL_TYPE_STRING: type->value_type = TDL_BYTES; /* fall through */
  case TDL_TYPE_TEXT_NUMBER:
    if (type->size_form == TDL_SIZE_BYTES && kymo_tdl_is_constant(type->size, &number) &&
        number.low <= UINT32_MAX)
      type->fixed_bits = (int64_t)number.low * 8;
    return;
  default: return;
  }
}

/* ---- named types ---- */

/* Attributes that the field does not have itself. */
static void inherit(struct tdl_attributes *own, const struct tdl_attributes *from) {
  uint32_t missing = from->given & ~own->given;
  struct tdl_attributes merged = *own;
#define TAKE(bit, member) \
  if (missing & (bit))    \
  merged.member = from->member
  TAKE(TDL_GIVES_ORDER, order);
  TAKE(TDL_GIVES_EQUALS, equals);
  TAKE(TDL_GIVES_IN, in);
  TAKE(TDL_GIVES_AT, where);
  TAKE(TDL_GIVES_ABSENT, absent);
  TAKE(TDL_GIVES_AS, as);
  TAKE(TDL_GIVES_UNITS, units);
  TAKE(TDL_GIVES_SHOW, show);
  TAKE(TDL_GIVES_TIME, time);
  TAKE(TDL_GIVES_LENGTH, length);
  TAKE(TDL_GIVES_CHECKSUM, checksum);
  TAKE(TDL_GIVES_TOKEN, token);
  TAKE(TDL_GIVES_TOKEN, token_table);
  TAKE(TDL_GIVES_TOKEN, token_name);
  TAKE(TDL_GIVES_FLAGS, flags);
  TAKE(TDL_GIVES_FLAGS, flags_name);
  TAKE(TDL_GIVES_SCALE, has_scale);
  TAKE(TDL_GIVES_SCALE, scale);
  TAKE(TDL_GIVES_SCALE, offset);
  TAKE(TDL_GIVES_PER, per);
  TAKE(TDL_GIVES_PER, per_name);
#undef TAKE
  merged.given |= missing;
  *own = merged;
}

/* Types whose attributes reach the field: of the type itself and of the elements of arrays. */
struct inherited {
  const struct tdl_attributes *attributes[TDL_DEPTH_MAX];
  uint32_t count;
};

static bool resolve(struct tdl_checker *checker, struct tdl_type *type, struct inherited *inherited);

static bool resolve_name(struct tdl_checker *checker, struct tdl_type *type, struct inherited *inherited) {
  struct tdl_named_type *named = kymo_tdl_find(checker, TDL_SPACE_TYPE, type->name, "type");
  if (!named)
    return false;
  named->is_used = true;
  if (inherited->count < TDL_DEPTH_MAX)
    inherited->attributes[inherited->count++] = &named->field->attributes;
  if (!named->is_known)
    return kymo_tdl_fail(checker->session, type->name.at, "E34",
                         "the type \"%s\" is used before it is declared", type->name.word->text);
  uint32_t at = type->at, length = type->length;
  *type = *named->field->type;
  type->at = at;
  type->length = length;
  for (; type->element; type = type->element) {
    struct tdl_type *element = kymo_lang_new(checker->session, 1, sizeof *element);
    if (!element)
      return false;
    *element = *type->element;
    type->element = element;
  }
  return true;
}

/* The number before COUNTED: an integer, of whose attributes only the byte order counts. */
static bool resolve_counter(struct tdl_checker *checker, struct tdl_type *counter) {
  struct inherited inherited = {.count = 0};
  if (!resolve(checker, counter, &inherited))
    return false;
  if (counter->value_type != TDL_INTEGER || counter->kind == TDL_TYPE_ARRAY ||
      counter->kind == TDL_TYPE_TEXT_NUMBER)
    return kymo_tdl_fail(checker->session, counter->at, "E41",
                         "expected a type of binary numbers to count bytes");
  for (uint32_t i = 0; i < inherited.count; i++) {
    if (inherited.attributes[i]->given & ~(uint32_t)TDL_GIVES_ORDER)
      return kymo_tdl_fail(checker->session, counter->at, "E41",
                           "expected a type with no attribute but its byte order to count bytes");
    if (counter->order == TDL_ORDER_NONE)
      counter->order = inherited.attributes[i]->order;
  }
  return true;
}

static bool resolve(struct tdl_checker *checker, struct tdl_type *type, struct inherited *inherited) {
  switch (type->kind) {
  case TDL_TYPE_NAME: return resolve_name(checker, type, inherited);
  case TDL_TYPE_ARRAY:
    if (!check_number(checker, type->count, 0, UINT32_MAX, "a count") ||
        !resolve(checker, type->element, inherited))
      return false;
    break;
  case TDL_TYPE_BYTES:
  case TDL_TYPE_STRING:
  case TDL_TYPE_TEXT_NUMBER:
    if (!check_number(checker, type->size, 0, UINT32_MAX, "a size in bytes") ||
        (type->size_form == TDL_SIZE_COUNTED && !resolve_counter(checker, type->element)))
      return false;
    break;
  case TDL_TYPE_VARINT: break;
  default:
    if (!check_bits(checker, type))
      return false;
  }
  measure(type);
  return true;
}

/* ---- attributes ---- */

static bool fail_attribute(struct tdl_checker *checker, const struct tdl_attributes *attributes,
                           const char *attribute, const char *want) {
  return kymo_tdl_fail(checker->session, attributes->at, "E41", "%s needs %s", attribute, want);
}

/* A whole number, or possibly one: a parameter of an unused group. */
static bool is_number(enum tdl_value_type type) { return type == TDL_INTEGER || type == TDL_UNTYPED; }

static bool check_token(struct tdl_checker *checker, struct tdl_attributes *attributes,
                        enum tdl_value_type type) {
  if (!(attributes->given & TDL_GIVES_TOKEN))
    return true;
  struct tdl_name name = attributes->token_name;
  struct tdl_binding *table = kymo_tdl_look(checker, TDL_SPACE_TABLE, name.word);
  if (!table || kymo_tdl_look(checker, TDL_SPACE_TOKEN, name.word)) {
    attributes->token = kymo_tdl_find(checker, TDL_SPACE_TOKEN, name, "token list");
    if (!attributes->token)
      return false;
    attributes->token->is_used = true;
    return is_number(type) || fail_attribute(checker, attributes, "TOKEN", "a number");
  }
  attributes->token_table = kymo_tdl_find(checker, TDL_SPACE_TABLE, name, "table");
  if (!attributes->token_table)
    return false;
  attributes->token_table->is_used = true;
  if (attributes->token_table->holds != TDL_HOLDS_NAMES)
    return kymo_tdl_fail(checker->session, name.at, "E41", "expected a table that HOLDS NAMES");
  bool fits = attributes->token_table->key == TDL_KEY_NUMBER ? is_number(type)
                                                             : type == TDL_BYTES || type == TDL_UNTYPED;
  return fits ||
         kymo_tdl_fail(checker->session, name.at, "E41",
                       "expected a table whose keys are like this field, %s", kymo_tdl_type_name(type));
}

static bool check_flags(struct tdl_checker *checker, struct tdl_attributes *attributes,
                        enum tdl_value_type type) {
  if (!(attributes->given & TDL_GIVES_FLAGS))
    return true;
  attributes->flags = kymo_tdl_find(checker, TDL_SPACE_FLAGS, attributes->flags_name, "flags list");
  if (!attributes->flags)
    return false;
  attributes->flags->is_used = true;
  return is_number(type) || fail_attribute(checker, attributes, "FLAGS", "a number");
}

static bool check_unit(struct tdl_checker *checker, struct tdl_time *time) {
  if (!kymo_tdl_check_unit(checker, time->unit, TDL_UNTYPED) ||
      !kymo_tdl_check_expr(checker, time->rate, TDL_INTEGER))
    return false;
  return !time->unit || time->unit->type != TDL_BYTES ||
         kymo_tdl_fail(checker->session, time->unit->at, "E41",
                       "expected a duration or a count of ticks, found %s",
                       kymo_tdl_type_name(time->unit->type));
}

static bool check_time(struct tdl_checker *checker, struct tdl_attributes *attributes,
                       enum tdl_value_type type) {
  struct tdl_time *time = &attributes->time;
  if (!(attributes->given & TDL_GIVES_TIME))
    return true;
  time->clock = kymo_tdl_find(checker, TDL_SPACE_CLOCK, time->name, "clock");
  if (!time->clock)
    return false;
  time->clock->is_used = true;
  return check_unit(checker, time) &&
         (is_number(type) || type == TDL_FRACTION || fail_attribute(checker, attributes, "TIME", "a number"));
}

static bool check_show(struct tdl_checker *checker, struct tdl_attributes *attributes,
                       enum tdl_value_type type) {
  if (attributes->show == TDL_SHOW_UUID && type != TDL_BYTES && type != TDL_UNTYPED)
    return fail_attribute(checker, attributes, "SHOW UUID", "bytes");
  if (attributes->show == TDL_SHOW_CHAR && !is_number(type))
    return fail_attribute(checker, attributes, "SHOW CHAR", "a number");
  return attributes->show != TDL_SHOW_ADDRESS || type != TDL_FRACTION ||
         fail_attribute(checker, attributes, "SHOW ADDRESS", "a number or bytes");
}

bool kymo_tdl_check_view(struct tdl_checker *checker, struct tdl_attributes *attributes,
                         enum tdl_value_type type) {
  uint32_t kinds = attributes->given & (TDL_GIVES_TOKEN | TDL_GIVES_FLAGS | TDL_GIVES_SCALE | TDL_GIVES_TIME);
  if (kinds & (kinds - 1))
    return kymo_tdl_fail(checker->session, attributes->at, "E41",
                         "expected one of TOKEN, FLAGS, SCALE and TIME");
  if ((attributes->given & TDL_GIVES_SCALE) && !is_number(type) && type != TDL_FRACTION)
    return fail_attribute(checker, attributes, "SCALE", "a number");
  return check_token(checker, attributes, type) && check_flags(checker, attributes, type) &&
         check_time(checker, attributes, type) && check_show(checker, attributes, type);
}

static bool check_as(struct tdl_checker *checker, struct tdl_attributes *attributes,
                     enum tdl_value_type type) {
  if (!attributes->as)
    return true;
  if (type != TDL_INTEGER)
    return fail_attribute(checker, attributes, "AS", "a number");
  checker->allows_value = true;
  bool is_good = kymo_tdl_check_expr(checker, attributes->as, TDL_INTEGER);
  checker->allows_value = false;
  return is_good;
}

static const struct {
  const char *name;
  enum tdl_checksum_algorithm algorithm;
} algorithms[] = {
    {"adler32", TDL_ADLER32},   {"crc16", TDL_CRC16ARC},
    {"crc16arc", TDL_CRC16ARC}, {"crc16ccitt", TDL_CRC16CCITT},
    {"crc32", TDL_CRC32},       {"crc32c", TDL_CRC32C},
    {"crc8", TDL_CRC8},         {"sum", TDL_SUM8},
    {"sum16", TDL_SUM16},       {"sum32", TDL_SUM32},
    {"sum8", TDL_SUM8},         {"xor", TDL_XOR8},
    {"xor8", TDL_XOR8},
};

static bool check_checksum(struct tdl_checker *checker, struct tdl_attributes *attributes,
                           const struct tdl_type *type) {
  struct tdl_checksum *sum = &attributes->checksum;
  if (!(attributes->given & TDL_GIVES_CHECKSUM))
    return true;
  struct kymo_nearest nearest = kymo_nearest_to(sum->name.word->text);
  for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++) {
    kymo_nearest_consider(&nearest, algorithms[i].name);
    if (strcmp(algorithms[i].name, sum->name.word->text) == 0)
      sum->algorithm = algorithms[i].algorithm;
  }
  if (sum->algorithm == TDL_CHECKSUM_NONE)
    return kymo_tdl_fail(checker->session, sum->name.at, "E31", "unknown checksum \"%s\"%s",
                         sum->name.word->text, kymo_nearest_hint(&nearest).text);
  return type->kind == TDL_TYPE_UNSIGNED || type->kind == TDL_TYPE_INTEGER ||
         fail_attribute(checker, attributes, "CHECKSUM", "a whole number");
}

/* W21: a constant that the field can never be. */
static void warn_of_constant(struct tdl_checker *checker, const struct tdl_field *field,
                             const struct tdl_expr *constant) {
  struct kymo_wide low, high, value;
  struct tdl_field raw = *field;
  raw.attributes.as = NULL;
  bool is_number = kymo_tdl_is_constant(constant, &value) && kymo_tdl_range(&raw, &low, &high);
  bool is_bytes = constant->operation == TDL_CONSTANT && constant->type == TDL_BYTES &&
                  field->type->kind == TDL_TYPE_BYTES && field->type->fixed_bits >= 0;
  if ((is_number && (kymo_wide_compare(value, low) < 0 || kymo_wide_compare(value, high) > 0)) ||
      (is_bytes && (int64_t)constant->value.bytes.length * 8 != field->type->fixed_bits))
    kymo_tdl_warn(checker->session, constant->at, "W21",
                  "this is always false: the field cannot hold the constant%s",
                  is_bytes ? kymo_tdl_address_hint(constant).text : "");
}

/* Constants that are compared with the raw value. */
static bool check_constants(struct tdl_checker *checker, struct tdl_field *field) {
  struct tdl_attributes *attributes = &field->attributes;
  enum tdl_value_type type = field->type->value_type;
  if (type == TDL_FRACTION && (attributes->equals || attributes->in || attributes->absent))
    return kymo_tdl_fail(checker->session, attributes->at, "E41", "fractions take part only in filters");
  if (!kymo_tdl_check_expr(checker, attributes->equals, type) ||
      !kymo_tdl_check_expr(checker, attributes->absent, type) ||
      (attributes->in && !kymo_tdl_check_set(checker, attributes->in, type)))
    return false;
  if (attributes->equals)
    warn_of_constant(checker, field, attributes->equals);
  if (attributes->absent)
    warn_of_constant(checker, field, attributes->absent);
  return true;
}

static bool check_own(struct tdl_checker *checker, struct tdl_field *field) {
  struct tdl_attributes *attributes = &field->attributes;
  enum tdl_value_type type = field->type->value_type;
  if (attributes->length.kind != TDL_LENGTH_NONE && type != TDL_INTEGER)
    return kymo_tdl_fail(checker->session, attributes->length.name.at, "E41", "LENGTH OF needs a number");
  return check_constants(checker, field) && kymo_tdl_check_expr(checker, attributes->where, TDL_INTEGER) &&
         check_as(checker, attributes, type) && check_checksum(checker, attributes, field->type) &&
         kymo_tdl_check_view(checker, attributes, type);
}

bool kymo_tdl_check_field(struct tdl_checker *checker, struct tdl_field *field) {
  struct inherited inherited = {.count = 0};
  if (field->is_checked)
    return true;
  field->is_checked = true;
  if (!resolve(checker, field->type, &inherited) || !check_own(checker, field))
    return false;
  for (uint32_t i = 0; i < inherited.count; i++)
    inherit(&field->attributes, inherited.attributes[i]);
  return true;
}

/* ---- byte order, range ---- */

/* Types of a list are for records that the file defines: it is the prefix before these that may have an
 * ORDER. */
static enum tdl_order order_in_list(const struct tdl_tree *tree) {
  bool is_given = tree->has_order_file, is_always = true;
  for (const struct tdl_record *record = tree->records; record; record = record->next) {
    bool has_order = record->prefix && record->prefix->has_order;
    is_given |= record->from_name.word && has_order;
    is_always &= !record->from_name.word || has_order;
  }
  bool is_missing = is_given && !is_always && !tree->has_order_file && tree->order == TDL_ORDER_NONE;
  return is_given && !is_missing ? TDL_ORDER_DYNAMIC : tree->order;
}

/* The order for fields without such an attribute; NONE: there is none. */
static enum tdl_order order_here(const struct tdl_checker *checker) {
  const struct tdl_body *body = checker->body;
  if (!body)
    return order_in_list(checker->tree);
  bool is_given_late = body && body->has_order_file && checker->tree->order == TDL_ORDER_NONE;
  if (body && body->has_order)
    return TDL_ORDER_DYNAMIC;
  return checker->tree->has_order_file && !is_given_late ? TDL_ORDER_DYNAMIC : checker->tree->order;
}

/* Whether bytes of this type have an order: more than one of them, or bits without BITS. */
static bool has_order(const struct tdl_checker *checker, const struct tdl_type *type,
                      const struct tdl_place *place) {
  switch (type->kind) {
  case TDL_TYPE_UNSIGNED:
  case TDL_TYPE_INTEGER:
  case TDL_TYPE_FIXED:
  case TDL_TYPE_BCD: break;
  case TDL_TYPE_FLOAT: return true;
  case TDL_TYPE_ARRAY: return has_order(checker, type->element, place);
  default: return false;
  }
  int64_t width = kymo_tdl_width(type);
  bool is_byte = width == 8 && place->modulo == 0;
  bool is_bits = (width > 0 && width % 8 != 0) || place->modulo > 0;
  return !is_byte && (!is_bits || checker->tree->bit_order == TDL_BITS_BY_ORDER);
}

static bool set_order(struct tdl_checker *checker, enum tdl_order *order, enum tdl_order given, uint32_t at) {
  *order = given != TDL_ORDER_NONE ? given : order_here(checker);
  return *order != TDL_ORDER_NONE ||
         kymo_tdl_fail(checker->session, at, "E57",
                       "the byte order is unknown: expected LITTLE or BIG here, or BYTES");
}

bool kymo_tdl_check_order(struct tdl_checker *checker, struct tdl_field *field,
                          const struct tdl_place *place) {
  struct tdl_type *type = field->type;
  while (type->kind == TDL_TYPE_ARRAY)
    type = type->element;
  if (type->size_form == TDL_SIZE_COUNTED && has_order(checker, type->element, place)) {
    enum tdl_order given =
        type->element->order != TDL_ORDER_NONE ? type->element->order : field->attributes.order;
    return set_order(checker, &type->element->order, given, type->element->at);
  }
  return !has_order(checker, type, place) ||
         set_order(checker, &field->order, field->attributes.order, type->at);
}

bool kymo_tdl_range(const struct tdl_field *field, struct kymo_wide *low, struct kymo_wide *high) {
  const struct tdl_type *type = field->type;
  while (type->kind == TDL_TYPE_ARRAY)
    type = type->element;
  if (field->attributes.as || (type->kind != TDL_TYPE_UNSIGNED && type->kind != TDL_TYPE_INTEGER))
    return false;
  int64_t width = kymo_tdl_width(type);
  if (width < 1 || width > 64)
    return false;
  uint64_t most = UINT64_MAX >> (64 - width);
  *low = kymo_wide_of_u64(0);
  *high = kymo_wide_of_u64(type->kind == TDL_TYPE_INTEGER ? most >> 1 : most);
  if (type->kind == TDL_TYPE_INTEGER)
    *low = kymo_wide_of_i64(-(int64_t)(most >> 1) - 1);
  return true;
}
