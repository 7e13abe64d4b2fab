/* SPDX-License-Identifier: MIT */
/* Keys whose plans are built by hand: what they deliver, what they refuse. */
#include "base/bytes.h"
#include "folder.h"
#include "plans.h"

#define FILE_BYTES (16 << 20)

/* ---- around a key ---- */

static struct kymo_schema *need_key(struct kymo_schema *key, const struct kymo_error *error) {
  if (!key)
    print_error("%s\n", error->message);
  assert_non_null(key);
  return key;
}

static struct kymo_trace *open_bytes(struct kymo_schema *key, const uint8_t *bytes, size_t size) {
  struct kymo_trace *trace = NULL;
  struct kymo_error error = {0};
  struct kymo_trace_options options = {.description = key};
  write_file("trace", bytes, size);
  const char *path = below("trace");
  int status = kymo_trace_open(&trace, &path, 1, &options, &error);
  if (status != KYMO_OK)
    print_error("%s\n", error.message);
  assert_int_equal(status, KYMO_OK);
  return trace;
}

static const struct kymo_event *next(struct kymo_trace *trace) {
  const struct kymo_event *event = NULL;
  struct kymo_error error;
  int status = kymo_trace_next(trace, &event, &error);
  return status == KYMO_OK ? event : NULL;
}

static uint64_t number(struct kymo_trace *trace, const struct kymo_event *event, const char *name) {
  uint64_t value = 0;
  uint32_t id = kymo_field_id(trace, event->class_, name);
  assert_int_equal(kymo_event_get_uint(event, id, &value), KYMO_OK);
  return value;
}

static void expect_damage(const struct kymo_trace *trace, size_t index, uint64_t offset, uint64_t lost,
                          const char *message) {
  assert_true(index < kymo_trace_damage_count(trace));
  const struct kymo_damage *damage = kymo_trace_damage(trace, index);
  assert_string_equal(damage->message, message);
  assert_int_equal(damage->offset, offset);
  assert_int_equal(damage->bytes_lost, lost);
}

/* ---- packets ---- */

static void expect_packets(struct kymo_trace *trace, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const struct kymo_event *event = next(trace);
    const uint8_t *data;
    uint64_t size;
    assert_non_null(event);
    assert_string_equal(event->class_->name, "pcap:packet");
    assert_int_equal(event->time_ns, (1000 + i / 1000) * INT64_C(1000000000) + i % 1000 * 1000000);
    assert_int_equal(number(trace, event, "caplen"), 60 + i % 40);
    assert_int_equal(number(trace, event, "wire"), 61 + i % 40);
    assert_int_equal(kymo_event_get_bytes(event, kymo_field_id(trace, event->class_, "data"), &data, &size),
                     KYMO_OK);
    assert_int_equal(size, 60 + i % 40);
    assert_int_equal(data[size - 1], i & 255);
  }
}

static void packets(bool is_big) {
  struct kymo_error error = {0};
  struct kymo_schema *key = need_key(pcap_key(&error), &error);
  uint8_t *bytes = malloc(FILE_BYTES);
  size_t size = pcap_file(bytes, 5000, is_big);
  struct kymo_trace *trace = open_bytes(key, bytes, size);
  expect_packets(trace, 5000);
  assert_null(next(trace));
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  kymo_trace_close(trace);
  kymo_schema_release(key);
  free(bytes);
}

static void packets_are_delivered_little_endian(void **state) {
  (void)state;
  packets(false);
}

static void packets_are_delivered_big_endian(void **state) {
  (void)state;
  packets(true);
}

static void the_tail_of_a_cut_file_is_told(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct kymo_schema *key = need_key(pcap_key(&error), &error);
  uint8_t *bytes = malloc(FILE_BYTES);
  size_t size = pcap_file(bytes, 3, false);
  struct kymo_trace *trace = open_bytes(key, bytes, size - 10);
  expect_packets(trace, 2);
  assert_null(next(trace));
  assert_int_equal(kymo_trace_damage_count(trace), 1);
  expect_damage(trace, 0, 24 + 76 + 77, 68, "R1: the file ends 10 bytes before the record does, in data");
  kymo_trace_close(trace);
  kymo_schema_release(key);
  free(bytes);
}

static void a_failed_check_marks_the_record(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct kymo_schema *key = need_key(pcap_key(&error), &error);
  uint8_t *bytes = malloc(FILE_BYTES);
  size_t size = pcap_file(bytes, 3, false);
  bytes[24 + 76 + 11] = 0x10; /* caplen beyond all */
  struct kymo_trace *trace = open_bytes(key, bytes, size);
  expect_packets(trace, 1);
  assert_null(next(trace));
  expect_damage(trace, 0, 24 + 76 + 16, 0, "R4: a check failed");
  assert_int_equal(kymo_trace_damage_count(trace), 2);
  kymo_trace_close(trace);
  kymo_schema_release(key);
  free(bytes);
}

