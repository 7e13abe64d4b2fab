/* SPDX-License-Identifier: MIT */
/*
 * Random schemas through registry and text and back. What random_schema leaves out (names, labels, texts of
 * all kinds) comes with one more event class. The environment variable KYMO_SEED repeats one case.
 */
#include "random_schema.h"
#include "rounds.h"
#include "schema_sample.h"
#include "lang/registry/text.h"
#include <inttypes.h>

struct registry {
  uint8_t *bytes;
  size_t size;
};

/* ---- parts that random_schema leaves out ---- */

/* Any text but NULL: empty, with quotes, controls, broken UTF-8. */
static char *random_text(struct making *m) {
  static const char letters[] = "aZ_09 \"\\\n\t\x01\x7f/*#-\xc3\xa9\xe2\x82\xac\xff\x80";
  char text[12];
  size_t length = random_below(sizeof text);
  for (size_t i = 0; i < length; i++)
    text[i] = letters[random_below(sizeof letters - 1)];
  text[length] = 0;
  return kymo_builder_text(m->builder, text);
}

static char *maybe_text(struct making *m) { return random_below(3) ? NULL : random_text(m); }

static void add_mappings(struct making *m, struct kymo_type *type) {
  uint32_t count = (uint32_t)random_below(4);
  struct kymo_mapping *mappings = kymo_builder_alloc(m->builder, count * sizeof *mappings + 1);
  uint64_t most = type->kind == KYMO_KIND_BITMAP ? type->size_bits : 1000;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t low = random_below(most), high = low + random_below(most - low);
    bool is_negative = type->is_signed && type->kind != KYMO_KIND_BITMAP && random_below(2);
    mappings[i] =
        (struct kymo_mapping){random_text(m), is_negative ? 0 - high : low, is_negative ? 0 - low : high};
  }
  type->mappings = mappings;
  type->mapping_count = count;
}

static const struct kymo_type *random_described(struct making *m, const struct kymo_clock *clock) {
  static const enum kymo_type_kind kinds[] = {KYMO_KIND_INTEGER, KYMO_KIND_BOOLEAN, KYMO_KIND_BITMAP,
                                              KYMO_KIND_VARINT,  KYMO_KIND_STRING,  KYMO_KIND_BLOB_ARRAY};
  static const uint8_t bases[] = {0, 2, 8, 10, 16};
  struct kymo_type type = {.kind = kinds[random_below(6)],
                           .name = maybe_text(m),
                           .unit = maybe_text(m),
                           .media_type = maybe_text(m),
                           .attributes = maybe_text(m),
                           .align_bits = 8u << random_below(3),
                           .order = (enum kymo_byte_order)random_below(2),
                           .base = bases[random_below(5)],
                           .is_address = random_below(2),
                           .encoding = (enum kymo_encoding)random_below(7)};
  if (type.kind <= KYMO_KIND_BITMAP)
    type.size_bits = 1 + (uint32_t)random_below(64);
  type.is_signed = random_below(2);
  type.is_enumeration = random_below(2);
  if (type.kind == KYMO_KIND_INTEGER || type.kind == KYMO_KIND_BITMAP || type.kind == KYMO_KIND_VARINT)
    add_mappings(m, &type);
  if (type.kind == KYMO_KIND_INTEGER && !type.is_signed && random_below(2)) {
    type.roles = (uint32_t)random_below(2048) & ~(uint32_t)KYMO_ROLE_UUID;
    type.clock = random_below(2) ? clock : NULL;
  }
  return make(m->builder, type);
}

static const struct kymo_clock *random_clock(struct making *m) {
  bool has_uuid = random_below(2);
  return kymo_builder_clock(m->builder,
                            &(struct kymo_clock){.name = maybe_text(m),
                                                 .description = maybe_text(m),
                                                 .frequency = 1 + random_below(UINT32_MAX),
                                                 .offset_seconds = (int64_t)random_below(1000) - 500,
                                                 .offset_cycles = random_below(UINT32_MAX),
                                                 .precision = random_below(3),
                                                 .origin_is_epoch = random_below(2),
                                                 .has_uuid = has_uuid,
                                                 .uuid = {has_uuid, 2 * has_uuid},
                                                 .origin_namespace = maybe_text(m),
                                                 .origin_name = maybe_text(m),
                                                 .origin_uid = maybe_text(m),
                                                 .attributes = maybe_text(m)});
}

