/* SPDX-License-Identifier: MIT */
#ifndef JOBS_LIBRARY_H
#define JOBS_LIBRARY_H

#include <stdint.h>

struct job {
  uint32_t id;
  const char *what;
  int (*run)(const struct job *job); /* returns the job's status */
};

/* Queues a copy of the job. -1: the queue is full. */
int jobs_put(const struct job *job);
/* Runs jobs until none is left. */
void jobs_run(void);

#endif
