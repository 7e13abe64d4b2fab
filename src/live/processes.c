/* SPDX-License-Identifier: MIT */
/* Processes, their tracepoints, and switching them (kymo/live.h), through their control sockets. */
#include "base/fail.h"
#include "base/list.h"
#include "live/client.h"
#include "live/rings.h"
#include <kymo/live.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- processes ---- */

struct living {
  int pid, inner;
  long long tracepoints, on, recorder; /* -1: it does not answer */
  char *program, *mode;                /* NULL likewise */
};

struct kymo_processes {
  struct living *living;
  size_t count, room;
  struct kymo_rings_list rings;
  bool failed;
};

static void add_living(void *user, int pid) {
  struct kymo_processes *all = user;
  struct kymo_client client;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  char name[128];
  struct living one = {.pid = pid, .inner = pid, .tracepoints = -1, .on = -1, .recorder = -1};
  if (!KYMO_LIST_ROOM(all->living, all->room, all->count)) {
    all->failed = true;
    return;
  }
  int status = kymo_client_once(&client, pid, "info", &error);
  if (!status) {
    one.inner = client.inner;
    one.program = kymo_client_value(&client, "program");
    one.mode = kymo_client_value(&client, "mode");
    one.tracepoints = kymo_client_number(&client, "tracepoints", 0);
    one.on = kymo_client_number(&client, "on", 0);
    one.recorder = kymo_client_number(&client, "recorder", 0);
  } else {
    one.program = strdup(kymo_process_program(pid, name, sizeof name));
  }
  kymo_client_close(&client);
  if (!status || error.code == KYMO_E_SYSTEM) /* else it has ended meanwhile */
    all->living[all->count++] = one;
  else
    free(one.program);
}

