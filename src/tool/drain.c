/* SPDX-License-Identifier: MIT */
#include "tool/drain.h"
#include "base/fail.h"
#include "ring/collect.h"
#include "ring/places.h"
#include "tool/ctf2.h"
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* One process. */
struct traced {
  struct traced *next;
  char source[KYMO_PATH_MAX], trace[KYMO_PATH_MAX];
  struct kymo_pool_view view;
  struct kymo_collector collector;
  uint64_t events, discarded, overwritten; /* when it has ended */
  bool ended;
};

struct kymo_drain {
  struct kymo_drain_options options; /* its texts are those here */
  char rings[KYMO_PATH_MAX], directory[KYMO_PATH_MAX];
  struct traced *traced;
  time_t clocks_at; /* second of the last clock snapshots */
  /* rotation */
  struct kymo_collect_room room;
  uint64_t part, parts_removed; /* number of the newest part, from 1; 0: there are no parts */
  bool is_part_open;            /* it is being written */
  time_t part_since;
};

static time_t seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

static bool rotates(const struct kymo_drain *drain) {
  return drain->options.rotate_bytes || drain->options.rotate_seconds;
}

struct kymo_drain *kymo_drain_new(const struct kymo_drain_options *options) {
  struct kymo_drain *drain = calloc(1, sizeof *drain);
  if (!drain)
    return NULL;
  drain->options = *options;
  snprintf(drain->rings, sizeof drain->rings, "%s", options->rings);
  snprintf(drain->directory, sizeof drain->directory, "%s", options->directory);
  return drain;
}

/* ---- parts ---- */

/* Where traces go now: the directory itself, or a part in it. */
static bool put_place(const struct kymo_drain *drain, char out[KYMO_PATH_MAX], uint64_t part, const char *name) {
  char number[32] = "";
  if (part)
    snprintf(number, sizeof number, "/part-%06" PRIu64, part);
  return (size_t)snprintf(out, KYMO_PATH_MAX, "%s%s%s%s", drain->directory, number, *name ? "/" : "", name) <
         KYMO_PATH_MAX;
}

static int make_place(const struct kymo_drain *drain, char out[KYMO_PATH_MAX], const char *name,
                      struct kymo_error *error) {
  if (!put_place(drain, out, drain->part, name))
    return kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s/%s", drain->directory, name);
  return mkdir(out, 0777) ? kymo_fail_errno(error, out, "cannot make the directory") : KYMO_OK;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *where) {
  (void)st, (void)where;
  return kind == FTW_DP ? rmdir(path) : unlink(path);
}

/* The part that is one too many now, if there is one. */
static int remove_oldest(struct kymo_drain *drain, struct kymo_error *error) {
  enum { DESCRIPTORS = 8 };
  char path[KYMO_PATH_MAX];
  if (!drain->options.keep || drain->part <= drain->options.keep)
    return KYMO_OK;
  if (!put_place(drain, path, drain->part - drain->options.keep, "") ||
      nftw(path, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS))
    return kymo_fail_errno(error, path, "cannot remove");
  drain->parts_removed++;
  return KYMO_OK;
}

static int begin_part(struct kymo_drain *drain, struct kymo_error *error) {
  char path[KYMO_PATH_MAX];
  drain->part++;
  drain->is_part_open = true;
  drain->part_since = seconds_now();
  drain->room = (struct kymo_collect_room){
      .bytes = drain->options.rotate_bytes ? drain->options.rotate_bytes : UINT64_MAX};
  int status = make_place(drain, path, "", error);
  for (struct traced *t = drain->traced; t && !status; t = t->next) {
    if (t->ended)
      continue;
    status = make_place(drain, t->trace, strrchr(t->source, '/') + 1, error);
    if (!status)
      status = kymo_collect_part(&t->collector, t->trace, error);
  }
  return status ? status : remove_oldest(drain, error);
}

static bool is_known(const struct kymo_drain *drain, const char *source) {
  for (const struct traced *t = drain->traced; t; t = t->next)
    if (!strcmp(t->source, source))
      return true;
  return false;
}

