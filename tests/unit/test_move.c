/* SPDX-License-Identifier: MIT */
/*
 * Moving by numbers and backward: random walks compared with a linear reading, over random traces with
 * losses, damage, times that go backward, packets at no place. The environment variable KYMO_SEED repeats one
 * case.
 */
#include "random_trace.h"
#include "rounds.h"
#include <inttypes.h>

#define EVENTS_MAX 4096
#define LOSSES_MAX 256

struct seen {
  uint32_t stream;
  int64_t time_ns;
  uint64_t value;
};
struct seen_loss {
  uint64_t count;
  bool is_packets;
  size_t before;
};

/* The result of a linear reading, and where the walk is: 0 is before the first event, count + 1 after the
 * last. */
struct walk_case {
  struct kymo_trace *trace;
  uint64_t number;
  struct seen events[EVENTS_MAX];
  size_t count, at;
  struct seen_loss losses[LOSSES_MAX], told[LOSSES_MAX];
  size_t loss_count, told_count, delivered;
  bool has_order; /* after kymo_trace_goto_time, too */
};

static void note_loss(void *user, const struct kymo_loss *loss) {
  struct walk_case *c = user;
  assert_true(c->told_count < LOSSES_MAX);
  c->told[c->told_count++] = (struct seen_loss){loss->count, loss->is_packets, c->delivered};
}

static struct seen see(struct kymo_trace *trace, const struct kymo_event *event) {
  struct seen seen = {event->packet->stream->index, event->time_ns, UINT64_MAX};
  assert_int_equal(kymo_event_get_uint(event, kymo_field_id(trace, event->class_, "v"), &seen.value),
                   KYMO_OK);
  return seen;
}

static void read_all(struct walk_case *c) {
  const struct kymo_event *event;
  c->count = c->at = c->loss_count = c->told_count = c->delivered = 0;
  kymo_trace_set_loss_handler(c->trace, note_loss, c);
  while ((event = next_event(c->trace))) {
    assert_true(c->count < EVENTS_MAX);
    c->events[c->count++] = see(c->trace, event);
    c->delivered = c->count;
    assert_int_equal(event->number, c->count);
  }
  memcpy(c->losses, c->told, sizeof c->told);
  c->loss_count = c->told_count;
  c->at = c->count + 1;
}

/* A move has returned the event of its place. */
static void check(const struct walk_case *c, const char *move, int status, const struct kymo_event *event) {
  bool is_inside = c->at >= 1 && c->at <= c->count;
  if (status != (is_inside ? KYMO_OK : KYMO_END) || (event != NULL) != is_inside)
    fail_msg("seed %" PRIu64 ": %s to %zu of %zu: status %d", c->number, move, c->at, c->count, status);
  if (!is_inside)
    return;
  struct seen seen = see(c->trace, event), wanted = c->events[c->at - 1];
  uint64_t number = event->number;
  if (seen.value != wanted.value || seen.stream != wanted.stream || seen.time_ns != wanted.time_ns)
    fail_msg("seed %" PRIu64 ": %s to %zu of %zu: found value %" PRIu64 " of stream %u, not %" PRIu64
             " of %u",
             c->number, move, c->at, c->count, seen.value, seen.stream, wanted.value, wanted.stream);
  if (number >= KYMO_NUMBER_RELATIVE && random_below(3))
    return;
  status = kymo_trace_get_number(c->trace, event, &number, NULL);
  if (status == KYMO_E_ABSENT && !c->has_order)
    return;
  if (status != KYMO_OK || number != c->at || event->number != c->at)
    fail_msg("seed %" PRIu64 ": %s to %zu of %zu: number %" PRIu64 ", status %d", c->number, move, c->at,
             c->count, number, status);
}

/* ---- moves ---- */

static void go_next(struct walk_case *c) {
  const struct kymo_event *event;
  c->at += c->at <= c->count;
  int status = kymo_trace_next(c->trace, &event, NULL);
  check(c, "next", status, event);
}

static void go_previous(struct walk_case *c) {
  const struct kymo_event *event;
  c->at -= c->at > 0;
  int status = kymo_trace_previous(c->trace, &event, NULL);
  check(c, "previous", status, event);
}

static void go_record(struct walk_case *c) {
  const struct kymo_event *event;
  uint64_t number = random_below(c->count + 3);
  int status = kymo_trace_goto_event(c->trace, number, &event, NULL);
  c->at = number <= c->count ? (size_t)number : c->count + 1;
  check(c, "goto_record", number == 0 && status == KYMO_OK ? KYMO_END : status, event);
}

