/* SPDX-License-Identifier: MIT */
/*
 * Prefilters: what a filter rejects before an event is encoded is what it rejects afterwards. Random filters
 * over random described files are compared with the same filter with a memory, which has no prefilters (`AND
 * EVERY 1`), whatever moves come in between; and events that are returned show the fields that they have
 * without a filter. The environment variable KYMO_SEED repeats one case.
 */
#include "folder.h"
#include "random_schema.h"
#include "rounds.h"
#include "trace/trace.h"
#include <inttypes.h>
#include <kymo/filter.h>
#include <kymo/get.h>
#include <kymo/move.h>
#include <kymo/read.h>

#define FILES_MAX 3
#define RECORDS_MAX 40000 /* so that there are checkpoints */

/* Constant and not: fields after a text have no constant place. `late` does not always fit 8 bits, and CHECK
 * fails at times. */
static const char description[] =
    "TRACE s;\n"
    "CLOCK c IS RESOLUTION 10 ns;\n"
    "TOKEN state = (\"idle\"=0, \"run\"=1, \"wait\"=2..3, \"dead\"=200);\n"
    "RECORD r EVENT IS\n"
    "  ACQUISITION: UNSIGNED 32 LITTLE TIME c POINT;\n"
    "  EVENT: UNSIGNED 8 TOKEN state;\n"
    "  a: UNSIGNED 16 LITTLE; b: INTEGER 16 BIG; c: INTEGER 32 LITTLE; d: UNSIGNED 8;\n"
    "  CHECK d <> 77;\n"
    "  f: FLOAT 32 LITTLE;\n"
    "  _n: UNSIGNED 8 LENGTH OF text;\n"
    "  text: STRING;\n"
    "  z: UNSIGNED 32 LITTLE;\n"
    "END;\n"
    "LAYOUT REPEAT r;\n"
    "END TRACE.\n";

struct fields {
  const struct kymo_event_class *class_;
  int64_t time_ns;
  uint64_t a, d, z;
  int64_t b, c;
  double f;
  char text[64];
};
struct prefilter_case {
  uint64_t seed;
  struct kymo_schema *key;
  char filter[256];
  struct kymo_trace *prefiltered, *plain;
  struct fields list[FILES_MAX * RECORDS_MAX];
  uint64_t count;
  bool was_prefiltered; /* while events were given */
};

/* ---- random files ---- */

static void put_number(uint8_t **at, uint64_t value, unsigned bytes, bool is_big) {
  for (unsigned i = 0; i < bytes; i++)
    *(*at)++ = (uint8_t)(value >> 8 * (is_big ? bytes - 1 - i : i));
}

static size_t make_file(uint8_t *bytes, size_t records) {
  static const uint8_t states[] = {0, 1, 2, 3, 9, 200, 255};
  uint8_t *at = bytes;
  uint64_t time = 0;
  for (size_t i = 0; i < records; i++) {
    size_t length = random_below(20);
    float f = (float)random_below(100);
    uint32_t raw;
    memcpy(&raw, &f, sizeof raw);
    put_number(&at, time += random_below(3), 4, false);
    put_number(&at, states[random_below(sizeof states)], 1, false);
    put_number(&at, random_below(9), 2, false);
    put_number(&at, random_below(9) - 4, 2, true);
    put_number(&at, random_below(9) - 4, 4, false);
    put_number(&at, random_below(400) ? random_below(9) : 77, 1, false);
    put_number(&at, raw, 4, false);
    put_number(&at, length, 1, false);
    memset(at, 'x', length);
    if (length && random_below(4) == 0)
      at[random_below(length)] = 0;
    at += length;
    put_number(&at, random_below(9), 4, false);
  }
  return (size_t)(at - bytes) - (records && random_below(4) == 0 ? random_below(12) : 0);
}

/* ---- random filters ---- */

static void make_test(char *out, size_t size) {
  static const char *const names[] = {"a", "b", "c", "d", "z", "f"}, *const relations[] = {"=",  "<>", "<",
                                                                                           "<=", ">",  ">="};
  static const char *const labels[] = {"idle", "run", "wait", "dead"};
  const char *name = names[random_below(6)], *relation = relations[random_below(6)];
  int value = (int)random_below(9) - (*name == 'b' || *name == 'c' ? 4 : 0);
  switch (random_below(9)) {
  case 0: snprintf(out, size, "EVENT = \"%s\"", labels[random_below(4)]); break;
  case 1: snprintf(out, size, "%s IN (%d..%d, 8)", name, value, value + (int)random_below(4)); break;
  case 2: snprintf(out, size, "%s NOT IN (%d..%d)", name, value, value + (int)random_below(4)); break;
  case 3: snprintf(out, size, "text LIKE \"*xx\""); break;
  case 4: snprintf(out, size, "NOT a = d"); break;
  default: snprintf(out, size, "%s %s %d", name, relation, value);
  }
}

