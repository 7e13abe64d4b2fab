/* SPDX-License-Identifier: MIT */
/*
 * Names of threads for a kernel's trace, which the kernel itself forgets: those that run, from /proc, and
 * what events say of others (comm and pid, next_comm and next_pid, …).
 */
#ifndef KYMO_LIVE_KERNEL_NAMES_H
#define KYMO_LIVE_KERNEL_NAMES_H

#include "live/kernel/events.h"

struct kymo_kernel_names;

/* NULL: out of memory. */
struct kymo_kernel_names *kymo_kernel_names_new(void);
/* Which events have names, by their formats. */
void kymo_kernel_names_learn(struct kymo_kernel_names *names, const struct kymo_kernel_events *events,
                             const char *tracefs);
/* Takes the names of all threads that run now; `time` 0 before the first event, UINT64_MAX after the last
 * one. */
void kymo_kernel_names_look(struct kymo_kernel_names *names, uint64_t time);
/* Takes those that an event says (a kymo_kernel_record). */
void kymo_kernel_names_take(void *names, const uint8_t *record, size_t size, uint64_t time);
/* Writes lines "TID NAME". */
int kymo_kernel_names_write(const struct kymo_kernel_names *names, const char *path,
                            struct kymo_error *error);
void kymo_kernel_names_free(struct kymo_kernel_names *names);

#endif
