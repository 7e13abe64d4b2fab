/* SPDX-License-Identifier: MIT */
/* Reading by steps of bounded time: a filter that selects little does not read on for long. */
#ifndef KYMO_TRACE_PAUSE_H
#define KYMO_TRACE_PAUSE_H

#include <kymo/read.h>

/* From now on, when about this many events more were passed, moves forward return KYMO_AGAIN instead of
 * looking for more, until this is called again. 0: no more pauses. */
void kymo_trace_pause_after(struct kymo_trace *trace, uint64_t events);
/* The number of the last event that was passed, whether it was returned or not; it only shows the order after
 * kymo_trace_goto_time. */
uint64_t kymo_trace_passed(const struct kymo_trace *trace);

#endif
