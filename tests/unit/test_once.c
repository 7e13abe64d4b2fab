/* SPDX-License-Identifier: MIT */
/* Records of two events of one thread: those of one of them are kept, without their ids. */
#include "live/samples/once.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <linux/perf_event.h>
#include <string.h>

enum { SIZE = 64, KEPT = SIZE - 8, RECORDS = 16 };

struct record {
  uint16_t type;
  uint32_t tid, cpu;
  uint64_t id;
};

/* As the kernel writes it: samples have id, thread and processor near their begin, other records at their
 * end. `mark` is the period of a sample, and where others have the time. */
static void put(uint8_t *at, const struct record *record, uint64_t mark) {
  bool is_sample = record->type == PERF_RECORD_SAMPLE;
  struct perf_event_header head = {.type = record->type, .size = SIZE};
  memset(at, 0, SIZE);
  memcpy(at, &head, sizeof head);
  if (record->type == PERF_RECORD_EXIT || record->type == PERF_RECORD_FORK)
    memcpy(at + 16, &record->tid, sizeof record->tid);
  memcpy(at + (is_sample ? 8 : SIZE - 8), &record->id, sizeof record->id);
  memcpy(at + (is_sample ? 28 : SIZE - 28), &record->tid, sizeof record->tid);
  memcpy(at + (is_sample ? 40 : SIZE - 16), &record->cpu, sizeof record->cpu);
  memcpy(at + (is_sample ? 48 : SIZE - 24), &mark, sizeof mark);
}

/* Gives records to `once` and expects those that `kept` has a '1' for. */
static void gives(struct kymo_sampling_once *once, const struct record *records, size_t count,
                  bool may_repeat, const char *kept) {
  uint8_t bytes[RECORDS * SIZE];
  size_t at = 0;
  assert_int_equal(strlen(kept), count);
  for (size_t i = 0; i < count; i++)
    put(bytes + i * SIZE, &records[i], 1000 + i);
  size_t size = kymo_sampling_once_take(once, bytes, count * SIZE, may_repeat);
  for (size_t i = 0; i < count; i++) {
    if (kept[i] != '1')
      continue;
    struct perf_event_header head;
    uint64_t mark;
    bool is_sample = records[i].type == PERF_RECORD_SAMPLE;
    assert_true(at + KEPT <= size);
    memcpy(&head, bytes + at, sizeof head);
    memcpy(&mark, bytes + at + (is_sample ? 40 : KEPT - 16), sizeof mark);
    assert_int_equal(head.type, records[i].type);
    assert_int_equal(head.size, KEPT);
    assert_int_equal(mark, 1000 + i);
    at += KEPT;
  }
  assert_int_equal(size, at);
}

#define GIVES(once, records, kept) gives(once, records, sizeof records / sizeof *records, true, kept)

enum { SAMPLE = PERF_RECORD_SAMPLE, EXIT = PERF_RECORD_EXIT, COMM = PERF_RECORD_COMM };

static void records_of_one_event_are_kept(void **state) {
  static const struct record records[] = {{SAMPLE, 7, 0, 1}, {SAMPLE, 7, 0, 2}, {SAMPLE, 7, 0, 1},
                                          {SAMPLE, 7, 1, 4}, {SAMPLE, 8, 0, 2}, {SAMPLE, 7, 1, 3},
                                          {COMM, 7, 0, 2},   {COMM, 7, 0, 1}};
  struct kymo_sampling_once once = {0};
  (void)state;
  GIVES(&once, records, "10111001");
  kymo_sampling_once_free(&once);
}

static void all_are_kept_if_none_can_repeat(void **state) {
  static const struct record records[] = {{SAMPLE, 7, 0, 1}, {SAMPLE, 7, 0, 2}, {PERF_RECORD_LOST, 0, 0, 2}};
  struct kymo_sampling_once once = {0};
  (void)state;
  gives(&once, records, 3, false, "111");
  kymo_sampling_once_free(&once);
}

static void losses_are_kept(void **state) {
  static const struct record records[] = {
      {SAMPLE, 7, 0, 1}, {PERF_RECORD_LOST, 7, 0, 2}, {PERF_RECORD_THROTTLE, 7, 0, 2}};
  struct kymo_sampling_once once = {0};
  (void)state;
  GIVES(&once, records, "111");
  kymo_sampling_once_free(&once);
}

static void another_event_is_taken_if_the_first_one_ends(void **state) {
  static const struct record records[] = {{SAMPLE, 7, 0, 1}, {SAMPLE, 7, 0, 2}, {SAMPLE, 7, 0, 2},
                                          {SAMPLE, 7, 0, 2}, {SAMPLE, 7, 0, 2}, {SAMPLE, 7, 0, 1}};
  struct kymo_sampling_once once = {0};
  (void)state;
  GIVES(&once, records, "100110");
  kymo_sampling_once_free(&once);
}

/* Its number is used again at once, and its first records are of other events than the last ones. */
static void a_thread_with_a_used_number_is_new(void **state) {
  static const struct record records[] = {{SAMPLE, 7, 1, 3}, {SAMPLE, 7, 0, 1}, {EXIT, 7, 0, 1},
                                          {EXIT, 7, 0, 2},   {COMM, 7, 0, 2},   {COMM, 7, 0, 1},
                                          {COMM, 7, 1, 4},   {SAMPLE, 7, 0, 2}};
  struct kymo_sampling_once once = {0};
  (void)state;
  GIVES(&once, records, "11101011");
  kymo_sampling_once_free(&once);
}

static void a_record_that_is_cut_off_ends_it(void **state) {
  static const struct record record = {SAMPLE, 7, 0, 1};
  struct kymo_sampling_once once = {0};
  uint8_t bytes[2 * SIZE];
  (void)state;
  put(bytes, &record, 0);
  put(bytes + SIZE, &record, 0);
  assert_int_equal(kymo_sampling_once_take(&once, bytes, 2 * SIZE - 1, true), KEPT);
  kymo_sampling_once_free(&once);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(records_of_one_event_are_kept),
      cmocka_unit_test(all_are_kept_if_none_can_repeat),
      cmocka_unit_test(losses_are_kept),
      cmocka_unit_test(another_event_is_taken_if_the_first_one_ends),
      cmocka_unit_test(a_thread_with_a_used_number_is_new),
      cmocka_unit_test(a_record_that_is_cut_off_ends_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
