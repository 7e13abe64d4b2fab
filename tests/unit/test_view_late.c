/* SPDX-License-Identifier: MIT */
/* Late entries of the viewer's series are sorted in by steps: after each step a series is what a plain array
 * is, and no step does more than it may. */
#include "view/state.h"
#include "view_trace.h"

enum { SERIES = 3, ROOM = 20000, STEP = 300, CODES = 100 };

/* What a series should have, and what waits to be sorted in. */
struct model {
  struct view_entry held[ROOM], waiting[ROOM];
  unsigned held_count, waiting_count, sorted; /* sorted: of those that wait, the first ones are sorted in */
};

static struct model *models;
static struct view_series series[SERIES];
static struct view_store store;
static struct view_unsorted unsorted;
static uint64_t number;

static int begin(void **state) {
  (void)state;
  models = calloc(SERIES, sizeof *models);
  memset(series, 0, sizeof series);
  unsorted = (struct view_unsorted){0};
  number = 0;
  for (unsigned i = 0; i < SERIES; i++)
    series[i].kind = (enum view_series_kind)i;
  return models && view_store_temporary(&store, NULL) == KYMO_OK ? 0 : -1;
}

static int end(void **state) {
  (void)state;
  for (unsigned i = 0; i < SERIES; i++)
    view_series_free(&series[i]);
  view_unsorted_free(&unsorted);
  view_store_end(&store);
  free(models);
  return 0;
}

static struct view_series *series_of(void *user, uint32_t i) {
  (void)user;
  return &series[i];
}

/* After those of the same time. */
static void hold(struct model *model, const struct view_entry *entry) {
  unsigned at = model->held_count++;
  for (; at > 0 && model->held[at - 1].time_ns > entry->time_ns; at--)
    model->held[at] = model->held[at - 1];
  model->held[at] = *entry;
}

static void put(unsigned i, int64_t time_ns) {
  struct model *model = &models[i];
  struct view_entry entry = {time_ns, ++number << view_chance(2) * 8, (uint32_t)view_chance(CODES)};
  uint64_t before = series[i].count;
  assert_true(view_put_sorted(&unsorted, &series[i], &store, i, &entry));
  if (series[i].count > before)
    hold(model, &entry);
  else
    model->waiting[model->waiting_count++] = entry;
}

static void put_many(unsigned count, int64_t begin_ns, int64_t span_ns) {
  for (unsigned i = 0; i < count; i++)
    put((unsigned)view_chance(SERIES), begin_ns + (int64_t)view_chance((uint64_t)span_ns));
}

/* In the order of times; more of them are equal than not. */
static void put_in_order(unsigned count, int64_t begin_ns) {
  for (unsigned i = 0; i < count; i++)
    put((unsigned)view_chance(SERIES), begin_ns + i / 8);
}

/* ---- what a series is ---- */

static bool is_sound(const struct view_series *one) {
  bool is_sound = true;
  for (size_t i = 0; i < one->summary_count && is_sound; i++)
    is_sound = view_series_check_leaves(one, &store, i, CODES);
  for (uint64_t i = 0; i < one->blocks && is_sound; i++)
    is_sound = view_series_check_block(one, &store, i, CODES);
  return is_sound;
}

static void expect_entries(const struct view_series *one, const struct model *model) {
  for (unsigned i = 0; i < model->held_count; i++) {
    struct view_entry entry = view_series_get(one, &store, i);
    assert_true(entry.time_ns == model->held[i].time_ns && entry.value == model->held[i].value &&
                entry.code == model->held[i].code);
  }
}

/* Pictures are those of a series to which the same is added in order. */
static void expect_ranges(const struct view_series *one, const struct model *model) {
  struct view_series wanted = {.kind = one->kind};
  struct view_store other;
  assert_int_equal(view_store_temporary(&other, NULL), KYMO_OK);
  for (unsigned i = 0; i < model->held_count; i++)
    assert_true(view_series_add(&wanted, &other, &model->held[i]));
  assert_int_equal(one->mask, wanted.mask);
  assert_int_equal(one->blocks, wanted.blocks);
  assert_true(one->has_falls || !wanted.has_falls);
  for (unsigned i = 0; i < 50; i++) {
    struct view_range range, right;
    uint64_t from = view_chance(one->count + 1), to = from + view_chance(one->count + 1 - from);
    view_series_range(one, &store, NULL, from, to, &range);
    view_series_range(&wanted, &other, NULL, from, to, &right);
    assert_true(range.count == right.count && range.mask == right.mask && range.most == right.most &&
                range.where == right.where && range.least == right.least);
  }
  view_series_free(&wanted);
  view_store_end(&other);
}

/* A series has all that was sorted in together, or nothing of it. */
static void expect_series(unsigned i) {
  struct model *model = &models[i];
  if (series[i].count != model->held_count) {
    for (unsigned k = 0; k < model->sorted; k++)
      hold(model, &model->waiting[k]);
    model->waiting_count -= model->sorted;
    memmove(model->waiting, model->waiting + model->sorted, model->waiting_count * sizeof *model->waiting);
    model->sorted = 0;
  }
  assert_int_equal(series[i].count, model->held_count);
  expect_entries(&series[i], model);
  assert_true(is_sound(&series[i]));
  expect_ranges(&series[i], model);
}

/* ---- steps ---- */

static int step(uint64_t entries) {
  for (unsigned i = 0; i < SERIES && !unsorted.sorting; i++)
    models[i].sorted = models[i].waiting_count;
  int status = view_sort_step(&unsorted, &store, series_of, NULL, entries);
  assert_true(status >= 0);
  return status;
}