static void going_back_is_exact(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct kymo_schema *key = need_key(pcap_key(&error), &error);
  uint8_t *bytes = malloc(FILE_BYTES);
  const struct kymo_event *event;
  size_t size = pcap_file(bytes, 5000, false);
  struct kymo_trace *trace = open_bytes(key, bytes, size);
  expect_packets(trace, 5000);
  assert_null(next(trace));
  for (uint32_t i = 5000; i-- > 0;) {
    assert_int_equal(kymo_trace_previous(trace, &event, &error), KYMO_OK);
    assert_int_equal(event->number, i + 1);
    assert_int_equal(number(trace, event, "caplen"), 60 + i % 40);
  }
  assert_int_equal(kymo_trace_previous(trace, &event, &error), KYMO_END);
  kymo_trace_close(trace);
  kymo_schema_release(key);
  free(bytes);
}

/* ---- the compiled description ---- */

static void a_key_is_the_same_after_writing_and_reading(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct kymo_schema *key = need_key(pcap_key(&error), &error), *other = NULL;
  uint8_t *bytes, *again;
  size_t size, other_size;
  assert_int_equal(kymo_registry_write(key, &bytes, &size, &error), KYMO_OK);
  assert_int_equal(kymo_registry_read(&other, bytes, size, "key", &error), KYMO_OK);
  assert_int_equal(other->plan_size, key->plan_size);
  assert_memory_equal(other->plan, key->plan, key->plan_size);
  assert_int_equal(kymo_registry_write(other, &again, &other_size, &error), KYMO_OK);
  assert_int_equal(size, other_size);
  assert_memory_equal(bytes, again, size);
  struct kymo_plan *plan = kymo_plan_open(other, "key", &error);
  assert_non_null(plan);
  kymo_plan_close(plan);
  kymo_schema_release(other);
  kymo_schema_release(key);
  free(bytes);
  free(again);
}

static void plans_of_other_versions_and_damaged_ones_are_refused(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct kymo_schema *key = need_key(pcap_key(&error), &error);
  uint8_t *plan = malloc(key->plan_size);
  memcpy(plan, key->plan, key->plan_size);
  struct kymo_schema copy = *key;
  copy.plan = plan;
  plan[4] = 2;
  assert_null(kymo_plan_open(&copy, "x.key", &error));
  assert_int_equal(error.code, KYMO_E_UNKNOWN);
  assert_string_equal(error.message,
                      "R8: a plan of version 2.2, which this kymo does not know (it reads 1.x)");
  plan[4] = 1;
  plan[8] = 7; /* a later minor version */
  struct kymo_plan *opened = kymo_plan_open(&copy, "x.key", &error);
  assert_non_null(opened);
  kymo_plan_close(opened);
  copy.plan_size--;
  assert_null(kymo_plan_open(&copy, "x.key", &error));
  assert_non_null(strstr(error.message, "R8: the plan is damaged"));
  free(plan);
  kymo_schema_release(key);
}

/* A word of a plan, whose words are little endian on each machine. */
static uint32_t word_of(const uint8_t *plan, size_t word) { return kymo_load_le32(plan + word * 4); }

static void plans_of_version_1_0_are_read(void **state) {
  (void)state;
  enum { HEAD = 4, COLUMN_WORDS = 6 }; /* words before those of the sections; of a column then */
  struct kymo_error error = {0};
  struct kymo_schema *key = need_key(pcap_key(&error), &error);
  struct kymo_plan *today = kymo_plan_open(key, "x.key", &error);
  const uint8_t *plan = key->plan;
  const size_t columns = word_of(plan, HEAD + 2 * KYMO_SECTION_COLUMN + 1),
               size = word_of(plan, HEAD + 2 * KYMO_SECTION_COLUMN);
  size_t column = HEAD + 2 * KYMO_SECTION_COUNT + 1, kept = 0;
  for (uint32_t i = 0; i < KYMO_SECTION_COLUMN; i++)
    column += (size_t)word_of(plan, HEAD + 2 * i) * word_of(plan, HEAD + 2 * i + 1);
  const size_t after = column + size * columns;
  assert_true(columns > 0 && size == COLUMN_WORDS + 3 && after * 4 < key->plan_size);
  uint8_t *old = malloc(key->plan_size);
  memcpy(old, plan, column * 4);
  memset(old + 2 * 4, 0, 4);
  old[(HEAD + 2 * KYMO_SECTION_COLUMN) * 4] = COLUMN_WORDS; /* the low byte of a word below 256 */
  for (size_t i = 0; i < columns; i++, kept += COLUMN_WORDS)
    memcpy(old + (column + kept) * 4, plan + (column + i * size) * 4, COLUMN_WORDS * 4);
  memcpy(old + (column + kept) * 4, plan + after * 4, key->plan_size - after * 4);
  struct kymo_schema copy = *key;
  copy.plan = old;
  copy.plan_size = key->plan_size - columns * (size - COLUMN_WORDS) * 4;
  struct kymo_plan *opened = kymo_plan_open(&copy, "x.key", &error);
  assert_non_null(opened);
  assert_memory_equal(opened->columns, today->columns, columns * sizeof *today->columns);
  assert_memory_equal(opened->code, today->code,
                      today->counts[KYMO_SECTION_INSTRUCTION] * sizeof *today->code);
  kymo_plan_close(opened);
  kymo_plan_close(today);
  free(old);
  kymo_schema_release(key);
}

