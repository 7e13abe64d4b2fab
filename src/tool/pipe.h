/* SPDX-License-Identifier: MIT */
/* Passes all wanted events of traces to a sink: for cat, convert, merge. */
#ifndef KYMO_TOOL_PIPE_H
#define KYMO_TOOL_PIPE_H

#include "tool/input.h"
#include <kymo/sink.h>

struct tool_pipe {
  struct tool_input input;
  const struct kymo_sink *sink; /* NULL: that of the plug-in */
  const struct kymo_sink
      *sink_of_definitions; /* instead of `sink`, if each trace contains definitions of its events; or NULL */
  const char *plugin;       /* file of a plug-in, or NULL */
  const char *sink_options; /* kymo_sink_options.text */
  const char *path;         /* output path of a sink that writes files; NULL: it writes to stdout */
  bool color;
  unsigned jobs; /* how many read the trace; 0: it is not given */
};

/* Sets "FILE" or "FILE:OPTIONS" of --sink, which is cut in two, as the plug-in; called once. */
void tool_pipe_set_plugin(struct tool_pipe *pipe, char *argument, struct argp_state *state);

/* Loads the plug-in, opens the traces, passes their events to the sink, reports damage and closes stdout.
 * Returns an exit status; reports the reason on failure. */
int tool_pipe(struct tool_pipe *pipe);

#endif
