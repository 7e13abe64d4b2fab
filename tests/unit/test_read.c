/* SPDX-License-Identifier: MIT */
/* The reader over packets in memory: moving, walking, getting, merging, losses, damage. */
#include "decode/walk.h"
#include "read_packets.h"

/* "time:value " for all events that are left. */
static const char *times_and_values(struct kymo_trace *trace) {
  static char text[4096];
  size_t at = 0;
  text[0] = 0;
  for (const struct kymo_event *event; (event = next_event(trace)) && at < sizeof text - 50;)
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%lld:%llu", at ? " " : "",
                           (long long)event->time_ns, (unsigned long long)get(trace, event, "v"));
  return text;
}

/* ---- moving ---- */

static void events_of_constant_size_are_delivered(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(1);
  put_head(p, (struct head){100, 300, HEAD_BYTES + 48, HEAD_BYTES + 64, 0, 0});
  for (uint64_t i = 1; i <= 3; i++)
    put_event(p, 0, 100 * i, 7 * i);
  p->bits += 16 * 8; /* padding */
  struct kymo_trace *trace = open_memory(word_schema(), p, 1);
  for (uint64_t i = 1; i <= 3; i++) {
    const struct kymo_event *event = next_event(trace);
    char text[32];
    assert_non_null(event);
    assert_int_equal(event->number, i);
    assert_int_equal(event->time_ns, 100 * i);
    assert_int_equal(event->cycles, 100 * i);
    assert_int_equal(event->offset_bits, (HEAD_BYTES + (i - 1) * 16) * 8);
    assert_int_equal(get(trace, event, "v"), 7 * i);
    snprintf(text, sizeof text, "v=%d", (int)(7 * i));
    assert_string_equal(walk_text(event, KYMO_SCOPE_PAYLOAD), text);
    snprintf(text, sizeof text, "id=0 t=%d", (int)(100 * i));
    assert_string_equal(walk_text(event, KYMO_SCOPE_EVENT_HEADER), text);
    assert_string_equal(walk_text(event, KYMO_SCOPE_PACKET_CONTEXT),
                        "begin=100 end=300 content=704 size=832 seq=0 discarded=0");
    assert_string_equal(walk_text(event, KYMO_SCOPE_PACKET_HEADER), "magic=3254525889 stream_id=0");
    assert_string_equal(walk_text(event, KYMO_SCOPE_COMMON_CONTEXT), "none");
  }
  assert_null(next_event(trace));
  assert_null(next_event(trace));
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  kymo_trace_close(trace);
  free(p);
}

static void streams_without_event_classes_have_room_for_their_headers(void **state) {
  (void)state;
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_stream_class stream = {0}, *made;
  const struct kymo_type *string = make(b, (struct kymo_type){.kind = KYMO_KIND_STRING});
  stream.packet_context = make_struct(b, "a", string, "b", string, "c", string, "d", string, "e", string, "f",
                                      string, "g", string, "h", string, NULL);
  assert_int_equal(kymo_builder_stream(b, &stream, &made, NULL), KYMO_OK);
  struct packet_bytes *p = new_bytes(1);
  put_text(p, "1\0002\0003\0004\0005\0006\0007\0008", 16);
  struct kymo_trace *trace = open_memory(finish(b), p, 1);
  assert_null(next_event(trace));
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  kymo_trace_close(trace);
  free(p);
}

static void short_time_stamps_wrap_around(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(1);
  uint64_t wrap = UINT64_C(1) << 48, begin = 5 * wrap - 10;
  put_head(p, (struct head){begin, begin + 100, HEAD_BYTES + 48, HEAD_BYTES + 48, 0, 0});
  put_event(p, 0, (begin + 1) & (wrap - 1), 1);
  put_event(p, 0, 3, 2);
  put_event(p, 0, 2, 3); /* less than the one before: a whole turn later */
  struct kymo_trace *trace = open_memory(word_schema(), p, 1);
  assert_int_equal(next_event(trace)->cycles, begin + 1);
  assert_int_equal(next_event(trace)->cycles, 5 * wrap + 3);
  assert_int_equal(next_event(trace)->cycles, 6 * wrap + 2);
  kymo_trace_close(trace);
  free(p);
}

static void packets_follow_one_another_with_padding(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(1);
  put_head(p, (struct head){10, 10, HEAD_BYTES + 16, HEAD_BYTES + 56, 0, 0});
  put_event(p, 0, 10, 1);
  p->bits += 40 * 8;
  put_head(p, (struct head){20, 20, HEAD_BYTES, HEAD_BYTES, 1, 0}); /* no event */
  put_packet(p, (struct head){.begin = 30, .end = 31, .sequence = 2}, 2);
  struct kymo_trace *trace = open_memory(word_schema(), p, 1);
  assert_string_equal(times_and_values(trace), "10:1 30:1 31:2");
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  struct kymo_stream_info info;
  const struct kymo_stream *stream = kymo_part_stream(trace, kymo_trace_part(trace, 0), 0);
  assert_int_equal(kymo_stream_describe(trace, stream, &info, NULL), KYMO_OK);
  assert_int_equal(info.packets, 3);
  assert_int_equal(info.bytes, p->bits / 8);
  assert_true(info.has_times);
  assert_int_equal(info.begin_ns, 10);
  assert_int_equal(info.end_ns, 31);
  kymo_trace_close(trace);
  free(p);
}

