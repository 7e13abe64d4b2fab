/* SPDX-License-Identifier: MIT */
/* The model: interning, lookups, refusals of finishing, clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schema/build.h"
#include <stdio.h>
#include <string.h>

typedef const struct kymo_type *type_ref;

static struct kymo_builder *new_builder(void) {
  struct kymo_builder *builder = kymo_builder_new();
  assert_non_null(builder);
  return builder;
}

static type_ref unsigned_type(struct kymo_builder *builder, uint32_t bits) {
  return kymo_builder_type(builder, &(struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = bits});
}

/* A copy of `count` items that lives as long as the schema. */
static void *keep(struct kymo_builder *builder, const void *items, size_t count, size_t size) {
  void *copy = kymo_arena_array(kymo_builder_arena(builder), count, size);
  assert_non_null(copy);
  memcpy(copy, items, count * size);
  return copy;
}

/* A struct of up to three members named a, b, c; NULL ends the list. */
static type_ref struct_type(struct kymo_builder *builder, type_ref a, type_ref b, type_ref c) {
  struct kymo_member members[] = {{.name = "a", .source_name = "_a", .type = a},
                                  {.name = "b", .source_name = "_b", .type = b},
                                  {.name = "c", .source_name = "_c", .type = c}};
  uint32_t count = !a ? 0 : !b ? 1 : !c ? 2 : 3;
  return kymo_builder_type(builder,
                           &(struct kymo_type){.kind = KYMO_KIND_STRUCT,
                                               .member_count = count,
                                               .members = keep(builder, members, 3, sizeof members[0])});
}

static struct kymo_reference reference(struct kymo_builder *builder, enum kymo_scope scope, uint32_t depth,
                                       const uint32_t *steps) {
  return (struct kymo_reference){scope, depth, keep(builder, steps, depth, sizeof *steps)};
}

static type_ref sequence_type(struct kymo_builder *builder, type_ref element, struct kymo_reference length,
                              type_ref length_type) {
  return kymo_builder_type(builder, &(struct kymo_type){.kind = KYMO_KIND_SEQUENCE,
                                                        .element = element,
                                                        .selector = length,
                                                        .selector_type = length_type});
}

/* Finishes with `payload` as that of the one event; NULL and `error` filled if it is refused. */
static struct kymo_schema *finish_with(struct kymo_builder *builder, type_ref header, type_ref payload,
                                       struct kymo_error *error) {
  struct kymo_stream_class *stream;
  assert_int_equal(
      kymo_builder_stream(builder, &(struct kymo_stream_class){.event_header = header}, &stream, error),
      KYMO_OK);
  struct kymo_event_class event = {.name = "g:e", .payload = payload};
  assert_int_equal(kymo_builder_event(builder, stream, &event, NULL, error), KYMO_OK);
  return kymo_builder_finish(builder, error);
}

static void check_refused(struct kymo_builder *builder, type_ref payload, const char *message) {
  struct kymo_error error;
  assert_null(finish_with(builder, NULL, payload, &error));
  assert_string_equal(error.message, message);
}

/* ---- interning ---- */

static void equal_types_are_one(void **state) {
  (void)state;
  struct kymo_builder *builder = new_builder();
  type_ref u8 = unsigned_type(builder, 8), u9 = unsigned_type(builder, 9);
  assert_ptr_equal(u8, unsigned_type(builder, 8));
  assert_ptr_not_equal(u8, u9);
  assert_ptr_equal(struct_type(builder, u8, u9, NULL), struct_type(builder, u8, u9, NULL));
  assert_ptr_not_equal(struct_type(builder, u8, u9, NULL), struct_type(builder, u9, u8, NULL));
  char name1[] = "same", name2[] = "same"; /* by content, not by address */
  struct kymo_mapping mapping1 = {name1, 1, 2}, mapping2 = {name2, 1, 2}, mapping3 = {name1, 1, 3};
  struct kymo_type type = {
      .kind = KYMO_KIND_INTEGER, .size_bits = 8, .mapping_count = 1, .is_enumeration = true};
  type.mappings = keep(builder, &mapping1, 1, sizeof mapping1);
  type_ref first = kymo_builder_type(builder, &type);
  type.mappings = keep(builder, &mapping2, 1, sizeof mapping2);
  assert_ptr_equal(kymo_builder_type(builder, &type), first);
  type.mappings = keep(builder, &mapping3, 1, sizeof mapping3);
  assert_ptr_not_equal(kymo_builder_type(builder, &type), first);
  kymo_builder_free(builder);
}

