/* SPDX-License-Identifier: MIT */
/*
 * The CTF 2 writer by itself: its output for schemas that show one rule each. test_ctf2.c reads the output
 * and tests that it means the same. Called as "test_ctf2_write --write FILE" this prints its output for a
 * TSDL file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lang/tsdl/tsdl.h"
#include "lang/ctf2/json.h"
#include "lang/ctf2/write.h"
#include "schema/build.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- schemas ---- */

static struct kymo_member member(const char *name, const struct kymo_type *type) {
  return (struct kymo_member){.name = name, .source_name = name, .type = type};
}

static const struct kymo_type *structure(struct kymo_builder *builder, const struct kymo_member *members,
                                         uint32_t count) {
  struct kymo_member *copy = kymo_arena_alloc(kymo_builder_arena(builder), count * sizeof *copy);
  memcpy(copy, members, count * sizeof *copy);
  return kymo_builder_type(
      builder, &(struct kymo_type){.kind = KYMO_KIND_STRUCT, .members = copy, .member_count = count});
}

/* The text of the field class of a payload that has one member `f`. */
static char *written(struct kymo_builder *builder, const struct kymo_type *type) {
  struct kymo_stream_class *stream;
  struct kymo_strbuf out = {0};
  struct kymo_event_class event = {
      .name = "e", .level = -1, .payload = structure(builder, (struct kymo_member[]){member("f", type)}, 1)};
  assert_int_equal(kymo_builder_stream(builder, &(struct kymo_stream_class){0}, &stream, NULL), 0);
  assert_int_equal(kymo_builder_event(builder, stream, &event, NULL, NULL), 0);
  struct kymo_schema *schema = kymo_builder_finish(builder, NULL);
  assert_non_null(schema);
  kymo_ctf2_write(&out, schema);
  kymo_schema_release(schema);
  assert_false(out.failed);
  return out.text;
}

static void assert_written(struct kymo_builder *builder, const struct kymo_type *type, const char *expected) {
  char *text = written(builder, type);
  /* on one line: only the content matters here */
  char *to = text;
  for (const char *from = text; *from; from++)
    if (*from == '\n')
      from += strspn(from + 1, " ");
    else
      *to++ = *from;
  *to = '\0';
  if (!strstr(text, expected))
    fail_msg("expected %s\nin %s", expected, text);
  free(text);
}

/* ---- tests ---- */

static void writer_escapes_texts(void **state) {
  (void)state;
  struct kymo_strbuf out = {0};
  struct ctf2_json json = {.out = &out};
  kymo_ctf2_put_text(&json, NULL, "a\"b\\c\n\x01\xc3\xa4\xff\xed\xa0\x80\xf0\x9f\x99\x82");
  assert_string_equal(out.text, "\"a\\\"b\\\\c\\u000a\\u0001\xc3\xa4\xef\xbf\xbd"
                                "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x99\x82\"");
  kymo_strbuf_free(&out);
}

