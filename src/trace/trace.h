/* SPDX-License-Identifier: MIT */
/*
 * The open trace: parts, streams, and the tree that merges them.
 *
 *   kymo_trace ── parts[] ── schema plan
 *              ├─ streams[] in the order that breaks ties ── cursor ── packet ── events[]
 *              └─ batch[]: the next events of all streams, merged
 *
 * Each stream finds some events ahead in its packet (or it has a notice to deliver: a loss, a boundary); the
 * trace merges them in batches, in time order, and makes events of them. Batches keep decoding, merging and
 * the caller from disturbing one another. A stream leaves its packet only when all its events were returned;
 * the trace merges the next batch only when the last one was returned. So all data of an event is valid until
 * the next call.
 */
#ifndef KYMO_TRACE_TRACE_H
#define KYMO_TRACE_TRACE_H

#include "source/format.h"
#include "source/modules.h"
#include "source/notes.h"
#include "trace/checkpoint.h"
#include "decode/decoder.h"
#include "trace/index.h"
#include "trace/merge.h"
#include "trace/part.h"

/* The description of a part before it grew: events and outputs may still point to it. */
struct retired_schema {
  struct retired_schema *next;
  struct kymo_schema *schema;
};

struct part_state {
  struct kymo_part part;      /* first: a kymo_part is its part_state */
  struct kymo_schema *schema; /* our share */
  struct retired_schema *retired;
  void *memory; /* the format's */
  void (*free_memory)(void *memory);
  struct kymo_schema_plan *plan;
  const struct kymo_kernel *kernel; /* the format's, or NULL */
  const struct kymo_load_map *map;  /* the format's, or NULL */
  uint32_t first_kind;              /* number of event classes in earlier parts */
  struct kymo_clock_snapshots clocks;
  struct kymo_recorder_notes notes;
  struct kymo_module *modules; /* the load map, in the order of loading */
  size_t module_count, module_capacity;
  uint32_t quirks;
  uint32_t place;          /* in the order that breaks ties, the first criterion */
  int64_t clock_offset_ns; /* added to all its times */
  bool has_window;         /* only events within these times are delivered: kymo_trace_intersect */
  int64_t window_begin_ns, window_end_ns;
  struct stream_state **streams; /* by index; owned */
  uint32_t capacity;
  struct kymo_section *sections; /* in the order of the file */
  size_t section_count, section_capacity;
  const char **places; /* directories, see kymo_part_add_place */
  size_t place_count, place_capacity;
  bool has_index; /* the kept indexes of the streams are loaded */
};

enum stream_phase {
  STREAM_NEW,     /* nothing read yet */
  STREAM_EVENT,   /* there are events */
  STREAM_NOTICE,  /* notices come before the next event */
  STREAM_WAITING, /* no event now: the key is a time before which none is expected */
  STREAM_DONE,
};

/* A stream's events that are not merged yet. Together for all streams, so that many streams need few cache
 * lines: one for a cursor, and one for its next event. */
struct merge_cursor {
  const struct kymo_found *next, *end;
  const struct kymo_packet *packet;
  const struct kymo_event_plan *plans; /* of the stream class */
  const uint8_t *more;                 /* where the packet goes on after `end` */
  uint64_t unused[3];
};
_Static_assert(sizeof(struct merge_cursor) == KYMO_CACHE_LINE || sizeof(void *) < 8,
               "merging expects a line");

/* What a stream reports between events. */
struct stream_notice {
  bool is_loss, has_time;
  int64_t time_ns; /* the notice's first time; else INT64_MIN */
  struct kymo_loss loss;
  struct kymo_boundary boundary;
};

/* Maximum: the stream begins, events and packets are lost, a packet begins. */
#define STREAM_NOTICES 4

/* Events that were discarded for one reason, by a counter in the packets. */
struct loss_cause {
  const char *name;
  uint64_t count;
};
#define LOSS_CAUSES 8

