/* SPDX-License-Identifier: MIT */
/* Types made from the data of call sites: codes and listings, here written by hand instead of by the
 * macros. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "record/fields.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INT (KYMO_TYPE_SIGNED_ | 4u)
#define U8 (KYMO_TYPE_UNSIGNED_ | 1u)
#define U16 (KYMO_TYPE_UNSIGNED_ | 2u)
#define U32 (KYMO_TYPE_UNSIGNED_ | 4u)
#define LISTED(kind) KYMO_CODE_(kind, KYMO_TYPE_LISTED_, 0, 0)
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* ---- types as text ---- */

static void put_references(struct kymo_strbuf *out, const struct kymo_type *type) {
  if (!type->selector_type)
    return;
  kymo_strbuf_puts(out, "<");
  for (uint32_t i = 0; i < type->selector.depth; i++)
    if (type->selector.steps[i] == KYMO_STEP_ELEMENT)
      kymo_strbuf_puts(out, i ? ".*" : "*");
    else
      kymo_strbuf_printf(out, "%s%u", i ? "." : "", type->selector.steps[i]);
  kymo_strbuf_puts(out, ">");
}

static void put_type(struct kymo_strbuf *out, const struct kymo_type *type);

static void put_members(struct kymo_strbuf *out, const struct kymo_type *type) {
  kymo_strbuf_puts(out, "{");
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct kymo_member *member = &type->members[i];
    kymo_strbuf_printf(out, "%s%s", i ? ", " : "", member->name);
    for (uint32_t at = 0; at < member->range_count; at++)
      kymo_strbuf_printf(out, "%s%lld..%lld", at ? " " : "@", (long long)member->ranges[at].low,
                         (long long)member->ranges[at].high);
    kymo_strbuf_puts(out, ": ");
    put_type(out, member->type);
  }
  kymo_strbuf_puts(out, "}");
}

static void put_scalar(struct kymo_strbuf *out, const struct kymo_type *type) {
  static const char letters[] = {[KYMO_KIND_INTEGER] = 'u',
                                 [KYMO_KIND_BOOLEAN] = 'b',
                                 [KYMO_KIND_BITMAP] = 'm',
                                 [KYMO_KIND_FLOAT] = 'f'};
  kymo_strbuf_printf(out, "%c%u", type->is_signed ? 'i' : letters[type->kind], type->size_bits);
  if (type->size_bits > 8 &&
      type->order != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? KYMO_ORDER_LITTLE : KYMO_ORDER_BIG))
    kymo_strbuf_puts(out, " swapped");
  if (type->base)
    kymo_strbuf_printf(out, " base %u", type->base);
  if (type->is_address)
    kymo_strbuf_puts(out, " address");
  if (type->encoding)
    kymo_strbuf_puts(out, " character");
  if (type->is_enumeration || type->kind == KYMO_KIND_BITMAP)
    kymo_strbuf_puts(out, " (");
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    kymo_strbuf_printf(out, "%s%s=%lld", i ? " " : "", type->mappings[i].name,
                       (long long)type->mappings[i].low);
    if (type->mappings[i].high != type->mappings[i].low)
      kymo_strbuf_printf(out, "..%lld", (long long)type->mappings[i].high);
  }
  if (type->is_enumeration || type->kind == KYMO_KIND_BITMAP)
    kymo_strbuf_puts(out, ")");
  if (type->attributes)
    kymo_strbuf_printf(out, " %s", type->attributes);
}

