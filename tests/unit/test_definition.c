/* SPDX-License-Identifier: MIT */
/* Definition records: written and read again, each damage with its place; formats, templates and bytes held
 * against fields. */
#include "schema/definition.h"
#include "folder.h"
#include <errno.h>

static const struct kymo_event_definition sample = {
    .id = 7,
    .index = 3,
    .application = 0x1234,
    .version = 2,
    .name = "read",
    .name_length = 4,
    .template_text = "%d",
    .template_length = 2,
    .field_count = 2,
    .fields = {{KYMO_FIELD_INT32 | KYMO_FIELD_BIG, 2, "fd"}, {KYMO_FIELD_COUNTED_TEXT(1), 4, "text"}}};

/* The same by hand. */
static const char little[] =
    "\x03\0\x34\x12\x02\0\x02\0\x07\0\0\0\x04\0\x02\0read%d\x81\0\x04\0\x02\0fd\x05\x01\x01\0\x04\0text";
static const char big[] = "\0\x03\x12\x34\0\x02\0\x02\0\0\0\x07\0\x04\0\x02read%d\0\x04\0\x81\0\x02"
                          "fd\0\x01\x01\x05\0\x04text";

static void assert_is_sample(const struct kymo_event_definition *got) {
  assert_int_equal(got->id, 7);
  assert_int_equal(got->index, 3);
  assert_int_equal(got->application, 0x1234);
  assert_int_equal(got->version, 2);
  assert_int_equal(got->field_count, 2);
  assert_memory_equal(got->name, "read", 4);
  assert_memory_equal(got->template_text, "%d", 2);
  assert_int_equal(got->fields[0].what, sample.fields[0].what);
  assert_int_equal(got->fields[1].what, sample.fields[1].what);
  assert_memory_equal(got->fields[1].name, "text", 4);
}

static void record_is_as_documented(void **state) {
  (void)state;
  unsigned char record[sizeof little];
  struct kymo_event_definition got;
  struct kymo_event_definition_fault fault;
  assert_int_equal(kymo_event_definition_size(&sample), sizeof little - 1);
  kymo_event_definition_put(&sample, record);
  assert_memory_equal(record, KYMO_HOST_IS_BIG ? big : little, sizeof little - 1);
  assert_true(kymo_event_definition_parse(&got, little, sizeof little - 1, false, &fault));
  assert_is_sample(&got);
  assert_true(kymo_event_definition_parse(&got, big, sizeof big - 1, true, &fault));
  assert_is_sample(&got);
}

/* With `size` bytes from `at` on replaced, it is refused there, with this text. */
static void refuses(size_t at, const char *bytes, size_t size, size_t place, const char *text) {
  unsigned char record[sizeof little];
  struct kymo_event_definition got;
  struct kymo_event_definition_fault fault;
  memcpy(record, little, sizeof little);
  memcpy(record + at, bytes, size);
  assert_false(kymo_event_definition_parse(&got, record, sizeof little - 1, false, &fault));
  assert_string_equal(fault.text, text);
  assert_int_equal(fault.at, place);
}

static void damaged_records_are_told(void **state) {
  (void)state;
  refuses(12, "\0\0", 2, 16, "expected the name of an event, found 0 bytes that are none");
  refuses(16, "\n", 1, 16, "expected the name of an event, found 4 bytes that are none");
  refuses(20, "\0", 1, 20, "expected a print template, found a zero in it");
  refuses(6, "\x41\0", 2, 6, "expected at most 64 fields, found 65");
  refuses(6, "\x01\0", 2, 30, "expected the end of a definition, found 10 bytes more");
  refuses(6, "\x03\0", 2, 40, "expected field 2 of a definition, found its end");
  refuses(22, "\x01\0\x03\0", 4, 22, "expected a known kind of field, found 0x00030001");
  refuses(26, "\0\0", 2, 28, "expected the name of field 0, found 0 bytes that are none");
  refuses(12, "\xff\xff", 2, 16, "expected a definition of at least 65553 bytes, found 40");
  struct kymo_event_definition twice = sample, got;
  struct kymo_event_definition_fault fault;
  unsigned char record[64];
  twice.fields[1] = twice.fields[0];
  kymo_event_definition_put(&twice, record);
  assert_false(kymo_event_definition_parse(&got, record, kymo_event_definition_size(&twice), KYMO_HOST_IS_BIG,
                                           &fault));
  assert_string_equal(fault.text, "expected another name than that of field 0, found it again");
}

