/* SPDX-License-Identifier: MIT */
/* kymo record while it records (kymo/live.h): its signals, and its messages. */
#ifndef KYMO_TOOL_RECORDING_H
#define KYMO_TOOL_RECORDING_H

#include <kymo/live.h>
#include <signal.h>

/* The events that trigger a snapshot. */
struct tool_triggers {
  bool any;
  sigset_t signals; /* sent to kymo record */
  bool exit_code;   /* the command's is not 0 */
  bool crash;       /* a signal has killed the command or another recorded process */
};

/* Adds one: "exit-code", "crash", or a signal's name or number. False: it is none of these. */
bool tool_trigger_add(struct tool_triggers *triggers, const char *word);

struct tool_recording {
  char *const *command; /* NULL-ended; or NULL, and … */
  int pid;              /* … a running process */
  int64_t duration_ns;  /* -1: until a signal comes or the process ends */
  struct kymo_recording_options options;
  struct tool_triggers triggers; /* if any: snapshots alone */
  bool quiet;
};

/* Returns the exit status for `kymo record`: the command's (128 + its signal if it was killed), 1 if the
 * command succeeded but the trace is incomplete, 3 if nothing could be started, 126 or 127 if the command
 * cannot be run. */
int tool_record_command(const struct tool_recording *what);
/* Returns 0, 1 if the trace is incomplete, 3 if nothing could be recorded. */
int tool_record_process(const struct tool_recording *what);

#endif