/* A plan of one kind whose code `emit` makes; it must be refused with `message`. */
static void refuse(void (*emit)(struct kymo_plan_builder *), const char *message) {
  struct kymo_error error = {0};
  struct kymo_plan_builder *b = kymo_plan_builder_new();
  struct kymo_plan_root root = plain_root(b, "bad");
  kymo_plan_add_root(b, &root);
  struct kymo_plan_kind kind = plain_kind(b, "kind", KYMO_CLASS_EVENT);
  kind.slot_count = 2;
  kymo_plan_block_begin(b);
  emit(b);
  kind.part.block = kymo_plan_block_end(b);
  kymo_plan_add_kind(b, &kind);
  add_step(b, 0, 1, true);
  assert_null(kymo_plan_finish(b, &error));
  if (!strstr(error.message, message))
    print_error("expected \"%s\", found \"%s\"\n", message, error.message);
  assert_non_null(strstr(error.message, message));
}

static void underflow(struct kymo_plan_builder *b) { kymo_plan_emit(b, KYMO_DO_ADD, 0, 0, 0); }
static void no_list(struct kymo_plan_builder *b) { kymo_plan_emit(b, KYMO_DO_ELEMENT, 0, 0, 0); }
static void leftover(struct kymo_plan_builder *b) { kymo_plan_emit_number(b, 1, false); }
static void strange(struct kymo_plan_builder *b) { kymo_plan_emit(b, KYMO_DO_COUNT, 0, 0, 0); }
static void no_slot(struct kymo_plan_builder *b) {
  kymo_plan_emit_number(b, 1, false);
  kymo_plan_emit(b, KYMO_DO_SET, 2, 0, 0);
}
static void backward(struct kymo_plan_builder *b) {
  kymo_plan_emit_number(b, 1, false);
  kymo_plan_emit(b, KYMO_DO_DROP, 0, 0, 0);
  kymo_plan_emit(b, KYMO_DO_JUMP, 0, 0, 0);
}
static void beyond(struct kymo_plan_builder *b) { kymo_plan_emit(b, KYMO_DO_JUMP, 17, 0, 0); }
static void open_loop(struct kymo_plan_builder *b) {
  kymo_plan_emit(b, KYMO_DO_LOOP, 1, KYMO_LOOP_TO_END, 5);
}
static void lone_leave(struct kymo_plan_builder *b) { kymo_plan_emit(b, KYMO_DO_LEAVE, 0, 0, 0); }
static void into_loop(struct kymo_plan_builder *b) {
  kymo_plan_emit(b, KYMO_DO_JUMP, 2, 0, 0);
  kymo_plan_emit(b, KYMO_DO_LOOP, 3, KYMO_LOOP_TO_END, 5);
  kymo_plan_emit(b, KYMO_DO_TURN, 1, 0, 0);
}
static void two_depths(struct kymo_plan_builder *b) {
  kymo_plan_emit_number(b, 1, false);
  kymo_plan_emit(b, KYMO_DO_JUMP_TRUE, 3, 0, 0);
  kymo_plan_emit_number(b, 1, false);
}
static void deep(struct kymo_plan_builder *b) {
  for (int i = 0; i < KYMO_PLAN_STACK + 1; i++)
    kymo_plan_emit_number(b, 1, false);
}

