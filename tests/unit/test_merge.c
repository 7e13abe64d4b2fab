/* SPDX-License-Identifier: MIT */
/* kymo_schema_merge: what is unified, what stays, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schema_sample.h"
#include <stdlib.h>

static const struct kymo_type *number(struct kymo_builder *b, uint32_t bits, uint32_t roles) {
  return kymo_builder_type(
      b, &(struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = bits, .align_bits = 8, .roles = roles});
}

/* A struct of one member. */
static const struct kymo_type *struct_of(struct kymo_builder *b, const char *name,
                                         const struct kymo_type *type) {
  struct kymo_member *member = kymo_builder_alloc(b, sizeof *member);
  *member = (struct kymo_member){.name = name, .source_name = name, .type = type};
  return kymo_builder_type(
      b, &(struct kymo_type){.kind = KYMO_KIND_STRUCT, .member_count = 1, .members = member});
}

struct program {
  struct kymo_builder *builder;
  struct kymo_stream_class *stream;
};

static struct program begin(uint32_t id_bits) {
  struct program p = {.builder = kymo_builder_new()};
  struct kymo_stream_class stream = {
      .event_header = struct_of(p.builder, "id", number(p.builder, id_bits, KYMO_ROLE_EVENT_CLASS_ID))};
  stream.clock = kymo_builder_clock(p.builder, &(struct kymo_clock){.name = "c", .frequency = 1000});
  assert_int_equal(kymo_builder_stream(p.builder, &stream, &p.stream, NULL), KYMO_OK);
  return p;
}

static void add(struct program *p, uint64_t id, const char *name, uint32_t bits) {
  struct kymo_event_class event = {.id = id,
                                   .name = name,
                                   .level = -1,
                                   .payload = struct_of(p->builder, "x", number(p->builder, bits, 0))};
  assert_int_equal(kymo_builder_event(p->builder, p->stream, &event, NULL, NULL), KYMO_OK);
}

static struct kymo_schema *end(struct program *p) {
  struct kymo_error error = {0};
  struct kymo_schema *schema = kymo_builder_finish(p->builder, &error);
  if (!schema)
    fail_msg("%s", error.message);
  return schema;
}

