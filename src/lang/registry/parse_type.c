/* SPDX-License-Identifier: MIT */
/*
 * type #4 "pid_t" = int32, align 32;
 *
 *   "type" ID [TEXT] "=" ["enum"] kind {"," property} ";"
 *
 * A kind is a word with what it needs: a width, a length, an element, the field it depends on, members,
 * mappings.
 */
#include "lang/registry/parser.h"
#include "lang/registry/words.h"
#include "schema/registry.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- ranges, references, members, mappings ---- */

/* "3" or "3 ... 5". */
static bool parse_range(struct registry_parser *parser, bool is_signed, uint64_t *low, uint64_t *high) {
  if (!kymo_registry_integer(parser, is_signed, low))
    return false;
  *high = *low;
  return parser->token.kind != REGISTRY_TOKEN_DOTS ||
         (kymo_registry_advance(parser) && kymo_registry_integer(parser, is_signed, high));
}

/* Ranges with commas between them. */
static bool parse_ranges(struct registry_parser *parser, bool is_signed, const struct kymo_range **ranges,
                         uint32_t *count) {
  do {
    struct kymo_range *range = kymo_registry_add(parser, &parser->ranges, sizeof *range);
    if (!range || !parse_range(parser, is_signed, &range->low, &range->high))
      return false;
  } while (kymo_registry_skip(parser, ','));
  *count = parser->ranges.count;
  *ranges = kymo_registry_take(parser, &parser->ranges, sizeof **ranges);
  return !parser->common.failed;
}

/* "payload[2][]": a scope and steps into it. */
static bool parse_way(struct registry_parser *parser, struct kymo_reference *way) {
  uint32_t steps[KYMO_REGISTRY_STEPS];
  int scope = kymo_registry_one_of(parser, kymo_registry_scopes, KYMO_SCOPE_COUNT, "a scope");
  if (scope < 0)
    return false;
  while (kymo_registry_skip(parser, '[')) {
    uint64_t step = KYMO_STEP_ELEMENT;
    if (way->depth == KYMO_REGISTRY_STEPS)
      return kymo_lang_fail(parser, parser->token.at, "a way deeper than %d steps", KYMO_REGISTRY_STEPS);
    if (parser->token.kind != ']' && !kymo_registry_number(parser, UINT32_MAX - 1, &step))
      return false;
    steps[way->depth++] = (uint32_t)step;
    if (!kymo_registry_expect(parser, ']', "\"]\""))
      return false;
  }
  uint32_t *kept = kymo_lang_keep(parser, way->depth, sizeof *kept);
  if (!kept)
    return false;
  memcpy(kept, steps, way->depth * sizeof *steps);
  way->scope = (enum kymo_scope)scope;
  way->steps = kept;
  return !parser->common.failed;
}

/* FIRST SECOND "payload[2] (#5)": the field that a type depends on. */
static bool parse_selector(struct registry_parser *parser, const char *first, const char *second,
                           struct kymo_type *type) {
  char what[32];
  snprintf(what, sizeof what, "\"%s%s%s\"", first, second ? " " : "", second ? second : "");
  if (!kymo_registry_skip_word(parser, first) || (second && !kymo_registry_skip_word(parser, second)))
    return kymo_registry_expected(parser, what);
  return parse_way(parser, &type->selector) &&
         kymo_registry_expect(parser, '(', "\"(\" and the type of the field") &&
         kymo_registry_type_id(parser, &type->selector_type) && kymo_registry_expect(parser, ')', "\")\"");
}

/* name: #3 source "_name" for 1, 3 ... 5 attributes "{}"; */
static bool parse_member(struct registry_parser *parser, bool is_signed, struct kymo_member *member) {
  if (!kymo_registry_name(parser, &member->name) || !kymo_registry_expect(parser, ':', "\":\" and a type") ||
      !kymo_registry_type_id(parser, &member->type))
    return false;
  member->source_name = member->name;
  if (kymo_registry_skip_word(parser, "source") && !kymo_registry_text(parser, &member->source_name))
    return false;
  if (kymo_registry_skip_word(parser, "for") &&
      !parse_ranges(parser, is_signed, &member->ranges, &member->range_count))
    return false;
  if (kymo_registry_skip_word(parser, "attributes") && !kymo_registry_text(parser, &member->attributes))
    return false;
  return kymo_registry_expect(parser, ';', "\";\"");
}

