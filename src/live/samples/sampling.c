/* SPDX-License-Identifier: MIT */
#include "live/samples/sampling.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/table.h"
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
#include <time.h>
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

struct thread {
  pid_t pid, tid;
};

struct following {
  struct kymo_sampling *samples;
  struct kymo_strbuf records; /* of what runs already */
  struct thread *list;        /* threads that were found and are not followed yet */
  size_t count, capacity;
  struct kymo_hash_table known; /* threads that were found */
  pid_t process;                /* the latest that is followed */
  int status;
  struct kymo_error *error;
};

static bool is_known(const struct following *following, pid_t tid) {
  uint32_t at = (uint32_t)tid;
  return kymo_hash_table_next(&following->known, (uint32_t)tid, &at) != 0;
}

static bool find_thread(void *user, pid_t pid, pid_t tid) {
  struct following *following = user;
  if (is_known(following, tid))
    return false;
  if (!KYMO_LIST_ROOM(following->list, following->capacity, following->count) ||
      !kymo_hash_table_add(&following->known, NULL, (uint32_t)tid, (uintptr_t)tid)) {
    following->status = kymo_fail(following->error, KYMO_E_MEMORY, "out of memory");
    return false;
  }
  following->list[following->count++] = (struct thread){pid, tid};
  return true;
}

/* A thread that has ended meanwhile is no failure. */
static bool follow_thread(struct following *following, const struct thread *thread) {
  struct kymo_sampling_events *events = &following->samples->events;
  int status = kymo_sampling_events_add(events, thread->tid, following->error);
  if (status == KYMO_E_UNKNOWN)
    return false;
  following->status = status;
  if (events->attr.enable_on_exec) /* nothing of it is in what it will execute */
    return status == KYMO_OK;
  kymo_sampling_put_thread(&following->records, thread->pid, thread->tid);
  if (thread->pid != following->process)
    kymo_sampling_put_modules(&following->records, thread->pid);
  following->process = thread->pid;
  return status == KYMO_OK;
}

/* Follows the threads that are not followed yet. Returns how many. */
static size_t follow_new(struct following *following, pid_t pid) {
  size_t count = 0;
  kymo_tree_walk(pid, find_thread, following);
  for (size_t i = 0; i < following->count && !following->status; i++)
    count += follow_thread(following, &following->list[i]);
  following->count = 0;
  return count;
}

/* A thread that was being started when the one that starts it was followed may have inherited nothing: it is
 * in one of the next lists. Others in them have inherited everything and record twice (once.h). */
static size_t follow_all(struct following *following, pid_t pid) {
  enum { ROUNDS_MOST = 8, QUIET = 2, PAUSE_NS = 5000000 };
  struct kymo_sampling_events *events = &following->samples->events;
  size_t count = follow_new(following, pid);
  if (!count || events->attr.enable_on_exec) /* it waits */
    return count;
  for (int round = 0, quiet = 0; round < ROUNDS_MOST && quiet < QUIET && !following->status; round++) {
    nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    bool is_any = follow_new(following, pid) > 0;
    events->may_repeat |= is_any;
    quiet = is_any ? 0 : quiet + 1;
  }
  return count;
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
  size_t count = follow_all(&following, pid);
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
  kymo_hash_table_free(&following.known);
  free(following.list);
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
