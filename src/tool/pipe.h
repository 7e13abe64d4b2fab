/* SPDX-License-Identifier: MIT */
/* What runs all wanted events of traces through a sink: cat, convert, merge. */
#ifndef KYMO_TOOL_PIPE_H
#define KYMO_TOOL_PIPE_H

#include "tool/input.h"
#include <kymo/sink.h>

struct tool_pipe {
  struct tool_input input;
  const struct kymo_sink *sink; /* NULL: that of the plug-in */
  const struct kymo_sink
      *sink_of_definitions; /* instead of `sink`, if each trace carries definitions of its events; or NULL */
  const char *plugin;       /* file of a plug-in, or NULL */
  const char *sink_options; /* kymo_sink_options.text */
  const char *path;         /* where a sink that makes files puts them; NULL: it writes to stdout */
  bool color;
};

/* Takes "FILE" or "FILE:OPTIONS" of --sink, which is cut in two, as the plug-in; to be told once. */
void tool_pipe_set_plugin(struct tool_pipe *pipe, char *argument, struct argp_state *state);

/* Loads the plug-in, opens the traces, gives their events to the sink, tells about damage and closes stdout.
 * An exit status, after telling what went wrong. */
int tool_pipe(struct tool_pipe *pipe);

#endif