/* LTTng's two headers: a tag that is the id, or announces a larger one. */
static struct kymo_schema *lttng_schema(unsigned tag_bits, unsigned time_bits, uint64_t extended) {
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_clock *clock = kymo_builder_clock(b, &(struct kymo_clock){.name = "c", .frequency = NS});
  struct kymo_mapping *mappings = kymo_arena_array(kymo_builder_arena(b), 2, sizeof *mappings);
  mappings[0] = (struct kymo_mapping){"compact", 0, extended - 1};
  mappings[1] = (struct kymo_mapping){"extended", extended, extended};
  const struct kymo_type *tag = make(b, (struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                                           .size_bits = tag_bits,
                                                           .align_bits = 1,
                                                           .roles = KYMO_ROLE_EVENT_CLASS_ID,
                                                           .is_enumeration = true,
                                                           .mapping_count = 2,
                                                           .mappings = mappings});
  struct kymo_range *ranges = kymo_arena_array(kymo_builder_arena(b), 2, sizeof *ranges);
  ranges[0] = (struct kymo_range){0, extended - 1};
  ranges[1] = (struct kymo_range){extended, extended};
  struct kymo_member *options = kymo_arena_array(kymo_builder_arena(b), 2, sizeof *options);
  options[0] = (struct kymo_member){
      .name = "compact",
      .source_name = "compact",
      .ranges = &ranges[0],
      .range_count = 1,
      .type = make_struct(b, "timestamp", make_role(b, time_bits, 1, KYMO_ROLE_TIMESTAMP, clock), NULL)};
  options[1] = (struct kymo_member){
      .name = "extended",
      .source_name = "extended",
      .ranges = &ranges[1],
      .range_count = 1,
      .type = make_struct(b, "id", make_role(b, 32, 8, KYMO_ROLE_EVENT_CLASS_ID, NULL), "timestamp",
                          make_role(b, 64, 8, KYMO_ROLE_TIMESTAMP, clock), NULL)};
  const struct kymo_type *variant =
      make(b, (struct kymo_type){.kind = KYMO_KIND_VARIANT,
                                 .member_count = 2,
                                 .members = options,
                                 .selector_type = tag,
                                 .selector = refer(b, KYMO_SCOPE_EVENT_HEADER, 0)});
  struct kymo_member *members = kymo_arena_array(kymo_builder_arena(b), 2, sizeof *members);
  members[0] = (struct kymo_member){.name = "id", .source_name = "id", .type = tag};
  members[1] = (struct kymo_member){.name = "v", .source_name = "v", .type = variant};
  struct kymo_stream_class stream = {.clock = clock}, *made;
  stream.event_header = make(
      b,
      (struct kymo_type){.kind = KYMO_KIND_STRUCT, .align_bits = 8, .member_count = 2, .members = members});
  assert_int_equal(kymo_builder_stream(b, &stream, &made, NULL), KYMO_OK);
  const struct kymo_type *payload = make_struct(b, "v", make_uint(b, 8, 8), NULL);
  for (uint64_t id = 0; id < 3; id++) {
    struct kymo_event_class class_ = {
        .id = id * 1000, .name = "e", .group = "", .level = -1, .payload = payload};
    assert_int_equal(kymo_builder_event(b, made, &class_, NULL, NULL), KYMO_OK);
  }
  return finish(b);
}

static void check_lttng_header(unsigned tag_bits, unsigned time_bits, uint64_t extended) {
  struct packet_bytes *p = new_bytes(1);
  put_le(p, 0, tag_bits);
  put_le(p, 5, time_bits);
  put_le(p, 1, 8);
  put_le(p, extended, tag_bits);
  pad_to(p, 8);
  put_le(p, 2000, 32);
  put_le(p, 1000000000000, 64);
  put_le(p, 2, 8);
  put_le(p, 0, tag_bits);
  put_le(p, 7, time_bits);
  put_le(p, 3, 8);
  struct kymo_trace *trace = open_memory(lttng_schema(tag_bits, time_bits, extended), p, 1);
  const struct kymo_stream_plan *plan = &trace->parts[0]->plan->streams[0];
  assert_true(plan->has_fast_header);
  const struct kymo_event *event = next_event(trace);
  assert_int_equal(event->class_->id, 0);
  assert_int_equal(event->cycles, 5);
  assert_int_equal(get(trace, event, "v"), 1);
  event = next_event(trace);
  assert_int_equal(event->class_->id, 2000);
  assert_int_equal(event->cycles, 1000000000000);
  assert_int_equal(get(trace, event, "v"), 2);
  char text[100];
  snprintf(text, sizeof text, "id=%d v={ id=2000 timestamp=1000000000000 }", (int)extended);
  assert_string_equal(walk_text(event, KYMO_SCOPE_EVENT_HEADER), text);
  event = next_event(trace);
  uint64_t turn = UINT64_C(1) << time_bits;
  assert_int_equal(event->cycles, (1000000000000 / turn + (1000000000000 % turn > 7)) * turn + 7);
  assert_int_equal(get(trace, event, "v"), 3);
  assert_null(next_event(trace));
  kymo_trace_close(trace);
  free(p);
}

