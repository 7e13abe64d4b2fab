/* SPDX-License-Identifier: MIT */
/* How a process has ended that is not our child, and that its parent may have waited for already. */
#ifndef KYMO_TOOL_EXITS_H
#define KYMO_TOOL_EXITS_H

#include <stdbool.h>
#include <stdint.h>

enum kymo_exit { KYMO_EXIT_NOT_YET, KYMO_EXIT_KNOWN, KYMO_EXIT_UNKNOWN };

/*
 * Of the process that `process` refers to (pidfd_open). Known: *status is what its parent gets from waitpid. The kernel says it from Linux
 * 6.15 on; before that only as long as the parent has not waited, after which it is unknown.
 */
enum kymo_exit kymo_exit_of(int process, int pid, int *status);
/* Whether the process with this number and start time (0: any) has ended and nobody has waited for it; *status is then what its parent
 * will get, as far as the caller may see it. */
bool kymo_exit_of_zombie(int pid, uint64_t start_time, int *status);

#endif
