/* SPDX-License-Identifier: MIT */
/* The binary form: everything is kept, pieces make the whole, damage is reported with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "schema/registry.h"
#include "schema_sample.h"
#include <inttypes.h>
#include <stdlib.h>

struct registry {
  uint8_t *bytes;
  size_t size;
};

static struct registry write_schema(const struct kymo_schema *schema) {
  struct registry out = {0};
  struct kymo_error error;
  if (kymo_registry_write(schema, &out.bytes, &out.size, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  return out;
}

static struct registry sample_registry(void) {
  struct kymo_schema *schema = sample_schema();
  assert_non_null(schema);
  struct registry out = write_schema(schema);
  kymo_schema_release(schema);
  return out;
}

static struct kymo_schema *read_registry(const struct registry *registry) {
  struct kymo_schema *schema = NULL;
  struct kymo_error error;
  char text[2048];
  if (kymo_registry_read(&schema, registry->bytes, registry->size, "FILE", &error) != KYMO_OK)
    fail_msg("%s", kymo_error_text(&error, text, sizeof text));
  return schema;
}

/* Reading is refused with these words. */
static void refused(const struct registry *registry, int status, const char *words) {
  struct kymo_schema *schema = NULL;
  struct kymo_error error;
  char text[2048];
  assert_int_equal(kymo_registry_read(&schema, registry->bytes, registry->size, "FILE", &error), status);
  assert_null(schema);
  assert_string_equal(kymo_error_text(&error, text, sizeof text), words);
  assert_int_equal(kymo_registry_read(&schema, registry->bytes, registry->size, "FILE", NULL), status);
}

/* ---- finding and changing records ---- */

static uint32_t word_at(const struct registry *registry, size_t at) {
  return kymo_load_host32(registry->bytes + at);
}

static size_t next_record(const struct registry *registry, size_t at) {
  return at + KYMO_REGISTRY_HEAD_BYTES + word_at(registry, at + 4) + 4;
}

/* The offset of the `number`-th record of a kind. */
static size_t find_record(const struct registry *registry, uint32_t kind, unsigned number) {
  for (size_t at = KYMO_REGISTRY_HEADER_BYTES; at < registry->size; at = next_record(registry, at))
    if (word_at(registry, at) == kind && number-- == 0)
      return at;
  fail_msg("no such record");
  return 0;
}

static void put_word(struct registry *registry, size_t at, uint32_t value) {
  memcpy(registry->bytes + at, &value, sizeof value);
}

/* Makes the checksum of the record at `at` right again. */
static void repair(struct registry *registry, size_t at) {
  size_t length = KYMO_REGISTRY_HEAD_BYTES + word_at(registry, at + 4);
  put_word(registry, at + length, kymo_registry_checksum(registry->bytes + at, length));
}

static void repair_header(struct registry *registry) {
  put_word(registry, KYMO_REGISTRY_HEADER_BYTES - 4,
           kymo_registry_checksum(registry->bytes, KYMO_REGISTRY_HEADER_BYTES - 4));
}

/* Inserts bytes before the one at `at`. */
static void insert(struct registry *registry, size_t at, const void *bytes, size_t count) {
  registry->bytes = realloc(registry->bytes, registry->size + count);
  assert_non_null(registry->bytes);
  memmove(registry->bytes + at + count, registry->bytes + at, registry->size - at);
  memcpy(registry->bytes + at, bytes, count);
  registry->size += count;
}

/* ---- kept properties ---- */

static void everything_is_kept(void **state) {
  (void)state;
  struct kymo_schema *schema = sample_schema();
  assert_non_null(schema);
  struct registry bytes = write_schema(schema);
  struct kymo_schema *again = read_registry(&bytes);
  const char *what = schemas_differ(schema, again);
  if (what)
    fail_msg("differs: %s", what);
  struct registry same = write_schema(again);
  assert_int_equal(same.size, bytes.size);
  assert_memory_equal(same.bytes, bytes.bytes, bytes.size);
  kymo_schema_release(schema);
  kymo_schema_release(again);
  free(bytes.bytes);
  free(same.bytes);
}

