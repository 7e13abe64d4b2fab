/* SPDX-License-Identifier: MIT */
/*
 * How the time that something takes grows from one time to the next: for each key a straight line through (instance, own
 * time), as VPP's cpelinreg fits it. Events enter and leave, nested, on each track; what is done inside counts for itself.
 */
#ifndef KYMO_STAT_REGRESSION_H
#define KYMO_STAT_REGRESSION_H

#include "stat/groups.h"

#define KYMO_REGRESSION_DEPTH 128

/* What is entered on one track. */
struct kymo_regression_stack {
  uint32_t depth;
  struct kymo_regression_frame { struct kymo_stat_group *key; int64_t begin_ns, inside_ns; } frames[KYMO_REGRESSION_DEPTH];
};

struct kymo_regression {
  /* set by the owner */
  const uint8_t *roles;      /* by class number: KYMO_PAIR_BEGINS enters, KYMO_PAIR_ENDS leaves */
  struct kymo_grouping key, track;
  /* what came of it */
  struct kymo_groups keys, tracks;
  uint64_t without_enter, without_leave, too_deep;
};

/* offset + slope * instance, 0 for the first one; r: Pearson's coefficient. */
struct kymo_line { double offset, slope, r; };

/* Takes one event. KYMO_OK or KYMO_E_MEMORY. */
int kymo_regression_event(struct kymo_regression *regression, const struct kymo_event *event);
/* The line of one key. */
struct kymo_line kymo_regression_line(const struct kymo_stat_group *group);
void kymo_regression_free(struct kymo_regression *regression);

#endif