static void put_type(struct kymo_strbuf *out, const struct kymo_type *type) {
  if (type->name)
    kymo_strbuf_printf(out, "%s ", type->name);
  switch (type->kind) {
  case KYMO_KIND_STRING: kymo_strbuf_puts(out, "string"); break;
  case KYMO_KIND_TEXT_ARRAY: kymo_strbuf_printf(out, "text[%llu]", (unsigned long long)type->length); break;
  case KYMO_KIND_BLOB_ARRAY: kymo_strbuf_printf(out, "bytes[%llu]", (unsigned long long)type->length); break;
  case KYMO_KIND_BLOB_SEQUENCE: kymo_strbuf_puts(out, "bytes"); break;
  case KYMO_KIND_ARRAY: kymo_strbuf_printf(out, "[%llu]", (unsigned long long)type->length); break;
  case KYMO_KIND_SEQUENCE: kymo_strbuf_puts(out, "[]"); break;
  case KYMO_KIND_OPTIONAL: kymo_strbuf_puts(out, "optional"); break;
  case KYMO_KIND_VARIANT: kymo_strbuf_puts(out, "variant"); break;
  case KYMO_KIND_UNION: kymo_strbuf_printf(out, "union%u", type->size_bits); break;
  case KYMO_KIND_STRUCT: break;
  default: put_scalar(out, type); break;
  }
  put_references(out, type);
  if (type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_VARIANT || type->kind == KYMO_KIND_UNION)
    put_members(out, type);
  if (type->element)
    kymo_strbuf_puts(out, " "), put_type(out, type->element);
}

/* ---- describing ---- */

static struct kymo_point_text point_of(const char *name, uint64_t code, const struct kymo_listing *listing) {
  struct kymo_point_text point = {.name = "g:n", .file = "file.c", .count = 1};
  snprintf(point.field[0], sizeof point.field[0], "%s", name);
  point.code[0] = code;
  point.listing[0] = listing;
  return point;
}

/* The payload of a tracepoint, "refused" if there is none, or why it makes no schema. */
static const char *described_point(const struct kymo_point_text *point) {
  static char text[4096];
  struct kymo_builder *builder = kymo_builder_new();
  struct kymo_stream_class *stream;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_strbuf out = {0};
  assert_int_equal(kymo_builder_stream(builder, &(struct kymo_stream_class){0}, &stream, NULL), 0);
  const struct kymo_type *payload = kymo_point_payload(builder, point);
  if (!payload) {
    kymo_builder_free(builder);
    return "refused";
  }
  assert_ptr_equal(kymo_point_payload(builder, point), payload); /* equal fields are one type */
  put_type(&out, payload);
  snprintf(text, sizeof text, "%s", out.text);
  kymo_strbuf_free(&out);
  assert_int_equal(kymo_builder_event(builder, stream,
                                      &(struct kymo_event_class){.name = "n", .payload = payload}, NULL,
                                      NULL),
                   0);
  struct kymo_schema *schema = kymo_builder_finish(builder, &error);
  if (!schema)
    return kymo_error_text(&error, text, sizeof text);
  kymo_schema_release(schema);
  return text;
}

static const char *described(uint64_t code, const struct kymo_listing *listing) {
  struct kymo_point_text point = point_of("f", code, listing);
  return described_point(&point);
}

/* ---- scalars ---- */

static void scalars_bear_the_names_of_their_c_types(void **state) {
  (void)state;
  assert_string_equal(described(INT, NULL), "{f: int i32}");
  assert_string_equal(described(KYMO_TYPE_UNSIGNED_ | 8, NULL), "{f: unsigned long long u64}");
  assert_string_equal(described(KYMO_TYPE_UNSIGNED_ | 8 | KYMO_CODE_LONG_, NULL), "{f: unsigned long u64}");
  assert_string_equal(described(KYMO_TYPE_SIGNED_ | 4 | KYMO_CODE_LONG_, NULL), "{f: long i32}");
  assert_string_equal(described(KYMO_TYPE_SIGNED_ | 1, NULL), "{f: signed char i8}");
  assert_string_equal(described(KYMO_TYPE_BOOL_ | 1, NULL), "{f: bool b8}");
  assert_string_equal(described(KYMO_TYPE_FLOAT_ | 4, NULL), "{f: float f32}");
  assert_string_equal(described(KYMO_TYPE_FLOAT_ | 8, NULL), "{f: double f64}");
  assert_string_equal(described(KYMO_TYPE_POINTER_ | sizeof(void *), NULL),
                      sizeof(void *) == 8 ? "{f: u64 base 16 address}" : "{f: u32 base 16 address}");
  assert_string_equal(described(KYMO_TYPE_TEXT_, NULL), "{f: string}");
}

