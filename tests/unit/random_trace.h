/* SPDX-License-Identifier: MIT */
/* Random traces of several streams, for tests of moving in them: packets with much or little information
 * about times, with losses and damage. */
#ifndef TEST_RANDOM_TRACE_H
#define TEST_RANDOM_TRACE_H

#include "random_schema.h"
#include "read_memory.h"

#define MAGIC 0xc1fc1fc1
#define STREAMS_MAX 4

/* ---- random traces ---- */

/* The information about times in the packets of a trace. */
struct shape {
  unsigned begin_bits, end_bits; /* 0: no such field */
  unsigned time_bits;            /* of event headers; 0: no times at all */
  unsigned counters;             /* sequence number and discarded events are there */
};

static const struct shape shapes[] = {
    {64, 64, 48, 1}, {64, 64, 27, 1}, {64, 0, 32, 1}, {32, 32, 32, 1}, {32, 0, 16, 0},
    {0, 0, 64, 0},   {0, 64, 64, 1},  {0, 0, 32, 0},  {0, 0, 0, 0},    {64, 64, 64, 0},
};

static inline const struct kymo_type *time_type(struct kymo_builder *b, unsigned bits, uint32_t role,
                                                struct kymo_clock *clock) {
  return bits ? make_role(b, bits, 8, role, clock) : make_struct(b, NULL);
}

static inline struct kymo_schema *make_schema(struct shape shape, uint64_t frequency) {
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_stream_class *stream;
  struct kymo_clock *clock = kymo_builder_clock(
      b, &(struct kymo_clock){
             .name = "c", .frequency = frequency, .origin_is_epoch = true, .offset_seconds = 5});
  const struct kymo_type *counter = make_role(b, 32, 8, KYMO_ROLE_SEQUENCE_NUMBER, NULL);
  const struct kymo_type *discarded = make_role(b, 32, 8, KYMO_ROLE_DISCARDED, NULL),
                         *none = make_struct(b, NULL);
  kymo_builder_schema(b)->packet_header =
      make_struct(b, "magic", make_role(b, 32, 8, KYMO_ROLE_MAGIC, NULL), NULL);
  struct kymo_stream_class class_ = {
      .clock = shape.time_bits ? clock : NULL,
      .packet_context =
          make_struct(b, "size", make_role(b, 32, 8, KYMO_ROLE_PACKET_SIZE, NULL), "begin",
                      time_type(b, shape.begin_bits, KYMO_ROLE_TIMESTAMP, clock), "end",
                      time_type(b, shape.end_bits, KYMO_ROLE_TIMESTAMP_END, clock), "sequence",
                      shape.counters ? counter : none, "discarded", shape.counters ? discarded : none, NULL),
      .event_header = make_struct(b, "id", make_role(b, 8, 8, KYMO_ROLE_EVENT_CLASS_ID, NULL), "t",
                                  time_type(b, shape.time_bits, KYMO_ROLE_TIMESTAMP, clock), NULL)};
  assert_int_equal(kymo_builder_stream(b, &class_, &stream, NULL), KYMO_OK);
  struct kymo_event_class event = {.id = 0,
                                   .name = "e",
                                   .group = "",
                                   .level = -1,
                                   .payload = make_struct(b, "v", make_uint(b, 32, 8), NULL)};
  assert_int_equal(kymo_builder_event(b, stream, &event, NULL, NULL), KYMO_OK);
  return finish(b);
}

struct making_stream {
  struct packet_bytes *out;
  struct shape shape;
  uint64_t clock, sequence, discarded;
  uint32_t value;
};

static inline void set_le32(uint8_t *at, uint32_t value) {
  for (unsigned i = 0; i < 4; i++)
    at[i] = (uint8_t)(value >> 8 * i);
}

/* No step is longer than the narrowest clock can represent. */
static inline void pass_time(struct making_stream *m) {
  static const uint64_t steps[] = {1, 1, 2, 100, 20000};
  m->clock += random_below(steps[random_below(5)]);
}

static inline void put_time(struct making_stream *m, uint64_t time, unsigned bits) {
  if (bits)
    put_le(m->out, bits == 64 ? time : time & ((UINT64_C(1) << bits) - 1), bits);
}

/* One packet, at times with a damaged head, event or end, or with losses before it. */
static inline void add_packet(struct making_stream *m, bool may_be_damaged, bool is_last) {
  uint64_t begin = m->out->bits / 8, events = random_below(4) ? random_below(20) : 0, last = 0, end_at;
  unsigned damage = may_be_damaged ? (unsigned)random_below(12) : UINT32_MAX;
  m->sequence += random_below(8) == 0 ? 2 : 1;
  m->discarded += random_below(6) == 0 ? random_below(3) + 1 : 0;
  pass_time(m);
  put_le(m->out, damage == 0 ? 0 : MAGIC, 32);
  put_le(m->out, 0, 32);
  put_time(m, m->clock, m->shape.begin_bits);
  end_at = m->out->bits;
  put_time(m, 0, m->shape.end_bits);
  if (m->shape.counters) {
    put_le(m->out, m->sequence, 32);
    put_le(m->out, m->discarded, 32);
  }
  for (uint64_t i = 0; i < events; i++) {
    pass_time(m);
    last = m->out->bits;
    put_le(m->out, damage == 1 && i == events / 2 ? 7 : 0, 8);
    put_time(m, m->clock, m->shape.time_bits);
    put_le(m->out, m->value++, 32);
  }
  pass_time(m);
  uint64_t end = m->out->bits;
  m->out->bits = end_at;
  put_time(m, m->clock, m->shape.end_bits);
  m->out->bits = end;
  set_le32(m->out->bytes + begin + 4, (uint32_t)(end - begin * 8));
  if (damage == 2 && is_last && last > 0) /* the end of the file */
    m->out->bits = last + 16;
}

static inline void make_stream(struct packet_bytes *out, struct shape shape, bool may_be_damaged) {
  struct making_stream m = {.out = out, .shape = shape, .clock = random_below(5000)};
  if (shape.begin_bits == 64 && random_below(2))
    m.clock += UINT64_C(1) << 40;
  for (uint64_t packets = random_below(12); packets > 0 && out->bits / 8 < 3200; packets--)
    add_packet(&m, may_be_damaged, packets == 1);
}

/* Packets that are at no place: only the way from the start leads anywhere. */
static inline void forbid_seeking(struct kymo_trace *trace) {
  static struct kymo_source_operations without_seek;
  without_seek = memory_operations;
  without_seek.seek = NULL;
  for (size_t i = 0; i < trace->stream_count; i++)
    trace->streams[i]->operations = &without_seek;
}

#endif
