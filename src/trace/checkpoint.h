/* SPDX-License-Identifier: MIT */
/*
 * Checkpoints: how far each stream was when so many events had been delivered. From one of them, reading goes
 * on as it did then, so any event is reached by its number: from the last checkpoint before it, forward.
 *
 *   numbers       0 ─────── 1·2^k ─────── 2·2^k ─────── 3·2^k ──► laid down in passing, about evenly; when
 *                 memory
 *   going back                     b0 ──────── b1 ──── b2 ─ b3 n for them is used up, every second one goes
 *
 * Who goes back comes from a checkpoint to a place before the last event, and lays further ones down on the
 * way, at half of what is left each: so going back over a whole stretch is linear but for a logarithm.
 *
 * A mark of a stream is where the packet begins, and from where in it the stream looked ahead. Looking ahead
 * anew from there finds the same events, so nothing else needs to be kept. Streams that are in that packet
 * still, as most are when one goes back by little, need not even look.
 */
#ifndef KYMO_TRACE_CHECKPOINT_H
#define KYMO_TRACE_CHECKPOINT_H

#include "base/bytes.h"
#include "trace/index.h"
#include <kymo/read.h>

struct kymo_stream_mark {
  enum kymo_mark_kind {
    KYMO_MARK_START,   /* nothing read yet */
    KYMO_MARK_EVENTS,  /* in a packet, with events found ahead */
    KYMO_MARK_NOTICES, /* before a packet's events, with notices to be given */
    KYMO_MARK_THROUGH, /* behind a packet's events */
    KYMO_MARK_DONE,
  } kind;
  uint32_t given;  /* events found ahead that were given out, or notices */
  bool is_damaged; /* the first event found ahead is told so, or the next one will be */
  bool is_begun,
      is_dropping; /* the stream's boundary was told; events before begin_ns are still to be dropped */
  bool has_previous, previous_has_end, previous_has_discarded;
  struct kymo_position position;     /* of the packet … */
  uint64_t sequence, ordinal;        /* … its number, and how many the stream had entered with it */
  uint64_t entry_clock;              /* the stream's clock before the packet */
  uint64_t next_bits, clock, budget; /* from where it looked ahead */
  uint64_t previous_sequence, previous_discarded, previous_end; /* of the packet before */
};

struct kymo_checkpoint {
  uint64_t number; /* events delivered before */
  uint32_t alone;  /* see struct kymo_trace */
  int64_t begin_ns;
  struct kymo_stream_mark *marks; /* by rank */
};

/* Those that were laid down in passing, by number. */
struct kymo_checkpoints {
  struct kymo_checkpoint *list;
  size_t count, capacity, limit;
  uint64_t stride; /* events between two of them, at least; 0: not begun */
};

/* Those for going back: each half as far from the last as the one before. */
#define KYMO_BACK_CHECKPOINTS 64
struct kymo_back {
  struct kymo_checkpoint list[KYMO_BACK_CHECKPOINTS];
  unsigned count, made; /* made: have memory */
  uint64_t target;      /* 0: nobody goes back */
};

struct kymo_trace;

/* Lays down checkpoints that are due at the trace's place: between two rounds of picking. */
void kymo_checkpoint_lay(struct kymo_trace *trace);
/* The last checkpoint at or before a number, or NULL: then only the start is. */
const struct kymo_checkpoint *kymo_checkpoint_find(const struct kymo_trace *trace, uint64_t number);
/* Puts the trace there. KYMO_E_FORMAT: what was there then is there no more; the trace then stands at its
 * start. */
int kymo_checkpoint_return(struct kymo_trace *trace, const struct kymo_checkpoint *checkpoint,
                           struct kymo_error *error);
/* From now on further ones are laid down on the way to the event with this number; 0: no more. */
void kymo_checkpoint_aim(struct kymo_trace *trace, uint64_t target);
/* Whether the checkpoint is not behind the trace's landing. */
bool kymo_checkpoint_is_before(const struct kymo_trace *trace, const struct kymo_checkpoint *checkpoint);
/* Forgets those by relative numbers: these mean other events now. */
void kymo_checkpoint_clear(struct kymo_trace *trace);
/* Bounds the memory for those that are laid down in passing, and begins them anew. */
void kymo_checkpoint_limit(struct kymo_trace *trace, size_t bytes);
void kymo_checkpoint_free(struct kymo_trace *trace);

#endif
