/* SPDX-License-Identifier: MIT */
/*
 * Printing a trace by several jobs (tool/jobs.h). What a job prints of a slice is kept in memory until its
 * turn. If that comes before the slice is read, the rest is written at once.
 *
 * A sink begins anew with each slice. Of what it prints of the first event, it may have needed to know the
 * event before, as for the time since then: so that part is printed again when the slice is joined, by a
 * sink that has printed the event before, too.
 *
 *   of the slice      header, F1, F2, F3 …      the header, and F1, are left out, but of slice 0
 *   at its turn       header, P, F1             P: the last event of the slice before; only F1 is kept
 */
#ifndef KYMO_TOOL_JOBS_PRINT_H
#define KYMO_TOOL_JOBS_PRINT_H

#include "tool/jobs.h"
#include <kymo/sink.h>

struct tool_printing {
  struct kymo_trace *trace; /* before its first event */
  const struct kymo_sink *sink;
  const struct kymo_sink_options *options;
  unsigned jobs; /* 0: it is not given */
  /* what they have printed to the standard output and error stream */
  uint64_t out_bytes, err_bytes;
};

/* Prints the events, if jobs can do it and there are enough events, or `jobs` says how many. */
enum tool_jobs_result tool_jobs_print(struct tool_printing *printing);
/* A stream that passes to `to`, stdout or stderr, what follows the first bytes; NULL: out of memory.
 * Unbuffered. */
FILE *tool_jobs_rest(FILE *to, uint64_t bytes);

#endif
