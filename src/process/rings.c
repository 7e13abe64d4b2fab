/* SPDX-License-Identifier: MIT */
/*
 * Two passes. The first one follows spans, waits and locks and counts the events of each thread; the second
 * one makes text of the last few of each: text of all would take most of the time.
 */
#include "process/rings.h"
#include "base/list.h"
#include "live/find.h"
#include "stat/edges.h"
#include "stat/gaps.h"
#include "stat/pairs.h"
#include "span/spans.h"
#include "decode/decoder.h"
#include "view/event_text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HOLDS_MAX = 4096 };

/* What an event class of libkymo-calls says of a lock. */
enum role { NO_ROLE, TAKES, RELEASES, WAITS };
struct class_role {
  bool is_set;
  enum role role;
  uint32_t object, result; /* fields */
};

/* The thread of a stream's events. */
struct writer {
  bool is_set;
  int64_t tid;
  int index; /* -1: not a thread of the process any more */
};

struct reader {
  struct process *process;
  struct kymo_trace *trace;
  struct kymo_whos whos;
  struct kymo_gaps gaps;
  struct kymo_edges edges;
  struct kymo_spans spans;
  struct class_role *roles;  /* by class number */
  struct writer *writers;    /* by stream number */
  uint64_t *counts, *passed; /* events of each thread: in the first pass, in the second one so far */
  struct process_hold *holds;
  size_t hold_count, hold_room;
  struct kymo_strbuf field, text;
  int64_t now_ns;
  bool is_second, failed;
};

/* ---- threads ---- */

/* The index of the thread that recorded the event, or -1. */
static int thread_of(struct reader *reader, const struct kymo_event *event) {
  const struct kymo_who *who = kymo_who_of(&reader->whos, event);
  struct writer *writer = &reader->writers[event->packet->stream->number];
  if (!who || !who->has_tid)
    return -1;
  if (!writer->is_set || writer->tid != who->tid)
    *writer = (struct writer){true, who->tid, process_thread_of(reader->process, (int)who->tid)};
  return writer->index;
}

static bool age_of(const struct reader *reader, const struct kymo_event *event, int64_t *age_ns) {
  *age_ns = reader->now_ns - event->time_ns;
  return event->has_time && kymo_event_is_epoch(event);
}

/* ---- locks ---- */

static enum role role_of(const char *name) {
  static const struct {
    const char *name;
    enum role role;
  } known[] = {{"libc:pthread_mutex_lock", TAKES},         {"libc:pthread_mutex_trylock", TAKES},
               {"libc:pthread_mutex_timedlock", TAKES},    {"libc:pthread_mutex_clocklock", TAKES},
               {"libc:pthread_mutex_unlock", RELEASES},    {"libc:pthread_rwlock_rdlock", TAKES},
               {"libc:pthread_rwlock_tryrdlock", TAKES},   {"libc:pthread_rwlock_timedrdlock", TAKES},
               {"libc:pthread_rwlock_clockrdlock", TAKES}, {"libc:pthread_rwlock_wrlock", TAKES},
               {"libc:pthread_rwlock_trywrlock", TAKES},   {"libc:pthread_rwlock_timedwrlock", TAKES},
               {"libc:pthread_rwlock_clockwrlock", TAKES}, {"libc:pthread_rwlock_unlock", RELEASES}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(name, known[i].name) == 0)
      return known[i].role;
  return NO_ROLE;
}

static struct class_role *class_role(struct reader *reader, const struct kymo_event *event) {
  struct class_role *role = &reader->roles[kymo_kind_of(event)];
  const struct kymo_event_class *class_ = event->class_;
  size_t length;
  if (role->is_set)
    return role;
  const char *name = class_->name ? class_->name : "", *kind = kymo_edges_kind_name(class_, &length);
  bool is_wait = kymo_event_class_edge(class_, NULL) == KYMO_EDGE_BEGIN && length == sizeof "libc:wait" - 1 &&
                 strncmp(kind, "libc:wait", length) == 0;
  *role = (struct class_role){.is_set = true, .role = is_wait ? WAITS : role_of(name)};
  role->object = kymo_field_id(reader->trace, class_, is_wait ? "on" : "mutex");
  if (role->object == KYMO_FIELD_NONE)
    role->object = kymo_field_id(reader->trace, class_, "lock");
  role->result = kymo_field_id(reader->trace, class_, "result");
  if (role->object == KYMO_FIELD_NONE)
    role->role = NO_ROLE;
  return role;
}

static void release(struct reader *reader, uint64_t address, int tid) {
  for (size_t i = reader->hold_count; i-- > 0;)
    if (reader->holds[i].address == address && reader->holds[i].tid == tid) {
      reader->holds[i] = reader->holds[--reader->hold_count];
      return;
    }
}

