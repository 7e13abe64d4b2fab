/* SPDX-License-Identifier: MIT */
/* Writing CTF traces as CTF by several jobs (tool/jobs.h): each writes the files of some streams. */
#ifndef KYMO_TOOL_JOBS_WRITE_H
#define KYMO_TOOL_JOBS_WRITE_H

#include "tool/jobs.h"
#include <kymo/sink.h>

struct tool_writing {
  struct kymo_trace *trace; /* before its first event */
  const struct kymo_sink *sink;
  struct kymo_sink_state *state; /* it has begun */
  unsigned jobs;                 /* 0: it is not given */
};

/* Whether this sink is one that jobs can write with. */
bool tool_jobs_can_write(const struct kymo_sink *sink);
/* Writes the events, if jobs can do it and there are enough bytes, or `jobs` says how many. The caller ends
 * the sink in any case. After TOOL_JOBS_UNDONE, nothing is written. */
enum tool_jobs_result tool_jobs_write(const struct tool_writing *writing);

#endif
