/* SPDX-License-Identifier: MIT */
#include "schema/definition.h"
#include "schema/attribute.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEAD_BYTES = 16, FIELD_BYTES = 6 };

__attribute__((format(printf, 3, 4))) static bool fail(struct kymo_event_definition_fault *fault, size_t at,
                                                       const char *format, ...) {
  va_list args;
  va_start(args, format);
  fault->at = at;
  vsnprintf(fault->text, sizeof fault->text, format, args);
  va_end(args);
  return false;
}

/* ---- what fields may be ---- */

static bool is_power(uint32_t size, uint32_t most) { return size && size <= most && !(size & (size - 1)); }

bool kymo_field_is_known(uint32_t what) {
  uint32_t bytes = kymo_field_bytes(what), element = kymo_field_element(what);
  uint32_t flags = what & (KYMO_FIELD_HEX | KYMO_FIELD_LITTLE | KYMO_FIELD_BIG);
  uint32_t order = flags & ~KYMO_FIELD_HEX;
  if (order == (KYMO_FIELD_LITTLE | KYMO_FIELD_BIG))
    return false;
  switch (kymo_field_kind(what)) {
  case KYMO_FIELD_IS_SIGNED:
  case KYMO_FIELD_IS_UNSIGNED: return is_power(bytes, 8) && !element;
  case KYMO_FIELD_IS_FLOAT: return (bytes == 4 || bytes == 8) && !element && order == flags;
  case KYMO_FIELD_IS_TEXT:
  case KYMO_FIELD_IS_ID: return !bytes && !element && !flags;
  case KYMO_FIELD_IS_COUNTED_TEXT: return is_power(bytes, 4) && element == 1 && order == flags;
  case KYMO_FIELD_IS_ARRAY:
    return is_power(bytes, 4) && is_power(element, 8) && (element > 1 || order == flags);
  case KYMO_FIELD_IS_MEMORY:
  case KYMO_FIELD_IS_CHARS: return bytes && !element && !flags;
  case KYMO_FIELD_IS_TIME: return bytes == 8 && !element && order == flags;
  case KYMO_FIELD_IS_TIMEVAL: return (bytes == 8 || bytes == 12) && !element && order == flags;
  default: return false;
  }
}

bool kymo_field_is_name(const char *name, size_t length) {
  bool is = length > 0 && length <= KYMO_DEFINITION_NAME_MAX;
  for (size_t i = 0; is && i < length; i++)
    is = (unsigned char)name[i] >= ' ' && name[i] != 0x7f;
  return is;
}

/* ---- records ---- */

static const char *take_text(struct kymo_bytes *bytes, size_t length) {
  return (const char *)kymo_bytes_take(bytes, length);
}

static bool parse_field(struct kymo_event_definition *out, struct kymo_bytes *bytes,
                        struct kymo_event_definition_fault *fault) {
  struct kymo_event_definition_field *field = &out->fields[out->field_count];
  size_t at = bytes->at;
  field->what = kymo_bytes_u32(bytes);
  field->name_length = kymo_bytes_u16(bytes);
  field->name = take_text(bytes, field->name_length);
  if (bytes->failed)
    return fail(fault, at, "expected field %u of a definition, found its end", out->field_count);
  if (!kymo_field_is_known(field->what))
    return fail(fault, at, "expected a known kind of field, found 0x%08x", field->what);
  if (!kymo_field_is_name(field->name, field->name_length))
    return fail(fault, at + FIELD_BYTES, "expected the name of field %u, found %u bytes that are none",
                out->field_count, field->name_length);
  for (uint32_t i = 0; i < out->field_count; i++)
    if (out->fields[i].name_length == field->name_length &&
        !memcmp(out->fields[i].name, field->name, field->name_length))
      return fail(fault, at + FIELD_BYTES, "expected another name than that of field %u, found it again", i);
  out->field_count++;
  return true;
}

