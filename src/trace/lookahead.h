/* SPDX-License-Identifier: MIT */
/*
 * A lookahead reader: a second reader of the streams of a trace, merged in the same way, which moves nothing
 * and lists no damage. The part that it passes adds checkpoints to the trace.
 */
#ifndef KYMO_TRACE_LOOKAHEAD_H
#define KYMO_TRACE_LOOKAHEAD_H

#include "trace/trace.h"

/* A separate trace with copies of these streams, in their order, before the first event; to be freed by
 * kymo_lookahead_free in any case. NULL: out of memory. */
struct kymo_trace *kymo_lookahead_new(const struct kymo_trace *trace, struct stream_state *const *streams,
                                      size_t count);
void kymo_lookahead_free(struct kymo_trace *lookahead);

#endif
