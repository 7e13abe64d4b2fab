/* SPDX-License-Identifier: MIT */
/* Processes of other PID namespaces, as in containers: their own numbers differ from ours. */
#ifndef KYMO_LIVE_INNER_H
#define KYMO_LIVE_INNER_H

#include <stdbool.h>

/* The own number of process `pid` of our namespace: the last number of NSpid in /proc/PID/status. `pid` if
 * that is unknown. */
int kymo_inner_pid(int pid);

/* Calls `visitor` with each process of /proc and its own number, in no order, until it returns true. */
typedef bool kymo_inner_visitor(void *user, int pid, int inner);
void kymo_inner_visit(kymo_inner_visitor *visitor, void *user);

#endif
