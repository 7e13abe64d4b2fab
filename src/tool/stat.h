/* SPDX-License-Identifier: MIT */
/* kymo stat PID. */
#ifndef KYMO_TOOL_STAT_H
#define KYMO_TOOL_STAT_H

#include <stdbool.h>
#include <stdint.h>

struct tool_stat {
  int pid;
  char *rings; /* of a process that is known by its name; else NULL */
  int64_t interval_ns;
  bool once, json;
  bool is_live; /* on a terminal: in place of what was there */
};

/* Looks at the process's rings and prints to stdout until it ends. An exit status, after telling why not. */
int tool_stat_process(struct tool_stat *stat);

#endif