static void compact_headers_of_two_shapes_are_read_by_loads(void **state) {
  (void)state;
  check_lttng_header(5, 27, 31);
  check_lttng_header(16, 32, 65535);
}

/* ---- times ---- */

static void times_are_those_of_the_schema(void **state) {
  (void)state;
  static const uint64_t frequencies[] = {1,  3,          1000,        32768,       999999937,
                                         NS, 2400000001, 17999999999, 18000000001, UINT64_MAX};
  static const int64_t seconds[] = {0, -5, 1700000000, INT64_MAX / NS, INT64_MIN / NS};
  uint64_t seed = 88172645463325252;
  for (size_t f = 0; f < sizeof frequencies / sizeof *frequencies; f++)
    for (size_t s = 0; s < sizeof seconds / sizeof *seconds; s++) {
      struct kymo_clock clock = {
          .frequency = frequencies[f], .offset_seconds = seconds[s], .offset_cycles = f * 12345};
      struct kymo_ns ns;
      kymo_ns_begin(&ns, &clock, 0, false);
      uint64_t cycles = 0;
      for (int i = 0; i < 2000; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        cycles += i % 100 == 99 ? seed : seed >> (24 + i % 40);
        int64_t time_ns = kymo_clock_ns(&clock, cycles);
        assert_int_equal(kymo_ns_of(&ns, cycles), time_ns < INT64_MAX ? time_ns : INT64_MAX - 1);
      }
    }
}

/* The nanoseconds of babeltrace2, whose arithmetic is that of double. Where intermediate results have 64
 * bits, as on the x87, they are others. */
static void rounded_times_are_the_same_on_every_machine(void **state) {
  (void)state;
  static const struct {
    uint64_t cycles, frequency;
    int64_t ns;
  } cases[] = {
      {5873179969362473, 2596139807, 2262274147766062},
      {888286990923305851, 2596139807, 342156839369054016},
      {88872659943996749, 2500000001, 35549063963379072},
      {36960446202964751, 1199999990, 30800372092473728},
      {1123526293419774, 24000001, 46813593608590848},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct kymo_clock clock = {.frequency = cases[i].frequency};
    struct kymo_ns ns;
    kymo_ns_begin(&ns, &clock, 0, true);
    assert_int_equal(kymo_ns_of(&ns, cases[i].cycles), cases[i].ns);
  }
}

static void a_clock_offset_shifts_all_times(void **state) {
  (void)state;
  struct kymo_clock clock = {.frequency = 3};
  struct kymo_ns ns;
  kymo_ns_begin(&ns, &clock, -7, false);
  assert_int_equal(kymo_ns_of(&ns, 3), NS - 7);
  assert_int_equal(kymo_ns_of(&ns, 1), 333333333 - 7);
  kymo_ns_begin(&ns, &clock, INT64_MAX, false);
  assert_int_equal(kymo_ns_of(&ns, 30), INT64_MAX - 1);
}

/* ---- merging ---- */

static void streams_are_merged_by_time_and_then_by_rank(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(3);
  put_head(&p[0], (struct head){10, 0, HEAD_BYTES + 48, HEAD_BYTES + 48, 0, 0});
  put_event(&p[0], 0, 10, 1), put_event(&p[0], 0, 20, 2), put_event(&p[0], 0, 30, 3);
  put_head(&p[1], (struct head){5, 0, HEAD_BYTES + 64, HEAD_BYTES + 64, 0, 0});
  put_event(&p[1], 0, 5, 4), put_event(&p[1], 0, 6, 5), put_event(&p[1], 0, 20, 6),
      put_event(&p[1], 0, 20, 7);
  put_head(&p[2], (struct head){20, 0, HEAD_BYTES + 32, HEAD_BYTES + 32, 0, 0});
  put_event(&p[2], 0, 20, 8), put_event(&p[2], 0, 21, 9);
  struct kymo_trace *trace = open_memory(word_schema(), p, 3);
  assert_string_equal(times_and_values(trace), "5:4 6:5 10:1 20:2 20:6 20:7 20:8 21:9 30:3");
  kymo_trace_close(trace);
  free(p);
}

