/* SPDX-License-Identifier: MIT */
/* How a process ended that is not our child, and for which its parent may already have waited. */
#ifndef KYMO_RING_EXITS_H
#define KYMO_RING_EXITS_H

#include "ring/ring.h"
#include <stdbool.h>
#include <stdint.h>

enum kymo_exit { KYMO_EXIT_NOT_YET, KYMO_EXIT_KNOWN, KYMO_EXIT_UNKNOWN };

/*
 * For the process of the descriptor `process` (pidfd_open). Known: *status is what its parent gets from
 * waitpid. The kernel reports it from Linux 6.15 on; before that only as long as the parent has not waited,
 * after which it is unknown.
 */
enum kymo_exit kymo_exit_of(int process, int pid, int *status);
/* Whether the process with this number and start time (0: any) has ended and its parent has not waited for
 * it; *status is then what its parent will get, as far as the caller may see it. */
bool kymo_exit_of_zombie(int pid, uint64_t start_time, int *status);

/* Milliseconds since the process began, by the kernel's ticks; INT_MAX: long ago, it has ended, or
 * unknown. */
int kymo_exit_age_ms(int pid);

/* How the process of a pool ended: from its own mark, or from the kernel if its parent has not waited for it.
 * False: unknown, or it runs. Else *status is as for its parent, and *thread the one that crashed, or 0. */
bool kymo_exit_of_pool(const struct kymo_pool_header *header, int *status, int *thread);

enum { KYMO_EXIT_TEXT_MAX = 96 };
/* "exit status 1", "Killed", "Segmentation fault in thread 4712". */
void kymo_exit_status_text(int status, int thread, char out[KYMO_EXIT_TEXT_MAX]);
/* The same for the dead process of a pool; if that is unknown, "exit" or "unknown: killed, or _exit". */
void kymo_exit_text(const struct kymo_pool_header *header, char out[KYMO_EXIT_TEXT_MAX]);

#endif
