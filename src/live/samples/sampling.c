/* SPDX-License-Identifier: MIT */
#include "live/samples/sampling.h"
#include "base/fail.h"
#include "live/beside.h"
#include "live/samples/drain.h"
#include "live/samples/file.h"
#include "live/sync.h"
#include "live/tree.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct kymo_sampling {
  struct kymo_session_clock clock;
  struct kymo_sampling_events events;
  struct kymo_sampling_drain *drain;
  char directory[KYMO_PATH_MAX]; /* "" until it is made */
  bool is_kept;
};

int kymo_sampling_new(struct kymo_sampling **out, const struct kymo_sampling_options *options,
                      const struct kymo_session_clock *clock, struct kymo_error *error) {
  struct kymo_sampling *samples = *out = calloc(1, sizeof *samples);
  if (!samples)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  samples->clock = *clock;
  int status = kymo_sampling_events_choose(&samples->events, options->hz, options->at_exec, error);
  if (status == KYMO_OK)
    status = kymo_beside_make(samples->directory, options->directory, KYMO_SAMPLES_DIRECTORY, clock, error);
  const struct kymo_sampling_drain_options how = {.directory = samples->directory,
                                                  .events = &samples->events,
                                                  .clock = &samples->clock,
                                                  .sync = options->sync};
  if (status == KYMO_OK)
    status = kymo_sampling_drain_new(&samples->drain, &how, error);
  if (status != KYMO_OK) {
    kymo_sampling_free(samples);
    *out = NULL;
  }
  return status;
}

/* ---- whose samples ---- */

struct following {
  struct kymo_sampling *samples;
  struct kymo_strbuf records; /* of what runs already */
  pid_t process;              /* the latest */
  int status;
  struct kymo_error *error;
};

/* A thread that has ended meanwhile is no failure. */
static bool follow_thread(void *user, pid_t pid, pid_t tid) {
  struct following *following = user;
  struct kymo_sampling_events *events = &following->samples->events;
  int status =
      following->status ? following->status : kymo_sampling_events_add(events, tid, following->error);
  if (status == KYMO_E_UNKNOWN)
    return false;
  following->status = status;
  if (events->attr.enable_on_exec) /* nothing of it is in what it will execute */
    return status == KYMO_OK;
  kymo_sampling_put_thread(&following->records, pid, tid);
  if (pid != following->process)
    kymo_sampling_put_modules(&following->records, pid);
  following->process = pid;
  return status == KYMO_OK;
}

/* As many open files as the user may have. */
static void raise_files(struct rlimit *before) {
  struct rlimit most;
  if (getrlimit(RLIMIT_NOFILE, before))
    return;
  most = (struct rlimit){before->rlim_max, before->rlim_max};
  setrlimit(RLIMIT_NOFILE, &most);
}

int kymo_sampling_follow(struct kymo_sampling *samples, pid_t pid, struct kymo_error *error) {
  struct following following = {.samples = samples, .error = error};
  struct rlimit files = {0};
  if (!samples->events.attr.exclude_kernel)
    kymo_sampling_put_kernel(&following.records);
  raise_files(&files);
  size_t count = kymo_tree_walk(pid, follow_thread, &following);
  if (files.rlim_cur)
    setrlimit(RLIMIT_NOFILE, &files);
  int status = following.status;
  if (!status && !count)
    status = kymo_fail(error, KYMO_E_UNKNOWN, "there is no process %d", (int)pid);
  if (!status && following.records.failed)
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (!status)
    status =
        kymo_sampling_drain_begin(samples->drain, following.records.text, following.records.length, error);
  kymo_strbuf_free(&following.records);
  return status;
}

void kymo_sampling_keep(struct kymo_sampling *samples) {
  if (samples)
    samples->is_kept = true;
}

/* ---- the end ---- */

int kymo_sampling_stop(struct kymo_sampling *samples, struct kymo_sampling_sum *sum,
                       struct kymo_error *error) {
  struct kymo_sampling_count count = {0};
  struct kymo_error later;
  samples->is_kept = true;
  kymo_sampling_events_stop(&samples->events);
  int status = kymo_sampling_drain_end(samples->drain, &count, error);
  *sum = (struct kymo_sampling_sum){
      .samples = count.samples, .lost = count.lost, .without_kernel = samples->events.attr.exclude_kernel};
  int one = count.lost > count.shown
                ? kymo_beside_note_lost(samples->directory, count.lost - count.shown, status ? &later : error)
                : KYMO_OK;
  status = status ? status : one;
  kymo_sampling_drain_free(samples->drain);
  samples->drain = NULL;
  kymo_sampling_events_free(&samples->events);
  one = kymo_sync(samples->directory, status ? &later : error);
  sum->is_unsynced = one != KYMO_OK;
  return status ? status : one;
}

void kymo_sampling_free(struct kymo_sampling *samples) {
  char path[KYMO_PATH_MAX + 16];
  if (!samples)
    return;
  kymo_sampling_drain_free(samples->drain);
  kymo_sampling_events_free(&samples->events);
  snprintf(path, sizeof path, "%s/perf.data", samples->directory);
  if (samples->directory[0] && !samples->is_kept && (!unlink(path) || errno == ENOENT))
    kymo_beside_remove(samples->directory);
  free(samples);
}
