/* SPDX-License-Identifier: MIT */
/* Reading packet headers: from bytes and a schema plan to sizes, times, ids and counters. */
#ifndef KYMO_DECODE_PACKET_H
#define KYMO_DECODE_PACKET_H

#include "decode/plan.h"
#include "source/format.h"

/* The contents of a packet's header and context. */
struct kymo_packet_head {
  const struct kymo_stream_plan *plan;
  struct kymo_packet packet; /* all but `stream` */
  bool has_instance;
  uint64_t instance;
  bool is_end_zero;      /* the end time's field is 0 */
  bool has_end_time;     /* it has such a field, even if its value is unknown */
  bool is_cut;           /* the packet is longer than the file */
  uint64_t bytes;        /* of the packet, in the file */
  uint64_t unseen_bytes; /* size of the chunk that would show all content; 0 if the chunk shows it */
  bool follows_loss;     /* events before it were lost … */
  uint64_t lost_events;  /* … as in its chunk */
  bool is_short;         /* the head may be valid, but the chunk has too few bytes */
  bool has_size;         /* else it extends to the end of the bytes */
  unsigned discarded_bits, sequence_bits; /* widths of the counters */
  unsigned begin_bits;  /* width of the begin time; with 64 bits it sets the clock by itself */
  uint64_t events_bits; /* where the first event header may begin */
  uint64_t clock;       /* the stream's clock at the first event */
};

/* Where the fields of packet header and context are stored (see struct kymo_run). */
struct kymo_notes {
  uint64_t *segments, *slots;
};

/*
 * Reads the head of the packet that `chunk` begins with. `class_` is the stream's class if the packets do not
 * say (may be NULL); `clock` is the stream's clock so far. KYMO_OK, or KYMO_E_FORMAT with file, offset,
 * message in `error`; then head->packet.size_bits is the packet's size if it is known, else 0.
 */
int kymo_packet_read(const struct kymo_schema_plan *plan, const struct kymo_chunk *chunk,
                     const struct kymo_stream_class *class_, uint64_t clock, const struct kymo_notes *notes,
                     struct kymo_packet_head *head, struct kymo_error *error);

/* Bytes to skip of a chunk whose packet's head is invalid: the packet if its size is known, else up to the
 * next possible packet. */
uint64_t kymo_packet_bad_bytes(const struct kymo_schema_plan *plan, const struct kymo_chunk *chunk,
                               const struct kymo_packet_head *head);

/* The losses between two packets of a stream, at most two; returns how many. `previous` is NULL before the
 * first packet. The caller sets the times. */
unsigned kymo_packet_losses(const struct kymo_packet *previous, const struct kymo_packet_head *head,
                            struct kymo_loss losses[2]);

#endif
