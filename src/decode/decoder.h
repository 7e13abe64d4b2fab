/* SPDX-License-Identifier: MIT */
/*
 * The decoder of a stream: the current packet, and the events that were found ahead in it. It knows bytes and
 * plans, and neither files nor other streams: its owner moves it from packet to packet.
 *
 *   packet head ──► kymo_decoder_enter ──► kymo_look_ahead ──► found[] ──► event ──► walk, get, format
 *
 * An event that was found ahead takes half a cache line: much is found, and waits until other streams have
 * delivered theirs. It becomes a struct kymo_event when it is merged. That leads to its decoder through its
 * packet, so fields are read without the trace.
 */
#ifndef KYMO_DECODE_DECODER_H
#define KYMO_DECODE_DECODER_H

#include "decode/clock.h"
#include "decode/packet.h"

#define KYMO_CACHE_LINE 64
_Static_assert(sizeof(struct kymo_event) <= KYMO_CACHE_LINE, "lookup and merge are planned per cache line");

/* No stream class has as many event classes: their plans alone would take 100 GB. */
#define KYMO_FOUND_INDEX ((UINT32_C(1) << 30) - 1)

/* An event that was found ahead: all that its packet does not say. */
struct kymo_found {
  int64_t time_ns;       /* its place in the order of times, also if it has none; INT64_MIN without a clock */
  uint64_t cycles;       /* as in struct kymo_event */
  uint64_t offset_bits;  /* as there */
  uint32_t header_bits;  /* as there */
  uint32_t index : 30;   /* of its plan, among those of the stream class */
  uint32_t has_time : 1; /* as there */
  uint32_t is_damaged : 1;
};
_Static_assert(sizeof(struct kymo_found) <= KYMO_CACHE_LINE / 2, "many streams wait with some events each");

struct kymo_decoder {
  struct kymo_stream stream;                  /* first: a kymo_stream is its decoder */
  uint32_t first_kind;                        /* number of event classes in earlier parts */
  const struct kymo_schema_plan *schema_plan; /* of the part */
  const struct kymo_kernel *kernel;           /* what addresses mean, or NULL */
  int64_t clock_offset_ns;                    /* added to all times */
  const char *path;                           /* of the file that the packet is in */
  bool is_rounded;                            /* times are those of readers of CTF (KYMO_QUIRK_ROUNDED) */
  bool is_raw;                                /* a packet is one event, which the format has found */
  bool has_damage;                            /* since the last event */
  bool marks_segments, begins_segment;        /* as in the packet's chunk */
  struct kymo_run run;                        /* the last slow step; the decode error of an event */
  uint64_t budget;                            /* see KYMO_SPEND_LIMIT */
  uint64_t packet_count;                      /* entered so far, including the current one */
  /* the begin of the last lookahead */
  struct kymo_ahead {
    uint64_t next_bits, clock, budget;
    uint32_t dropped; /* of the events that it found, those before the first one in the buffer */
    bool is_damaged;  /* the first of them is marked as damaged */
  } ahead;
  uint64_t located; /* number of the event that segments and slots belong to; 0: none */
  uint64_t *segments;
  uint64_t context_bits; /* where the packet's context begins */

  /* Data of lookahead, in two cache lines: its end begins the first. */
  struct kymo_packet packet; /* as far as lookahead decoding goes */
  uint64_t next_bits;        /* where the next event header to be decoded may begin */
  uint64_t clock;            /* there; full value */
  const struct kymo_event_offset
      *event_offsets;                  /* of the packet's events; NULL: they are found by decoding */
  uint32_t offset_count, offset_next;  /* offset_next: of the event at next_bits */
  const struct kymo_stream_plan *plan; /* NULL before the first packet */
  struct kymo_found *found;            /* has space for one more than the capacity */
  uint64_t *slots;
  uint32_t event_count, event_capacity; /* of `found` */
  struct kymo_ns ns;
};

/* ---- from packet to packet (decoder.c) ---- */