static void formats_and_byte_orders_are_kept(void **state) {
  (void)state;
  bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  assert_string_equal(described(KYMO_CODE_(KYMO_KIND_VALUE_, U32, 16, 0), NULL),
                      "{f: unsigned int u32 base 16}");
  assert_string_equal(described(U32 | KYMO_CODE_ADDRESS_, NULL), "{f: unsigned int u32 base 16 address}");
  assert_string_equal(described(U8 | KYMO_CODE_CHARACTER_, NULL), "{f: unsigned char u8 character}");
  assert_string_equal(described(U16 | KYMO_CODE_BIG_, NULL), is_little ? "{f: u16 swapped}" : "{f: u16}");
  assert_string_equal(described(U16 | KYMO_CODE_LITTLE_, NULL), is_little ? "{f: u16}" : "{f: u16 swapped}");
}

static void counts_stand_in_front(void **state) {
  (void)state;
  assert_string_equal(described(KYMO_CODE_(KYMO_KIND_ARRAY_, INT, 0, 0), NULL),
                      "{_f_length: u32, f: []<0> int i32}");
  assert_string_equal(described(KYMO_CODE_(KYMO_KIND_BLOB_, U8, 16, 0), NULL),
                      "{_f_length: u32, f: bytes<0>}");
  assert_string_equal(described(KYMO_CODE_(KYMO_KIND_FIXED_, U8, 16, 12), NULL), "{f: bytes[12]}");
  struct kymo_point_text point = point_of("f", KYMO_CODE_(KYMO_KIND_BLOB_, U8, 16, 0), NULL);
  point.count = 2; /* the user has a field of that name */
  point.code[1] = INT;
  memcpy(point.field[1], "_f_length", sizeof "_f_length");
  assert_string_equal(described_point(&point), "{_f_length_2: u32, f: bytes<0>, _f_length: int i32}");
}

/* ---- enumerations and flags ---- */

static const struct kymo_listed colours[] = {{0, -1, {0}, 0}, {0, 0, {0}, 0}, {0, 7, {0}, 0}, {0, 7, {0}, 0}};

static void enumerators_become_mappings(void **state) {
  (void)state;
  struct kymo_listing listing = {KYMO_LISTING_ENUM_,
                                 COUNT(colours),
                                 INT,
                                 4,
                                 "enum colour\0NONE, colour::RED, a::b::BLUE , KYMO_AS(AZURE, 7)",
                                 colours,
                                 NULL};
  assert_string_equal(described(LISTED(KYMO_KIND_VALUE_), &listing),
                      "{f: enum colour i32 (NONE=-1 RED=0 BLUE=7 AZURE=7)}");
  listing.code = U8; /* the same numbers in eight bits */
  assert_string_equal(described(LISTED(KYMO_KIND_VALUE_), &listing),
                      "{f: enum colour u8 (NONE=255 RED=0 BLUE=7 AZURE=7)}");
  listing.code = KYMO_TYPE_UNSIGNED_ | 8;
  assert_string_equal(described(LISTED(KYMO_KIND_VALUE_), &listing),
                      "{f: enum colour u64 (NONE=-1 RED=0 BLUE=7 AZURE=7)}");
  listing.count = 0;
  assert_string_equal(described(LISTED(KYMO_KIND_VALUE_), &listing), "{f: enum colour u64 ()}");
}