/* The trace's own, and one more stream with one event class, whose payload is described in all ways. */
static void describe(struct making *m) {
  struct kymo_schema *schema = kymo_builder_schema(m->builder);
  struct kymo_stream_class *stream;
  schema->order = (enum kymo_byte_order)random_below(2);
  schema->trace_name = maybe_text(m);
  schema->attributes = maybe_text(m);
  if (random_below(2))
    schema->machine = &sample_machine;
  for (uint64_t i = random_below(3); i > 0; i--)
    kymo_builder_environment(m->builder, &(struct kymo_environment){random_text(m), maybe_text(m), -5});
  const struct kymo_clock *clocks[] = {random_clock(m), random_clock(m)};
  uint32_t count = (uint32_t)random_below(6);
  struct kymo_member *members = kymo_builder_alloc(m->builder, 6 * sizeof *members);
  for (uint32_t i = 0; i < count; i++)
    members[i] = (struct kymo_member){.name = random_text(m),
                                      .source_name = random_text(m),
                                      .attributes = maybe_text(m),
                                      .type = random_described(m, clocks[random_below(2)])};
  struct kymo_stream_class class_ = {.id = 100,
                                     .name = maybe_text(m),
                                     .attributes = maybe_text(m),
                                     .clock = random_below(2) ? clocks[random_below(2)] : NULL};
  assert_int_equal(kymo_builder_stream(m->builder, &class_, &stream, NULL), KYMO_OK);
  struct kymo_event_class event = {.id = random_below(UINT32_MAX) << 32,
                                   .name = random_text(m),
                                   .group = maybe_text(m),
                                   .level = (int32_t)random_below(20) - 1,
                                   .uri = maybe_text(m),
                                   .source_file = maybe_text(m),
                                   .source_line = (uint32_t)random_below(3),
                                   .template_text = maybe_text(m),
                                   .attributes = maybe_text(m),
                                   .description = maybe_text(m),
                                   .payload = make(m->builder, (struct kymo_type){.kind = KYMO_KIND_STRUCT,
                                                                                  .members = members,
                                                                                  .member_count = count})};
  assert_int_equal(kymo_builder_event(m->builder, stream, &event, NULL, NULL), KYMO_OK);
}

/* ---- round trips ---- */

static struct registry write_schema(const struct kymo_schema *schema) {
  struct registry out = {0};
  assert_int_equal(kymo_registry_write(schema, &out.bytes, &out.size, NULL), KYMO_OK);
  return out;
}

/* `schema`, which is given up, is `wanted`, and gives the same registry. */
static void check_same(uint64_t number, const char *way, struct kymo_schema *schema,
                       const struct kymo_schema *wanted, const struct registry *bytes) {
  const char *what = schemas_differ(wanted, schema);
  struct registry again = write_schema(schema);
  if (what)
    fail_msg("seed %" PRIu64 ": differs by %s: %s", number, way, what);
  if (again.size != bytes->size || memcmp(again.bytes, bytes->bytes, again.size) != 0)
    fail_msg("seed %" PRIu64 ": another registry by %s", number, way);
  free(again.bytes);
  kymo_schema_release(schema);
}

static void run_case(uint64_t number) {
  struct making making = {.more = describe};
  struct kymo_schema *again = NULL;
  struct kymo_strbuf text = {0};
  struct kymo_error error = {0};
  random_seed(number);
  struct kymo_schema *schema = random_schema(&making);
  struct registry bytes = write_schema(schema);
  if (kymo_registry_read(&again, bytes.bytes, bytes.size, "registry", &error) != KYMO_OK)
    fail_msg("seed %" PRIu64 ": %s", number, error.message);
  check_same(number, "registry", again, schema, &bytes);
  kymo_registry_print(&text, schema);
  again = kymo_registry_compile(text.text, text.length, "text", &error);
  if (!again)
    fail_msg("seed %" PRIu64 ": %s\n%s", number, error.message, text.text);
  check_same(number, "text", again, schema, &bytes);
  kymo_strbuf_free(&text);
  free(bytes.bytes);
  kymo_schema_release(schema);
}

static void what_was_written_is_read(void **state) {
  (void)state;
  const char *only = getenv("KYMO_SEED");
  if (only) {
    run_case(strtoull(only, NULL, 10));
    return;
  }
  for (uint64_t number = 0; number < rounds(1000); number++)
    run_case(number);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_written_is_read)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
