/* SPDX-License-Identifier: MIT */
/*
 * Recording events of the Linux kernel beside those of programs: an instance of ftrace (instance.h) whose
 * pages are kept as they are, in a directory of their own within the trace:
 *
 *   DIRECTORY/kernel/head.dat        formats of the events (head.h)
 *                    cpu0, cpu1, …   raw pages (drain.h)
 *                    names           of threads (names.h)
 *                    clock, lost, .kymo/clocks    as all such traces have them (live/beside.h)
 *
 * The kernel stamps with the clock of the programs' rings: x86-tsc with the processor's counter, else mono.
 */
#ifndef KYMO_LIVE_KERNEL_KERNEL_H
#define KYMO_LIVE_KERNEL_KERNEL_H

#include "ring/clock.h"
#include <kymo/error.h>
#include <sys/types.h>

struct kymo_kernel;

struct kymo_kernel_options {
  const char *events;        /* patterns, see events.h; "": none */
  const char *const *probes; /* lines of uprobe_events without a group, NULL-ended; or NULL */
  const char *directory;     /* of the trace, in which "kernel" is made */
  uint64_t buffer_bytes;     /* of each CPU; 0: KYMO_KERNEL_BUFFER */
  bool only_ours; /* of processes that kymo_kernel_enter or kymo_kernel_follow name, and their children */
  bool sync;
};

enum { KYMO_KERNEL_BUFFER = 8 << 20 };

/* What was recorded. */
struct kymo_kernel_sum {
  uint64_t events, lost;
  bool is_unsynced;
};

/* The clock of kernel and programs: the processor's counter if that is wanted and both have it, else
 * CLOCK_MONOTONIC. If the programs would take the counter and the kernel cannot, *must_choose is what
 * KYMO_CLOCK must be for them, else NULL. */
void kymo_kernel_clock(struct kymo_session_clock *clock, bool is_counter, const char **must_choose);

/*
 * Makes the instance; it records nothing yet. KYMO_OK and *kernel; or KYMO_E_ABSENT: there is no tracefs;
 * KYMO_E_USAGE: no event matches; KYMO_E_SYSTEM: the caller may not, or a file cannot be made.
 */
int kymo_kernel_new(struct kymo_kernel **kernel, const struct kymo_kernel_options *options,
                    const struct kymo_session_clock *clock, struct kymo_error *error);
/* In the child that becomes the command: its events are wanted, and recording begins. Async-signal-safe; 0,
 * or errno. */
int kymo_kernel_enter(const struct kymo_kernel *kernel);
/* Recording begins; with `only_ours`, that of process `pid`, its threads and its children. */
int kymo_kernel_follow(struct kymo_kernel *kernel, pid_t pid, struct kymo_error *error);
/* Recording has begun: what was written stays, also without kymo_kernel_stop. NULL: nothing happens. */
void kymo_kernel_keep(struct kymo_kernel *kernel);
/* Ends recording, takes what is left, and removes the instance. */
int kymo_kernel_stop(struct kymo_kernel *kernel, struct kymo_kernel_sum *sum, struct kymo_error *error);
/* Frees, and removes the instance if that was not done. */
void kymo_kernel_free(struct kymo_kernel *kernel);

#endif