static void flags_name_their_bits_and_keep_those_without(void **state) {
  (void)state;
  static const struct kymo_listed flags[] = {{0, 1, {0}, 0},    {0, 0, {0}, 0},  {0, 6, {0}, 0},
                                             {0, 0x50, {0}, 0}, {0, -1, {0}, 0}, {0, 0, {0}, 0}};
  struct kymo_listing listing = {KYMO_LISTING_FLAGS_,
                                 COUNT(flags),
                                 INT,
                                 4,
                                 "enum mode\0READ, NONE, WRITE, EVEN, ALL, \"q\"",
                                 flags,
                                 NULL};
  assert_string_equal(described(LISTED(KYMO_KIND_VALUE_), &listing),
                      "{f: enum mode m32 (READ=0 WRITE=1..2 EVEN=4 EVEN=6 ALL=0..31) "
                      "{\"kymo\":{\"zero\":[\"NONE\",\"\\\"q\\\"\"]}}}");
  listing.code = KYMO_TYPE_UNSIGNED_ | 8;
  listing.count = 1;
  assert_string_equal(described(LISTED(KYMO_KIND_VALUE_), &listing), "{f: enum mode m64 (READ=0)}");
  listing.members = (const struct kymo_listed[]){{0, INT64_MIN, {0}, 0}};
  assert_string_equal(described(LISTED(KYMO_KIND_VALUE_), &listing), "{f: enum mode m64 (READ=63)}");
  listing.members = (const struct kymo_listed[]){{0, -1, {0}, 0}};
  assert_string_equal(described(LISTED(KYMO_KIND_VALUE_), &listing), "{f: enum mode m64 (READ=0..63)}");
}

static void scalars_keep_the_name_of_their_typedef(void **state) {
  (void)state;
  const struct kymo_listing listing = {KYMO_LISTING_NAMED_, 0, INT, 4, "pid_t\0", NULL, NULL};
  assert_string_equal(described(LISTED(KYMO_KIND_VALUE_), &listing), "{f: pid_t i32}");
  assert_string_equal(described(KYMO_CODE_(KYMO_KIND_VALUE_, KYMO_TYPE_LISTED_, 16, 0), &listing),
                      "{f: pid_t i32 base 16}");
  assert_string_equal(described(LISTED(KYMO_KIND_ARRAY_), &listing), "{_f_length: u32, f: []<0> pid_t i32}");
}

/* ---- structs ---- */

static const struct kymo_listed xy[] = {{INT, 0, {0}, 0}, {KYMO_TYPE_FLOAT_ | 8, 0, {0}, 0}};
static const struct kymo_listing point_listing = {KYMO_LISTING_STRUCT_, 2,  0,   16,
                                                  "struct point\0x, y", xy, NULL};

static void structs_are_packed_and_nested(void **state) {
  (void)state;
  static const struct kymo_listed members[] = {
      {U16, 0, {3, 2}, 0},
      {LISTED(KYMO_KIND_VALUE_), 0, {0}, 0},
      {LISTED(KYMO_KIND_VALUE_), 0, {2}, 0},
      {KYMO_CODE_(KYMO_KIND_CHARS_, KYMO_TYPE_CHAR_ | 1, 0, 0), 0, {8}, 0},
      {KYMO_CODE_(KYMO_KIND_CHARS_, KYMO_TYPE_CHAR_ | 1, 0, 0), 0, {4, 8}, 0}};
  static const struct kymo_listing *const types[] = {NULL, &point_listing, &point_listing, NULL, NULL};
  const struct kymo_listing box = {
      KYMO_LISTING_STRUCT_,
      COUNT(members),
      0,
      100,
      "box_t\0KYMO_HEX(grid), (struct point) at, KYMO_BITS((struct point) corners), name, names",
      members,
      types};
  assert_string_equal(described(LISTED(KYMO_KIND_VALUE_), &point_listing),
                      "{f: struct point {x: int i32, y: double f64}}");
  assert_string_equal(
      described(LISTED(KYMO_KIND_VALUE_), &box),
      "{f: box_t {grid: [3] [2] unsigned short u16, at: struct point {x: int i32, y: double f64}, "
      "corners: [2] struct point {x: int i32, y: double f64}, name: text[8], names: [4] text[8]}}");
}

