/* SPDX-License-Identifier: MIT */
/*
 * A scout: a second look at the streams of a trace, merged as there, which moves nothing and notes no damage.
 * What it passes gives the trace checkpoints.
 */
#ifndef KYMO_TRACE_SCOUT_H
#define KYMO_TRACE_SCOUT_H

#include "trace/trace.h"

/* A trace of one's own with twins of these streams, in their order, before the first event; for
 * kymo_scout_free in any case. NULL: out of memory. */
struct kymo_trace *kymo_scout_new(const struct kymo_trace *trace, struct stream_state *const *streams,
                                  size_t count);
void kymo_scout_free(struct kymo_trace *scout);

#endif
