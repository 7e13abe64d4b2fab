/* SPDX-License-Identifier: MIT */
/*
 * Filters on either way: kymo_trace_previous_filtered returns the events of kymo_trace_next_filtered in
 * reverse, and neither depends on how the current event was reached. Random filters over random traces; the
 * environment variable KYMO_SEED repeats one case.
 */
#include "random_trace.h"
#include "rounds.h"
#include <inttypes.h>
#include <kymo/filter.h>

#define GIVEN_MAX 8192

struct given {
  uint64_t number, behind;
  int64_t time_ns;
  const struct kymo_event_class *class_;
};
/* at: 0 before the first returned event, count + 1 after the last */
struct filter_case {
  struct kymo_trace *trace;
  uint64_t seed;
  char text[512];
  struct given list[GIVEN_MAX];
  size_t count, at;
};

static const struct shape timed[] = {{64, 64, 48, 1}, {64, 64, 64, 1}, {64, 0, 27, 0}};

/* ---- random filters ---- */

static const char *condition(void) {
  static char texts[4][64];
  static unsigned next;
  char *text = texts[next++ % 4];
  unsigned from = (unsigned)random_below(9);
  snprintf(text, sizeof texts[0], "v * %u %% 31 IN (%u..%u)", (unsigned)random_below(40) + 1, from,
           from + (unsigned)random_below(9));
  return text;
}

static void make_test(char *out, size_t size) {
  unsigned n = (unsigned)random_below(5) + 1;
  switch (random_below(10)) {
  case 0: snprintf(out, size, "AFTER (%s)", condition()); break;
  case 1: snprintf(out, size, "BEFORE (%s)", condition()); break;
  case 2:
    snprintf(out, size, "BETWEEN (%s) AND (%s)%s", condition(), condition(), n > 3 ? " INCLUSIVE" : "");
    break;
  case 3: snprintf(out, size, "EVERY %u OF (%s)", n, condition()); break;
  case 4: snprintf(out, size, "EVERY %u", n); break;
  case 5: snprintf(out, size, "v IS CHANGED"); break;
  case 6: snprintf(out, size, "WITHIN %u us AROUND (%s)", n, condition()); break;
  case 7: snprintf(out, size, "AFTER LAST (%s)", condition()); break;
  case 8: snprintf(out, size, "RECORD IN (%u..%u)", n * 3, n * 30); break;
  default: snprintf(out, size, "%s", condition());
  }
}

static void make_filter(char *out, size_t size) {
  char a[200], b[200], first[32] = "";
  make_test(a, sizeof a);
  make_test(b, sizeof b);
  if (random_below(4) == 0)
    snprintf(first, sizeof first, " FIRST %u", (unsigned)random_below(40) + 1);
  bool has_activity = random_below(3) == 0;
  size_t length = (size_t)snprintf(out, size, "FILTER f;\n");
  if (has_activity)
    length += (size_t)snprintf(out + length, size - length, "ACTIVITY job FROM (%s) TO (%s);\n", condition(),
                               condition());
  snprintf(out + length, size - length, "SELECT %s%s %s%s %s%s.\n", has_activity ? "job OR " : "", a,
           random_below(2) ? "AND" : "OR", random_below(4) ? "" : " NOT", b, first);
}

static void attach(struct filter_case *c) {
  const struct kymo_schema *schema = kymo_trace_part(c->trace, 0)->schema;
  struct kymo_filter_options options = {.schemas = &schema, .schema_count = 1};
  struct kymo_filter *filter;
  struct kymo_error error = {.code = KYMO_OK};
  if (kymo_filter_compile(&filter, c->text, strlen(c->text), &options, &error) != KYMO_OK ||
      kymo_filter_attach(c->trace, filter, &error) != KYMO_OK)
    fail_msg("seed %" PRIu64 ": %s: %s", c->seed, c->text, error.message);
  kymo_filter_release(filter);
}

/* ---- moves ---- */

static struct given given_of(const struct kymo_trace *trace, const struct kymo_event *event) {
  return (struct given){event->number, trace->number, event->time_ns, event->class_};
}