static void references_lead_from_the_payload(void **state) {
  (void)state;
  static const struct kymo_listed members[] = {
      {INT, 0, {0}, 0}, {KYMO_CODE_(KYMO_KIND_ARRAY_, INT, 0, 0), 0, {0}, 0}, {KYMO_TYPE_TEXT_, 0, {0}, 0}};
  static const struct kymo_listing inner = {KYMO_LISTING_STRUCT_,          COUNT(members), 0,   32,
                                            "struct row\0id, cells, note", members,        NULL};
  static const struct kymo_listed rows[] = {{LISTED(KYMO_KIND_ARRAY_), 0, {0}, 0},
                                            {LISTED(KYMO_KIND_VALUE_), 0, {2}, 0}};
  static const struct kymo_listing *const types[] = {&inner, &inner};
  const struct kymo_listing table = {KYMO_LISTING_STRUCT_, 2, 0, 64, "struct table\0rows, last", rows, types};
  assert_string_equal(
      described(LISTED(KYMO_KIND_VALUE_), &table),
      "{f: struct table {_rows_length: u32, rows: []<0.0> struct row {id: int i32, _cells_length: u32, "
      "cells: []<0.1.*.1> int i32, note: string}, "
      "last: [2] struct row {id: int i32, _cells_length: u32, cells: []<0.2.*.1> int i32, note: string}}}");
}

static void optionals_and_unions(void **state) {
  (void)state;
  static const struct kymo_listed members[] = {
      {U32, 0, {0}, 0}, {KYMO_TYPE_FLOAT_ | 4, 0, {0}, 0}, {U8, 0, {4}, 0}};
  static const struct kymo_listing value = {
      KYMO_LISTING_UNION_, COUNT(members), 0, 4, "union value\0word, real, bytes", members, NULL};
  assert_string_equal(described(LISTED(KYMO_KIND_OPTIONAL_), &point_listing),
                      "{_f_present: b8, f: optional<0> struct point {x: int i32, y: double f64}}");
  assert_string_equal(described(KYMO_CODE_(KYMO_KIND_OPTIONAL_, INT, 0, 0), NULL),
                      "{_f_present: b8, f: optional<0> int i32}");
  static const struct kymo_listed options[] = {
      {KYMO_CODE_(KYMO_KIND_OPTIONAL_, KYMO_TYPE_CHAR_ | 1, 0, 0), 0, {2, 8}, 0},
      {KYMO_CODE_(KYMO_KIND_OPTIONAL_, INT, 0, 0), 0, {3}, 0}};
  const struct kymo_listing holder = {KYMO_LISTING_STRUCT_,
                                      2,
                                      0,
                                      32,
                                      "struct s\0KYMO_OPTIONAL(t, has_t), KYMO_OPTIONAL(n, has_n)",
                                      options,
                                      NULL};
  assert_string_equal(
      described(LISTED(KYMO_KIND_VALUE_), &holder),
      "{f: struct s {_t_present: b8, t: optional<0.0> [2] text[8], _n_present: b8, n: optional<0.2> [3] int "
      "i32}}");
  assert_string_equal(
      described(LISTED(KYMO_KIND_VALUE_), &value),
      "{f: union value union32{word: unsigned int u32, real: float f32, bytes: [4] unsigned char u8}}");
}

/* ---- variants ---- */

static void variants_have_an_empty_option_for_other_tags(void **state) {
  (void)state;
  static const struct kymo_listed members[] = {{KYMO_TYPE_TEXT_, 5, {0}, 0},
                                               {LISTED(KYMO_KIND_VALUE_), -2, {0}, 0},
                                               {KYMO_CODE_(KYMO_KIND_ARRAY_, INT, 0, 0), 6, {0}, 0}};
  static const struct kymo_listing *const types[] = {NULL, &point_listing, NULL};
  const struct kymo_listing listing = {
      KYMO_LISTING_VARIANT_,
      COUNT(members),
      0,
      16,
      "union any\0(5, KYMO_TEXT(none)), (f(1, 2), (struct point) where), ( 6 , KYMO_ARRAY((int) list, n) )",
      members,
      types};
  assert_string_equal(
      described(LISTED(KYMO_KIND_VARIANT_), &listing),
      "{_f_tag: i32, f: union any variant<0>{none@5..5: string, where@-2..-2: struct point {x: int i32, y: "
      "double f64}, "
      "list@6..6: {_list_length: u32, list: []<1.2.0> int i32}, none_2@-2147483648..-3 -1..4 7..2147483647: "
      "{}}}");
}

