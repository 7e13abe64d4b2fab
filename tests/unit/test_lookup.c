/* SPDX-License-Identifier: MIT */
/* Lookups by name, the normal spelling of C types, and what hashes distinguish. */
#include "decode/walk.h"
#include "schema/parts.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <kymo/schema.h>
#include <stdio.h>
#include <string.h>

typedef const struct kymo_type *type_ref;

static type_ref named(struct kymo_builder *b, const char *name, uint32_t bits, bool is_signed) {
  return kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                                  .size_bits = bits,
                                                  .align_bits = 8,
                                                  .is_signed = is_signed,
                                                  .name = name});
}

/* A struct of `count` members m0, m1, …, all of one type. */
static type_ref struct_of(struct kymo_builder *b, const char *name, type_ref member, uint32_t count) {
  struct kymo_member *members = kymo_builder_alloc(b, (count + 1) * sizeof *members);
  for (uint32_t i = 0; i < count; i++) {
    char text[16];
    snprintf(text, sizeof text, "m%u", i);
    members[i].name = members[i].source_name = kymo_builder_text(b, text);
    members[i].type = member;
  }
  return kymo_builder_type(
      b,
      &(struct kymo_type){.kind = KYMO_KIND_STRUCT, .name = name, .member_count = count, .members = members});
}

static struct kymo_stream_class *stream_of(struct kymo_builder *b, uint64_t id) {
  struct kymo_stream_class *stream = NULL;
  assert_int_equal(kymo_builder_stream(b, &(struct kymo_stream_class){.id = id}, &stream, NULL), KYMO_OK);
  return stream;
}

static struct kymo_event_class *event_of(struct kymo_builder *b, struct kymo_stream_class *stream,
                                         uint64_t id, const char *name, type_ref payload) {
  struct kymo_event_class *event = NULL;
  struct kymo_event_class wanted = {.id = id, .name = name, .level = -1, .payload = payload};
  assert_int_equal(kymo_builder_event(b, stream, &wanted, &event, NULL), KYMO_OK);
  return event;
}

static void c_types_have_one_spelling(void **state) {
  (void)state;
  static const char *const spellings[][2] = {
      {"unsigned", "unsigned int"},
      {"long unsigned", "unsigned long"},
      {"int long unsigned long", "unsigned long long"},
      {"short int", "short"},
      {"signed", "int"},
      {"signed char", "signed char"},
      {"char", "char"},
      {"unsigned   char", "unsigned char"},
      {"long double", "long double"},
      {"_Bool", "bool"},
      {"int", "int"},
      {"char[16]", "char [16]"},
      {"char  [ 16 ]", "char [16]"},
      {"int[3][4]", "int [3][4]"},
      {"char*", "char *"},
      {"char const *", "const char *"},
      {"const char**", "const char **"},
      {"char * const", "char *const"},
      {"struct  point", "struct point"},
      {"const struct point*", "const struct point *"},
      {"volatile const pid_t", "const volatile pid_t"},
      {"std::string", "std::string"},
      {"", ""},
      {" size_t ", "size_t"},
  };
  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
    char out[64], again[64];
    assert_string_equal(kymo_type_name_normalize(out, sizeof out, spellings[i][0]), spellings[i][1]);
    assert_string_equal(kymo_type_name_normalize(again, sizeof again, out), out);
  }
  char small[8];
  assert_string_equal(kymo_type_name_normalize(small, sizeof small, "unsigned long"), "unsigne");
}

static void types_are_found_by_any_spelling(void **state) {
  (void)state;
  struct kymo_builder *b = kymo_builder_new();
  type_ref wide = named(b, "unsigned long", 64, false), pid = named(b, "pid_t", 32, true);
  assert_ptr_equal(kymo_builder_lookup(b, "long unsigned int"), wide);
  type_ref other = named(b, "pid_t", 64, true); /* a second of the name: the first one is found */
  assert_ptr_not_equal(pid, other);
  struct kymo_schema *schema = kymo_builder_finish(b, NULL);
  assert_non_null(schema);
  assert_ptr_equal(kymo_schema_lookup_type(schema, "unsigned  long"), wide);
  assert_int_equal(kymo_schema_lookup_type_id(schema, long unsigned), wide->id);
  assert_int_equal(kymo_schema_lookup_type_id(schema, pid_t), pid->id);
  assert_int_equal(kymo_schema_lookup_type_id(schema, off_t), KYMO_ID_NONE);
  assert_null(kymo_schema_lookup_type(schema, "unsigned"));
  kymo_schema_release(schema);
}

