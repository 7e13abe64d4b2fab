/* SPDX-License-Identifier: MIT */
/* The tables of VPP's cpelatency and cpelstate. */
#ifndef KYMO_STAT_VPP_H
#define KYMO_STAT_VPP_H

#include "stat/report.h"

struct kymo_vpp {
  bool is_state;         /* as cpelstate, else as cpelatency … */
  const char *from, *to; /* … which names these events */
};

/* Prints the groups that the report wants, in its order, and the sum of `all` (kymo_groups_settle).
 * KYMO_E_MEMORY. */
int kymo_report_vpp(const struct kymo_report *report, const struct kymo_groups *groups,
                    const struct kymo_samples *all, const struct kymo_vpp *vpp);

#endif