static void every_property_tells_types_apart(void **state) {
  (void)state;
  struct kymo_builder *builder = new_builder();
  struct kymo_clock *clock = kymo_builder_clock(builder, &(struct kymo_clock){.name = "c", .frequency = 1});
  type_ref u8 = unsigned_type(builder, 8);
  struct kymo_range range = {1, 1};
  uint32_t step = 1;
  const struct kymo_type variations[] = {
      {.size_bits = 7},
      {.align_bits = 8},
      {.order = KYMO_ORDER_BIG},
      {.bits_reversed = true},
      {.is_signed = true},
      {.base = 16},
      {.is_address = true},
      {.encoding = KYMO_ENCODING_UTF8},
      {.roles = KYMO_ROLE_TIMESTAMP},
      {.clock = clock},
      {.name = "n"},
      {.unit = "n"},
      {.is_enumeration = true},
      {.length = 1},
      {.element = u8},
      {.selector = {KYMO_SCOPE_PAYLOAD, 0, NULL}},
      {.selector = {KYMO_SCOPE_PACKET_HEADER, 1, &step}},
      {.selector_type = u8},
      {.presence_count = 1, .presence = &range},
      {.media_type = "n"},
      {.attributes = "n"},
      {.kind = KYMO_KIND_FLOAT},
      {0},
  };
  enum { COUNT = sizeof variations / sizeof variations[0] };
  for (uint32_t i = 0; i < COUNT; i++)
    assert_int_equal(kymo_builder_type(builder, &variations[i])->id, i + 1);
  for (uint32_t i = 0; i < COUNT; i++)
    assert_int_equal(kymo_builder_type(builder, &variations[i])->id, i + 1);
  kymo_builder_free(builder);
}

static void alignment_rises_to_that_of_the_parts(void **state) {
  (void)state;
  struct kymo_builder *builder = new_builder();
  type_ref u8 = unsigned_type(builder, 8);
  assert_int_equal(u8->align_bits, 1);
  type_ref text = kymo_builder_type(builder, &(struct kymo_type){.kind = KYMO_KIND_TEXT_ARRAY, .length = 5});
  assert_int_equal(text->align_bits, 8);
  assert_int_equal(text->size_bits, 40);
  type_ref wide = kymo_builder_type(
      builder, &(struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = 32, .align_bits = 32});
  type_ref array = kymo_builder_type(builder, &(struct kymo_type){.kind = KYMO_KIND_ARRAY, .element = wide});
  assert_int_equal(array->align_bits, 32);
  assert_int_equal(struct_type(builder, text, array, u8)->align_bits, 32);
  assert_int_equal(struct_type(builder, NULL, NULL, NULL)->align_bits, 1);
  kymo_builder_free(builder);
}

static void types_of_missing_parts_fail_at_the_end(void **state) {
  (void)state;
  struct kymo_error error;
  struct kymo_builder *builder = new_builder();
  assert_null(kymo_builder_type(builder, &(struct kymo_type){.kind = KYMO_KIND_ARRAY, .element = NULL}));
  assert_null(kymo_builder_finish(builder, &error));
  assert_int_equal(error.code, KYMO_E_MEMORY);
}

/* ---- lookups ---- */

static void classes_are_found_by_any_id(void **state) {
  (void)state;
  struct kymo_error error;
  struct kymo_builder *builder = new_builder();
  struct kymo_stream_class *stream;
  for (uint64_t id = 0; id < 100; id++)
    assert_int_equal(
        kymo_builder_stream(builder, &(struct kymo_stream_class){.id = id << 57}, &stream, &error), 0);
  for (uint64_t i = 0; i < 10000; i++) {
    struct kymo_event_class event = {.id = i * i * i * 1000003, .name = "n"};
    assert_int_equal(kymo_builder_event(builder, stream, &event, NULL, &error), KYMO_OK);
  }
  struct kymo_schema *schema = kymo_builder_finish(builder, &error);
  assert_non_null(schema);
  const struct kymo_stream_class *last = kymo_schema_stream(schema, UINT64_C(99) << 57);
  assert_int_equal(last->index, 99);
  assert_int_equal(last->event_count, 10000);
  for (uint64_t i = 0; i < 10000; i++)
    assert_int_equal(kymo_stream_class_event(last, i * i * i * 1000003)->index, i);
  assert_null(kymo_stream_class_event(last, 5));
  assert_null(kymo_stream_class_event(schema->streams[0], 0));
  assert_null(kymo_schema_stream(schema, 1));
  kymo_schema_release(schema);
}

