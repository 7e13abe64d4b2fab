/* SPDX-License-Identifier: MIT */
/*
 * The flight recorder of kymo record --snapshot-on: nobody drains the rings, which are overwritten, and when
 * something happens they are copied as they stand. Snapshots become snapshot-1, snapshot-2, … in one
 * directory.
 */
#ifndef KYMO_LIVE_FLIGHT_H
#define KYMO_LIVE_FLIGHT_H

#include <kymo/error.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* What a snapshot is taken on. */
struct kymo_flight_triggers {
  bool any;
  sigset_t signals; /* sent to kymo record */
  bool exit_code;   /* the command's is not 0 */
  bool crash;       /* a signal has killed the command or another recorded process */
};

/* Adds one: "exit-code", "crash", or a signal's name or number. False: it is none. */
bool kymo_flight_add(struct kymo_flight_triggers *triggers, const char *word);

struct kymo_flight {
  const char *rings, *directory; /* where pools lie, where snapshots go */
  bool ctf2, quiet;
  size_t snapshots; /* taken so far */
};

/* Takes a snapshot of all processes and says so; `why` is printed, and noted in it. */
int kymo_flight_snapshot(struct kymo_flight *flight, const char *why, struct kymo_error *error);
/* Notes in the trace in `directory` what it was taken on, one line, which kymo info shows. */
int kymo_flight_put_cause(const char *directory, const char *why, struct kymo_error *error);
/* Keeps the rings of dead processes, the newest few alone, for the next snapshot. */
void kymo_flight_clean(const struct kymo_flight *flight);
/* Removes all rings. */
void kymo_flight_end(const struct kymo_flight *flight);

#endif
