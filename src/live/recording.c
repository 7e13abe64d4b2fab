/* SPDX-License-Identifier: MIT */
/* Recordings of both kinds: one loop that collects and waits, and their results (kymo/live.h). */
#include "live/recording.h"
#include "base/fail.h"
#include "base/sized.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t kymo_recording_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int check(const struct kymo_recording_options *options, struct kymo_error *error) {
  bool rotates = options->rotate_bytes || options->rotate_seconds;
  bool overwrites = options->flags & KYMO_RECORD_OVERWRITE;
  if (options->flags & KYMO_RECORD_SNAPSHOTS && !overwrites)
    return kymo_fail(error, KYMO_E_USAGE, "snapshots need rings that are overwritten");
  if (rotates && overwrites)
    return kymo_fail(error, KYMO_E_USAGE,
                     "rings that are overwritten are collected at the end, so there are no parts");
  if (options->kernel && (rotates || options->flags & KYMO_RECORD_SNAPSHOTS))
    return kymo_fail(error, KYMO_E_USAGE,
                     "events of the kernel are neither recorded in parts nor in snapshots");
  if (options->sample_hz && (rotates || options->flags & KYMO_RECORD_SNAPSHOTS))
    return kymo_fail(error, KYMO_E_USAGE, "samples are neither recorded in parts nor in snapshots");
  if (options->sample_hz > KYMO_SAMPLING_HZ_MAX)
    return kymo_fail(error, KYMO_E_USAGE, "expected 1 to %d samples a second, found %" PRIu32,
                     KYMO_SAMPLING_HZ_MAX, options->sample_hz);
  if (options->flags & KYMO_RECORD_KERNEL_OURS && !options->kernel)
    return kymo_fail(error, KYMO_E_USAGE, "no events of the kernel are asked for");
  return KYMO_OK;
}

int kymo_recording_new(struct kymo_recording **out, size_t size, const struct kymo_recording_kind *kind,
                       const struct kymo_recording_options *options, size_t options_size,
                       struct kymo_error *error) {
  struct kymo_recording_options known = {0};
  *out = NULL;
  if (options)
    kymo_sized_in(&known, sizeof known, options, options_size);
  int status = check(&known, error);
  if (status < 0)
    return status;
  struct kymo_recording *recording = calloc(1, size);
  if (!recording)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  recording->kind = kind;
  recording->options = known;
  if (!known.enable)
    recording->options.enable = "*";
  *out = recording;
  return KYMO_OK;
}

int kymo_recording_make_trace(struct kymo_recording *recording, const char *program,
                              struct kymo_error *error) {
  const char *asked = recording->options.directory;
  if (kymo_trace_place(recording->trace, asked, secure_getenv("KYMO_OUT"), program))
    return KYMO_OK;
  int status = kymo_fail_errno(error, asked ? asked : recording->trace, "cannot make the directory");
  recording->trace[0] = 0; /* it is not ours */
  return status;
}

static int make_kernel(struct kymo_recording *recording, const struct kymo_session_clock *clock,
                       struct kymo_error *error) {
  const struct kymo_recording_options *asked = &recording->options;
  const struct kymo_kernel_options options = {.events = asked->kernel,
                                              .probes = asked->probes,
                                              .directory = recording->trace,
                                              .buffer_bytes = asked->kernel_buffer,
                                              .only_ours =
                                                  kymo_recording_has(recording, KYMO_RECORD_KERNEL_OURS),
                                              .sync = kymo_recording_has(recording, KYMO_RECORD_SYNC)};
  return kymo_kernel_new(&recording->kernel, &options, clock, error);
}

/* Samples have CLOCK_MONOTONIC, whatever the clock of others is. */
static int make_samples(struct kymo_recording *recording, const struct kymo_session_clock *clock,
                        bool at_exec, struct kymo_error *error) {
  const struct kymo_sampling_options options = {.directory = recording->trace,
                                                .hz = recording->options.sample_hz,
                                                .at_exec = at_exec,
                                                .sync = kymo_recording_has(recording, KYMO_RECORD_SYNC)};
  struct kymo_session_clock own = *clock;
  if (clock->is_counter)
    kymo_session_clock_start(&own, KYMO_CLOCK_MONOTONIC, NULL);
  return kymo_sampling_new(&recording->samples, &options, &own, error);
}

