/* SPDX-License-Identifier: MIT */
/*
 * The open trace: parts, streams, and the tree that merges them.
 *
 *   kymo_trace ── parts[] ── schema plan
 *              ├─ streams[] in the order that breaks ties ── cursor ── packet ── events[]
 *              └─ picks[]: the next events of all streams, merged
 *
 * Each stream finds some events ahead in its packet (or it has a notice to give: a loss, a boundary); the
 * trace merges ahead and keeps pointers to events in the order of time. Doing each by the dozen, not by one,
 * keeps decoding, merging and the caller from disturbing one another. A stream looks on only when all its
 * events were given out; so does the trace with its picks. Everything about an event thus holds until the
 * next call.
 */
#ifndef KYMO_TRACE_TRACE_H
#define KYMO_TRACE_TRACE_H

#include "decode/clock.h"
#include "decode/packet.h"
#include "source/format.h"
#include "source/modules.h"
#include "source/notes.h"
#include "trace/checkpoint.h"
#include "trace/index.h"
#include "trace/merge.h"

/* What a part was described by before it grew: events and outputs may still point there. */
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
  uint32_t first_kind; /* event classes of the parts before */
  struct kymo_clock_snapshots clocks;
  struct kymo_recorder_notes notes;
  struct kymo_module *modules; /* the load map, in the order of loading */
  size_t module_count, module_capacity;
  uint32_t quirks;
  uint32_t place;          /* in the order that breaks ties, before anything else */
  int64_t clock_offset_ns; /* added to all its times */
  bool has_window;         /* only what is within these times is delivered: kymo_trace_intersect */
  int64_t window_begin_ns, window_end_ns;
  struct stream_state **streams; /* by index; owned */
  uint32_t capacity;
  struct kymo_section *sections; /* in the order of the file */
  size_t section_count, section_capacity;
  const char **places; /* directories, see kymo_part_add_place */
  size_t place_count, place_capacity;
  bool has_index; /* what was kept of the streams' indexes is loaded */
};

enum stream_phase {
  STREAM_NEW,     /* nothing read yet */
  STREAM_EVENT,   /* there are events */
  STREAM_NOTICE,  /* notices come before the next event */
  STREAM_WAITING, /* no event now: the key is a time before which none is expected */
  STREAM_DONE,
};

/* A stream's events that were not merged yet: their times first, for merging needs no more. Together, for
 * all streams, so that many streams need few cache lines. */
struct merge_cursor {
  uint64_t following;     /* the merge's key of the event behind `next` */
  const int64_t *time_ns; /* of `next` */
  struct kymo_event *next, *end;
};

#define KYMO_CACHE_LINE 64
_Static_assert(sizeof(struct kymo_event) <= KYMO_CACHE_LINE, "lookup and merge are planned per cache line");

/* What a stream tells between events. */
struct stream_notice {
  bool is_loss, has_time;
  int64_t time_ns; /* the first one that the notice has; else INT64_MIN */
  struct kymo_loss loss;
  struct kymo_boundary boundary;
};

/* At most: the stream begins, events and packets are lost, a packet begins. */
#define STREAM_NOTICES 4

/* Events that were discarded for one reason, by a counter in the packets. */
struct loss_cause {
  const char *name;
  uint64_t count;
};
#define LOSS_CAUSES 8

