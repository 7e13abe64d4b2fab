/* SPDX-License-Identifier: MIT */
/* Records in containers, some of which continue in the next container: after every move they are the same as
 * in reading from the start, and so is what is damaged. */
#include "folder.h"
#include "rounds.h"
#include <kymo/move.h>
#include <kymo/read.h>
#include <kymo/time.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORDS 8000u
#define MOST (RECORDS * 320u)

/* A record is its time, the size of the rest, and the rest. Containers are marked by their first byte. */
static const char description[] =
    "TRACE t;\nBYTES LITTLE;\nCLOCK c IS RESOLUTION 1 ns;\n"
    "PREFIX p IS k: UNSIGNED 8; n: UNSIGNED 32; END;\n"
    "RECORD plain CONTROL WITH p WHEN k=1 LENGTH 5+n HOLDS r JOINED IS END;\n"
    "RECORD mixed CONTROL WITH p WHEN k=2 LENGTH 6+n HOLDS r AFTER XOR key JOINED IS key: UNSIGNED 8; END;\n"
    "PREFIX q IS _mark: BYTES 4=\"MARK\"; END;\n"
    "RECORD r EVENT WITH q LENGTH 10+size IS\n"
    "  ACQUISITION: UNSIGNED 32 TIME c POINT; size: UNSIGNED 16; data: BYTES TO END;\nEND;\n"
    "LAYOUT REPEAT plain OR mixed; ON ERROR R3 RESYNC TO \"MARK\";\nEND TRACE.\n";

struct made {
  uint8_t *bytes;
  size_t size;
};

static void put(struct made *made, uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; i++)
    made->bytes[made->size++] = (uint8_t)(value >> (8 * i));
}

/* All records one after another. */
static struct made make_records(void) {
  struct made made = {malloc(MOST), 0};
  assert_non_null(made.bytes);
  for (uint32_t i = 0; i < RECORDS; i++) {
    uint32_t size = i * 7919 % 300;
    put(&made, 0x4b52414d, 4); /* MARK */
    put(&made, i, 4);
    put(&made, size, 2);
    for (uint32_t k = 0; k < size; k++)
      put(&made, i + k, 1);
  }
  return made;
}

/* The records in containers of all sizes; `broken`: in that one the bytes are wrong, and the reader has to
 * find the next record. */
static struct made pack(const struct made *records, uint32_t broken) {
  struct made made = {malloc(MOST * 2), 0};
  size_t at = 0;
  assert_non_null(made.bytes);
  for (uint32_t i = 1; at < records->size; i++) {
    size_t left = records->size - at, size = i * i * 31 % (i % 5 ? 900 : 150000) + 1;
    bool is_mixed = i % 3 != 0;
    size = size < left ? size : left;
    put(&made, is_mixed ? 2 : 1, 1);
    put(&made, size, 4);
    if (is_mixed)
      put(&made, i, 1);
    for (size_t k = 0; k < size; k++)
      put(&made, (uint64_t)(records->bytes[at + k] ^ (is_mixed ? i & 0xff : 0)), 1);
    if (i == broken)
      for (size_t k = 0; k < size; k++)
        made.bytes[made.size - 1 - k] ^= 0x55;
    at += size;
  }
  return made;
}

static struct kymo_trace *open_made(struct kymo_schema **key, uint32_t broken) {
  struct kymo_trace *trace = NULL;
  struct kymo_error error = {0};
  const char *path;
  struct made records = make_records(), packed = pack(&records, broken);
  write_file("t.tdl", description, sizeof description - 1);
  assert_int_equal(kymo_description_load(key, below("t.tdl"), &error), KYMO_OK);
  write_file("file", packed.bytes, packed.size);
  path = below("file");
  free(records.bytes);
  free(packed.bytes);
  struct kymo_trace_options options = {.description = *key};
  assert_int_equal(kymo_trace_open(&trace, &path, 1, &options, &error), KYMO_OK);
  return trace;
}

