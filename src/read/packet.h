/* SPDX-License-Identifier: MIT */
/* Reading packet headers: from bytes and a schema plan to sizes, times, ids and counters. */
#ifndef KYMO_READ_PACKET_H
#define KYMO_READ_PACKET_H

#include "read/format.h"
#include "read/plan.h"

/* What a packet's header and context say. */
struct kymo_packet_head {
  const struct kymo_stream_plan *plan;
  struct kymo_packet packet;      /* all but `stream` */
  bool has_instance;
  uint64_t instance;
  bool is_end_zero;               /* the end time's field is 0 */
  bool is_cut;                    /* the packet is longer than the bytes there are */
  unsigned discarded_bits, sequence_bits; /* widths of the counters */
  uint64_t events_bits;           /* where the first event header may begin */
  uint64_t clock;                 /* the stream's clock at the first event */
};

/* Where the fields of packet header and context are noted (see struct kymo_run). */
struct kymo_notes { uint64_t *segments, *slots; };

/*
 * Reads the head of the packet that `chunk` begins with. `class_` is the stream's class if the
 * packets do not say (may be NULL); `clock` is the stream's clock so far. KYMO_OK, or
 * KYMO_E_FORMAT with file, offset, message in `error`; then head->packet.size_bits is the packet's
 * size if it is known all the same, else 0.
 */
int kymo_packet_read(const struct kymo_schema_plan *plan, const struct kymo_chunk *chunk,
                     const struct kymo_stream_class *class_, uint64_t clock, const struct kymo_notes *notes,
                     struct kymo_packet_head *head, struct kymo_error *error);

/* Bytes from the start of `chunk` to the next place that looks like a packet (same magic number and
 * uuid), at least `from`; or the chunk's size if there is none. */
uint64_t kymo_packet_search(const struct kymo_schema_plan *plan, const struct kymo_chunk *chunk, uint64_t from);

#endif