struct stream_state {
  struct kymo_stream stream;             /* first: a kymo_stream is its stream_state */
  struct loss_cause causes[LOSS_CAUSES]; /* as kymo_stream_describe found them */
  struct kymo_trace *trace;
  struct part_state *part;
  const struct kymo_source_operations *operations;
  void *source;
  struct kymo_cursor *cursor; /* NULL until the first move, and after the end */
  const char *path;           /* of the file that the packet is in */
  bool may_repeat;
  bool in_packet;
  bool is_through;         /* … all of whose events were given out */
  bool is_ahead;           /* there are events already, for the notices before them */
  bool is_begun, is_ended; /* the stream's boundaries were told */
  bool is_told;            /* the packet's first boundary was */
  bool has_end_time;       /* the packet has a field for it */
  bool is_cut;             /* the packet is longer than the file */
  bool has_told_beyond;    /* that events have times beyond 64 bits */
  bool has_previous;
  int64_t entered_ns; /* when the packet was there, if the trace is followed */
  /* of the file, as seen while following, oldest first */
  struct follow_sizes {
    uint32_t file, count;
    struct {
      int64_t at_ns;
      uint64_t bytes;
    } list[16];
  } sizes;
  int64_t undescribed_ns; /* since when an event waits whose class is not described, or 0 */
  enum stream_phase phase;
  uint32_t rank;               /* in trace->streams */
  uint64_t packet_bytes;       /* what to skip to get behind the packet */
  struct kymo_packet previous; /* the one before */
  struct stream_notice notices[STREAM_NOTICES];
  unsigned notice_count, notice_next;
  struct kymo_event place; /* stands for the packet (struct kymo_boundary) */
  struct kymo_run run;     /* the last slow step; what was wrong with an event */
  uint64_t budget;         /* see KYMO_SPEND_LIMIT */
  struct kymo_index index;
  int64_t begin_ns; /* what is before this is dropped, up to the first event that is not; else INT64_MIN */
  uint64_t packet_count; /* entered so far, with the one at hand */
  uint64_t ordinal;      /* the same (or events that the format steps over), since the stream began */
  uint64_t entry_clock;  /* before the packet's head was read */
  uint32_t file;         /* kymo_chunk.file of the packet */
  const struct kymo_screen *screen; /* or NULL */
  /* where the stream last looked ahead from */
  struct stream_ahead {
    uint64_t next_bits, clock, budget;
    uint32_t dropped; /* of the events found, before begin_ns */
    bool is_damaged;  /* the first of them is told so */
  } ahead;
  bool has_damage;  /* since the last event */
  uint64_t located; /* number of the event that segments and slots are about; 0: none */
  uint64_t *segments;
  uint64_t context_bits; /* where the packet's context begins */

  /* What looking ahead needs, in two cache lines: its end begins the first. */
  struct kymo_packet packet;           /* as far as decoding ahead goes */
  uint64_t next_bits;                  /* where the next event header to be decoded may begin */
  uint64_t clock;                      /* there; full value */
  const struct kymo_spot *spots;       /* of the packet's events; NULL: they are found by decoding */
  uint32_t spot_count, spot_next;      /* spot_next: of the event at next_bits */
  bool tells_segments, begins_segment; /* as the packet's chunk does */
  const struct kymo_stream_plan *plan;
  struct kymo_event *events; /* found ahead */
  uint64_t *slots;
  int64_t *times_ns; /* of the events */
  uint32_t event_count, event_capacity;
  uint64_t guard_faults; /* of all mappings, when last looked at: base/guard.h */
  struct kymo_ns ns;
};

/* Where an event stands in the order of times: its time, else that of what came before it in its stream. */
int64_t kymo_place_ns(const struct kymo_event *event);

/* Leaves out events without a time from now on: they are in no window of time. */
void kymo_trace_want_times(struct kymo_trace *trace);
/* Whether the event is given to nobody while the trace selects. */
bool kymo_event_is_unwanted(const struct kymo_trace *trace, const struct kymo_event *event);

struct filter_machine;

/* What the trace asks of its filter, which is a layer above. */
struct filter_operations {
  /* Other events are wanted from now on: what was seen of them holds no more. */
  void (*start_anew)(struct filter_machine *machine);
  void (*free)(struct filter_machine *machine);
};

/* Events that are merged ahead, at most. */
#define KYMO_PICKS 256

struct kymo_trace {
  struct kymo_arena arena; /* plans, paths, damage texts */
  struct part_state **parts;
  size_t part_count, part_capacity;
  struct stream_state **streams; /* in rank order, once opened */
  size_t stream_count;
  struct kymo_open_options options;
  const struct kymo_format *const *formats; /* NULL at the end: all that a path may be of */
  const struct found *found;                /* while opening: by format, what was found */
  struct retired_schema *keys;              /* shares */
  bool has_own_file;
  int own_file; /* what came from memory or a descriptor (feed.c) */

