/* SPDX-License-Identifier: MIT */
/* Files that are merged by sequence: the order of numbers, and moving about in the stream that they make. */
#include "folder.h"
#include "format/sequence.h"
#include "rounds.h"
#include <kymo/move.h>
#include <kymo/read.h>

#define FILES 3
#define RECORDS 12000u
#define RECORD_BYTES 512u
#define FIRST (UINT32_MAX - 5000)

/* ---- the order of numbers ---- */

static void distances_go_the_shorter_way(void **state) {
  (void)state;
  assert_int_equal(kymo_sequence_distance(250, 3, 8), 9);
  assert_int_equal(kymo_sequence_distance(3, 250, 8), -9);
  assert_int_equal(kymo_sequence_distance(0, 127, 8), 127);
  assert_int_equal(kymo_sequence_distance(0, 128, 8), -128);
  assert_int_equal(kymo_sequence_distance(UINT32_MAX, 0, 32), 1);
  assert_int_equal(kymo_sequence_distance(UINT64_MAX, 1, 64), 2);
  assert_int_equal(kymo_sequence_distance(1, 0, 1), -1);
  assert_int_equal(kymo_sequence_distance(7, 7, 64), 0);
}

static void the_next_number_is_taken(void **state) {
  (void)state;
  struct kymo_sequence sequence = {0};
  struct kymo_sequence_head heads[FILES] = {
      {KYMO_SEQUENCE_NUMBER, 8, 2}, {KYMO_SEQUENCE_NUMBER, 8, 255}, {KYMO_SEQUENCE_NUMBER, 8, 255}};
  assert_int_equal(kymo_sequence_take(&sequence, heads, FILES), 1);
  assert_int_equal(sequence.last, 255);
  heads[1].number = 0;
  assert_int_equal(kymo_sequence_take(&sequence, heads, FILES), 2);
  heads[2].next = KYMO_SEQUENCE_AT_ONCE;
  assert_int_equal(kymo_sequence_take(&sequence, heads, FILES), 2);
  heads[2].next = KYMO_SEQUENCE_END;
  assert_int_equal(kymo_sequence_take(&sequence, heads, FILES), 1);
  heads[1].next = KYMO_SEQUENCE_END;
  assert_int_equal(kymo_sequence_take(&sequence, heads, FILES), 0);
  heads[1] = (struct kymo_sequence_head){KYMO_SEQUENCE_NUMBER, 8, 140}; /* too late: 118 before 2 */
  assert_int_equal(kymo_sequence_take(&sequence, heads, FILES), 1);
  assert_int_equal(sequence.last, 2);
  heads[0].next = heads[1].next = KYMO_SEQUENCE_END;
  assert_int_equal(kymo_sequence_take(&sequence, heads, FILES), FILES);
}

/* ---- moving ---- */

static const char description[] =
    "TRACE t;\nBYTES LITTLE;\n"
    "RECORD r EVENT IS SEQUENCE: UNSIGNED 32 PER TRACE; data: BYTES 508; LET STREAM=FILE NUMBER; END;\n"
    "LAYOUT REPEAT r; MERGE FILES BY SEQUENCE;\nEND TRACE.\n";

static uint32_t owner_of(uint32_t i) { return (i / 5 + i * i % 7) % FILES; }

/* Numbers that start again at 0 after a while, in files as owner_of says. */
static struct kymo_trace *open_files(struct kymo_schema **key) {
  const char *names[FILES] = {"one", "two", "three"}, *paths[FILES];
  struct kymo_trace *trace = NULL;
  struct kymo_error error = {0};
  uint8_t *bytes = calloc(RECORDS, RECORD_BYTES);
  assert_non_null(bytes);
  write_file("t.tdl", description, sizeof description - 1);
  assert_int_equal(kymo_description_load(key, below("t.tdl"), &error), KYMO_OK);
  for (uint32_t file = 0; file < FILES; file++) {
    size_t size = 0;
    for (uint32_t i = 0; i < RECORDS; i++) {
      uint32_t number = FIRST + i;
      for (unsigned k = 0; k < 4 && owner_of(i) == file; k++)
        bytes[size + k] = (uint8_t)(number >> (8 * k));
      size += owner_of(i) == file ? RECORD_BYTES : 0;
    }
    write_file(names[file], bytes, size);
    paths[file] = below(names[file]);
  }
  free(bytes);
  struct kymo_trace_options options = {.description = *key};
  assert_int_equal(kymo_trace_open(&trace, paths, FILES, &options, &error), KYMO_OK);
  return trace;
}

static void expect_record(struct kymo_trace *trace, const struct kymo_event *event, uint32_t i) {
  uint64_t number = 0, file = 0;
  assert_int_equal(event->number, i + 1);
  assert_int_equal(kymo_event_get_uint(event, kymo_field_id(trace, event->class_, "SEQUENCE"), &number),
                   KYMO_OK);
  assert_int_equal(kymo_event_get_uint(event, kymo_field_id(trace, event->class_, "STREAM"), &file), KYMO_OK);
  assert_int_equal(number, (uint32_t)(FIRST + i));
  assert_int_equal(file, owner_of(i));
}

static void moving_is_exact(void **state) {
  (void)state;
  struct kymo_schema *key;
  struct kymo_error error;
  const struct kymo_event *event;
  struct kymo_trace *trace = open_files(&key);
  for (uint32_t i = 0; i < RECORDS; i++) {
    assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_OK);
    expect_record(trace, event, i);
  }
  assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_END);
  for (uint32_t i = RECORDS; i-- > 0;) {
    assert_int_equal(kymo_trace_previous(trace, &event, &error), KYMO_OK);
    expect_record(trace, event, i);
  }
  assert_int_equal(kymo_trace_previous(trace, &event, &error), KYMO_END);
  for (uint32_t turn = 0, i = 1; turn < rounds(100); turn++, i = (i * 7919 + 13) % RECORDS) {
    assert_int_equal(kymo_trace_goto_event(trace, i + 1, &event, &error), KYMO_OK);
    expect_record(trace, event, i);
  }
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  kymo_trace_close(trace);
  kymo_schema_release(key);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_go_the_shorter_way),
      cmocka_unit_test(the_next_number_is_taken),
      cmocka_unit_test_setup_teardown(moving_is_exact, make_top, remove_top),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
