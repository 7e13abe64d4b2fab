/* SPDX-License-Identifier: MIT */
/*
 * An instance of ftrace: buffers, events, clock and switch of one recorder, so that the settings of others do
 * not change.
 *
 *   TRACEFS/instances/kymo-NAMESPACE-PID-START   the name of its process, and when that began
 *   group kymo_NAMESPACE_PID_START               … of its probes, which all of the machine share
 *
 * The kernel removes neither when a process ends. So each recorder removes first what dead ones have left:
 * instances whose process is gone (of another PID namespace: those without a lock), and probes without an
 * instance. A recorder makes its instance first and removes it last.
 */
#ifndef KYMO_LIVE_KERNEL_INSTANCE_H
#define KYMO_LIVE_KERNEL_INSTANCE_H

#include "live/tracefs.h"

struct kymo_instance {
  char tracefs[KYMO_PATH_MAX], path[KYMO_PATH_MAX];
  char group[64]; /* of probes */
  int held;       /* the directory, locked; -1: there is no instance */
};

/* Removes what dead recorders have left, then makes an instance that records nothing yet. To be removed in
 * any case. KYMO_E_ABSENT: there is no tracefs; KYMO_E_SYSTEM. */
int kymo_instance_make(struct kymo_instance *instance, struct kymo_error *error);
/* Removes the instance and the probes of its group; all its files must be closed. */
int kymo_instance_remove(struct kymo_instance *instance, struct kymo_error *error);
/* Removes what dead recorders have left in tracefs, as far as the caller may; returns how many instances and
 * probes that were. */
size_t kymo_instances_clean(const char *tracefs);

#endif
