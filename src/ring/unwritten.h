/* SPDX-License-Identifier: MIT */
/*
 * What a collector cannot write. A trace counts all its losses, also those for which the disk had no space
 * left; so a collector holds some space from the beginning: a file of one block, .kymo/reserve, which becomes
 * stream_not_written by being written in place and renamed, and is removed if all goes well.
 */
#ifndef KYMO_RING_UNWRITTEN_H
#define KYMO_RING_UNWRITTEN_H

#include "ring/collect.h"

/* Two empty packets, whose difference is a loss of so many events between two times. */
enum { KYMO_COLLECT_LOSSES_SIZE = 2 * KYMO_PACKET_HEADER_SIZE };
struct kymo_collect_losses {
  uint64_t instance, begin, end, events;
};
void kymo_collect_put_losses(const struct kymo_collector *c, uint8_t out[KYMO_COLLECT_LOSSES_SIZE],
                             const struct kymo_collect_losses *losses);

/* Makes the reserve, if there is none and it can be made; removes it. */
void kymo_collect_reserve(struct kymo_collector *c);
void kymo_collect_drop_reserve(struct kymo_collector *c);
/* The part has ended: its reserve is kept for what the next one might have no space to count, until that has
 * its description and a reserve; removes a kept one. */
void kymo_collect_keep_reserve(struct kymo_collector *c);
void kymo_collect_drop_kept(struct kymo_collector *c);

#endif
