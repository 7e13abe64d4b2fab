/* SPDX-License-Identifier: MIT */
/* The position of a walk over the fields of an event: kymo_walk_begin, kymo_walk_next (kymo/get.h). */
#ifndef KYMO_DECODE_WALK_H
#define KYMO_DECODE_WALK_H

#include "decode/layout.h"
#include <kymo/get.h>

#define KYMO_WALK_DEPTH 64
#define KYMO_WALK_SLOTS 32
/* Walks may be copied and interleaved (those of events with more than KYMO_WALK_SLOTS lengths and tags only
 * if they are of different events). */
struct kymo_walk {
  const struct kymo_event *event;
  uint64_t at_bits; /* where the next field begins, in the packet */
  uint32_t depth;
  struct kymo_walk_frame {
    const struct kymo_node *node, *part;
    uint64_t index, count, begin_bits;
  } frames[KYMO_WALK_DEPTH];
  uint64_t slots[KYMO_WALK_SLOTS]; /* lengths and tags so far */
};

/* Starts a walk over the contents of a list or group that begins there. */
void kymo_walk_at(struct kymo_walk *walk, const struct kymo_event *event, const struct kymo_node *node,
                  uint64_t at_bits, uint64_t count);

#endif