static void pieces_make_the_whole(void **state) {
  (void)state;
  const struct kymo_type *length, *flag;
  struct sample s = sample_begin(&length, &flag);
  struct kymo_registry_writer writer;
  struct kymo_strbuf out = {0}, all = {0};
  kymo_registry_begin(&writer, &out, s.builder);
  const struct kymo_event_class *events[] = {sample_event_1(&s), sample_event_2(&s, length, flag)};
  for (size_t i = 0; i < 2; i++) {
    kymo_strbuf_add(&all, out.text, out.length);
    out.length = 0; /* taken away meanwhile */
    kymo_registry_append_event(&writer, events[i]);
  }
  kymo_strbuf_add(&all, out.text, out.length);
  struct registry whole = {(uint8_t *)all.text, all.length};
  struct kymo_error error;
  struct kymo_schema *schema = kymo_builder_finish(s.builder, &error), *again = read_registry(&whole);
  assert_non_null(schema);
  assert_int_equal(again->type_count, schema->type_count);
  assert_int_equal(again->streams[0]->event_count, 2);
  for (size_t i = 0; i < 2; i++)
    assert_string_equal(again->streams[0]->events[i]->name, schema->streams[0]->events[i]->name);
  for (uint32_t i = 0; i < schema->type_count; i++)
    assert_null(types_differ(schema->types[i], again->types[i]));
  kymo_schema_release(schema);
  kymo_schema_release(again);
  kymo_strbuf_free(&out);
  kymo_strbuf_free(&all);
}

/* ---- cut and damaged ---- */

static void sound_records_before_a_cut_are_read(void **state) {
  (void)state;
  struct registry whole = sample_registry();
  size_t boundary = KYMO_REGISTRY_HEADER_BYTES, first = next_record(&whole, boundary);
  for (size_t size = 0; size < whole.size; size++) {
    struct kymo_schema *schema = NULL;
    struct kymo_error error;
    size_t used = 0;
    if (size >= next_record(&whole, boundary))
      boundary = next_record(&whole, boundary);
    uint8_t *bytes = malloc(size ? size : 1);
    memcpy(bytes, whole.bytes, size);
    int strict = kymo_registry_read(&schema, bytes, size, "FILE", &error);
    assert_int_equal(strict == KYMO_OK, size >= first && size == boundary);
    kymo_schema_release(schema);
    int status = kymo_registry_read_sound(&schema, bytes, size, &used, "FILE", &error);
    assert_int_equal(status == KYMO_OK, size >= first);
    assert_int_equal(schema != NULL, status == KYMO_OK);
    if (schema) {
      assert_int_equal(used, boundary);
      if (used < size)
        assert_int_equal(error.offset, boundary);
    }
    kymo_schema_release(schema);
    free(bytes);
  }
  free(whole.bytes);
}

static void every_changed_byte_is_noticed(void **state) {
  (void)state;
  struct registry registry = sample_registry();
  for (size_t at = 0; at < registry.size; at++) {
    struct kymo_schema *schema = NULL;
    struct kymo_error error;
    registry.bytes[at] ^= 0x10;
    int status = kymo_registry_read(&schema, registry.bytes, registry.size, "FILE", &error);
    if (status != KYMO_E_FORMAT && !(status == KYMO_E_UNKNOWN && at < 8))
      fail_msg("byte %zu: status %d", at, status);
    registry.bytes[at] ^= 0x10;
  }
  free(registry.bytes);
}

