/* SPDX-License-Identifier: MIT */
/*
 * Where events are missing: a time from an event before a gap to one after it is meaningless, since ends and
 * begins in between are unknown. A gap counts for its stream; if streams are those of processors, not of
 * threads, for all streams of the part, since threads change processors.
 *
 *   counts: of each stream, then of each part      slot: the place of the count for an event
 */
#ifndef KYMO_STAT_GAPS_H
#define KYMO_STAT_GAPS_H

#include "print/who.h"

struct kymo_gaps {
  struct kymo_whos *whos; /* begun by the owner */
  uint64_t *counts;
  uint64_t all; /* of all streams */
};

int kymo_gaps_begin(struct kymo_gaps *gaps, struct kymo_trace *trace, struct kymo_whos *whos,
                    struct kymo_error *error);
void kymo_gaps_end(struct kymo_gaps *gaps);
/* A loss is a gap: the handler for kymo_trace_set_loss_handler, whose user is the struct kymo_gaps. */
kymo_loss_handler kymo_gaps_take;
/* Bytes before the event could not be read. */
void kymo_gaps_damage(struct kymo_gaps *gaps, const struct kymo_event *event);
/* The slot of an event. */
uint32_t kymo_gaps_slot(const struct kymo_gaps *gaps, const struct kymo_event *event);

#endif
