/* SPDX-License-Identifier: MIT */
#include "query/scan.h"
#include "base/fail.h"
#include "base/list.h"
#include <stdlib.h>
#include <string.h>

/* An event and its time; events without a time come first. */
struct query_moment {
  int64_t time_ns;
  uint64_t number; /* of the event; bucketed: its kind */
};

/* The most events whose times and kinds are kept: 32 MiB, twice while they are put in order. */
#define BUCKETED_MAX (2u << 20)

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- what is wanted ---- */

/* Kinds that a test of the class leaves. */
static int narrow_kinds(struct query_scan *scan, const struct query_test *test, struct kymo_error *error) {
  const struct query_source *source = scan->source;
  bool *kinds = kymo_arena_array(&scan->arena, source->kind_count + 1u, sizeof *kinds);
  if (!kinds)
    return no_memory(error);
  for (uint32_t i = 0; i < source->kind_count; i++)
    kinds[i] = (!scan->kinds || scan->kinds[i]) &&
               query_test_names(test, source->kinds[i], strlen(source->kinds[i]));
  scan->kinds = kinds;
  return KYMO_OK;
}

/* A table of one kind reads no other. */
static int begin_kinds(struct query_scan *scan, struct kymo_error *error) {
  scan->kinds = NULL;
  scan->only = kymo_arena_array(&scan->arena, scan->source->kind_count + 1u, sizeof *scan->only);
  if (!scan->only)
    return no_memory(error);
  if (scan->columns->kind == UINT32_MAX)
    return KYMO_OK;
  scan->kinds = kymo_arena_array(&scan->arena, scan->source->kind_count + 1u, sizeof *scan->kinds);
  if (!scan->kinds)
    return no_memory(error);
  scan->kinds[scan->columns->kind] = true;
  return KYMO_OK;
}

/* The window is all of a test with whole numbers, unless the number itself is excluded. */
static void narrow_window(struct query_scan *scan, const struct query_test *test) {
  bool is_exact = strchr("GL=", test->letter) && test->operands[0].kind == QUERY_IS_INTEGER;
  if (!query_test_narrow(test, &scan->begin_ns, &scan->end_ns))
    scan->is_at_end = true;
  scan->is_narrowed |= is_exact;
  scan->test_count -= is_exact;
}

static int add_constraint(struct query_scan *scan, char letter, uint32_t column, sqlite3_value *value,
                          struct kymo_error *error) {
  struct query_test *test = &scan->tests[scan->test_count++];
  const struct query_column *of = &scan->columns->list[column];
  *test = (struct query_test){.column = column, .letter = letter};
  int status = query_test_add(test, &scan->arena, of, value, error);
  if (status < 0)
    return status;
  if (of->kind == QUERY_TS)
    narrow_window(scan, test);
  if (of->kind != QUERY_CLASS)
    return KYMO_OK;
  scan->test_count--; /* the kinds are the test */
  return narrow_kinds(scan, test, error);
}

/* "=2;G0;|…": operators and columns, in the order of the values. */
static int take_constraints(struct query_scan *scan, const char *text, sqlite3_value **values,
                            struct kymo_error *error) {
  size_t count = 0;
  int status = KYMO_OK;
  for (const char *at = text; *at && *at != '|'; at++)
    count += *at == ';';
  scan->tests = kymo_arena_array(&scan->arena, count + 1, sizeof *scan->tests);
  scan->test_count = 0;
  if (!scan->tests)
    return no_memory(error);
  for (size_t i = 0; i < count && status == KYMO_OK; i++) {
    char *end, letter = *text;
    uint32_t column = (uint32_t)strtoul(text + 1, &end, 10);
    status = add_constraint(scan, letter, column, values[i], error);
    text = end + 1;
  }
  return status;
}

static inline bool passes(const struct query_scan *scan, const struct kymo_event *event) {
  if (scan->is_narrowed &&
      (!event->has_time || event->time_ns < scan->begin_ns || event->time_ns > scan->end_ns))
    return false;
  for (size_t i = 0; i < scan->test_count; i++)
    if (!query_test_passes(&scan->tests[i], scan->columns, scan->reader, event))
      return false;
  return true;
}