static void groups_and_versions_are_found_by_name(void **state) {
  (void)state;
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_stream_class *one = stream_of(b, 0), *two = stream_of(b, 1);
  type_ref number = named(b, NULL, 32, false);
  event_of(b, one, 0, "net:rx", struct_of(b, NULL, number, 1));
  event_of(b, one, 1, "disk:read", NULL);
  event_of(b, one, 2, "net:tx", NULL);
  event_of(b, two, 0, "net:rx", struct_of(b, NULL, number, 2));
  event_of(b, two, 1, "plain", NULL);
  struct kymo_schema *schema = kymo_builder_finish(b, NULL);
  assert_non_null(schema);
  assert_int_equal(schema->group_count, 3);
  const struct kymo_group *net = kymo_schema_lookup_group(schema, "net");
  assert_ptr_equal(net, schema->groups[net->id]);
  assert_int_equal(net->event_count, 3);
  assert_string_equal(net->events[0]->name, "net:rx");
  assert_string_equal(net->events[1]->name, "net:tx");
  assert_ptr_equal(net->events[2]->stream, schema->streams[1]);
  assert_int_equal(kymo_schema_lookup_group(schema, "")->event_count, 1);
  assert_null(kymo_schema_lookup_group(schema, "ne"));
  const struct kymo_event_class *rx = kymo_schema_lookup_event(schema, "net:rx");
  assert_ptr_equal(rx, schema->streams[0]->events[0]);
  assert_ptr_equal(rx->next_version, schema->streams[1]->events[0]);
  assert_null(rx->next_version->next_version);
  assert_memory_not_equal(&rx->hashes.content, &rx->next_version->hashes.content, sizeof(struct kymo_hash));
  assert_null(kymo_schema_lookup_event(schema, "rx"));
  kymo_schema_release(schema);
}

static void an_empty_schema_has_nothing_to_find(void **state) {
  (void)state;
  struct kymo_schema *schema = kymo_builder_finish(kymo_builder_new(), NULL);
  assert_non_null(schema);
  assert_int_equal(schema->group_count, 0);
  assert_null(kymo_schema_lookup_event(schema, "a"));
  assert_null(kymo_schema_lookup_group(schema, ""));
  assert_null(kymo_schema_lookup_type(schema, "int"));
  kymo_schema_release(schema);
}

static void members_of_large_structs_are_found(void **state) {
  (void)state;
  static const uint32_t counts[] = {0, 1, 8, 9, 1000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    struct kymo_builder *b = kymo_builder_new();
    type_ref type = struct_of(b, NULL, named(b, NULL, 8, false), counts[i]);
    for (uint32_t at = 0; at < counts[i]; at++)
      assert_ptr_equal(kymo_type_member(type, type->members[at].name), &type->members[at]);
    assert_null(kymo_type_member(type, "m"));
    assert_null(kymo_type_member(type, "m1000"));
    kymo_builder_free(b);
  }
}

/* The hashes of an event whose struct has been made after `others` types that have nothing to do with it. */
static struct kymo_hashes hashes_of(uint32_t others, const struct kymo_type *scalar, const char *event_name) {
  struct kymo_builder *b = kymo_builder_new();
  for (uint32_t i = 0; i < others; i++)
    named(b, "other", i + 1, false);
  type_ref payload = struct_of(b, "struct s", kymo_builder_type(b, scalar), 3);
  struct kymo_hashes hashes = event_of(b, stream_of(b, 0), others, event_name, payload)->hashes;
  struct kymo_schema *schema = kymo_builder_finish(b, NULL);
  assert_non_null(schema);
  assert_memory_equal(&hashes, &schema->streams[0]->events[0]->hashes, sizeof hashes);
  kymo_schema_release(schema);
  return hashes;
}

