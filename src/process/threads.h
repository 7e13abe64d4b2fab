/* SPDX-License-Identifier: MIT */
/* A process and its threads as /proc shows them. */
#ifndef KYMO_PROCESS_THREADS_H
#define KYMO_PROCESS_THREADS_H

#include "process/model.h"

/* Reads the process and its threads: names, states, signals, processor time. False: there is no such
 * process. */
bool process_read_threads(struct process *process);
/* Reads processor times and switches again, to know which threads have run meanwhile. */
void process_read_again(struct process *process);
/* Whether the thread has run between the two. */
bool process_has_run(const struct process_thread *thread);
/* The share of a processor that it used between the two, in percent; -1: unknown. */
int process_load(const struct process_thread *thread);

/* Whether it could run all the time between the two: it spins, also if other processes use the processors. */
bool process_never_waits(const struct process_thread *thread);

/* Why this command may not look into the process, in one line; NULL: it may. *refused: it is another
 * user's. */
const char *process_denial(struct process *process, bool *refused);

/* "sleeping" for 'S'. */
const char *process_state_text(char state);

#endif
