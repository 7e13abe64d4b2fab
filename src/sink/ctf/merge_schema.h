/* SPDX-License-Identifier: MIT */
/*
 * The schema of one trace that has the events of several, or of one whose format has no packets.
 *
 *   read       packet context      common context     specific context, payload
 *                   │ without fields that only the reader needs      │
 *   written    common context { source, …packet's, …common }      the same
 *
 * Streams whose new common context is the same are written as one stream; a field `source` identifies the
 * stream of each event. Equal event classes become one.
 */
#ifndef KYMO_SINK_CTF_MERGE_SCHEMA_H
#define KYMO_SINK_CTF_MERGE_SCHEMA_H

#include "sink/ctf/schema.h"
#include <kymo/read.h>

/* A stream class that is read, and the classes of its events in the output. */
struct kymo_ctf_origin {
  const struct kymo_stream_class *stream; /* that is written */
  uint64_t *ids;                          /* of its event classes, by the index of the class that is read */
};

struct kymo_ctf_merged {
  struct kymo_schema *schema;
  struct kymo_ctf_origin **origins; /* by the part's place in `parts` and the index of the stream class */
  size_t part_count;
  unsigned source_bits, id_bits; /* widths; 0: there is no such field */
  bool has_time, is_ns;          /* times are nanoseconds from ns_offset on, else the original cycles */
  bool may_lack_time;            /* event headers contain whether the event has one (KYMO_TIMED) */
  int64_t ns_offset;
  uint64_t first; /* the first time of all if events may have none: their place before any */
};

/* The input of the merge, and the names of its streams, which are borrowed until the end of the call. */
struct kymo_ctf_merge_demand {
  bool is_ctf2;
  struct kymo_trace *trace;
  const struct kymo_part *const *parts;
  size_t part_count;
  const char *const *sources; /* the streams of the parts, one part after another */
  size_t source_count;
};

/* Whether a field of a packet context is copied to each event: not fields that only the reader needs, nor
 * counters within the packet (docs/recording.md). */
bool kymo_ctf_goes_with_events(const struct kymo_member *member);

/* Free with kymo_ctf_merged_free in any case. KYMO_E_LIMIT if they cannot be merged. */
int kymo_ctf_merge_schema(struct kymo_ctf_merged *out, const struct kymo_ctf_merge_demand *demand,
                          struct kymo_error *error);
void kymo_ctf_merged_free(struct kymo_ctf_merged *merged);

#endif