static void go_skip(struct walk_case *c) {
  const struct kymo_event *event;
  int64_t reach = random_below(2) ? 20 : 2 * (int64_t)c->count + 2;
  int64_t count = (int64_t)random_below((uint64_t)reach) - reach / 2, to = (int64_t)c->at + count;
  int status = kymo_trace_skip(c->trace, count, &event, NULL);
  c->at = to < 0 ? 0 : to > (int64_t)c->count ? c->count + 1 : (size_t)to;
  check(c, "skip", status, event);
}

static void go_start(struct walk_case *c) {
  assert_int_equal(kymo_trace_rewind(c->trace), KYMO_OK);
  c->at = 0;
}

/* To the place before the first event that is not before a time. */
static void go_time(struct walk_case *c) {
  if (!c->has_order || c->count == 0 || kymo_trace_damage_count(c->trace) > 0)
    return;
  int64_t time_ns = c->events[random_below(c->count)].time_ns + (int64_t)random_below(3) - 1;
  assert_int_equal(kymo_trace_goto_time(c->trace, time_ns, NULL), KYMO_OK);
  for (c->at = 0; c->at < c->count && c->events[c->at].time_ns < time_ns; c->at++)
    ;
  go_next(c);
}

static void count(struct walk_case *c) {
  uint64_t records;
  struct kymo_bookmark place;
  assert_int_equal(kymo_trace_count_events(c->trace, &records, NULL), KYMO_OK);
  assert_int_equal(records, c->count);
  kymo_trace_tell(c->trace, &place);
  if (place.number)
    assert_int_equal(place.number, c->at > c->count ? c->count : c->at);
}

/* From here to the end: all events, and all losses between them. */
static void go_to_end(struct walk_case *c) {
  size_t from = c->at, known = 0;
  c->told_count = 0;
  for (c->delivered = from; c->at <= c->count; c->delivered++)
    go_next(c);
  while (known < c->loss_count && c->losses[known].before < from)
    known++;
  if (from > c->count)
    return;
  if (c->told_count != c->loss_count - known)
    fail_msg("seed %" PRIu64 ": from %zu: %zu losses, not %zu", c->number, from, c->told_count,
             c->loss_count - known);
  for (size_t i = 0; i < c->told_count; i++)
    assert_memory_equal(&c->told[i].count, &c->losses[known + i].count, sizeof c->told[i].count);
}

static void go_back_to_start(struct walk_case *c) {
  while (c->at > 0)
    go_previous(c);
}

static void walk(struct walk_case *c, unsigned steps) {
  static void (*const moves[])(struct walk_case *) = {go_next,     go_next,     go_next,   go_previous,
                                                      go_previous, go_previous, go_record, go_skip,
                                                      go_start,    go_time,     count};
  for (unsigned i = 0; i < steps; i++)
    moves[random_below(sizeof moves / sizeof *moves)](c);
}

/* ---- random traces ---- */

/* Checkpoints by the dozen, and few of them, as if the trace were long. */
static void crowd(struct kymo_trace *trace) {
  struct kymo_checkpoints many = {.stride = 1 + random_below(40), .limit = 4 + random_below(10)};
  trace->checkpoints = trace->relative = many;
}

static void run_case(uint64_t number) {
  static struct walk_case c;
  random_seed(number);
  struct shape shape = shapes[random_below(sizeof shapes / sizeof *shapes)];
  size_t streams = 1 + random_below(STREAMS_MAX);
  struct packet_bytes *bytes = calloc(STREAMS_MAX, sizeof *bytes);
  static const uint64_t frequencies[] = {1000000000, 1000000, 2400000001};
  struct kymo_schema *schema = make_schema(shape, frequencies[random_below(3)]);
  bool may_be_damaged = random_below(3) == 0;
  for (size_t i = 0; i < streams; i++)
    make_stream(&bytes[i], shape, may_be_damaged);
  c.trace = open_memory(schema, bytes, streams);
  c.number = number;
  if (random_below(4) == 0)
    forbid_seeking(c.trace);
  c.trace->options.unmerged = random_below(4) == 0;
  c.has_order = shape.time_bits && !c.trace->options.unmerged;
  crowd(c.trace);
  read_all(&c);
  size_t damage_count = kymo_trace_damage_count(c.trace);
  go_back_to_start(&c);
  go_to_end(&c);
  walk(&c, 60);
  go_record(&c);
  go_to_end(&c);
  go_back_to_start(&c);
  assert_int_equal(kymo_trace_damage_count(c.trace), damage_count); /* each place is listed once */
  kymo_trace_close(c.trace);
  free(bytes);
}

static void every_walk_meets_what_the_linear_way_has_there(void **state) {
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_walk_meets_what_the_linear_way_has_there)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
