/* SPDX-License-Identifier: MIT */
/* kymo/move.h: from event to event. See kymo/read.h. */
#ifndef KYMO_MOVE_H
#define KYMO_MOVE_H

#include <kymo/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lost events or packets, reported in time order. */
struct kymo_loss {
  const struct kymo_stream *stream;
  bool is_packets; /* whole packets are missing, else events were discarded */
  bool count_known;
  uint64_t count;
  bool has_times;
  uint64_t begin_cycles, end_cycles;
  int64_t begin_ns, end_ns;
};
/* Called from kymo_trace_next for each loss, before the first event after it. */
typedef void kymo_loss_handler(void *user, const struct kymo_loss *loss);
void kymo_trace_set_loss_handler(struct kymo_trace *trace, kymo_loss_handler *handler, void *user);
struct kymo_losses {
  uint64_t events, packets; /* losses whose number is known */
  uint64_t unknown;         /* losses whose number is unknown */
};
void kymo_trace_losses_(const struct kymo_trace *trace, struct kymo_losses *losses, size_t size);
/* All losses that were read so far, with a handler or without; losses that are read again count again. */
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
      *place;    /* for a packet: an event without a class, for its `packet` and for walking over the
                  * scopes of the packet; NULL for streams */
  bool has_time; /* the packet has the time; never for streams */
  uint64_t cycles;
  int64_t time_ns;
};
/*
 * Called from kymo_trace_next for each boundary, in time order among events and losses; a boundary without a
 * time is reported at once, after the earlier ones of its stream. The losses between two packets are reported
 * between an end and a beginning. Boundaries are reported only if there is a handler when the first event is
 * read. After kymo_trace_goto_time streams begin again, and packets that end before that time are not
 * reported; after the end time no boundary is reported.
 */
typedef void kymo_boundary_handler(void *user, const struct kymo_boundary *boundary);
void kymo_trace_set_boundary_handler(struct kymo_trace *trace, kymo_boundary_handler *handler, void *user);

/* Whether events of a class are wanted. */
typedef bool kymo_class_filter(void *user, const struct kymo_event_class *class_);
/* From the next move on, only events of classes for which `wants` returns true are returned; it is called
 * once for each class, now. Losses are always reported. */
void kymo_trace_select_classes(struct kymo_trace *trace, kymo_class_filter *wants, void *user);

/*
 * Moves to the next event in time order. KYMO_OK: *event is it, borrowed until the next move. KYMO_END: there
 * are no more events. KYMO_AGAIN: none now in a trace that is followed. Damage is recorded and skipped; a
 * negative status means that nothing more can be read.
 */
int kymo_trace_next(struct kymo_trace *trace, const struct kymo_event **event, struct kymo_error *error);

/*
 * Following: kymo_trace_next returns KYMO_AGAIN when no event can be returned now; the next call looks for
 * more. kymo_trace_wait between two calls avoids calls without need: it returns when files have changed,
 * after `timeout_ms`, or at a signal. An event is returned when all streams have a later one, or when it has
 * waited for hold_ns; an event that becomes readable later is returned at once, after events that are later
 * than it. A truncated event is waited for, and is not damage. After kymo_trace_stop_following,
 * kymo_trace_next returns the complete events that are left, then KYMO_END; signal handlers may call it. A
 * trace of the rings of a process ends with the process.
 */
void kymo_trace_wait(struct kymo_trace *trace, int timeout_ms);
void kymo_trace_stop_following(struct kymo_trace *trace);
/* Called from kymo_trace_next when the trace has new parts, streams or event classes: schemas and plans are
 * new, ids of fields and numbers of streams are invalid, and kymo_trace_select_classes has not seen the new
 * event classes. Older objects stay readable until the trace is closed. */
typedef void kymo_growth_handler(void *user);
void kymo_trace_set_growth_handler(struct kymo_trace *trace, kymo_growth_handler *handler, void *user);

/*
 * Moves to the previous event, in the order of delivery: the event that kymo_trace_next returned before the
 * last one, and from the end the last one. Results as there; KYMO_END at the beginning, from where
 * kymo_trace_next returns the first event. Exact for all sizes of events and any number of merged streams;
 * known damage is not listed again, losses are only reported forward. KYMO_E_USAGE: the trace is followed.
 * KYMO_E_FORMAT: the file has changed since; the trace is then at its start.
 */
int kymo_trace_previous(struct kymo_trace *trace, const struct kymo_event **event, struct kymo_error *error);

/*
 * Moves to the event with this number, whether its class is wanted or not (kymo_trace_select_classes); 0:
 * before the first, with *event NULL. `event` may be NULL. KYMO_END: there are fewer events; the trace is
 * then after the last one. Otherwise as kymo_trace_previous. It reads on from a checkpoint; some checkpoints
 * are kept for the part of the trace that was read so far.
 */
int kymo_trace_goto_event(struct kymo_trace *trace, uint64_t number, const struct kymo_event **event,
                          struct kymo_error *error);
