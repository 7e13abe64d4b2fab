/* SPDX-License-Identifier: MIT */
/* Field classes without parts: bit arrays, integers, texts, and what they have in common. */
#include "lang/ctf2/compiler.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- bits ---- */

static bool check_length(const struct ctf2_value *value, const struct kymo_type *type, uint64_t bits) {
  bool is_float = type->kind == KYMO_KIND_FLOAT;
  if (is_float && (bits == 16 || bits == 32 || bits == 64 || bits == 80 || bits == 128))
    return true;
  if (is_float && bits > 128 && bits % 32 == 0)
    return kymo_ctf2_fail(value, "floating-point numbers of %" PRIu64 " bits are not supported", bits);
  if (!is_float && bits >= 1 && bits <= 64)
    return true;
  return kymo_ctf2_expected(value, is_float ? "16, 32, 64 or 128 bits" : "1 to 64 bits");
}

static bool take_orders(struct ctf2_compiler *compiler, const struct ctf2_value *value,
                        struct kymo_type *type) {
  static const char *const orders[] = {"little-endian", "big-endian", NULL}, *const bit_orders[] = {
                                                                                 "first-to-last",
                                                                                 "last-to-first", NULL};
  struct ctf2_value order, bit_order;
  uint32_t index = 0;
  if (!kymo_ctf2_need(value, "byte-order", &order) || !kymo_ctf2_word(&order, orders, &index))
    return false;
  type->order = index ? KYMO_ORDER_BIG : KYMO_ORDER_LITTLE;
  if (!compiler->has_order) {
    compiler->has_order = true;
    compiler->schema->order = type->order;
  }
  if (!kymo_ctf2_get(value, "bit-order", &bit_order))
    return true;
  type->bits_reversed =
      kymo_ctf2_word(&bit_order, bit_orders, &index) && (index == 1) != (type->order == KYMO_ORDER_BIG);
  return !compiler->session->common.failed;
}

bool kymo_ctf2_fixed_scalar(struct ctf2_compiler *compiler, const struct ctf2_value *value,
                            struct kymo_type *type) {
  struct ctf2_value length, align;
  uint64_t bits = 0;
  if (!kymo_ctf2_need(value, "length", &length) || !kymo_ctf2_unsigned(&length, &bits) ||
      !check_length(&length, type, bits) || !take_orders(compiler, value, type))
    return false;
  type->size_bits = (uint32_t)bits;
  return !kymo_ctf2_get(value, "alignment", &align) || kymo_ctf2_alignment(&align, &type->align_bits);
}

/* ---- ranges ---- */

static bool take_bound(const struct ctf2_value *value, bool is_signed, uint64_t *out) {
  int64_t number = 0;
  if (!is_signed)
    return kymo_ctf2_unsigned(value, out);
  bool ok = kymo_ctf2_signed(value, &number);
  *out = (uint64_t)number;
  return ok;
}

static bool take_range(const struct ctf2_value *value, bool is_signed, struct kymo_range *range) {
  if (!json_is_array(value->json) || json_array_size(value->json) != 2)
    return kymo_ctf2_expected(value, "a range, which is two numbers");
  struct ctf2_value low = kymo_ctf2_element(value, 0), high = kymo_ctf2_element(value, 1);
  if (!take_bound(&low, is_signed, &range->low) || !take_bound(&high, is_signed, &range->high))
    return false;
  bool is_backwards = is_signed ? (int64_t)range->low > (int64_t)range->high : range->low > range->high;
  return !is_backwards || kymo_ctf2_fail(value, "the range ends before it begins");
}

bool kymo_ctf2_ranges(struct ctf2_compiler *compiler, const struct ctf2_value *value, bool is_signed,
                      const struct kymo_range **ranges, uint32_t *count) {
  if (!kymo_ctf2_array(value))
    return false;
  size_t size = json_array_size(value->json);
  struct kymo_range *list = kymo_lang_keep(compiler->session, size, sizeof *list);
  if (!list)
    return false;
  for (size_t i = 0; i < size; i++) {
    struct ctf2_value range = kymo_ctf2_element(value, i);
    if (!take_range(&range, is_signed, &list[i]))
      return false;
  }
  *ranges = list;
  *count = (uint32_t)size;
  return true;
}

/* ---- mappings ---- */

static bool check_flags(const struct ctf2_value *value, const struct kymo_range *ranges, uint32_t count,
                        uint32_t bits) {
  for (uint32_t i = 0; i < count; i++) {
    struct ctf2_value range = kymo_ctf2_element(value, i);
    if (ranges[i].high >= bits)
      return kymo_ctf2_fail(&range, "there is no bit %" PRIu64 " in %" PRIu32, ranges[i].high, bits);
  }
  return true;
}

