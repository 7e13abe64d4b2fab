/* SPDX-License-Identifier: MIT */
/* Streams apart from each other: outputs that need no order of all events can read one after another. */
#ifndef KYMO_TRACE_APART_H
#define KYMO_TRACE_APART_H

#include <kymo/read.h>

/* Whether all streams can be read apart: they are of CTF files that are not followed, and nothing was read
 * from them yet, apart from seeks. */
bool kymo_trace_can_read_apart(const struct kymo_trace *trace);
/* From now on the trace has the events and losses of this stream alone, from its begin, or from where a seek
 * went: those that it has in the order of all. Once for each stream. KYMO_OK, or KYMO_E_MEMORY. */
int kymo_trace_read_apart(struct kymo_trace *trace, const struct kymo_stream *stream,
                          struct kymo_error *error);
/* The bytes of the stream's files. */
uint64_t kymo_stream_bytes(const struct kymo_stream *stream);

#endif
