/* SPDX-License-Identifier: MIT */
/*
 * What the raw pages of a kernel's trace mean: `head.dat`, the begin of a trace.dat of version 6
 * (trace-cmd.dat.v6(5)) with the formats of the events, and no pages.
 */
#ifndef KYMO_LIVE_KERNEL_HEAD_H
#define KYMO_LIVE_KERNEL_HEAD_H

#include "live/kernel/events.h"

struct kymo_kernel_head {
  const struct kymo_instance *instance;
  const struct kymo_kernel_events *events;
  uint32_t cpus, page_size;
};

/* Writes the file. Probes are of the group "probe" in it, since the group's own name is that of a process. */
int kymo_kernel_head_write(const struct kymo_kernel_head *head, const char *path, struct kymo_error *error);

#endif