static void moving_is_exact(void **state) {
  (void)state;
  struct kymo_schema *key;
  struct kymo_error error;
  const struct kymo_event *event;
  struct kymo_trace *trace = open_made(&key, 0);
  for (uint32_t i = 0; i < RECORDS; i++) {
    uint64_t size = UINT64_MAX;
    assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_OK);
    assert_int_equal(event->time_ns, i);
    assert_int_equal(kymo_event_get_uint(event, kymo_field_id(trace, event->class_, "size"), &size), KYMO_OK);
    assert_int_equal(size, i * 7919 % 300);
  }
  assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_END);
  for (uint32_t i = RECORDS; i-- > 0;) {
    assert_int_equal(kymo_trace_previous(trace, &event, &error), KYMO_OK);
    assert_int_equal(event->time_ns, i);
    assert_int_equal(event->number, i + 1);
  }
  for (uint32_t turn = 0, i = 1; turn < rounds(100); turn++, i = (i * 7919 + 13) % RECORDS) {
    assert_int_equal(kymo_trace_goto_event(trace, i + 1, &event, &error), KYMO_OK);
    assert_int_equal(event->time_ns, i);
    assert_int_equal(kymo_trace_goto_time(trace, RECORDS - 1 - i, &error), KYMO_OK);
    assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_OK);
    assert_int_equal(event->time_ns, RECORDS - 1 - i);
  }
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  kymo_trace_close(trace);
  kymo_schema_release(key);
}

static void damage_is_the_same_after_moves(void **state) {
  (void)state;
  struct kymo_schema *key;
  struct kymo_error error;
  const struct kymo_event *event;
  static int64_t times[RECORDS];
  uint32_t count = 0;
  struct kymo_trace *trace = open_made(&key, 50);
  while (kymo_trace_next(trace, &event, &error) == KYMO_OK)
    times[count++] = event->time_ns;
  size_t damaged = kymo_trace_damage_count(trace);
  assert_in_range(count, RECORDS - 600, RECORDS - 1);
  assert_in_range(damaged, 1, 2);
  for (uint32_t i = count; i-- > 0;) {
    assert_int_equal(kymo_trace_previous(trace, &event, &error), KYMO_OK);
    assert_int_equal(event->time_ns, times[i]);
  }
  for (uint32_t turn = 0, i = 1; turn < rounds(60); turn++, i = (i * 7919 + 13) % count) {
    assert_int_equal(kymo_trace_goto_event(trace, i + 1, &event, &error), KYMO_OK);
    assert_int_equal(event->time_ns, times[i]);
  }
  assert_int_equal(kymo_trace_damage_count(trace), damaged);
  kymo_trace_close(trace);
  kymo_schema_release(key);
}

/* The file gets other bytes while a place in one of its containers is known. */
static void containers_that_change_are_no_others(void **state) {
  (void)state;
  struct kymo_schema *key;
  struct kymo_error error;
  const struct kymo_event *event;
  struct kymo_trace *trace = open_made(&key, 0);
  uint32_t count = 0;
  while (count < RECORDS / 2 && kymo_trace_next(trace, &event, &error) == KYMO_OK)
    count++;
  assert_int_equal(truncate(below("file"), 1000), 0);
  for (uint32_t i = 0; i < 1000 && kymo_trace_previous(trace, &event, &error) == KYMO_OK; i++)
    assert_in_range(event->time_ns, 0, RECORDS / 2);
  while (kymo_trace_next(trace, &event, &error) == KYMO_OK)
    continue;
  kymo_trace_close(trace);
  kymo_schema_release(key);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(moving_is_exact, make_top, remove_top),
      cmocka_unit_test_setup_teardown(damage_is_the_same_after_moves, make_top, remove_top),
      cmocka_unit_test_setup_teardown(containers_that_change_are_no_others, make_top, remove_top),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
