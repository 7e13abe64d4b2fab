/* SPDX-License-Identifier: MIT */
/* What the threads' states mean: which of them keep the process from going on. */
#ifndef KYMO_PROCESS_FINDINGS_H
#define KYMO_PROCESS_FINDINGS_H

#include "process/model.h"

struct process_finding {
  const char *kind; /* a word for programs: "deadlock", … */
  const char *text; /* one sentence */
  int *threads;     /* their indices */
  unsigned count;
};

struct process_findings {
  struct process_finding *list; /* the most likely culprit first */
  size_t count, room;
  bool failed; /* out of memory */
};

void process_find(struct process *process, struct process_findings *findings);
void process_findings_free(struct process_findings *findings);

/* What a thread does, in words: "waits in read(…)", "runs in spin()". */
const char *process_doing_text(struct process *process, const struct process_thread *thread);
/* "SIGUSR1, 40" of a set of signals, on the board; "" for none. */
const char *process_signals_text(struct process *process, uint64_t set);

#endif
