/* SPDX-License-Identifier: MIT */
/*
 * Draining: finds the pools that processes create in one directory and collects each into a separate trace,
 * while they run and when they are dead.
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
  uint64_t unwritten;            /* of the discarded: could not be written, and are still in rings */
  uint64_t parts, parts_removed; /* 0: not rotated */
  bool is_unsynced;              /* it may not be on the disk */
  struct kymo_error
      left_out; /* if code is not 0: a file beside the events that a trace lacks, since it could not be
                 * read */
};

struct kymo_drain_options {
  const char *rings, *directory; /* directory of the pools; directory of the traces, one NAME-PID each */
  bool while_running; /* collect closed packets at each pass (discard mode), else all at the end (overwrite
                       * mode) */
  bool ctf2;          /* finished traces become CTF 2 */
  bool sync;          /* force written data to the disk every second, not only at the end */
  bool keep_rings;    /* do not change the rings: a snapshot */
  /* Rotation, if one is not 0: the traces go into directory/part-000001, … A part has at most rotate_bytes
   * for all processes, or the description and one packet if that is more, and is written for about
   * rotate_seconds. The newest `keep` parts are kept; 0: all. */
  uint64_t rotate_bytes, rotate_seconds, keep;
  bool beside; /* other traces are in `directory`, too (live/beside.h): each process keeps its own */
};
/* NULL: out of memory. */
struct kymo_drain *kymo_drain_new(const struct kymo_drain_options *options);
/* How much a pass collected: nothing; something; so much that a ring may soon be full. */
enum kymo_drain_load { KYMO_DRAIN_IDLE, KYMO_DRAIN_BUSY, KYMO_DRAIN_BEHIND };
/* One pass over all pools. Packets that cannot be written stay in the rings, and the next pass tries
 * again. */
int kymo_drain_pass(struct kymo_drain *drain, enum kymo_drain_load *load, struct kymo_error *error);
struct kymo_sleep;
/* Asks the recorders of all pools to end the sleep that begins; false: one of them cannot. */
bool kymo_drain_ask(struct kymo_drain *drain, struct kymo_sleep *sleep);
/* The last pass: open packets too. A single trace is moved up to `directory` itself. Packets that cannot be
 * written even now are counted as lost, in the trace too. */
int kymo_drain_end(struct kymo_drain *drain, struct kymo_drain_sum *sum, struct kymo_error *error);
/* After that: the rings with events that could not be written, or forced to the disk, one process after
 * another; NULL at the end. */
const char *kymo_drain_kept(const struct kymo_drain *drain, size_t index);
void kymo_drain_free(struct kymo_drain *drain);

#endif