static void every_cut_record_is_refused(void **state) {
  (void)state;
  struct kymo_event_definition got;
  struct kymo_event_definition_fault fault;
  for (size_t size = 0; size < sizeof little - 1; size++)
    assert_false(kymo_event_definition_parse(&got, little, size, false, &fault));
}

static void only_documented_fields_are_known(void **state) {
  (void)state;
  static const uint32_t known[] = {KYMO_FIELD_INT8,
                                   KYMO_FIELD_UINT64 | KYMO_FIELD_HEX | KYMO_FIELD_BIG,
                                   KYMO_FIELD_FLOAT | KYMO_FIELD_LITTLE,
                                   KYMO_FIELD_TEXT,
                                   KYMO_FIELD_COUNTED_TEXT(4),
                                   KYMO_FIELD_OBJECT(2),
                                   KYMO_FIELD_ARRAY(4, 8) | KYMO_FIELD_HEX,
                                   KYMO_FIELD_MEMORY(65535),
                                   KYMO_FIELD_CHARS(1),
                                   KYMO_FIELD_TIME,
                                   KYMO_FIELD_TIMEVAL,
                                   KYMO_FIELD_TIMEVAL32 | KYMO_FIELD_BIG,
                                   KYMO_FIELD_ID};
  static const uint32_t unknown[] = {0,
                                     12,
                                     KYMO_FIELD_(KYMO_FIELD_IS_SIGNED, 3, 0),
                                     KYMO_FIELD_(KYMO_FIELD_IS_SIGNED, 16, 0),
                                     KYMO_FIELD_(KYMO_FIELD_IS_SIGNED, 4, 1),
                                     KYMO_FIELD_INT32 | KYMO_FIELD_BIG | KYMO_FIELD_LITTLE,
                                     KYMO_FIELD_FLOAT | KYMO_FIELD_HEX,
                                     KYMO_FIELD_TEXT | KYMO_FIELD_BIG,
                                     KYMO_FIELD_COUNTED_TEXT(8),
                                     KYMO_FIELD_OBJECT(0),
                                     KYMO_FIELD_ARRAY(4, 3),
                                     KYMO_FIELD_ARRAY(4, 16),
                                     KYMO_FIELD_MEMORY(0),
                                     KYMO_FIELD_(KYMO_FIELD_IS_TIMEVAL, 16, 0),
                                     KYMO_FIELD_(KYMO_FIELD_IS_ID, 4, 0),
                                     0x10};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_true(kymo_field_is_known(known[i]));
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    assert_false(kymo_field_is_known(unknown[i]));
}

static void bytes_fit_exactly(void **state) {
  (void)state;
  struct kymo_event_definition_fault fault;
  assert_true(kymo_event_definition_fits(&sample,
                                         "\0\0\0\x05\x02"
                                         "ab",
                                         7, false, &fault));
  assert_false(kymo_event_definition_fits(&sample,
                                          "\0\0\0\x05\x02"
                                          "abc",
                                          8, false, &fault));
  assert_string_equal(fault.text, "expected the end of read, found 1 bytes more");
  assert_int_equal(fault.at, 7);
  assert_false(kymo_event_definition_fits(&sample,
                                          "\0\0\0\x05\x02"
                                          "a",
                                          6, false, &fault));
  assert_string_equal(fault.text, "expected field text of read, found 2 bytes");
  assert_int_equal(fault.at, 4);
  assert_false(kymo_event_definition_fits(&sample, "\0\0\0", 3, false, &fault));
  assert_string_equal(fault.text, "expected field fd of read, found 3 bytes");
}