static void variants_at_the_ends_of_tags(void **state) {
  (void)state;
  struct kymo_listed members[] = {{INT, INT32_MAX, {0}, 0}, {INT, INT32_MIN, {0}, 0}};
  struct kymo_listing listing = {KYMO_LISTING_VARIANT_, 2, 0, 4, "union any\0(A, a), (B, b)", members, NULL};
  assert_string_equal(
      described(LISTED(KYMO_KIND_VARIANT_), &listing),
      "{_f_tag: i32, f: union any variant<0>{a@2147483647..2147483647: int i32, b@-2147483648..-2147483648: "
      "int i32, "
      "none@-2147483647..2147483646: {}}}");
  listing.count = 0;
  assert_string_equal(described(LISTED(KYMO_KIND_VARIANT_), &listing),
                      "{_f_tag: i32, f: union any variant<0>{none@-2147483648..2147483647: {}}}");
  listing.count = 2;
  members[0].tag = INT32_MIN; /* twice */
  assert_string_equal(described(LISTED(KYMO_KIND_VARIANT_), &listing), "refused");
  members[0].tag = INT64_C(1) << 32;
  assert_string_equal(described(LISTED(KYMO_KIND_VARIANT_), &listing), "refused");
}

/* ---- data that no macro writes ---- */

static void broken_descriptors_are_refused(void **state) {
  (void)state;
  struct kymo_listing listing = point_listing;
  assert_string_equal(described(LISTED(KYMO_KIND_VALUE_), NULL), "refused");
  assert_string_equal(described(LISTED(KYMO_KIND_VARIANT_), &point_listing), "refused");
  listing.text = "struct point\0x"; /* one name too few */
  assert_string_equal(described(LISTED(KYMO_KIND_VALUE_), &listing), "refused");
  listing.kind = 99;
  assert_string_equal(described(LISTED(KYMO_KIND_VALUE_), &listing), "refused");
  assert_string_equal(described(KYMO_CODE_(99, INT, 0, 0), NULL), "refused");
  assert_string_equal(described(KYMO_CODE_(KYMO_KIND_CHARS_, KYMO_TYPE_CHAR_ | 1, 0, 0), NULL),
                      "refused"); /* of what length? */
}

static void types_within_themselves_are_refused(void **state) {
  (void)state;
  static const struct kymo_listed member = {LISTED(KYMO_KIND_ARRAY_), 0, {0}, 0};
  static struct kymo_listing tree = {KYMO_LISTING_STRUCT_, 1, 0, 16, "struct tree\0children", &member, NULL};
  static const struct kymo_listing *const types[] = {&tree};
  tree.types = types;
  assert_string_equal(described(LISTED(KYMO_KIND_VALUE_), &tree), "refused");
}

static void types_out_of_reach_keep_their_names(void **state) {
  (void)state;
  struct kymo_point_text point;
  static const uint64_t codes[] = {LISTED(KYMO_KIND_VALUE_), LISTED(KYMO_KIND_VARIANT_), INT};
  static const char text[] =
      "g, n, KYMO_STRUCT(where, struct point, &p), (kymo_any, what, unsigned, 1, 2, kymo_field), len\0file.c";
  assert_true(kymo_point_parse(&point, &(struct kymo_tracepoint){.count = 3}, codes, text, sizeof text));
  point.names_only = true;
  assert_string_equal(described_point(&point),
                      "{where: struct point {}, what: unsigned int {}, len: int i32}");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scalars_bear_the_names_of_their_c_types),
      cmocka_unit_test(formats_and_byte_orders_are_kept),
      cmocka_unit_test(counts_stand_in_front),
      cmocka_unit_test(enumerators_become_mappings),
      cmocka_unit_test(flags_name_their_bits_and_keep_those_without),
      cmocka_unit_test(scalars_keep_the_name_of_their_typedef),
      cmocka_unit_test(structs_are_packed_and_nested),
      cmocka_unit_test(references_lead_from_the_payload),
      cmocka_unit_test(optionals_and_unions),
      cmocka_unit_test(variants_have_an_empty_option_for_other_tags),
      cmocka_unit_test(variants_at_the_ends_of_tags),
      cmocka_unit_test(broken_descriptors_are_refused),
      cmocka_unit_test(types_within_themselves_are_refused),
      cmocka_unit_test(types_out_of_reach_keep_their_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
