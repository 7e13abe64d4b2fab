/* SPDX-License-Identifier: MIT */
#include "serve/tasks.h"
#include "base/fail.h"
#include "serve/api.h"
#include "serve/clock.h"
#include <stdlib.h>
#include <string.h>

enum { STEP_EVENTS = 4096, RENEW_US = 1000000, RENEW_SHARE = 5 };

/* ---- life ---- */

static bool is_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool is_query(const struct task_query *a, const struct task_query *b) {
  for (size_t i = 0; i < TASK_WORDS; i++)
    if (!is_text(a->words[i], b->words[i]))
      return false;
  return a->filter == b->filter;
}

static void end_task(struct tasks *tasks, struct task *task);

/* What uses a filter ends before it. */
static void end_users(struct tasks *tasks, unsigned filter) {
  for (size_t i = 0; i < TASKS_MAX; i++)
    if (tasks->list[i].id && tasks->list[i].query.filter == filter)
      end_task(tasks, &tasks->list[i]);
}

static void end_task(struct tasks *tasks, struct task *task) {
  end_users(tasks, task->id);
  if (task->next)
    task->kind->end(task->next);
  if (task->object)
    task->kind->end(task->object);
  for (size_t i = 0; i < TASK_WORDS; i++)
    free((char *)(uintptr_t)task->query.words[i]);
  *task = (struct task){0};
}

void tasks_clear(struct tasks *tasks) {
  for (size_t i = 0; i < TASKS_MAX; i++)
    if (tasks->list[i].id)
      end_task(tasks, &tasks->list[i]);
}

/* What was made by an index that is built anew has the numbers of its tracks and kinds. */
static void end_outdated(struct tasks *tasks) {
  struct view_info info;
  view_info(tasks->view, &info);
  if (info.rebuilt != tasks->rebuilt)
    tasks_clear(tasks);
  tasks->rebuilt = info.rebuilt;
}

void tasks_forget(struct tasks *tasks) {
  int64_t now_us = serve_now_us();
  for (size_t i = 0; i < TASKS_MAX; i++) {
    struct task *task = &tasks->list[i];
    if (task->id && task->state != TASK_DONE && now_us - task->asked_us > TASKS_KEEP_US)
      end_task(tasks, task);
  }
}

/* A free place, or that of the task whose last request is the oldest. */
static struct task *make_room(struct tasks *tasks, unsigned filter) {
  struct task *oldest = NULL;
  for (size_t i = 0; i < TASKS_MAX; i++) {
    struct task *task = &tasks->list[i];
    if (!task->id)
      return task;
    if (task->id != filter && (!oldest || task->asked_us < oldest->asked_us))
      oldest = task;
  }
  end_task(tasks, oldest);
  return oldest;
}

static uint64_t count_indexed(const struct tasks *tasks) {
  struct view_info info;
  view_info(tasks->view, &info);
  return info.events;
}

/* Begins the object that is to be stepped. */
static int begin_object(struct tasks *tasks, struct task *task, void **object, struct kymo_error *error) {
  struct task *filter = task->query.filter ? tasks_find(tasks, &task_of_filters, task->query.filter) : NULL;
  if (task->query.filter && !filter)
    return kymo_fail(error, KYMO_E_UNKNOWN, "there is no such filter any more");
  task->events = count_indexed(tasks);
  task->has_begun = false;
  task->begun_us = serve_now_us();
  return task->kind->begin(object, tasks->view, &task->query, filter ? filter->object : NULL, error);
}

static bool copy_words(struct task_query *out, const struct task_query *query) {
  bool is_done = true;
  out->filter = query->filter;
  for (size_t i = 0; i < TASK_WORDS; i++) {
    out->words[i] = query->words[i] ? strdup(query->words[i]) : NULL;
    is_done &= !query->words[i] || out->words[i];
  }
  return is_done;
}

struct task *tasks_ask(struct tasks *tasks, const struct task_kind *kind, const struct task_query *query,
                       struct kymo_error *error) {
  struct task *task = NULL;
  end_outdated(tasks);
  for (size_t i = 0; i < TASKS_MAX && !task; i++)
    if (tasks->list[i].id && tasks->list[i].kind == kind && is_query(&tasks->list[i].query, query))
      task = &tasks->list[i];
  if (task) {
    task->asked_us = serve_now_us();
    return task;
  }
  task = make_room(tasks, query->filter);
  *task = (struct task){.id = ++tasks->last_id, .kind = kind, .asked_us = serve_now_us()};
  int status = copy_words(&task->query, query) ? begin_object(tasks, task, &task->object, error)
                                               : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK)
    return task;
  end_task(tasks, task);
  tasks->last_id--;
  return NULL;
}

