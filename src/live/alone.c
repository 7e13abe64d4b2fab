/* SPDX-License-Identifier: MIT */
/* A recording of events of the kernel, samples or both alone: of a process without tracepoints, until it
 * ends; or of the whole machine. */
#include "base/fail.h"
#include "live/beside.h"
#include "live/recording.h"
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { IDLE_MS = 1000 };

struct alone {
  struct kymo_recording recording;
  int process; /* a descriptor of it, or -1 */
};

static struct alone *of(const struct kymo_recording *recording) {
  return (struct alone *)(uintptr_t)recording;
}

static bool alone_has_ended(struct kymo_recording *recording) {
  return poll(&(struct pollfd){of(recording)->process, POLLIN, 0}, 1, 0) > 0;
}

static int alone_pass(struct kymo_recording *recording, int *pause_ms, struct kymo_error *error) {
  (void)recording, (void)error;
  *pause_ms = IDLE_MS;
  return KYMO_OK;
}

static bool alone_wait(const struct kymo_recording *recording, int fd, int timeout_ms) {
  struct pollfd wait[2] = {{fd, POLLIN, 0}, {of(recording)->process, POLLIN, 0}};
  return poll(wait, 2, timeout_ms) > 0 && wait[0].revents;
}

static int alone_stop(struct kymo_recording *recording, struct kymo_error *error) {
  (void)recording, (void)error;
  return KYMO_OK;
}

static const char *alone_kept(const struct kymo_recording *recording, size_t index) {
  (void)recording, (void)index;
  return NULL;
}

static void alone_free(struct kymo_recording *recording) {
  if (of(recording)->process >= 0)
    close(of(recording)->process);
}

static const struct kymo_recording_kind alone_kind = {
    .has_ended = alone_has_ended,
    .pass = alone_pass,
    .wait = alone_wait,
    .stop = alone_stop,
    .kept = alone_kept,
    .free = alone_free,
};

int kymo_recording_alone(struct kymo_recording **recording, int pid,
                         const struct kymo_recording_options *options, struct kymo_error *error) {
  int status =
      kymo_recording_new(recording, sizeof(struct alone), &alone_kind, options, sizeof *options, error);
  if (status)
    return status;
  struct alone *alone = of(*recording);
  alone->recording.pid = pid;
  alone->process = pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
  if (pid && alone->process < 0)
    status = kymo_fail(error, KYMO_E_UNKNOWN, "there is no process %d", pid);
  else if (!pid && kymo_recording_has(*recording, KYMO_RECORD_KERNEL_OURS))
    status = kymo_fail(error, KYMO_E_USAGE, "there is no process whose events of the kernel are meant");
  else if (!pid && alone->recording.options.sample_hz)
    status = kymo_fail(error, KYMO_E_USAGE, "there is no process to sample");
  if (!status)
    status = kymo_recording_make_trace(
        *recording, alone->recording.options.kernel ? KYMO_KERNEL_DIRECTORY : KYMO_SAMPLES_DIRECTORY, error);
  if (!status)
    status = kymo_recording_make_others(*recording, NULL, false, error);
  if (!status)
    status = kymo_recording_follow(*recording, error);
  if (!status)
    return KYMO_OK;
  kymo_recording_drop_others(*recording);
  if ((*recording)->trace[0])
    rmdir((*recording)->trace);
  kymo_recording_free(*recording);
  *recording = NULL;
  return status;
}
