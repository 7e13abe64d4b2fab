/* SPDX-License-Identifier: MIT */
/* Traces that kymo view opens again and again: for the index, for rows, for each task. */
#ifndef KYMO_TOOL_VIEW_TRACES_H
#define KYMO_TOOL_VIEW_TRACES_H

#include "tool/input.h"
#include "view/view.h"

struct tool_traces {
  struct tool_input input;
  char *own;          /* a path that is not of the command line, or NULL */
  const char **words; /* the paths as they were given */
  char **resolved;    /* the same with the rings of processes, NULL at the end */
  struct view_options options;
  char *command, *title, *read_options;
  bool is_said; /* why they could not be opened is printed */
  int status;   /* the exit status for that */
};

struct tool_traces_options {
  enum view_track_by by;
  const char *field;
  bool is_kept; /* the index, in the user's cache */
};

/* Makes `traces`, of which the input is filled, ready for view_open. Returns an exit status; reports the
 * reason on failure. They must not move until they are freed. */
int tool_traces_prepare(struct tool_traces *traces, const struct tool_traces_options *options);
/* Frees all but what the input's options need. */
void tool_traces_free(struct tool_traces *traces);

#endif