/* Until nothing waits. How many steps it took. */
static unsigned finish(uint64_t entries) {
  for (unsigned steps = 1;; steps++) {
    int status = step(entries);
    for (unsigned i = 0; i < SERIES && !unsorted.sorting; i++)
      expect_series(i);
    if (status == KYMO_END)
      return steps;
  }
}

/* Meanwhile entries come, in order and late ones. */
static void a_series_is_right_after_each_step(void **state) {
  (void)state;
  int64_t now = 1000;
  unsigned steps = 0;
  put_in_order(15000, now);
  put_many(500, 0, 3000);
  for (int status = KYMO_OK; status == KYMO_OK; steps++) {
    status = step(STEP);
    for (unsigned i = 0; i < SERIES; i++)
      expect_series(i);
    now += 2000;
    if (steps < 60)
      put_in_order(40, now);
    if (steps < 60 && steps % 3 == 0)
      put_many(5, steps % 2 ? now - 10 : 500, 30);
  }
  for (unsigned i = 0; i < SERIES; i++)
    assert_int_equal(models[i].waiting_count, 0);
  assert_true(steps > 60);
  assert_null(unsorted.sorting);
}

/* Steps of one entry are as many as there is to do: late entries are merged as runs of 1, 2, 4 … 64, then
 * with the series, whose blocks are given back. */
static void a_step_does_what_it_may(void **state) {
  (void)state;
  enum { OLD = 5000, LATE = 100, RUNS = 7 };
  for (unsigned i = 0; i < OLD; i++)
    put(0, 1000 + i);
  for (unsigned i = 0; i < LATE; i++)
    put(0, 500 - i);
  uint64_t blocks = series[0].blocks;
  assert_in_range(finish(1), LATE * RUNS + OLD + LATE + blocks, LATE * RUNS + OLD + LATE + blocks + 1);
}

/* What is before the first late entry stays. */
static void a_step_leaves_what_is_before_it(void **state) {
  (void)state;
  enum { OLD = 3 * VIEW_CHUNK_ENTRIES };
  for (unsigned i = 0; i < OLD; i++)
    put(0, i);
  const uint64_t leaves[] = {series[0].summaries[0].leaves, series[0].summaries[1].leaves};
  put(0, 2 * VIEW_CHUNK_ENTRIES + 100);
  assert_in_range(finish(1), VIEW_CHUNK_ENTRIES, VIEW_CHUNK_ENTRIES + 100);
  assert_int_equal(series[0].summaries[0].leaves, leaves[0]);
  assert_int_equal(series[0].summaries[1].leaves, leaves[1]);
}

/* The last event of a chunk is the longest one of its block until one comes after it. */
static void the_event_before_a_late_one_gets_shorter(void **state) {
  (void)state;
  for (unsigned i = 0; i < VIEW_CHUNK_ENTRIES + 100; i++)
    put(0, i < VIEW_CHUNK_ENTRIES ? i : 1000000 + i);
  put(0, 500000);
  finish(STEP);
}

/* When a step has ended among the last entries, one comes that is earlier than some of them. */
static void a_tail_that_is_merged_takes_nothing(void **state) {
  (void)state;
  enum { OLD = 5 * VIEW_BLOCK + 60 };
  for (unsigned i = 0; i < OLD; i++)
    put(0, i);
  put(0, 0);
  while (!unsorted.sorting || unsorted.sorting->old < OLD - 20)
    assert_int_equal(step(1), KYMO_OK);
  assert_int_equal(series[0].tail_count, 60);
  put(0, OLD - 40);
  finish(1);
  assert_int_equal(models[0].held_count, OLD + 2);
}

/* Twice what a store has of the same entries in order. */
static void the_store_does_not_grow_with_each_round(void **state) {
  (void)state;
  put_in_order(30000, 1000);
  for (unsigned round = 0; round < 50; round++) {
    put_many(20, (int64_t)view_chance(4000), 100);
    finish(STEP);
  }
  struct view_store other;
  assert_int_equal(view_store_temporary(&other, NULL), KYMO_OK);
  for (unsigned i = 0; i < SERIES; i++) {
    struct view_series made = {.kind = series[i].kind};
    for (unsigned k = 0; k < models[i].held_count; k++)
      assert_true(view_series_add(&made, &other, &models[i].held[k]));
    view_series_free(&made);
  }
  assert_true(store.used <= 2 * other.used);
  view_store_end(&other);
}

/* What is sorted may be left at any time. */
static void sorting_may_end_before_it_is_done(void **state) {
  (void)state;
  put_in_order(9000, 1000);
  put_many(300, 0, 2000);
  for (unsigned i = 0; i < 25; i++)
    assert_int_equal(step(STEP), KYMO_OK);
  put_many(10, 0, 2000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_series_is_right_after_each_step, begin, end),
      cmocka_unit_test_setup_teardown(a_step_does_what_it_may, begin, end),
      cmocka_unit_test_setup_teardown(a_step_leaves_what_is_before_it, begin, end),
      cmocka_unit_test_setup_teardown(the_event_before_a_late_one_gets_shorter, begin, end),
      cmocka_unit_test_setup_teardown(a_tail_that_is_merged_takes_nothing, begin, end),
      cmocka_unit_test_setup_teardown(the_store_does_not_grow_with_each_round, begin, end),
      cmocka_unit_test_setup_teardown(sorting_may_end_before_it_is_done, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