/* With samples programs that begin take CLOCK_MONOTONIC, too. */
int kymo_recording_make_others(struct kymo_recording *recording, const char *origin, bool at_exec,
                               struct kymo_error *error) {
  const struct kymo_recording_options *asked = &recording->options;
  struct kymo_session_clock clock;
  int status = KYMO_OK;
  if (!kymo_recording_has_others(recording))
    return KYMO_OK;
  const char *chosen = secure_getenv("KYMO_CLOCK");
  bool is_free = !chosen || strcmp(chosen, "monotonic") != 0;
  kymo_kernel_clock(&clock, origin ? strncmp(origin, "counter", 7) == 0 : is_free && !asked->sample_hz,
                    &recording->clock);
  if (asked->sample_hz && !origin)
    recording->clock = "monotonic";
  if (origin)
    kymo_session_clock_take_origin(&clock, origin, false);
  kymo_session_clock_put_origin(&clock, recording->origin);
  if (asked->kernel)
    status = make_kernel(recording, &clock, error);
  if (status == KYMO_OK && asked->sample_hz)
    status = make_samples(recording, &clock, at_exec, error);
  if (status == KYMO_E_USAGE || status == KYMO_E_UNKNOWN) /* these are of the command */
    status = KYMO_E_ABSENT;
  if (error && status)
    error->code = status;
  return status;
}

int kymo_recording_follow(struct kymo_recording *recording, struct kymo_error *error) {
  int status = recording->samples ? kymo_sampling_follow(recording->samples, recording->pid, error) : KYMO_OK;
  if (status == KYMO_OK && recording->kernel)
    status = kymo_kernel_follow(recording->kernel, recording->pid, error);
  if (status == KYMO_OK)
    kymo_sampling_keep(recording->samples);
  return status;
}

void kymo_recording_drop_others(struct kymo_recording *recording) {
  kymo_kernel_free(recording->kernel);
  kymo_sampling_free(recording->samples);
  recording->kernel = NULL;
  recording->samples = NULL;
}

/* ---- taking and waiting ---- */

/* One pass, unless the last one failed a moment ago. */
static int pass(struct kymo_recording *recording, int *pause_ms, struct kymo_error *error) {
  enum { RETRY_MS = 1000 };
  int64_t now = kymo_recording_now_ns();
  if (recording->retry_ns > now) {
    *pause_ms = (int)((recording->retry_ns - now) / 1000000) + 1;
    return KYMO_OK;
  }
  int status = recording->kind->pass(recording, pause_ms, error);
  recording->retry_ns = status < 0 ? now + (int64_t)RETRY_MS * 1000000 : 0;
  return status;
}

int kymo_recording_work(struct kymo_recording *recording, int64_t timeout_ns, int fd,
                        struct kymo_error *error) {
  int64_t now = kymo_recording_now_ns(), end;
  if (timeout_ns < 0 || __builtin_add_overflow(now, timeout_ns, &end))
    end = INT64_MAX;
  for (;;) {
    int pause_ms = 0;
    if (recording->has_ended || recording->is_stopped || recording->kind->has_ended(recording)) {
      recording->has_ended = true;
      return KYMO_END;
    }
    int status = pass(recording, &pause_ms, error);
    now = kymo_recording_now_ns();
    if (status < 0 || recording->crashed || now >= end)
      return status;
    int64_t left_ms = (end - now) / 1000000 + 1;
    if (recording->kind->wait(recording, fd, left_ms < pause_ms ? (int)left_ms : pause_ms))
      return KYMO_OK;
  }
}

