/* SPDX-License-Identifier: MIT */
/* Stacks, by libdw of elfutils; without it there are none. */
#ifndef KYMO_PROCESS_UNWIND_H
#define KYMO_PROCESS_UNWIND_H

#include "process/model.h"
#include <kymo/error.h>

/* Whether this kymo can unwind stacks. */
bool process_can_unwind(void);

/* The files that a process has mapped, for its frames. One is used for all threads. */
struct process_unwinder;
/* NULL after adding to what could not be seen. */
struct process_unwinder *process_unwinder_new(struct process *process);
void process_unwinder_free(struct process_unwinder *unwinder);
/* Makes the frames of a thread of its registers (process/capture.h), with names. */
void process_unwind(struct process_unwinder *unwinder, struct process_thread *thread);
/* Adds lines of the source to the frames; it may take long. */
void process_find_lines(struct process_unwinder *unwinder, struct process_thread *thread);

/* Reads a core file, with the frames of its threads, into `process`, whose `core` is set, and `exe` to the
 * program's file, or NULL if the core file names it. KYMO_E_UNKNOWN: it is no core file, or this kymo was
 * built without libdw; KYMO_E_SYSTEM. */
int process_read_core(struct process *process, struct kymo_error *error);

#endif
