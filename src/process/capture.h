/* SPDX-License-Identifier: MIT */
/* Registers and stacks of the threads of a process that runs. */
#ifndef KYMO_PROCESS_CAPTURE_H
#define KYMO_PROCESS_CAPTURE_H

#include "process/model.h"

/*
 * Reads the registers of a thread and copies the top of its stack. The thread is stopped for that, for some
 * microseconds, without a signal: a stopped thread stays stopped, and system calls go on. Threads that would
 * notice (a call that fails with EINTR) are not stopped unless `may_interrupt`, nor are those in disk sleep
 * and those of a debugger: of these, the kernel lists the instruction and the stack pointer.
 */
void process_capture(struct process *process, struct process_thread *thread, bool may_interrupt);

/* Makes registers of DWARF's numbers of a regset NT_PRSTATUS of `size` bytes; false: the machine is not
 * known. The number and the arguments of the system call in which it is go to `call`, unless that is NULL. */
bool process_take_registers(struct process_registers *registers, const void *set, size_t size,
                            struct process_call *call);

#endif
