/* SPDX-License-Identifier: MIT */
/* Several schemas made one: processes, and versions of a program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schema_sample.h"
#include <kymo/schema.h>
#include <stdlib.h>
#include <string.h>

/* "name id bits" of each event: a schema whose events hold one integer of these bits. */
struct wanted { const char *name; uint64_t id; uint32_t bits; };

static struct kymo_schema *schema_of(uint32_t header_bits, const char *host, const struct wanted *events, size_t count) {
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_member *header = kymo_builder_alloc(b, sizeof *header);
  *header = (struct kymo_member){
      .name = "id", .source_name = "id",
      .type = kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = header_bits,
                                                       .roles = KYMO_ROLE_EVENT_CLASS_ID})};
  struct kymo_stream_class *stream, wanted = {0};
  wanted.event_header =
      kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_STRUCT, .member_count = 1, .members = header});
  assert_int_equal(kymo_builder_stream(b, &wanted, &stream, NULL), KYMO_OK);
  kymo_builder_environment(b, &(struct kymo_environment){.name = "hostname", .text = kymo_builder_text(b, host)});
  for (size_t i = 0; i < count; i++) {
    struct kymo_member *field = kymo_builder_alloc(b, sizeof *field);
    *field = (struct kymo_member){.name = "v", .source_name = "v",
                                  .type = kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                                                                   .size_bits = events[i].bits})};
    struct kymo_event_class event = {.id = events[i].id, .name = events[i].name, .level = -1};
    event.payload =
        kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_STRUCT, .member_count = 1, .members = field});
    assert_int_equal(kymo_builder_event(b, stream, &event, NULL, NULL), KYMO_OK);
  }
  struct kymo_schema *schema = kymo_builder_finish(b, NULL);
  assert_non_null(schema);
  return schema;
}

static struct kymo_schema *merged(struct kymo_schema *a, struct kymo_schema *b) {
  const struct kymo_schema *both[] = {a, b};
  struct kymo_error error = {0};
  struct kymo_schema *out = NULL;
  if (kymo_schema_merge(&out, both, 2, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  kymo_schema_release(a);
  kymo_schema_release(b); /* nothing refers to them */
  return out;
}

static void one_schema_merged_is_itself(void **state) {
  (void)state;
  struct kymo_schema *schema = sample_schema(), *copy = NULL;
  assert_int_equal(kymo_schema_merge(&copy, &(const struct kymo_schema *){schema}, 1, NULL), KYMO_OK);
  uint8_t *bytes[2];
  size_t sizes[2];
  assert_int_equal(kymo_registry_write(schema, &bytes[0], &sizes[0], NULL), KYMO_OK);
  kymo_schema_release(schema);
  assert_int_equal(kymo_registry_write(copy, &bytes[1], &sizes[1], NULL), KYMO_OK);
  assert_int_equal(sizes[0], sizes[1]);
  assert_memory_equal(bytes[0], bytes[1], sizes[0]);
  kymo_schema_release(copy);
  free(bytes[0]);
  free(bytes[1]);
}

static void equal_events_become_one_and_versions_stay(void **state) {
  (void)state;
  static const struct wanted first[] = {{"a:same", 0, 8}, {"a:changed", 1, 8}, {"a:gone", 2, 8}},
                             second[] = {{"a:changed", 0, 16}, {"a:same", 1, 8}, {"b:new", 7, 8}};
  struct kymo_schema *all = merged(schema_of(8, "x", first, 3), schema_of(8, "x", second, 3));
  assert_int_equal(all->stream_count, 1);
  assert_int_equal(all->streams[0]->event_count, 5);
  assert_null(kymo_lookup_event(all, "a:same")->next_version);
  const struct kymo_event_class *changed = kymo_lookup_event(all, "a:changed");
  assert_int_equal(changed->id, 1);
  assert_int_equal(changed->payload->members[0].type->size_bits, 8);
  assert_int_equal(changed->next_version->payload->members[0].type->size_bits, 16);
  assert_null(changed->next_version->next_version);
  assert_ptr_equal(kymo_stream_event(all->streams[0], changed->next_version->id), changed->next_version);
  assert_int_equal(kymo_lookup_event(all, "b:new")->id, 7);
  assert_int_equal(all->group_count, 2);
  assert_int_equal(all->environment_count, 1);
  kymo_schema_release(all);
}

static void streams_that_do_not_fit_are_refused(void **state) {
  (void)state;
  struct kymo_schema *a = schema_of(8, "x", NULL, 0), *b = schema_of(16, "x", NULL, 0), *out;
  const struct kymo_schema *both[] = {a, b};
  struct kymo_error error = {0};
  assert_int_equal(kymo_schema_merge(&out, both, 2, &error), KYMO_E_USAGE);
  assert_string_equal(error.message, "stream class 0 has other packets or event headers than that of another schema");
  assert_null(out);
  kymo_schema_release(a);
  kymo_schema_release(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_schema_merged_is_itself),
      cmocka_unit_test(equal_events_become_one_and_versions_stay),
      cmocka_unit_test(streams_that_do_not_fit_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