int kymo_recording_stop(struct kymo_recording *recording, struct kymo_error *error) {
  if (recording->is_stopped)
    return kymo_fail(error, KYMO_E_USAGE, "the recording has been stopped already");
  struct kymo_error later;
  recording->is_stopped = true;
  int status =
      recording->kernel ? kymo_kernel_stop(recording->kernel, &recording->kernel_sum, error) : KYMO_OK;
  int stopped = recording->samples
                    ? kymo_sampling_stop(recording->samples, &recording->samples_sum, status ? &later : error)
                    : KYMO_OK;
  status = status ? status : stopped;
  stopped = recording->kind->stop(recording, status ? &later : error);
  status = status ? status : stopped;
  recording->sum.is_unsynced |= recording->kernel_sum.is_unsynced | recording->samples_sum.is_unsynced;
  if (recording->sum.left_out.code)
    kymo_error_text(&recording->sum.left_out, recording->left_out, sizeof recording->left_out);
  return status;
}

void kymo_recording_free(struct kymo_recording *recording) {
  if (!recording)
    return;
  recording->kind->free(recording);
  kymo_recording_drop_others(recording);
  free(recording);
}

/* ---- what is known ---- */

static const char *text_or_null(const char *text) { return text[0] ? text : NULL; }

const char *kymo_recording_text(const struct kymo_recording *recording, enum kymo_recording_text what) {
  switch (what) {
  case KYMO_RECORDING_DIRECTORY: return text_or_null(recording->trace);
  case KYMO_RECORDING_SNAPSHOT: return text_or_null(recording->snapshot);
  case KYMO_RECORDING_RINGS:
    return recording->is_stopped && !recording->has_rings ? NULL : text_or_null(recording->rings);
  case KYMO_RECORDING_CAUSE: return text_or_null(recording->cause);
  case KYMO_RECORDING_LEFT_OUT: return text_or_null(recording->left_out);
  }
  return NULL;
}

int64_t kymo_recording_number(const struct kymo_recording *recording, enum kymo_recording_number what) {
  const struct kymo_drain_sum *sum = &recording->sum;
  switch (what) {
  case KYMO_RECORDING_PID: return recording->pid;
  case KYMO_RECORDING_EVENTS: return (int64_t)sum->events;
  case KYMO_RECORDING_LOST: return (int64_t)sum->discarded;
  case KYMO_RECORDING_LOST_FULL: return (int64_t)sum->full;
  case KYMO_RECORDING_UNWRITTEN: return (int64_t)sum->unwritten;
  case KYMO_RECORDING_OVERWRITTEN: return (int64_t)sum->overwritten;
  case KYMO_RECORDING_PROCESSES: return (int64_t)sum->processes;
  case KYMO_RECORDING_RUNNING: return (int64_t)sum->still_running;
  case KYMO_RECORDING_PARTS: return (int64_t)sum->parts;
  case KYMO_RECORDING_PARTS_REMOVED: return (int64_t)sum->parts_removed;
  case KYMO_RECORDING_SNAPSHOTS: return (int64_t)recording->snapshots;
  case KYMO_RECORDING_IS_UNSYNCED: return sum->is_unsynced;
  case KYMO_RECORDING_UNKNOWN_ENDS: return (int64_t)recording->unknown_ends;
  case KYMO_RECORDING_WAIT_STATUS: return recording->wait_status;
  case KYMO_RECORDING_KERNEL_EVENTS: return (int64_t)recording->kernel_sum.events;
  case KYMO_RECORDING_KERNEL_LOST: return (int64_t)recording->kernel_sum.lost;
  case KYMO_RECORDING_SAMPLES: return (int64_t)recording->samples_sum.samples;
  case KYMO_RECORDING_SAMPLES_LOST: return (int64_t)recording->samples_sum.lost;
  case KYMO_RECORDING_SAMPLES_USER: return recording->samples_sum.without_kernel;
  }
  return -1;
}

const char *kymo_recording_kept(const struct kymo_recording *recording, size_t index) {
  return recording->is_stopped ? recording->kind->kept(recording, index) : NULL;
}