struct task *tasks_find(struct tasks *tasks, const struct task_kind *kind, unsigned id) {
  end_outdated(tasks);
  for (size_t i = 0; i < TASKS_MAX && id; i++)
    if (tasks->list[i].id == id && tasks->list[i].kind == kind) {
      tasks->list[i].asked_us = serve_now_us();
      return &tasks->list[i];
    }
  return NULL;
}

/* ---- steps ---- */

static const struct task *peek(const struct tasks *tasks, unsigned id) {
  for (size_t i = 0; i < TASKS_MAX; i++)
    if (tasks->list[i].id == id)
      return &tasks->list[i];
  return NULL;
}

/* The earlier result stays, and is said to be one. */
static void fail_renewal(struct task *task, const struct kymo_error *error) {
  if (task->next)
    task->kind->end(task->next);
  task->next = NULL;
  task->done_us = serve_now_us();
  task->is_late = true;
  task->late = *error;
  task->events = UINT64_MAX; /* it is tried again, whether or not there are more events then */
}

static void fail(struct task *task, const struct kymo_error *error) {
  if (task->next) {
    fail_renewal(task, error);
    return;
  }
  task->state = TASK_FAILED;
  task->error = *error;
}

static void finish(struct tasks *tasks, struct task *task, const struct task *filter) {
  task->done_us = serve_now_us();
  task->took_us = task->done_us - task->begun_us;
  task->indexed = task->events;
  task->state = TASK_DONE;
  task->is_late = filter && filter->is_late;
  if (task->is_late)
    task->late = filter->late;
  if (!task->next)
    return;
  end_users(tasks, task->id);
  task->kind->end(task->object);
  task->object = task->next;
  task->next = NULL;
}

/* What began before the index had all events begins again. */
static bool begin_again(struct tasks *tasks, struct task *task) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  bool is_next = task->next;
  void *made;
  if (task->has_begun || task->events == count_indexed(tasks))
    return true;
  int status = begin_object(tasks, task, &made, &error);
  if (status != KYMO_OK) {
    fail(task, &error);
    return false;
  }
  if (!is_next)
    end_users(tasks, task->id);
  task->kind->end(is_next ? task->next : task->object);
  *(is_next ? &task->next : &task->object) = made;
  return true;
}

/* False: it waits for its filter. */
static bool step_task(struct tasks *tasks, struct task *task) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  if (!begin_again(tasks, task))
    return true;
  const struct task *filter = task->query.filter ? peek(tasks, task->query.filter) : NULL;
  if (filter && filter->state == TASK_RUNNING)
    return false;
  if (filter && filter->state == TASK_FAILED) {
    fail(task, &filter->error);
    return true;
  }
  task->has_begun = true;
  int status = task->kind->step(task->next ? task->next : task->object, STEP_EVENTS, &error);
  if (status < 0)
    fail(task, &error);
  else if (status != KYMO_OK)
    finish(tasks, task, filter);
  return true;
}

/* A task that is done is out of date when the trace has grown; how long it took decides how often it is
 * renewed. */
static bool is_due(const struct tasks *tasks, const struct task *task, int64_t now_us) {
  int64_t rest_us = task->took_us * RENEW_SHARE > RENEW_US ? task->took_us * RENEW_SHARE : RENEW_US;
  return task->state == TASK_DONE && now_us - task->done_us > rest_us && task->events != count_indexed(tasks);
}

static void renew(struct tasks *tasks, struct task *task, int64_t now_us) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  task->done_us = now_us;
  if (begin_object(tasks, task, &task->next, &error) == KYMO_OK)
    return;
  task->next = NULL;
  fail_renewal(task, &error);
}

bool tasks_step(struct tasks *tasks) {
  int64_t now_us = serve_now_us();
  end_outdated(tasks);
  for (unsigned i = 0; i < TASKS_MAX; i++) {
    struct task *task = &tasks->list[++tasks->turn % TASKS_MAX];
    if (!task->id || now_us - task->asked_us > TASKS_PAUSE_US)
      continue;
    if (!task->next && is_due(tasks, task, now_us))
      renew(tasks, task, now_us);
    if ((task->next || task->state == TASK_RUNNING) && step_task(tasks, task))
      return true;
  }
  return false;
}
