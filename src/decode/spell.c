/* SPDX-License-Identifier: MIT */
/* Fields as text. */
#include "decode/labels.h"
#include "decode/value.h"
#include "decode/walk.h"
#include "schema/attribute.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Text that is cut at the end of the buffer, and still counted. */
struct spelling {
  char *out;
  size_t size, length;
};

static void put(struct spelling *text, const void *bytes, size_t count) {
  if (text->length < text->size) {
    size_t room = text->size - text->length;
    memcpy(text->out + text->length, bytes, count < room ? count : room);
  }
  text->length += count;
}

static void put_text(struct spelling *text, const char *words) { put(text, words, strlen(words)); }

static void put_binary(struct spelling *text, uint64_t value) {
  char digits[64];
  unsigned count = 0;
  do {
    digits[sizeof digits - 1 - count] = (char)('0' + (value >> count & 1));
    count++;
  } while (count < 64 && value >> count);
  put_text(text, "0b");
  put(text, digits + sizeof digits - count, count);
}

static void put_number(struct spelling *text, const struct kymo_type *type, const struct kymo_value *value) {
  char number[32];
  unsigned bits = type->size_bits && type->size_bits < 64 ? type->size_bits : 64;
  uint64_t plain = value->u & (UINT64_MAX >> (64 - bits));
  int length;
  if (type->base == 2) {
    put_binary(text, plain);
    return;
  }
  if (type->base == 16 || type->is_address)
    length = snprintf(number, sizeof number, "0x%" PRIx64, plain);
  else if (type->base == 8)
    length = snprintf(number, sizeof number, "0%" PRIo64, plain);
  else if (type->is_signed)
    length = snprintf(number, sizeof number, "%" PRId64, value->i);
  else
    length = snprintf(number, sizeof number, "%" PRIu64, value->u);
  put(text, number, (size_t)length);
}

static void put_flags(struct spelling *text, const struct kymo_type *type, uint64_t bits) {
  struct kymo_labels labels = kymo_labels_begin(type, bits);
  const char *name, *gap = "";
  for (; (name = kymo_labels_next(&labels)); gap = " | ") {
    put_text(text, gap);
    put_text(text, name);
  }
  if (!labels.rest && *gap)
    return;
  char number[32];
  put(text, number, (size_t)snprintf(number, sizeof number, "%s0x%" PRIx64, gap, labels.rest));
}

static void put_integer(struct spelling *text, const struct kymo_value *value) {
  const struct kymo_type *type = value->type;
  const struct kymo_mapping *mapping =
      type->kind == KYMO_KIND_BITMAP ? NULL : kymo_mapping_find(type, value->u);
  if (type->kind == KYMO_KIND_BITMAP)
    put_flags(text, type, value->u);
  else if (type->kind == KYMO_KIND_BOOLEAN)
    put_text(text, value->u ? "true" : "false");
  else if (mapping)
    put_text(text, mapping->name);
  else
    put_number(text, type, value);
}

/* The fewest digits that read back as the same number. */
static void put_float(struct spelling *text, double value) {
  char number[40];
  int length = 0;
  for (int digits = 6; digits <= 17; digits++) {
    length = snprintf(number, sizeof number, "%.*g", digits, value);
    if (strtod(number, NULL) == value)
      break;
  }
  put(text, number, (size_t)length);
}

static void put_blob(struct spelling *text, const struct kymo_value *value) {
  static const char digits[] = "0123456789abcdef";
  for (uint64_t i = 0; i < value->count; i++) {
    char pair[2] = {digits[value->bytes[i] >> 4], digits[value->bytes[i] & 15]};
    put(text, pair, 2);
  }
}

static void put_value(struct spelling *text, enum kymo_token token, const struct kymo_value *value) {
  switch (token) {
  case KYMO_TOKEN_INTEGER: put_integer(text, value); break;
  case KYMO_TOKEN_FLOAT: put_float(text, value->f); break;
  case KYMO_TOKEN_TEXT: put(text, value->bytes, (size_t)value->count); break;
  case KYMO_TOKEN_BLOB: put_blob(text, value); break;
  case KYMO_TOKEN_ABSENT: put_text(text, "-"); break;
  default: break;
  }
}

static bool is_list(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE;
}

static const char *bracket(const struct kymo_type *type, bool is_end) {
  return kymo_element_member(type) ? "" : is_list(type) ? is_end ? "]" : "[" : is_end ? "}" : "{";
}

/* Members that only serve decoding are left out, and so are name and brackets around an element that needs
 * numbers. */
static bool put_name(struct spelling *text, const struct kymo_member *member, bool *is_first) {
  if (!member || !member->name)
    return true;
  if (kymo_member_is_hidden(member))
    return false;
  if (kymo_member_is_element(member)) {
    *is_first = true;
    return true;
  }
  put_text(text, *is_first ? "" : ", ");
  put_text(text, member->name);
  put_text(text, " = ");
  *is_first = true;
  return true;
}

/* All parts of a list or group. */
static int put_inside(struct spelling *text, struct kymo_walk *walk, const struct kymo_type *type) {
  struct kymo_value value;
  enum kymo_token token;
  bool is_first = true;
  put_text(text, bracket(type, false));
  while ((token = kymo_walk_next(walk, &value)) != KYMO_TOKEN_DONE && token != KYMO_TOKEN_ERROR) {
    if (token == KYMO_TOKEN_END) {
      put_text(text, bracket(value.type, true));
      is_first = false;
      continue;
    }
    if (!put_name(text, value.member, &is_first))
      continue;
    put_text(text, is_first ? "" : ", ");
    is_first = token == KYMO_TOKEN_BEGIN;
    if (token == KYMO_TOKEN_BEGIN)
      put_text(text, bracket(value.type, false));
    else
      put_value(text, token, &value);
  }
  put_text(text, bracket(type, true));
  return token == KYMO_TOKEN_DONE ? KYMO_OK : KYMO_E_FORMAT;
}

int kymo_event_format_field(const struct kymo_event *event, uint32_t field, char *out, size_t size,
                            size_t *length) {
  struct spelling text = {.out = out, .size = size ? size - 1 : 0};
  struct kymo_value value;
  struct kymo_walk walk;
  enum kymo_token token;
  const char *name;
  int status = kymo_event_get_value(event, field, &value, &token);
  if (status == KYMO_OK && field == KYMO_FIELD_EVENT &&
      kymo_event_get_token(event, field, NULL, &name) == KYMO_OK)
    put_text(&text, name);
  else if (status == KYMO_OK && token == KYMO_TOKEN_BEGIN &&
           (status = kymo_walk_field(&walk, event, field)) == KYMO_OK)
    status = put_inside(&text, &walk, value.type);
  else if (status == KYMO_OK)
    put_value(&text, token, &value);
  if (size)
    out[text.length < text.size ? text.length : text.size] = '\0';
  if (length)
    *length = text.length;
  return status == KYMO_OK && text.length > text.size ? KYMO_E_RANGE : status;
}
