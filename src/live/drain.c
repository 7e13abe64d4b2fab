/* SPDX-License-Identifier: MIT */
#include "live/drain.h"
#include "base/dir.h"
#include "base/fail.h"
#include "base/path.h"
#include "live/beside.h"
#include "live/ctf2.h"
#include "live/sleep.h"
#include "live/sync.h"
#include "ring/collect.h"
#include "ring/places.h"
#include "ring/pools.h"
#include "ring/unwritten.h"
#include <errno.h>
#include <fcntl.h>
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
  bool has_place;                /* its directory is made */
  struct kymo_collect_sums sums; /* when it has ended */
  uint64_t unwritten;            /* by then: its rings stay */
  struct kymo_error left_out;    /* by then */
  bool ended, has_rings;         /* has_rings: they are removed at the end, once the trace is on the disk */
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
  bool is_unsynced; /* something could not be forced to the disk, so its state is unknown */
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

/* The current directory of traces: the directory itself, or a part in it. */
static bool put_place(const struct kymo_drain *drain, char out[KYMO_PATH_MAX], uint64_t part,
                      const char *name) {
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

/* Removes the oldest part if there are too many. */
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
  int status = make_place(drain, path, "", error);
  if (status) {
    drain->part--;
    return status;
  }
  drain->is_part_open = true;
  drain->part_since = seconds_now();
  drain->room = (struct kymo_collect_room){.bytes = drain->options.rotate_bytes ? drain->options.rotate_bytes
                                                                                : UINT64_MAX};
  for (struct traced *t = drain->traced; t; t = t->next)
    t->has_place &= t->ended;
  return remove_oldest(drain, error);
}

/* Creates the current directory of the process's trace. */
static int make_trace(struct kymo_drain *drain, struct traced *t, struct kymo_error *error) {
  int status = rotates(drain) && !drain->is_part_open ? begin_part(drain, error) : KYMO_OK;
  if (status || t->has_place)
    return status;
  status = make_place(drain, t->trace, strrchr(t->source, '/') + 1, error);
  if (!status)
    status = kymo_collect_part(&t->collector, t->trace, error);
  t->collector.room = drain->part ? &drain->room : NULL;
  t->has_place = !status;
  return status;
}

static bool is_known(const struct kymo_drain *drain, const char *source) {
  for (const struct traced *t = drain->traced; t; t = t->next)
    if (!strcmp(t->source, source))
      return true;
  return false;
}

/* Whether a process has not finished making this pool: its file is missing, or does not have the magic
 * yet. */
static bool is_unfinished(const char *source) {
  char path[2 * KYMO_PATH_MAX];
  struct stat st;
  uint64_t magic = 0;
  kymo_path_join(path, sizeof path, source, KYMO_POOL_FILE);
  if (stat(path, &st))
    return errno == ENOENT || errno == ENOTDIR;
  int fd = S_ISREG(st.st_mode) && st.st_size ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
  bool is_read = fd >= 0 && pread(fd, &magic, sizeof magic, 0) == (ssize_t)sizeof magic;
  if (fd >= 0)
    close(fd);
  return !st.st_size || (is_read && !magic);
}

/* Begins to collect a pool. One that cannot be opened is left for the next pass. In the last pass that is an
 * error, since the trace lacks its events, unless its process had not finished creating it: asked before it
 * is opened, as it may be finished right after that has failed. */
static int adopt(struct kymo_drain *drain, const char *name, bool is_last, struct kymo_error *error) {
  struct traced *t = calloc(1, sizeof *t);
  if (!t)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = KYMO_OK;
  if (!kymo_path_join(t->source, sizeof t->source, drain->rings, name))
    status = kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s/%s", drain->rings, name);
  bool is_wanted = !status && !is_known(drain, t->source);
  bool is_new = is_wanted && is_last && is_unfinished(t->source);
  int opened = is_wanted ? kymo_pool_open(&t->view, t->source, true, is_last ? error : NULL) : KYMO_OK;
  if (!is_wanted || opened) {
    status = is_last && !is_new && opened ? opened : status;
    free(t);
    return status;
  }
  kymo_pool_lock(&t->view, t->source,
                 NULL); /* so that no other recorder takes it; a failure is reported elsewhere */
  status = kymo_collect_begin(&t->collector, &t->view, t->source, drain->directory, error);
  if (status) {
    kymo_pool_close(&t->view);
    free(t);
    return status;
  }
  t->next = drain->traced;
  drain->traced = t;
  return KYMO_OK;
}