static void make_filter(char *out, size_t size) {
  size_t length = 0;
  out[0] = 0;
  for (uint64_t i = random_below(3) + 1; i > 0; i--) {
    char test[64];
    make_test(test, sizeof test);
    length += (size_t)snprintf(out + length, size - length, "%s%s",
                               length ? random_below(4) ? " AND " : " OR " : "", test);
  }
}

static struct kymo_trace *open_with(const struct prefilter_case *c, const char *const *paths, size_t count,
                                    const char *filter_text) {
  struct kymo_trace_options options = {.description = c->key};
  struct kymo_trace *trace;
  struct kymo_error error = {.code = KYMO_OK};
  if (kymo_trace_open(&trace, paths, count, &options, &error) != KYMO_OK)
    fail_msg("seed %" PRIu64 ": %s", c->seed, error.message);
  if (!filter_text)
    return trace;
  const struct kymo_schema *schema = kymo_trace_part(trace, 0)->schema;
  struct kymo_filter_options filter_options = {.schemas = &schema, .schema_count = 1};
  struct kymo_filter *filter;
  if (kymo_filter_compile(&filter, filter_text, strlen(filter_text), &filter_options, &error) != KYMO_OK ||
      kymo_filter_attach(trace, filter, &error) != KYMO_OK)
    fail_msg("seed %" PRIu64 ": %s: %s", c->seed, filter_text, error.message);
  kymo_filter_release(filter);
  return trace;
}

/* ---- comparing ---- */

static struct fields fields_of(struct kymo_trace *trace, const struct kymo_event *event) {
  struct fields fields;
  const uint8_t *text;
  uint64_t size;
  memset(&fields, 0, sizeof fields);
  fields.class_ = NULL;
  fields.time_ns = event->time_ns;
  kymo_event_get_uint(event, kymo_field_id(trace, event->class_, "a"), &fields.a);
  kymo_event_get_int(event, kymo_field_id(trace, event->class_, "b"), &fields.b);
  kymo_event_get_int(event, kymo_field_id(trace, event->class_, "c"), &fields.c);
  kymo_event_get_uint(event, kymo_field_id(trace, event->class_, "d"), &fields.d);
  kymo_event_get_uint(event, kymo_field_id(trace, event->class_, "z"), &fields.z);
  kymo_event_get_float(event, kymo_field_id(trace, event->class_, "f"), &fields.f);
  assert_int_equal(kymo_event_get_bytes(event, kymo_field_id(trace, event->class_, "text"), &text, &size),
                   KYMO_OK);
  assert_true(size < sizeof fields.text);
  memcpy(fields.text, text, size);
  return fields;
}

static void check(const struct prefilter_case *c, const char *move, const struct kymo_event *event) {
  struct fields fields = fields_of(c->prefiltered, event);
  assert_true(event->number >= 1 && event->number <= c->count);
  if (memcmp(&fields, &c->list[event->number - 1], sizeof fields) != 0)
    fail_msg("seed %" PRIu64 ": %s: event %" PRIu64 " is another one; %s", c->seed, move, event->number,
             c->filter);
}

/* The same move in both; then both are at the same event. */
static int both(struct prefilter_case *c, unsigned move, uint64_t number) {
  static const char *const names[] = {"next",        "previous", "any next", "any previous",
                                      "to a record", "skip",     "to a time"};
  struct kymo_trace *const traces[] = {c->prefiltered, c->plain};
  const struct kymo_event *events[2] = {NULL, NULL};
  int statuses[2];
  for (unsigned i = 0; i < 2; i++) {
    switch (move) {
    case 0: statuses[i] = kymo_trace_next_filtered(traces[i], &events[i], NULL); break;
    case 1: statuses[i] = kymo_trace_previous_filtered(traces[i], &events[i], NULL); break;
    case 2: statuses[i] = kymo_trace_next(traces[i], &events[i], NULL); break;
    case 3: statuses[i] = kymo_trace_previous(traces[i], &events[i], NULL); break;
    case 4: statuses[i] = kymo_trace_goto_event(traces[i], number, &events[i], NULL); break;
    case 5:
      statuses[i] = kymo_trace_skip(traces[i], (int64_t)(number % 6000) - 3000, &events[i], NULL);
      break;
    default: statuses[i] = kymo_trace_goto_time(traces[i], c->list[number - 1].time_ns, NULL);
    }
  }
  if (statuses[0] != statuses[1] || !events[0] != !events[1])
    fail_msg("seed %" PRIu64 ": %s: status %d, not %d; %s", c->seed, names[move], statuses[0], statuses[1],
             c->filter);
  uint64_t numbers[2] = {0, 0};
  for (unsigned i = 0; i < 2 && events[0]; i++)
    assert_int_equal(kymo_trace_get_number(traces[i], events[i], &numbers[i], NULL), KYMO_OK);
  if (numbers[0] != numbers[1])
    fail_msg("seed %" PRIu64 ": %s: event %" PRIu64 ", not %" PRIu64 "; %s", c->seed, names[move], numbers[0],
             numbers[1], c->filter);
  if (events[0])
    check(c, names[move], events[0]);
  return statuses[0];
}