  struct merge merge;
  struct merge_cursor *cursors; /* by rank */
  int64_t *heads_ns;            /* for building the tree: what stands next in each stream … */
  bool *are_over;               /* … or that nothing does */
  size_t merge_capacity;        /* streams that there is room for */
  bool is_merging;              /* the tree is made */
  uint32_t alone;               /* unmerged: the first stream that is not done, by rank */
  bool must_build;              /* a key is far: the tree may be wrong */
  struct stream_state *empty;   /* its events are all picked: it must look ahead before merging goes on */
  bool is_selecting;            /* there are classes, or events, that are not wanted */
  bool wants_times;             /* … events without a time are none: a window of time was asked for */
  bool is_screened;             /* streams have screens, so the picks are for the filter alone (screen.h) */
  bool may_screen;              /* the filter has some, and nobody else has moved from where it was */
  struct kymo_event **picks;
  uint32_t pick_next, pick_limit, pick_count; /* those from the limit on are behind end_ns */
  uint32_t straight;               /* so many picks from the first on are events behind one another */
  int64_t begin_ns, end_ns;        /* see kymo_goto_time (INT64_MIN: from the start), kymo_set_end_time */
  bool has_jumped;                 /* events may come more than once */
  uint64_t number;                 /* of the last event */
  uint64_t batch_begin, batch_end; /* events delivered before the picks, and with them; unwanted ones count */
  bool is_behind;                  /* the last event is behind: kymo_get_next told so */
  bool is_landing_known;           /* see below */
  bool are_numbered;               /* the picks, since some were left out */
  int64_t landed_ns;               /* if numbers are relative: the time that was gone to, behind … */
  uint64_t landed_number;          /* … this event … */
  struct kymo_checkpoint landing;  /* … and where that is, once known */
  struct kymo_checkpoints checkpoints, relative; /* by numbers from the start, by relative ones */
  struct kymo_back *back;                        /* NULL: nobody went back */
  struct kymo_segment *segments;                 /* once asked for; NULL: not yet */
  size_t segment_count;
  int64_t *batch_times_ns; /* columns of kymo_next_batch, or NULL */
  const struct kymo_event_class **batch_classes;
  uint64_t *batch_offsets;
  size_t checkpoint_bytes;       /* for both of them each; 0: as usual */
  uint64_t lay_number, lay_back; /* when checkpoints are due; see kymo_checkpoint_lay */

  struct filter_machine *filter;                     /* NULL: none is attached */
  const struct filter_operations *filter_operations; /* if there is a filter */
  bool is_moved;                                     /* by numbers or back, since the filter gave an event */
  struct kymo_follow *follow;                        /* NULL: what is written later does not matter */
  bool is_at_rest;                                   /* nothing could be told: a round of looking is due */

  bool stops_at_damage; /* kymo_set_policy */
  size_t damage_told;   /* so much of it stopped somebody */
  size_t damage_limit;  /* 0: as usual */
  struct kymo_error last_error;
  kymo_loss_handler *loss_handler;
  void *loss_user;
  struct kymo_losses losses; /* met so far */
  bool is_quiet;             /* events are passed over: what is met is not counted */
  kymo_boundary_handler *boundary_handler;
  void *boundary_user;
  struct kymo_damage *damage;
  size_t damage_count, damage_capacity;
  size_t damage_unlisted; /* places after the list, with the one that its last entry was about */
  char *unlisted_text;    /* the message of that entry */
  struct kymo_warning *warnings;
  size_t warning_count, warning_capacity;
};

/* An open trace without parts, or NULL; then parts and streams are added, then it is finished: streams
 * ordered, clocks checked. (kymo_open does all this.) */
struct kymo_trace *kymo_trace_new(void);
/* kymo_open and kymo_open_set, with the formats that a path may be of; NULL ends them. */
int kymo_trace_open(struct kymo_trace **out, const struct kymo_format *const *formats,
                    const char *const *paths, size_t count, const struct kymo_open_options *options,
                    size_t size, struct kymo_error *error);
int kymo_trace_open_set(struct kymo_trace **out, const struct kymo_format *const *formats,
                        const struct kymo_input *inputs, size_t input_size, size_t count,
                        const struct kymo_open_options *options, size_t size, struct kymo_error *error);
/* Gives the trace a descriptor, which it closes at its end. */
void kymo_trace_own_file(struct kymo_trace *trace, int file);
int kymo_trace_finish(struct kymo_trace *trace, struct kymo_error *error);

/* Gives event classes their numbers (info.c). */
void kymo_trace_number_kinds(struct kymo_trace *trace);

/* Streams were added: orders them anew, and lets the new ones take part in merging. */
int kymo_trace_take_in(struct kymo_trace *trace, struct kymo_error *error);

/* ---- moving (next.c) ---- */

/* Picks the events that come next, when all picks were given out: KYMO_OK, KYMO_END, KYMO_AGAIN or negative.
 * May be none that is wanted. */
int kymo_trace_pick(struct kymo_trace *trace, struct kymo_error *error);
/* As kymo_get_next, for the filter: what the screens hold back is left out. */
int kymo_trace_next(struct kymo_trace *trace, const struct kymo_event **event, struct kymo_error *error);
/* Whether there is damage that was not told yet, and tells it. (status.c) */
bool kymo_trace_met_damage(struct kymo_trace *trace, struct kymo_error *error);
/* Forgets the picks: the last event delivered is this one. Then streams and cursors are to be set. */
int kymo_trace_unpick(struct kymo_trace *trace, uint64_t number, struct kymo_error *error);
/* The last event delivered has this number from now on, and all others accordingly. */
void kymo_trace_renumber(struct kymo_trace *trace, uint64_t number);
/* Numbers the picks that are still to be given out, and keeps those that are wanted. */
void kymo_trace_select(struct kymo_trace *trace);
/* The stream's next event is the `given`-th that it found ahead. */
void kymo_trace_set_cursor(struct kymo_trace *trace, struct stream_state *stream, uint32_t given);

