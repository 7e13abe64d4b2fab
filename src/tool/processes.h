/* SPDX-License-Identifier: MIT */
/* kymo list, of processes. Both print to stdout and return an exit status, after telling why not. */
#ifndef KYMO_TOOL_PROCESSES_H
#define KYMO_TOOL_PROCESSES_H

#include <stdbool.h>

/* The processes that can be traced; `brief`: their pids; `with_dead`: also the dead ones of which there are rings. */
int tool_list_processes(bool brief, bool with_dead);
/* The tracepoints of a process; `brief`: their names. */
int tool_list_process(int pid, bool brief);

#endif