/* Only one of them may know a number: a filter with a memory has seen the events before a time. */
static void both_tell(const struct prefilter_case *c) {
  struct kymo_bookmark one, other;
  kymo_trace_tell(c->prefiltered, &one);
  kymo_trace_tell(c->plain, &other);
  bool is_other = one.number && other.number && one.number != other.number;
  if (is_other || one.time_ns != other.time_ns || one.is_at_end != other.is_at_end ||
      one.offset != other.offset)
    fail_msg("seed %" PRIu64 ": tells event %" PRIu64 ", not %" PRIu64 "; %s", c->seed, one.number,
             other.number, c->filter);
}

/* Both read up to an end time, are asked for their position there, and continue, some times after it. */
static void both_to_an_end(struct prefilter_case *c) {
  int64_t end_ns = c->list[random_below(c->count)].time_ns - (int64_t)random_below(2);
  if (random_below(2))
    kymo_trace_rewind(c->prefiltered), kymo_trace_rewind(c->plain);
  if (random_below(2)) /* it is prefiltered already */
    both(c, 0, 0);
  kymo_trace_set_end_time(c->prefiltered, end_ns), kymo_trace_set_end_time(c->plain, end_ns);
  while (both(c, 0, 0) == KYMO_OK)
    continue;
  both_tell(c);
  both(c, (unsigned)random_below(6), random_below(c->count) + 1);
  kymo_trace_set_end_time(c->prefiltered, INT64_MAX), kymo_trace_set_end_time(c->plain, INT64_MAX);
  both(c, (unsigned)random_below(6), random_below(c->count) + 1);
  both_tell(c);
}

static void read_list(struct prefilter_case *c, struct kymo_trace *trace) {
  const struct kymo_event *event;
  for (c->count = 0; kymo_trace_next(trace, &event, NULL) == KYMO_OK; c->count++)
    c->list[c->count] = fields_of(trace, event);
  kymo_trace_close(trace);
}

/* Whether there was a prefilter. */
static bool run_case(struct kymo_schema *key, uint64_t number) {
  static struct prefilter_case c;
  static uint8_t bytes[RECORDS_MAX * 64];
  const char *paths[FILES_MAX] = {below("0"), below("1"), below("2")}, *const names[] = {"0", "1", "2"};
  char with_memory[300];
  random_seed(number);
  c.seed = number;
  c.was_prefiltered = false;
  c.key = key;
  size_t files = random_below(3) ? 1 : 1 + random_below(FILES_MAX);
  unsigned most = rounds(2) == 2 ? RECORDS_MAX : RECORDS_MAX / 2; /* two checkpoints in a file, or one */
  for (size_t i = 0; i < files; i++)
    write_file(names[i], bytes,
               make_file(bytes, number == 50 ? most : random_below(random_below(8) ? 200 : 3000)));
  make_filter(c.filter, sizeof c.filter);
  snprintf(with_memory, sizeof with_memory, "(%s) AND EVERY 1", c.filter);
  read_list(&c, open_with(&c, paths, files, NULL));
  c.prefiltered = open_with(&c, paths, files, c.filter);
  c.plain = open_with(&c, paths, files, with_memory);
  while (both(&c, 0, 0) == KYMO_OK)
    c.was_prefiltered |= c.prefiltered->is_prefiltered;
  assert_false(c.plain->is_prefiltered);
  assert_int_equal(kymo_trace_damage_count(c.prefiltered), kymo_trace_damage_count(c.plain));
  for (unsigned round = 0; round < 8 && c.count; round++) {
    if (random_below(2))
      kymo_trace_rewind(c.prefiltered), kymo_trace_rewind(c.plain);
    for (uint64_t steps = random_below(20); steps > 0; steps--)
      both(&c, 0, 0);
    for (uint64_t steps = random_below(6); steps > 0; steps--)
      both(&c, (unsigned)random_below(7), random_below(c.count) + 1);
    both_to_an_end(&c);
  }
  kymo_trace_close(c.prefiltered);
  kymo_trace_close(c.plain);
  return c.was_prefiltered;
}

static void prefilters_hold_back_what_the_filter_rejects(void **state) {
  (void)state;
  const char *only = getenv("KYMO_SEED");
  struct kymo_schema *key;
  struct kymo_error error = {.code = KYMO_OK};
  if (kymo_description_compile(&key, description, strlen(description), "s.tdl", "tdl", &error) != KYMO_OK)
    fail_msg("%u:%u: %s", error.line, error.column, error.message);
  unsigned prefiltered = 0;
  for (uint64_t number = 0; number < rounds(600) && !only; number++)
    prefiltered += run_case(key, number);
  if (!only && prefiltered <= rounds(600) / 4)
    fail_msg("only %u of %u filters had a prefilter", prefiltered, rounds(600));
  if (only)
    run_case(key, strtoull(only, NULL, 10));
  kymo_description_release(key);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(prefilters_hold_back_what_the_filter_rejects, make_top, remove_top)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
