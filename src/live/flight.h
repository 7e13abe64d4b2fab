/* SPDX-License-Identifier: MIT */
/*
 * The flight recorder of kymo record --snapshot-on: nobody drains the rings, which are overwritten, and when
 * something happens they are copied as they stand. Snapshots become snapshot-1, snapshot-2, … in one
 * directory.
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
  const char *rings, *directory; /* where pools are, where snapshots go */
  bool ctf2;
  size_t snapshots;        /* taken so far */
  struct kymo_strbuf kept; /* what kymo_flight_kept returned */
};

/* Takes a snapshot of all processes, in which `why` is noted; `directory` becomes its place. KYMO_OK,
 * KYMO_END: no process has recorded anything yet, or negative with the error. */
int kymo_flight_snapshot(struct kymo_flight *flight, const char *why, struct kymo_drain_sum *sum,
                         char directory[KYMO_PATH_MAX], struct kymo_error *error);
/* Notes in the trace in `directory` what it was taken on, one line, which kymo info shows. */
int kymo_flight_put_cause(const char *directory, const char *why, struct kymo_error *error);
/* Keeps the rings of dead processes, the newest few alone, for the next snapshot. */
void kymo_flight_clean(const struct kymo_flight *flight);
/* Removes all rings. */
void kymo_flight_end(const struct kymo_flight *flight);
/* The rings that are there, borrowed until the next call; NULL after the last one. */
const char *kymo_flight_kept(struct kymo_flight *flight, size_t index);
void kymo_flight_free(struct kymo_flight *flight);

#endif