static int find_new(struct kymo_drain *drain, bool is_last, struct kymo_error *error) {
  struct kymo_error later;
  DIR *dir = opendir(drain->rings);
  if (!dir)
    return kymo_fail_errno(error, drain->rings, "cannot read the directory");
  int status = KYMO_OK;
  bool is_cut = false;
  for (struct dirent *e; (is_last || !status) && (e = kymo_dir_next(dir, &is_cut));) {
    char source[2 * KYMO_PATH_MAX];
    kymo_path_join(source, sizeof source, drain->rings, e->d_name);
    int one = e->d_name[0] != '.' && !is_known(drain, source)
                  ? adopt(drain, e->d_name, is_last, status ? &later : error)
                  : KYMO_OK;
    status = status ? status : one;
  }
  if (is_cut && !status)
    status = kymo_fail_errno(error, drain->rings, "cannot read the directory");
  closedir(dir);
  return status;
}

/* DIRECTORY/NAME-PID/… becomes DIRECTORY/…, so that the requested directory is the trace. */
static int move_up(const char *trace, const char *directory, struct kymo_error *error) {
  DIR *dir = opendir(trace);
  int status = dir ? KYMO_OK : kymo_fail_errno(error, trace, "cannot read the directory");
  bool is_cut = false;
  for (struct dirent *e; dir && !status && (e = kymo_dir_next(dir, &is_cut));) {
    char from[2 * KYMO_PATH_MAX], to[2 * KYMO_PATH_MAX];
    if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
      continue;
    kymo_path_join(from, sizeof from, trace, e->d_name);
    kymo_path_join(to, sizeof to, directory, e->d_name);
    if (rename(from, to))
      status = kymo_fail_errno(error, to, "cannot rename");
  }
  if (is_cut && !status)
    status = kymo_fail_errno(error, trace, "cannot read the directory");
  if (dir)
    closedir(dir);
  if (!status && rmdir(trace))
    status = kymo_fail_errno(error, trace, "cannot remove");
  return status;
}

/* Nothing more is written to the directory or part: its contents become CTF 2 if requested, and a single
 * trace becomes the directory. */
static int finish_place(const struct kymo_drain *drain, struct kymo_error *error) {
  char place[KYMO_PATH_MAX], trace[KYMO_PATH_MAX] = "";
  size_t traces = 0;
  int status = KYMO_OK;
  if (!put_place(drain, place, drain->part, ""))
    return kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s", drain->directory);
  DIR *dir = opendir(place);
  if (!dir)
    return kymo_fail_errno(error, place, "cannot read the directory");
  bool is_cut = false;
  for (struct dirent *e; !status && (e = kymo_dir_next(dir, &is_cut));) {
    if (e->d_name[0] == '.' || !put_place(drain, trace, drain->part, e->d_name))
      continue;
    traces++;
    if (drain->options.ctf2 && !(drain->options.beside && kymo_beside_is(e->d_name)))
      status = kymo_trace_to_ctf2(trace, error);
  }
  if (is_cut && !status)
    status = kymo_fail_errno(error, place, "cannot read the directory");
  closedir(dir);
  return status || traces != 1 ? status : move_up(trace, place, error);
}

/* If no process runs, the next part begins with the next process. */
static int rotate(struct kymo_drain *drain, struct kymo_error *error) {
  int status = KYMO_OK;
  for (struct traced *t = drain->traced; t && !status; t = t->next)
    if (!t->ended && t->has_place) /* before a single trace is moved up */
      status = kymo_collect_end_part(&t->collector, error);
  if (status)
    return status;
  status = finish_place(drain, error);
  drain->is_part_open = false;
  for (const struct traced *t = drain->traced; t && !status && !drain->is_part_open; t = t->next)
    if (!t->ended)
      status = begin_part(drain, error);
  return status;
}

/* ---- collecting ---- */

/* Collects closed packets, or all that are left. */
static int collect(struct kymo_drain *drain, struct traced *t, bool all, struct kymo_error *error) {
  for (;;) {
    int status = make_trace(drain, t, error);
    if (!status)
      status = all ? kymo_collect_end(&t->collector, error) : kymo_collect_closed(&t->collector, true, error);
    if (status == KYMO_COLLECT_FULL)
      status = rotate(drain, error);
    else
      return status;
    if (status)
      return status;
  }
}

/* Nothing more of it is written: the rest is lost to the trace, and stays in the rings. */
static void abandon(struct kymo_drain *drain, struct traced *t) {
  char part[KYMO_PATH_MAX];
  bool is_there = kymo_collect_abandon(&t->collector);
  t->unwritten = t->collector.unwritten;
  if (is_there || !t->has_place || rmdir(t->trace))
    return;
  if (drain->is_part_open && put_place(drain, part, drain->part, "") &&
      !rmdir(part)) { /* nothing came into it */
    drain->is_part_open = false;
    drain->part--;
  }
}

static void remove_rings(struct traced *t) {
  kymo_pool_delete(t->source);
  t->has_rings = false;
}