/* ---- passes ---- */

static int begin_pass(struct query_scan *scan, const bool *kinds, struct kymo_error *error) {
  struct query_window window = {scan->begin_ns, scan->end_ns, kinds, true};
  if (scan->source->is_unordered) /* the tests decide alone */
    window = (struct query_window){INT64_MIN, INT64_MAX, kinds, true};
  scan->last_ns = INT64_MIN;
  return query_reader_begin(scan->reader, &window, error);
}

static bool is_kind_wanted(const struct query_scan *scan, uint32_t kind) {
  const uint64_t *counts = scan->source->counts; /* if they are known */
  return (!scan->kinds || scan->kinds[kind]) && (!counts || counts[kind] > 0);
}

/* The pass of the next kind; the end if there is none. */
static int next_pass(struct query_scan *scan, struct kymo_error *error) {
  if (scan->kind != UINT32_MAX)
    scan->only[scan->kind] = false;
  do
    scan->kind++;
  while (scan->kind < scan->source->kind_count && !is_kind_wanted(scan, scan->kind));
  scan->is_at_end = scan->kind >= scan->source->kind_count;
  if (scan->is_at_end)
    return KYMO_OK;
  scan->only[scan->kind] = true;
  return begin_pass(scan, scan->only, error);
}

/* The next kind that occurs. */
static void next_count(struct query_scan *scan) {
  const uint64_t *counts = scan->counts;
  do
    scan->kind++;
  while (scan->kind < scan->source->kind_count && !(is_kind_wanted(scan, scan->kind) && counts[scan->kind]));
  scan->is_at_end = scan->kind >= scan->source->kind_count;
  if (scan->is_at_end)
    return;
  scan->left = scan->folds || scan->bits & QUERY_DISTINCT ? 1 : counts[scan->kind];
  scan->source->weight = scan->folds ? counts[scan->kind] : 1;
}

/* ---- order ---- */

static int64_t time_of(const struct kymo_event *event) {
  return event->has_time ? event->time_ns : INT64_MIN;
}

/* Whether the times of all events of the window go on and on. A whole trace is checked once. */
static int check_order(struct query_scan *scan, bool *is_ordered, struct kymo_error *error) {
  struct query_source *source = scan->source;
  const struct kymo_event *event;
  int64_t last_ns = INT64_MIN;
  bool is_all = scan->begin_ns == INT64_MIN && scan->end_ns == INT64_MAX && !scan->kinds;
  *is_ordered = true;
  if (source->is_ordered)
    return KYMO_OK;
  int status = begin_pass(scan, scan->kinds, error);
  while (status == KYMO_OK && *is_ordered &&
         (status = query_reader_next(scan->reader, &event, error)) == KYMO_OK) {
    *is_ordered = time_of(event) >= last_ns;
    last_ns = time_of(event);
  }
  source->is_ordered |= is_all && status >= 0 && *is_ordered;
  source->is_unordered |= !*is_ordered;
  return status < 0 ? status : KYMO_OK;
}

static int by_time(const void *a, const void *b) {
  const struct query_moment *one = a, *other = b;
  if (one->time_ns != other->time_ns)
    return one->time_ns < other->time_ns ? -1 : 1;
  return one->number < other->number ? -1 : one->number > other->number;
}

