/* SPDX-License-Identifier: MIT */
/*
 * Whether the process that created a pool is still alive, also if it is in another PID namespace.
 *
 * A pid is valid only in its own namespace. So the process holds a lock (flock) on its pool file, through the
 * open file that is mapped: it needs no descriptor, which daemons close, and the kernel releases it with the
 * mapping, however the process ends. A forked child has the mapping too and keeps the lock for as long as it
 * lives; so where the pid is valid, the pid decides.
 *
 *   same PID namespace                      pid and start time decide
 *   another one, the pool says: locked      the lock decides
 *   another one, no lock (file systems      unknown: it is only removed on request
 *   where it ends with the descriptor)
 */
#ifndef KYMO_RING_LIFE_H
#define KYMO_RING_LIFE_H

#include "ring/layout.h"
#include <stdbool.h>

/* Unknown: it cannot be found out now, or not from here. Such a process must not be treated as dead. */
enum kymo_life { KYMO_LIFE_DEAD, KYMO_LIFE_ALIVE, KYMO_LIFE_UNKNOWN };

/* The number of the caller's PID namespace; 0: unknown. Async-signal-safe, as the next two functions. */
uint64_t kymo_pid_namespace(void);
/* Locks the file for as long as this open file is open or mapped. */
bool kymo_life_hold(int fd);
/* Alive: the lock is held, as seen through another open file. */
enum kymo_life kymo_life_by_lock(int fd);

/* For the process whose pool has this header; `fd` is the pool file. */
enum kymo_life kymo_life_of(const struct kymo_pool_header *header, int fd);
/* Whether there is a process with its pid and start time, in the caller's namespace. */
enum kymo_life kymo_life_by_pid(const struct kymo_pool_header *header);

#endif
