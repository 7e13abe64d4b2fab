/* SPDX-License-Identifier: MIT */
/*
 * Checkpoints: the position of each stream after a number of delivered events. Reading can continue from each
 * of them, so any event can be reached by its number: from the last checkpoint before it, forward.
 *
 *   numbers       0 ─────── 1·2^k ─────── 2·2^k ─────── 3·2^k ──► created in passing, about evenly; when
 *                 memory
 *   going back                     b0 ──────── b1 ──── b2 ─ b3 n for them is used up, every second one goes
 *
 * Going back starts at a checkpoint, reads to the place before the last event, and creates further
 * checkpoints on the way, each at half of the rest: so going back over a whole range is linear up to a
 * logarithm.
 *
 * A mark of a stream is the begin of the packet, and the place in it where the last lookahead began.
 * Lookahead from there finds the same events, so nothing else is kept. Streams that are still in that packet,
 * as most are after a short move back, need no lookahead.
 */
#ifndef KYMO_TRACE_CHECKPOINT_H
#define KYMO_TRACE_CHECKPOINT_H

#include "base/bytes.h"
#include "trace/index.h"
#include <kymo/read.h>

struct kymo_stream_mark {
  enum kymo_mark_kind {
    KYMO_MARK_START,   /* nothing read yet */
    KYMO_MARK_EVENTS,  /* in a packet, with buffered events */
    KYMO_MARK_NOTICES, /* before a packet's events, with pending notices */
    KYMO_MARK_THROUGH, /* after a packet's events */
    KYMO_MARK_DONE,
  } kind;
  uint32_t given;  /* buffered events that were returned, or notices */
  bool is_damaged; /* the first buffered event is marked as damaged, or the next one will be */
  bool is_begun,
      is_dropping; /* the stream's boundary was reported; events before begin_ns are still to be dropped */
  bool has_previous, previous_has_end, previous_has_discarded;
  struct kymo_position position;     /* of the packet … */
  uint64_t sequence, ordinal;        /* … its number, and how many the stream had entered with it */
  uint64_t entry_clock;              /* the stream's clock before the packet */
  uint64_t next_bits, clock, budget; /* where the lookahead began */
  uint64_t previous_sequence, previous_discarded, previous_end; /* of the packet before */
};

struct kymo_checkpoint {
  uint64_t number; /* events delivered before */
  uint32_t alone;  /* see struct kymo_trace */
  int64_t begin_ns;
  struct kymo_stream_mark *marks; /* by rank */
};

/* Checkpoints created during reading, by number. */
struct kymo_checkpoints {
  struct kymo_checkpoint *list;
  size_t count, capacity, limit;
  uint64_t stride; /* minimum events between two of them; 0: not begun */
};

/* Checkpoints for going back: each half as far from the last as the previous one. */
#define KYMO_BACK_CHECKPOINTS 64
struct kymo_back {
  struct kymo_checkpoint list[KYMO_BACK_CHECKPOINTS];
  unsigned count, made; /* made: have memory */
  uint64_t target;      /* 0: there was no move back */
};

struct kymo_trace;

/* Creates due checkpoints at the trace's position: between two merged batches. */
void kymo_checkpoint_lay(struct kymo_trace *trace);
/* The last checkpoint at or before a number, or NULL: only the start is before it. */
const struct kymo_checkpoint *kymo_checkpoint_find(const struct kymo_trace *trace, uint64_t number);
/* Moves the trace there. KYMO_E_FORMAT: the data of then does not exist any more; the trace is then at its
 * start. */
int kymo_checkpoint_return(struct kymo_trace *trace, const struct kymo_checkpoint *checkpoint,
                           struct kymo_error *error);
/* From now on further checkpoints are created on the way to the event with this number; 0: no more. */
void kymo_checkpoint_aim(struct kymo_trace *trace, uint64_t target);
/* Whether the checkpoint is at or before the trace's landing. */
bool kymo_checkpoint_is_before(const struct kymo_trace *trace, const struct kymo_checkpoint *checkpoint);
/* Drops checkpoints by relative numbers: these mean other events now. */
void kymo_checkpoint_clear(struct kymo_trace *trace);
/* Limits the memory of checkpoints created during reading, and begins again. */
void kymo_checkpoint_limit(struct kymo_trace *trace, size_t bytes);
void kymo_checkpoint_free(struct kymo_trace *trace);

#endif
