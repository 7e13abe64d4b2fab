/* SPDX-License-Identifier: MIT */
/*
 * Tasks of a view that take longer than a reply may (view/view.h): filters, latencies, … They run by steps
 * between requests, when the index has all that there is.
 *
 *   a request asks ──► it exists? ── no ──► made, replies say "running" ──► steps ──► done
 *        └──────────── yes: the same task, so that a page that asks again and again has one
 *
 * A task for which no request has come for TASKS_PAUSE_US waits, and one that is not done ends after
 * TASKS_KEEP_US. When there are TASKS_MAX, the one whose last request is the oldest ends. In a live trace a
 * task that is done is made anew from time to time; until that is done the earlier one is used, and if it
 * fails the reply says why. Tasks of an index that is built anew end before anything else is done by them.
 */
#ifndef KYMO_SERVE_TASKS_H
#define KYMO_SERVE_TASKS_H

#include "view/view.h"

enum {
  TASKS_MAX = 16,
  TASK_WORDS = 6,
  TASKS_PAUSE_US = 10 * 1000000,
  TASKS_KEEP_US = 60 * 1000000,
};

/* What is to be done: texts (NULL: not given), and the task of a filter. */
struct task_query {
  const char *words[TASK_WORDS];
  unsigned filter; /* the id of its task, or 0 */
};

/* A kind of tasks, as functions of view.h have them. */
struct task_kind {
  int (*begin)(void **object, struct view *view, const struct task_query *query, struct view_filter *filter,
               struct kymo_error *error);
  int (*step)(void *object, uint64_t events, struct kymo_error *error);
  double (*progress)(const void *object);
  bool (*from)(const void *object, int64_t *from_ns);
  void (*end)(void *object);
};

enum task_state { TASK_RUNNING, TASK_DONE, TASK_FAILED };

struct task {
  unsigned id; /* from 1; 0: this place is free */
  const struct task_kind *kind;
  struct task_query query; /* its words are the task's */
  void *object;            /* what replies are made of: running or done */
  void *next;              /* what replaces it when it is done, or NULL */
  enum task_state state;   /* of `object` */
  struct kymo_error error; /* why it failed */
  bool is_late;            /* of a live trace: it could not be made anew, so the result is earlier … */
  struct kymo_error late;  /* … and why */
  uint64_t events;         /* that were indexed when the latest of both began … */
  uint64_t indexed;        /* … and when the one began that is done */
  bool has_begun;          /* the latest of both has made a step */
  int64_t asked_us, begun_us, took_us, done_us;
};

struct tasks {
  struct view *view;
  uint64_t rebuilt; /* of the view, when the latest task was asked for or stepped */
  struct task list[TASKS_MAX];
  unsigned last_id, turn;
};

/* The task that does this, made if there is none; it is the tasks', and its words are copied. NULL with the
 * error, as view.h has them. */
struct task *tasks_ask(struct tasks *tasks, const struct task_kind *kind, const struct task_query *query,
                       struct kymo_error *error);
/* The task of this kind with an id, which is thereby asked for; or NULL. */
struct task *tasks_find(struct tasks *tasks, const struct task_kind *kind, unsigned id);
/* Does a few milliseconds of work. False: there is none. */
bool tasks_step(struct tasks *tasks);
/* Ends those for which no requests come any more. */
void tasks_forget(struct tasks *tasks);
/* Ends all: before the view is closed. */
void tasks_clear(struct tasks *tasks);

#endif