static void writer_takes_only_objects_as_attributes(void **state) {
  (void)state;
  static const char *const good[] = {" {\"a\":{\"b\":[1,-2.5e+3,true,null,\"\\u00e4\"]},\"c\":{}} "};
  static const char *const bad[] = {"",
                                    "{ }",
                                    "1",
                                    "[]",
                                    "{",
                                    "{}}",
                                    "{\"a\"}",
                                    "{\"a\":}",
                                    "{\"a\":1,}",
                                    "{\"a\":01}",
                                    "{\"a\":tru}",
                                    "{\"a\":\"\\x\"}",
                                    "{\"a\":\"\xff\"}",
                                    "{\"a\":1.}",
                                    "{'a':1}"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
    assert_true(kymo_ctf2_has_members(good[i]));
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    if (kymo_ctf2_has_members(bad[i]))
      fail_msg("taken for an object: %s", bad[i]);
}

static void writer_bounds_the_depth_of_attributes(void **state) {
  (void)state;
  char text[400] = "{\"a\":";
  size_t at = strlen(text);
  for (int depth = 2; depth <= 64; depth++)
    text[at++] = '[';
  size_t end = at;
  for (int depth = 2; depth <= 64; depth++)
    text[end++] = ']';
  text[end] = '}';
  assert_true(kymo_ctf2_has_members(text));
  memset(text + at, '[', 100);
  assert_false(kymo_ctf2_has_members(text));
}

static void writer_tells_a_union_from_its_stand_in(void **state) {
  (void)state;
  struct kymo_builder *builder = kymo_builder_new();
  const struct kymo_type *byte = kymo_builder_type(
      builder, &(struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = 8, .align_bits = 8});
  struct kymo_member *members = kymo_arena_alloc(kymo_builder_arena(builder), sizeof *members);
  members[0] = member("a", byte);
  const struct kymo_type *type = kymo_builder_type(
      builder,
      &(struct kymo_type){
          .kind = KYMO_KIND_UNION, .align_bits = 8, .size_bits = 8, .member_count = 1, .members = members});
  assert_written(
      builder, type,
      "\"field-class\": {\"type\": \"static-length-blob\",\"length\": 1,\"attributes\": {\"kymo\": "
      "{\"stands-for\": "
      "{\"type\": \"union\",\"length\": 8,\"member-classes\": [{\"name\": \"a\"");
}

static void writer_wraps_what_cannot_be_aligned(void **state) {
  (void)state;
  struct kymo_builder *builder = kymo_builder_new();
  const struct kymo_type *type = kymo_builder_type(
      builder,
      &(struct kymo_type){.kind = KYMO_KIND_STRING, .encoding = KYMO_ENCODING_UTF8, .align_bits = 32});
  assert_written(
      builder, type,
      "\"field-class\": {\"type\": \"structure\",\"minimum-alignment\": 32,\"attributes\": {\"kymo\": "
      "{\"wrapper\": "
      "true}},\"member-classes\": [{\"name\": \"value\",\"field-class\": {\"type\": "
      "\"null-terminated-string\"}}]}");
}

static void writer_tells_contrary_bits(void **state) {
  (void)state;
  struct kymo_builder *builder = kymo_builder_new();
  const struct kymo_type *type = kymo_builder_type(builder, &(struct kymo_type){.kind = KYMO_KIND_FLOAT,
                                                                                .size_bits = 32,
                                                                                .align_bits = 8,
                                                                                .bits_reversed = true,
                                                                                .order = KYMO_ORDER_BIG});
  assert_written(
      builder, type,
      "{\"type\": \"fixed-length-floating-point-number\",\"length\": 32,\"byte-order\": \"big-endian\","
      "\"bit-order\": \"first-to-last\",\"alignment\": 8}");
}

static void writer_gathers_the_ranges_of_a_name(void **state) {
  (void)state;
  struct kymo_builder *builder = kymo_builder_new();
  static const struct kymo_mapping mappings[] = {{"b", 1, 2}, {"a", UINT64_MAX, UINT64_MAX}, {"b", 5, 5}};
  const struct kymo_type *type = kymo_builder_type(builder, &(struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                                                                .size_bits = 64,
                                                                                .is_enumeration = true,
                                                                                .mappings = mappings,
                                                                                .mapping_count = 3});
  assert_written(
      builder, type,
      "\"attributes\": {\"kymo\": {\"order\": [\"b\", \"a\", \"b\"]}},"
      "\"mappings\": {\"a\": [[18446744073709551615, 18446744073709551615]],\"b\": [[1, 2], [5, 5]]}");
}

/* ---- as a command ---- */

static int write_file(const char *path) {
  char buffer[1 << 20], words[1024];
  struct kymo_error error;
  struct kymo_strbuf out = {0};
  FILE *file = fopen(path, "rb");
  size_t length = file ? fread(buffer, 1, sizeof buffer, file) : 0;
  struct kymo_schema *schema = kymo_tsdl_compile(buffer, length, path, &error);
  if (file)
    fclose(file);
  if (!schema) {
    fprintf(stderr, "%s\n", kymo_error_text(&error, words, sizeof words));
    return 1;
  }
  kymo_ctf2_write(&out, schema);
  fputs(out.text, stdout);
  kymo_strbuf_free(&out);
  kymo_schema_release(schema);
  return 0;
}

int main(int count, char **words) {
  if (count == 3 && strcmp(words[1], "--write") == 0)
    return write_file(words[2]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(writer_escapes_texts),
      cmocka_unit_test(writer_takes_only_objects_as_attributes),
      cmocka_unit_test(writer_bounds_the_depth_of_attributes),
      cmocka_unit_test(writer_tells_a_union_from_its_stand_in),
      cmocka_unit_test(writer_wraps_what_cannot_be_aligned),
      cmocka_unit_test(writer_tells_contrary_bits),
      cmocka_unit_test(writer_gathers_the_ranges_of_a_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