static bool same(struct kymo_hash a, struct kymo_hash b) { return a.low == b.low && a.high == b.high; }

static void hashes_tell_what_an_event_is(void **state) {
  (void)state;
  static const struct kymo_mapping mapping = {"ON", 1, 1}, other_mapping = {"ON", 1, 2};
  const struct kymo_type base = {.kind = KYMO_KIND_INTEGER, .size_bits = 32, .align_bits = 8};
  struct kymo_hashes is = hashes_of(0, &base, "a:b");
  assert_true(same(hashes_of(7, &base, "a:b").layout, is.layout)); /* ids are no part of it */
  assert_false(same(hashes_of(0, &base, "a:c").content, is.content));
  struct kymo_type others[] = {base, base, base, base, base, base, base, base};
  others[0].is_signed = true;
  others[1].size_bits = 16;
  others[2].base = 16;
  others[3].name = "pid_t";
  others[4].mapping_count = 1, others[4].mappings = &mapping;
  others[5].mapping_count = 1, others[5].mappings = &other_mapping;
  others[6].kind = KYMO_KIND_FLOAT;
  others[7].unit = "ms";
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    struct kymo_hashes found = hashes_of(0, &others[i], "a:b");
    assert_false(same(found.content, is.content));
    for (size_t at = 0; at < i; at++)
      assert_false(same(found.content, hashes_of(0, &others[at], "a:b").content));
  }
  struct kymo_type big = base, aligned = base;
  big.order = KYMO_ORDER_BIG;
  aligned.align_bits = 32;
  assert_true(same(hashes_of(0, &big, "a:b").content, is.content));
  assert_false(same(hashes_of(0, &big, "a:b").layout, is.layout));
  assert_true(same(hashes_of(0, &aligned, "a:b").content, is.content));
  assert_false(same(hashes_of(0, &aligned, "a:b").layout, is.layout));
}

/* They are the same on every machine. */
static void hashes_do_not_depend_on_the_machine(void **state) {
  (void)state;
  const struct kymo_type base = {.kind = KYMO_KIND_INTEGER, .size_bits = 32, .align_bits = 8};
  struct kymo_hashes is = hashes_of(0, &base, "a:b");
  char text[80];
  snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)is.content.high,
           (unsigned long long)is.content.low);
  assert_string_equal(text, "4065465efa78ea47ef47051f94deae96");
}

static struct kymo_schema *with_union(uint32_t bits, const struct kymo_type *member,
                                      struct kymo_error *error) {
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_member *members = kymo_builder_alloc(b, 2 * sizeof *members);
  members[0] = (struct kymo_member){.name = "i", .source_name = "i", .type = named(b, "int", 32, true)};
  members[1] = (struct kymo_member){.name = "x", .source_name = "x", .type = kymo_builder_type(b, member)};
  kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_UNION,
                                           .name = "union u",
                                           .size_bits = bits,
                                           .member_count = 2,
                                           .members = members});
  return kymo_builder_finish(b, error);
}

static void unions_hold_what_fits(void **state) {
  (void)state;
  struct kymo_error error = {0};
  const struct kymo_type wide = {.kind = KYMO_KIND_FLOAT, .size_bits = 64, .align_bits = 8},
                         text = {.kind = KYMO_KIND_STRING};
  struct kymo_schema *schema = with_union(64, &wide, &error);
  assert_non_null(schema);
  kymo_schema_release(schema);
  assert_null(with_union(32, &wide, &error));
  assert_string_equal(error.message, "type union u: a union smaller than its member 1");
  assert_null(with_union(64, &text, &error));
  assert_string_equal(error.message,
                      "type union u: expected members of constant size in a union, found a variable one: 1");
  assert_null(with_union(63, &wide, &error));
  assert_string_equal(error.message, "type union u: expected a union of whole bytes, found bits: 63");
}

