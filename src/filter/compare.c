/* SPDX-License-Identifier: MIT */
/*
 * Comparing values of filters. No relation holds between values that cannot be compared, not even <>; but a
 * number with interpretations is unequal to a text that is none of them.
 */
#include "base/bytes.h"
#include "filter/machine.h"
#include <arpa/inet.h>
#include <stdlib.h>

static enum kymo_operation operation_of(enum kymo_filter_relation relation) {
  static const uint8_t operations[] = {
      [KYMO_FILTER_EQUAL] = KYMO_OP_EQUAL,     [KYMO_FILTER_UNEQUAL] = KYMO_OP_UNEQUAL,
      [KYMO_FILTER_LESS] = KYMO_OP_LESS,       [KYMO_FILTER_AT_MOST] = KYMO_OP_LESS_EQUAL,
      [KYMO_FILTER_GREATER] = KYMO_OP_GREATER, [KYMO_FILTER_AT_LEAST] = KYMO_OP_GREATER_EQUAL,
  };
  return (enum kymo_operation)operations[relation];
}

static bool holds(int order, enum kymo_filter_relation relation) {
  return kymo_order_holds(operation_of(relation), order);
}

/* ---- interpretations ---- */

static struct kymo_wide wide_of(const struct kymo_type *type, uint64_t value) {
  return type->is_signed ? kymo_wide_of_i64((int64_t)value) : kymo_wide_of_u64(value);
}

/* The least and greatest code of an interpretation; equality checks each range. */
static bool relate_label(const struct filter_value *a, enum kymo_filter_relation relation,
                         const struct filter_value *b) {
  const struct kymo_type *type = a->type;
  struct kymo_wide low = {0, 0}, high = {0, 0};
  bool is_known = false, is_it = false;
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    const struct kymo_mapping *mapping = &type->mappings[i];
    if (strlen(mapping->name) != b->v.size || memcmp(mapping->name, b->v.p, (size_t)b->v.size) != 0)
      continue;
    struct kymo_wide from = wide_of(type, mapping->low), to = wide_of(type, mapping->high);
    low = !is_known || kymo_wide_compare(from, low) < 0 ? from : low;
    high = !is_known || kymo_wide_compare(to, high) > 0 ? to : high;
    is_known = true;
    is_it |= kymo_wide_compare(a->v.n, from) >= 0 && kymo_wide_compare(a->v.n, to) <= 0;
  }
  switch (relation) {
  case KYMO_FILTER_EQUAL: return is_it;
  case KYMO_FILTER_UNEQUAL: return !is_it;
  case KYMO_FILTER_LESS: return is_known && kymo_wide_compare(a->v.n, low) < 0;
  case KYMO_FILTER_AT_MOST: return is_known && kymo_wide_compare(a->v.n, high) <= 0;
  case KYMO_FILTER_GREATER: return is_known && kymo_wide_compare(a->v.n, high) > 0;
  default: return is_known && kymo_wide_compare(a->v.n, low) >= 0;
  }
}

/* ---- addresses ---- */

static bool parse_hex_groups(const char *text, struct filter_address *address, const uint8_t *groups,
                             char separator) {
  uint8_t *out = address->bytes;
  for (size_t i = 0; groups[i]; i++) {
    if (i > 0 && *text++ != separator)
      return false;
    for (unsigned j = 0; j < groups[i]; j++, text += 2) {
      char pair[3] = {text[0], text[0] ? text[1] : '\0', 0}, *end;
      *out++ = (uint8_t)strtoul(pair, &end, 16);
      if (end != pair + 2 || pair[0] == '+' || pair[0] == '-' || pair[0] == ' ')
        return false;
    }
  }
  address->size = (uint8_t)(out - address->bytes);
  return *text == 0;
}

struct filter_address kymo_filter_parse_address(const struct kymo_filter_text *text) {
  static const uint8_t uuid[] = {4, 2, 2, 2, 6, 0}, hardware[] = {1, 1, 1, 1, 1, 1, 0};
  struct filter_address address = {.size = 0};
  if (text->length > 45 || memchr(text->bytes, 0, text->length))
    return address;
  if (inet_pton(AF_INET, text->bytes, address.bytes) == 1) {
    address.size = 4;
  } else if (inet_pton(AF_INET6, text->bytes, address.bytes) == 1) {
    address.size = 16;
  } else if (parse_hex_groups(text->bytes, &address, uuid, '-')) {
    address.is_uuid = true;
  } else if (!parse_hex_groups(text->bytes, &address, hardware, ':')) {
    address.size = 0;
  }
  return address;
}

/* An address in a field: the same bytes; one of IPv4 in sixteen bytes also before zeros (utmp) or after
 * ::ffff:. */
static bool has_address(const struct filter_value *field, uint8_t size, const uint8_t **bytes) {
  static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}, zeros[12] = {0};
  *bytes = field->v.p;
  if (field->v.size == size)
    return true;
  if (size != 4 || field->v.size != 16)
    return false;
  if (memcmp(field->v.p, mapped, sizeof mapped) == 0) {
    *bytes = field->v.p + 12;
    return true;
  }
  return memcmp(field->v.p + 4, zeros, sizeof zeros) == 0;
}