static void check(const struct filter_case *c, const char *move, int status, const struct kymo_event *event) {
  bool is_inside = c->at >= 1 && c->at <= c->count;
  if (status != (is_inside ? KYMO_OK : KYMO_END) || (event != NULL) != is_inside)
    fail_msg("seed %" PRIu64 ": %s to %zu of %zu: status %d; %s", c->seed, move, c->at, c->count, status,
             c->text);
  if (!is_inside)
    return;
  struct given given = given_of(c->trace, event), wanted = c->list[c->at - 1];
  if (given.number != wanted.number || given.behind != wanted.behind || given.time_ns != wanted.time_ns ||
      given.class_ != wanted.class_)
    fail_msg("seed %" PRIu64 ": %s to %zu of %zu: found %" PRIu64 ", not %" PRIu64 "; %s", c->seed, move,
             c->at, c->count, given.number, wanted.number, c->text);
}

static void go_next(struct filter_case *c) {
  const struct kymo_event *event;
  c->at += c->at <= c->count;
  int status = kymo_trace_next_filtered(c->trace, &event, NULL);
  check(c, "next", status, event);
}

static void go_previous(struct filter_case *c) {
  const struct kymo_event *event;
  c->at -= c->at > 0;
  int status = kymo_trace_previous_filtered(c->trace, &event, NULL);
  check(c, "previous", status, event);
}

/* To a record, selected or not, and on from there by the filter: before the events that the record has
 * added. */
static void go_record(struct filter_case *c, uint64_t records) {
  const struct kymo_event *event;
  uint64_t number = random_below(records) + 1;
  assert_int_equal(kymo_trace_goto_event(c->trace, number, &event, NULL), KYMO_OK);
  bool is_back = random_below(2);
  for (c->at = 0; c->at < c->count; c->at++)
    if (c->list[c->at].behind > number ||
        (c->list[c->at].behind == number && (is_back || !c->list[c->at].number)))
      break;
  c->at += is_back;
  is_back ? go_previous(c) : go_next(c);
}

static void read_all(struct filter_case *c) {
  const struct kymo_event *event;
  int status;
  for (c->count = 0; (status = kymo_trace_next_filtered(c->trace, &event, NULL)) == KYMO_OK; c->count++) {
    assert_true(c->count < GIVEN_MAX);
    c->list[c->count] = given_of(c->trace, event);
  }
  assert_int_equal(status, KYMO_END);
  c->at = c->count + 1;
}

static void run_case(uint64_t number) {
  static struct filter_case c;
  uint64_t records;
  random_seed(number);
  struct shape shape = timed[random_below(sizeof timed / sizeof *timed)];
  size_t streams = 1 + random_below(3);
  struct packet_bytes *bytes = calloc(streams, sizeof *bytes);
  for (size_t i = 0; i < streams; i++)
    make_stream(&bytes[i], shape, false);
  c.trace = open_memory(make_schema(shape, 1000000000), bytes, streams);
  c.seed = number;
  make_filter(c.text, sizeof c.text);
  attach(&c);
  assert_int_equal(kymo_trace_count_events(c.trace, &records, NULL), KYMO_OK);
  read_all(&c);
  while (c.at > 0)
    go_previous(&c);
  for (unsigned steps = 0; steps < 40; steps++)
    random_below(2) ? go_next(&c) : go_previous(&c);
  for (unsigned i = 0; i < 8 && records; i++) {
    go_record(&c, records);
    for (unsigned steps = (unsigned)random_below(5); steps > 0; steps--)
      random_below(2) ? go_next(&c) : go_previous(&c);
  }
  kymo_trace_close(c.trace);
  free(bytes);
}

static void filters_select_the_same_on_either_way(void **state) {
  (void)state;
  const char *only = getenv("KYMO_SEED");
  if (only) {
    run_case(strtoull(only, NULL, 10));
    return;
  }
  for (uint64_t number = 0; number < rounds(1500); number++)
    run_case(number);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(filters_select_the_same_on_either_way)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
