/* SPDX-License-Identifier: MIT */
/*
 * jobs: declared tracepoints, shared by a library and a program.
 *
 *   jobs-events.h    declares them; each is an inline function, kymo_jobs_queued(id, what, waiting)
 *   jobs-library.c   calls them
 *   jobs.c           calls one as well, from a source file of its own: it is the same event for readers
 *
 *   kymo list jobs libjobs-example.so               lists them with level and description
 *   kymo record -e jobs:done -o trace -- ./jobs     switches one on
 *   kymo cat trace
 */
#include "jobs-events.h"
#include "jobs-library.h"
#include <stdio.h>

static int count_to(const struct job *job) {
  volatile uint32_t sum = 0;
  for (uint32_t i = 0; i < 1000; i++)
    sum += i;
  return sum > 0 && job->id % 3 == 0;
}

int main(void) {
  for (uint32_t id = 1; id <= 20; id++) {
    struct job job = {id, id % 2 ? "odd" : "even", count_to};
    if (jobs_put(&job) == 0)
      continue;
    puts("the queue is full: a job is refused");
    kymo_jobs_done(id, -1);
  }
  jobs_run();
  return 0;
}