static struct kymo_plan_letter letter_of(struct kymo_plan_builder *b, uint32_t encoding, uint32_t count) {
  struct kymo_plan_type type = {.encoding = encoding, .size = KYMO_SIZE_POPPED};
  return (struct kymo_plan_letter){.text = kymo_plan_add_text(b, "x", 1),
                                   .type = kymo_plan_add_type(b, &type),
                                   .shape = KYMO_SHAPE_TEXT,
                                   .count = count,
                                   .view = KYMO_PLAN_NONE};
}
static void number_sized_late(struct kymo_plan_builder *b) {
  struct kymo_plan_letter letter = letter_of(b, KYMO_TYPE_UNSIGNED, 0);
  kymo_plan_add_letter(b, &letter);
}
static void texts_sized_late(struct kymo_plan_builder *b) {
  struct kymo_plan_letter letter = letter_of(b, KYMO_TYPE_STRING, 2);
  kymo_plan_add_letter(b, &letter);
}
static void types_in_no_table(struct kymo_plan_builder *b) {
  struct kymo_plan_table table = {.name = kymo_plan_add_text(b, "t", 1), .holds = KYMO_HOLDS_RECORDS};
  struct kymo_plan_letters letters = {.name = table.name};
  struct kymo_plan_recipe recipe = {.table = kymo_plan_add_table(b, &table),
                                    .style = KYMO_STYLE_TEXT,
                                    .letters = kymo_plan_add_letters(b, &letters),
                                    .split = table.name,
                                    .nested = 2};
  kymo_plan_add_recipe(b, &recipe);
}

static void next_that_is_earlier(struct kymo_plan_builder *b) {
  struct kymo_plan_table table = {.name = kymo_plan_add_text(b, "t", 1), .holds = KYMO_HOLDS_RECORDS};
  struct kymo_plan_recipe recipe = {.table = kymo_plan_add_table(b, &table),
                                    .style = KYMO_STYLE_LIST,
                                    .letters = KYMO_PLAN_NONE,
                                    .size_column = KYMO_PLAN_NONE,
                                    .next = 1}; /* itself */
  struct kymo_plan_column column = {.name = table.name};
  kymo_plan_add_column(b, &column);
  kymo_plan_add_recipe(b, &recipe);
}
static void fields_of_no_table(struct kymo_plan_builder *b) { kymo_plan_emit(b, KYMO_DO_FIELDS, 0, 0, 0); }
static void name_of_no_list(struct kymo_plan_builder *b) {
  kymo_plan_emit_number(b, 1, false);
  kymo_plan_emit(b, KYMO_DO_NAME_OF, 0, 0, 0);
  kymo_plan_emit(b, KYMO_DO_DROP, 0, 0, 0);
}
static void half_a_text(struct kymo_plan_builder *b) {
  kymo_plan_emit_number(b, 1, false);
  kymo_plan_emit(b, KYMO_DO_CONCAT, 0, 0, 0);
}
static void field_of_no_sort(struct kymo_plan_builder *b) {
  kymo_plan_emit(b, KYMO_DO_FIELD, 0, 2, 0);
  kymo_plan_emit(b, KYMO_DO_DROP, 0, 0, 0);
}

static void untrusted_plans_are_refused(void **state) {
  (void)state;
  refuse(underflow, "more values are taken than there are");
  refuse(no_list, "an operand that is out of bounds");
  refuse(leftover, "values are left, or missing, at the end");
  refuse(strange, "a code that this kymo does not know");
  refuse(no_slot, "an operand that is out of bounds");
  refuse(backward, "a jump that does not lead forward in its block");
  refuse(beyond, "a jump that does not lead forward in its block");
  refuse(open_loop, "a beginning without its end");
  refuse(lone_leave, "an end without its beginning");
  refuse(into_loop, "a jump into a loop or window, or to another depth");
  refuse(two_depths, "another depth");
  refuse(deep, "the stack is too deep");
  refuse(number_sized_late, "letter 0 is out of bounds");
  refuse(texts_sized_late, "letter 0 is out of bounds");
  refuse(types_in_no_table, "recipe 0 is out of bounds");
  refuse(next_that_is_earlier, "recipe 0 is out of bounds");
  refuse(fields_of_no_table, "an operand that is out of bounds");
  refuse(name_of_no_list, "an operand that is out of bounds");
  refuse(half_a_text, "more values are taken than there are");
  refuse(field_of_no_sort, "an operand that is out of bounds");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(packets_are_delivered_little_endian, make_top, remove_top),
      cmocka_unit_test_setup_teardown(packets_are_delivered_big_endian, make_top, remove_top),
      cmocka_unit_test_setup_teardown(the_tail_of_a_cut_file_is_told, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_failed_check_marks_the_record, make_top, remove_top),
      cmocka_unit_test_setup_teardown(going_back_is_exact, make_top, remove_top),
      cmocka_unit_test(a_key_is_the_same_after_writing_and_reading),
      cmocka_unit_test(plans_of_other_versions_and_damaged_ones_are_refused),
      cmocka_unit_test(plans_of_version_1_0_are_read),
      cmocka_unit_test(untrusted_plans_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
