/* SPDX-License-Identifier: MIT */
/* One time between two events, and the command that shows its events. */
#ifndef KYMO_STAT_INSTANCE_H
#define KYMO_STAT_INSTANCE_H

#include "stat/report.h"

struct kymo_instance {
  int64_t begin_ns, end_ns, tid;
  uint64_t begin_number, end_number;
  bool has_tid; /* both events are of this thread */
  bool is_epoch;
  bool is_open; /* it has no end */
};

/* The origin for times of clocks without an epoch in commands: the begin of the trace. For instances'
 * `origin_ns`. */
int64_t kymo_instance_origin(const struct kymo_report *report);
/* Prints the command in lines that fit the report's width. */
void kymo_instance_put_command(const struct kymo_report *report, const struct kymo_instance *instance,
                               int64_t origin_ns);

#endif