/* Begins to collect a pool; one whose process has not finished making it is left for the next pass. */
static int adopt(struct kymo_drain *drain, const char *name, struct kymo_error *error) {
  struct traced *t = calloc(1, sizeof *t);
  if (!t)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = KYMO_OK;
  if ((size_t)snprintf(t->source, sizeof t->source, "%s/%s", drain->rings, name) >= sizeof t->source)
    status = kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s/%s", drain->rings, name);
  if (status || is_known(drain, t->source) || kymo_pool_open(&t->view, t->source, true, NULL)) {
    free(t);
    return status;
  }
  kymo_pool_lock(&t->view, t->source, NULL); /* so that nobody else is told to record it; what cannot be is said elsewhere */
  if (rotates(drain) && !drain->is_part_open)
    status = begin_part(drain, error);
  if (!status)
    status = make_place(drain, t->trace, name, error);
  if (!status)
    status = kymo_collect_begin(&t->collector, &t->view, t->source, t->trace, error);
  if (status) {
    kymo_pool_close(&t->view);
    free(t);
    return status;
  }
  t->collector.room = drain->part ? &drain->room : NULL;
  t->next = drain->traced;
  drain->traced = t;
  return KYMO_OK;
}

static int find_new(struct kymo_drain *drain, struct kymo_error *error) {
  DIR *dir = opendir(drain->rings);
  if (!dir)
    return kymo_fail_errno(error, drain->rings, "cannot read the directory");
  int status = KYMO_OK;
  for (struct dirent *e; !status && (e = readdir(dir));) {
    char source[2 * KYMO_PATH_MAX];
    snprintf(source, sizeof source, "%s/%s", drain->rings, e->d_name);
    if (e->d_name[0] != '.' && !is_known(drain, source))
      status = adopt(drain, e->d_name, error);
  }
  closedir(dir);
  return status;
}

/* DIRECTORY/NAME-PID/… becomes DIRECTORY/…, so that the directory asked for is the trace. */
static int move_up(const char *trace, const char *directory, struct kymo_error *error) {
  DIR *dir = opendir(trace);
  int status = dir ? KYMO_OK : kymo_fail_errno(error, trace, "cannot read the directory");
  for (struct dirent *e; dir && !status && (e = readdir(dir));) {
    char from[2 * KYMO_PATH_MAX], to[2 * KYMO_PATH_MAX];
    if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
      continue;
    snprintf(from, sizeof from, "%s/%s", trace, e->d_name);
    snprintf(to, sizeof to, "%s/%s", directory, e->d_name);
    if (rename(from, to))
      status = kymo_fail_errno(error, to, "cannot rename");
  }
  if (dir)
    closedir(dir);
  if (!status && rmdir(trace))
    status = kymo_fail_errno(error, trace, "cannot remove");
  return status;
}

/* Nothing more is written to the directory or part: what is in it becomes CTF 2 if asked for, and a single trace
 * becomes the directory. */
static int finish_place(const struct kymo_drain *drain, struct kymo_error *error) {
  char place[KYMO_PATH_MAX], trace[KYMO_PATH_MAX] = "";
  size_t traces = 0;
  int status = KYMO_OK;
  if (!put_place(drain, place, drain->part, ""))
    return kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s", drain->directory);
  DIR *dir = opendir(place);
  if (!dir)
    return kymo_fail_errno(error, place, "cannot read the directory");
  for (struct dirent *e; !status && (e = readdir(dir));) {
    if (e->d_name[0] == '.' || !put_place(drain, trace, drain->part, e->d_name))
      continue;
    traces++;
    if (drain->options.ctf2)
      status = kymo_trace_to_ctf2(trace, error);
  }
  closedir(dir);
  return status || traces != 1 ? status : move_up(trace, place, error);
}

/* If no process runs, the next part begins with the next process. */
static int rotate(struct kymo_drain *drain, struct kymo_error *error) {
  int status = finish_place(drain, error);
  drain->is_part_open = false;
  for (const struct traced *t = drain->traced; t && !status && !drain->is_part_open; t = t->next)
    if (!t->ended)
      status = begin_part(drain, error);
  return status;
}

