/* SPDX-License-Identifier: MIT */
#ifndef KYMO_DECODE_AHEAD_H
#define KYMO_DECODE_AHEAD_H

#include "decode/step.h"

/* Fills the buffer with the next events of its packet. KYMO_STEP_EVENT if there is at least one;
 * else KYMO_STEP_END, or KYMO_STEP_ERROR with decoder->run. */
enum kymo_step kymo_look_ahead(struct kymo_decoder *decoder);

/*
 * Counting: events of several packets in turn. Where an event begins is known when the previous one was
 * loaded, so a processor waits most of the time if it follows one packet, but not if it follows several.
 * Events that need more than a look at their headers are left to kymo_look_ahead, which goes on where a lane
 * ends.
 */
struct kymo_lane {
  struct kymo_sight sight;
  const struct kymo_lead *leads;
  uint64_t next, boundary, clock;
  uint64_t id_high;
  unsigned shape;   /* of the headers, by number */
  uint64_t *counts; /* by kind */
};

/* A lane from the next event of the decoder on, which adds to `counts`, by the kinds of its schema. False:
 * its events are not counted so. */
bool kymo_lane_begin(struct kymo_lane *lane, const struct kymo_decoder *decoder, uint64_t *counts);
/* Counts in all lanes until one has to end; returns its number. */
uint32_t kymo_lanes_run(struct kymo_lane *lanes, uint32_t count);
/* Moves the decoder to the end of the lane. False: times did not fit 64 bits, which kymo_look_ahead finds. */
bool kymo_lane_end(const struct kymo_lane *lane, struct kymo_decoder *decoder);

#endif
