/* SPDX-License-Identifier: MIT */
/* Reading packet headers: from bytes and a schema plan to sizes, times, ids and counters. */
#ifndef KYMO_DECODE_PACKET_H
#define KYMO_DECODE_PACKET_H

#include "decode/plan.h"
#include "source/format.h"

/* What a packet's header and context say. */
struct kymo_packet_head {
  const struct kymo_stream_plan *plan;
  struct kymo_packet packet; /* all but `stream` */
  bool has_instance;
  uint64_t instance;
  bool is_end_zero;      /* the end time's field is 0 */
  bool has_end_time;     /* it has such a field, even if it says nothing */
  bool is_cut;           /* the packet is longer than the file */
  uint64_t bytes;        /* of the packet, in the file */
  uint64_t unseen_bytes; /* the chunk should have so many to show all content; 0 if it does */
  bool is_short;         /* it may be that only bytes are missing for the head to be good */
  bool has_size;         /* else it goes to the end of the bytes */
  unsigned discarded_bits, sequence_bits; /* widths of the counters */
  unsigned begin_bits;  /* width of the begin time; from 64 on, it tells the clock by itself */
  uint64_t events_bits; /* where the first event header may begin */
  uint64_t clock;       /* the stream's clock at the first event */
};

/* Where the fields of packet header and context are noted (see struct kymo_run). */
struct kymo_notes {
  uint64_t *segments, *slots;
};

/*
 * Reads the head of the packet that `chunk` begins with. `class_` is the stream's class if the
 * packets do not say (may be NULL); `clock` is the stream's clock so far. KYMO_OK, or
 * KYMO_E_FORMAT with file, offset, message in `error`; then head->packet.size_bits is the packet's
 * size if it is known all the same, else 0.
 */
int kymo_packet_read(const struct kymo_schema_plan *plan, const struct kymo_chunk *chunk,
                     const struct kymo_stream_class *class_, uint64_t clock, const struct kymo_notes *notes,
                     struct kymo_packet_head *head, struct kymo_error *error);

/* Bytes to skip of a chunk whose packet's head is no good: the packet if its size is known, else up to what
 * looks like the next one. */
uint64_t kymo_packet_bad_bytes(const struct kymo_schema_plan *plan, const struct kymo_chunk *chunk,
                               const struct kymo_packet_head *head);

#endif
