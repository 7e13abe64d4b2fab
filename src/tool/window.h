/* SPDX-License-Identifier: MIT */
/* The wanted time range of traces: --begin and --end, both included. */
#ifndef KYMO_TOOL_WINDOW_H
#define KYMO_TOOL_WINDOW_H

#include "tool/input.h"
#include <kymo/time.h>

struct tool_bound {
  const char *option, *text; /* text: NULL if there is no such bound */
  struct kymo_time time;
  int64_t ns;
};

struct tool_window {
  struct tool_bound begin, end;
};

/* The times of the input; its texts are borrowed. Returns an exit status; reports the reason on failure. */
int tool_window_parse(struct tool_window *window, const struct tool_input *input);
/* Moves the trace to the begin, and lets it stop at the end. `intersect`: only where all streams have
 * packets. Returns an exit status; reports the reason on failure. */
int tool_window_apply(struct tool_window *window, struct kymo_trace *trace, bool intersect);

#endif
