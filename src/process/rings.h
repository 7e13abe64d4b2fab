/* SPDX-License-Identifier: MIT */
/* What the rings of a process say of its threads. */
#ifndef KYMO_PROCESS_RINGS_H
#define KYMO_PROCESS_RINGS_H

#include "process/model.h"

/* Finds the rings of the process, live or dead, and reads the last events and the open spans of each thread,
 * what it waits for and which locks it holds, as far as it records its calls (kymo record --calls). Needs no
 * help of the process. */
void process_read_rings(struct process *process);

#endif
