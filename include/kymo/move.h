/* SPDX-License-Identifier: MIT */
/* kymo/move.h: from event to event. See kymo/read.h. */
#ifndef KYMO_MOVE_H
#define KYMO_MOVE_H

#include <kymo/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Losses, met between events in their place in time. */
struct kymo_loss {
  const struct kymo_stream *stream;
  bool is_packets; /* whole packets are missing, else events were discarded */
  bool count_known;
  uint64_t count;
  bool has_times;
  uint64_t begin_cycles, end_cycles;
  int64_t begin_ns, end_ns;
};
/* Called from kymo_get_next for each loss, before the first event behind it. */
typedef void kymo_loss_handler(void *user, const struct kymo_loss *loss);
void kymo_set_loss_handler(struct kymo_trace *trace, kymo_loss_handler *handler, void *user);
struct kymo_losses {
  uint64_t events, packets; /* of which the number is known */
  uint64_t unknown;         /* losses of which it is not */
};
void kymo_trace_losses_(const struct kymo_trace *trace, struct kymo_losses *losses, size_t size);
/* All losses that reading has met so far, with a handler or without; those that are read again count
 * again. */
static inline void kymo_trace_losses(const struct kymo_trace *trace, struct kymo_losses *losses) {
  kymo_trace_losses_(trace, losses, sizeof *losses);
}

/* Where streams and packets begin and end, empty ones too. Formats without packets have streams only. */
enum kymo_boundary_kind {
  KYMO_BOUNDARY_STREAM_BEGIN,
  KYMO_BOUNDARY_PACKET_BEGIN,
  KYMO_BOUNDARY_PACKET_END,
  KYMO_BOUNDARY_STREAM_END,
};

struct kymo_boundary {
  enum kymo_boundary_kind kind;
  const struct kymo_stream *stream;
  const struct kymo_event
      *place;    /* of a packet: an event without a class, for its `packet` and for walking over
                                     the scopes of the packet; NULL at the boundaries of streams */
  bool has_time; /* the packet says when; never for streams */
  uint64_t cycles;
  int64_t time_ns;
};
/*
 * Called from kymo_get_next for each boundary, in its place in time among events and losses; those without a
 * time come at once, after what came before in their stream. The losses between two packets come between an
 * end and a beginning. Boundaries are looked for only if there is a handler when the first event is asked
 * for. After kymo_goto_time streams begin anew, and packets that end before that time are not reported; after
 * the end time nothing is.
 */
typedef void kymo_boundary_handler(void *user, const struct kymo_boundary *boundary);
void kymo_set_boundary_handler(struct kymo_trace *trace, kymo_boundary_handler *handler, void *user);

/* Whether events of a class are wanted. */
typedef bool kymo_class_filter(void *user, const struct kymo_event_class *class_);
/* From the next move on, only events of classes for which `wants` says yes; it is asked once for each class,
 * now. Losses are told in any case. */
void kymo_select_classes(struct kymo_trace *trace, kymo_class_filter *wants, void *user);

/*
 * Moves to the next event in time order. KYMO_OK: *event is it, borrowed until the next
 * move. KYMO_END: no more. KYMO_AGAIN: none now in a trace that is followed. Damage is recorded
 * and skipped; a negative status means that nothing more can be read at all.
 */
int kymo_get_next(struct kymo_trace *trace, const struct kymo_event **event, struct kymo_error *error);

/*
 * Following: kymo_get_next says KYMO_AGAIN when nothing can be told now, and looks for more when it is asked
 * again; kymo_wait puts in between that only those ask who have reason to. It returns when files have
 * changed, after `timeout_ms`, or at a signal. An event comes when all streams have a later one, or when it
 * has waited for hold_ns; one that becomes readable later still comes at once, behind events that are later
 * than it. What is cut off is waited for, and is no damage. kymo_stop_following lets kymo_get_next give what
 * is left that is complete, then KYMO_END; it may be called by a signal handler. The rings of a process end
 * with it.
 */
void kymo_wait(struct kymo_trace *trace, int timeout_ms);
void kymo_stop_following(struct kymo_trace *trace);
/* Called from kymo_get_next when the trace has got parts, streams or event classes: schemas and plans are
 * new, ids of fields and numbers of streams are void, event classes were not asked for by
 * kymo_select_classes. What was there stays readable until the trace is closed. */
typedef void kymo_growth_handler(void *user);
void kymo_set_growth_handler(struct kymo_trace *trace, kymo_growth_handler *handler, void *user);

/*
 * Moves to the event before, in the order of delivery: what kymo_get_next gave before the last one, and from
 * the end the last. Results as there; KYMO_END at the beginning, from where kymo_get_next gives the first.
 * Exact whatever the events' sizes and however many streams are merged; damage that was met is not listed
 * again, losses are told forward only. KYMO_E_USAGE: the trace is followed. KYMO_E_FORMAT: the file has
 * changed since; the trace is then at its start.
 */
int kymo_get_previous(struct kymo_trace *trace, const struct kymo_event **event, struct kymo_error *error);