/* Lists the events that pass, and sorts them. Times go back, so no window of time may end the reading. */
static int sort_events(struct query_scan *scan, struct kymo_error *error) {
  struct query_window window = {INT64_MIN, INT64_MAX, scan->kinds, false};
  const struct kymo_event *event;
  size_t capacity = 0;
  scan->is_sorted = true;
  int status = query_reader_begin(scan->reader, &window, error);
  while (status == KYMO_OK && (status = query_reader_next(scan->reader, &event, error)) == KYMO_OK) {
    if (!passes(scan, event))
      continue;
    if (event->number == 0 || event->number >= KYMO_NUMBER_RELATIVE)
      return kymo_fail(error, KYMO_E_USAGE,
                       "the times of these events go back, and they cannot be read by their "
                       "numbers: use ORDER BY +ts, by which SQLite sorts them");
    if (!KYMO_LIST_ROOM(scan->moments, capacity, scan->moment_count))
      return no_memory(error);
    scan->moments[scan->moment_count++] = (struct query_moment){time_of(event), event->number};
  }
  if (status < 0)
    return status;
  if (scan->moment_count)
    qsort(scan->moments, scan->moment_count, sizeof *scan->moments, by_time);
  return KYMO_OK;
}

static int next_moment(struct query_scan *scan, struct kymo_error *error) {
  scan->is_at_end = scan->moment_next == scan->moment_count;
  if (scan->is_at_end)
    return KYMO_OK;
  int status = kymo_trace_goto_event(scan->reader->trace, scan->moments[scan->moment_next++].number,
                                     &scan->event, error);
  if (status == KYMO_END)
    return kymo_fail(error, KYMO_E_FORMAT, "the traces have changed since the query began: run it again");
  return status;
}

/* ---- times by kinds ---- */

/* If times go back, later scans do not rely on them. */
static inline void note_time(struct query_scan *scan, const struct kymo_event *event) {
  if (event->has_time && event->time_ns < scan->last_ns)
    scan->source->is_unordered = true;
  scan->last_ns = event->time_ns;
}

/* Puts the moments in the order of their kinds, those of a kind as they were. */
static int order_buckets(struct query_scan *scan, struct kymo_error *error) {
  const uint32_t kinds = scan->source->kind_count;
  size_t *places = kymo_arena_array(&scan->arena, kinds + 1u, sizeof *places);
  struct query_moment *ordered = calloc(scan->moment_count + 1, sizeof *ordered);
  if (!places || !ordered) {
    free(ordered);
    return no_memory(error);
  }
  for (size_t i = 0; i < scan->moment_count; i++)
    places[scan->moments[i].number + 1]++;
  for (uint32_t i = 0; i < kinds; i++)
    places[i + 1] += places[i];
  for (size_t i = 0; i < scan->moment_count; i++)
    ordered[places[scan->moments[i].number]++] = scan->moments[i];
  free(scan->moments);
  scan->moments = ordered;
  scan->is_bucketed = true;
  return KYMO_OK;
}

static void next_bucketed(struct query_scan *scan) {
  scan->is_at_end = scan->moment_next == scan->moment_count;
  scan->event = NULL;
  if (scan->is_at_end)
    return;
  const struct query_moment *moment = &scan->moments[scan->moment_next++];
  scan->kind = (uint32_t)moment->number;
  scan->moment_ns = moment->time_ns;
}

/* Keeps the times and kinds of all events that pass. If they are too many, nothing is kept. */
static int fill_buckets(struct query_scan *scan, struct kymo_error *error) {
  const struct kymo_event *event;
  size_t capacity = 0;
  int status = begin_pass(scan, scan->kinds, error);
  while (status == KYMO_OK && (status = query_reader_next(scan->reader, &event, error)) == KYMO_OK) {
    note_time(scan, event);
    if (!passes(scan, event))
      continue;
    if (scan->moment_count == BUCKETED_MAX)
      break;
    if (!KYMO_LIST_ROOM_UP_TO(scan->moments, capacity, scan->moment_count, BUCKETED_MAX))
      return no_memory(error);
    scan->moments[scan->moment_count++] =
        (struct query_moment){time_of(event), scan->source->kind_of[kymo_kind_of(event)]};
  }
  if (status < 0)
    return status;
  if (status == KYMO_END)
    return order_buckets(scan, error);
  free(scan->moments);
  scan->moments = NULL;
  scan->moment_count = 0;
  return KYMO_OK;
}

/* ---- folding ---- */