struct stream_state {
  struct kymo_decoder decoder; /* first: a kymo_stream is its stream_state */
  /* What looking on needs, next to the data of lookahead. */
  struct part_state *part;
  bool may_repeat;
  bool in_packet;
  bool is_through; /* … all of whose events were returned */
  bool is_ahead;   /* there are events already, for the notices before them */
  enum stream_phase phase;
  uint32_t rank;         /* in trace->streams */
  int64_t begin_ns;      /* events before this are dropped, up to the first one that is not before it; else
                          * INT64_MIN */
  uint64_t guard_faults; /* of all mappings, at the last check: base/guard.h */
  struct kymo_trace *trace;

  struct loss_cause causes[LOSS_CAUSES]; /* as kymo_stream_describe found them */
  const struct kymo_source_operations *operations;
  void *source;
  struct kymo_cursor *cursor; /* NULL until the first move, and after the end */
  bool is_begun, is_ended;    /* the stream's boundaries were reported */
  bool is_reported;           /* the packet's first boundary was reported */
  bool has_end_time;          /* the packet has a field for it */
  bool is_cut;                /* the packet is longer than the file */
  bool has_reported_beyond;   /* events with times beyond 64 bits were reported */
  bool has_previous;
  int64_t entered_ns; /* when the packet was reached, if the trace is followed */
  /* of the file, as seen while following, oldest first */
  struct follow_sizes {
    uint32_t file, count;
    struct {
      int64_t at_ns;
      uint64_t bytes;
    } list[16];
  } sizes;
  int64_t undescribed_ns;      /* since when an event waits whose class is not described, or 0 */
  uint64_t packet_bytes;       /* bytes to skip to move after the packet */
  struct kymo_packet previous; /* the one before */
  struct stream_notice notices[STREAM_NOTICES];
  unsigned notice_count, notice_next;
  struct kymo_event place; /* represents the packet (struct kymo_boundary) */
  struct kymo_index index;
  uint64_t ordinal;     /* of the packet (or event of a raw stream), from the begin of the stream */
  uint64_t entry_clock; /* before the packet's head was read */
  uint32_t file;        /* kymo_chunk.file of the packet */
  const struct kymo_prefilter *prefilter; /* or NULL */
};

/* Whether the event is returned to no caller while the trace selects. */
bool kymo_event_is_unwanted(const struct kymo_trace *trace, const struct kymo_event *event);

struct filter_machine;

/* Calls from the trace to its filter, which is a layer above. */
struct filter_operations {
  /* Other events are wanted from now on: the state of earlier events is invalid. */
  void (*start_anew)(struct filter_machine *machine);
  void (*free)(struct filter_machine *machine);
};

/* Maximum size of a merged batch. */
#define KYMO_BATCH_EVENTS 256

struct kymo_trace {
  struct kymo_arena arena; /* plans, paths, damage texts */
  struct part_state **parts;
  size_t part_count, part_capacity;
  struct stream_state **streams; /* in rank order, once opened */
  size_t stream_count;
  uint32_t stream_number; /* of the next one that is added */
  struct kymo_trace_options options;
  const struct kymo_format *const *formats; /* NULL at the end: all that a path may be of */
  const struct found *found;                /* while opening: by format, the paths that it accepted */
  struct retired_schema *keys;              /* shares */
  bool has_own_file;
  int own_file; /* the file of a trace from memory or a descriptor (feed.c) */

