/* SPDX-License-Identifier: MIT */
/* Collects what is known of a process, in steps that end in time. */
#ifndef KYMO_PROCESS_GATHER_H
#define KYMO_PROCESS_GATHER_H

#include "process/model.h"
#include <kymo/error.h>

struct process_options {
  bool may_interrupt; /* stop threads whose system calls then fail with EINTR, too */
};

/* A process without contents; NULL: out of memory. */
struct process *process_new(void);
void process_free(struct process *process);

/*
 * Fills in a process that runs, by its number. The process goes on as before, and a stopped one stays
 * stopped. What cannot be seen is listed in `unseen`. KYMO_E_UNKNOWN: there is no such process;
 * KYMO_E_SYSTEM: it is another user's, or its threads cannot be listed.
 */
int process_gather(struct process *process, int pid, const struct process_options *options,
                   struct kymo_error *error);
/* Fills in what a core file has. `exe` is the program's file, or NULL if the core file names it. */
int process_gather_core(struct process *process, const char *core, const char *exe, struct kymo_error *error);

#endif
