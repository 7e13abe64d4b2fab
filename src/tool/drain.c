/* SPDX-License-Identifier: MIT */
#include "tool/drain.h"
#include "base/fail.h"
#include "ring/collect.h"
#include "ring/places.h"
#include "tool/ctf2.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
  char rings[KYMO_PATH_MAX], directory[KYMO_PATH_MAX];
  bool while_running, ctf2;
  struct traced *traced;
};

struct kymo_drain *kymo_drain_new(const struct kymo_drain_options *options) {
  struct kymo_drain *drain = calloc(1, sizeof *drain);
  if (!drain)
    return NULL;
  snprintf(drain->rings, sizeof drain->rings, "%s", options->rings);
  snprintf(drain->directory, sizeof drain->directory, "%s", options->directory);
  drain->while_running = options->while_running;
  drain->ctf2 = options->ctf2;
  return drain;
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
  if ((size_t)snprintf(t->source, sizeof t->source, "%s/%s", drain->rings, name) >= sizeof t->source ||
      (size_t)snprintf(t->trace, sizeof t->trace, "%s/%s", drain->directory, name) >= sizeof t->trace)
    status = kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s/%s", drain->directory, name);
  if (status || is_known(drain, t->source) || kymo_pool_open(&t->view, t->source, true, NULL)) {
    free(t);
    return status;
  }
  if (mkdir(t->trace, 0777))
    status = kymo_fail_errno(error, t->trace, "cannot make the directory");
  if (!status)
    status = kymo_collect_begin(&t->collector, &t->view, t->source, t->trace, error);
  if (status) {
    kymo_pool_close(&t->view);
    free(t);
    return status;
  }
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

/* Takes the rest of a pool and its memory away. What a failed one still holds stays where it is. */
static int end_one(const struct kymo_drain *drain, struct traced *t, struct kymo_error *error) {
  if (t->ended)
    return KYMO_OK;
  int status = kymo_collect_end(&t->collector, error);
  t->ended = true;
  t->events = t->collector.events;
  t->discarded = t->collector.discarded;
  t->overwritten = t->collector.overwritten;
  kymo_collect_free(&t->collector);
  kymo_pool_close(&t->view);
  if (!status)
    kymo_pool_delete(t->source);
  return status || !drain->ctf2 ? status : kymo_trace_to_ctf2(t->trace, error);
}

int kymo_drain_pass(struct kymo_drain *drain, enum kymo_drain_load *load, struct kymo_error *error) {
  int status = find_new(drain, error);
  *load = KYMO_DRAIN_IDLE;
  for (struct traced *t = drain->traced; t && !status; t = t->next) {
    if (t->ended)
      continue;
    if (!kymo_pool_is_alive(&t->view))
      status = end_one(drain, t, error);
    else if (drain->while_running) {
      status = kymo_collect_closed(&t->collector, true, error);
      uint32_t taken = t->collector.fullest;
      enum kymo_drain_load one = taken * 4 >= t->view.packets ? KYMO_DRAIN_BEHIND
                                 : taken                      ? KYMO_DRAIN_BUSY
                                                              : KYMO_DRAIN_IDLE;
      if (one > *load)
        *load = one;
    }
  }
  return status;
}

/* DIRECTORY/NAME-PID/… becomes DIRECTORY/…, so that the directory asked for is the trace. */
static int move_up(const struct kymo_drain *drain, const struct traced *t, struct kymo_error *error) {
  DIR *dir = opendir(t->trace);
  int status = dir ? KYMO_OK : kymo_fail_errno(error, t->trace, "cannot read the directory");
  for (struct dirent *e; dir && !status && (e = readdir(dir));) {
    char from[2 * KYMO_PATH_MAX], to[2 * KYMO_PATH_MAX];
    if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
      continue;
    snprintf(from, sizeof from, "%s/%s", t->trace, e->d_name);
    snprintf(to, sizeof to, "%s/%s", drain->directory, e->d_name);
    if (rename(from, to))
      status = kymo_fail_errno(error, to, "cannot rename");
  }
  if (dir)
    closedir(dir);
  if (!status && rmdir(t->trace))
    status = kymo_fail_errno(error, t->trace, "cannot remove");
  return status;
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
  if (!status && sum->processes == 1)
    status = move_up(drain, drain->traced, error);
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