/* Forcing each trace to the disk when its process ends would delay the others, whose rings fill. So the rings
 * of a few ended processes stay until all is forced at the end; more of them would take too much memory. */
static void limit_rings(struct kymo_drain *drain) {
  enum { STAY_MAX = 4 };
  unsigned count = 0;
  for (struct traced *t = drain->traced; t; t = t->next) /* the newest first */
    if (t->has_rings && ++count > STAY_MAX)
      remove_rings(t);
}

/* Collects the rest of a pool and releases its memory. If it cannot be written that is tried again, but not
 * at the end (`is_last`). */
static int end_one(struct kymo_drain *drain, struct traced *t, bool is_last, struct kymo_error *error) {
  if (t->ended)
    return KYMO_OK;
  int status = collect(drain, t, true, error);
  if (status && !is_last)
    return status;
  if (status)
    abandon(drain, t);
  t->ended = true;
  t->sums = t->collector.sums;
  t->left_out = t->collector.left_out;
  kymo_collect_free(&t->collector);
  kymo_pool_close(&t->view);
  t->has_rings = !t->unwritten && !drain->options.keep_rings;
  if (!is_last)
    limit_rings(drain);
  return status;
}

/* Forces all written data to the disk. The failure is only returned once. */
static int sync_all(struct kymo_drain *drain, struct kymo_error *error) {
  int status = kymo_sync(drain->directory, error);
  drain->is_unsynced |= status != KYMO_OK;
  return status;
}

/* At the end the rings are removed only when the trace is safe. */
static int sync_and_remove(struct kymo_drain *drain, struct kymo_error *error) {
  int status = sync_all(drain, error);
  for (struct traced *t = drain->traced; t && !drain->is_unsynced; t = t->next)
    if (t->has_rings)
      remove_rings(t);
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

/* Work that is due every second, or later. */
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
    if (!t->ended && t->has_place)
      status = kymo_collect_clocks(&t->collector, error);
  return status || !drain->options.sync ? status : sync_all(drain, error);
}

/* A failure for one process need not affect the others. */
int kymo_drain_pass(struct kymo_drain *drain, enum kymo_drain_load *load, struct kymo_error *error) {
  struct kymo_error later;
  int status = find_new(drain, false, error);
  *load = KYMO_DRAIN_IDLE;
  for (struct traced *t = drain->traced; t; t = t->next) {
    int one = KYMO_OK;
    if (t->ended)
      continue;
    if (!kymo_pool_is_alive(&t->view))
      one = end_one(drain, t, false, status ? &later : error);
    else if (drain->options.while_running)
      one = collect_closed(drain, t, load, status ? &later : error);
    status = status ? status : one;
  }
  return status ? status : keep_time(drain, error);
}

bool kymo_drain_ask(struct kymo_drain *drain, struct kymo_sleep *sleep) {
  bool is_asked = true; /* rings that are overwritten are collected at the end: no wake is needed */
  for (struct traced *t = drain->options.while_running ? drain->traced : NULL; t && is_asked; t = t->next)
    is_asked = t->ended || kymo_sleep_ask(sleep, (struct kymo_pool_header *)(uintptr_t)t->view.header);
  return is_asked;
}

int kymo_drain_end(struct kymo_drain *drain, struct kymo_drain_sum *sum, struct kymo_error *error) {
  struct kymo_error later;
  *sum = (struct kymo_drain_sum){0};
  int status = find_new(drain, true, error);
  for (struct traced *t = drain->traced; t; t = t->next) {
    bool alive = !t->ended && kymo_pool_is_alive(&t->view);
    int failed = end_one(drain, t, true, status ? &later : error);
    if (!status)
      status = failed;
    sum->processes++;
    sum->still_running += alive;
    sum->events += t->sums.events;
    sum->discarded += t->sums.discarded;
    sum->overwritten += t->sums.overwritten;
    sum->full += t->sums.full;
    sum->unwritten += t->unwritten;
    if (t->left_out.code)
      sum->left_out = t->left_out;
  }
  sum->parts = drain->part;
  sum->parts_removed = drain->parts_removed;
  if (sum->processes && (drain->is_part_open || !drain->part)) {
    int failed = finish_place(drain, status ? &later : error);
    status = status ? status : failed;
  }
  int failed = sum->processes ? sync_and_remove(drain, status ? &later : error) : KYMO_OK;
  sum->is_unsynced = drain->is_unsynced;
  return status ? status : failed;
}

const char *kymo_drain_kept(const struct kymo_drain *drain, size_t index) {
  for (const struct traced *t = drain->traced; t; t = t->next)
    if ((t->unwritten || t->has_rings) && !index--)
      return t->source;
  return NULL;
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
