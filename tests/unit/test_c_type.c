/* SPDX-License-Identifier: MIT */
/* kymo_builder_lookup_or_create_type_id: C types as this compiler and this machine have them. */
#include "schema/parts.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <kymo/schema.h>
#include <limits.h>
#include <string.h>
#include <sys/types.h>

enum color { RED, GREEN };
typedef short vector[3];
typedef void (*callback)(int);
#define NAME_LENGTH 16

static const enum kymo_byte_order own_order =
    __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? KYMO_ORDER_BIG : KYMO_ORDER_LITTLE;

static struct kymo_schema *finish(struct kymo_builder *b) {
  struct kymo_error error = {0};
  struct kymo_schema *schema = kymo_builder_finish(b, &error);
  if (!schema)
    fail_msg("%s", error.message);
  return schema;
}

static void check_scalar(const struct kymo_type *type, const struct kymo_type *expected) {
  assert_string_equal(type->name, expected->name);
  assert_int_equal(type->kind, expected->kind);
  assert_int_equal(type->size_bits, expected->size_bits);
  assert_int_equal(type->align_bits, expected->align_bits);
  assert_int_equal(type->is_signed, expected->is_signed);
  assert_int_equal(type->is_address, expected->is_address);
  assert_int_equal(type->base, expected->base);
  assert_int_equal(type->encoding, expected->encoding);
  assert_int_equal(type->order, own_order);
}

#define BITS(T) (uint32_t)sizeof(T) * 8, .align_bits = (uint32_t) _Alignof(T) * 8
#define NUMBER(T, sign) \
  { .kind = KYMO_KIND_INTEGER, .size_bits = BITS(T), .is_signed = sign, .name = #T }
#define ADDRESS(T) \
  { .kind = KYMO_KIND_INTEGER, .size_bits = BITS(T), .is_address = true, .base = 16, .name = #T }

static void scalars_are_as_the_compiler_has_them(void **state) {
  (void)state;
  struct kymo_builder *b = kymo_builder_new();
  const uint32_t ids[] = {
      kymo_builder_lookup_or_create_type_id(b, signed char),
      kymo_builder_lookup_or_create_type_id(b, unsigned short),
      kymo_builder_lookup_or_create_type_id(b, int),
      kymo_builder_lookup_or_create_type_id(b, long unsigned),
      kymo_builder_lookup_or_create_type_id(b, long long),
      kymo_builder_lookup_or_create_type_id(b, pid_t),
      kymo_builder_lookup_or_create_type_id(b, size_t),
      kymo_builder_lookup_or_create_type_id(b, enum color),
      kymo_builder_lookup_or_create_type_id(b, callback),
      kymo_builder_lookup_or_create_type_id(b, char const *),
      kymo_builder_lookup_or_create_type_id(b, float),
      kymo_builder_lookup_or_create_type_id(b, double),
      kymo_builder_lookup_or_create_type_id(b, _Bool),
      kymo_builder_lookup_or_create_type_id(b, char),
      kymo_builder_lookup_or_create_type_id(b, const int),
  };
  const struct kymo_type expected[] = {
      NUMBER(signed char, true),
      NUMBER(unsigned short, false),
      NUMBER(int, true),
      NUMBER(unsigned long, false),
      NUMBER(long long, true),
      NUMBER(pid_t, true),
      NUMBER(size_t, false),
      NUMBER(enum color, false),
      ADDRESS(callback),
      ADDRESS(const char *),
      {.kind = KYMO_KIND_FLOAT, .size_bits = BITS(float), .name = "float"},
      {.kind = KYMO_KIND_FLOAT, .size_bits = BITS(double), .name = "double"},
      {.kind = KYMO_KIND_BOOLEAN, .size_bits = BITS(_Bool), .name = "bool"},
      {.kind = KYMO_KIND_INTEGER,
       .size_bits = BITS(char),
       .is_signed = CHAR_MIN < 0,
       .encoding = KYMO_ENCODING_UTF8,
       .name = "char"},
      NUMBER(const int, true),
  };
  struct kymo_schema *schema = finish(b);
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    assert_int_equal(ids[i], i);
    check_scalar(schema->types[ids[i]], &expected[i]);
  }
  kymo_schema_release(schema);
}

static void arrays_have_their_dimensions(void **state) {
  (void)state;
  struct kymo_builder *b = kymo_builder_new();
  uint32_t text = kymo_builder_lookup_or_create_type_id(b, char[NAME_LENGTH]);
  uint32_t texts = kymo_builder_lookup_or_create_type_id(b, char[2][NAME_LENGTH]);
  uint32_t cube = kymo_builder_lookup_or_create_type_id(b, unsigned char[2][3][4]);
  uint32_t plain = kymo_builder_lookup_or_create_type_id(b, vector);
  uint32_t pointers = kymo_builder_lookup_or_create_type_id(b, void *[5]);
  struct kymo_schema *schema = finish(b);
  const struct kymo_type *const *types = schema->types;
  assert_string_equal(types[text]->name, "char [NAME_LENGTH]");
  assert_int_equal(types[text]->kind, KYMO_KIND_TEXT_ARRAY);
  assert_int_equal(types[text]->length, 16);
  assert_int_equal(types[text]->encoding, KYMO_ENCODING_UTF8);
  assert_int_equal(types[texts]->kind, KYMO_KIND_ARRAY);
  assert_int_equal(types[texts]->length, 2);
  assert_int_equal(types[texts]->element->id, text);
  assert_string_equal(types[cube]->name, "unsigned char [2][3][4]");
  assert_int_equal(types[cube]->length, 2);
  assert_string_equal(types[cube]->element->name, "unsigned char [3][4]");
  assert_int_equal(types[cube]->element->length, 3);
  assert_int_equal(types[cube]->element->element->length, 4);
  assert_ptr_equal(types[cube]->element->element->element, kymo_schema_lookup_type(schema, "unsigned char"));
  assert_int_equal(types[plain]->length, 3);
  assert_null(types[plain]->element->name); /* a typedef does not say it */
  assert_int_equal(types[plain]->element->size_bits, 16);
  assert_string_equal(types[pointers]->element->name, "void *");
  assert_true(types[pointers]->element->is_address);
  kymo_schema_release(schema);
}

static void a_type_that_fits_is_found(void **state) {
  (void)state;
  struct kymo_builder *b = kymo_builder_new();
  static const struct kymo_mapping colors[] = {{"RED", 0, 0}, {"GREEN", 1, 1}};
  const struct kymo_type *color =
      kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                               .size_bits = sizeof(enum color) * 8,
                                               .align_bits = 8,
                                               .order = own_order,
                                               .is_enumeration = true,
                                               .mappings = colors,
                                               .mapping_count = 2,
                                               .name = "enum color"});
  const struct kymo_type *hex = kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                                                         .size_bits = sizeof(long) * 8,
                                                                         .align_bits = 8,
                                                                         .order = own_order,
                                                                         .base = 16,
                                                                         .name = "long unsigned int"});
  assert_int_equal(kymo_builder_lookup_or_create_type_id(b, enum color), color->id);
  assert_int_equal(kymo_builder_lookup_or_create_type_id(b, unsigned long), hex->id);
  assert_int_not_equal(kymo_builder_lookup_or_create_type_id(b, unsigned long[2]), KYMO_ID_NONE);
  uint32_t id = kymo_builder_lookup_or_create_type_id(b, pid_t);
  assert_int_equal(kymo_builder_lookup_or_create_type_id(b, pid_t), id);
  struct kymo_schema *schema = finish(b);
  assert_ptr_equal(kymo_schema_lookup_type(schema, "unsigned long [2]")->element, hex);
  kymo_schema_release(schema);
}