int kymo_processes_find(struct kymo_processes **out, uint32_t flags, struct kymo_error *error) {
  struct kymo_processes *all = *out = calloc(1, sizeof *all);
  if (!all)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (flags & KYMO_PROCESSES_LIVING)
    kymo_client_each(add_living, all);
  if (flags & KYMO_PROCESSES_RINGS && !kymo_rings_find(&all->rings))
    all->failed = true;
  if (!all->failed)
    return KYMO_OK;
  kymo_processes_free(all);
  *out = NULL;
  return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

void kymo_processes_free(struct kymo_processes *all) {
  if (!all)
    return;
  for (size_t i = 0; i < all->count; i++) {
    free(all->living[i].program);
    free(all->living[i].mode);
  }
  free(all->living);
  kymo_rings_free(&all->rings);
  free(all);
}

size_t kymo_processes_count(const struct kymo_processes *all) { return all->count + all->rings.count; }

/* Of rings; NULL: the index is one of a live process, or invalid. */
static const struct kymo_rings *rings_at(const struct kymo_processes *all, size_t index) {
  return index >= all->count && index - all->count < all->rings.count ? &all->rings.list[index - all->count]
                                                                      : NULL;
}

const char *kymo_processes_text(const struct kymo_processes *all, size_t index, enum kymo_process_text what) {
  const struct kymo_rings *rings = rings_at(all, index);
  const struct living *living = index < all->count ? &all->living[index] : NULL;
  if (!rings && !living)
    return NULL;
  switch (what) {
  case KYMO_PROCESS_PROGRAM: return rings ? rings->program : living->program;
  case KYMO_PROCESS_MODE: return rings ? NULL : living->mode;
  case KYMO_PROCESS_END: return rings ? rings->end : NULL;
  case KYMO_PROCESS_RINGS: return rings ? rings->path : NULL;
  }
  return NULL;
}

static int64_t number_of_living(const struct living *living, enum kymo_process_number what) {
  switch (what) {
  case KYMO_PROCESS_PID: return living->pid;
  case KYMO_PROCESS_INNER_PID: return living->inner;
  case KYMO_PROCESS_TRACEPOINTS: return living->tracepoints;
  case KYMO_PROCESS_ON: return living->on;
  case KYMO_PROCESS_RECORDER: return living->recorder;
  case KYMO_PROCESS_IS_DEAD: return 0;
  default: return -1;
  }
}

static int64_t number_of_rings(const struct kymo_rings *rings, enum kymo_process_number what) {
  switch (what) {
  case KYMO_PROCESS_PID: return rings->pid;
  case KYMO_PROCESS_IS_DEAD: return rings->is_dead;
  case KYMO_PROCESS_AGE_NS: return rings->age_ns;
  case KYMO_PROCESS_BYTES: return (int64_t)rings->bytes;
  default: return -1;
  }
}

int64_t kymo_processes_number(const struct kymo_processes *all, size_t index, enum kymo_process_number what) {
  const struct kymo_rings *rings = rings_at(all, index);
  return rings                ? number_of_rings(rings, what)
         : index < all->count ? number_of_living(&all->living[index], what)
                              : -1;
}

/* ---- tracepoints ---- */

/* "on TAB LEVEL TAB LINE TAB NAME TAB FILE" */
enum { ON, LEVEL, LINE, NAME, FILE_, PARTS };
struct point {
  char *part[PARTS];
};

struct kymo_points {
  char *text; /* the answer, split into its parts */
  struct point *list;
  size_t count;
};

static bool split(char *line, struct point *point) {
  for (int i = 0; i < PARTS; i++) {
    point->part[i] = strsep(&line, "\t");
    if (!point->part[i])
      return false;
  }
  return true;
}

static int number_of(const struct point *point, int part) { return (int)strtol(point->part[part], NULL, 10); }

static int by_name(const void *a, const void *b) {
  const struct point *x = a, *y = b;
  int names = strcmp(x->part[NAME], y->part[NAME]), files = strcmp(x->part[FILE_], y->part[FILE_]);
  return names ? names : files ? files : number_of(x, LINE) - number_of(y, LINE);
}

static bool read_points(struct kymo_points *points) {
  size_t lines = 0;
  for (const char *c = points->text; c && *c; c++)
    lines += *c == '\n';
  points->list = calloc(lines + 1, sizeof *points->list);
  if (!points->list)
    return false;
  for (char *rest = points->text, *line; points->count < lines && (line = strsep(&rest, "\n"));)
    points->count += split(line, &points->list[points->count]);
  if (points->count)
    qsort(points->list, points->count, sizeof *points->list, by_name);
  return true;
}

int kymo_points_find(struct kymo_points **out, int pid, struct kymo_error *error) {
  struct kymo_client client;
  struct kymo_points *points = *out = calloc(1, sizeof *points);
  if (!points)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = kymo_client_once(&client, pid, "list", error);
  if (!status) {
    points->text = client.answer.text;
    client.answer = (struct kymo_strbuf){0};
    if (!read_points(points))
      status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  kymo_client_close(&client);
  if (status) {
    kymo_points_free(points);
    *out = NULL;
  }
  return status;
}

void kymo_points_free(struct kymo_points *points) {
  if (!points)
    return;
  free(points->list);
  free(points->text);
  free(points);
}

size_t kymo_points_count(const struct kymo_points *points) { return points->count; }

const char *kymo_points_name(const struct kymo_points *points, size_t index) {
  return index < points->count ? points->list[index].part[NAME] : NULL;
}

const char *kymo_points_file(const struct kymo_points *points, size_t index) {
  return index < points->count ? points->list[index].part[FILE_] : NULL;
}

int64_t kymo_points_number(const struct kymo_points *points, size_t index, enum kymo_point_number what) {
  if (index >= points->count)
    return -1;
  const struct point *point = &points->list[index];
  switch (what) {
  case KYMO_POINT_IS_ON: return strcmp(point->part[ON], "on") == 0;
  case KYMO_POINT_LEVEL: return strcmp(point->part[LEVEL], "-") == 0 ? -1 : number_of(point, LEVEL);
  case KYMO_POINT_LINE: return number_of(point, LINE);
  }
  return -1;
}

/* ---- switching ---- */

int kymo_points_switch(int pid, bool on, const char *patterns, int level, uint64_t *matched,
                       struct kymo_error *error) {
  struct kymo_client client;
  char number[16] = "-";
  *matched = 0;
  if (level >= 0)
    snprintf(number, sizeof number, "%d", level);
  int status = kymo_client_open(&client, pid, error);
  if (!status)
    status = kymo_client_ask(&client, error, "%s %s %s", on ? "enable" : "disable", number, patterns);
  if (!status)
    *matched = (uint64_t)kymo_client_number(&client, "matched", 0);
  kymo_client_close(&client);
  return status;
}

int kymo_process_overwrites(int pid, bool *overwrites, struct kymo_error *error) {
  struct kymo_client client;
  int status = kymo_client_once(&client, pid, "info", error);
  char *mode = status ? NULL : kymo_client_value(&client, "mode");
  *overwrites = mode && strcmp(mode, "overwrite") == 0;
  free(mode);
  kymo_client_close(&client);
  return status;
}

int kymo_process_overwrite(int pid, bool overwrites, struct kymo_error *error) {
  struct kymo_client client;
  int status = kymo_client_once(&client, pid, overwrites ? "mode overwrite" : "mode discard", error);
  kymo_client_close(&client);
  return status;
}
