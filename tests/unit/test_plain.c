/* SPDX-License-Identifier: MIT */
/*
 * Which records the fast path decodes as plain ones, and that these have the same values, times and ends as
 * by its operations, wherever in random bytes they begin.
 */
#include "folder.h"
#include "plan/fast_op.h"
#include "plan/plain.h"
#include "random_schema.h"
#include <kymo/read.h>

#define CLOCK "CLOCK wall IS EPOCH \"1970-01-01T00:00:00Z\"; "

/* The declarations before the record, its items, and a first record. */
struct shape {
  const char *before, *items, *first;
  unsigned size;
  bool is_plain;
};

static const struct shape shapes[] = {
    /* of one size */
    {"BYTES LITTLE;", "a: UNSIGNED 8; b: INTEGER 16; c: UNSIGNED 32; d: INTEGER 64 BIG; e: FLOAT 32;", "", 19,
     true},
    {"BYTES BIG;", "a: INTEGER 8; b: UNSIGNED 16; c: INTEGER 32; d: UNSIGNED 64 LITTLE; e: FLOAT 64;", "", 23,
     true},
    {"BYTES LITTLE;", "a: UNSIGNED 64; s: STRING 5; b: BYTES 3; c: INTEGER 32;", "", 20, true},
    /* limits */
    {"BYTES LITTLE;", "a: UNSIGNED 8; b: INTEGER 8; CHECK a<=9; CHECK b>=-3; CHECK 5>b;", "", 2, true},
    {"BYTES LITTLE;", "a: UNSIGNED 8; b: INTEGER 16; CHECK a=0; CHECK b<300; CHECK b>-1;", "", 3, true},
    {"BYTES LITTLE;", "a: UNSIGNED 64; b: UNSIGNED 64; CHECK a>5; CHECK 9>=b;", "\6", 16, true},
    {"BYTES LITTLE;", "a: UNSIGNED 8; b: UNSIGNED 8; CHECK a<>7;", "", 2, false},
    {"BYTES LITTLE;", "a: UNSIGNED 8; b: UNSIGNED 8; CHECK a<b;", "\0\1", 2, false},
    /* sizes */
    {"BYTES LITTLE;", "n: UNSIGNED 8 LENGTH OF t; m: UNSIGNED 16; t: BYTES;", "", 3, true},
    {"BYTES BIG;", "m: UNSIGNED 8; n: INTEGER 16 LENGTH OF t; t: STRING;", "", 3, true},
    {"BYTES LITTLE;", "n: UNSIGNED 8 LENGTH OF RECORD; m: UNSIGNED 16; t: BYTES TO END;", "\3", 3, true},
    {"BYTES LITTLE;", "n: UNSIGNED 8 LENGTH OF RECORD; m: UNSIGNED 16;", "\3", 3, true},
    {"BYTES LITTLE;", "n: UNSIGNED 64 LENGTH OF t; t: BYTES;", "", 8, true},
    {"BYTES LITTLE;", "n: UNSIGNED 8; m: UNSIGNED 8; t: BYTES n*3+2;", "\0\0ab", 4, true},
    {"BYTES LITTLE;", "n: UNSIGNED 8; m: UNSIGNED 8; t: BYTES n-2;", "\2", 2, true},
    {"BYTES LITTLE;", "n: UNSIGNED 8; m: UNSIGNED 8; t: BYTES n+m;", "", 2, false},
    {"BYTES LITTLE;", "n: UNSIGNED 8; t: BYTES n; u: UNSIGNED 8;", "", 2, false},
    /* times */
    {"BYTES LITTLE; " CLOCK, "ACQUISITION: UNSIGNED 64 TIME wall POINT UNIT 1 ns; a: UNSIGNED 8;", "", 9,
     true},
    {"BYTES BIG; " CLOCK,
     "ACQUISITION: UNSIGNED 32 TIME wall POINT UNIT 1 s; : UNSIGNED 32 TIME wall ADD UNIT 1 us; "
     "a: UNSIGNED 8;",
     "", 9, true},
    {"BYTES LITTLE; " CLOCK,
     "ACQUISITION: UNSIGNED 64 TIME wall POINT UNIT 1 s; : UNSIGNED 64 TIME wall ADD UNIT 1 us; "
     "a: UNSIGNED 8;",
     "", 17, true},
    {"BYTES LITTLE; CLOCK c IS RATE 3000000;", "ACQUISITION: UNSIGNED 32 TIME c POINT; a: UNSIGNED 8;", "", 5,
     false},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

/* Small numbers, so that records end in the bytes. */
static void fill(uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    uint64_t kind = random_below(8);
    bytes[i] = (uint8_t)(kind < 4 ? 0 : kind < 6 ? random_below(10) : kind < 7 ? 255 : random_below(256));
  }
}

