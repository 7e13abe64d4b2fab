/* SPDX-License-Identifier: MIT */
/* Processes of other PID namespaces, as containers have: they call themselves by another number than we
 * do. */
#ifndef KYMO_LIVE_INNER_H
#define KYMO_LIVE_INNER_H

#include <stdbool.h>

/* What process `pid` of our namespace calls itself: the last number of NSpid in /proc/PID/status. `pid` if
 * that is unknown. */
int kymo_inner_pid(int pid);

/* Calls `visitor` with each process of /proc and what it calls itself, in no order, until it returns true. */
typedef bool kymo_inner_visitor(void *user, int pid, int inner);
void kymo_inner_visit(kymo_inner_visitor *visitor, void *user);

#endif
