/* SPDX-License-Identifier: MIT */
/*
 * What outputs, symbols and statistics ask of an open trace, besides kymo/read.h. Its state (trace/trace.h)
 * is for the trace, for its filter, and for what opens it.
 */
#ifndef KYMO_TRACE_PART_H
#define KYMO_TRACE_PART_H

#include "decode/plan.h"
#include <kymo/read.h>

/* ---- parts (part.c) ---- */

/* All that reading needs to know about the schema of a part. */
const struct kymo_schema_plan *kymo_part_plan(const struct kymo_part *part);
/* Added to all times of the part. */
int64_t kymo_part_offset_ns(const struct kymo_part *part);
/* Whether all its streams are made of packets; streams of other formats return event after event. */
bool kymo_part_has_packets(const struct kymo_part *part);
/* Whether one of its streams is made of several files, in which packets may come twice. */
bool kymo_part_may_repeat(const struct kymo_part *part);
/* The directories in which a recorder may have written files for this part; NULL after the last. */
const char *kymo_part_place(const struct kymo_part *part, size_t index);

/* ---- the trace (part.c) ---- */

/* The times between which events are returned; at first INT64_MIN and INT64_MAX. */
void kymo_trace_times(const struct kymo_trace *trace, int64_t *begin_ns, int64_t *end_ns);
/* Leaves out events without a time from now on: they are in no window of time. (next.c) */
void kymo_trace_want_times(struct kymo_trace *trace);
/*
 * Whether events that kymo_trace_select_classes leaves out may be dropped before merging, which is much
 * faster. The others come in the same order, and damage is met at the same places; but their numbers only
 * distinguish them, and are no places to move to, and where one ends is not known (kymo_event_end). Set
 * before the first event after a move; the next move is kymo_trace_rewind or kymo_trace_goto_time. Not with a
 * filter, which may have to see all events, and not for a trace that grows. (next.c)
 */
void kymo_trace_thin(struct kymo_trace *trace, bool is_thinned);
/*
 * Of each part, only events between the times at which all of its streams have packets are delivered from now
 * on. Before the first move; the earliest and the latest of these times, or the ends of all times.
 * (intersect.c)
 */
int kymo_trace_intersect(struct kymo_trace *trace, int64_t *begin_ns, int64_t *end_ns,
                         struct kymo_error *error);
/*
 * How often each class occurs among the selected events, by its number: `counts` begins as zeros. Then the
 * trace is before its first event again. Much faster than reading events, since nothing is merged: damage is
 * met in the order in which a few streams at a time are read. Only for a trace that can count: before its
 * first event, without a filter or a window of time. KYMO_OK or negative. (count.c)
 */
bool kymo_trace_can_count(const struct kymo_trace *trace);
int kymo_trace_count_classes(struct kymo_trace *trace, uint64_t *counts, struct kymo_error *error);
/* Whether memory for what the trace keeps was missing. */
bool kymo_trace_lacks_memory(const struct kymo_trace *trace);
/* Notes that memory was missing. */
void kymo_trace_note_no_memory(struct kymo_trace *trace);

#endif