static void take(struct reader *reader, uint64_t address, int tid) {
  if (!KYMO_LIST_ROOM_UP_TO(reader->holds, reader->hold_room, reader->hold_count, HOLDS_MAX))
    return;
  reader->holds[reader->hold_count++] = (struct process_hold){address, tid};
}

static void take_lock_event(struct reader *reader, const struct kymo_event *event, int thread) {
  struct class_role *role = class_role(reader, event);
  uint64_t object;
  int64_t result = 0;
  if (role->role == NO_ROLE || kymo_event_get_uint(event, role->object, &object) != KYMO_OK)
    return;
  int tid = reader->process->threads[thread].inner_tid;
  switch (role->role) {
  case TAKES:
    if (kymo_event_get_int(event, role->result, &result) == KYMO_OK && (!result || result == EOWNERDEAD))
      take(reader, object, tid);
    return;
  case RELEASES: release(reader, object, tid); return;
  case WAITS: reader->process->threads[thread].wait_on = object; return;
  case NO_ROLE: return;
  }
}

/* What the thread of the stream did among the lost events is not known. */
static void take_loss(void *user, const struct kymo_loss *loss) {
  struct reader *reader = user;
  const struct writer *writer = &reader->writers[loss->stream->number];
  kymo_gaps_take(&reader->gaps, loss);
  size_t kept = 0;
  for (size_t i = 0; i < reader->hold_count; i++)
    if (!writer->is_set || reader->holds[i].tid != writer->tid)
      reader->holds[kept++] = reader->holds[i];
  reader->hold_count = kept;
  if (writer->is_set && writer->index >= 0)
    reader->process->threads[writer->index].wait_on = 0;
}

/* ---- spans ---- */

static void end_span(struct reader *reader, struct kymo_span_key key, int thread, const char *kind,
                     size_t length) {
  struct kymo_span *span = kymo_spans_find(&reader->spans, key);
  if (span)
    kymo_spans_end(&reader->spans, span);
  if (length == sizeof "libc:wait" - 1 && strncmp(kind, "libc:wait", length) == 0)
    reader->process->threads[thread].wait_on = 0;
}

static void take_span_event(struct reader *reader, const struct kymo_event *event, int thread) {
  uint32_t class_ = kymo_kind_of(event);
  unsigned role = reader->edges.roles[class_];
  struct kymo_span_key key = {.thread = (uint64_t)thread, .key = reader->edges.kinds[class_]};
  size_t length;
  if (!role)
    return;
  const char *kind = kymo_edges_kind_name(event->class_, &length);
  if (role & KYMO_PAIR_ENDS)
    end_span(reader, key, thread, kind, length);
  struct kymo_span *span = role & KYMO_PAIR_BEGINS ? kymo_spans_begin(&reader->spans, key) : NULL;
  if (!span)
    return;
  span->begin_ns = event->time_ns;
  span->begin_number = event->number;
  span->is_epoch = event->has_time && kymo_event_is_epoch(event);
  span->stream = kymo_gaps_slot(&reader->gaps, event);
  span->loss = reader->gaps.counts[span->stream];
  span->owner = (void *)(uintptr_t)event->class_;
}

/* The spans of a thread that are open, from the outermost on. */
static bool give_span(void *user, struct kymo_span *span) {
  struct reader *reader = user;
  struct process_thread *thread = &reader->process->threads[span->key.thread];
  size_t length;
  if (reader->gaps.counts[span->stream] != span->loss || !span->is_epoch)
    return true;
  thread->spans_in_all++;
  const char *name = kymo_edges_kind_name(span->owner, &length);
  struct process_span shown = {.age_ns = reader->now_ns - span->begin_ns,
                               .name = process_board_text(reader->process->board, "%.*s", (int)length, name)};
  unsigned at = thread->span_count;
  if (at == PROCESS_SPANS_MAX) { /* the innermost ones are kept */
    if (thread->spans[0].age_ns <= shown.age_ns)
      return true;
    memmove(thread->spans, thread->spans + 1, (at - 1) * sizeof *thread->spans);
    at--;
  } else {
    thread->span_count++;
  }
  for (; at > 0 && thread->spans[at - 1].age_ns < shown.age_ns; at--)
    thread->spans[at] = thread->spans[at - 1];
  thread->spans[at] = shown;
  return true;
}

/* ---- events ---- */