/* A number as an address of IPv4, the first byte in the highest bits. */
static bool relate_number(const struct filter_value *a, enum kymo_filter_relation relation,
                          const struct filter_address *address) {
  return holds(kymo_wide_compare(a->v.n, kymo_wide_of_u64(kymo_load_be32(address->bytes))), relation);
}

static bool is_blob(const struct filter_value *value) {
  return value->type &&
         (value->type->kind == KYMO_KIND_BLOB_ARRAY || value->type->kind == KYMO_KIND_BLOB_SEQUENCE);
}

/* ---- texts ---- */

static bool relate_texts(const struct filter_value *a, enum kymo_filter_relation relation,
                         const struct filter_value *b) {
  const uint8_t *bytes;
  const struct filter_address *address = b->literal ? &b->literal->address : NULL;
  if (address && address->size > 0 && is_blob(a) && has_address(a, address->size, &bytes))
    return holds(memcmp(bytes, address->bytes, address->size), relation);
  return kymo_relation_holds(operation_of(relation), &a->v, &b->v);
}

/* ---- lengths of time ---- */

/* A number of a unit of time as picoseconds. */
static bool span_of(const struct filter_value *number, struct kymo_wide *span) {
  static const struct {
    const char *name;
    uint64_t ps;
  } units[] = {
      {"ps", 1}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {"s", UINT64_C(1000000000000)},
  };
  const char *unit = number->type ? number->type->unit : NULL;
  for (size_t i = 0; unit && i < sizeof units / sizeof *units; i++) {
    if (strcmp(unit, units[i].name) != 0)
      continue;
    if (number->v.sort == KYMO_SORT_NUMBER)
      return kymo_wide_multiply(number->v.n, kymo_wide_of_u64(units[i].ps), span);
    double ps = number->v.f * (double)units[i].ps;
    *span = kymo_wide_of_i64(ps >= -9e18 && ps <= 9e18 ? (int64_t)ps : 0);
    return ps >= -9e18 && ps <= 9e18;
  }
  return false;
}

static bool relate_spans(const struct filter_value *a, enum kymo_filter_relation relation,
                         const struct filter_value *b) {
  struct kymo_wide x = a->v.n, y = b->v.n;
  if ((a->v.sort != KYMO_SORT_SPAN && !span_of(a, &x)) || (b->v.sort != KYMO_SORT_SPAN && !span_of(b, &y)))
    return false;
  return holds(kymo_wide_compare(x, y), relation);
}

/* ---- all ---- */

static enum kymo_filter_relation turn(enum kymo_filter_relation relation) {
  static const enum kymo_filter_relation turned[] = {KYMO_FILTER_EQUAL,   KYMO_FILTER_UNEQUAL,
                                                     KYMO_FILTER_GREATER, KYMO_FILTER_AT_LEAST,
                                                     KYMO_FILTER_LESS,    KYMO_FILTER_AT_MOST};
  return turned[relation];
}

static bool relate_mixed(const struct filter_value *a, enum kymo_filter_relation relation,
                         const struct filter_value *b) {
  if (a->v.sort == KYMO_SORT_BYTES)
    return b->v.sort != KYMO_SORT_BYTES && relate_mixed(b, turn(relation), a);
  if (b->v.sort != KYMO_SORT_BYTES)
    return false;
  if (a->v.sort == KYMO_SORT_NUMBER && a->type && a->type->is_enumeration)
    return relate_label(a, relation, b);
  if (a->v.sort == KYMO_SORT_NUMBER && a->type && a->type->mapping_count > 0 &&
      a->type->kind != KYMO_KIND_BITMAP)
    return relate_label(a, relation, b);
  bool is_address = a->v.sort == KYMO_SORT_NUMBER && a->type && a->type->size_bits == 32 && b->literal &&
                    b->literal->address.size == 4;
  return is_address && relate_number(a, relation, &b->literal->address);
}

/* Operands whose types matter for the comparison come first: texts, and numbers with a unit of time. */
bool kymo_filter_relate(const struct filter_value *a, enum kymo_filter_relation relation,
                        const struct filter_value *b) {
  enum kymo_sort x = a->v.sort, y = b->v.sort;
  if (x == KYMO_SORT_ABSENT || y == KYMO_SORT_ABSENT)
    return false;
  if (x == KYMO_SORT_BYTES && y == KYMO_SORT_BYTES)
    return a->literal && !b->literal ? relate_texts(b, turn(relation), a) : relate_texts(a, relation, b);
  if (x == KYMO_SORT_BYTES || y == KYMO_SORT_BYTES)
    return relate_mixed(a, relation, b);
  bool has_span = x == KYMO_SORT_SPAN || y == KYMO_SORT_SPAN;
  if (x != y && has_span && x != KYMO_SORT_MOMENT && y != KYMO_SORT_MOMENT)
    return relate_spans(a, relation, b);
  return kymo_relation_holds(operation_of(relation), &a->v, &b->v);
}

bool kymo_filter_is_between(const struct filter_value *value, const struct filter_value *low,
                            const struct filter_value *high) {
  return kymo_filter_relate(value, KYMO_FILTER_AT_LEAST, low) &&
         kymo_filter_relate(value, KYMO_FILTER_AT_MOST, high);
}
