/* SPDX-License-Identifier: MIT */
/* The values of attributes: numbers, texts, booleans, UUIDs, and the attributes of integer, floating_point
 * and string. Unknown attributes of types are ignored, as babeltrace does: producers have added some. */
#include "lang/tsdl/attributes.h"
#include "lang/text/cursor.h"
#include <inttypes.h>
#include <string.h>

static bool wrong(struct tsdl_session *session, const struct tsdl_attribute *attribute, const char *wanted) {
  const struct tsdl_value *value = &attribute->value;
  const char *name = attribute->name->text;
  switch (value->kind) {
  case TSDL_VALUE_INTEGER:
    return kymo_lang_fail(session, value->at, "\"%.60s\": expected %s, found %s%" PRIu64, name, wanted,
                          value->is_negative ? "-" : "", value->magnitude);
  case TSDL_VALUE_TYPE:
    return kymo_lang_fail(session, value->at, "\"%.60s\": expected %s, found a type", name, wanted);
  default:
    return kymo_lang_fail(session, value->at, "\"%.60s\": expected %s, found \"%.60s\"", name, wanted,
                          value->word->text);
  }
}

bool kymo_tsdl_value_unsigned(struct tsdl_session *session, const struct tsdl_attribute *attribute,
                              uint64_t *out) {
  const struct tsdl_value *value = &attribute->value;
  if (value->kind != TSDL_VALUE_INTEGER || (value->is_negative && value->magnitude > 0))
    return wrong(session, attribute, "an unsigned number");
  *out = value->magnitude;
  return true;
}

bool kymo_tsdl_value_signed(struct tsdl_session *session, const struct tsdl_attribute *attribute,
                            int64_t *out) {
  const struct tsdl_value *value = &attribute->value;
  uint64_t most = (uint64_t)INT64_MAX + value->is_negative;
  if (value->kind != TSDL_VALUE_INTEGER || value->magnitude > most)
    return wrong(session, attribute, "a signed number of 64 bits");
  *out = (int64_t)(value->is_negative ? 0 - value->magnitude : value->magnitude);
  return true;
}

bool kymo_tsdl_value_text(struct tsdl_session *session, const struct tsdl_attribute *attribute,
                          const char **out) {
  if (attribute->value.kind != TSDL_VALUE_STRING)
    return wrong(session, attribute, "a quoted text");
  *out = attribute->value.word->text;
  return true;
}

bool kymo_tsdl_value_name(struct tsdl_session *session, const struct tsdl_attribute *attribute,
                          struct tsdl_word **out) {
  const struct tsdl_value *value = &attribute->value;
  if (value->kind != TSDL_VALUE_STRING && value->kind != TSDL_VALUE_NAME)
    return wrong(session, attribute, "a name");
  *out = value->word;
  return true;
}

bool kymo_tsdl_value_type(struct tsdl_session *session, const struct tsdl_attribute *attribute,
                          struct tsdl_type **out) {
  if (attribute->value.kind != TSDL_VALUE_TYPE)
    return wrong(session, attribute, "\":=\" and a struct");
  *out = attribute->value.type;
  return true;
}

bool kymo_tsdl_is_attribute(const struct tsdl_attribute *attribute, const char *name) {
  return strcmp(attribute->name->text, name) == 0;
}

/* The text of a name or quoted text, or "" for other values. */
static const char *name_of(const struct tsdl_value *value) {
  return value->kind == TSDL_VALUE_STRING || value->kind == TSDL_VALUE_NAME ? value->word->text : "";
}

static bool is_one_of(const char *text, const char *const *names) {
  for (; *names; names++)
    if (strcmp(text, *names) == 0)
      return true;
  return false;
}

bool kymo_tsdl_value_boolean(struct tsdl_session *session, const struct tsdl_attribute *attribute,
                             bool *out) {
  static const char *const yes[] = {"true", "TRUE", NULL}, *const no[] = {"false", "FALSE", NULL};
  const struct tsdl_value *value = &attribute->value;
  *out = value->kind == TSDL_VALUE_INTEGER ? value->magnitude != 0 : is_one_of(name_of(value), yes);
  if (value->kind == TSDL_VALUE_INTEGER || *out || is_one_of(name_of(value), no))
    return true;
  return wrong(session, attribute, "true or false");
}