  struct merge merge;
  struct merge_cursor *cursors; /* by rank */
  int64_t *heads_ns;            /* for building the tree: the next time of each stream … */
  bool *are_over;               /* … or that nothing does */
  size_t merge_capacity;        /* number of streams with space */
  bool is_merging;              /* the tree is made */
  uint32_t alone;               /* unmerged: the first stream that is not done, by rank */
  bool must_build;              /* a key is far: the tree may be wrong */
  struct stream_state *empty; /* its events are all in the batch: it must look ahead before merging goes on */
  bool is_selecting;          /* there are classes, or events, that are not wanted */
  bool is_thinned;            /* … and those of unwanted classes need no number: see kymo_trace_thin */
  bool wants_times;           /* … events without a time are not returned: a window of time was requested */
  bool is_prefiltered; /* streams have prefilters, so the batch is for the filter alone (prefilter.c) */
  bool may_prefilter;  /* the filter has prefilters, and no other move has happened since */
  struct kymo_event *batch_events, **batch;      /* merged; and in the order of delivery */
  uint32_t batch_next, batch_limit, batch_count; /* those from the limit on are after end_ns */
  bool is_straight;                              /* batch[i] is batch_events + i */
  int64_t begin_ns,
      end_ns;           /* see kymo_trace_goto_time (INT64_MIN: from the start), kymo_trace_set_end_time */
  int64_t slice_end_ns; /* nothing after this is delivered, and losses are not trimmed by it (slice.h) */
  bool begins_slice;    /* what is passed over now was delivered by another reader */
  bool has_jumped;      /* events may be returned more than once */
  uint64_t number;      /* of the last event */
  uint64_t batch_begin, batch_end; /* events delivered before the batch, and with it; unwanted ones count */
  bool is_at_end;                  /* the end follows the last event: kymo_trace_next reported it */
  uint64_t pause_number;           /* no batch is merged from this number on (pause.h); 0: never */
  bool is_landing_known;           /* see below */
  bool are_numbered;               /* the batch, since some were left out */
  int64_t landed_ns;               /* seek target, if event numbers are relative … */
  uint64_t landed_number;          /* … this event … */
  struct kymo_checkpoint landing;  /* … and its place, once known */
  struct kymo_checkpoints checkpoints, relative; /* by numbers from the start, by relative ones */
  struct kymo_back *back;                        /* NULL: there was no move back */
  struct kymo_segment *segments;                 /* once requested; NULL: not yet */
  size_t segment_count;
  int64_t *batch_times_ns; /* columns of kymo_trace_next_batch, or NULL */
  const struct kymo_event_class **batch_classes;
  uint64_t *batch_offsets;
  size_t checkpoint_bytes;       /* for each of them; 0: the default */
  uint64_t lay_number, lay_back; /* when checkpoints are due; see kymo_checkpoint_lay */

  struct filter_machine *filter;                     /* NULL: none is attached */
  const struct filter_operations *filter_operations; /* if there is a filter */
  bool is_moved;              /* by numbers or back, since the filter returned an event */
  struct kymo_follow *follow; /* NULL: later growth is ignored */
  bool is_at_rest;            /* no event could be returned: a round of looking is due */

  bool stops_at_damage;   /* kymo_trace_set_policy */
  size_t damage_reported; /* how much of it was returned as an error */
  size_t damage_limit;    /* 0: as usual */
  struct kymo_error last_error;
  kymo_loss_handler *loss_handler;
  void *loss_user;
  struct kymo_losses losses; /* met so far */
  bool is_quiet;             /* events are passed over: losses and damage are not counted */
  kymo_boundary_handler *boundary_handler;
  void *boundary_user;
  struct kymo_damage *damage;
  size_t damage_count, damage_capacity;
  size_t damage_unlisted; /* places after the list, including that of its last entry */
  char *unlisted_text;    /* the message of that entry */
  struct kymo_warning *warnings;
  size_t warning_count, warning_capacity;
};

/* Creates an open trace without parts, or NULL; then parts and streams are added, then it is finished:
 * streams ordered, clocks checked. (kymo_trace_open does all this.) */
struct kymo_trace *kymo_trace_new(void);
/* kymo_trace_open and kymo_trace_open_set, with the formats that a path may be of; NULL ends them. */
int kymo_trace_open_with(struct kymo_trace **out, const struct kymo_format *const *formats,
                         const char *const *paths, size_t count, const struct kymo_trace_options *options,
                         size_t size, struct kymo_error *error);
int kymo_trace_open_set_with(struct kymo_trace **out, const struct kymo_format *const *formats,
                             const struct kymo_input *inputs, size_t input_size, size_t count,
                             const struct kymo_trace_options *options, size_t size, struct kymo_error *error);
/* Gives the trace a descriptor, which it closes at its end. */
void kymo_trace_own_file(struct kymo_trace *trace, int file);
int kymo_trace_finish(struct kymo_trace *trace, struct kymo_error *error);

/* Numbers the event classes (info.c). */
void kymo_trace_number_kinds(struct kymo_trace *trace);

/* Streams were added: orders them again, and adds the new ones to the merge. */
int kymo_trace_take_in(struct kymo_trace *trace, struct kymo_error *error);

/* ---- moving (next.c) ---- */