static bool parse_members(struct registry_parser *parser, struct kymo_type *type) {
  bool is_signed = type->selector_type && type->selector_type->is_signed;
  if (!kymo_registry_expect(parser, '{', "\"{\" and members"))
    return false;
  while (!kymo_registry_skip(parser, '}')) {
    struct kymo_member *member = kymo_registry_add(parser, &parser->members, sizeof *member);
    if (!member || !parse_member(parser, is_signed, member))
      return false;
  }
  type->member_count = parser->members.count;
  type->members = kymo_registry_take(parser, &parser->members, sizeof *type->members);
  return !parser->common.failed;
}

/* { CLOSED = 0, OPEN = 1 ... 3, } */
static bool parse_mappings(struct registry_parser *parser, struct kymo_type *type) {
  bool is_signed = type->is_signed && type->kind != KYMO_KIND_BITMAP;
  if (!kymo_registry_skip(parser, '{'))
    return !parser->common.failed;
  while (!kymo_registry_skip(parser, '}')) {
    struct kymo_mapping *mapping = kymo_registry_add(parser, &parser->mappings, sizeof *mapping);
    if (!mapping || !kymo_registry_name(parser, &mapping->name) ||
        !kymo_registry_expect(parser, '=', "\"=\"") ||
        !parse_range(parser, is_signed, &mapping->low, &mapping->high))
      return false;
    if (parser->token.kind != '}' && !kymo_registry_expect(parser, ',', "\",\" or \"}\""))
      return false;
  }
  type->mapping_count = parser->mappings.count;
  type->mappings = kymo_registry_take(parser, &parser->mappings, sizeof *type->mappings);
  return !parser->common.failed;
}

/* ---- kinds ---- */

/* The text or blob that the word began: fixed, or counted by a field. */
static bool parse_bytes(struct registry_parser *parser, struct kymo_type *type, enum kymo_type_kind fixed,
                        enum kymo_type_kind counted) {
  if (kymo_registry_skip(parser, '[')) {
    type->kind = fixed;
    return kymo_registry_number(parser, UINT64_MAX, &type->length) &&
           kymo_registry_expect(parser, ']', "\"]\"");
  }
  type->kind = counted;
  return parse_selector(parser, "counted", "by", type);
}

static bool parse_text(struct registry_parser *parser, struct kymo_type *type) {
  return parse_bytes(parser, type, KYMO_KIND_TEXT_ARRAY, KYMO_KIND_TEXT_SEQUENCE);
}

static bool parse_blob(struct registry_parser *parser, struct kymo_type *type) {
  return parse_bytes(parser, type, KYMO_KIND_BLOB_ARRAY, KYMO_KIND_BLOB_SEQUENCE);
}

static bool parse_element(struct registry_parser *parser, struct kymo_type *type) {
  if (!kymo_registry_skip_word(parser, "of"))
    return kymo_registry_expected(parser, "\"of\" and a type");
  return kymo_registry_type_id(parser, &type->element);
}

static bool parse_array(struct registry_parser *parser, struct kymo_type *type) {
  type->kind = KYMO_KIND_ARRAY;
  return kymo_registry_expect(parser, '[', "\"[\" and a length") &&
         kymo_registry_number(parser, UINT64_MAX, &type->length) &&
         kymo_registry_expect(parser, ']', "\"]\"") && parse_element(parser, type);
}

static bool parse_sequence(struct registry_parser *parser, struct kymo_type *type) {
  type->kind = KYMO_KIND_SEQUENCE;
  return parse_element(parser, type) && parse_selector(parser, "counted", "by", type);
}

static bool parse_variant(struct registry_parser *parser, struct kymo_type *type) {
  type->kind = KYMO_KIND_VARIANT;
  return parse_selector(parser, "chosen", "by", type) && parse_members(parser, type);
}

static bool parse_optional(struct registry_parser *parser, struct kymo_type *type) {
  type->kind = KYMO_KIND_OPTIONAL;
  if (!kymo_registry_type_id(parser, &type->element) || !parse_selector(parser, "if", NULL, type))
    return false;
  if (!kymo_registry_skip_word(parser, "is"))
    return !parser->common.failed;
  bool is_signed = type->selector_type->is_signed;
  if (!kymo_registry_expect(parser, '(', "\"(\" and values"))
    return false;
  return parse_ranges(parser, is_signed, &type->presence, &type->presence_count) &&
         kymo_registry_expect(parser, ')', "\")\"");
}

