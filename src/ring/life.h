/* SPDX-License-Identifier: MIT */
/*
 * Whether the process that made a pool still lives, also if it has another PID namespace.
 *
 * A pid means something in its own namespace only. So the process holds a lock (flock) on its pool file,
 * through the open file that is mapped: it needs no descriptor, which daemons close, and the kernel gives it
 * back when the mapping goes, however the process ends. A forked child has the mapping too and keeps the lock
 * for as long as it lives; where the pid means something, it decides.
 *
 *   same PID namespace                      pid and start time decide
 *   another one, the pool says: locked      the lock decides
 *   another one, no lock (file systems      unknown: nobody removes it unasked
 *   where it ends with the descriptor)
 */
#ifndef KYMO_RING_LIFE_H
#define KYMO_RING_LIFE_H

#include "ring/layout.h"
#include <stdbool.h>

/* Unknown: it cannot be asked now, or not from here. Nobody may take such a process for dead. */
enum kymo_life { KYMO_LIFE_DEAD, KYMO_LIFE_ALIVE, KYMO_LIFE_UNKNOWN };

/* The number of the caller's PID namespace; 0: unknown. Async-signal-safe, as the next two. */
uint64_t kymo_pid_namespace(void);
/* Locks the file for as long as this open file is open or mapped. */
bool kymo_life_hold(int fd);
/* Alive: somebody holds it, asked through another open file. */
enum kymo_life kymo_life_by_lock(int fd);

/* Of the process whose pool has this header; `fd` is the pool file. */
enum kymo_life kymo_life_of(const struct kymo_pool_header *header, int fd);
/* Whether there is a process with its pid and start time, in the caller's namespace. */
enum kymo_life kymo_life_by_pid(const struct kymo_pool_header *header);

#endif