static void many_streams_are_merged_like_a_sort(void **state) {
  (void)state;
  enum { STREAMS = 37, EVENTS = 50 };
  struct packet_bytes *p = new_bytes(STREAMS);
  uint64_t seed = 12345;
  for (unsigned s = 0; s < STREAMS; s++) {
    uint64_t time = 0;
    put_head(&p[s], (struct head){0, 0, HEAD_BYTES + EVENTS * 16, HEAD_BYTES + EVENTS * 16, 0, 0});
    for (unsigned i = 0; i < EVENTS; i++) {
      seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
      time += s % 3 ? seed % 8 : (i % 10 ? 0 : 70); /* some streams come in bursts */
      put_event(&p[s], 0, time, s);
    }
  }
  struct kymo_trace *trace = open_memory(word_schema(), p, STREAMS);
  int64_t time_ns = 0;
  uint64_t stream = 0;
  unsigned count = 0;
  for (const struct kymo_event *event; (event = next_event(trace)); count++) {
    uint64_t now = get(trace, event, "v");
    assert_true(event->time_ns > time_ns || (event->time_ns == time_ns && now >= stream));
    time_ns = event->time_ns;
    stream = now;
  }
  assert_int_equal(count, STREAMS * EVENTS);
  kymo_trace_close(trace);
  free(p);
}

/* Keys of the merge have only a part of the time: centuries ahead and back again must be right
 * nevertheless. */
static void times_that_are_centuries_apart_are_merged(void **state) {
  (void)state;
  enum { STREAMS = 300, EVENTS = 6, YEAR = 31557600 };
  struct packet_bytes *p = new_bytes(STREAMS);
  struct words w = begin_words(1);
  add_event(&w, 0, make_struct(w.builder, "v", make_uint(w.builder, 64, 64), NULL));
  uint64_t seed = 99;
  for (unsigned s = 0; s < STREAMS; s++) {
    uint64_t time = UINT64_C(250) * YEAR * (s % 2);
    put_head(&p[s], (struct head){time, 0, HEAD_BYTES + EVENTS * 16, HEAD_BYTES + EVENTS * 16, 0, 0});
    for (unsigned i = 0; i < EVENTS; i++) {
      seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
      time += seed % 3 ? seed % YEAR : seed % 8 * YEAR;
      put_event(&p[s], 0, time, s);
    }
  }
  struct kymo_trace *trace = open_memory(finish(w.builder), p, STREAMS);
  int64_t time_ns = INT64_MIN;
  unsigned count = 0;
  for (const struct kymo_event *event; (event = next_event(trace)); count++) {
    assert_true(event->time_ns >= time_ns);
    time_ns = event->time_ns;
  }
  assert_int_equal(count, STREAMS * EVENTS);
  kymo_trace_close(trace);
  free(p);
}

/* A stream whose times jump back, even before all others, continues at once. */
static void times_that_jump_back_come_at_once(void **state) {
  (void)state;
  enum { YEAR = 31557600, STREAMS = 70 };
  struct packet_bytes *p = new_bytes(STREAMS);
  struct words w = begin_words(1);
  add_event(&w, 0, make_struct(w.builder, "v", make_uint(w.builder, 64, 64), NULL));
  put_packet(&p[0], (struct head){.begin = UINT64_C(200) * YEAR}, 1);
  put_packet(&p[0], (struct head){.begin = 5, .sequence = 1}, 2);
  put_packet(&p[0], (struct head){.begin = UINT64_C(250) * YEAR, .sequence = 2}, 1);
  for (unsigned s = 1; s < STREAMS; s++)
    put_packet(&p[s], (struct head){.begin = UINT64_C(201) * YEAR}, 2);
  struct kymo_trace *trace = open_memory(finish(w.builder), p, STREAMS);
  static const uint64_t first[] = {UINT64_C(200) * YEAR, 5, 6};
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(next_event(trace)->cycles, first[i]);
  for (unsigned i = 0; i < (STREAMS - 1) * 2; i++)
    assert_int_equal(next_event(trace)->cycles, UINT64_C(201) * YEAR + i / (STREAMS - 1));
  assert_int_equal(next_event(trace)->cycles, UINT64_C(250) * YEAR);
  assert_null(next_event(trace));
  kymo_trace_close(trace);
  free(p);
}

static void streams_without_clock_come_one_after_the_other(void **state) {
  (void)state;
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_stream_class stream = {.id = 0}, *made;
  assert_int_equal(kymo_builder_stream(b, &stream, &made, NULL), KYMO_OK);
  struct kymo_event_class class_ = {
      .name = "e", .group = "", .payload = make_struct(b, "v", make_uint(b, 8, 8), NULL)};
  assert_int_equal(kymo_builder_event(b, made, &class_, NULL, NULL), KYMO_OK);
  struct packet_bytes *p = new_bytes(2);
  for (unsigned i = 0; i < 6; i++)
    put_le(&p[i / 3], i, 8);
  struct kymo_trace *trace = open_memory(finish(b), p, 2);
  for (unsigned i = 0; i < 6; i++) {
    const struct kymo_event *event = next_event(trace);
    assert_non_null(event);
    assert_false(event->has_time);
    assert_int_equal(get(trace, event, "v"), i);
  }
  assert_null(next_event(trace));
  kymo_trace_close(trace);
  free(p);
}

