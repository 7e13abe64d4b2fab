/* SPDX-License-Identifier: MIT */
/* kymo stat PID. */
#ifndef KYMO_TOOL_STAT_H
#define KYMO_TOOL_STAT_H

#include <stdbool.h>
#include <stdint.h>

struct tool_stat {
  int pid;
  char *rings; /* of a process that was given by its name; else NULL */
  int64_t interval_ns;
  bool once, json;
  bool is_live; /* on a terminal: replaces the previous table */
};

/* Reads the process's rings and prints to stdout until it ends. Returns an exit status; reports the reason on
 * failure. */
int tool_stat_process(struct tool_stat *stat);

#endif