static void give_event(struct reader *reader, const struct kymo_event *event, int index) {
  struct process_thread *thread = &reader->process->threads[index];
  struct process_board *board = reader->process->board;
  if (reader->passed[index]++ + PROCESS_EVENTS_MAX < reader->counts[index])
    return;
  if (view_event_text(reader->trace, event, &reader->field, &reader->text) != KYMO_OK)
    return;
  if (thread->event_count == PROCESS_EVENTS_MAX) { /* it has recorded more meanwhile */
    memmove(thread->events, thread->events + 1, (PROCESS_EVENTS_MAX - 1) * sizeof *thread->events);
    thread->event_count--;
  }
  struct process_event *shown = &thread->events[thread->event_count++];
  shown->has_age = age_of(reader, event, &shown->age_ns);
  shown->name = process_board_text(board, "%s", event->class_->name ? event->class_->name : "");
  shown->text =
      process_board_text(board, "%.*s", (int)reader->text.length, reader->text.text ? reader->text.text : "");
}

static void take_event(struct reader *reader, const struct kymo_event *event) {
  int thread = thread_of(reader, event);
  if (thread < 0)
    return;
  if (reader->is_second) {
    give_event(reader, event, thread);
    return;
  }
  reader->counts[thread]++;
  take_lock_event(reader, event, thread);
  take_span_event(reader, event, thread);
}

static int pass(struct reader *reader, struct kymo_error *error) {
  const struct kymo_event *event;
  int status;
  while ((status = kymo_trace_next(reader->trace, &event, error)) == KYMO_OK)
    take_event(reader, event);
  return status < 0 ? status : KYMO_OK;
}

/* ---- all ---- */

static int begin(struct reader *reader, struct kymo_error *error) {
  size_t count, threads = reader->process->count + 1;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  reader->now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
  int status = kymo_whos_begin(&reader->whos, reader->trace, error);
  if (status == KYMO_OK)
    status = kymo_gaps_begin(&reader->gaps, reader->trace, &reader->whos, error);
  if (status == KYMO_OK)
    status = kymo_edges_begin(&reader->edges, reader->trace, &reader->whos.numbers, error);
  if (status == KYMO_OK)
    status = kymo_edges_add_spans(&reader->edges, &count);
  reader->roles = calloc(reader->whos.numbers.class_count + 1u, sizeof *reader->roles);
  reader->writers = calloc(reader->whos.numbers.stream_count + 1u, sizeof *reader->writers);
  reader->counts = calloc(threads, sizeof *reader->counts);
  reader->passed = calloc(threads, sizeof *reader->passed);
  return status != KYMO_OK                                                      ? status
         : reader->roles && reader->writers && reader->counts && reader->passed ? KYMO_OK
                                                                                : KYMO_E_MEMORY;
}

static void give_holds(struct reader *reader) {
  struct process *process = reader->process;
  size_t size = reader->hold_count * sizeof *reader->holds;
  process->holds = size ? process_board_take(process->board, size) : NULL;
  if (process->holds) {
    memcpy(process->holds, reader->holds, size);
    process->hold_count = reader->hold_count;
  }
}

static int read_trace(struct reader *reader, struct kymo_error *error) {
  int status = begin(reader, error);
  if (status != KYMO_OK)
    return status;
  kymo_trace_set_loss_handler(reader->trace, take_loss, reader);
  status = pass(reader, error);
  kymo_trace_set_loss_handler(reader->trace, NULL, NULL);
  kymo_spans_each(&reader->spans, give_span, reader);
  give_holds(reader);
  for (size_t i = 0; i < reader->process->count; i++)
    reader->process->threads[i].events_in_all = reader->counts[i];
  reader->is_second = true;
  if (status == KYMO_OK)
    status = kymo_trace_rewind(reader->trace);
  return status == KYMO_OK ? pass(reader, error) : status;
}

static void end(struct reader *reader) {
  kymo_spans_free(&reader->spans);
  kymo_edges_end(&reader->edges);
  kymo_gaps_end(&reader->gaps);
  kymo_whos_end(&reader->whos);
  kymo_trace_close(reader->trace);
  kymo_strbuf_free(&reader->field);
  kymo_strbuf_free(&reader->text);
  free(reader->roles);
  free(reader->writers);
  free(reader->counts);
  free(reader->passed);
  free(reader->holds);
}

void process_read_rings(struct process *process) {
  struct reader reader = {.process = process};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  char path[KYMO_PATH_MAX];
  if (kymo_find_pool(path, process->pid, &error) != KYMO_OK) {
    process->no_rings = error.code == KYMO_E_UNKNOWN
                            ? "the process has no rings: it has no tracepoints of kymo"
                            : process_board_text(process->board, "%s", error.message);
    return;
  }
  process->rings = process_board_text(process->board, "%s", path);
  int status = kymo_trace_open(&reader.trace, (const char *const[]){path}, 1, NULL, &error);
  if (status >= 0)
    status = read_trace(&reader, &error);
  if (status < 0)
    process_unseen(process, "events: the rings in %s cannot be read: %s", path,
                   *error.message ? error.message : kymo_status_text(status));
  if (reader.trace)
    end(&reader);
}
