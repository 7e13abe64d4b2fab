/* SPDX-License-Identifier: MIT */
/*
 * Consecutive numbers for the event classes of all parts of a trace, so that data per class (prepared texts,
 * counts) can be kept in one flat array; and the identity of packets, for data per packet. Streams have a
 * number themselves (kymo_stream.number).
 */
#ifndef KYMO_PRINT_NUMBER_H
#define KYMO_PRINT_NUMBER_H

#include "base/arena.h"
#include <kymo/read.h>

struct kymo_numbers_part {
  uint32_t *first_class; /* by stream class index */
};

struct kymo_numbers {
  struct kymo_arena arena;
  uint32_t class_count, stream_count;
  struct kymo_numbers_part *parts; /* by part index */
};

/* kymo_numbers_end ends it also after a failure. */
int kymo_numbers_begin(struct kymo_numbers *numbers, const struct kymo_trace *trace,
                       struct kymo_error *error);
void kymo_numbers_end(struct kymo_numbers *numbers);

static inline uint32_t kymo_class_number(const struct kymo_numbers *numbers, uint32_t part,
                                         const struct kymo_event_class *class_) {
  return numbers->parts[part].first_class[class_->stream->index] + class_->index;
}

/* Distinguishes packets of one stream, also if the stream has several files or wraps around. */
struct kymo_packet_key {
  uint64_t offset, sequence, begin_cycles;
  const uint8_t *data;
};

static inline bool kymo_packet_key_is(const struct kymo_packet_key *key, const struct kymo_packet *packet) {
  uint64_t differs = (key->offset ^ packet->offset) | (key->sequence ^ packet->sequence) |
                     (key->begin_cycles ^ packet->begin_cycles);
  return key->data == packet->data && differs == 0;
}

static inline struct kymo_packet_key kymo_packet_key_of(const struct kymo_packet *packet) {
  return (struct kymo_packet_key){packet->offset, packet->sequence, packet->begin_cycles, packet->data};
}

#endif
