/* SPDX-License-Identifier: MIT */
/*
 * Going to times: the events after kymo_trace_goto_time are those of a linear reading from there on,
 * whatever is in packet headers, with losses, damage and any end. The environment variable KYMO_SEED repeats
 * one case.
 */
#include "random_trace.h"
#include "rounds.h"
#include <inttypes.h>

/* ---- the events of a trace ---- */

struct seen {
  uint32_t stream;
  bool has_time;
  int64_t time_ns;
  uint64_t value;
};
struct seen_loss {
  uint32_t stream;
  struct kymo_loss loss;
  size_t before; /* events delivered so far */
};
struct record {
  struct seen events[STREAMS_MAX * 512];
  struct seen_loss losses[STREAMS_MAX * 64];
  size_t count, loss_count;
};

static void note_loss(void *user, const struct kymo_loss *loss) {
  struct record *record = user;
  assert_true(record->loss_count < STREAMS_MAX * 64);
  record->losses[record->loss_count++] = (struct seen_loss){loss->stream->index, *loss, record->count};
}

static void deliver(struct kymo_trace *trace, struct record *record, size_t limit) {
  const struct kymo_event *event;
  uint64_t first = 0;
  record->count = record->loss_count = 0;
  kymo_trace_set_loss_handler(trace, note_loss, record);
  while (record->count < limit && (event = next_event(trace))) {
    uint32_t field = kymo_field_id(trace, event->class_, "v");
    struct seen *seen = &record->events[record->count++];
    assert_true(record->count < STREAMS_MAX * 512);
    *seen = (struct seen){event->packet->stream->index, event->has_time, event->time_ns, 0};
    assert_int_equal(kymo_event_get_uint(event, field, &seen->value), KYMO_OK);
    if (record->count == 1)
      first = event->number;
    assert_true(event->number == first + record->count - 1 &&
                (first == 1 || first == KYMO_NUMBER_LANDED + 1));
  }
}

static bool is_in(const struct seen *seen, int64_t begin_ns, int64_t end_ns) {
  return !seen->has_time || (seen->time_ns >= begin_ns && seen->time_ns <= end_ns);
}

static void check_window(const struct record *all, const struct record *found, int64_t begin_ns,
                         int64_t end_ns, uint64_t number) {
  size_t at = 0, losses = 0;
  for (size_t i = 0; i < all->count; i++) {
    if (!is_in(&all->events[i], begin_ns, end_ns))
      continue;
    if (at == found->count || memcmp(&all->events[i].value, &found->events[at].value, 8) != 0 ||
        all->events[i].stream != found->events[at].stream ||
        all->events[i].time_ns != found->events[at].time_ns)
      fail_msg("seed %" PRIu64 ": from %" PRId64 " to %" PRId64
               ": event %zu: expected stream %u, time %" PRId64 ", found %s stream %u, time %" PRId64,
               number, begin_ns, end_ns, at + 1, all->events[i].stream, all->events[i].time_ns,
               at == found->count ? "the end, not" : "", found->events[at].stream, found->events[at].time_ns);
    at++;
  }
  if (at != found->count)
    fail_msg("seed %" PRIu64 ": from %" PRId64 " to %" PRId64 ": %zu events too many", number, begin_ns,
             end_ns, found->count - at);
  for (size_t i = 0; i < all->loss_count; i++) {
    const struct kymo_loss *loss = &all->losses[i].loss;
    if (!loss->has_times)
      continue;
    if (loss->end_ns < begin_ns || loss->begin_ns > end_ns)
      continue;
    bool is_there = false;
    for (size_t k = 0; k < found->loss_count; k++)
      is_there |=
          found->losses[k].stream == all->losses[i].stream && found->losses[k].loss.count == loss->count &&
          found->losses[k].loss.is_packets == loss->is_packets &&
          found->losses[k].loss.begin_ns == loss->begin_ns && found->losses[k].loss.end_ns == loss->end_ns;
    if (!is_there)
      fail_msg("seed %" PRIu64 ": from %" PRId64 " to %" PRId64 ": a loss is not told", number, begin_ns,
               end_ns);
    losses++;
  }
  for (size_t k = 0; k < found->loss_count; k++)
    losses -= found->losses[k].loss.has_times;
  if (losses != 0)
    fail_msg("seed %" PRIu64 ": from %" PRId64 " to %" PRId64 ": losses outside are told", number, begin_ns,
             end_ns);
}

static int64_t random_time(const struct record *all) {
  if (all->count == 0 || random_below(10) == 0)
    return random_below(2) ? INT64_MIN : INT64_MAX;
  int64_t time_ns = all->events[random_below(all->count)].time_ns;
  return time_ns == INT64_MIN ? 0 : time_ns + (int64_t)random_below(5) - 2;
}

static void check_range(struct kymo_trace *trace, const struct record *all, bool is_damaged,
                        uint64_t number) {
  int64_t begin_ns, end_ns;
  struct kymo_error error;
  bool has_times = false;
  int status = kymo_trace_range(trace, &begin_ns, &end_ns, &error);
  for (size_t i = 0; i < all->count; i++) {
    const struct seen *seen = &all->events[i];
    has_times |= seen->has_time;
    if (seen->has_time && !is_damaged &&
        (status != KYMO_OK || seen->time_ns < begin_ns || seen->time_ns > end_ns))
      fail_msg("seed %" PRIu64 ": an event is outside of the range", number);
  }
  assert_true(status == KYMO_OK || (status == KYMO_E_ABSENT && !has_times));
}

static void run_case(uint64_t number) {
  static struct record all, found;
  random_seed(number);
  struct shape shape = shapes[random_below(sizeof shapes / sizeof *shapes)];
  bool may_be_damaged = random_below(3) == 0;
  size_t streams = 1 + random_below(STREAMS_MAX);
  struct packet_bytes *bytes = calloc(STREAMS_MAX, sizeof *bytes);
  static const uint64_t frequencies[] = {1000000000, 1000000, 2400000001};
  struct kymo_schema *schema = make_schema(shape, frequencies[random_below(3)]);
  for (size_t i = 0; i < streams; i++)
    make_stream(&bytes[i], shape, may_be_damaged);
  struct kymo_trace *trace = open_memory(schema, bytes, streams);
  if (random_below(4) == 0)
    forbid_seeking(trace);
  trace->options.unmerged = random_below(4) == 0;
  deliver(trace, &all, SIZE_MAX);
  size_t damage_count = kymo_trace_damage_count(trace);
  for (unsigned i = 0; i < 12; i++) {
    int64_t begin_ns = random_time(&all), end_ns = random_below(2) ? INT64_MAX : random_time(&all);
    assert_int_equal(kymo_trace_goto_time(trace, begin_ns, NULL), KYMO_OK);
    kymo_trace_set_end_time(trace, end_ns);
    if (random_below(4) == 0) {
      deliver(trace, &found, random_below(20)); /* and away, in the middle */
      continue;
    }
    deliver(trace, &found, SIZE_MAX);
    check_window(&all, &found, begin_ns, end_ns, number);
    check_range(trace, &all, may_be_damaged, number);
  }
  assert_int_equal(kymo_trace_damage_count(trace), damage_count); /* each place is listed once */
  kymo_trace_close(trace);
  free(bytes);
}

static void every_window_is_what_the_linear_way_has_there(void **state) {
  (void)state;
  const char *only = getenv("KYMO_SEED");
  if (only) {
    run_case(strtoull(only, NULL, 10));
    return;
  }
  for (uint64_t number = 0; number < rounds(3000); number++)
    run_case(number);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_window_is_what_the_linear_way_has_there)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