static void values_have_their_fields_order(void **state) {
  (void)state;
  struct kymo_event_definition_fault fault;
  struct kymo_event_definition_value value;
  for (int is_big = 0; is_big < 2; is_big++) {
    struct kymo_bytes bytes = {.data = (const uint8_t *)"\xff\xff\xff\x05\x02"
                                                        "ab",
                               .size = 7,
                               .is_big = is_big};
    assert_true(kymo_event_definition_read(&sample, 0, &bytes, &value, &fault));
    assert_int_equal((int64_t)value.number, -251);
    assert_true(kymo_event_definition_read(&sample, 1, &bytes, &value, &fault));
    assert_int_equal(value.count, 2);
    assert_memory_equal(value.bytes, "ab", 2);
  }
}

/* ---- while they are made ---- */

static struct kymo_log *open_stream(bool is_framed) {
  struct kymo_log_options options = {.is_framed = is_framed, .event_bytes_max = 40};
  struct kymo_log *log = kymo_log_open(below("log"), &options);
  assert_non_null(log);
  return log;
}

static void what_is_no_definition_is_refused(void **state) {
  (void)state;
  struct kymo_log *raw = open_stream(false), *log = open_stream(true);
  assert_null(kymo_definition_new(raw, "read", NULL));
  assert_int_equal(errno, EINVAL);
  assert_null(kymo_definition_new(log, "", NULL));
  assert_null(kymo_definition_new(log, "a\nb", NULL));
  struct kymo_definition_options bad = {.template_text = "%n"};
  assert_null(kymo_definition_new(log, "read", &bad));
  assert_int_equal(errno, EINVAL);
  struct kymo_definition *read = kymo_definition_new(log, "read", NULL);
  assert_int_equal(kymo_definition_add_field(read, "fd", KYMO_FIELD_INT32), 0);
  assert_int_equal(kymo_definition_add_field(read, "fd", KYMO_FIELD_INT32), -1);
  assert_int_equal(kymo_definition_add_field(read, "x", KYMO_FIELD_MEMORY(0)), -1);
  assert_int_equal(errno, EINVAL);
  assert_int_equal(kymo_definition_end(read), 0);
  assert_int_equal(kymo_definition_add_field(read, "late", KYMO_FIELD_INT32), -1);
  assert_int_equal(errno, EBUSY);
  struct kymo_definition *many = kymo_definition_new(log, "many", NULL);
  char name[16];
  for (int i = 0; i < KYMO_DEFINITION_FIELDS_MAX; i++) {
    snprintf(name, sizeof name, "f%d", i);
    assert_int_equal(kymo_definition_add_field(many, name, KYMO_FIELD_INT8), 0);
  }
  assert_int_equal(kymo_definition_add_field(many, "more", KYMO_FIELD_INT8), -1);
  assert_int_equal(errno, ENOSPC);
  kymo_log_close(raw);
  kymo_log_close(log);
}

struct pair {
  uint32_t field;
  const char *format;
  bool fits;
};