/* Merges two schemas, which are released before the result is checked. */
static struct kymo_schema *merged(struct kymo_schema *a, struct kymo_schema *b) {
  struct kymo_schema *out = NULL;
  struct kymo_error error = {0};
  if (kymo_schema_merge(&out, (const struct kymo_schema *const[]){a, b}, 2, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  kymo_schema_release(a);
  kymo_schema_release(b);
  return out;
}

static void refused(struct kymo_schema *a, struct kymo_schema *b, const char *message) {
  struct kymo_schema *out = NULL;
  struct kymo_error error = {0};
  assert_int_equal(kymo_schema_merge(&out, (const struct kymo_schema *const[]){a, b}, 2, &error),
                   KYMO_E_USAGE);
  assert_string_equal(error.message, message);
  assert_null(out);
  kymo_schema_release(a);
  kymo_schema_release(b);
}

static void a_schema_alone_is_copied_whole(void **state) {
  (void)state;
  struct kymo_schema *sample = sample_schema(), *out = NULL;
  struct kymo_error error = {0};
  if (kymo_schema_merge(&out, (const struct kymo_schema *const *)&sample, 1, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  const char *difference = schemas_differ(sample, out);
  if (difference)
    fail_msg("%s differs", difference);
  kymo_schema_release(sample);
  kymo_schema_release(out);
}

static void equal_schemas_become_one(void **state) {
  (void)state;
  struct kymo_schema *sample = sample_schema();
  struct kymo_schema *out = merged(sample_schema(), sample_schema());
  const char *difference = schemas_differ(sample, out);
  if (difference)
    fail_msg("%s differs", difference);
  kymo_schema_release(sample);
  kymo_schema_release(out);
}

static void other_classes_stay_as_versions(void **state) {
  (void)state;
  struct program old = begin(16), new = begin(16);
  add(&old, 0, "net:rx", 32), add(&old, 1, "net:tx", 32);
  add(&new, 0, "net:rx", 64), add(&new, 1, "net:tx", 32), add(&new, 2, "net:drop", 8);
  struct kymo_schema *schema = merged(end(&old), end(&new));
  assert_int_equal(schema->stream_count, 1);
  assert_int_equal(schema->streams[0]->event_count, 4);
  const struct kymo_event_class *rx = kymo_schema_lookup_event(schema, "net:rx");
  assert_int_equal(rx->payload->members[0].type->size_bits, 32);
  assert_int_equal(rx->next_version->payload->members[0].type->size_bits, 64);
  assert_null(rx->next_version->next_version);
  assert_null(kymo_schema_lookup_event(schema, "net:tx")->next_version);
  assert_int_equal(kymo_schema_lookup_group(schema, "net")->event_count, 4);
  kymo_schema_release(schema);
}

/* 0 is taken twice; the classes with 1 and 2, which come later, keep their ids. */
static void ids_are_given_anew_where_they_collide(void **state) {
  (void)state;
  struct program a = begin(16), b = begin(16);
  add(&a, 0, "first", 32), add(&a, UINT64_MAX, "far", 32);
  add(&b, 0, "second", 32), add(&b, UINT64_MAX, "farther", 32), add(&b, 1, "third", 32),
      add(&b, 2, "far", 32);
  struct kymo_schema *schema = merged(end(&a), end(&b));
  static const struct {
    const char *name;
    uint64_t id;
  } expected[] = {
      {"first", 0}, {"far", UINT64_MAX}, {"second", 3}, {"farther", 4}, {"third", 1},
  };
  assert_int_equal(schema->streams[0]->event_count, 5);
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    const struct kymo_event_class *event = kymo_stream_class_event(schema->streams[0], expected[i].id);
    assert_non_null(event);
    assert_string_equal(event->name, expected[i].name);
  }
  kymo_schema_release(schema);
}

/* The same name and fields, another text to be printed: not the same event. */
static void print_templates_tell_classes_apart(void **state) {
  (void)state;
  struct kymo_schema *schemas[2];
  for (int i = 0; i < 2; i++) {
    struct program p = begin(16);
    struct kymo_event_class event = {
        .name = "log", .level = -1, .source_line = 10, .template_text = i ? "lost {x}" : "got {x}"};
    assert_int_equal(kymo_builder_event(p.builder, p.stream, &event, NULL, NULL), KYMO_OK);
    event.id = 1, event.name = "moved", event.source_line += (uint32_t)i, event.template_text = NULL;
    assert_int_equal(kymo_builder_event(p.builder, p.stream, &event, NULL, NULL), KYMO_OK);
    schemas[i] = end(&p);
  }
  struct kymo_schema *schema = merged(schemas[0], schemas[1]);
  assert_string_equal(kymo_schema_lookup_event(schema, "log")->template_text, "got {x}");
  assert_string_equal(kymo_schema_lookup_event(schema, "log")->next_version->template_text, "lost {x}");
  assert_null(kymo_schema_lookup_event(schema, "moved")->next_version);
  assert_int_equal(kymo_schema_lookup_event(schema, "moved")->source_line, 10);
  kymo_schema_release(schema);
}

static void streams_of_other_ids_stay_apart(void **state) {
  (void)state;
  struct program a = begin(16), b = begin(16);
  struct kymo_stream_class *beside;
  assert_int_equal(
      kymo_builder_stream(a.builder, &(struct kymo_stream_class){.id = 9, .name = "beside"}, &beside, NULL),
      KYMO_OK);
  add(&a, 0, "e", 32), add(&b, 0, "e", 32);
  struct kymo_schema *schema = merged(end(&a), end(&b));
  assert_int_equal(schema->stream_count, 2);
  assert_string_equal(kymo_schema_stream(schema, 9)->name, "beside");
  assert_int_equal(kymo_schema_stream(schema, 0)->event_count, 1);
  kymo_schema_release(schema);
}

static struct kymo_schema *told(const char *name, uint8_t uuid, const char *host, int64_t pid) {
  struct program p = begin(16);
  struct kymo_schema *schema = kymo_builder_schema(p.builder);
  schema->trace_name = name;
  schema->has_uuid = true;
  schema->uuid[0] = uuid;
  kymo_builder_environment(p.builder, &(struct kymo_environment){"hostname", host, 0});
  kymo_builder_environment(p.builder, &(struct kymo_environment){"vpid", NULL, pid});
  return end(&p);
}

static void what_all_say_alike_stays(void **state) {
  (void)state;
  struct kymo_schema *schema = merged(told("t", 1, "box", 17), told("t", 2, "box", 18));
  assert_string_equal(schema->trace_name, "t");
  assert_false(schema->has_uuid);
  assert_int_equal(schema->uuid[0], 0);
  assert_int_equal(schema->environment_count, 1);
  assert_string_equal(kymo_schema_environment(schema, "hostname")->text, "box");
  kymo_schema_release(schema);
  schema = merged(told("t", 1, "box", 17), told("u", 1, "bar", 17));
  assert_null(schema->trace_name);
  assert_true(schema->has_uuid);
  assert_int_equal(kymo_schema_environment(schema, "vpid")->integer, 17);
  assert_int_equal(schema->environment_count, 1);
  kymo_schema_release(schema);
}

static void clocks_of_one_name_are_one(void **state) {
  (void)state;
  struct program a = begin(16), b = begin(16);
  ((struct kymo_clock *)(uintptr_t)b.stream->clock)->frequency = 999;
  struct kymo_schema *schema = merged(end(&a), end(&b));
  assert_int_equal(schema->clock_count, 1);
  assert_int_equal(schema->clocks[0]->frequency, 1000);
  assert_ptr_equal(schema->streams[0]->clock, schema->clocks[0]);
  kymo_schema_release(schema);
}

static void streams_that_do_not_fit_are_refused(void **state) {
  (void)state;
  struct program a = begin(16), b = begin(32);
  refused(end(&a), end(&b), "stream class 0 of schemas[1] has another event header than that of schemas[0]");
  a = begin(16), b = begin(16);
  a.stream->common_context = struct_of(a.builder, "tid", number(a.builder, 32, 0));
  refused(end(&a), end(&b),
          "stream class 0 of schemas[1] has another common context than that of schemas[0]");
  a = begin(16), b = begin(16);
  b.stream->packet_context = struct_of(b.builder, "tid", number(b.builder, 32, 0));
  refused(end(&a), end(&b),
          "stream class 0 of schemas[1] has another packet context than that of schemas[0]");
  a = begin(16), b = begin(16);
  b.stream->clock = kymo_builder_clock(b.builder, &(struct kymo_clock){.name = "d", .frequency = 1});
  refused(end(&a), end(&b), "stream class 0 of schemas[1] has another clock than that of schemas[0]");
  a = begin(16), b = begin(16);
  kymo_builder_schema(b.builder)->packet_header =
      struct_of(b.builder, "m", number(b.builder, 32, KYMO_ROLE_MAGIC));
  refused(end(&a), end(&b), "schemas[1] has another packet header than schemas[0]");
  a = begin(16), b = begin(16);
  kymo_builder_clock(b.builder, &(struct kymo_clock){.name = "c", .frequency = 1});
  refused(end(&a), end(&b), "schemas[1] has two clocks named \"c\"");
  struct kymo_schema *out = NULL;
  struct kymo_error error = {0};
  assert_int_equal(kymo_schema_merge(&out, NULL, 0, &error), KYMO_E_USAGE);
  assert_string_equal(error.message, "no schemas to merge");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_schema_alone_is_copied_whole),
      cmocka_unit_test(equal_schemas_become_one),
      cmocka_unit_test(other_classes_stay_as_versions),
      cmocka_unit_test(ids_are_given_anew_where_they_collide),
      cmocka_unit_test(print_templates_tell_classes_apart),
      cmocka_unit_test(streams_of_other_ids_stay_apart),
      cmocka_unit_test(what_all_say_alike_stays),
      cmocka_unit_test(clocks_of_one_name_are_one),
      cmocka_unit_test(streams_that_do_not_fit_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
