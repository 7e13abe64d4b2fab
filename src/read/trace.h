/* SPDX-License-Identifier: MIT */
/*
 * The open trace: parts, streams, and the tree that merges them.
 *
 *   kymo_trace ── parts[] ── schema plan
 *              └─ streams[] in the order that breaks ties ── cursor ── packet ── event
 *
 *              └─ picks[]: the next events of all streams, merged
 *
 * Each stream looks some events ahead in its packet and makes entries of them (or it has a loss to
 * tell); the trace merges entries ahead and keeps pointers to them in the order of time. Doing
 * each by the dozen, not by one, keeps decoding, merging and the caller from disturbing one another.
 * A stream looks on only when all its entries were given out; so does the trace with its picks.
 * Everything about an event thus holds until the next call.
 */
#ifndef KYMO_READ_TRACE_H
#define KYMO_READ_TRACE_H

#include "read/clock.h"
#include "read/format.h"
#include "read/merge.h"
#include "read/packet.h"

struct part_state {
  struct kymo_part part;             /* first: a kymo_part is its part_state */
  struct kymo_schema *schema;        /* our share */
  struct kymo_schema_plan *plan;
  uint32_t quirks;
  struct stream_state **streams;     /* by index; owned */
  uint32_t capacity;
};

enum stream_phase {
  STREAM_NEW,      /* nothing read yet */
  STREAM_EVENT,    /* there are entries */
  STREAM_LOSS,     /* losses come before the next event */
  STREAM_WAITING,  /* no event now: the key is the last known time */
  STREAM_DONE,
};

/* An event found ahead: two cache lines. */
struct kymo_entry {
  struct kymo_event event;           /* first: a kymo_event is its entry */
  const struct kymo_event_plan *plan;
  uint64_t body_bits;                /* behind the event header */
};

/* A stream's entries that were not merged yet: their times first, for merging needs no more. Together, for
 * all streams, so that many streams need few cache lines. */
struct merge_cursor {
  const int64_t *time_ns;            /* of `next` */
  struct kymo_entry *next, *end;
};

#define KYMO_CACHE_LINE 64

struct stream_state {
  struct kymo_stream stream;         /* first: a kymo_stream is its stream_state */
  struct kymo_trace *trace;
  struct part_state *part;
  const struct kymo_source_operations *operations;
  void *source;
  struct kymo_cursor *cursor;        /* NULL until the first move, and after the end */
  const char *path;                  /* of the file that the packet is in */
  bool may_repeat;
  bool in_packet;
  bool is_cut;                       /* the packet is longer than the file */
  bool has_previous;
  enum stream_phase phase;
  uint32_t rank;                     /* in trace->streams */
  uint64_t packet_bytes;             /* what to skip to get behind the packet */
  struct kymo_packet previous;       /* the one before */
  struct kymo_loss losses[2];
  unsigned loss_count, loss_next;
  struct kymo_run run;               /* the last slow step; what was wrong with an event */
  uint64_t purse;                    /* see KYMO_SPEND_LIMIT */
  uint64_t located;                  /* number of the event that segments and slots are about */
  uint64_t *segments;

  /* What looking ahead needs, in two cache lines: its end begins the first. */
  struct kymo_packet packet;         /* as far as decoding ahead goes */
  uint64_t next_bits;                /* where the next event header to be decoded may begin */
  uint64_t clock;                    /* there; full value */
  const struct kymo_stream_plan *plan;
  struct kymo_entry *entries;
  uint64_t *slots;
  int64_t *times_ns;                 /* of the entries */
  uint32_t entry_count, entry_capacity;
  struct kymo_ns ns;
};

struct kymo_trace {
  struct kymo_arena arena;           /* plans, paths, damage texts */
  struct part_state **parts;
  size_t part_count, part_capacity;
  struct stream_state **streams;     /* in rank order, once opened */
  size_t stream_count;
  struct kymo_open_options options;

  struct merge merge;
  struct merge_cursor *cursors;      /* by rank */
  bool is_merging;                   /* the tree is made */
  bool must_build;                   /* a key is far: the tree may be wrong */
  struct stream_state *empty;        /* its entries are all picked: it must look ahead before merging goes on */
  struct kymo_entry **picks;
  uint32_t pick_next, pick_count;
  uint64_t number;                   /* of the last event */

  kymo_loss_handler *loss_handler;
  void *loss_user;
  struct kymo_damage *damage;
  size_t damage_count, damage_capacity;
};

/* An open trace without parts, or NULL; then parts and streams are added, then it is finished: streams
 * ordered, clocks checked. (kymo_open does all this.) */
struct kymo_trace *kymo_trace_new(void);
int kymo_trace_finish(struct kymo_trace *trace, struct kymo_error *error);

/* Reads on until the stream has more entries, losses before them, or is at its end: sets the phase. KYMO_OK, or negative if nothing can go on at all (out of memory). */
int kymo_stream_advance(struct stream_state *stream, struct kymo_error *error);
/* Hands the waiting losses to the handler, then advances to the event behind them. */
int kymo_stream_pass_losses(struct stream_state *stream, struct kymo_error *error);
/* The time by which the stream stands in the merge. */
int64_t kymo_stream_key(struct stream_state *stream);
/* Makes the room for noting fields, once the plan is known. */
int kymo_stream_prepare(struct stream_state *stream, struct kymo_error *error);

/* Makes good for what the part's tracer is known to do wrong. */
void kymo_packet_mend(const struct part_state *part, struct kymo_packet_head *head);
/* The losses between two packets of a stream, at most two; returns how many. `previous` is NULL
 * before the first packet. Times are left to the caller. */
unsigned kymo_packet_losses(const struct kymo_packet *previous, const struct kymo_packet_head *head,
                            struct kymo_loss losses[2]);

/* Notes in segments and slots where the fields of this event are. */
void kymo_stream_locate(struct stream_state *stream, const struct kymo_event *event);

static inline const struct kymo_entry *kymo_entry_of(const struct kymo_event *event) {
  return (const struct kymo_entry *)event;
}

/* The stream of an event, with segments and slots that are about it. */
static inline struct stream_state *kymo_located(const struct kymo_event *event) {
  struct stream_state *stream = (struct stream_state *)(uintptr_t)event->state;
  if (stream->located != event->number)
    kymo_stream_locate(stream, event);
  return stream;
}

#endif