/* ---- losses ---- */

static char loss_text[1024];

static void note_loss(void *user, const struct kymo_loss *loss) {
  (void)user;
  size_t at = strlen(loss_text);
  snprintf(loss_text + at, sizeof loss_text - at, "%s%s %lld [%lld, %lld]", at ? "; " : "",
           loss->is_packets ? "packets" : "events", loss->count_known ? (long long)loss->count : -1,
           loss->has_times ? (long long)loss->begin_ns : -1, loss->has_times ? (long long)loss->end_ns : -1);
}

static void losses_are_told_between_the_packets(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(1);
  put_packet(p, (struct head){.begin = 10, .end = 19, .sequence = 4, .discarded = 0}, 1);
  put_packet(p, (struct head){.begin = 20, .end = 29, .sequence = 5, .discarded = UINT32_MAX}, 1);
  put_packet(p, (struct head){.begin = 30, .end = 39, .sequence = 8, .discarded = 2}, 1);
  put_packet(p, (struct head){.begin = 40, .end = 49, .sequence = 9, .discarded = 2}, 1);
  struct kymo_trace *trace = open_memory(word_schema(), p, 1);
  kymo_trace_set_loss_handler(trace, note_loss, NULL);
  loss_text[0] = 0;
  assert_non_null(next_event(trace));
  assert_string_equal(loss_text, "");
  assert_non_null(next_event(trace));
  assert_string_equal(loss_text, "events 4294967295 [19, 29]");
  loss_text[0] = 0;
  assert_non_null(next_event(trace));
  assert_string_equal(loss_text, "events 3 [29, 39]; packets 2 [29, 30]");
  loss_text[0] = 0;
  assert_non_null(next_event(trace));
  assert_null(next_event(trace));
  assert_string_equal(loss_text, "");
  struct kymo_stream_info info;
  assert_int_equal(
      kymo_stream_describe(trace, kymo_part_stream(trace, kymo_trace_part(trace, 0), 0), &info, NULL), 0);
  assert_int_equal(info.discarded_events, UINT64_C(4294967298));
  assert_int_equal(info.lost_packets, 2);
  kymo_trace_close(trace);
  free(p);
}

static void losses_before_the_first_packet_have_no_number(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(1);
  put_packet(p, (struct head){.begin = 10, .end = 19, .sequence = 40, .discarded = 7}, 1);
  struct kymo_trace *trace = open_memory(word_schema(), p, 1);
  kymo_trace_set_loss_handler(trace, note_loss, NULL);
  loss_text[0] = 0;
  assert_non_null(next_event(trace));
  assert_string_equal(loss_text, "events -1 [10, 19]");
  kymo_trace_close(trace);
  free(p);
}

static void losses_come_in_their_place_among_other_streams(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(2);
  put_packet(&p[0], (struct head){.begin = 10, .end = 19, .discarded = 0}, 1);
  put_packet(&p[0], (struct head){.begin = 30, .end = 39, .discarded = 5, .sequence = 1}, 1);
  put_packet(&p[1], (struct head){.begin = 12, .end = 12}, 1);
  put_packet(&p[1], (struct head){.begin = 25, .end = 25, .sequence = 1}, 1);
  struct kymo_trace *trace = open_memory(word_schema(), p, 2);
  kymo_trace_set_loss_handler(trace, note_loss, NULL);
  loss_text[0] = 0;
  assert_int_equal(next_event(trace)->time_ns, 10);
  assert_int_equal(next_event(trace)->time_ns, 12);
  assert_string_equal(loss_text, "");
  assert_int_equal(next_event(trace)->time_ns, 25); /* the loss began at 19 */
  assert_string_equal(loss_text, "events 5 [19, 39]");
  assert_int_equal(next_event(trace)->time_ns, 30);
  assert_null(next_event(trace));
  kymo_trace_close(trace);
  free(p);
}

/* ---- boundaries ---- */

static char boundary_text[1024];