/* Where one lands by time, streams that have none begin anew, and those that are not merged do not know of
 * each other: KYMO_E_ABSENT, for that is no place in the order of all events. (move.c) */
int kymo_trace_check_order(const struct kymo_trace *trace, struct kymo_error *error);

/*
 * Of each part, only what is between the times at which all of its streams have packets is delivered from now
 * on. Before the first move; the earliest and the latest of these times, or the ends of all times.
 * (intersect.c)
 */
int kymo_trace_intersect(struct kymo_trace *trace, int64_t *begin_ns, int64_t *end_ns,
                         struct kymo_error *error);

/* ---- streams (stream.c) ---- */

/* An empty one in the trace's memory, or NULL. (open.c) */
struct stream_state *kymo_stream_new(struct kymo_trace *trace);

/* Makes the cursor. KYMO_E_MEMORY; otherwise damage is noted, and the stream is over. */
int kymo_stream_begin(struct stream_state *stream, struct kymo_error *error);
/* Enters the next packet, or event, from wherever the stream is; notices that wait are dropped. KYMO_OK, or
 * there is none. */
int kymo_stream_enter(struct stream_state *stream);
/* Goes behind the packet. */
void kymo_stream_leave(struct stream_state *stream);
/* Reads on until the stream has more events, notices before them, or is at its end: sets the phase. KYMO_OK,
 * or negative if nothing can go on at all (out of memory). */
int kymo_stream_advance(struct stream_state *stream, struct kymo_error *error);
/* Hands the first waiting notice to its handler, then advances to what is behind it. */
int kymo_stream_pass_notice(struct stream_state *stream, struct kymo_error *error);
/* Puts the stream before its first packet, as if nothing had been read. What is before `begin_ns` will be
 * dropped. */
void kymo_stream_restart(struct stream_state *stream, int64_t begin_ns);
/* Begins the arithmetic of times of a stream's class. */
void kymo_stream_clock(const struct stream_state *stream, const struct kymo_stream_class *class_,
                       struct kymo_ns *ns);
/* The time by which the stream stands in the merge. */
int64_t kymo_stream_key(struct stream_state *stream);
/* Makes the room for noting fields, once the plan is known. */
int kymo_stream_prepare(struct stream_state *stream, struct kymo_error *error);

/* Goes on by the part's new plan: what was found ahead and not given out is found again. */
int kymo_stream_renew(struct stream_state *stream, struct kymo_error *error);

/* Makes good for what the part's tracer is known to do wrong. */
void kymo_packet_repair(const struct part_state *part, struct kymo_packet_head *head);
/* Whether this packet came already, in another file of the same stream (snapshots overlap). `previous` may be
 * NULL. */
bool kymo_packet_is_repeated(const struct stream_state *stream, const struct kymo_packet *previous,
                             const struct kymo_packet *packet);
/* The losses between two packets of a stream, at most two; returns how many. `previous` is NULL
 * before the first packet. Times are left to the caller. */
unsigned kymo_packet_losses(const struct kymo_packet *previous, const struct kymo_packet_head *head,
                            struct kymo_loss losses[2]);

/* Notes in segments and slots where the fields of this event are. */
void kymo_stream_locate(struct stream_state *stream, const struct kymo_event *event);
/* The bit behind an event of a stream of packets, in the packet. */
uint64_t kymo_event_end(const struct kymo_event *event);

/* Starts a walk over what is in a list or group that begins there. (walk.c) */
void kymo_walk_at(struct kymo_walk *walk, const struct kymo_event *event, const struct kymo_node *node,
                  uint64_t at_bits, uint64_t count);

static inline struct stream_state *kymo_stream_of(const struct kymo_event *event) {
  return (struct stream_state *)(uintptr_t)event->packet->stream;
}

/* Where the fields behind the event header begin, in the packet. */
static inline uint64_t kymo_body_bits(const struct kymo_event *event) {
  return event->offset_bits + event->header_bits;
}

/* The stream of an event, with segments and slots that are about it. */
static inline struct stream_state *kymo_located(const struct kymo_event *event) {
  struct stream_state *stream = kymo_stream_of(event);
  if (stream->located != event->number)
    kymo_stream_locate(stream, event);
  return stream;
}

#endif
