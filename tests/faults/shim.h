/* SPDX-License-Identifier: MIT */
/* What both halves of the fault library share: shim.c, which fails calls, and sweep.c, which runs the program
 * once a call. */
#ifndef FAULTS_SHIM_H
#define FAULTS_SHIM_H

#include <stdbool.h>
#include <stddef.h>

enum fault_kind { FAULT_NONE, FAULT_ALLOC, FAULT_IO, FAULT_SHORT };

#define FAULT_FRAMES 40

/* Shared between the sweep and the run that it started. */
struct fault_run {
  enum fault_kind kind;
  unsigned long at;     /* the number of the call that fails; 0: none does, all are counted */
  bool stays;           /* all calls after it fail too */
  unsigned long count;  /* calls so far */
  unsigned long failed; /* those that were made to fail */
  char call[24];        /* name of the first one that failed */
  void *stack[FAULT_FRAMES];
  int depth;
};

extern struct fault_run *fault_run;

/* Begins to count and fail, in this process. False: the kernel lets no system calls be intercepted. */
bool fault_begin(struct fault_run *run);

#endif