static void note_boundary(void *user, const struct kymo_boundary *boundary) {
  static const char *const kinds[] = {"stream", "packet", "end", "stream end"};
  (void)user;
  size_t at = strlen(boundary_text);
  snprintf(boundary_text + at, sizeof boundary_text - at, "%s%u:%s", at ? " " : "",
           (unsigned)boundary->stream->index, kinds[boundary->kind]);
  at = strlen(boundary_text);
  if (boundary->has_time)
    snprintf(boundary_text + at, sizeof boundary_text - at, "[%lld]", (long long)boundary->time_ns);
  bool is_packet = boundary->kind == KYMO_BOUNDARY_PACKET_BEGIN || boundary->kind == KYMO_BOUNDARY_PACKET_END;
  struct kymo_walk walk;
  assert_true(is_packet == (boundary->place != NULL));
  if (is_packet) {
    assert_ptr_equal(boundary->place->packet->stream, boundary->stream);
    assert_true(kymo_walk_begin(&walk, boundary->place, KYMO_SCOPE_PACKET_CONTEXT));
    assert_false(kymo_walk_begin(&walk, boundary->place, KYMO_SCOPE_EVENT_HEADER));
    assert_false(kymo_walk_begin(&walk, boundary->place, KYMO_SCOPE_PAYLOAD));
  }
}

static const char *boundaries_before(struct kymo_trace *trace, int64_t time_ns) {
  boundary_text[0] = 0;
  const struct kymo_event *event = next_event(trace);
  if (time_ns < 0)
    assert_null(event);
  else
    assert_int_equal(event->time_ns, time_ns);
  return boundary_text;
}

static void boundaries_come_in_their_place_among_events_and_losses(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(3);
  put_packet(&p[0], (struct head){.begin = 10, .end = 19}, 1);
  put_packet(&p[0], (struct head){.begin = 30, .end = 39, .sequence = 1}, 0);
  put_packet(&p[0], (struct head){.begin = 40, .end = 49, .discarded = 5, .sequence = 2}, 1);
  put_packet(&p[1], (struct head){.begin = 12, .end = 44}, 1);
  struct kymo_trace *trace = open_memory(word_schema(), p, 3);
  kymo_trace_set_boundary_handler(trace, note_boundary, NULL);
  kymo_trace_set_loss_handler(trace, note_loss, NULL);
  loss_text[0] = 0;
  assert_string_equal(boundaries_before(trace, 10), "0:stream 1:stream 0:packet[10]");
  assert_string_equal(boundaries_before(trace, 12), "1:packet[12]");
  assert_string_equal(loss_text, "");
  assert_string_equal(boundaries_before(trace, 40), "0:end[19] 0:packet[30] 0:end[39] 0:packet[40]");
  assert_string_equal(loss_text, "events 5 [39, 49]");
  assert_string_equal(boundaries_before(trace, -1), "1:end[44] 1:stream end 0:end[49] 0:stream end");
  kymo_trace_close(trace);
  free(p);
}

/* A schema whose packets have no times. */
static struct kymo_trace *open_untimed(struct packet_bytes *p) {
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_clock *clock = kymo_builder_clock(b, &(struct kymo_clock){.name = "c", .frequency = NS});
  struct kymo_type time = {.kind = KYMO_KIND_INTEGER,
                           .size_bits = 8,
                           .align_bits = 8,
                           .roles = KYMO_ROLE_TIMESTAMP,
                           .clock = clock};
  struct kymo_type length = {
      .kind = KYMO_KIND_INTEGER, .size_bits = 8, .align_bits = 8, .roles = KYMO_ROLE_PACKET_SIZE};
  struct kymo_stream_class stream = {.id = 0, .clock = clock}, *made;
  stream.packet_context = make_struct(b, "size", kymo_builder_type(b, &length), NULL);
  stream.event_header = make_struct(b, "time", kymo_builder_type(b, &time), NULL);
  assert_int_equal(kymo_builder_stream(b, &stream, &made, NULL), KYMO_OK);
  assert_int_equal(
      kymo_builder_event(b, made, &(struct kymo_event_class){.name = "e", .group = ""}, NULL, NULL), KYMO_OK);
  for (unsigned stream_index = 0; stream_index < 2; stream_index++)
    for (unsigned packet = 0; packet < 2; packet++)
      put_le(&p[stream_index], 16, 8), put_le(&p[stream_index], 7, 8);
  struct kymo_trace *trace = open_memory(finish(b), p, 2);
  kymo_trace_set_boundary_handler(trace, note_boundary, NULL);
  return trace;
}

static void boundaries_without_a_time_come_at_once(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(2);
  struct kymo_trace *trace = open_untimed(p);
  assert_string_equal(boundaries_before(trace, 7), "0:stream 0:packet 1:stream 1:packet");
  assert_string_equal(boundaries_before(trace, 7), "0:end 0:packet");
  assert_string_equal(boundaries_before(trace, 7), "0:end 0:stream end");
  assert_string_equal(boundaries_before(trace, 7), "1:end 1:packet");
  assert_string_equal(boundaries_before(trace, -1), "1:end 1:stream end");
  kymo_trace_close(trace);
  free(p);
}

/* ---- damage ---- */