static void scalars_know_their_print_format(void **state) {
  (void)state;
  assert_int_equal(kymo_type_format(&(struct kymo_type){.kind = KYMO_KIND_INTEGER, .is_signed = true}), 'd');
  assert_int_equal(kymo_type_format(&(struct kymo_type){.kind = KYMO_KIND_INTEGER}), 'u');
  assert_int_equal(kymo_type_format(&(struct kymo_type){.kind = KYMO_KIND_INTEGER, .base = 16}), 'x');
  assert_int_equal(kymo_type_format(&(struct kymo_type){.kind = KYMO_KIND_INTEGER, .base = 8}), 'o');
  assert_int_equal(kymo_type_format(&(struct kymo_type){.kind = KYMO_KIND_INTEGER, .base = 2}), 'b');
  assert_int_equal(
      kymo_type_format(&(struct kymo_type){.kind = KYMO_KIND_INTEGER, .base = 16, .is_address = true}), 'p');
  assert_int_equal(
      kymo_type_format(&(struct kymo_type){.kind = KYMO_KIND_INTEGER, .encoding = KYMO_ENCODING_UTF8}), 'c');
  assert_int_equal(kymo_type_format(&(struct kymo_type){.kind = KYMO_KIND_FLOAT}), 'f');
  assert_int_equal(kymo_type_format(&(struct kymo_type){.kind = KYMO_KIND_TEXT_ARRAY}), 's');
  assert_int_equal(kymo_type_format(&(struct kymo_type){.kind = KYMO_KIND_STRUCT}), 0);
}

static enum kymo_edge edge_of(const char *name, const char *attributes, size_t *length) {
  return kymo_event_class_edge(&(struct kymo_event_class){.name = name, .attributes = attributes}, length);
}

static void spans_are_told_by_attributes(void **state) {
  (void)state;
  size_t length = 77;
  assert_int_equal(edge_of("db:query_begin", "{\"kymo.span\":\"begin\"}", &length), KYMO_EDGE_BEGIN);
  assert_int_equal(length, 8);
  assert_int_equal(
      edge_of("db:query_end", "{ \"a\\\"\": {\"kymo.span\": 1}, \"kymo.span\" :\n\"end\" }", &length),
      KYMO_EDGE_END);
  assert_int_equal(length, 8);
  assert_int_equal(edge_of("db:query", "{\"kymo.span\": \"end\"}", NULL), KYMO_EDGE_END);
  assert_int_equal(edge_of("_end", "{\"kymo.span\": \"end\"}", &length), KYMO_EDGE_END);
  assert_int_equal(length, 4);
  assert_int_equal(edge_of("db:query_begin", NULL, NULL), KYMO_EDGE_NONE);
  static const char *const others[] = {"",
                                       "{",
                                       "{}",
                                       "{\"kymo.span\"",
                                       "{\"kymo.span\":",
                                       "{\"kymo.span\":\"beginning\"}",
                                       "{\"kymo.span\": 1}",
                                       "{\"x\": {\"kymo.span\":\"begin\"}}",
                                       "\"kymo.span\":\"begin\"",
                                       "{\"x\": \"kymo.span\"}",
                                       "{\"\\",
                                       "[\"kymo.span\", \"begin\"]"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_int_equal(edge_of("db:query_begin", others[i], NULL), KYMO_EDGE_NONE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(c_types_have_one_spelling),
      cmocka_unit_test(types_are_found_by_any_spelling),
      cmocka_unit_test(groups_and_versions_are_found_by_name),
      cmocka_unit_test(an_empty_schema_has_nothing_to_find),
      cmocka_unit_test(members_of_large_structs_are_found),
      cmocka_unit_test(hashes_tell_what_an_event_is),
      cmocka_unit_test(hashes_do_not_depend_on_the_machine),
      cmocka_unit_test(unions_hold_what_fits),
      cmocka_unit_test(scalars_know_their_print_format),
      cmocka_unit_test(spans_are_told_by_attributes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