static void formats_are_held_against_fields(void **state) {
  (void)state;
  static const struct pair pairs[] = {{KYMO_FIELD_INT8, "%1b", true},
                                      {KYMO_FIELD_INT8, "%c", true},
                                      {KYMO_FIELD_UINT8, "%1n", true},
                                      {KYMO_FIELD_INT8, "%1n", false},
                                      {KYMO_FIELD_INT64, "%b", true},
                                      {KYMO_FIELD_INT64, "%8.8b", true},
                                      {KYMO_FIELD_INT64, "%8.4b", false},
                                      {KYMO_FIELD_INT32, "%.4b", true},
                                      {KYMO_FIELD_INT32, "%*b", false},
                                      {KYMO_FIELD_INT32, "%4b", true},
                                      {KYMO_FIELD_INT32, "%2b", false},
                                      {KYMO_FIELD_INT32, "%d", false},
                                      {KYMO_FIELD_INT32, "%.4b", true},
                                      {KYMO_FIELD_INT32 | KYMO_FIELD_BIG, "%>4b", true},
                                      {KYMO_FIELD_INT32 | KYMO_FIELD_BIG, "%<4b", false},
                                      {KYMO_FIELD_UINT16, "%n", true},
                                      {KYMO_FIELD_UINT32, "%4n", true},
                                      {KYMO_FIELD_DOUBLE, "%.8m", true},
                                      {KYMO_FIELD_DOUBLE, "%8b", true},
                                      {KYMO_FIELD_DOUBLE | KYMO_FIELD_BIG, "%.8m", false},
                                      {KYMO_FIELD_DOUBLE, "%f", false},
                                      {KYMO_FIELD_TEXT, "%0s", true},
                                      {KYMO_FIELD_TEXT, "%s", false},
                                      {KYMO_FIELD_TEXT, "%2S", false},
                                      {KYMO_FIELD_COUNTED_TEXT(2), "%S", true},
                                      {KYMO_FIELD_COUNTED_TEXT(2) | KYMO_FIELD_BIG, "%>2S", true},
                                      {KYMO_FIELD_COUNTED_TEXT(4), "%2S", false},
                                      {KYMO_FIELD_OBJECT(4), "%o", true},
                                      {KYMO_FIELD_OBJECT(4), "%.8o", false},
                                      {KYMO_FIELD_ARRAY(2, 8), "%2.8o", true},
                                      {KYMO_FIELD_MEMORY(16), "%.16m", true},
                                      {KYMO_FIELD_MEMORY(16), "%.*m", false},
                                      {KYMO_FIELD_MEMORY(16), "%.15m", false},
                                      {KYMO_FIELD_CHARS(16), "%.8M", true},
                                      {KYMO_FIELD_CHARS(3), "abc", true},
                                      {KYMO_FIELD_CHARS(2), "abc", false},
                                      {KYMO_FIELD_TIME, "%8b", true},
                                      {KYMO_FIELD_TIMEVAL, "%8b%4b", true},
                                      {KYMO_FIELD_TIMEVAL, "%4b%4b", false},
                                      {KYMO_FIELD_TIMEVAL32, "%4b*2", true},
                                      {KYMO_FIELD_TIMEVAL, "%8b", false},
                                      {KYMO_FIELD_ID, "", true},
                                      {KYMO_FIELD_ID, "%1b", false},
                                      {KYMO_FIELD_INT32, "%4b%1b", false},
                                      {KYMO_FIELD_INT32, "", false},
                                      {KYMO_FIELD_INT32, "%4", false}};
  struct kymo_log *log = open_stream(true);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    struct kymo_definition *definition = kymo_definition_new(log, "e", NULL);
    assert_int_equal(kymo_definition_add_field(definition, "x", pairs[i].field), 0);
    if (!kymo_definition_fault(definition, pairs[i].format) != pairs[i].fits)
      fail_msg("%s for 0x%08x", pairs[i].format, pairs[i].field);
  }
  kymo_log_close(log);
}

