/* SPDX-License-Identifier: MIT */
/* Counting the events of a trace by several jobs (tool/jobs.h): what each finds goes to a temporary file. */
#ifndef KYMO_TOOL_JOBS_COUNT_H
#define KYMO_TOOL_JOBS_COUNT_H

#include "stat/tally.h"
#include "tool/jobs.h"

/* Adds all events to `tally`, which has none. `jobs` 0: --jobs is not given. After TOOL_JOBS_UNDONE, or
 * _NONE, it has none. */
enum tool_jobs_result tool_jobs_count(struct kymo_trace *trace, struct kymo_tally *tally, unsigned jobs);

#endif