/* Adds the ranges of one name to type->mappings, which have space. */
static bool take_mapping(struct ctf2_compiler *compiler, const struct ctf2_value *value,
                         struct kymo_type *type, struct kymo_mapping *mappings) {
  const struct kymo_range *ranges = NULL;
  uint32_t count = 0;
  bool is_flags = type->kind == KYMO_KIND_BITMAP;
  if (!kymo_ctf2_ranges(compiler, value, type->is_signed && !is_flags, &ranges, &count))
    return false;
  if (count == 0)
    return kymo_ctf2_expected(value, "at least one range");
  if (is_flags && !check_flags(value, ranges, count, type->size_bits))
    return false;
  const char *name = kymo_lang_keep_text(compiler->session, value->key, strlen(value->key));
  for (uint32_t i = 0; i < count; i++)
    mappings[type->mapping_count++] = (struct kymo_mapping){name, ranges[i].low, ranges[i].high};
  return name != NULL;
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of an object, sorted: their order has no meaning in JSON. */
static const char **names_of(struct ctf2_compiler *compiler, json_t *object) {
  const char **names = kymo_lang_new(compiler->session, json_object_size(object), sizeof *names), *name;
  json_t *value;
  size_t count = 0;
  if (!names)
    return NULL;
  json_object_foreach(object, name, value) names[count++] = name;
  if (count > 0)
    qsort(names, count, sizeof *names, by_text);
  return names;
}

/* Puts sorted mappings into the order of our attribute: each name takes its next range. */
static bool reorder(struct ctf2_compiler *compiler, const struct ctf2_value *order, struct kymo_type *type,
                    json_t *next) {
  uint32_t count = type->mapping_count;
  struct kymo_mapping *list = kymo_lang_keep(compiler->session, count, sizeof *list);
  if (!list)
    return false;
  for (uint32_t i = 0; i < count; i++)
    if (!json_object_get(next, type->mappings[i].name))
      json_object_set_new(next, type->mappings[i].name, json_integer(i));
  if (json_array_size(order->json) != count)
    return kymo_ctf2_fail(order, "expected as many names as there are ranges: %" PRIu32, count);
  for (uint32_t i = 0; i < count; i++) {
    struct ctf2_value name = kymo_ctf2_element(order, i);
    const char *text = json_is_string(name.json) ? json_string_value(name.json) : "";
    json_t *at = json_object_get(next, text);
    json_int_t from = at ? json_integer_value(at) : count;
    if (from >= count || strcmp(type->mappings[from].name, text) != 0)
      return kymo_ctf2_expected(&name, "a name that has a range left");
    list[i] = type->mappings[from];
    json_integer_set(at, from + 1);
  }
  type->mappings = list;
  return true;
}

bool kymo_ctf2_mappings(struct ctf2_compiler *compiler, const struct ctf2_value *value,
                        const struct ctf2_hints *hints, struct kymo_type *type) {
  const char *name;
  json_t *ranges;
  size_t room = 0;
  if (!kymo_ctf2_object(value))
    return false;
  /* 0 if it is not an array */
  json_object_foreach(value->json, name, ranges) room += json_array_size(ranges);
  const char **names = names_of(compiler, value->json);
  struct kymo_mapping *mappings = kymo_lang_keep(compiler->session, room, sizeof *mappings);
  if (!names || !mappings || room > UINT32_MAX)
    return kymo_lang_no_memory(compiler->session);
  for (size_t i = 0; i < json_object_size(value->json); i++) {
    struct ctf2_value mapping;
    if (!kymo_ctf2_get(value, names[i], &mapping) || !take_mapping(compiler, &mapping, type, mappings))
      return false;
  }
  type->mappings = mappings;
  json_t *next = hints->has_order ? json_object() : NULL;
  bool ok = !hints->has_order ||
            (next ? reorder(compiler, &hints->order, type, next) : kymo_lang_no_memory(compiler->session));
  json_decref(next);
  return ok;
}

bool kymo_ctf2_base(const struct ctf2_value *value, struct kymo_type *type) {
  struct ctf2_value base;
  uint64_t number = 0;
  if (!kymo_ctf2_get(value, "preferred-display-base", &base))
    return true;
  if (!kymo_ctf2_unsigned(&base, &number))
    return false;
  type->base = (uint8_t)number;
  return number == 2 || number == 8 || number == 10 || number == 16 ||
         kymo_ctf2_expected(&base, "2, 8, 10 or 16");
}

bool kymo_ctf2_integer(struct ctf2_compiler *compiler, const struct ctf2_value *value,
                       const struct ctf2_hints *hints, struct kymo_type *type) {
  struct ctf2_value mappings;
  if (!kymo_ctf2_base(value, type))
    return false;
  if (kymo_ctf2_get(value, "mappings", &mappings)) {
    if (!kymo_ctf2_mappings(compiler, &mappings, hints, type))
      return false;
    if (!hints->has_enumeration)
      type->is_enumeration = type->mapping_count > 0;
  }
  return type->is_signed || kymo_ctf2_roles(compiler, value, hints, type);
}

/* ---- roles ---- */

#define IN(scope) (1u << KYMO_SCOPE_##scope)

static const struct {
  const char *name;
  uint32_t role, scopes;
} roles[] = {
    {"packet-magic-number", KYMO_ROLE_MAGIC, IN(PACKET_HEADER)},
    {"metadata-stream-uuid", KYMO_ROLE_UUID, IN(PACKET_HEADER)},
    {"data-stream-class-id", KYMO_ROLE_STREAM_CLASS_ID, IN(PACKET_HEADER)},
    {"data-stream-id", KYMO_ROLE_STREAM_ID, IN(PACKET_HEADER)},
    {"event-record-class-id", KYMO_ROLE_EVENT_CLASS_ID, IN(EVENT_HEADER)},
    {"default-clock-timestamp", KYMO_ROLE_TIMESTAMP, IN(PACKET_CONTEXT) | IN(EVENT_HEADER)},
    {"packet-end-default-clock-timestamp", KYMO_ROLE_TIMESTAMP_END, IN(PACKET_CONTEXT)},
    {"packet-total-length", KYMO_ROLE_PACKET_SIZE, IN(PACKET_CONTEXT)},
    {"packet-content-length", KYMO_ROLE_CONTENT_SIZE, IN(PACKET_CONTEXT)},
    {"packet-sequence-number", KYMO_ROLE_SEQUENCE_NUMBER, IN(PACKET_CONTEXT)},
    {"discarded-event-record-counter-snapshot", KYMO_ROLE_DISCARDED, IN(PACKET_CONTEXT)},
};

/* The magic number is 32 bits, first in the packet, and comes once. */
static bool check_magic(const struct ctf2_compiler *compiler, const struct ctf2_value *value,
                        const struct kymo_type *type) {
  if (type->kind != KYMO_KIND_INTEGER || type->size_bits != 32)
    return kymo_ctf2_fail(value, "expected an integer of 32 bits as packet-magic-number");
  if (compiler->depth != 1 || compiler->way[0] != 0)
    return kymo_ctf2_fail(value, "expected the packet-magic-number as first member of the packet header");
  return true;
}

static bool take_role(struct ctf2_compiler *compiler, const struct ctf2_value *value,
                      const struct ctf2_hints *hints, struct kymo_type *type) {
  const uint32_t times = KYMO_ROLE_TIMESTAMP | KYMO_ROLE_TIMESTAMP_END;
  size_t i = 0, count = sizeof roles / sizeof roles[0];
  if (!json_is_string(value->json))
    return kymo_ctf2_expected(value, "a role");
  while (i < count && strcmp(roles[i].name, json_string_value(value->json)) != 0)
    i++;
  bool is_uuid = i < count && roles[i].role == KYMO_ROLE_UUID;
  bool is_integer = type->kind == KYMO_KIND_INTEGER || type->kind == KYMO_KIND_VARINT;
  if (i == count || is_uuid == is_integer)
    return kymo_ctf2_fail(value, "\"%.60s\" is no role of such a field class",
                          json_string_value(value->json));
  if (!(roles[i].scopes & 1u << compiler->scope))
    return kymo_ctf2_fail(value, "the role \"%s\" has no meaning in this scope", roles[i].name);
  if (roles[i].role == KYMO_ROLE_MAGIC && !check_magic(compiler, value, type))
    return false;
  if (is_uuid && !compiler->schema->has_uuid)
    return kymo_ctf2_fail(value, "the preamble has no \"uuid\"");
  if ((roles[i].role & times) && !compiler->clock && !hints->has_clock)
    return kymo_ctf2_fail(value, "the data stream class has no default clock class");
  type->roles |= roles[i].role;
  return true;
}

bool kymo_ctf2_roles(struct ctf2_compiler *compiler, const struct ctf2_value *value,
                     const struct ctf2_hints *hints, struct kymo_type *type) {
  struct ctf2_value list;
  if (!kymo_ctf2_get(value, "roles", &list))
    return true;
  if (!kymo_ctf2_array(&list))
    return false;
  compiler->is_bound = true;
  for (size_t i = 0; i < json_array_size(list.json); i++) {
    struct ctf2_value role = kymo_ctf2_element(&list, i);
    if (!take_role(compiler, &role, hints, type))
      return false;
  }
  if ((type->roles & (KYMO_ROLE_TIMESTAMP | KYMO_ROLE_TIMESTAMP_END)) && !hints->has_clock)
    type->clock = compiler->clock;
  return true;
}

/* ---- texts ---- */

bool kymo_ctf2_encoding(const struct ctf2_value *value, const struct ctf2_hints *hints,
                        struct kymo_type *type) {
  static const char *const words[] = {"utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be", NULL};
  struct ctf2_value encoding;
  uint32_t index = 0;
  bool is_said = kymo_ctf2_get(value, "encoding", &encoding);
  if (is_said && !kymo_ctf2_word(&encoding, words, &index))
    return false;
  if (hints->has_encoding && !is_said)
    return true;
  type->encoding = (enum kymo_encoding)(KYMO_ENCODING_UTF8 + index);
  return true;
}