/* Counts the kinds of the events that pass. */
static int fold(struct query_scan *scan, struct kymo_error *error) {
  const struct kymo_event *event;
  uint64_t *counts = kymo_arena_array(&scan->arena, scan->source->kind_count + 1u, sizeof *counts);
  if (!counts)
    return no_memory(error);
  int status = begin_pass(scan, scan->kinds, error);
  while (status == KYMO_OK && (status = query_reader_next(scan->reader, &event, error)) == KYMO_OK) {
    note_time(scan, event);
    if (passes(scan, event))
      counts[scan->source->kind_of[kymo_kind_of(event)]]++;
  }
  if (status < 0)
    return status;
  scan->bits |= QUERY_COUNTED;
  scan->counts = counts;
  next_count(scan);
  return KYMO_OK;
}

/* ---- rows ---- */

int query_scan_next(struct query_scan *scan, struct kymo_error *error) {
  int status = KYMO_OK;
  scan->row++;
  if (scan->bits & QUERY_COUNTED) {
    if (--scan->left == 0)
      next_count(scan);
    return KYMO_OK;
  }
  if (scan->is_bucketed) {
    next_bucketed(scan);
    return KYMO_OK;
  }
  if (scan->is_sorted)
    return next_moment(scan, error);
  while (!scan->is_at_end) {
    status = query_reader_next(scan->reader, &scan->event, error);
    if (status == KYMO_OK)
      note_time(scan, scan->event);
    if (status == KYMO_OK && passes(scan, scan->event))
      return KYMO_OK;
    if (status < 0)
      return status;
    if (status != KYMO_OK && (scan->bits & QUERY_BY_KIND))
      status = next_pass(scan, error);
    else if (status != KYMO_OK)
      scan->is_at_end = true;
    if (status < 0)
      return status;
  }
  scan->event = NULL;
  return KYMO_OK;
}

/* Goes to the first row. */
static int start(struct query_scan *scan, struct kymo_error *error) {
  bool is_ordered = true;
  int status = KYMO_OK;
  scan->kind = UINT32_MAX;
  if (scan->bits & QUERY_COUNTED) {
    scan->counts = query_source_counts(scan->source, error);
    if (!scan->counts)
      return KYMO_E_FORMAT;
    next_count(scan);
    return KYMO_OK;
  }
  status = query_reader_take(&scan->reader, scan->source, error);
  if (status == KYMO_OK && scan->folds)
    return fold(scan, error);
  if (status == KYMO_OK && (scan->bits & QUERY_BY_TIME))
    status = check_order(scan, &is_ordered, error);
  if (status == KYMO_OK && (scan->bits & QUERY_BUCKETS))
    status = fill_buckets(scan, error);
  if (status == KYMO_OK && !scan->is_bucketed)
    status = !is_ordered                  ? sort_events(scan, error)
             : scan->bits & QUERY_BY_KIND ? next_pass(scan, error)
                                          : begin_pass(scan, scan->kinds, error);
  return status == KYMO_OK && !scan->is_at_end ? query_scan_next(scan, error) : status;
}

int query_scan_begin(struct query_scan *scan, int bits, const char *constraints, sqlite3_value **values,
                     struct kymo_error *error) {
  query_scan_end(scan);
  scan->bits = bits;
  scan->folds = scan->source->folds && !(bits & QUERY_BY_TIME);
  scan->begin_ns = INT64_MIN;
  scan->end_ns = INT64_MAX;
  int status = begin_kinds(scan, error);
  if (status == KYMO_OK)
    status = take_constraints(scan, constraints, values, error);
  if (status == KYMO_OK && !scan->is_at_end)
    status = start(scan, error);
  return status;
}

void query_scan_end(struct query_scan *scan) {
  query_reader_give_back(scan->reader);
  scan->source->weight = 1;
  kymo_arena_free(&scan->arena);
  free(scan->moments);
  *scan = (struct query_scan){.source = scan->source, .columns = scan->columns};
}
