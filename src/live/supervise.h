/* SPDX-License-Identifier: MIT */
/* Running a command and draining its rings until it ends, whatever way it ends. */
#ifndef KYMO_LIVE_SUPERVISE_H
#define KYMO_LIVE_SUPERVISE_H

#include "live/flight.h"
#include <stdbool.h>
#include <stdint.h>

struct kymo_supervise {
  char *const *command;  /* NULL-ended */
  const char *directory; /* -o, or NULL */
  const char *enable;    /* patterns */
  const char *buffer;    /* as KYMO_BUFFER takes it; NULL: the recorder chooses */
  const char *preload;   /* libraries to load into it, as LD_PRELOAD takes them, or NULL */
  bool overwrite;
  struct kymo_flight_triggers triggers;        /* if any: only snapshots are kept; with overwrite */
  uint64_t rotate_bytes, rotate_seconds, keep; /* as for draining; not with overwrite */
  bool ctf2;                                   /* the traces are CTF 2, not 1.8 */
  bool sync; /* force what is written to the disk every second, not only at the end */
  bool quiet;
};

/* Returns the exit status for `kymo record`: the command's (128 + its signal if it was killed), 1 if the
 * command succeeded but the trace is not whole, 3 if nothing could be started, 126 or 127 if the command
 * cannot be run. */
int kymo_supervise(const struct kymo_supervise *what);

#endif