static void zeros_of_a_torn_append_end_the_reading(void **state) {
  (void)state;
  struct registry registry = sample_registry();
  static const uint8_t zeros[100];
  struct kymo_schema *schema;
  struct kymo_error error;
  char text[2048], words[100];
  size_t used, size = registry.size;
  insert(&registry, registry.size, zeros, sizeof zeros);
  snprintf(words, sizeof words, "FILE: byte %zu: expected a record, found kind 0", size);
  refused(&registry, KYMO_E_FORMAT, words);
  assert_int_equal(kymo_registry_read_sound(&schema, registry.bytes, registry.size, &used, "FILE", &error),
                   KYMO_OK);
  assert_int_equal(used, size);
  assert_string_equal(kymo_error_text(&error, text, sizeof text), words);
  kymo_schema_release(schema);
  free(registry.bytes);
}

/* ---- valid checksums over invalid contents ---- */

/* The `size` bytes at `at` in the content of the `number`-th record of a kind becomes `value`: refused at
 * byte `fault` of the content (-8: of the record) with these words. */
struct wrong {
  uint32_t kind, number, at, size, value;
  int fault;
  const char *words;
};

/* Ids of types of the sample. */
enum { UUID, MAGIC, STATE = 16, SEQUENCE = 34, ARRAY = 35, VARIANT = 37, OPTIONAL = 38 };

static const struct wrong wrongs[] = {
    {KYMO_RECORD_TRACE, 0, 0, 1, 2, 0, "expected a byte order of 0 or 1, found 2"},
    {KYMO_RECORD_TRACE, 0, 28, 4, 1000, 28, "a text of 1000 bytes in a record with 22 left"},
    {KYMO_RECORD_ENVIRONMENT, 0, 12, 1, 0, 12, "a text with a zero byte in it"},
    {KYMO_RECORD_ENVIRONMENT, 0, 8, 4, 25, 8, "a text of 25 bytes in a record with 17 left"},
    {KYMO_RECORD_TYPE, MAGIC, 0, 1, 99, 0, "expected a kind of type from 0 to 15, found 99"},
    {KYMO_RECORD_TYPE, MAGIC, 1, 1, 0x20, 1, "expected flags of a type below 0x20, found 0x20"},
    {KYMO_RECORD_TYPE, MAGIC, 3, 1, 7, 3, "expected an encoding from 0 to 6, found 7"},
    {KYMO_RECORD_TYPE, MAGIC, 2, 1, 3, -8, "type: expected base 2, 8, 10 or 16, found 3"},
    {KYMO_RECORD_TYPE, MAGIC, 16, 4, 0x800, 16, "expected roles below 0x800, found 0x800"},
    {KYMO_RECORD_TYPE, MAGIC, 4, 4, 12, -8, "type: expected a power of two as alignment, found 12"},
    {KYMO_RECORD_TYPE, MAGIC, 8, 4, 65, -8, "type: expected a width of 1 to 64 bits, found 65"},
    {KYMO_RECORD_TYPE, UUID, 8, 4, 7, 8, "blob array of a width of its own: 7"},
    {KYMO_RECORD_TYPE, MAGIC, 12, 4, 1 << KYMO_PART_MEMBERS, 12, "integer with members"},
    {KYMO_RECORD_TYPE, ARRAY, 12, 4, 1 << KYMO_PART_LENGTH, 12, "array without an element"},
    {KYMO_RECORD_TYPE, SEQUENCE, 12, 4, 1 << KYMO_PART_ELEMENT, 12, "sequence without a selector"},
    {KYMO_RECORD_TYPE, MAGIC, 12, 4, 0xffff0000 | 1 << KYMO_PART_NAME, 16,
     "a text of 1 bytes in a record with 0 left"},
    {KYMO_RECORD_TYPE, STATE, 30, 4, 7, 30, "a list of 7 in a record with 102 bytes left"},
    {KYMO_RECORD_TYPE, STATE, 34, 8, 2, -8, "type enum state: empty range in mapping 0"},
    {KYMO_RECORD_TYPE, SEQUENCE, 16, 4, SEQUENCE, 16,
     "expected one of the 34 types before it, found type 34"},
    {KYMO_RECORD_TYPE, SEQUENCE, 16, 4, UINT32_MAX, 16, "expected a type, found none"},
    {KYMO_RECORD_TYPE, SEQUENCE, 24, 4, 6, 24, "expected a scope from 0 to 5, found 6"},
    {KYMO_RECORD_TYPE, SEQUENCE, 28, 4, 2, 28, "a list of 2 in a record with 4 bytes left"},
    {KYMO_RECORD_TYPE, VARIANT, 39, 4, 99, 39, "a list of 99 in a record with 87 bytes left"},
    {KYMO_RECORD_PACKET_HEADER, 0, 0, 4, 9999, 0, "expected one of the 3 types before it, found type 9999"},
    {KYMO_RECORD_PACKET_HEADER, 0, 0, 4, 1, 0, "expected a struct, found type 1: integer"},
    {KYMO_RECORD_CLOCK, 0, 4, 8, 0, 4, "a clock with a frequency of 0"},
    {KYMO_RECORD_STREAM, 0, 8, 4, 2, 8, "expected one of the 2 clocks before it, found clock 2"},
    {KYMO_RECORD_STREAM, 1, 0, 8, 7, -8, "a second stream class with id 7"},
    {KYMO_RECORD_EVENT, 0, 8, 4, 2, 8, "expected one of the 2 streams before it, found stream 2"},
};

