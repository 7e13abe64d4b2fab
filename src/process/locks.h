/* SPDX-License-Identifier: MIT */
/* Which lock each thread waits for, and who holds it. */
#ifndef KYMO_PROCESS_LOCKS_H
#define KYMO_PROCESS_LOCKS_H

#include "process/model.h"

/* Fills in `wait` of all threads, from their futexes, the memory around them, the frames and the events. */
void process_find_locks(struct process *process);
/* "the mutex at 0x1234 <name+0x0>" of a thread that waits */
const char *process_lock_text(struct process *process, const struct process_thread *thread);

/* "the mutex at 0x1234, held by thread 12 'a'" */
const char *process_wait_text(struct process *process, const struct process_thread *thread);

/* A cycle of waits from a thread to itself: each thread of `path` waits for the next one, and the last one
 * for the first. Threads that have run since they were looked at are in none. `path` has space for all
 * threads. The number of threads; 0: there is no cycle. */
unsigned process_find_cycle(const struct process *process, int thread, int *path);

#endif
