/* SPDX-License-Identifier: MIT */
/*
 * How a duration grows from one time to the next: for each key a straight line through (instance, own time),
 * as VPP's cpelinreg fits it. Events enter and leave, nested, on each track; the time of nested ones is not
 * included.
 */
#ifndef KYMO_STAT_REGRESSION_H
#define KYMO_STAT_REGRESSION_H

#include "span/spans.h"
#include "stat/edges.h"
#include "stat/gaps.h"
#include "stat/groups.h"

struct kymo_regression {
  /* set by the owner */
  const struct kymo_edges *edges; /* the edges: a begin enters, an end leaves */
  struct kymo_gaps *gaps;
  struct kymo_error *error; /* filled if a temporary file fails */
  struct kymo_grouping key, track;
  /* what came of it */
  struct kymo_groups keys; /* bytes_limit is set by the owner */
  struct kymo_spans spans; /* the open entries; is_nested is set by the owner */
  uint64_t without_enter, without_leave, over_gaps;
};

/* offset + slope * instance, 0 for the first one; r: Pearson's coefficient. */
struct kymo_line {
  double offset, slope, r;
};

/* Takes one event. KYMO_OK, KYMO_E_MEMORY, or KYMO_E_SYSTEM with the error. */
int kymo_regression_event(struct kymo_regression *regression, const struct kymo_event *event);
/* The line of one key. */
struct kymo_line kymo_regression_line(const struct kymo_stat_group *group);
void kymo_regression_free(struct kymo_regression *regression);

#endif