static bool parse_struct(struct registry_parser *parser, struct kymo_type *type) {
  type->kind = KYMO_KIND_STRUCT;
  return parse_members(parser, type);
}

static bool parse_string(struct registry_parser *parser, struct kymo_type *type) {
  type->kind = KYMO_KIND_STRING;
  return !parser->common.failed;
}

static bool parse_varint(struct registry_parser *parser, struct kymo_type *type) {
  type->kind = KYMO_KIND_VARINT;
  type->is_signed = true;
  return parse_mappings(parser, type);
}

static bool parse_varuint(struct registry_parser *parser, struct kymo_type *type) {
  type->kind = KYMO_KIND_VARINT;
  return parse_mappings(parser, type);
}

/* Words with a width after them. */
static const struct {
  const char *word;
  enum kymo_type_kind kind;
  bool is_signed;
} wide_kinds[] = {
    {"int", KYMO_KIND_INTEGER, true},   {"uint", KYMO_KIND_INTEGER, false},
    {"bool", KYMO_KIND_BOOLEAN, false}, {"flags", KYMO_KIND_BITMAP, false},
    {"float", KYMO_KIND_FLOAT, false},  {"union", KYMO_KIND_UNION, false},
};

static const char *const kind_words[] = {
    "text",    "blob",  "array",  "sequence", "variant", "optional", "struct",  "string", "varint",
    "varuint", "int32", "uint32", "bool8",    "flags32", "float64",  "union32", /* for suggestions */
};
static bool (*const kind_parsers[])(struct registry_parser *, struct kymo_type *) = {
    parse_text,     parse_blob,   parse_array,  parse_sequence, parse_variant,
    parse_optional, parse_struct, parse_string, parse_varint,   parse_varuint,
};

/* The digits of a width at the end of a word; 0 if there are none, or more than fit. */
static uint32_t width_of(const char *digits, size_t count) {
  uint64_t width = 0;
  for (size_t i = 0; i < count; i++) {
    if (digits[i] < '0' || digits[i] > '9')
      return 0;
    width = width * 10 + (uint64_t)(digits[i] - '0');
    if (width > UINT32_MAX)
      return 0;
  }
  return (uint32_t)width;
}

/* True if the current word is a kind with a width, which is then passed. */
static bool skip_wide_kind(struct registry_parser *parser, struct kymo_type *type) {
  const char *word = parser->cursor.text + parser->token.at;
  size_t length = parser->token.kind == REGISTRY_TOKEN_WORD ? parser->token.length : 0;
  for (size_t i = 0; i < sizeof wide_kinds / sizeof wide_kinds[0]; i++) {
    size_t front = strlen(wide_kinds[i].word);
    if (length <= front || memcmp(word, wide_kinds[i].word, front) != 0)
      continue;
    uint32_t width = width_of(word + front, length - front);
    if (width == 0 && (wide_kinds[i].kind != KYMO_KIND_UNION || word[front] != '0' || length > front + 1))
      continue;
    type->kind = wide_kinds[i].kind;
    type->is_signed = wide_kinds[i].is_signed;
    type->size_bits = width;
    return kymo_registry_advance(parser);
  }
  return false;
}

static bool parse_kind(struct registry_parser *parser, struct kymo_type *type) {
  type->is_enumeration = kymo_registry_skip_word(parser, "enum");
  if (skip_wide_kind(parser, type)) {
    if (type->kind == KYMO_KIND_UNION)
      return parse_members(parser, type);
    return type->kind == KYMO_KIND_INTEGER || type->kind == KYMO_KIND_BITMAP ? parse_mappings(parser, type)
                                                                             : true;
  }
  if (parser->common.failed)
    return false;
  size_t at = parser->token.at;
  int kind =
      kymo_registry_one_of(parser, kind_words, sizeof kind_words / sizeof kind_words[0], "a kind of type");
  if (kind < 0)
    return false;
  if ((size_t)kind < sizeof kind_parsers / sizeof kind_parsers[0])
    return kind_parsers[kind](parser, type);
  return kymo_lang_fail(parser, at, "expected a kind of type"); /* an example, which was taken before */
}

/* ---- properties ---- */

