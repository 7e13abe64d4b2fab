/* SPDX-License-Identifier: MIT */
/* The library: a queue of jobs. Its tracepoints are declared in jobs-events.h. */
#include "jobs-library.h"
#include "jobs-events.h"

static struct {
  struct job job[16];
  unsigned first, waiting;
} queue;

int jobs_put(const struct job *job) {
  if (queue.waiting == sizeof queue.job / sizeof queue.job[0])
    return -1;
  queue.job[(queue.first + queue.waiting++) % (sizeof queue.job / sizeof queue.job[0])] = *job;
  kymo_jobs_queued(job->id, job->what, queue.waiting);
  return 0;
}

void jobs_run(void) {
  while (queue.waiting) {
    struct job job = queue.job[queue.first];
    queue.first = (queue.first + 1) % (sizeof queue.job / sizeof queue.job[0]);
    queue.waiting--;
    kymo_jobs_turn(job.id);
    kymo_jobs_done(job.id, job.run(&job));
  }
  kymo_jobs_idle();
}
