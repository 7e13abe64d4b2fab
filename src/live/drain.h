/* SPDX-License-Identifier: MIT */
/*
 * Draining: finds the pools that processes make in one directory and collects each into a trace of its
 * own, while they run and when they are dead.
 */
#ifndef KYMO_LIVE_DRAIN_H
#define KYMO_LIVE_DRAIN_H

#include <kymo/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kymo_drain;

/* What was collected. */
struct kymo_drain_sum {
  size_t processes, still_running;
  uint64_t events, discarded, overwritten;
  uint64_t full;                 /* of the discarded: because a ring was full */
  uint64_t unwritten;            /* of the discarded: could not be written, and are in rings still */
  uint64_t parts, parts_removed; /* 0: not rotated */
  bool is_unsynced;              /* it may not be on the disk */
  struct kymo_error
      left_out; /* code not 0: a file beside the events that a trace lacks, since it could not be read */
};

struct kymo_drain_options {
  const char *rings, *directory; /* where the pools appear; where traces go, one NAME-PID each */
  bool while_running; /* take closed packets at each pass (discard mode), else all at the end (overwrite
                      * mode) */
  bool ctf2;          /* what is finished becomes CTF 2 */
  bool sync;          /* force what is written to the disk every second, not only at the end */
  bool keep_rings;    /* leave the rings as they are: a snapshot */
  /* Rotation, if one is not 0: the traces go into directory/part-000001, … A part of all processes is at most
   * rotate_bytes large, or the description and one packet if that is more, and is written for about
   * rotate_seconds. The newest `keep` parts stay; 0: all. */
  uint64_t rotate_bytes, rotate_seconds, keep;
};
/* NULL: out of memory. */
struct kymo_drain *kymo_drain_new(const struct kymo_drain_options *options);
/* How much there was to take: nothing; something; so much that a ring may soon be full. */
enum kymo_drain_load { KYMO_DRAIN_IDLE, KYMO_DRAIN_BUSY, KYMO_DRAIN_BEHIND };
/* One pass over all pools. What cannot be written stays in the rings, and the next pass tries again. */
int kymo_drain_pass(struct kymo_drain *drain, enum kymo_drain_load *load, struct kymo_error *error);
/* The last pass: open packets too. A single trace moves up to `directory` itself. What cannot be written even
 * now is counted as lost, in the trace too. */
int kymo_drain_end(struct kymo_drain *drain, struct kymo_drain_sum *sum, struct kymo_error *error);
/* After that: the rings that hold what could not be written, or forced to the disk, one process after the
 * other; NULL at the end. */
const char *kymo_drain_kept(const struct kymo_drain *drain, size_t index);
void kymo_drain_free(struct kymo_drain *drain);

#endif