static bool parse_head(struct kymo_event_definition *out, struct kymo_bytes *bytes, uint32_t *fields,
                       struct kymo_event_definition_fault *fault) {
  out->index = kymo_bytes_u16(bytes);
  out->application = kymo_bytes_u16(bytes);
  out->version = kymo_bytes_u16(bytes);
  *fields = kymo_bytes_u16(bytes);
  out->id = kymo_bytes_u32(bytes);
  out->name_length = kymo_bytes_u16(bytes);
  out->template_length = kymo_bytes_u16(bytes);
  out->name = take_text(bytes, out->name_length);
  out->template_text = take_text(bytes, out->template_length);
  if (bytes->failed)
    return fail(fault, bytes->at, "expected a definition of at least %u bytes, found %zu",
                HEAD_BYTES + out->name_length + out->template_length, bytes->size);
  if (!kymo_field_is_name(out->name, out->name_length))
    return fail(fault, HEAD_BYTES, "expected the name of an event, found %u bytes that are none",
                out->name_length);
  if (out->template_length > KYMO_DEFINITION_TEMPLATE_MAX)
    return fail(fault, 14, "expected a print template of at most %u bytes, found %u",
                KYMO_DEFINITION_TEMPLATE_MAX, out->template_length);
  if (out->template_length && memchr(out->template_text, 0, out->template_length))
    return fail(fault, HEAD_BYTES + out->name_length, "expected a print template, found a zero in it");
  if (*fields > KYMO_DEFINITION_FIELDS_MAX)
    return fail(fault, 6, "expected at most %u fields, found %u", KYMO_DEFINITION_FIELDS_MAX, *fields);
  return true;
}

bool kymo_event_definition_parse(struct kymo_event_definition *out, const void *data, size_t size,
                                 bool is_big, struct kymo_event_definition_fault *fault) {
  struct kymo_bytes bytes = {.data = data, .size = size, .is_big = is_big};
  uint32_t fields;
  out->field_count = 0;
  if (!parse_head(out, &bytes, &fields, fault))
    return false;
  while (out->field_count < fields)
    if (!parse_field(out, &bytes, fault))
      return false;
  return bytes.at == size ||
         fail(fault, bytes.at, "expected the end of a definition, found %zu bytes more", size - bytes.at);
}

size_t kymo_event_definition_size(const struct kymo_event_definition *definition) {
  size_t size = HEAD_BYTES + (size_t)definition->name_length + definition->template_length;
  for (uint32_t i = 0; i < definition->field_count; i++)
    size += FIELD_BYTES + (size_t)definition->fields[i].name_length;
  return size;
}

static unsigned char *put(unsigned char *at, const void *bytes, size_t size) {
  if (size)
    memcpy(at, bytes, size);
  return at + size;
}

void kymo_event_definition_put(const struct kymo_event_definition *definition, unsigned char *at) {
  at = put(at, &definition->index, 2);
  at = put(at, &definition->application, 2);
  at = put(at, &definition->version, 2);
  at = put(at, &definition->field_count, 2);
  at = put(at, &definition->id, 4);
  at = put(at, &definition->name_length, 2);
  at = put(at, &definition->template_length, 2);
  at = put(at, definition->name, definition->name_length);
  at = put(at, definition->template_text, definition->template_length);
  for (uint32_t i = 0; i < definition->field_count; i++) {
    const struct kymo_event_definition_field *field = &definition->fields[i];
    uint16_t length = (uint16_t)field->name_length;
    at = put(at, &field->what, 4);
    at = put(at, &length, 2);
    at = put(at, field->name, length);
  }
}

/* ---- events ---- */

/* Length of the part of a name that messages show. */
static int shown(uint32_t length) { return length < 64 ? (int)length : 64; }

static uint64_t read_number(struct kymo_bytes *bytes, uint32_t size) {
  switch (size) {
  case 1: return kymo_bytes_u8(bytes);
  case 2: return kymo_bytes_u16(bytes);
  case 4: return kymo_bytes_u32(bytes);
  default: return kymo_bytes_u64(bytes);
  }
}

static void read_text(struct kymo_bytes *bytes, struct kymo_event_definition_value *value) {
  const uint8_t *begin = bytes->data + bytes->at;
  size_t rest = bytes->size - bytes->at, length = rest ? strnlen((const char *)begin, rest) : 0;
  bytes->failed |= length == rest;
  value->bytes = begin;
  value->count = (uint32_t)length;
  bytes->at += bytes->failed ? 0 : length + 1;
}

