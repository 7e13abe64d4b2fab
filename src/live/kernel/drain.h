/* SPDX-License-Identifier: MIT */
/*
 * Draining an instance: a thread moves the pages of all CPUs to files, by splice, while they fill.
 *
 *   per_cpu/cpuN/trace_pipe_raw ── splice ──► pipe ── splice ──► DIRECTORY/cpuN
 *
 * The page that a CPU is writing cannot be moved: it is read at the end. Beside the pages the thread notes
 * what the machine's clocks show (ring/clocks.h).
 */
#ifndef KYMO_LIVE_KERNEL_DRAIN_H
#define KYMO_LIVE_KERNEL_DRAIN_H

#include "live/kernel/instance.h"
#include "ring/clock.h"

struct kymo_kernel_drain;

struct kymo_kernel_drain_options {
  const char *instance, *directory; /* paths; the directory is there */
  uint32_t page_size;
  const struct kymo_session_clock *clock;
  bool sync; /* force what is written to the disk every second */
};

/* Opens the files; nothing is moved yet. *drain is to be freed in any case. */
int kymo_kernel_drain_new(struct kymo_kernel_drain **drain, const struct kymo_kernel_drain_options *options,
                          struct kymo_error *error);
uint32_t kymo_kernel_drain_cpus(const struct kymo_kernel_drain *drain);
/* Starts the thread. */
int kymo_kernel_drain_begin(struct kymo_kernel_drain *drain, struct kymo_error *error);
/* Numbers of the threads that drain; 0 after the last one. */
int kymo_kernel_drain_tid(const struct kymo_kernel_drain *drain);
/* Ends the thread and moves the rest; the instance must record nothing any more. Pages that cannot be written
 * are counted in *lost, and the result is the first failure of writing. */
int kymo_kernel_drain_end(struct kymo_kernel_drain *drain, uint64_t *lost, struct kymo_error *error);
/* The file of a CPU's pages, to be read after the end. -1: there are no more CPUs. */
int kymo_kernel_drain_file(const struct kymo_kernel_drain *drain, uint32_t index);
/* Closes all files. */
void kymo_kernel_drain_free(struct kymo_kernel_drain *drain);

#endif
