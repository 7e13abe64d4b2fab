/* SPDX-License-Identifier: MIT */
/* The order of merged streams at the least and the greatest times. */
#include "read_memory.h"

#define STREAMS_MAX 5
#define EVENTS 200 /* of a stream: several looks ahead */

/* Events that are nothing but a time. */
static struct kymo_schema *bare_schema(void) {
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_clock *clock =
      kymo_builder_clock(b, &(struct kymo_clock){.name = "c", .frequency = 1000000000});
  struct kymo_stream_class *stream,
      class_ = {.clock = clock,
                .event_header = make_struct(b, "t", make_role(b, 64, 8, KYMO_ROLE_TIMESTAMP, clock), NULL)};
  assert_int_equal(kymo_builder_stream(b, &class_, &stream, NULL), KYMO_OK);
  struct kymo_event_class event = {.name = "e", .group = "", .level = -1};
  assert_int_equal(kymo_builder_event(b, stream, &event, NULL, NULL), KYMO_OK);
  return finish(b);
}

/* Streams whose events follow one another in blocks of different lengths, so that each runs dry while others
 * have events. */
static void assert_order(uint64_t begin_ns, unsigned stream_count) {
  struct packet_bytes *streams = calloc(stream_count, sizeof *streams);
  assert_non_null(streams);
  unsigned left[STREAMS_MAX], at = 0;
  uint64_t time_ns = begin_ns;
  for (unsigned i = 0; i < stream_count; i++)
    left[i] = EVENTS;
  for (unsigned i = 0; i < stream_count * EVENTS; i++, time_ns++) {
    at = i % 7 == 0 ? (at + 1) % stream_count : at;
    while (left[at] == 0)
      at = (at + 1) % stream_count;
    left[at]--;
    put_le(&streams[at], time_ns, 64);
  }
  struct kymo_trace *trace = open_memory(bare_schema(), streams, stream_count);
  const struct kymo_event *event;
  for (time_ns = begin_ns; (event = next_event(trace)); time_ns++)
    assert_int_equal(event->time_ns, time_ns);
  assert_int_equal(time_ns, begin_ns + stream_count * EVENTS);
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  kymo_trace_close(trace);
  free(streams);
}

static void streams_are_in_order_at_any_time(void **state) {
  (void)state;
  static const uint64_t begins_ns[] = {0,
                                       UINT64_C(1) << 54,
                                       UINT64_C(1) << 61,
                                       UINT64_C(1) << 62,
                                       UINT64_C(7) << 60,
                                       INT64_MAX - STREAMS_MAX * EVENTS};
  for (size_t i = 0; i < sizeof begins_ns / sizeof *begins_ns; i++)
    for (unsigned streams = 1; streams <= STREAMS_MAX; streams++)
      assert_order(begins_ns[i], streams);
}

/* One wrong time, while the stream before it is over. */
static void events_beyond_all_times_are_not_lost(void **state) {
  (void)state;
  static const uint64_t beyond[] = {INT64_MAX, (uint64_t)INT64_MAX + 7, UINT64_MAX};
  for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
    struct packet_bytes streams[2] = {0};
    put_le(&streams[0], 10, 64);
    put_le(&streams[1], beyond[i], 64), put_le(&streams[1], 20, 64);
    struct kymo_trace *trace = open_memory(bare_schema(), streams, 2);
    assert_int_equal(next_event(trace)->time_ns, 10);
    const struct kymo_event *event = next_event(trace);
    assert_non_null(event);
    assert_int_equal(event->time_ns, INT64_MAX - 1);
    assert_true(event->cycles == beyond[i]);
    assert_int_equal(next_event(trace)->time_ns, 20);
    assert_null(next_event(trace));
    assert_int_equal(kymo_trace_damage_count(trace), 1);
    assert_string_equal(kymo_trace_damage(trace, 0)->message,
                        "events with times that do not fit 64-bit nanoseconds");
    kymo_trace_close(trace);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(streams_are_in_order_at_any_time),
                                     cmocka_unit_test(events_beyond_all_times_are_not_lost)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
