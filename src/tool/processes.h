/* SPDX-License-Identifier: MIT */
/* kymo list, for processes. Both print to stdout and return an exit status; the reason of a failure is
 * reported. */
#ifndef KYMO_TOOL_PROCESSES_H
#define KYMO_TOOL_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>

struct tool_listed {
  bool brief;         /* numbers alone */
  bool with_dead;     /* also dead processes with rings */
  const char **words; /* only these, by number or name, which may be a glob; count 0: all */
  size_t count;
};
/* The processes that can be traced. */
int tool_list_processes(const struct tool_listed *listed);
/* The tracepoints of a process; `brief`: their names. */
int tool_list_process(int pid, bool brief);

#endif
