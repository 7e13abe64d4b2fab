/* SPDX-License-Identifier: MIT */
/* Recording a process that runs already. */
#ifndef KYMO_TOOL_ATTACH_H
#define KYMO_TOOL_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

struct kymo_attach {
  int pid;
  const char *directory; /* -o, or NULL */
  const char *enable;    /* patterns */
  int64_t duration_ns;   /* -1: until a signal comes or the process ends */
  bool overwrite;
  bool ctf2; /* the trace is CTF 2, not 1.8 */
  bool sync; /* force what is written to the disk every second, not only at the end */
  bool quiet;
};

/* Records from now on; afterwards the process is as it was. Returns the exit status for `kymo record -p`: 0,
 * 1 if the trace is not whole, 3 if nothing could be recorded. */
int kymo_attach(const struct kymo_attach *what);

#endif