static const char *const property_words[] = {
    "align",    "big",  "little", "reversed", "signed", "base",       "address",
    "encoding", "role", "clock",  "unit",     "media",  "attributes",
};
enum property {
  ALIGN,
  BIG,
  LITTLE,
  REVERSED,
  SIGNED,
  BASE,
  ADDRESS,
  ENCODING,
  ROLE,
  CLOCK,
  UNIT,
  MEDIA,
  ATTRIBUTES,
  PROPERTIES,
};

static bool parse_encoding(struct registry_parser *parser, struct kymo_type *type) {
  int encoding = kymo_registry_one_of(parser, kymo_registry_encodings, KYMO_ENCODING_COUNT, "an encoding");
  type->encoding = encoding < 0 ? KYMO_ENCODING_NONE : (enum kymo_encoding)encoding;
  return encoding >= 0;
}

static bool parse_role(struct registry_parser *parser, struct kymo_type *type) {
  int role = kymo_registry_one_of(parser, kymo_registry_roles, KYMO_ROLE_COUNT, "a role");
  type->roles |= role < 0 ? 0 : UINT32_C(1) << role;
  return role >= 0;
}

static bool parse_align(struct registry_parser *parser, struct kymo_type *type) {
  size_t at = parser->token.at;
  uint64_t align;
  if (!kymo_registry_number(parser, UINT32_MAX, &align))
    return false;
  type->align_bits = (uint32_t)align;
  return align != 0 ? true : kymo_lang_fail(parser, at, "expected a power of two as alignment, found 0");
}

static bool parse_base(struct registry_parser *parser, struct kymo_type *type) {
  uint64_t base;
  bool is_good = kymo_registry_number(parser, UINT8_MAX, &base);
  type->base = is_good ? (uint8_t)base : 0;
  return is_good;
}

static bool parse_property(struct registry_parser *parser, struct kymo_type *type) {
  int property = kymo_registry_one_of(parser, property_words, PROPERTIES, "a property of a type");
  switch (property) {
  case ALIGN: return parse_align(parser, type);
  case BIG: type->order = KYMO_ORDER_BIG; return true;
  case LITTLE: type->order = KYMO_ORDER_LITTLE; return true;
  case REVERSED: return type->bits_reversed = true;
  case SIGNED: return type->is_signed = true;
  case BASE: return parse_base(parser, type);
  case ADDRESS: return type->is_address = true;
  case ENCODING: return parse_encoding(parser, type);
  case ROLE: return parse_role(parser, type);
  case CLOCK: return kymo_registry_clock(parser, &type->clock);
  case UNIT: return kymo_registry_text(parser, &type->unit);
  case MEDIA: return kymo_registry_text(parser, &type->media_type);
  case ATTRIBUTES: return kymo_registry_text(parser, &type->attributes);
  default: return false;
  }
}

/* ---- the whole ---- */

static bool add_type(struct registry_parser *parser, const struct kymo_type *type, size_t at) {
  const struct kymo_type *made = kymo_builder_type(parser->builder, type);
  const struct kymo_type **place = made ? kymo_registry_add(parser, &parser->types, sizeof *place) : NULL;
  if (!place)
    return kymo_lang_no_memory(parser);
  *place = made;
  struct kymo_error why;
  if (kymo_builder_check(parser->builder, made, &why) < 0)
    return kymo_lang_fail(parser, at, "%s", why.message);
  return made->id + 1 == parser->types.count
             ? true
             : kymo_lang_fail(parser, at, "this is the same type as #%" PRIu32, made->id);
}

bool kymo_registry_parse_type(struct registry_parser *parser) {
  struct kymo_type type = {0};
  const struct registry_token id = parser->token;
  if (!kymo_registry_expect(parser, REGISTRY_TOKEN_ID, "the number of the type, as #1"))
    return false;
  if (id.number != parser->types.count)
    return kymo_lang_fail(parser, id.at, "expected #%" PRIu32 ", the next type, found #%" PRIu64,
                          parser->types.count, id.number);
  if (parser->token.kind == REGISTRY_TOKEN_TEXT && !kymo_registry_text(parser, &type.name))
    return false;
  if (!kymo_registry_expect(parser, '=', "\"=\"") || !parse_kind(parser, &type))
    return false;
  if (type.kind <= KYMO_KIND_FLOAT)
    type.order = kymo_builder_schema(parser->builder)->order;
  while (kymo_registry_skip(parser, ','))
    if (!parse_property(parser, &type))
      return false;
  return kymo_registry_expect(parser, ';', "\",\" or \";\"") && add_type(parser, &type, id.at);
}