/* ---- collecting ---- */

/* Takes what is closed, or all that is left. */
static int collect(struct kymo_drain *drain, struct traced *t, bool all, struct kymo_error *error) {
  for (;;) {
    int status = all ? kymo_collect_end(&t->collector, error) : kymo_collect_closed(&t->collector, true, error);
    if (status == KYMO_COLLECT_FULL)
      status = rotate(drain, error);
    else
      return status;
    if (status)
      return status;
  }
}

/* Takes the rest of a pool and its memory away. What a failed one still holds stays where it is. */
static int end_one(struct kymo_drain *drain, struct traced *t, struct kymo_error *error) {
  if (t->ended)
    return KYMO_OK;
  int status = collect(drain, t, true, error);
  t->ended = true;
  t->events = t->collector.events;
  t->discarded = t->collector.discarded;
  t->overwritten = t->collector.overwritten;
  kymo_collect_free(&t->collector);
  kymo_pool_close(&t->view);
  if (!status && !drain->options.keep_rings)
    kymo_pool_delete(t->source);
  return status;
}

static int collect_closed(struct kymo_drain *drain, struct traced *t, enum kymo_drain_load *load,
                          struct kymo_error *error) {
  int status = collect(drain, t, false, error);
  uint32_t taken = t->collector.fullest;
  enum kymo_drain_load one = taken * 4 >= t->view.packets ? KYMO_DRAIN_BEHIND
                             : taken                      ? KYMO_DRAIN_BUSY
                                                          : KYMO_DRAIN_IDLE;
  if (one > *load)
    *load = one;
  return status;
}

/* What is due every second, or later. */
static int keep_time(struct kymo_drain *drain, struct kymo_error *error) {
  time_t now = seconds_now();
  int status = KYMO_OK;
  if (drain->is_part_open && drain->options.rotate_seconds && drain->room.packets &&
      (uint64_t)(now - drain->part_since) >= drain->options.rotate_seconds)
    status = rotate(drain, error);
  if (now == drain->clocks_at)
    return status;
  drain->clocks_at = now;
  for (struct traced *t = drain->traced; t && !status; t = t->next)
    if (!t->ended)
      status = kymo_collect_clocks(&t->collector, error);
  return status;
}

int kymo_drain_pass(struct kymo_drain *drain, enum kymo_drain_load *load, struct kymo_error *error) {
  int status = find_new(drain, error);
  *load = KYMO_DRAIN_IDLE;
  for (struct traced *t = drain->traced; t && !status; t = t->next) {
    if (t->ended)
      continue;
    if (!kymo_pool_is_alive(&t->view))
      status = end_one(drain, t, error);
    else if (drain->options.while_running)
      status = collect_closed(drain, t, load, error);
  }
  return status ? status : keep_time(drain, error);
}

int kymo_drain_end(struct kymo_drain *drain, struct kymo_drain_sum *sum, struct kymo_error *error) {
  *sum = (struct kymo_drain_sum){0};
  int status = find_new(drain, error);
  for (struct traced *t = drain->traced; t; t = t->next) {
    struct kymo_error later;
    bool alive = !t->ended && kymo_pool_is_alive(&t->view);
    int failed = end_one(drain, t, status ? &later : error);
    if (!status)
      status = failed;
    sum->processes++;
    sum->still_running += alive;
    sum->events += t->events;
    sum->discarded += t->discarded;
    sum->overwritten += t->overwritten;
  }
  sum->parts = drain->part;
  sum->parts_removed = drain->parts_removed;
  if (!status && sum->processes && (drain->is_part_open || !drain->part))
    status = finish_place(drain, error);
  return status;
}

void kymo_drain_free(struct kymo_drain *drain) {
  while (drain && drain->traced) {
    struct traced *t = drain->traced;
    drain->traced = t->next;
    if (!t->ended) {
      kymo_collect_free(&t->collector);
      kymo_pool_close(&t->view);
    }
    free(t);
  }
  free(drain);
}