static void what_makes_no_sense_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < SAMPLE_COUNT(wrongs); i++) {
    const struct wrong *wrong = &wrongs[i];
    char words[300];
    struct registry registry = sample_registry();
    size_t record = find_record(&registry, wrong->kind, wrong->number),
           content = record + KYMO_REGISTRY_HEAD_BYTES;
    if (wrong->size == 1)
      registry.bytes[content + wrong->at] = (uint8_t)wrong->value;
    else if (wrong->size == 4)
      put_word(&registry, content + wrong->at, wrong->value);
    else
      memcpy(registry.bytes + content + wrong->at, &(uint64_t){wrong->value}, 8);
    repair(&registry, record);
    snprintf(words, sizeof words, "FILE: byte %zu: %s", content + (size_t)wrong->fault, wrong->words);
    refused(&registry, KYMO_E_FORMAT, words);
    free(registry.bytes);
  }
}

/* A registry that is valid except for an event class: a fault of the writer, or a checksum corrected by
 * hand. */
static void event_classes_are_what_they_say(void **state) {
  (void)state;
  static const char *const names[] = {"content", "layout"};
  for (size_t i = 0; i < 2; i++) {
    struct registry registry = sample_registry();
    struct kymo_schema *schema = read_registry(&registry);
    const struct kymo_hashes *hashes = &schema->streams[0]->events[0]->hashes;
    const struct kymo_hash *hash = i == 0 ? &hashes->content : &hashes->layout;
    size_t record = find_record(&registry, KYMO_RECORD_EVENT, 0),
           place = record + KYMO_REGISTRY_HEAD_BYTES + 28 + 16 * i;
    char words[300];
    assert_memory_equal(registry.bytes + place, &hash->high, 8);
    memcpy(registry.bytes + place + 8, &(uint64_t){7}, 8);
    repair(&registry, record);
    snprintf(words, sizeof words,
             "FILE: byte %zu: event \"net:rx\" is not what it was: its %s hash is %016" PRIx64 "%016" PRIx64
             ", it says %016" PRIx64 "0000000000000007",
             record, names[i], hash->high, hash->low, hash->high);
    refused(&registry, KYMO_E_FORMAT, words);
    kymo_schema_release(schema);
    free(registry.bytes);
  }
}

/* Half a million members of one name must not take the square of that in steps: this would not end in
 * time. */
