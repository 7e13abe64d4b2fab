/* SPDX-License-Identifier: MIT */
/* Files whose records are out of order by less than SORTED WITHIN allows: read in the order of time after
 * every move. */
#include "folder.h"
#include "rounds.h"
#include <kymo/move.h>
#include <kymo/read.h>
#include <kymo/time.h>

#define FILES 2u
#define RECORDS 16000u /* of all files */
#define RECORD_BYTES 512u
#define BLOCK 50u /* records change places within such */

static const char description[] =
    "TRACE t;\nBYTES LITTLE;\nCLOCK c IS;\n"
    "RECORD r EVENT IS ACQUISITION: UNSIGNED 32 TIME c POINT; data: BYTES 508; LET STREAM=FILE NUMBER; END;\n"
    "LAYOUT REPEAT r; SORTED WITHIN 98 ns; MERGE FILES BY TIME;\nEND TRACE.\n";

/* The time of the record at a place of a file: all times are there once, FILES apart within a file. */
static uint32_t time_of(uint32_t file, uint32_t place) {
  uint32_t block = place / BLOCK * BLOCK;
  return (block + (place - block) * 37 % BLOCK) * FILES + file;
}

/* `late`: at this place of the first file is a record of time 0. */
static struct kymo_trace *open_files(struct kymo_schema **key, uint32_t late) {
  const char *names[FILES] = {"one", "two"}, *paths[FILES];
  struct kymo_trace *trace = NULL;
  struct kymo_error error = {0};
  uint8_t *bytes = calloc(RECORDS / FILES, RECORD_BYTES);
  assert_non_null(bytes);
  write_file("t.tdl", description, sizeof description - 1);
  assert_int_equal(kymo_description_load(key, below("t.tdl"), &error), KYMO_OK);
  for (uint32_t file = 0; file < FILES; file++) {
    for (uint32_t i = 0; i < RECORDS / FILES; i++)
      for (unsigned k = 0; k < 4; k++)
        bytes[(size_t)i * RECORD_BYTES + k] =
            file == 0 && i == late ? 0 : (uint8_t)(time_of(file, i) >> (8 * k));
    write_file(names[file], bytes, (size_t)RECORDS / FILES * RECORD_BYTES);
    paths[file] = below(names[file]);
  }
  free(bytes);
  struct kymo_trace_options options = {.description = *key};
  assert_int_equal(kymo_trace_open(&trace, paths, FILES, &options, &error), KYMO_OK);
  return trace;
}

static void expect_record(struct kymo_trace *trace, const struct kymo_event *event, uint32_t i) {
  uint64_t file = UINT64_MAX;
  assert_int_equal(event->number, i + 1);
  assert_int_equal(event->time_ns, i);
  assert_int_equal(kymo_event_get_uint(event, kymo_field_id(trace, event->class_, "STREAM"), &file), KYMO_OK);
  assert_int_equal(file, i % FILES);
}

static void moving_is_exact(void **state) {
  (void)state;
  struct kymo_schema *key;
  struct kymo_error error;
  const struct kymo_event *event;
  struct kymo_trace *trace = open_files(&key, UINT32_MAX);
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
    assert_int_equal(kymo_trace_goto_time(trace, RECORDS - i, &error), KYMO_OK);
    if (i > 0) {
      assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_OK);
      assert_int_equal(event->time_ns, RECORDS - i);
    }
  }
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  kymo_trace_close(trace);
  kymo_schema_release(key);
}

static void what_is_later_than_that_is_damaged(void **state) {
  (void)state;
  const uint32_t late = 5000;
  struct kymo_schema *key;
  struct kymo_error error;
  const struct kymo_event *event;
  struct kymo_trace *trace = open_files(&key, late);
  uint64_t damaged = 0, numbers = 0;
  while (kymo_trace_next(trace, &event, &error) == KYMO_OK) {
    numbers++;
    if (event->is_damaged) {
      assert_int_equal(event->time_ns, 0);
      damaged = event->number;
    }
  }
  assert_int_equal(numbers, RECORDS);
  assert_int_equal(kymo_trace_damage_count(trace), 1);
  assert_int_equal(kymo_trace_damage(trace, 0)->offset, late * RECORD_BYTES);
  assert_non_null(strstr(kymo_trace_damage(trace, 0)->message, "R6: a time "));
  assert_true(damaged > 1);
  assert_int_equal(kymo_trace_goto_event(trace, damaged, &event, &error), KYMO_OK);
  assert_int_equal(event->time_ns, 0);
  assert_int_equal(kymo_trace_previous(trace, &event, &error), KYMO_OK);
  assert_int_equal(event->number, damaged - 1);
  kymo_trace_close(trace);
  kymo_schema_release(key);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(moving_is_exact, make_top, remove_top),
      cmocka_unit_test_setup_teardown(what_is_later_than_that_is_damaged, make_top, remove_top),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
