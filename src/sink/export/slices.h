/* SPDX-License-Identifier: MIT */
/*
 * A trace as viewers of time lines see it: rows for threads, slices on them (spans), and instants (all other
 * events). Slices of a row are nested, since these formats know an end only as that of the innermost slice:
 *
 *   read  ├──────────────┤           a begins, b begins, a ends, b ends
 *   a     ├────────┤
 *   b         ├────┊────┤            b is closed before a, and goes on in a slice of the same name
 *
 * Once spans of a kind have overlapped others so, later ones of this kind are apart, in a row of their own:
 * there they are nested among themselves, since an end belongs to the latest begin of its kind.
 */
#ifndef KYMO_SINK_EXPORT_SLICES_H
#define KYMO_SINK_EXPORT_SLICES_H

#include "stat/latencies.h"
#include <kymo/sink.h>

/* A process of a part, since processes of other parts may be of other machines; or the part, if neither it
 * nor its events say which. */
struct kymo_slice_process {
  uint32_t number; /* from 0, in the order of their first events */
  const struct kymo_part *part;
  const char *name; /* of the program, or else of the trace */
  bool has_id;
  int64_t id;
};

/* A row: a thread, or whatever else events are grouped by where there are none. */
struct kymo_slice_row {
  uint32_t number;  /* from 0, in the order of their first events */
  const char *name; /* that of the thread, if it is known */
  const struct kymo_slice_process *process;
  bool is_first; /* of its process */
  bool has_thread;
  int64_t thread;
};

struct kymo_slice {
  const struct kymo_slice_row *row;
  const char *name; /* of the kind of spans, or of the event */
  uint32_t kind;    /* from 1, in the order of first spans; kinds of one name may be several */
  int64_t time_ns;
  uint64_t number;   /* of a span, from 1 */
  bool is_apart;     /* in the row of its kind */
  bool goes_on;      /* it began before, or does not end here */
  bool is_over_loss; /* an end: events are lost between its begin and here, so it may be another's */
  int64_t self_ns;   /* an end: how long it was the innermost one of its thread */
  const struct kymo_event *event; /* whose fields belong to it, or NULL */
  struct kymo_span *span;         /* NULL: an instant. `track` is the sink's, and 0 at the begin */
};

/* What a sink does with them; a function that fails has filled the error. */
struct kymo_slice_style {
  int (*row)(struct kymo_sink_state *state, const struct kymo_slice_row *row, struct kymo_error *error);
  int (*begin)(struct kymo_sink_state *state, const struct kymo_slice *slice, struct kymo_error *error);
  int (*end)(struct kymo_sink_state *state, const struct kymo_slice *slice, struct kymo_error *error);
  int (*instant)(struct kymo_sink_state *state, const struct kymo_slice *slice, struct kymo_error *error);
};

enum { KYMO_LOSS_NAME = 48 };

struct kymo_slices {
  struct kymo_trace *trace;
  const struct kymo_slice_style *style;
  struct kymo_sink_state *state;
  struct kymo_whos whos;
  struct kymo_edges edges;
  struct kymo_gaps gaps;
  struct kymo_latencies latencies;
  struct kymo_grouping grouping;
  struct kymo_groups *groups; /* by part; `calls` of a group: the number of its row + 1 */
  size_t part_count;
  const struct kymo_slice_process **processes;
  size_t process_count, process_capacity;
  const struct kymo_slice_row **rows, **rest; /* rest: by part, of events that no row is known of */
  size_t row_count, row_capacity;
  struct kymo_slice_kind {
    uint32_t number; /* 0: none was met */
    bool is_apart;
  } * kinds;
  uint32_t kind_count; /* those that were met */
  struct kymo_arena arena;
  /* while an event is taken */
  const struct kymo_slice_row *row;
  struct kymo_error *error;
  int status;
  bool is_edge;
  uint64_t span_count;
};

/* Gets ready for a trace that is at its start. Ended by kymo_slices_end also after a failure. */
int kymo_slices_begin(struct kymo_slices *slices, struct kymo_trace *trace,
                      const struct kymo_slice_style *style, struct kymo_sink_state *state,
                      struct kymo_error *error);
/* Takes an event, which must have a time. */
int kymo_slices_event(struct kymo_slices *slices, const struct kymo_event *event, struct kymo_error *error);
/* Events are lost. Stores what the loss is called: "12 events lost". */
void kymo_slices_loss(struct kymo_slices *slices, const struct kymo_loss *loss, char name[KYMO_LOSS_NAME]);
void kymo_slices_end(struct kymo_slices *slices);

#endif
