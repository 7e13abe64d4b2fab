/* SPDX-License-Identifier: MIT */
/*
 * The flight recorder of kymo record --snapshot-on: no recorder drains the rings, which are overwritten, and
 * at certain events they are copied. Snapshots become snapshot-1, snapshot-2, … in one directory.
 */
#ifndef KYMO_LIVE_FLIGHT_H
#define KYMO_LIVE_FLIGHT_H

#include "base/strbuf.h"
#include "live/drain.h"
#include "ring/places.h"
#include <kymo/error.h>
#include <stdbool.h>
#include <stddef.h>

struct kymo_flight {
  const char *rings, *directory; /* directory of the pools, directory of the snapshots */
  bool ctf2;
  size_t snapshots;        /* taken so far */
  struct kymo_strbuf kept; /* the result of kymo_flight_kept */
};

/* Takes a snapshot of all processes, in which `why` is noted; `directory` becomes its place. KYMO_OK,
 * KYMO_END: no process has recorded anything yet, or negative with the error. */
int kymo_flight_snapshot(struct kymo_flight *flight, const char *why, struct kymo_drain_sum *sum,
                         char directory[KYMO_PATH_MAX], struct kymo_error *error);
/* Writes the cause of the snapshot to the trace in `directory`, one line, which kymo info shows. */
int kymo_flight_put_cause(const char *directory, const char *why, struct kymo_error *error);
/* Removes rings of dead processes, except the newest few, which the next snapshot needs. */
void kymo_flight_clean(const struct kymo_flight *flight);
/* Removes all rings. */
void kymo_flight_end(const struct kymo_flight *flight);
/* The existing rings, borrowed until the next call; NULL after the last one. */
const char *kymo_flight_kept(struct kymo_flight *flight, size_t index);
void kymo_flight_free(struct kymo_flight *flight);

#endif
