/* SPDX-License-Identifier: MIT */
/*
 * Slices: a trace is read in pieces of its time, each by a reader of its own, and what they find is the
 * same as what one reader finds.
 *
 *   merged   e e e e | e e e e e | e e e            one reader
 *   slices      0    |     1     |   2              each begins and ends at a cut
 *                    c0          c1
 *
 * At a cut c the merge has delivered everything until all streams have an event or notice next that is not
 * before c. So each stream is at its first one that is not before c, whatever order its own times have;
 * which is where a seek to c lands, unless the heads of packets mislead it. Therefore the seek is not
 * trusted: the *seam*, which is where all streams are, must be the same at the end of a slice and at the
 * begin of the next one. Reading goes on in the same way from equal seams.
 */
#ifndef KYMO_TRACE_SLICE_H
#define KYMO_TRACE_SLICE_H

#include "base/hash.h"
#include "trace/trace.h"

/* Where a trace can be cut, and where it is. All zeros: nowhere. */
struct kymo_slices {
  struct kymo_slice_point *points; /* begins and ends of packets, by time */
  size_t point_count;
  uint64_t bytes;     /* of all wanted packets, about */
  int64_t *cuts_ns;   /* rising */
  size_t count;       /* of slices: one more than cuts; 0: the trace cannot be cut … */
  const char *reason; /* … and why */
};

/* Finds where packets begin, from their heads and the kept index. The trace is opened, and nothing is read
 * from it yet. KYMO_E_MEMORY. The caller frees the slices in any case. */
int kymo_slices_find(struct kymo_slices *slices, struct kymo_trace *trace, struct kymo_error *error);
/* Cuts where packets begin, or the last one of a stream ends, so that a slice has this many bytes of packets
 * or more. A packet that is cut counts in both slices, by its share of time. */
void kymo_slices_cut(struct kymo_slices *slices, const struct kymo_trace *trace, uint64_t slice_bytes);
void kymo_slices_free(struct kymo_slices *slices);

/* The places of all streams, as a hash; two readers with equal ones deliver the same from there on. */
struct kymo_seam {
  struct kymo_hash128 hash;
};

/*
 * Moves to the begin of a slice: KYMO_OK, or negative. `cut_ns` INT64_MIN: the first slice, from the
 * current place on. From then on nothing at or after `end_ns` is delivered: moves return KYMO_END there.
 * INT64_MAX: the last slice. Losses before the begin are not counted.
 */
int kymo_slice_begin(struct kymo_trace *trace, int64_t cut_ns, int64_t end_ns, struct kymo_error *error);
/* The seam at the begin of a slice, or at its end after KYMO_END. False: there is none, since reading broke
 * off. */
bool kymo_slice_seam(const struct kymo_trace *trace, struct kymo_seam *seam);

/* Where an event is. */
struct kymo_slice_place {
  uint32_t stream; /* kymo_stream.number */
  struct kymo_position packet;
  uint64_t offset_bits; /* in the packet */
};
static inline struct kymo_slice_place kymo_slice_place_of(const struct kymo_event *event) {
  return (struct kymo_slice_place){.stream = event->packet->stream->number,
                                   .packet = {kymo_stream_of(event)->file, event->packet->offset},
                                   .offset_bits = event->offset_bits};
}
/* Reads one event again, with a reader that moves nothing: *event is valid until
 * kymo_lookahead_free(*reader), which is needed in any case. KYMO_E_FORMAT: there is no such event (any
 * more). */
int kymo_slice_read(struct kymo_trace *trace, const struct kymo_slice_place *place,
                    struct kymo_trace **reader, const struct kymo_event **event, struct kymo_error *error);

/* Adds what other readers lost to the trace's losses. */
void kymo_trace_add_losses(struct kymo_trace *trace, const struct kymo_losses *losses);

#endif
