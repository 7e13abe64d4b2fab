/* SPDX-License-Identifier: MIT */
/* Decodes values: integers, floats of all widths, texts, variable-length integers. */
#include "decode/value.h"
#include "decode/load.h"
#include "schema/parts.h"
#include <math.h>

/* sign · (fraction / 2^fraction_bits) · 2^exponent, for floats that have no C type. */
static double assemble(bool is_negative, uint64_t fraction, int fraction_bits, int exponent) {
  double value = ldexp((double)fraction, exponent - fraction_bits);
  return is_negative ? -value : value;
}

static double from_half(uint64_t bits) {
  unsigned exponent = (unsigned)(bits >> 10) & 31;
  uint64_t fraction = bits & 1023;
  bool is_negative = bits >> 15;
  if (exponent == 31)
    return fraction ? (double)NAN : is_negative ? -(double)INFINITY : (double)INFINITY;
  return exponent ? assemble(is_negative, fraction | 1024, 10, (int)exponent - 15)
                  : assemble(is_negative, fraction, 10, -14);
}

static double from_single(uint64_t bits) {
  uint32_t word = (uint32_t)bits;
  float value;
  memcpy(&value, &word, sizeof value);
  return (double)value;
}

static double from_double(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The long ones, rounded to double: x87 extended (explicit leading bit) and IEEE quadruple. */
static double from_long(const uint8_t *data, uint64_t at, unsigned width, bool is_big) {
  unsigned low_bits = width - 64;
  uint64_t high = kymo_fast_bits(data, is_big ? at : at + low_bits, 64, is_big);
  uint64_t low = kymo_fast_bits(data, is_big ? at + 64 : at, low_bits, is_big);
  unsigned exponent = (unsigned)(high >> 48) & 0x7fff;
  bool is_negative = high >> 63;
  uint64_t fraction = width == 80 ? high << 16 | low : (high << 16 | low >> 48) >> 1;
  if (width == 128 && exponent != 0)
    fraction |= UINT64_C(1) << 63;
  if (exponent == 0x7fff)
    return fraction << 1 ? (double)NAN : is_negative ? -(double)INFINITY : (double)INFINITY;
  return assemble(is_negative, fraction, 63, exponent ? (int)exponent - 16383 : -16382);
}

static enum kymo_token read_float(const struct kymo_type *type, const uint8_t *data, uint64_t at,
                                  struct kymo_value *value) {
  bool is_big = type->order == KYMO_ORDER_BIG;
  if (type->size_bits > 64) {
    value->f = from_long(data, at, type->size_bits, is_big);
    return KYMO_TOKEN_FLOAT;
  }
  uint64_t bits = kymo_fast_bits(data, at, type->size_bits, is_big);
  if (type->bits_reversed)
    bits = kymo_bits_reverse(bits, type->size_bits);
  value->f = type->size_bits == 16   ? from_half(bits)
             : type->size_bits == 32 ? from_single(bits)
                                     : from_double(bits);
  return KYMO_TOKEN_FLOAT;
}

static enum kymo_token read_integer(const struct kymo_type *type, const uint8_t *data, uint64_t at,
                                    struct kymo_value *value) {
  uint64_t bits = kymo_fast_bits(data, at, type->size_bits, type->order == KYMO_ORDER_BIG);
  if (type->bits_reversed)
    bits = kymo_bits_reverse(bits, type->size_bits);
  value->u = type->is_signed ? (uint64_t)kymo_sign_extend(bits, type->size_bits) : bits;
  return KYMO_TOKEN_INTEGER;
}

static enum kymo_token read_varint(const struct kymo_type *type, const uint8_t *data, uint64_t *at,
                                   uint64_t end, struct kymo_value *value) {
  uint64_t sum = 0;
  unsigned shift = 0;
  for (bool more = true; more; shift += 7, *at += 8) {
    if (*at >= end || end - *at < 8 || shift >= 70)
      return KYMO_TOKEN_ERROR;
    uint64_t byte = data[*at / 8];
    if (shift < 64)
      sum |= (byte & 0x7f) << shift;
    more = byte & 0x80;
  }
  value->u = type->is_signed && shift < 64 ? (uint64_t)kymo_sign_extend(sum, shift) : sum;
  return KYMO_TOKEN_INTEGER;
}

static unsigned unit_bytes(enum kymo_encoding encoding) {
  switch (encoding) {
  case KYMO_ENCODING_UTF16LE:
  case KYMO_ENCODING_UTF16BE: return 2;
  case KYMO_ENCODING_UTF32LE:
  case KYMO_ENCODING_UTF32BE: return 4;
  default: return 1;
  }
}

/* Bytes before the first zero unit; `size` if there is none. */
static uint64_t text_length(const uint8_t *text, uint64_t size, unsigned unit) {
  if (unit == 1) {
    const uint8_t *zero = size ? memchr(text, 0, (size_t)size) : NULL;
    return zero ? (uint64_t)(zero - text) : size;
  }
  for (uint64_t at = 0; size - at >= unit; at += unit) {
    uint8_t any = 0;
    for (unsigned i = 0; i < unit; i++)
      any |= text[at + i];
    if (!any)
      return at;
  }
  return size;
}

static enum kymo_token read_text(const struct kymo_type *type, const uint8_t *data, uint64_t *at,
                                 uint64_t size, struct kymo_value *value) {
  value->bytes = data + *at / 8;
  value->count = size;
  *at += size * 8;
  bool is_blob = type->kind == KYMO_KIND_BLOB_ARRAY || type->kind == KYMO_KIND_BLOB_SEQUENCE;
  if (!is_blob)
    value->count = text_length(value->bytes, size, unit_bytes(type->encoding));
  return is_blob ? KYMO_TOKEN_BLOB : KYMO_TOKEN_TEXT;
}

static enum kymo_token read_string(const struct kymo_type *type, const uint8_t *data, uint64_t *at,
                                   uint64_t end, struct kymo_value *value) {
  unsigned unit = unit_bytes(type->encoding);
  uint64_t most = (end - *at) / 8;
  value->bytes = data + *at / 8;
  value->count = text_length(value->bytes, most, unit);
  if (most - value->count < unit)
    return KYMO_TOKEN_ERROR;
  *at += (value->count + unit) * 8;
  return KYMO_TOKEN_TEXT;
}

enum kymo_token kymo_value_read(const struct kymo_type *type, const uint8_t *data, uint64_t *at, uint64_t end,
                                uint64_t length, struct kymo_value *value) {
  uint64_t from = *at;
  value->type = type;
  if (from > end)
    return KYMO_TOKEN_ERROR;
  switch (type->kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_BOOLEAN:
  case KYMO_KIND_BITMAP:
  case KYMO_KIND_FLOAT:
    if (type->size_bits > end - from)
      return KYMO_TOKEN_ERROR;
    *at += type->size_bits;
    return type->kind == KYMO_KIND_FLOAT ? read_float(type, data, from, value)
                                         : read_integer(type, data, from, value);
  case KYMO_KIND_VARINT: return read_varint(type, data, at, end, value);
  case KYMO_KIND_STRING: return read_string(type, data, at, end, value);
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_BLOB_ARRAY: length = type->length; break;
  case KYMO_KIND_TEXT_SEQUENCE:
  case KYMO_KIND_BLOB_SEQUENCE: break;
  default: return KYMO_TOKEN_ERROR;
  }
  return length <= (end - from) / 8 ? read_text(type, data, at, length, value) : KYMO_TOKEN_ERROR;
}

static bool is_in(const struct kymo_range *range, uint64_t value, bool is_signed) {
  return is_signed ? (int64_t)value >= (int64_t)range->low && (int64_t)value <= (int64_t)range->high
                   : value >= range->low && value <= range->high;
}

int64_t kymo_variant_choose(const struct kymo_type *variant, uint64_t tag) {
  bool is_signed = variant->selector_type && variant->selector_type->is_signed;
  for (uint32_t i = 0; i < variant->member_count; i++)
    for (uint32_t k = 0; k < variant->members[i].range_count; k++)
      if (is_in(&variant->members[i].ranges[k], tag, is_signed))
        return i;
  return -1;
}

bool kymo_optional_is_present(const struct kymo_type *optional, uint64_t selector) {
  bool is_signed = optional->selector_type && optional->selector_type->is_signed;
  if (optional->presence_count == 0)
    return selector != 0;
  for (uint32_t i = 0; i < optional->presence_count; i++)
    if (is_in(&optional->presence[i], selector, is_signed))
      return true;
  return false;
}

const struct kymo_mapping *kymo_mapping_find(const struct kymo_type *type, uint64_t value) {
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    struct kymo_range range = {type->mappings[i].low, type->mappings[i].high};
    if (is_in(&range, value, type->is_signed))
      return &type->mappings[i];
  }
  return NULL;
}