static void equal_names_cost_no_more_than_others(void **state) {
  (void)state;
  const uint32_t count = 500000;
  struct kymo_builder *builder = kymo_builder_new();
  struct kymo_member *members = kymo_builder_alloc(builder, count * sizeof *members);
  const struct kymo_type *byte =
      kymo_builder_type(builder, &(struct kymo_type){.size_bits = 8, .align_bits = 8});
  for (uint32_t i = 0; i < count; i++)
    members[i] = (struct kymo_member){.name = "same", .type = byte};
  const struct kymo_type *wide = kymo_builder_type(
      builder, &(struct kymo_type){.kind = KYMO_KIND_STRUCT, .member_count = count, .members = members});
  assert_ptr_equal(kymo_type_member(wide, "same"), &members[0]);
  kymo_builder_free(builder);
}

/* ---- versions ---- */

static void another_major_version_is_refused(void **state) {
  (void)state;
  struct registry registry = sample_registry();
  uint16_t version[2] = {2, 5};
  memcpy(registry.bytes + 4, version, sizeof version);
  repair_header(&registry);
  refused(&registry, KYMO_E_UNKNOWN,
          "FILE: byte 4: a registry of version 2.5, which this kymo does not know (it reads 1.x)");
  memset(registry.bytes, 0, 4);
  refused(&registry, KYMO_E_UNKNOWN, "FILE: byte 0: no registry: the magic number is missing");
  registry.size = 3;
  refused(&registry, KYMO_E_UNKNOWN, "FILE: byte 0: no registry: the magic number is missing");
  free(registry.bytes);
}

/* A later minor version: a longer header, records of unknown kinds, more bytes after the contents of
 * records. */
static void later_minor_versions_are_read(void **state) {
  (void)state;
  struct registry registry = sample_registry();
  struct kymo_schema *plain = read_registry(&registry);
  static const uint32_t strange[] = {1000, 8, 1, 2, 0};
  uint16_t minor = 9;
  uint32_t header = KYMO_REGISTRY_HEADER_BYTES + 8;
  for (size_t at = KYMO_REGISTRY_HEADER_BYTES; at < registry.size; at = next_record(&registry, at)) {
    uint32_t length = word_at(&registry, at + 4) + 8;
    insert(&registry, at + length, &(uint64_t){UINT64_MAX}, 8);
    put_word(&registry, at + 4, length);
    if (word_at(&registry, at) == KYMO_RECORD_TYPE)
      put_word(&registry, at + 20, word_at(&registry, at + 20) | UINT32_C(1) << 31);
    repair(&registry, at);
    insert(&registry, next_record(&registry, at), strange, sizeof strange);
    at = next_record(&registry, at);
    repair(&registry, at);
  }
  insert(&registry, KYMO_REGISTRY_HEADER_BYTES - 4, &(uint64_t){1}, 8);
  memcpy(registry.bytes + 6, &minor, sizeof minor);
  put_word(&registry, 8, header);
  put_word(&registry, header - 4, kymo_registry_checksum(registry.bytes, header - 4));
  struct kymo_schema *later = read_registry(&registry);
  assert_null(schemas_differ(plain, later));
  kymo_schema_release(plain);
  kymo_schema_release(later);
  free(registry.bytes);
}

/* Writes the sample's registry to a file: tests/registry/sample-big.key was made so, on a big-endian
 * machine. */
static int write_sample(const char *path) {
  struct registry registry = sample_registry();
  FILE *file = fopen(path, "wb");
  bool is_good = file && fwrite(registry.bytes, 1, registry.size, file) == registry.size;
  is_good = file && fclose(file) == 0 && is_good;
  free(registry.bytes);
  return is_good ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--write") == 0)
    return write_sample(argv[2]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_is_kept),
      cmocka_unit_test(pieces_make_the_whole),
      cmocka_unit_test(sound_records_before_a_cut_are_read),
      cmocka_unit_test(every_changed_byte_is_noticed),
      cmocka_unit_test(zeros_of_a_torn_append_end_the_reading),
      cmocka_unit_test(what_makes_no_sense_is_refused),
      cmocka_unit_test(event_classes_are_what_they_say),
      cmocka_unit_test(equal_names_cost_no_more_than_others),
      cmocka_unit_test(another_major_version_is_refused),
      cmocka_unit_test(later_minor_versions_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
