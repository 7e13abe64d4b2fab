/* SPDX-License-Identifier: MIT */
/*
 * Crashes of recorded processes, whatever their parents are: each pool's process is waited for by a
 * descriptor. How it ended is in its own mark in the pool, or known to the kernel (exits.h). If neither is
 * known, a process that has not marked its orderly end counts as crashed, the first few of them; one that was
 * gone before it could be examined is only counted.
 */
#ifndef KYMO_LIVE_CRASHES_H
#define KYMO_LIVE_CRASHES_H

#include "base/strbuf.h"
#include <stdbool.h>
#include <stddef.h>

struct kymo_crashes {
  const char *rings; /* where the pools are */
  struct kymo_crash_watch *list;
  size_t count, room;
  int changes;            /* reports new pools; -1: they are found by polling */
  unsigned unready_looks; /* this many looks in a row have found pools that are being created */
  size_t unknown,
      unseen; /* processes that ended without a mark: watched, but the kernel does not report how; not seen
               * in time */
};

/* Pools will be in the directory `rings`, which must outlive this. */
void kymo_crashes_begin(struct kymo_crashes *crashes, const char *rings);
/* Looks for new pools, then for processes that have crashed since the last look: "server (process 1234):
 * Segmentation fault in thread 1235", with commas between them, is added to `names`. Returns their number. */
size_t kymo_crashes_look(struct kymo_crashes *crashes, struct kymo_strbuf *names);
/* Waits until one of the processes or the one with the descriptor `process` ends, or `fd` can be read, which
 * is returned; -1: no descriptor. */
bool kymo_crashes_wait(const struct kymo_crashes *crashes, int process, int fd, int timeout_ms);
/* Signals that mean a crash: those that dump core, and SIGKILL, by which the kernel ends a process that uses
 * too much memory. */
bool kymo_crash_is(int number);
/* Whether the crash of this process has been reported. */
bool kymo_crashes_reported(const struct kymo_crashes *crashes, int pid);
void kymo_crashes_free(struct kymo_crashes *crashes);

#endif
