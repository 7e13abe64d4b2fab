/* SPDX-License-Identifier: MIT */
/*
 * Shared by the two kinds of recordings: of a command (command.c), and of a running process (attach.c).
 */
#ifndef KYMO_LIVE_RECORDING_H
#define KYMO_LIVE_RECORDING_H

#include "live/drain.h"
#include "live/kernel/kernel.h"
#include "live/samples/sampling.h"
#include "ring/places.h"
#include <kymo/live.h>

struct kymo_recording_kind {
  /* Whether the command has ended, or the process is disconnected. */
  bool (*has_ended)(struct kymo_recording *recording);
  /* Collects the available packets. *pause_ms: how long to wait then. */
  int (*pass)(struct kymo_recording *recording, int *pause_ms, struct kymo_error *error);
  /* Waits at most this long, or until the end; returns whether `fd` can be read. */
  bool (*wait)(const struct kymo_recording *recording, int fd, int timeout_ms);
  int (*stop)(struct kymo_recording *recording, struct kymo_error *error);
  const char *(*kept)(const struct kymo_recording *recording, size_t index);
  void (*free)(struct kymo_recording *recording);
};

/* Each kind has a larger struct that begins with this one. */
struct kymo_recording {
  const struct kymo_recording_kind *kind;
  struct kymo_recording_options options; /* texts are borrowed until the recording has begun */
  char trace[KYMO_PATH_MAX], rings[KYMO_PATH_MAX];
  int pid;
  bool has_ended, is_stopped;
  int64_t retry_ns;                   /* after an error: when to try again; else 0 */
  struct kymo_kernel *kernel;         /* records events of the kernel; or NULL */
  struct kymo_sampling *samples;      /* or NULL */
  char origin[KYMO_CLOCK_ORIGIN_MAX]; /* of the clock of both, for the programs; "" without them */
  const char *clock;                  /* what KYMO_CLOCK must be then, or NULL */
  /* what is known after the end */
  struct kymo_kernel_sum kernel_sum;
  struct kymo_sampling_sum samples_sum;
  struct kymo_drain_sum sum;
  bool has_rings; /* they are not removed */
  char cause[KYMO_PATH_MAX], snapshot[KYMO_PATH_MAX];
  char left_out[1200];
  /* of commands */
  int wait_status;
  size_t snapshots, unknown_ends;
  const char *crashed; /* names that were not returned yet, or NULL */
};

static inline bool kymo_recording_has(const struct kymo_recording *recording, uint32_t flag) {
  return recording->options.flags & flag;
}
int64_t kymo_recording_now_ns(void);
/* Creates a recording of this size and kind and checks the options. */
int kymo_recording_new(struct kymo_recording **recording, size_t size, const struct kymo_recording_kind *kind,
                       const struct kymo_recording_options *options, size_t options_size,
                       struct kymo_error *error);
/* Whether there are other traces beside those of programs: events of the kernel, samples. */
static inline bool kymo_recording_has_others(const struct kymo_recording *recording) {
  return recording->options.kernel || recording->options.sample_hz;
}
/* Makes ready to record events of the kernel and samples, if they are asked for: by the clock `origin`
 * (ring/clock.h), or that which programs would use now if it is NULL. The directory of the trace is there.
 * `at_exec`: samples begin when the process executes the command. */
int kymo_recording_make_others(struct kymo_recording *recording, const char *origin, bool at_exec,
                               struct kymo_error *error);
/* Begins to record both, of a process that runs. */
int kymo_recording_follow(struct kymo_recording *recording, struct kymo_error *error);
/* Removes both: the recording did not begin. */
void kymo_recording_drop_others(struct kymo_recording *recording);
/* Makes a recording of events of the kernel, samples or both alone; `pid` is a process, or 0. (alone.c) */
int kymo_recording_alone(struct kymo_recording **recording, int pid,
                         const struct kymo_recording_options *options, struct kymo_error *error);
/* Creates the directory of the trace; `program` is the name for a new one. */
int kymo_recording_make_trace(struct kymo_recording *recording, const char *program,
                              struct kymo_error *error);

#endif