bool kymo_tsdl_value_uuid(struct tsdl_session *session, const struct tsdl_attribute *attribute,
                          uint8_t out[16]) {
  const char *text = "";
  if (!kymo_tsdl_value_text(session, attribute, &text))
    return false;
  text = kymo_parse_uuid(text, out);
  return (text && !*text) || wrong(session, attribute, "a UUID (8-4-4-4-12 hexadecimal digits)");
}

bool kymo_tsdl_value_order(struct tsdl_session *session, const struct tsdl_attribute *attribute,
                           enum tsdl_order *out) {
  static const char *const big[] = {"be", "network", NULL}, *const little[] = {"le", NULL},
                           *const native[] = {"native", NULL};
  const char *name = name_of(&attribute->value);
  *out = is_one_of(name, big)      ? TSDL_ORDER_BIG
         : is_one_of(name, little) ? TSDL_ORDER_LITTLE
                                   : TSDL_ORDER_NATIVE;
  if (*out != TSDL_ORDER_NATIVE || is_one_of(name, native))
    return true;
  return wrong(session, attribute, "native, network, be or le");
}

/* ---- attributes of types ---- */

static bool take_align(struct tsdl_session *session, struct tsdl_type *type,
                       const struct tsdl_attribute *attribute) {
  uint64_t align = 0;
  if (!kymo_tsdl_value_unsigned(session, attribute, &align))
    return false;
  if (align == 0 || align > UINT32_MAX || (align & (align - 1)))
    return wrong(session, attribute, "a power of two");
  type->align = (uint32_t)align;
  return true;
}

static bool take_encoding(struct tsdl_session *session, struct tsdl_type *type,
                          const struct tsdl_attribute *attribute) {
  static const char *const utf8[] = {"UTF8", "utf8", NULL}, *const ascii[] = {"ASCII", "ascii", NULL},
                           *const none[] = {"none", "NONE", "None", NULL};
  const char *name = attribute->value.kind == TSDL_VALUE_NAME ? name_of(&attribute->value) : "";
  type->encoding = is_one_of(name, utf8)    ? KYMO_ENCODING_UTF8
                   : is_one_of(name, ascii) ? KYMO_ENCODING_ASCII
                                            : KYMO_ENCODING_NONE;
  if (type->encoding != KYMO_ENCODING_NONE || is_one_of(name, none))
    return true;
  return wrong(session, attribute, "UTF8, ASCII or none");
}

static bool take_base(struct tsdl_session *session, struct tsdl_type *type,
                      const struct tsdl_attribute *attribute) {
  static const char *const two[] = {"binary", "b", NULL}, *const eight[] = {"octal", "oct", "o", NULL},
                           *const ten[] = {"decimal", "dec", "d", "i", "u", NULL},
                           *const sixteen[] = {"hexadecimal", "hex", "x", "X", "p", NULL};
  const struct tsdl_value *value = &attribute->value;
  const char *name = name_of(value);
  if (value->kind == TSDL_VALUE_STRING && name[0] && name[1])
    return wrong(session, attribute, "a base without quotes"); /* babeltrace takes letters in quotes */
  uint64_t base = is_one_of(name, two)       ? 2
                  : is_one_of(name, eight)   ? 8
                  : is_one_of(name, ten)     ? 10
                  : is_one_of(name, sixteen) ? 16
                                             : 0;
  if (value->kind == TSDL_VALUE_INTEGER && !value->is_negative)
    base = value->magnitude;
  if (base != 2 && base != 8 && base != 10 && base != 16)
    return wrong(session, attribute, "the base 2, 8, 10 or 16, or its name");
  type->base = (uint8_t)base;
  return true;
}

/* "clock.NAME.value", or "clock.NAME" as old producers write. */
static bool take_map(struct tsdl_session *session, struct tsdl_type *type,
                     const struct tsdl_attribute *attribute) {
  const char *name = name_of(&attribute->value), *end = strrchr(name, '.');
  if (strncmp(name, "clock.", 6) != 0)
    return wrong(session, attribute, "clock.NAME.value");
  name += 6;
  size_t length = end >= name && strcmp(end, ".value") == 0 ? (size_t)(end - name) : strlen(name);
  if (length == 0 || memchr(name, '.', length))
    return wrong(session, attribute, "clock.NAME.value");
  type->clock = kymo_tsdl_word(session, name, length);
  type->clock_at = attribute->value.at;
  return type->clock != NULL;
}

