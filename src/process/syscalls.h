/* SPDX-License-Identifier: MIT */
/* The system calls in which threads wait. */
#ifndef KYMO_PROCESS_SYSCALLS_H
#define KYMO_PROCESS_SYSCALLS_H

#include "process/model.h"

/* Reads the system call of a thread from /proc, with its arguments, and the memory around a futex. */
void process_read_call(struct process *process, struct process_thread *thread);
/* Whether the call in which the thread is now, which may be another one than before, would fail with EINTR if
 * the thread stopped. */
bool process_must_not_stop(struct process *process, const struct process_thread *thread);
/* Decodes a call that was read from registers, as those of a core file: `call` has the number, the
 * arguments and the pointers. `memory` reads the memory of the process. */
typedef size_t process_memory_reader(const struct process *process, uint64_t address, void *out, size_t size);
void process_decode_call(struct process *process, struct process_thread *thread,
                         process_memory_reader *memory);

#endif
