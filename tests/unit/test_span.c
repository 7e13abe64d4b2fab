/* SPDX-License-Identifier: MIT */
/* Pairs of begin and end: compared with a plain list of open spans. */
#include "span/spans.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static struct kymo_span_key key_of(uint64_t thread, uint64_t key) {
  return (struct kymo_span_key){thread, key};
}

static struct kymo_span *begin(struct kymo_spans *spans, uint64_t thread, uint64_t key, uint64_t number) {
  struct kymo_span *span = kymo_spans_begin(spans, key_of(thread, key));
  assert_non_null(span);
  span->begin_number = number;
  return span;
}

/* The number of the event that an end belongs to; 0: none. */
static uint64_t end(struct kymo_spans *spans, uint64_t thread, uint64_t key) {
  struct kymo_span *span = kymo_spans_find(spans, key_of(thread, key));
  uint64_t number = span ? span->begin_number : 0;
  if (span)
    kymo_spans_end(spans, span);
  return number;
}

static void the_last_begin_ends_first(void **state) {
  (void)state;
  struct kymo_spans spans = {0};
  begin(&spans, 1, 7, 1);
  begin(&spans, 1, 7, 2);
  begin(&spans, 2, 7, 3);
  begin(&spans, 1, 8, 4);
  assert_int_equal(spans.open, 4);
  assert_int_equal(end(&spans, 1, 7), 2);
  assert_int_equal(end(&spans, 1, 7), 1);
  assert_int_equal(end(&spans, 1, 7), 0);
  assert_int_equal(end(&spans, 2, 7), 3);
  assert_int_equal(end(&spans, 1, 8), 4);
  assert_int_equal(spans.open, 0);
  kymo_spans_free(&spans);
}

static void nested_spans_know_what_is_around_them(void **state) {
  (void)state;
  struct kymo_spans spans = {.is_nested = true};
  begin(&spans, 1, 1, 1);
  begin(&spans, 2, 5, 2);
  begin(&spans, 1, 2, 3);
  begin(&spans, 1, 1, 4);
  assert_int_equal(kymo_spans_innermost(&spans, 1)->begin_number, 4);
  assert_int_equal(kymo_spans_innermost(&spans, 1)->outer->begin_number, 3);
  assert_int_equal(kymo_spans_innermost(&spans, 1)->same->begin_number, 1);
  assert_int_equal(end(&spans, 1, 2), 3); /* not the innermost: they overlap */
  assert_int_equal(kymo_spans_innermost(&spans, 1)->outer->begin_number, 1);
  assert_int_equal(end(&spans, 1, 1), 4);
  assert_int_equal(kymo_spans_innermost(&spans, 1)->begin_number, 1);
  assert_null(kymo_spans_innermost(&spans, 3));
  kymo_spans_free(&spans);
}

static void the_latest_of_any_thread_is_found(void **state) {
  (void)state;
  struct kymo_spans spans = {.crosses_threads = true};
  begin(&spans, 1, 9, 1);
  begin(&spans, 2, 9, 2);
  assert_int_equal(end(&spans, 1, 9), 1);
  begin(&spans, 3, 9, 3);
  assert_int_equal(kymo_spans_find_elsewhere(&spans, 9)->begin_number, 3);
  kymo_spans_end(&spans, kymo_spans_find_elsewhere(&spans, 9));
  assert_int_equal(kymo_spans_find_elsewhere(&spans, 9)->begin_number, 2);
  kymo_spans_end(&spans, kymo_spans_find_elsewhere(&spans, 9));
  assert_null(kymo_spans_find_elsewhere(&spans, 9));
  kymo_spans_free(&spans);
}

/* ---- against a list ---- */

enum { OPEN_MAX = 300, THREADS = 5, KEYS = 7, STEPS = 200000 };
struct model {
  struct open {
    uint64_t thread, key, number;
  } open[OPEN_MAX];
  unsigned count;
};

static uint64_t take(struct model *model, unsigned at) {
  uint64_t number = model->open[at].number;
  memmove(&model->open[at], &model->open[at + 1], (model->count - at - 1) * sizeof model->open[0]);
  model->count--;
  return number;
}

static uint64_t model_end(struct model *model, uint64_t thread, uint64_t key, bool is_any_thread,
                          bool is_any_key) {
  for (unsigned i = model->count; i > 0; i--)
    if ((is_any_thread || model->open[i - 1].thread == thread) &&
        (is_any_key || model->open[i - 1].key == key))
      return take(model, i - 1);
  return 0;
}

static bool count_one(void *user, struct kymo_span *span) {
  (void)span;
  (*(size_t *)user)++;
  return true;
}

static void pairs_are_those_of_a_list(void **state) {
  (void)state;
  struct kymo_spans spans = {.is_nested = true, .crosses_threads = true};
  struct model model = {.count = 0};
  srand(4711);
  for (uint64_t step = 1; step <= STEPS; step++) {
    uint64_t thread = (uint64_t)rand() % THREADS, key = (uint64_t)rand() % KEYS;
    unsigned what = (unsigned)rand() % 8;
    struct kymo_span *span = NULL;
    if (what < 4 && model.count < OPEN_MAX) {
      begin(&spans, thread, key, step);
      model.open[model.count++] = (struct open){thread, key, step};
      continue;
    }
    if (what <= 5)
      span = kymo_spans_find(&spans, key_of(thread, key));
    else
      span = what == 6 ? kymo_spans_find_elsewhere(&spans, key) : kymo_spans_innermost(&spans, thread);
    assert_int_equal(span ? span->begin_number : 0, model_end(&model, thread, key, what == 6, what == 7));
    if (span)
      kymo_spans_end(&spans, span);
    assert_int_equal(spans.open, model.count);
  }
  size_t count = 0;
  kymo_spans_each(&spans, count_one, &count);
  assert_int_equal(count, model.count);
  kymo_spans_free(&spans);
}

/* What was open once and is not any more costs nothing. */
static void memory_is_that_of_open_spans(void **state) {
  (void)state;
  struct kymo_spans spans = {.is_nested = true, .crosses_threads = true};
  for (uint64_t i = 1; i <= 300000; i++) {
    begin(&spans, i % 3, i, i);
    if (i > 10)
      assert_int_equal(end(&spans, (i - 10) % 3, i - 10), i - 10);
  }
  assert_int_equal(spans.open, 10);
  assert_in_range(spans.same.size, 1, 128);
  assert_in_range(spans.threads.size, 1, 128);
  assert_in_range(spans.keys.size, 1, 128);
  kymo_spans_free(&spans);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_last_begin_ends_first),
      cmocka_unit_test(nested_spans_know_what_is_around_them),
      cmocka_unit_test(the_latest_of_any_thread_is_found),
      cmocka_unit_test(pairs_are_those_of_a_list),
      cmocka_unit_test(memory_is_that_of_open_spans),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