static bool take_size(struct tsdl_session *session, struct tsdl_type *type,
                      const struct tsdl_attribute *attribute) {
  uint64_t size = 0;
  if (!kymo_tsdl_value_unsigned(session, attribute, &size))
    return false;
  if (size < 1 || size > 64)
    return wrong(session, attribute, "1 to 64 bits");
  type->size = (uint32_t)size;
  return true;
}

static bool take_integer_attribute(struct tsdl_session *session, struct tsdl_type *type,
                                   const struct tsdl_attribute *attribute) {
  if (kymo_tsdl_is_attribute(attribute, "size"))
    return take_size(session, type, attribute);
  if (kymo_tsdl_is_attribute(attribute, "align"))
    return take_align(session, type, attribute);
  if (kymo_tsdl_is_attribute(attribute, "signed"))
    return kymo_tsdl_value_boolean(session, attribute, &type->is_signed);
  if (kymo_tsdl_is_attribute(attribute, "byte_order"))
    return kymo_tsdl_value_order(session, attribute, &type->order);
  if (kymo_tsdl_is_attribute(attribute, "base"))
    return take_base(session, type, attribute);
  if (kymo_tsdl_is_attribute(attribute, "encoding"))
    return take_encoding(session, type, attribute);
  return !kymo_tsdl_is_attribute(attribute, "map") || take_map(session, type, attribute);
}

bool kymo_tsdl_integer_attributes(struct tsdl_session *session, struct tsdl_type *type,
                                  const struct tsdl_attribute *attributes) {
  for (; attributes; attributes = attributes->next)
    if (!take_integer_attribute(session, type, attributes))
      return false;
  if (type->size == 0)
    return kymo_lang_fail(session, type->at, "this integer has no \"size\"");
  if (type->align == 0)
    type->align = type->size % 8 == 0 ? 8 : 1;
  return true;
}

static bool check_float(struct tsdl_session *session, struct tsdl_type *type, uint64_t exponent,
                        uint64_t mantissa) {
  static const struct {
    uint64_t exponent, mantissa;
  } forms[] = {{5, 11}, {8, 24}, {11, 53}, {15, 65}, {15, 113}};
  if (exponent == 0 || mantissa == 0)
    return kymo_lang_fail(session, type->at, "this floating_point has no \"%s\"",
                          exponent == 0 ? "exp_dig" : "mant_dig");
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
    if (forms[i].exponent == exponent && forms[i].mantissa == mantissa)
      type->size = (uint32_t)(exponent + mantissa);
  if (type->size == 0)
    return kymo_lang_fail(
        session, type->at,
        "expected exp_dig and mant_dig 8 and 24, 11 and 53, 5 and 11, or 15 and 113, found %" PRIu64
        " and %" PRIu64,
        exponent, mantissa);
  if (type->align == 0)
    type->align = 8;
  return true;
}

bool kymo_tsdl_float_attributes(struct tsdl_session *session, struct tsdl_type *type,
                                const struct tsdl_attribute *attributes) {
  uint64_t exponent = 0, mantissa = 0;
  for (; attributes; attributes = attributes->next) {
    bool ok = kymo_tsdl_is_attribute(attributes, "exp_dig")
                  ? kymo_tsdl_value_unsigned(session, attributes, &exponent)
              : kymo_tsdl_is_attribute(attributes, "mant_dig")
                  ? kymo_tsdl_value_unsigned(session, attributes, &mantissa)
              : kymo_tsdl_is_attribute(attributes, "byte_order")
                  ? kymo_tsdl_value_order(session, attributes, &type->order)
                  : !kymo_tsdl_is_attribute(attributes, "align") || take_align(session, type, attributes);
    if (!ok)
      return false;
  }
  return check_float(session, type, exponent, mantissa);
}

bool kymo_tsdl_string_attributes(struct tsdl_session *session, struct tsdl_type *type,
                                 const struct tsdl_attribute *attributes) {
  for (; attributes; attributes = attributes->next)
    if (kymo_tsdl_is_attribute(attributes, "encoding") && !take_encoding(session, type, attributes))
      return false;
  return true;
}