static void an_unknown_event_ends_its_packet_only(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(1);
  put_head(p, (struct head){10, 12, HEAD_BYTES + 48, HEAD_BYTES + 48, 0, 0});
  put_event(p, 0, 10, 1), put_event(p, 77, 11, 2), put_event(p, 0, 12, 3);
  put_packet(p, (struct head){.begin = 20, .sequence = 1}, 1);
  struct kymo_trace *trace = open_memory(word_schema(), p, 1);
  assert_string_equal(times_and_values(trace), "10:1 20:1");
  assert_int_equal(kymo_trace_damage_count(trace), 1);
  assert_damage(trace, 0, HEAD_BYTES + 24, 32, "no event class has the id 77");
  kymo_trace_close(trace);
  free(p);
}

static void an_event_beyond_the_content_is_damage(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(1);
  put_head(p, (struct head){10, 12, HEAD_BYTES + 16 + 12, HEAD_BYTES + 32, 0, 0});
  put_event(p, 0, 10, 1), put_event(p, 0, 11, 2);
  struct kymo_trace *trace = open_memory(word_schema(), p, 1);
  assert_string_equal(times_and_values(trace), "10:1");
  assert_int_equal(kymo_trace_damage_count(trace), 1);
  assert_damage(trace, 0, HEAD_BYTES + 28, 12, "beyond the end of the packet's content");
  kymo_trace_close(trace);
  free(p);
}

static void a_cut_last_packet_gives_its_whole_events(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(1);
  put_packet(p, (struct head){.begin = 10}, 3);
  p->bits -= 20 * 8;
  struct kymo_trace *trace = open_memory(word_schema(), p, 1);
  assert_string_equal(times_and_values(trace), "10:1");
  assert_int_equal(kymo_trace_damage_count(trace), 1);
  assert_damage(trace, 0, HEAD_BYTES + 28, 12, "has 88 bytes, the file ends after 68");
  kymo_trace_close(trace);
  free(p);
}

static void a_cut_packet_head_is_damage(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(1);
  put_packet(p, (struct head){.begin = 10}, 1);
  put_head(p, (struct head){20, 0, HEAD_BYTES, HEAD_BYTES, 1, 0});
  p->bits -= 64;
  struct kymo_trace *trace = open_memory(word_schema(), p, 1);
  assert_string_equal(times_and_values(trace), "10:1");
  assert_int_equal(kymo_trace_damage_count(trace), 1);
  assert_damage(trace, 0, HEAD_BYTES + 16 + 32, HEAD_BYTES - 8, "packet context");
  kymo_trace_close(trace);
  free(p);
}

static void reading_goes_on_at_the_next_magic_number(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(1);
  put_packet(p, (struct head){.begin = 10}, 1);
  put_packet(p, (struct head){.begin = 20, .sequence = 1}, 2);
  put_packet(p, (struct head){.begin = 30, .sequence = 2}, 1);
  p->bytes[HEAD_BYTES + 16] ^= 0xff; /* the second packet's magic number */
  struct kymo_trace *trace = open_memory(word_schema(), p, 1);
  assert_string_equal(times_and_values(trace), "10:1 30:1");
  assert_int_equal(kymo_trace_damage_count(trace), 1);
  assert_damage(trace, 0, HEAD_BYTES + 16, HEAD_BYTES + 32,
                "packet magic number: expected 0xc1fc1fc1, found 0xc1fc1f3e");
  kymo_trace_close(trace);
  free(p);
}

static void a_packet_of_another_class_is_passed_by_its_size(void **state) {
  (void)state;
  struct words w = begin_words(NS);
  struct kymo_stream_class other = *w.stream, *added;
  other.id = 1;
  add_event(&w, 0, make_struct(w.builder, "v", make_uint(w.builder, 64, 64), NULL));
  assert_int_equal(kymo_builder_stream(w.builder, &other, &added, NULL), KYMO_OK);
  struct packet_bytes *p = new_bytes(1);
  put_packet(p, (struct head){.begin = 10}, 1);
  put_packet(p, (struct head){.begin = 20}, 1);
  put_packet(p, (struct head){.begin = 30, .sequence = 1}, 1);
  p->bytes[HEAD_BYTES + 16 + 4] = 1;                       /* the second packet's class */
  memcpy(p->bytes + 2 * HEAD_BYTES + 16 + 8, p->bytes, 4); /* a magic number in its event */
  struct kymo_trace *trace = open_memory(finish(w.builder), p, 1);
  assert_string_equal(times_and_values(trace), "10:1 30:1");
  assert_int_equal(kymo_trace_damage_count(trace), 1);
  assert_damage(trace, 0, HEAD_BYTES + 16, HEAD_BYTES + 16,
                "the packet is of stream class 1, the ones before it of 0");
  kymo_trace_close(trace);
  free(p);
}