/* Allocates space for `capacity` events, once the plan of the part is known. */
int kymo_decoder_prepare(struct kymo_decoder *decoder, struct kymo_arena *arena, uint32_t capacity,
                         struct kymo_error *error);
/* Begins the arithmetic of times of a stream class. */
void kymo_decoder_clock(const struct kymo_decoder *decoder, const struct kymo_stream_class *class_,
                        struct kymo_ns *ns);
/* Uses the clock of this class for all events from now on. */
void kymo_decoder_set_clock(struct kymo_decoder *decoder, const struct kymo_stream_class *class_);
/* Reads the head of the packet that the chunk begins with, as kymo_packet_read. */
int kymo_decoder_read(struct kymo_decoder *decoder, const struct kymo_chunk *chunk,
                      struct kymo_packet_head *head, struct kymo_error *error);
/* Goes to the first event of this packet, whose head was the last that was read. */
void kymo_decoder_enter(struct kymo_decoder *decoder, const struct kymo_packet_head *head,
                        const struct kymo_chunk *chunk);
/* The packet becomes the event's bytes, and the event its only one. False: they do not fit its class, see
 * decoder->run. */
bool kymo_decoder_enter_event(struct kymo_decoder *decoder, const struct kymo_raw_event *raw);
/* Keeps `count` of the events found ahead, from number `first` on. */
void kymo_decoder_keep(struct kymo_decoder *decoder, uint32_t first, uint32_t count);
/* Continues with another plan of the part, in the same packet if it is in one; the events that were found
 * ahead are not valid any more. KYMO_E_MEMORY. */
int kymo_decoder_renew(struct kymo_decoder *decoder, const struct kymo_schema_plan *plan,
                       struct kymo_arena *arena, struct kymo_error *error);
/* Drops the events found ahead; the next lookahead begins with `next`, if that is one of them. */
void kymo_decoder_return(struct kymo_decoder *decoder, const struct kymo_found *next);

/* ---- the events of the packet ---- */

/* Makes an event of what was found ahead, all but its number. It is valid while the decoder is in the packet.
 * `plans` are those of the packet's stream class. */
static inline void kymo_event_build(struct kymo_event *event, const struct kymo_found *found,
                                    const struct kymo_packet *packet, const struct kymo_event_plan *plans) {
  const struct kymo_event_plan *plan = plans + found->index;
  event->class_ = plan->class_;
  event->packet = packet;
  event->time_ns = found->has_time ? found->time_ns : INT64_MIN;
  event->cycles = found->cycles;
  event->offset_bits = found->offset_bits;
  event->has_time = found->has_time;
  event->is_damaged = found->is_damaged;
  event->header_bits = found->header_bits;
  event->plan = plan;
}

static inline struct kymo_decoder *kymo_decoder_of(const struct kymo_event *event) {
  return (struct kymo_decoder *)(uintptr_t)event->packet->stream;
}

/* The number of the event's class among those of all parts. */
static inline uint32_t kymo_kind_of(const struct kymo_event *event) {
  return kymo_decoder_of(event)->first_kind + event->plan->kind;
}

/* The begin of the fields after the event header, in the packet. */
static inline uint64_t kymo_body_bits(const struct kymo_event *event) {
  return event->offset_bits + event->header_bits;
}

/* Stores the places of this event's fields in segments and slots. (slow.c) */
void kymo_decoder_locate(struct kymo_decoder *decoder, const struct kymo_event *event);

/* The decoder of an event, with the segments and slots of that event. */
static inline struct kymo_decoder *kymo_located(const struct kymo_event *event) {
  struct kymo_decoder *decoder = kymo_decoder_of(event);
  if (decoder->located != event->number)
    kymo_decoder_locate(decoder, event);
  return decoder;
}

/* The bit after an event of a stream of packets, in the packet. (slow.c) */
uint64_t kymo_event_end(const struct kymo_event *event);
/* The place of the event in the order of times: its time, else that of the previous event in its stream. */
int64_t kymo_place_ns(const struct kymo_event *event);

#endif
