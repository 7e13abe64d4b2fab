/* SPDX-License-Identifier: MIT */
/* Packets in memory as kymo records them, for tests of the reader: 16 bits id, 48 bits clock, packed. */
#ifndef READ_PACKETS_H
#define READ_PACKETS_H

#include "read_memory.h"

#define MAGIC 0xc1fc1fc1
#define NS 1000000000

struct words {
  struct kymo_builder *builder;
  struct kymo_clock *clock;
  struct kymo_stream_class *stream;
};

/* The contents of a packet's header. */
struct head {
  uint64_t begin, end;
  uint32_t content_bytes, size_bytes, sequence, discarded;
};
#define HEAD_BYTES 40

static inline struct words begin_words(uint64_t frequency) {
  struct words w = {.builder = kymo_builder_new()};
  struct kymo_builder *b = w.builder;
  w.clock = kymo_builder_clock(
      b, &(struct kymo_clock){.name = "c", .frequency = frequency, .origin_is_epoch = true});
  kymo_builder_schema(b)->packet_header =
      make_struct(b, "magic", make_role(b, 32, 32, KYMO_ROLE_MAGIC, NULL), "stream_id",
                  make_role(b, 32, 32, KYMO_ROLE_STREAM_CLASS_ID, NULL), NULL);
  struct kymo_stream_class stream = {
      .clock = w.clock,
      .packet_context = make_struct(b, "begin", make_role(b, 64, 64, KYMO_ROLE_TIMESTAMP, w.clock), "end",
                                    make_role(b, 64, 64, KYMO_ROLE_TIMESTAMP_END, w.clock), "content",
                                    make_role(b, 32, 32, KYMO_ROLE_CONTENT_SIZE, NULL), "size",
                                    make_role(b, 32, 32, KYMO_ROLE_PACKET_SIZE, NULL), "seq",
                                    make_role(b, 32, 32, KYMO_ROLE_SEQUENCE_NUMBER, NULL), "discarded",
                                    make_role(b, 32, 32, KYMO_ROLE_DISCARDED, NULL), NULL),
      .event_header = make_struct(b, "id", make_role(b, 16, 64, KYMO_ROLE_EVENT_CLASS_ID, NULL), "t",
                                  make_role(b, 48, 1, KYMO_ROLE_TIMESTAMP, w.clock), NULL)};
  assert_int_equal(kymo_builder_stream(b, &stream, &w.stream, NULL), KYMO_OK);
  return w;
}

static inline void add_event(struct words *w, uint64_t id, const struct kymo_type *payload) {
  struct kymo_event_class class_ = {.id = id, .name = "e", .group = "", .level = -1, .payload = payload};
  assert_int_equal(kymo_builder_event(w->builder, w->stream, &class_, NULL, NULL), KYMO_OK);
}

static inline struct kymo_schema *word_schema(void) {
  struct words w = begin_words(NS);
  add_event(&w, 0, make_struct(w.builder, "v", make_uint(w.builder, 64, 64), NULL));
  return finish(w.builder);
}

static inline void put_head(struct packet_bytes *out, struct head head) {
  put_le(out, MAGIC, 32);
  put_le(out, 0, 32);
  put_le(out, head.begin, 64);
  put_le(out, head.end, 64);
  put_le(out, head.content_bytes * 8, 32);
  put_le(out, head.size_bytes * 8, 32);
  put_le(out, head.sequence, 32);
  put_le(out, head.discarded, 32);
}

static inline void put_event(struct packet_bytes *out, uint64_t id, uint64_t time, uint64_t value) {
  pad_to(out, 64);
  put_le(out, id, 16);
  put_le(out, time, 48);
  put_le(out, value, 64);
}

/* A packet of `count` events of 16 bytes, one tick apart, values counting from 1. */
static inline void put_packet(struct packet_bytes *out, struct head head, unsigned count) {
  head.content_bytes = head.size_bytes = HEAD_BYTES + count * 16;
  put_head(out, head);
  for (unsigned i = 0; i < count; i++)
    put_event(out, 0, head.begin + i, i + 1);
}

static inline struct packet_bytes *new_bytes(size_t count) {
  struct packet_bytes *bytes = calloc(count, sizeof *bytes);
  assert_non_null(bytes);
  return bytes;
}

static inline uint64_t get(struct kymo_trace *trace, const struct kymo_event *event, const char *path) {
  uint64_t value = UINT64_MAX;
  uint32_t field = kymo_field_id(trace, event->class_, path);
  assert_int_not_equal(field, KYMO_FIELD_NONE);
  assert_int_equal(kymo_event_get_uint(event, field, &value), KYMO_OK);
  return value;
}

static inline void assert_damage(struct kymo_trace *trace, size_t index, uint64_t offset, uint64_t lost,
                                 const char *words) {
  const struct kymo_damage *damage = kymo_trace_damage(trace, index);
  assert_non_null(damage);
  if (!strstr(damage->message, words))
    fail_msg("expected \"%s\" in \"%s\"", words, damage->message);
  assert_int_equal(damage->offset, offset);
  assert_int_equal(damage->bytes_lost, lost);
  assert_int_equal(damage->code, KYMO_E_FORMAT);
  assert_string_equal(damage->path, "memory");
}

#endif