/* The same for the event `count` events after the current one, or before it if negative; 0: the current
 * event again. Unwanted events count. */
int kymo_trace_skip(struct kymo_trace *trace, int64_t count, const struct kymo_event **event,
                    struct kymo_error *error);
/* Moves before the first event. KYMO_E_USAGE if the trace is followed. */
int kymo_trace_rewind(struct kymo_trace *trace);

/* The position in the trace: its last delivered event. */
struct kymo_bookmark {
  uint64_t number; /* number of the event; 0: before the first, or unknown (see kymo_trace_get_number) */
  const struct kymo_stream *stream; /* NULL: there is no current event */
  const char *path;                 /* the file of the event … */
  uint64_t offset; /* … and the offset in bytes where the event begins, or where the block with the event
                    * begins */
  int64_t time_ns; /* INT64_MIN: none */
  bool is_at_end;  /* … and the end follows that event */
};
void kymo_trace_tell_(const struct kymo_trace *trace, struct kymo_bookmark *bookmark, size_t size);
/* Does not move. The trace owns the memory that *bookmark points to. */
static inline void kymo_trace_tell(const struct kymo_trace *trace, struct kymo_bookmark *bookmark) {
  kymo_trace_tell_(trace, bookmark, sizeof *bookmark);
}

/*
 * After kymo_trace_goto_time the number of earlier events is unknown, since the trace has not stepped over
 * them. So event numbers from there on only show the order: they are above KYMO_NUMBER_RELATIVE, and the
 * first event after the time has KYMO_NUMBER_LANDED + 1. This function computes the exact number, with the
 * help of checkpoints, and makes the numbers exact, also that of `event`, which must be the current one:
 * *number becomes its number from the start. Does not move. KYMO_E_ABSENT: streams without times, or not
 * merged, have no order after a time; KYMO_E_MEMORY.
 */
#define KYMO_NUMBER_RELATIVE (UINT64_C(1) << 62)
#define KYMO_NUMBER_LANDED (KYMO_NUMBER_RELATIVE + (UINT64_C(1) << 61))
int kymo_trace_get_number(struct kymo_trace *trace, const struct kymo_event *event, uint64_t *number,
                          struct kymo_error *error);
/* The number of events from start to end, wanted or not. Steps over the unread part. Does not move. */
int kymo_trace_count_events(struct kymo_trace *trace, uint64_t *count, struct kymo_error *error);

/*
 * Moves to a time, forward or backward: the next event delivered of each stream is the first that is not
 * before `time_ns`. Streams without times begin again. Losses wholly before that time are not reported, nor
 * is damage that was skipped. Packets whose headers have times are skipped by these; events of one size are
 * found by binary search if their description says that they are sorted (docs/tdl.md); otherwise events are
 * stepped over. KYMO_OK also if no event is that late; negative only if nothing more can be read.
 */
int kymo_trace_goto_time(struct kymo_trace *trace, int64_t time_ns, struct kymo_error *error);
/*
 * From now on, kymo_trace_next returns KYMO_END before the first event later than `end_ns`, without decoding
 * the rest of the trace, and does not report losses wholly after it. INT64_MAX: no limit. It may be changed
 * at any time; reading continues at the current position.
 */
void kymo_trace_set_end_time(struct kymo_trace *trace, int64_t end_ns);

/* Moves to the first event of a segment (kymo_trace_count_segments). Results as of kymo_trace_goto_event;
 * KYMO_E_UNKNOWN: there is none. */
int kymo_trace_goto_segment(struct kymo_trace *trace, size_t index, const struct kymo_event **event,
                            struct kymo_error *error);
/*
 * Moves to the first event of a stream that begins at or after a byte offset, as reported by kymo_trace_tell;
 * for a stream of several files, in the first file that is long enough. KYMO_END: the stream has no such
 * event, and the trace is at its end.
 */
int kymo_trace_goto_offset(struct kymo_trace *trace, const struct kymo_stream *stream, uint64_t offset,
                           const struct kymo_event **event, struct kymo_error *error);

/* Several events at once, as columns; all of them are valid until the next move. */
struct kymo_batch {
  size_t count;
  uint64_t number; /* number of the first event; the others may have gaps if not all classes are wanted */
  const struct kymo_event *const *events;
  const int64_t *times_ns;
  const struct kymo_event_class *const *classes;
  const uint64_t *offsets; /* offsets in bytes where they begin in their files (as kymo_trace_tell) */
};
int kymo_trace_next_batch_(struct kymo_trace *trace, struct kymo_batch *batch, size_t size,
                           struct kymo_error *error);
/* Moves past all events that are buffered, at least one. Otherwise as kymo_trace_next, and mixes with it. */
static inline int kymo_trace_next_batch(struct kymo_trace *trace, struct kymo_batch *batch,
                                        struct kymo_error *error) {
  return kymo_trace_next_batch_(trace, batch, sizeof *batch, error);
}

#ifdef __cplusplus
}
#endif
#endif
