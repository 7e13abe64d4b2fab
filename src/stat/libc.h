/* SPDX-License-Identifier: MIT */
/*
 * A program's calls of libc (the events libc:… of libkymo-calls): how often each function was called and
 * failed, and how long its calls took, as far as events contain it: those of memory do not, those of locks
 * only contain the waiting time.
 */
#ifndef KYMO_STAT_LIBC_H
#define KYMO_STAT_LIBC_H

#include "stat/report.h"

struct kymo_libc {
  /* set by the owner */
  struct kymo_grouping event; /* by "event" */
  /* what came of it */
  struct kymo_groups groups;
  struct kymo_libc_class *classes; /* by class number, once met */
};

/* Whether the trace has such events. */
bool kymo_libc_are_there(const struct kymo_trace *trace);
/* Takes one event. KYMO_OK or KYMO_E_MEMORY. */
int kymo_libc_event(struct kymo_libc *calls, const struct kymo_event *event);
/* The table, as in strace -c. KYMO_E_MEMORY. */
int kymo_libc_report(const struct kymo_libc *calls, const struct kymo_report *report);
void kymo_libc_free(struct kymo_libc *calls);

#endif