static void templates_are_held_against_fields(void **state) {
  (void)state;
  static const struct pair pairs[] = {{KYMO_FIELD_INT32, "fd %d", true},   {KYMO_FIELD_INT32, "%s", false},
                                      {KYMO_FIELD_TEXT, "%s", true},       {KYMO_FIELD_TEXT, "%d", false},
                                      {KYMO_FIELD_TIMEVAL, "%.6f", true},  {KYMO_FIELD_INT32, "%f", false},
                                      {KYMO_FIELD_INT32, "%d %d", false},  {KYMO_FIELD_INT32, "%%", true},
                                      {KYMO_FIELD_MEMORY(4), "%s", false}, {KYMO_FIELD_INT32, "%*d", false},
                                      {KYMO_FIELD_INT32, "%m", false}};
  struct kymo_log *log = open_stream(true);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    struct kymo_definition_options options = {.template_text = pairs[i].format};
    struct kymo_definition *definition = kymo_definition_new(log, "e", &options);
    assert_int_equal(kymo_definition_add_field(definition, "x", pairs[i].field), 0);
    if (!kymo_definition_end(definition) != pairs[i].fits)
      fail_msg("%s for 0x%08x", pairs[i].format, pairs[i].field);
  }
  kymo_log_close(log);
}

/* The stored bytes, by each of the three ways. */
static void events_are_whole_or_not_at_all(void **state) {
  (void)state;
  struct kymo_log *log = open_stream(true);
  struct kymo_definition *definition = kymo_definition_new(log, "e", NULL);
  struct kymo_log_counts counts;
  kymo_definition_add_field(definition, "length", KYMO_FIELD_UINT8);
  kymo_definition_add_field(definition, "text", KYMO_FIELD_TEXT);
  assert_int_equal(kymo_definition_printf(definition, "%1n%0s", "abc"), 5);
  const struct kymo_barg args[] = {KYMO_BARG("abc")};
  assert_int_equal(kymo_definition_vprintf(definition, "%1n%0s", args, 1), 5);
  assert_int_equal(kymo_definition_write(definition,
                                         "\x05"
                                         "abc",
                                         5),
                   5);
  assert_int_equal(kymo_definition_write(definition,
                                         "\x05"
                                         "abc",
                                         4),
                   -1);
  assert_int_equal(errno, EINVAL);
  assert_int_equal(kymo_definition_printf(definition, "%1n%s", "abc"), -1);
  assert_int_equal(errno, EINVAL);
  assert_int_equal(kymo_definition_vprintf(definition, "%1n%s", args, 1), -1);
  assert_int_equal(errno, EINVAL);
  assert_int_equal(kymo_definition_printf(definition, "%1n%0s", "123456789012345678901234567890123456"), 38);
  assert_int_equal(kymo_definition_printf(definition, "%1n%0s", "1234567890123456789012345678901234567"), -1);
  assert_int_equal(errno, EMSGSIZE);
  kymo_log_count(log, &counts);
  assert_int_equal(counts.lost, 1);
  assert_int_equal(counts.truncated, 0);
  assert_int_equal(kymo_log_close(log), 0);
  FILE *file = fopen(below("log_thread0"), "rb");
  unsigned char bytes[512];
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  const size_t record = 16 + 1 + 6 + 6 + 6 + 4, event = 12 + 2 + 5;
  assert_int_equal(size, 64 + 12 + record + 3 * event + 12 + 2 + 38);
  for (int i = 0; i < 3; i++)
    assert_memory_equal(bytes + 64 + 12 + record + 12 + i * event,
                        "\0\0\x05"
                        "abc",
                        7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(record_is_as_documented),
      cmocka_unit_test(damaged_records_are_told),
      cmocka_unit_test(every_cut_record_is_refused),
      cmocka_unit_test(only_documented_fields_are_known),
      cmocka_unit_test(bytes_fit_exactly),
      cmocka_unit_test(values_have_their_fields_order),
      cmocka_unit_test_setup_teardown(what_is_no_definition_is_refused, make_top, remove_top),
      cmocka_unit_test_setup_teardown(formats_are_held_against_fields, make_top, remove_top),
      cmocka_unit_test_setup_teardown(templates_are_held_against_fields, make_top, remove_top),
      cmocka_unit_test_setup_teardown(events_are_whole_or_not_at_all, make_top, remove_top),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
