/* SPDX-License-Identifier: MIT */
/*
 * Counts of events that a collector cannot write. A trace counts all its losses, also events for which the
 * disk had no space left; so a collector reserves some space at the beginning: a file of one block,
 * .kymo/reserve, which becomes stream_not_written by being overwritten in place and renamed, and is removed
 * if all is written.
 */
#ifndef KYMO_RING_UNWRITTEN_H
#define KYMO_RING_UNWRITTEN_H

#include "ring/collect.h"

/* Two empty packets, whose difference is a loss of this many events between two times. */
enum { KYMO_COLLECT_LOSSES_SIZE = 2 * KYMO_PACKET_HEADER_SIZE };
struct kymo_collect_losses {
  uint64_t instance, begin, end, events;
};
void kymo_collect_put_losses(const struct kymo_collector *c, uint8_t out[KYMO_COLLECT_LOSSES_SIZE],
                             const struct kymo_collect_losses *losses);

/* Creates the reserve, if there is none and it can be created; removes it. */
void kymo_collect_reserve(struct kymo_collector *c);
void kymo_collect_drop_reserve(struct kymo_collector *c);
/* The part has ended: its reserve is kept for losses that the next part might have no space to count, until
 * that part has its description and a reserve; removes a kept one. */
void kymo_collect_keep_reserve(struct kymo_collector *c);
void kymo_collect_drop_kept(struct kymo_collector *c);

#endif
