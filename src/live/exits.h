/* SPDX-License-Identifier: MIT */
/* How a process has ended that is not our child, and that its parent may have waited for already. */
#ifndef KYMO_LIVE_EXITS_H
#define KYMO_LIVE_EXITS_H

#include "ring/ring.h"
#include <stdbool.h>
#include <stdint.h>

enum kymo_exit { KYMO_EXIT_NOT_YET, KYMO_EXIT_KNOWN, KYMO_EXIT_UNKNOWN };

/*
 * Of the process that `process` refers to (pidfd_open). Known: *status is what its parent gets from waitpid.
 * The kernel says it from Linux 6.15 on; before that only as long as the parent has not waited, after which
 * it is unknown.
 */
enum kymo_exit kymo_exit_of(int process, int pid, int *status);
/* Whether the process with this number and start time (0: any) has ended and nobody has waited for it;
 * *status is then what its parent will get, as far as the caller may see it. */
bool kymo_exit_of_zombie(int pid, uint64_t start_time, int *status);

/* Milliseconds since the process began, as the kernel's ticks say; INT_MAX: long ago, it has ended, or
 * unknown. */
int kymo_exit_age_ms(int pid);

/* How the process of a pool has ended: what it has marked itself, or what the kernel says of one that nobody
 * has waited for. False: unknown, or it runs. Else *status is as its parent gets it, and *thread the one that
 * crashed, or 0. */
bool kymo_exit_of_pool(const struct kymo_pool_header *header, int *status, int *thread);

#endif
