/* SPDX-License-Identifier: MIT */
/* The events of the kernel that a recording asks for: found by patterns, switched on in an instance. */
#ifndef KYMO_LIVE_KERNEL_EVENTS_H
#define KYMO_LIVE_KERNEL_EVENTS_H

#include "live/kernel/instance.h"

struct kymo_kernel_event {
  const char *group, *name; /* in the list's text */
  bool is_on;
};

struct kymo_kernel_events {
  struct kymo_strbuf text;
  struct kymo_kernel_event *list; /* by group and name; probes come last */
  size_t count, capacity;
};

/*
 * Lists the events that the kernel offers and marks those that match: patterns with commas between them, each
 * a name (sched_switch, sched:sched_switch), a glob, a group (sched), re:REGEX, or !… to exclude. Freed in
 * any case. KYMO_E_USAGE: a pattern is invalid or no event matches it.
 */
int kymo_kernel_events_find(struct kymo_kernel_events *events, const char *tracefs, const char *patterns,
                            struct kymo_error *error);
/* Marks an event as well, if there is one of that name. */
void kymo_kernel_events_want(struct kymo_kernel_events *events, const char *group, const char *name);
/* Adds an event of a group that is made later (a probe); the texts are borrowed. False: out of memory. */
bool kymo_kernel_events_add(struct kymo_kernel_events *events, const char *group, const char *name);
int kymo_kernel_events_switch_on(const struct kymo_kernel_events *events, const char *instance,
                                 struct kymo_error *error);
void kymo_kernel_events_free(struct kymo_kernel_events *events);

#endif