/* Merges the next batch, when the last one was returned: KYMO_OK, KYMO_END, KYMO_AGAIN or negative. May
 * contain no wanted event. */
int kymo_trace_merge_batch(struct kymo_trace *trace, struct kymo_error *error);
/* As kymo_trace_next, for the filter: events that the prefilters hold back are left out. */
int kymo_trace_move_on(struct kymo_trace *trace, const struct kymo_event **event, struct kymo_error *error);
/* Whether there is damage that was not returned as an error yet, and returns it. (status.c) */
bool kymo_trace_met_damage(struct kymo_trace *trace, struct kymo_error *error);
/* Drops the batch: the last event delivered is this one. Then streams and cursors must be set. */
int kymo_trace_drop_batch(struct kymo_trace *trace, uint64_t number, struct kymo_error *error);
/* The last event delivered has this number from now on, and all others accordingly. */
void kymo_trace_renumber(struct kymo_trace *trace, uint64_t number);
/* Numbers the rest of the batch, and keeps the wanted events. */
void kymo_trace_select(struct kymo_trace *trace);
/* The stream's next event is the `given`-th that it found ahead. */
void kymo_trace_set_cursor(struct kymo_trace *trace, struct stream_state *stream, uint32_t given);

/* After a seek by time, streams without times begin again, and unmerged ones are independent of each other:
 * KYMO_E_ABSENT, since that is no place in the order of all events. (move.c) */
int kymo_trace_check_order(const struct kymo_trace *trace, struct kymo_error *error);

/* ---- streams (stream.c) ---- */

/* Makes the state of a stream in the trace's memory; NULL: out of memory. (open.c) */
struct stream_state *kymo_stream_new(struct kymo_trace *trace, const struct kymo_stream *stream,
                                     const struct kymo_stream_source *source);

/* Creates the cursor. KYMO_E_MEMORY; otherwise damage is listed, and the stream is over. */
int kymo_stream_begin(struct stream_state *stream, struct kymo_error *error);
/* Enters the next packet, or event, from any position; waiting notices are dropped. KYMO_OK, or there is
 * none. */
int kymo_stream_enter(struct stream_state *stream);
/* Goes after the packet. */
void kymo_stream_leave(struct stream_state *stream);
/* Reads on until the stream has more events, notices before them, or is at its end: sets the phase. KYMO_OK,
 * or negative if reading cannot continue (out of memory). */
int kymo_stream_advance(struct stream_state *stream, struct kymo_error *error);
/* Finds more events of the packet, when all that were found before are merged; they stay valid until they are
 * delivered. False if there are none, or only kymo_stream_advance may find them. */
bool kymo_stream_look_on(struct stream_state *stream);
/* Passes the first waiting notice to its handler, then advances after it. */
int kymo_stream_pass_notice(struct stream_state *stream, struct kymo_error *error);
/* Moves the stream before its first packet, as if nothing had been read. Events before `begin_ns` will be
 * dropped. */
void kymo_stream_restart(struct stream_state *stream, int64_t begin_ns);
/* The time that orders the stream in the merge. */
int64_t kymo_stream_key(struct stream_state *stream);
/* Allocates the memory of the decoder, once all streams are known. */
int kymo_stream_prepare(struct stream_state *stream, struct kymo_error *error);

/* Continues with the part's new plan: buffered events that were not returned are found again. */
int kymo_stream_renew(struct stream_state *stream, struct kymo_error *error);

/* Corrects known mistakes of the part's tracer. */
void kymo_packet_repair(const struct part_state *part, struct kymo_packet_head *head);
/* Whether this packet was read already, in another file of the same stream (snapshots overlap). `previous`
 * may be NULL. */
bool kymo_packet_is_repeated(const struct stream_state *stream, const struct kymo_packet *previous,
                             const struct kymo_packet *packet);

/* The schema that has the event class; NULL: it is not the trace's. (fields.c) */
const struct kymo_schema *kymo_class_schema(const struct kymo_trace *trace,
                                            const struct kymo_event_class *class_);

static inline struct stream_state *kymo_stream_of(const struct kymo_event *event) {
  return (struct stream_state *)(uintptr_t)event->packet->stream;
}

#endif