static const struct kymo_type *named(struct kymo_builder *b, struct kymo_type type, const char *name) {
  type.name = name;
  return kymo_builder_type(b, &type);
}

/* A type of the name that holds something else is not taken for it. */
static void a_type_that_does_not_fit_is_left_alone(void **state) {
  (void)state;
  struct kymo_builder *b = kymo_builder_new();
  const struct kymo_type base = {.kind = KYMO_KIND_INTEGER,
                                 .size_bits = sizeof(int) * 8,
                                 .align_bits = 8,
                                 .is_signed = true,
                                 .order = own_order};
  struct kymo_type wide = base, other_sign = base, other_order = base, real = base;
  wide.size_bits = 64;
  other_sign.is_signed = false;
  other_order.order = own_order == KYMO_ORDER_BIG ? KYMO_ORDER_LITTLE : KYMO_ORDER_BIG;
  real.kind = KYMO_KIND_FLOAT;
  real.is_signed = false;
  typedef int a, b_, c, d, e[2];
  const struct kymo_type *types[] = {
      named(b, wide, "a"), named(b, other_sign, "b_"), named(b, other_order, "c"), named(b, real, "d"),
      named(b, (struct kymo_type){.kind = KYMO_KIND_BLOB_ARRAY, .length = 2}, "e")};
  assert_int_not_equal(kymo_builder_lookup_or_create_type_id(b, a), types[0]->id);
  assert_int_not_equal(kymo_builder_lookup_or_create_type_id(b, b_), types[1]->id);
  assert_int_not_equal(kymo_builder_lookup_or_create_type_id(b, c), types[2]->id);
  assert_int_not_equal(kymo_builder_lookup_or_create_type_id(b, d), types[3]->id);
  assert_int_not_equal(kymo_builder_lookup_or_create_type_id(b, e), types[4]->id);
  uint32_t again = kymo_builder_lookup_or_create_type_id(b, a);
  assert_int_equal(again, kymo_builder_lookup_or_create_type_id(b, a));
  kymo_builder_free(b);
}

/* Members laid out by these types have the compiler's offsets. */
static void a_struct_of_them_is_laid_out_alike(void **state) {
  (void)state;
  struct example {
    char c;
    double d;
    short s;
    char text[NAME_LENGTH];
    float f;
    int last;
  };
  struct kymo_builder *b = kymo_builder_new();
  static const size_t offsets[] = {offsetof(struct example, c), offsetof(struct example, d),
                                   offsetof(struct example, s), offsetof(struct example, text),
                                   offsetof(struct example, f), offsetof(struct example, last)};
  const uint32_t ids[] = {kymo_builder_lookup_or_create_type_id(b, char),
                          kymo_builder_lookup_or_create_type_id(b, double),
                          kymo_builder_lookup_or_create_type_id(b, short),
                          kymo_builder_lookup_or_create_type_id(b, char[NAME_LENGTH]),
                          kymo_builder_lookup_or_create_type_id(b, float),
                          kymo_builder_lookup_or_create_type_id(b, int)};
  struct kymo_schema *schema = finish(b);
  size_t bits = 0;
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    const struct kymo_type *type = schema->types[ids[i]];
    bits = (bits + type->align_bits - 1) / type->align_bits * type->align_bits;
    assert_int_equal(bits, offsets[i] * 8);
    bits += type->size_bits;
  }
  kymo_schema_release(schema);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scalars_are_as_the_compiler_has_them),
      cmocka_unit_test(arrays_have_their_dimensions),
      cmocka_unit_test(a_type_that_fits_is_found),
      cmocka_unit_test(a_type_that_does_not_fit_is_left_alone),
      cmocka_unit_test(a_struct_of_them_is_laid_out_alike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