static void bad_sizes_are_damage(void **state) {
  (void)state;
  struct {
    uint32_t content_bits, size_bits;
    const char *words;
  } cases[] = {
      {0, 0, "packet size is 0"},
      {320, 321, "not a whole number of bytes"},
      {400, 320, "is more than its size"},
      {64, 320, "is less than its header's"},
      {64, 64, "is less than its header's"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct packet_bytes *p = new_bytes(1);
    put_packet(p, (struct head){.begin = 10}, 1);
    struct packet_bytes sizes = {.bits = 0};
    put_le(&sizes, cases[i].content_bits, 32);
    put_le(&sizes, cases[i].size_bits, 32);
    memcpy(p->bytes + 24, sizes.bytes, 8);
    put_packet(p, (struct head){.begin = 20}, 1);
    struct kymo_trace *trace = open_memory(word_schema(), p, 1);
    const char *text = times_and_values(trace);
    assert_true(strcmp(text, "20:1") == 0 || strcmp(text, "") == 0);
    assert_true(kymo_trace_damage_count(trace) >= 1);
    assert_damage(trace, 0, 0, kymo_trace_damage(trace, 0)->bytes_lost, cases[i].words);
    kymo_trace_close(trace);
    free(p);
  }
}

static void other_streams_go_on_behind_damage(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(2);
  put_packet(&p[0], (struct head){.begin = 10}, 2);
  p[0].bytes[0] = 0;
  put_packet(&p[1], (struct head){.begin = 5}, 2);
  struct kymo_trace *trace = open_memory(word_schema(), p, 2);
  assert_string_equal(times_and_values(trace), "5:1 6:2");
  assert_int_equal(kymo_trace_damage_count(trace), 1);
  kymo_trace_close(trace);
  free(p);
}

static void damage_is_bounded(void **state) {
  (void)state;
  struct packet_bytes *p = new_bytes(1);
  struct kymo_trace *trace = open_memory(word_schema(), p, 1);
  for (int i = 0; i < 10000; i++)
    kymo_trace_add_damage(trace, &(struct kymo_damage){.path = "p", .message = "m", .bytes_lost = 1});
  size_t count = kymo_trace_damage_count(trace);
  assert_true(count < 10000);
  assert_int_equal(kymo_trace_damage(trace, count - 1)->bytes_lost, 10000 - count + 1);
  assert_null(kymo_trace_damage(trace, count));
  kymo_trace_close(trace);
  free(p);
}

static void events_without_bits_do_not_hang(void **state) {
  (void)state;
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_stream_class stream = {.id = 0}, *made;
  assert_int_equal(kymo_builder_stream(b, &stream, &made, NULL), KYMO_OK);
  struct kymo_event_class class_ = {.name = "e", .group = ""};
  assert_int_equal(kymo_builder_event(b, made, &class_, NULL, NULL), KYMO_OK);
  struct packet_bytes *p = new_bytes(1);
  put_le(p, 1, 8);
  struct kymo_trace *trace = open_memory(finish(b), p, 1);
  assert_null(next_event(trace));
  assert_int_equal(kymo_trace_damage_count(trace), 1);
  assert_damage(trace, 0, 0, 1, "an event without any bits");
  kymo_trace_close(trace);
  free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(events_of_constant_size_are_delivered),
      cmocka_unit_test(streams_without_event_classes_have_room_for_their_headers),
      cmocka_unit_test(short_time_stamps_wrap_around),
      cmocka_unit_test(packets_follow_one_another_with_padding),
      cmocka_unit_test(compact_headers_of_two_shapes_are_read_by_loads),
      cmocka_unit_test(times_are_those_of_the_schema),
      cmocka_unit_test(rounded_times_are_the_same_on_every_machine),
      cmocka_unit_test(a_clock_offset_shifts_all_times),
      cmocka_unit_test(streams_are_merged_by_time_and_then_by_rank),
      cmocka_unit_test(many_streams_are_merged_like_a_sort),
      cmocka_unit_test(times_that_are_centuries_apart_are_merged),
      cmocka_unit_test(times_that_jump_back_come_at_once),
      cmocka_unit_test(streams_without_clock_come_one_after_the_other),
      cmocka_unit_test(losses_are_told_between_the_packets),
      cmocka_unit_test(losses_before_the_first_packet_have_no_number),
      cmocka_unit_test(losses_come_in_their_place_among_other_streams),
      cmocka_unit_test(boundaries_come_in_their_place_among_events_and_losses),
      cmocka_unit_test(boundaries_without_a_time_come_at_once),
      cmocka_unit_test(an_unknown_event_ends_its_packet_only),
      cmocka_unit_test(an_event_beyond_the_content_is_damage),
      cmocka_unit_test(a_cut_last_packet_gives_its_whole_events),
      cmocka_unit_test(a_cut_packet_head_is_damage),
      cmocka_unit_test(reading_goes_on_at_the_next_magic_number),
      cmocka_unit_test(a_packet_of_another_class_is_passed_by_its_size),
      cmocka_unit_test(bad_sizes_are_damage),
      cmocka_unit_test(other_streams_go_on_behind_damage),
      cmocka_unit_test(damage_is_bounded),
      cmocka_unit_test(events_without_bits_do_not_hang),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