static void a_second_class_with_one_id_is_refused(void **state) {
  (void)state;
  struct kymo_error error;
  struct kymo_builder *builder = new_builder();
  struct kymo_stream_class *stream, *second = NULL;
  assert_int_equal(kymo_builder_stream(builder, &(struct kymo_stream_class){.id = 3}, &stream, &error), 0);
  assert_int_equal(kymo_builder_stream(builder, &(struct kymo_stream_class){.id = 3}, &second, &error),
                   KYMO_E_FORMAT);
  assert_string_equal(error.message, "a second stream class with id 3");
  struct kymo_event_class event = {.id = 7, .name = "n"};
  assert_int_equal(kymo_builder_event(builder, stream, &event, NULL, &error), 0);
  assert_int_equal(kymo_builder_event(builder, stream, &event, NULL, &error), KYMO_E_FORMAT);
  assert_string_equal(error.message, "a second event class with id 7 in stream class 3");
  kymo_builder_free(builder);
}

/* Ids that a plain multiplicative hash puts into one slot, as an untrusted file may choose them. */
static void chosen_ids_take_no_longer(void **state) {
  (void)state;
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_stream_class *stream;
  assert_int_equal(kymo_builder_stream(b, &(struct kymo_stream_class){.id = 0}, &stream, NULL), KYMO_OK);
  const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t inverse = factor;
  for (int i = 0; i < 6; i++)
    inverse *= 2 - factor * inverse;
  for (uint64_t i = 0; i < 300000; i++) /* minutes if they collided */
    assert_int_equal(
        kymo_builder_event(b, stream, &(struct kymo_event_class){.id = i * inverse, .name = "e"}, NULL, NULL),
        KYMO_OK);
  kymo_builder_free(b);
}

static void groups_are_the_text_before_the_first_colon(void **state) {
  (void)state;
  static const char *const cases[][2] = {{"net:rx", "net"}, {"net:rx:x", "net"}, {"plain", ""},
                                         {"a::b", ""},      {":x", ""},          {"", ""}};
  struct kymo_builder *builder = new_builder();
  struct kymo_stream_class *stream;
  assert_int_equal(kymo_builder_stream(builder, &(struct kymo_stream_class){0}, &stream, NULL), 0);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct kymo_event_class *event, wanted = {.id = i, .name = cases[i][0]};
    assert_int_equal(kymo_builder_event(builder, stream, &wanted, &event, NULL), 0);
    assert_string_equal(event->group, cases[i][1]);
  }
  kymo_builder_free(builder);
}

static void members_and_environment_are_found_by_name(void **state) {
  (void)state;
  struct kymo_builder *builder = new_builder();
  type_ref u8 = unsigned_type(builder, 8), payload = struct_type(builder, u8, u8, NULL);
  for (int i = 0; i < 20; i++) {
    char name[8];
    int length = snprintf(name, sizeof name, "v%d", i);
    struct kymo_environment entry = {kymo_arena_copy(kymo_builder_arena(builder), name, (size_t)length), NULL,
                                     i};
    assert_int_equal(kymo_builder_environment(builder, &entry), 0);
  }
  struct kymo_schema *schema = finish_with(builder, NULL, payload, NULL);
  assert_ptr_equal(kymo_type_member(payload, "b"), &payload->members[1]);
  assert_null(kymo_type_member(payload, "c"));
  assert_null(kymo_type_member(NULL, "c"));
  assert_int_equal(kymo_schema_environment(schema, "v17")->integer, 17);
  assert_null(kymo_schema_environment(schema, "v20"));
  kymo_schema_release(schema);
}

static void the_last_owner_frees(void **state) {
  (void)state;
  struct kymo_builder *builder = new_builder();
  unsigned_type(builder, 8);
  struct kymo_schema *schema = kymo_builder_finish(builder, NULL);
  assert_ptr_equal(kymo_schema_retain(schema), schema);
  kymo_schema_release(schema);
  assert_int_equal(schema->type_count, 1);
  kymo_schema_release(schema);
  kymo_schema_release(NULL);
}

/* ---- refusals of finishing ---- */