static void read_counted(struct kymo_bytes *bytes, uint32_t what, struct kymo_event_definition_value *value) {
  uint64_t count = read_number(bytes, kymo_field_bytes(what)), size = count * kymo_field_element(what);
  bytes->failed |= size > bytes->size - bytes->at;
  value->count = (uint32_t)count;
  value->bytes = bytes->failed ? NULL : kymo_bytes_take(bytes, (size_t)size);
}

static void read_value(struct kymo_bytes *bytes, uint32_t what, struct kymo_event_definition_value *value) {
  uint32_t size = kymo_field_bytes(what);
  switch (kymo_field_kind(what)) {
  case KYMO_FIELD_IS_SIGNED:
    value->number = (uint64_t)kymo_sign_extend(read_number(bytes, size), size * 8);
    break;
  case KYMO_FIELD_IS_TEXT: read_text(bytes, value); break;
  case KYMO_FIELD_IS_COUNTED_TEXT:
  case KYMO_FIELD_IS_ARRAY: read_counted(bytes, what, value); break;
  case KYMO_FIELD_IS_MEMORY:
  case KYMO_FIELD_IS_CHARS:
    value->bytes = kymo_bytes_take(bytes, size);
    value->count = size;
    break;
  case KYMO_FIELD_IS_TIMEVAL:
    value->number = size == 8 ? kymo_bytes_u32(bytes) : kymo_bytes_u64(bytes);
    value->microseconds = kymo_bytes_u32(bytes);
    break;
  default: value->number = read_number(bytes, size); break;
  }
}

bool kymo_event_definition_read(const struct kymo_event_definition *definition, uint32_t field,
                                struct kymo_bytes *bytes, struct kymo_event_definition_value *value,
                                struct kymo_event_definition_fault *fault) {
  const struct kymo_event_definition_field *of = &definition->fields[field];
  bool is_big = bytes->is_big;
  size_t at = bytes->at;
  *value = (struct kymo_event_definition_value){.number = definition->id};
  if (kymo_field_kind(of->what) == KYMO_FIELD_IS_ID)
    return true;
  bytes->is_big = value->is_big = of->what & KYMO_FIELD_BIG      ? true
                                  : of->what & KYMO_FIELD_LITTLE ? false
                                                                 : is_big;
  read_value(bytes, of->what, value);
  bytes->is_big = is_big;
  return !bytes->failed ||
         fail(fault, at, "expected field %.*s of %.*s, found %zu bytes", shown(of->name_length), of->name,
              shown(definition->name_length), definition->name, bytes->size - at);
}

bool kymo_event_definition_is_end(const struct kymo_event_definition *definition,
                                  const struct kymo_bytes *bytes, struct kymo_event_definition_fault *fault) {
  return bytes->at == bytes->size ||
         fail(fault, bytes->at, "expected the end of %.*s, found %zu bytes more",
              shown(definition->name_length), definition->name, bytes->size - bytes->at);
}

bool kymo_event_definition_fits(const struct kymo_event_definition *definition, const void *data, size_t size,
                                bool is_big, struct kymo_event_definition_fault *fault) {
  struct kymo_bytes bytes = {.data = data, .size = size, .is_big = is_big};
  struct kymo_event_definition_value value;
  for (uint32_t i = 0; i < definition->field_count; i++)
    if (!kymo_event_definition_read(definition, i, &bytes, &value, fault))
      return false;
  return kymo_event_definition_is_end(definition, &bytes, fault);
}

/* ---- event classes ---- */

static uint32_t number_of(const char *attributes, const char *key) {
  const char *value = kymo_attribute_find(attributes, key);
  return value ? (uint32_t)strtoul(value, NULL, 10) : 0;
}

bool kymo_event_definition_numbers(const struct kymo_event_class *class_,
                                   struct kymo_event_definition_numbers *out) {
  const char *attributes = class_->attributes;
  if (!attributes || !kymo_attribute_find(attributes, KYMO_DEFINITION_ID_KEY))
    return false;
  if (out)
    *out = (struct kymo_event_definition_numbers){number_of(attributes, KYMO_DEFINITION_ID_KEY),
                                                  number_of(attributes, KYMO_DEFINITION_APPLICATION_KEY),
                                                  number_of(attributes, KYMO_DEFINITION_VERSION_KEY)};
  return true;
}
