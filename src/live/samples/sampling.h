/* SPDX-License-Identifier: MIT */
/*
 * Recording samples of threads beside the events of programs: where a thread is, and by which calls, at a
 * constant rate of its CPU time (perf_event_open).
 *
 *   DIRECTORY/samples/perf.data              the samples (file.h)
 *                     clock, lost, .kymo/clocks    as all such traces have them (live/beside.h)
 *
 * The kernel can stamp samples with CLOCK_MONOTONIC, so that is what the programs' rings use meanwhile: the
 * values of both are comparable without conversion. It cannot stamp with the processor's counter.
 */
#ifndef KYMO_LIVE_SAMPLES_SAMPLING_H
#define KYMO_LIVE_SAMPLES_SAMPLING_H

#include "ring/clock.h"
#include <kymo/error.h>
#include <sys/types.h>

enum { KYMO_SAMPLING_HZ_MAX = 10000 };

struct kymo_sampling;

struct kymo_sampling_options {
  const char *directory; /* of the trace, in which "samples" is made */
  uint32_t hz;           /* from 1 to KYMO_SAMPLING_HZ_MAX */
  bool at_exec;          /* sampling begins when the thread that is followed executes a program */
  bool sync;
};

/* What was recorded. */
struct kymo_sampling_sum {
  uint64_t samples, lost;
  bool is_unsynced;
  bool without_kernel; /* the kernel's part was not permitted */
};

/* Makes the directory; nothing is sampled yet. KYMO_E_ABSENT or KYMO_E_SYSTEM: it is not possible or not
 * permitted here. */
int kymo_sampling_new(struct kymo_sampling **samples, const struct kymo_sampling_options *options,
                      const struct kymo_session_clock *clock, struct kymo_error *error);
/* Begins: the threads of process `pid`, its children, and whatever they start. Once. */
int kymo_sampling_follow(struct kymo_sampling *samples, pid_t pid, struct kymo_error *error);
/* What was written stays, also without kymo_sampling_stop. NULL: nothing happens. */
void kymo_sampling_keep(struct kymo_sampling *samples);
/* Ends sampling, takes what is left and completes the file. */
int kymo_sampling_stop(struct kymo_sampling *samples, struct kymo_sampling_sum *sum,
                       struct kymo_error *error);
/* Frees; a recording that was neither kept nor stopped is removed. */
void kymo_sampling_free(struct kymo_sampling *samples);

#endif