static void unusable_scalars_are_refused(void **state) {
  (void)state;
  struct kymo_mapping reversed = {"r", 2, 1}, negative = {"n", (uint64_t)-2, 1};
  static const struct {
    struct kymo_type type;
    const char *message;
  } cases[] = {
      {{.size_bits = 0}, "type: expected a width of 1 to 64 bits, found 0"},
      {{.size_bits = 65, .name = "wide"}, "type wide: expected a width of 1 to 64 bits, found 65"},
      {{.kind = KYMO_KIND_FLOAT, .size_bits = 24},
       "type: expected a float of 16, 32, 64, 80 or 128 bits, found 24"},
      {{.size_bits = 8, .align_bits = 12}, "type: expected a power of two as alignment, found 12"},
      {{.size_bits = 8, .base = 7}, "type: expected base 2, 8, 10 or 16, found 7"},
      {{.size_bits = 8, .roles = KYMO_ROLE_UUID}, "type: expected 16 bytes as UUID, found kind 0"},
      {{.size_bits = 8, .is_signed = true, .roles = KYMO_ROLE_MAGIC},
       "type: expected an unsigned integer for roles 1"},
      {{.kind = KYMO_KIND_TEXT_ARRAY, .length = UINT32_MAX}, "type: too many bytes: 4294967295"},
      {{.kind = KYMO_KIND_TEXT_SEQUENCE}, "type: nothing gives its length, tag or presence; kind 7"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct kymo_builder *builder = new_builder();
    check_refused(builder, struct_type(builder, kymo_builder_type(builder, &cases[i].type), NULL, NULL),
                  cases[i].message);
  }
  struct kymo_type type = {.size_bits = 8, .mapping_count = 1, .mappings = &reversed};
  struct kymo_builder *builder = new_builder();
  check_refused(builder, struct_type(builder, kymo_builder_type(builder, &type), NULL, NULL),
                "type: empty range in mapping 0");
  type.mappings = &negative;
  builder = new_builder();
  check_refused(builder, struct_type(builder, kymo_builder_type(builder, &type), NULL, NULL),
                "type: empty range in mapping 0");
  type.is_signed = true;
  builder = new_builder();
  struct kymo_schema *schema =
      finish_with(builder, NULL, struct_type(builder, kymo_builder_type(builder, &type), NULL, NULL), NULL);
  assert_non_null(schema);
  kymo_schema_release(schema);
}

static type_ref nested(struct kymo_builder *builder, int depth) {
  type_ref type = unsigned_type(builder, 8);
  for (int i = 0; i < depth; i++)
    type = struct_type(builder, type, NULL, NULL);
  return type;
}

static void nesting_is_bounded(void **state) {
  (void)state;
  struct kymo_error error;
  struct kymo_builder *builder = new_builder();
  struct kymo_schema *schema = finish_with(builder, NULL, nested(builder, 64), &error);
  assert_non_null(schema);
  kymo_schema_release(schema);
  builder = new_builder();
  check_refused(builder, nested(builder, 65), "types nested deeper than 64");
}

static void trees_that_explode_are_refused_at_once(void **state) {
  (void)state;
  struct kymo_builder *builder = new_builder();
  type_ref type = unsigned_type(builder, 8);
  for (int i = 0; i < 60; i++)
    type = struct_type(builder, type, type, NULL);
  check_refused(builder, type, "a type takes more than 2^40 bits");
  builder = new_builder();
  type = struct_type(builder, NULL, NULL, NULL);
  for (int i = 0; i < 60; i++)
    type = struct_type(builder, type, type, NULL);
  check_refused(builder, type, "too many fields: 2305843009213693951 in one payload, 16777217 in all");
  builder = new_builder();
  type = struct_type(builder, NULL, NULL, NULL);
  type = kymo_builder_type(builder,
                           &(struct kymo_type){.kind = KYMO_KIND_ARRAY, .element = type, .length = 1 << 30});
  check_refused(builder, struct_type(builder, type, NULL, NULL),
                "an array of 1073741824 elements without bits");
}

static void references_to_earlier_integers_are_accepted(void **state) {
  (void)state;
  struct kymo_error error;
  struct kymo_builder *builder = new_builder();
  type_ref u8 = unsigned_type(builder, 8);
  type_ref header = struct_type(builder, u8, NULL, NULL);
  type_ref from_header =
      sequence_type(builder, u8, reference(builder, KYMO_SCOPE_EVENT_HEADER, 1, (uint32_t[]){0}), u8);
  /* payload.b[].b: its length is the a beside it */
  type_ref inner = sequence_type(
      builder, u8, reference(builder, KYMO_SCOPE_PAYLOAD, 3, (uint32_t[]){1, KYMO_STEP_ELEMENT, 0}), u8);
  type_ref pairs = kymo_builder_type(
      builder, &(struct kymo_type){
                   .kind = KYMO_KIND_ARRAY, .length = 3, .element = struct_type(builder, u8, inner, NULL)});
  struct kymo_schema *schema =
      finish_with(builder, header, struct_type(builder, from_header, pairs, NULL), &error);
  assert_non_null(schema);
  kymo_schema_release(schema);
}

static void references_elsewhere_are_refused(void **state) {
  (void)state;
  static const struct {
    enum kymo_scope scope;
    uint32_t depth;
    uint32_t steps[3];
    const char *message;
  } cases[] = {
      {KYMO_SCOPE_PAYLOAD, 1, {1}, "refers to itself or to what it is in"},
      {KYMO_SCOPE_PAYLOAD, 1, {2}, "refers to a later field"},
      {KYMO_SCOPE_PAYLOAD, 1, {3}, "refers to a member that is not there"},
      {KYMO_SCOPE_PAYLOAD, 2, {1, KYMO_STEP_ELEMENT}, "refers into itself"},
      {KYMO_SCOPE_PAYLOAD, 2, {0, 0}, "refers into what has no members"},
      {KYMO_SCOPE_PAYLOAD, 0, {0}, "refers to a later scope or to no field"},
      {KYMO_SCOPE_EVENT_HEADER, 1, {0}, "refers to a scope that is not there"},
      {KYMO_SCOPE_COUNT, 1, {0}, "refers to a later scope or to no field"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct kymo_builder *builder = new_builder();
    type_ref u8 = unsigned_type(builder, 8);
    struct kymo_reference to = reference(builder, cases[i].scope, cases[i].depth, cases[i].steps);
    char message[200];
    snprintf(message, sizeof message, "event \"g:e\": payload: b: its length, tag or presence %s",
             cases[i].message);
    check_refused(builder, struct_type(builder, u8, sequence_type(builder, u8, to, u8), u8), message);
  }
}

static void references_to_wrong_kinds_are_refused(void **state) {
  (void)state;
  struct kymo_builder *builder = new_builder();
  type_ref text = kymo_builder_type(builder, &(struct kymo_type){.kind = KYMO_KIND_STRING});
  struct kymo_reference first = reference(builder, KYMO_SCOPE_PAYLOAD, 1, (uint32_t[]){0});
  check_refused(builder, struct_type(builder, text, sequence_type(builder, text, first, text), NULL),
                "event \"g:e\": payload: b: its length, tag or presence refers to what is no integer");
  builder = new_builder();
  type_ref u8 = unsigned_type(builder, 8), u9 = unsigned_type(builder, 9);
  first = reference(builder, KYMO_SCOPE_PAYLOAD, 1, (uint32_t[]){0});
  check_refused(
      builder, struct_type(builder, u8, sequence_type(builder, u8, first, u9), NULL),
      "event \"g:e\": payload: b: its length, tag or presence refers to a field of another type than "
      "declared");
  builder = new_builder();
  u8 = unsigned_type(builder, 8);
  type_ref array = kymo_builder_type(
      builder, &(struct kymo_type){
                   .kind = KYMO_KIND_ARRAY, .length = 2, .element = struct_type(builder, u8, NULL, NULL)});
  struct kymo_reference inside =
      reference(builder, KYMO_SCOPE_PAYLOAD, 3, (uint32_t[]){0, KYMO_STEP_ELEMENT, 0});
  check_refused(builder, struct_type(builder, array, sequence_type(builder, u8, inside, u8), NULL),
                "event \"g:e\": payload: b: its length, tag or presence refers to elements of another array");
}

/* ---- clocks ---- */

static void clocks_convert_exactly(void **state) {
  (void)state;
  static const struct {
    struct kymo_clock clock;
    uint64_t cycles;
    int64_t ns;
  } cases[] = {
      {{.frequency = 1000000000}, 5, 5},
      {{.frequency = 1000000000, .offset_seconds = -1}, 5, -999999995},
      {{.frequency = 3, .offset_seconds = -1}, 1, -666666667},                     /* rounded down */
      {{.frequency = 2500000000}, UINT64_C(25920000000000001), 10368000000000000}, /* beyond a double */
      {{.frequency = 2500000000}, UINT64_C(25920000000000004), 10368000000000001},
      {{.frequency = 1000, .offset_seconds = 1, .offset_cycles = 1500}, 1, 2501000000},
      {{.frequency = UINT64_MAX, .offset_cycles = UINT64_MAX}, UINT64_MAX, 2000000000},
      {{.frequency = UINT64_MAX}, UINT64_MAX - 1, 999999999},
      {{.frequency = UINT64_MAX, .offset_cycles = UINT64_MAX - 1}, UINT64_MAX - 1, 1999999999},
      {{.frequency = UINT64_C(1) << 63, .offset_cycles = UINT64_C(1) << 62}, UINT64_C(3) << 61, 1250000000},
      {{.frequency = 1}, UINT64_MAX, INT64_MAX},
      {{.frequency = 1, .offset_seconds = INT64_MAX}, UINT64_MAX, INT64_MAX},
      {{.frequency = 1, .offset_seconds = INT64_MIN}, UINT64_C(1) << 63, 0},
      {{.frequency = 1, .offset_seconds = INT64_MIN, .offset_cycles = UINT64_MAX}, UINT64_MAX, INT64_MAX},
      {{.frequency = 1, .offset_seconds = INT64_MIN}, 0, INT64_MIN},
      {{.frequency = 1000000000, .offset_seconds = -9223372037}, 145224192, INT64_MIN},
      {{.frequency = 1000000000, .offset_seconds = -9223372037}, 145224191, INT64_MIN},
      {{.frequency = 1000000000, .offset_seconds = -9223372037}, 145224193, INT64_MIN + 1},
      {{.frequency = 1000000000, .offset_seconds = 9223372036}, 854775807, INT64_MAX},
      {{.frequency = 1000000000, .offset_seconds = 9223372036}, 854775808, INT64_MAX},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_int_equal(kymo_clock_ns(&cases[i].clock, cases[i].cycles), cases[i].ns);
}

#ifdef __SIZEOF_INT128__
static void clocks_agree_with_wide_arithmetic(void **state) {
  (void)state;
  uint64_t random = 42;
  for (int i = 0; i < 200000; i++) {
    uint64_t values[3];
    for (int k = 0; k < 3; k++) {
      random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      values[k] = (random ^ random >> 29) >> (random >> 58);
    }
    struct kymo_clock clock = {.frequency = values[0] | 1,
                               .offset_cycles = values[1],
                               .offset_seconds = (int64_t)(random >> 20) % 9000000000 - 4000000000};
    unsigned __int128 total = (unsigned __int128)values[1] + values[2];
    unsigned __int128 whole = total / clock.frequency, part = total % clock.frequency;
    __int128 ns = (__int128)whole * 1000000000 + (__int128)(part * 1000000000 / clock.frequency) +
                  (__int128)clock.offset_seconds * 1000000000;
    int64_t expected = ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
    assert_int_equal(kymo_clock_ns(&clock, values[2]), expected);
  }
}
#endif

static void a_clock_that_stands_still_is_refused(void **state) {
  (void)state;
  struct kymo_error error;
  struct kymo_builder *builder = new_builder();
  kymo_builder_clock(builder, &(struct kymo_clock){.name = "still"});
  assert_null(kymo_builder_finish(builder, &error));
  assert_string_equal(error.message, "clock \"still\" has a frequency of 0");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_types_are_one),
      cmocka_unit_test(every_property_tells_types_apart),
      cmocka_unit_test(alignment_rises_to_that_of_the_parts),
      cmocka_unit_test(types_of_missing_parts_fail_at_the_end),
      cmocka_unit_test(classes_are_found_by_any_id),
      cmocka_unit_test(a_second_class_with_one_id_is_refused),
      cmocka_unit_test(chosen_ids_take_no_longer),
      cmocka_unit_test(groups_are_the_text_before_the_first_colon),
      cmocka_unit_test(members_and_environment_are_found_by_name),
      cmocka_unit_test(the_last_owner_frees),
      cmocka_unit_test(unusable_scalars_are_refused),
      cmocka_unit_test(nesting_is_bounded),
      cmocka_unit_test(trees_that_explode_are_refused_at_once),
      cmocka_unit_test(references_to_earlier_integers_are_accepted),
      cmocka_unit_test(references_elsewhere_are_refused),
      cmocka_unit_test(references_to_wrong_kinds_are_refused),
      cmocka_unit_test(clocks_convert_exactly),
#ifdef __SIZEOF_INT128__
      cmocka_unit_test(clocks_agree_with_wide_arithmetic),
#endif
      cmocka_unit_test(a_clock_that_stands_still_is_refused),
  };
  return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
