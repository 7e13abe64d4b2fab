/* SPDX-License-Identifier: MIT */
/*
 * Crashes of recorded processes, whatever their parents are: each pool's process is waited for by a descriptor; how it has ended
 * is what it has marked in its pool itself, or what the kernel shows as long as its parent has not asked.
 */
#ifndef KYMO_TOOL_CRASHES_H
#define KYMO_TOOL_CRASHES_H

#include "base/strbuf.h"
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kymo_crashes {
  const char *rings;         /* where the pools are */
  struct kymo_crash_watch *list;
  size_t count, room;
};

/* Looks for new pools, then for processes that have crashed since the last look: "server (process 1234): Segmentation fault",
 * with commas between them, is added to `names`. How many. */
size_t kymo_crashes_look(struct kymo_crashes *crashes, struct kymo_strbuf *names);
/* Whether the process with this number and start time (0: any) has ended and nobody has waited for it; *status is then what its parent
 * will get, as far as the caller may see it. */
bool kymo_crash_zombie(int pid, uint64_t start_time, int *status);
/* Waits until one of the processes ends, or the descriptor `fd` can be read, which is returned. */
bool kymo_crashes_wait(const struct kymo_crashes *crashes, int fd, int timeout_ms);
/* Whether the crash of this process has been reported. */
bool kymo_crashes_told(const struct kymo_crashes *crashes, int pid);
void kymo_crashes_free(struct kymo_crashes *crashes);

#endif