static struct kymo_plan *open_plan(struct kymo_schema **key, const struct shape *shape) {
  char text[1024];
  struct kymo_error error = {.code = KYMO_OK};
  snprintf(text, sizeof text, "TRACE t; %s\nRECORD r EVENT IS %s END;\nLAYOUT REPEAT r;\nEND TRACE.\n",
           shape->before, shape->items);
  if (kymo_description_compile(key, text, strlen(text), "shape.tdl", "tdl", &error) != KYMO_OK)
    fail_msg("%s: %s", shape->items, error.message);
  struct kymo_plan *plan = kymo_plan_open(*key, "shape.key", &error);
  assert_non_null(plan);
  return plan;
}

static void want_columns(struct kymo_fast_path *fast, const struct kymo_plan *plan) {
  const struct kymo_plan_kind *kind = &plan->kinds[0];
  for (uint32_t i = 0; i < kind->column_count; i++) {
    const struct kymo_plan_column *column = &plan->columns[kind->first_column + i];
    if (!column->is_hidden)
      fast->is_wanted[plan->options[column->first_option].slot] = true;
  }
}

static void compare_at(struct kymo_fast_run *run, uint64_t at, const char *items) {
  static struct kymo_fast_run plain;
  run->at = at;
  plain = *run;
  bool is = kymo_fast_plain_decode(&plain), expected = kymo_fast_path_decode(run);
  if (is != expected)
    fail_msg("%s: at %d a plain record is %d, by operations %d", items, (int)at, is, expected);
  if (!is)
    return;
  assert_int_equal(plain.next, run->next);
  if (run->has_time)
    assert_int_equal(plain.time_ns, run->time_ns);
  for (unsigned slot = 0; slot < KYMO_FAST_SLOTS; slot++)
    if (run->fast->is_wanted[slot]) {
      assert_int_equal(plain.number[slot], run->number[slot]);
      assert_int_equal(plain.length[slot], run->length[slot]);
    }
}

/* How many records of random bytes the fast path can decode. */
static unsigned compare(const struct shape *shape) {
  uint8_t bytes[400 + KYMO_PLAN_SLACK];
  struct kymo_schema *key;
  struct kymo_fast_run run = {.fast = NULL};
  unsigned decoded = 0;
  struct kymo_plan *plan = open_plan(&key, shape);
  struct kymo_fast_path *fast = kymo_fast_path_new(plan, 0);
  assert_non_null(fast);
  want_columns(fast, plan);
  for (unsigned turn = 0; turn < 50; turn++) {
    fill(bytes, sizeof bytes);
    memset(bytes, 0, shape->size);
    memcpy(bytes, shape->first, strlen(shape->first) + 1);
    struct kymo_plan_machine *machine = kymo_plan_machine_new(plan, NULL, 0);
    assert_non_null(machine);
    kymo_plan_machine_bytes(machine, bytes, sizeof bytes - KYMO_PLAN_SLACK);
    assert_int_equal(kymo_plan_machine_next(machine), KYMO_OK);
    assert_int_equal(kymo_fast_path_kind(machine), 0);
    assert_true(kymo_fast_path_begin(&run, fast, machine));
    if (run.plain.is != shape->is_plain)
      fail_msg("%s: expected %s", shape->items, shape->is_plain ? "plain records" : "operations");
    for (uint64_t at = 0; at <= run.end && run.plain.is; at++) {
      compare_at(&run, at, shape->items);
      decoded += run.next > at;
    }
    kymo_plan_machine_free(machine);
  }
  kymo_fast_path_release(&run);
  kymo_fast_path_free(fast);
  kymo_plan_close(plan);
  kymo_description_release(key);
  return decoded;
}

static void plain_records_are_what_operations_decode(void **state) {
  (void)state;
  random_seed(1);
  for (size_t i = 0; i < SHAPES; i++)
    if (compare(&shapes[i]) == 0 && shapes[i].is_plain)
      fail_msg("%s: nothing is decoded", shapes[i].items);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(plain_records_are_what_operations_decode)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