/*
 * Moves to the event with this number, whether its class is wanted or not (kymo_select_classes); 0: before
 * the first, with *event NULL. `event` may be NULL. KYMO_END: there are fewer; the trace is then behind the
 * last one. Otherwise as kymo_get_previous. Costs reading on from a checkpoint, of which some are kept for
 * all that was read so far.
 */
int kymo_goto_record(struct kymo_trace *trace, uint64_t number, const struct kymo_event **event,
                     struct kymo_error *error);
/* The same for the event `count` records on from here, or back if negative; 0: the one at hand again.
 * Unwanted ones count. */
int kymo_skip(struct kymo_trace *trace, int64_t count, const struct kymo_event **event,
              struct kymo_error *error);
/* Moves before the first event. KYMO_E_USAGE if the trace is followed. */
int kymo_rewind(struct kymo_trace *trace);

/* Where the trace is: at its last event delivered. */
struct kymo_bookmark {
  uint64_t number;                  /* of the event; 0: before the first, or not known (see kymo_number) */
  const struct kymo_stream *stream; /* NULL: there is none at hand */
  const char *path;                 /* the file that it was read from … */
  uint64_t offset; /* … and where in it, bytes: where it begins, or the block that it was read from */
  int64_t time_ns; /* INT64_MIN: none */
  bool is_behind;  /* … and behind that event is the end */
};
void kymo_tell_(const struct kymo_trace *trace, struct kymo_bookmark *bookmark, size_t size);
/* Does not move. What *bookmark points to is the trace's. */
static inline void kymo_tell(const struct kymo_trace *trace, struct kymo_bookmark *bookmark) {
  kymo_tell_(trace, bookmark, sizeof *bookmark);
}

/*
 * Behind kymo_goto_time nobody knows how many events come before, and finding that out means stepping over
 * them. So event numbers from there on only tell the order: they are above KYMO_NUMBER_RELATIVE, and the
 * first one behind the time is KYMO_NUMBER_LANDED + 1. This finds out, from what checkpoints tell, and makes
 * them exact, also that of `event`, which must be the one at hand: *number becomes its number from the start.
 * Does not move. KYMO_E_ABSENT: streams without times, or not merged, have no order behind a time;
 * KYMO_E_MEMORY.
 */
#define KYMO_NUMBER_RELATIVE (UINT64_C(1) << 62)
#define KYMO_NUMBER_LANDED (KYMO_NUMBER_RELATIVE + (UINT64_C(1) << 61))
int kymo_number(struct kymo_trace *trace, const struct kymo_event *event, uint64_t *number,
                struct kymo_error *error);
/* How many events the trace has from start to end, wanted or not. Steps over what was not read yet. Does not
 * move. */
int kymo_count_records(struct kymo_trace *trace, uint64_t *count, struct kymo_error *error);

/*
 * Moves to a time, forward or backward: of each stream, the next event delivered is the first that is not
 * before `time_ns`. Streams without times begin anew. Losses wholly before it are not told, nor is damage
 * that was jumped over. Where packet headers have times, packets are passed by these; records of one size are
 * searched if their description says that they are sorted (docs/tdl.md); elsewhere events are stepped over.
 * KYMO_OK also if no event is that late; negative only if nothing more can be read at all.
 */
int kymo_goto_time(struct kymo_trace *trace, int64_t time_ns, struct kymo_error *error);
/*
 * From now on, kymo_get_next gives KYMO_END before the first event later than `end_ns`, without decoding on
 * to the end of the trace, and does not tell losses that lie wholly behind. INT64_MAX: no limit. May be
 * changed at any time; reading goes on where it stands.
 */
void kymo_set_end_time(struct kymo_trace *trace, int64_t end_ns);

/* Moves to the first event of a segment (kymo_segments). Results as of kymo_goto_record; KYMO_E_UNKNOWN:
 * there is none. */
int kymo_goto_segment(struct kymo_trace *trace, size_t index, const struct kymo_event **event,
                      struct kymo_error *error);
/*
 * Moves to the first event of a stream that begins at a byte or behind it, as kymo_tell tells it; of streams
 * in several files, in the first of these that reaches so far. KYMO_END: no event of the stream is there, and
 * the trace is at its end.
 */
int kymo_goto_offset(struct kymo_trace *trace, const struct kymo_stream *stream, uint64_t offset,
                     const struct kymo_event **event, struct kymo_error *error);

/* Several events at once, as columns; all of them hold until the next move. */
struct kymo_batch {
  size_t count;
  uint64_t number; /* of the first; the others may have gaps if not all classes are wanted */
  const struct kymo_event *const *events;
  const int64_t *times_ns;
  const struct kymo_event_class *const *classes;
  const uint64_t *offsets; /* where they begin, bytes in their files (as kymo_tell) */
};
int kymo_next_batch_(struct kymo_trace *trace, struct kymo_batch *batch, size_t size,
                     struct kymo_error *error);
/* Moves past all events that are buffered, at least one. Otherwise as kymo_get_next, and mixes with it. */
static inline int kymo_next_batch(struct kymo_trace *trace, struct kymo_batch *batch,
                                  struct kymo_error *error) {
  return kymo_next_batch_(trace, batch, sizeof *batch, error);
}

#ifdef __cplusplus
}
#endif
#endif
