/* SPDX-License-Identifier: MIT */
#include "stat/schedule.h"
#include "base/hash.h"
#include "base/list.h"
#include "stat/pairs.h"
#include "stat/schedule_class.h"
#include <stdlib.h>
#include <string.h>

enum {
  CPUS_MAX = 1 << 16,
  FLAG_INTERRUPT = 0x08 | 0x10 | 0x40, /* hard, soft, NMI */
  STATE_DEAD_ONCE = 0x40,              /* of kernels before 4.14; now it is a thread that is parked */
};

/* Of a stream: its processor, and the time of its last event of the kernel. */
struct kymo_sched_stream {
  bool is_seen, has_cpu, is_met, is_of_kernel;
  bool has_gap; /* events are missing between the last one and the next one */
  uint64_t cpu;
  int64_t last_ns;
};

/* ---- shares ---- */

void kymo_shares_free(struct kymo_shares *shares) {
  free(shares->blocked);
  *shares = (struct kymo_shares){0};
}

/* The entry of a cause and a call. NULL: out of memory. */
static struct kymo_blocked *blocked_of(struct kymo_shares *shares, const struct kymo_wait *wait) {
  for (size_t i = 0; i < shares->count; i++)
    if (shares->blocked[i].cause == wait->cause && shares->blocked[i].call == wait->call)
      return &shares->blocked[i];
  if (!KYMO_LIST_ROOM(shares->blocked, shares->room, shares->count))
    return NULL;
  shares->blocked[shares->count] = (struct kymo_blocked){.cause = wait->cause, .call = wait->call};
  return &shares->blocked[shares->count++];
}

static int by_total(const void *a, const void *b) {
  const struct kymo_blocked *x = a, *y = b;
  if (x->total_ns != y->total_ns)
    return x->total_ns < y->total_ns ? 1 : -1;
  return x->cause != y->cause ? (x->cause < y->cause ? -1 : 1) : strcmp(x->call, y->call);
}

void kymo_shares_sort(struct kymo_shares *shares) {
  if (shares->count)
    qsort(shares->blocked, shares->count, sizeof *shares->blocked, by_total);
}

/* The time until now goes to the thread's state. */
static int account(struct kymo_sched_thread *thread, int64_t now_ns) {
  int64_t ns = now_ns - thread->since_ns;
  if (ns <= 0)
    return KYMO_OK;
  thread->since_ns = now_ns;
  thread->shares.state_ns[thread->state] += ns;
  if (thread->state != KYMO_THREAD_BLOCKED)
    return KYMO_OK;
  struct kymo_blocked *blocked = blocked_of(&thread->shares, &thread->wait);
  if (!blocked)
    return KYMO_E_MEMORY;
  blocked->total_ns += ns;
  return KYMO_OK;
}

/* ---- threads ---- */

/* Instead of the name of a system call. */
static const char no_call[] = "", stopped[] = "stopped", unnamed[] = "a system call by its number";

static uint32_t hash_of(uint64_t value) {
  struct kymo_keyed hash;
  kymo_keyed_begin(&hash);
  kymo_keyed_add(&hash, value);
  return (uint32_t)kymo_keyed_end(&hash);
}

static void set_name(char name[KYMO_WHO_NAME], const char *text, size_t length) {
  length = strnlen(text, length < KYMO_WHO_NAME ? length : KYMO_WHO_NAME - 1);
  memcpy(name, text, length);
  name[length] = 0;
}

static struct kymo_sched_thread *find(const struct kymo_schedule *schedule, int64_t tid) {
  uint32_t hash = hash_of((uint64_t)tid), at = hash;
  for (uintptr_t item; (item = kymo_hash_table_next(&schedule->by_tid, hash, &at)) != 0;) {
    struct kymo_sched_thread *thread = (struct kymo_sched_thread *)item;
    if (thread->tid == tid)
      return thread;
  }
  return NULL;
}

/* A new thread; one of the same number that has ended keeps its shares. */
static struct kymo_sched_thread *add(struct kymo_schedule *schedule, int64_t tid, int64_t now_ns,
                                     struct kymo_sched_thread *earlier) {
  uint32_t hash = hash_of((uint64_t)tid);
  struct kymo_sched_thread *thread = kymo_arena_alloc(&schedule->arena, sizeof *thread);
  if (!thread || !KYMO_LIST_ROOM(schedule->threads, schedule->thread_room, schedule->thread_count) ||
      (!earlier && !kymo_hash_table_reserve(&schedule->by_tid, NULL)))
    return NULL;
  *thread = (struct kymo_sched_thread){
      .tid = tid, .since_ns = schedule->has_begun ? schedule->begin_ns : now_ns, .cpu = -1};
  if (earlier)
    kymo_hash_table_change(&schedule->by_tid, hash, (uintptr_t)earlier, (uintptr_t)thread);
  else
    kymo_hash_table_put(&schedule->by_tid, hash, (uintptr_t)thread);
  schedule->threads[schedule->thread_count++] = thread;
  return thread;
}

static struct kymo_sched_thread *thread_of(struct kymo_schedule *schedule, int64_t tid, int64_t now_ns) {
  struct kymo_sched_thread *thread = find(schedule, tid);
  return thread ? thread : add(schedule, tid, now_ns, NULL);
}

/* The thread of an event of the kernel. */
static struct kymo_sched_thread *seen(struct kymo_schedule *schedule, int64_t tid, int64_t now_ns) {
  struct kymo_sched_thread *thread = thread_of(schedule, tid, now_ns);
  if (thread)
    thread->is_of_kernel = true;
  return thread;
}

/* ---- states ---- */

static void keep_longest(struct kymo_wait *longest, const struct kymo_wait *wait) {
  if (wait->end_ns - wait->begin_ns > longest->end_ns - longest->begin_ns)
    *longest = *wait;
}

/* The thread is not blocked any more. */
static int end_wait(struct kymo_sched_thread *thread, int64_t now_ns) {
  struct kymo_blocked *blocked = blocked_of(&thread->shares, &thread->wait);
  if (!blocked)
    return KYMO_E_MEMORY;
  thread->wait.end_ns = now_ns;
  int64_t ns = now_ns - thread->wait.begin_ns;
  blocked->count++;
  blocked->most_ns = ns > blocked->most_ns ? ns : blocked->most_ns;
  thread->waits++;
  keep_longest(&thread->longest, &thread->wait);
  for (struct kymo_watch *watch = thread->watches; watch; watch = watch->next)
    keep_longest(&watch->longest, &thread->wait);
  return KYMO_OK;
}

static void leave_cpu(struct kymo_schedule *schedule, struct kymo_sched_thread *thread) {
  if (thread->cpu >= 0 && (size_t)thread->cpu < schedule->cpu_count &&
      schedule->running[thread->cpu] == thread)
    schedule->running[thread->cpu] = NULL;
  thread->cpu = -1;
}

/* The state until now is as it was, and from now on this one. */
static int change(struct kymo_schedule *schedule, struct kymo_sched_thread *thread,
                  enum kymo_thread_state state, int64_t now_ns) {
  int status = account(thread, now_ns);
  if (status == KYMO_OK && thread->state == KYMO_THREAD_BLOCKED && state != KYMO_THREAD_BLOCKED &&
      state != KYMO_THREAD_UNKNOWN)
    status = end_wait(thread, now_ns);
  if (thread->state == KYMO_THREAD_RUNNING && state != KYMO_THREAD_RUNNING)
    leave_cpu(schedule, thread);
  thread->state = state;
  thread->is_woken = false;
  return status;
}

/* Events before this one have been missed: from when on the state is not the known one is not known. */
static int contradict(struct kymo_schedule *schedule, struct kymo_sched_thread *thread) {
  schedule->contradictions++;
  thread->doubts++;
  thread->call = NULL;
  return change(schedule, thread, KYMO_THREAD_UNKNOWN, thread->since_ns);
}

/* Space for this processor. */
static bool reach_cpu(struct kymo_schedule *schedule, uint64_t cpu) {
  if (cpu < schedule->cpu_count)
    return true;
  size_t count = (size_t)cpu + 16;
  struct kymo_sched_thread **list = realloc(schedule->running, count * sizeof(struct kymo_sched_thread *));
  if (!list)
    return false;
  memset(list + schedule->cpu_count, 0, (count - schedule->cpu_count) * sizeof(struct kymo_sched_thread *));
  schedule->running = list;
  schedule->cpu_count = count;
  return true;
}

/* The thread runs there from now on. One that was seen there before has left it unseen. */
static int enter_cpu(struct kymo_schedule *schedule, struct kymo_sched_thread *thread, uint64_t cpu) {
  if (cpu >= CPUS_MAX)
    return KYMO_OK;
  if (!reach_cpu(schedule, cpu))
    return KYMO_E_MEMORY;
  struct kymo_sched_thread *other = schedule->running[cpu];
  int status = KYMO_OK;
  if (other && other != thread && other->state == KYMO_THREAD_RUNNING)
    status = contradict(schedule, other);
  schedule->running[cpu] = thread;
  thread->cpu = (int64_t)cpu;
  return status;
}

static void note_unwoken(struct kymo_schedule *schedule, const struct kymo_sched_thread *thread,
                         int64_t now_ns) {
  if (thread->state != KYMO_THREAD_BLOCKED)
    return;
  schedule->unwoken++;
  schedule->unwoken_ns += now_ns - thread->wait.begin_ns;
}

/* ---- events ---- */

/* What an event says, besides its fields. */
struct moment {
  const struct kymo_event *event;
  const struct kymo_sched_class *class_;
  int64_t ns;
  bool has_cpu, has_tid;
  uint64_t cpu;
  int64_t tid; /* of the thread that runs */
};

static bool number_of(const struct kymo_event *event, uint32_t field, int64_t *number) {
  uint64_t bits;
  if (field == KYMO_FIELD_NONE)
    return false;
  if (kymo_event_get_int(event, field, number) == KYMO_OK)
    return true;
  if (kymo_event_get_uint(event, field, &bits) != KYMO_OK)
    return false;
  *number = (int64_t)bits;
  return true;
}

static void take_name(struct kymo_sched_thread *thread, const struct kymo_event *event, uint32_t field) {
  const char *text;
  uint64_t length;
  if (field != KYMO_FIELD_NONE && kymo_event_get_string(event, field, &text, &length) == KYMO_OK && length)
    set_name(thread->name, text, (size_t)length);
}

static int switch_out(struct kymo_schedule *schedule, const struct moment *moment, int64_t tid) {
  struct kymo_sched_thread *thread = seen(schedule, tid, moment->ns);
  int64_t bits = 0;
  if (!thread)
    return KYMO_E_MEMORY;
  take_name(thread, moment->event, moment->class_->prev_name);
  if (!number_of(moment->event, moment->class_->state, &bits))
    bits = 0;
  enum kymo_thread_state state = kymo_sched_state((uint64_t)bits);
  int status = KYMO_OK;
  if (thread->is_exiting && state == KYMO_THREAD_BLOCKED && bits & STATE_DEAD_ONCE)
    state = KYMO_THREAD_ENDED;
  if (thread->state != KYMO_THREAD_RUNNING && thread->state != KYMO_THREAD_UNKNOWN)
    status = contradict(schedule, thread);
  if (status == KYMO_OK)
    status = change(schedule, thread, state, moment->ns);
  if (state != KYMO_THREAD_BLOCKED)
    return status;
  bool is_stopped = bits & 0xc;
  enum kymo_block_cause cause = kymo_sched_cause(thread->call, (uint64_t)bits);
  thread->wait = (struct kymo_wait){.begin_ns = moment->ns,
                                    .end_ns = moment->ns,
                                    .cause = cause,
                                    .call = is_stopped     ? stopped
                                            : thread->call ? thread->call
                                                           : no_call};
  return status;
}

static int switch_in(struct kymo_schedule *schedule, const struct moment *moment, int64_t tid) {
  struct kymo_sched_thread *thread = seen(schedule, tid, moment->ns);
  int status = KYMO_OK;
  if (!thread)
    return KYMO_E_MEMORY;
  take_name(thread, moment->event, moment->class_->name);
  note_unwoken(schedule, thread, moment->ns);
  if (thread->state == KYMO_THREAD_RUNNING || thread->state == KYMO_THREAD_ENDED)
    status = contradict(schedule, thread);
  if (status == KYMO_OK && thread->state == KYMO_THREAD_UNKNOWN && thread->is_woken)
    status = change(schedule, thread, KYMO_THREAD_RUNNABLE, thread->woken_ns);
  if (status == KYMO_OK)
    status = change(schedule, thread, KYMO_THREAD_RUNNING, moment->ns);
  if (status == KYMO_OK && moment->has_cpu)
    status = enter_cpu(schedule, thread, moment->cpu);
  return status;
}

/* The idle thread, whose number is 0 on each processor, is none. */
static int take_switch(struct kymo_schedule *schedule, const struct moment *moment) {
  int64_t prev, next;
  int status = KYMO_OK;
  schedule->switches++;
  if (number_of(moment->event, moment->class_->prev, &prev) && prev)
    status = switch_out(schedule, moment, prev);
  if (status == KYMO_OK && number_of(moment->event, moment->class_->tid, &next) && next)
    status = switch_in(schedule, moment, next);
  return status;
}

static struct kymo_waker waker_of(struct kymo_schedule *schedule, const struct moment *moment) {
  struct kymo_waker waker = {.is_known = moment->has_tid, .tid = moment->tid};
  const struct kymo_sched_thread *thread = moment->has_tid ? find(schedule, moment->tid) : NULL;
  int64_t flags = 0;
  number_of(moment->event, moment->class_->flags, &flags);
  waker.is_interrupt = (flags & FLAG_INTERRUPT) || (moment->has_tid && !moment->tid);
  if (thread)
    memcpy(waker.name, thread->name, sizeof waker.name);
  return waker;
}

/* A thread that is unknown may run, and the event is then in vain: its next event shows it. */
static int take_wake(struct kymo_schedule *schedule, const struct moment *moment) {
  int64_t tid;
  bool is_waking = moment->class_->role == KYMO_SCHED_WAKING;
  schedule->wakeups++;
  if (!number_of(moment->event, moment->class_->tid, &tid) || !tid)
    return KYMO_OK;
  struct kymo_sched_thread *thread = seen(schedule, tid, moment->ns);
  if (!thread)
    return KYMO_E_MEMORY;
  take_name(thread, moment->event, moment->class_->name);
  struct kymo_waker waker = waker_of(schedule, moment);
  if (!is_waking && thread->waking.is_known)
    waker = thread->waking;
  thread->waking = is_waking ? waker : (struct kymo_waker){0};
  if (thread->state == KYMO_THREAD_UNKNOWN && !thread->is_woken) {
    thread->is_woken = true;
    thread->woken_ns = moment->ns > thread->since_ns ? moment->ns : thread->since_ns;
  }
  if (thread->state != KYMO_THREAD_BLOCKED)
    return KYMO_OK;
  thread->wait.waker = waker;
  return change(schedule, thread, KYMO_THREAD_RUNNABLE, moment->ns);
}

/* Nothing is known of the thread, not even that it was there. */
static bool is_fresh(const struct kymo_sched_thread *thread) {
  for (int i = 0; i < KYMO_THREAD_STATES; i++)
    if (thread->shares.state_ns[i])
      return false;
  return thread->state == KYMO_THREAD_UNKNOWN;
}

/* One of the same number may have ended; its end may be among events that are missing. */
static int take_birth(struct kymo_schedule *schedule, const struct moment *moment) {
  int64_t tid;
  int status = KYMO_OK;
  if (!number_of(moment->event, moment->class_->tid, &tid) || !tid)
    return KYMO_OK;
  struct kymo_sched_thread *thread = find(schedule, tid);
  if (moment->class_->role == KYMO_SCHED_WAKEUP_NEW && thread && thread->state == KYMO_THREAD_RUNNABLE)
    return KYMO_OK; /* its fork was seen */
  if (thread && thread->state != KYMO_THREAD_ENDED && thread->state != KYMO_THREAD_UNKNOWN)
    status = contradict(schedule, thread);
  if (status != KYMO_OK)
    return status;
  if (!thread || !is_fresh(thread))
    thread = add(schedule, tid, moment->ns, thread);
  if (!thread)
    return KYMO_E_MEMORY;
  thread->is_of_kernel = true;
  thread->since_ns = moment->ns;
  take_name(thread, moment->event, moment->class_->name);
  thread->call = no_call;
  return change(schedule, thread, KYMO_THREAD_RUNNABLE, moment->ns);
}

/* The thread in whose context an event is runs; if another state was known, events are missing. */
static int take_context(struct kymo_schedule *schedule, const struct moment *moment) {
  if (!moment->has_tid || !moment->tid)
    return KYMO_OK;
  struct kymo_sched_thread *thread = seen(schedule, moment->tid, moment->ns);
  int status = KYMO_OK;
  if (!thread)
    return KYMO_E_MEMORY;
  if (thread->state == KYMO_THREAD_RUNNING)
    return KYMO_OK;
  if (thread->state != KYMO_THREAD_UNKNOWN)
    status = contradict(schedule, thread);
  if (status == KYMO_OK)
    status = change(schedule, thread, KYMO_THREAD_RUNNING, moment->ns);
  return status == KYMO_OK && moment->has_cpu ? enter_cpu(schedule, thread, moment->cpu) : status;
}

/* Events with the name of the call, and with its number, may both be there. */
static int take_call(struct kymo_schedule *schedule, const struct moment *moment) {
  struct kymo_sched_thread *thread = moment->has_tid ? find(schedule, moment->tid) : NULL;
  schedule->calls++;
  if (!thread)
    return KYMO_OK;
  if (moment->class_->role == KYMO_SCHED_LEAVE)
    thread->call = no_call;
  else if (moment->class_->call)
    thread->call = moment->class_->call;
  else if (!thread->call || !*thread->call)
    thread->call = unnamed;
  return KYMO_OK;
}

static void take_exit(struct kymo_schedule *schedule, const struct moment *moment) {
  int64_t tid;
  struct kymo_sched_thread *thread =
      number_of(moment->event, moment->class_->tid, &tid) ? find(schedule, tid) : NULL;
  if (thread)
    thread->is_exiting = true;
}

static void take_rename(struct kymo_schedule *schedule, const struct moment *moment) {
  int64_t tid;
  struct kymo_sched_thread *thread =
      number_of(moment->event, moment->class_->tid, &tid) ? find(schedule, tid) : NULL;
  if (thread)
    take_name(thread, moment->event, moment->class_->name);
}

static int take(struct kymo_schedule *schedule, const struct moment *moment) {
  enum kymo_sched_role role = moment->class_->role;
  int status = role == KYMO_SCHED_SWITCH ? KYMO_OK : take_context(schedule, moment);
  if (status != KYMO_OK)
    return status;
  switch (role) {
  case KYMO_SCHED_SWITCH: return take_switch(schedule, moment);
  case KYMO_SCHED_WAKING:
  case KYMO_SCHED_WAKEUP: return take_wake(schedule, moment);
  case KYMO_SCHED_FORK:
  case KYMO_SCHED_WAKEUP_NEW: return take_birth(schedule, moment);
  case KYMO_SCHED_ENTER:
  case KYMO_SCHED_LEAVE: return take_call(schedule, moment);
  case KYMO_SCHED_EXIT: take_exit(schedule, moment); return KYMO_OK;
  case KYMO_SCHED_RENAME: take_rename(schedule, moment); return KYMO_OK;
  default: return KYMO_OK;
  }
}

/* ---- losses ---- */

/* What threads do is unknown from the last event of the stream on, except for those that run on another
 * processor: these go on there. */
static void forget(struct kymo_schedule *schedule, const struct kymo_sched_stream *stream) {
  int64_t from_ns = stream->is_seen ? stream->last_ns : schedule->begin_ns;
  for (size_t i = 0; i < schedule->thread_count; i++) {
    struct kymo_sched_thread *thread = schedule->threads[i];
    bool is_elsewhere = thread->state == KYMO_THREAD_RUNNING && stream->has_cpu && thread->cpu >= 0 &&
                        (uint64_t)thread->cpu != stream->cpu;
    if (thread->state == KYMO_THREAD_ENDED)
      continue;
    thread->doubts++;
    if (is_elsewhere)
      continue;
    thread->call = NULL;
    int64_t known_ns = from_ns > thread->since_ns ? from_ns : thread->since_ns;
    if (change(schedule, thread, KYMO_THREAD_UNKNOWN, known_ns) != KYMO_OK)
      schedule->has_failed = true;
  }
}

static void close_gap(struct kymo_schedule *schedule, struct kymo_sched_stream *stream) {
  stream->has_gap = false;
  schedule->open_gaps--;
  forget(schedule, stream);
}

/* ---- all events ---- */

static const char *intern(struct kymo_schedule *schedule, const char *call) {
  uint32_t hash = (uint32_t)kymo_keyed_text(call, strlen(call)), at = hash;
  for (uintptr_t item; (item = kymo_hash_table_next(&schedule->calls_by_name, hash, &at)) != 0;)
    if (strcmp((const char *)item, call) == 0)
      return (const char *)item;
  const char *copy = kymo_arena_copy(&schedule->arena, call, strlen(call));
  return copy && kymo_hash_table_add(&schedule->calls_by_name, NULL, hash, (uintptr_t)copy) ? copy : NULL;
}

static uint32_t field_of(const struct kymo_schedule *schedule, const struct kymo_event *event,
                         const char *name, const char *other) {
  uint32_t field = kymo_field_id(schedule->trace, event->class_, name);
  return field == KYMO_FIELD_NONE && other ? kymo_field_id(schedule->trace, event->class_, other) : field;
}

static bool meet(struct kymo_schedule *schedule, const struct kymo_event *event,
                 struct kymo_sched_class *class_) {
  const char *call;
  *class_ = (struct kymo_sched_class){.is_met = true, .role = kymo_sched_role_of(event->class_, &call)};
  bool is_switch = class_->role == KYMO_SCHED_SWITCH, is_fork = class_->role == KYMO_SCHED_FORK;
  if (class_->role == KYMO_SCHED_NONE)
    return true;
  class_->call = call ? intern(schedule, call) : NULL;
  class_->tid = is_switch ? field_of(schedule, event, "next_pid", "next_tid")
                : is_fork ? field_of(schedule, event, "child_pid", "child_tid")
                          : field_of(schedule, event, "pid", "tid");
  class_->name = is_switch                           ? field_of(schedule, event, "next_comm", NULL)
                 : is_fork                           ? field_of(schedule, event, "child_comm", NULL)
                 : class_->role == KYMO_SCHED_RENAME ? field_of(schedule, event, "newcomm", NULL)
                                                     : field_of(schedule, event, "comm", NULL);
  class_->prev = field_of(schedule, event, "prev_pid", "prev_tid");
  class_->prev_name = field_of(schedule, event, "prev_comm", NULL);
  class_->state = field_of(schedule, event, "prev_state", NULL);
  class_->flags = field_of(schedule, event, "common_flags", NULL);
  return !call || class_->call;
}

static struct moment moment_of(struct kymo_schedule *schedule, const struct kymo_event *event,
                               const struct kymo_sched_class *class_, const struct kymo_who *who) {
  struct moment moment = {.event = event, .class_ = class_, .ns = event->time_ns};
  moment.has_cpu = who->has_cpu;
  moment.cpu = who->cpu;
  moment.has_tid = who->has_tid;
  moment.tid = who->tid;
  if (!who->has_tid && who->has_cpu && who->cpu < schedule->cpu_count && schedule->running[who->cpu]) {
    moment.has_tid = true; /* LTTng's events do not say it */
    moment.tid = schedule->running[who->cpu]->tid;
  }
  return moment;
}

static void note_stream(struct kymo_sched_stream *stream, const struct moment *moment) {
  stream->is_seen = true;
  stream->has_cpu = moment->has_cpu;
  stream->cpu = moment->cpu;
  stream->last_ns = moment->ns;
}

int kymo_schedule_event(struct kymo_schedule *schedule, const struct kymo_event *event) {
  struct kymo_sched_class *class_ = &schedule->classes[kymo_kind_of(event)];
  struct kymo_sched_stream *stream = &schedule->streams[event->packet->stream->number];
  if (stream->has_gap)
    close_gap(schedule, stream);
  if (!class_->is_met && !meet(schedule, event, class_))
    return KYMO_E_MEMORY;
  if (class_->role == KYMO_SCHED_NONE || !event->has_time)
    return KYMO_OK;
  const struct kymo_who *who = kymo_who_of(schedule->whos, event);
  if (!who)
    return KYMO_E_MEMORY;
  if (schedule->has_failed)
    return KYMO_E_MEMORY;
  if (!schedule->has_begun)
    schedule->begin_ns = schedule->end_ns = event->time_ns;
  schedule->has_begun = true;
  schedule->is_epoch = kymo_event_is_epoch(event);
  schedule->end_ns = event->time_ns > schedule->end_ns ? event->time_ns : schedule->end_ns;
  struct moment moment = moment_of(schedule, event, class_, who);
  int status = take(schedule, &moment);
  note_stream(stream, &moment);
  return status;
}

/* Whether a part has an event of one role, or of any. */
static bool has_role(const struct kymo_part *part, enum kymo_sched_role wanted) {
  const struct kymo_schema *schema = part->schema;
  const char *call;
  for (uint32_t j = 0; j < schema->stream_count; j++)
    for (uint32_t k = 0; k < schema->streams[j]->event_count; k++) {
      enum kymo_sched_role role = kymo_sched_role_of(schema->streams[j]->events[k], &call);
      if (role != KYMO_SCHED_NONE && (wanted == KYMO_SCHED_NONE || role == wanted))
        return true;
    }
  return false;
}

/* A loss is reported some time before the stream's next event: until then, events of other streams may say
 * states that the missing ones changed. */
void kymo_schedule_loss(struct kymo_schedule *schedule, const struct kymo_loss *loss) {
  struct kymo_sched_stream *stream = &schedule->streams[loss->stream->number];
  if (!stream->is_met)
    stream->is_of_kernel = has_role(loss->stream->part, KYMO_SCHED_NONE);
  stream->is_met = true;
  if (!stream->is_of_kernel)
    return;
  schedule->gaps++;
  schedule->open_gaps += !stream->has_gap;
  stream->has_gap = true;
  forget(schedule, stream);
}

/* ---- all ---- */

bool kymo_schedule_is_there(const struct kymo_trace *trace) {
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++)
    if (has_role(kymo_trace_part(trace, i), KYMO_SCHED_SWITCH))
      return true;
  return false;
}

int kymo_schedule_begin(struct kymo_schedule *schedule) {
  const struct kymo_numbers *numbers = &schedule->whos->numbers;
  schedule->classes = calloc(numbers->class_count + 1u, sizeof *schedule->classes);
  schedule->streams = calloc(numbers->stream_count + 1u, sizeof *schedule->streams);
  return schedule->classes && schedule->streams ? KYMO_OK : KYMO_E_MEMORY;
}

int kymo_schedule_end(struct kymo_schedule *schedule) {
  for (uint32_t i = 0; i < schedule->whos->numbers.stream_count; i++)
    if (schedule->streams[i].has_gap)
      close_gap(schedule, &schedule->streams[i]);
  int status = schedule->has_failed ? KYMO_E_MEMORY : KYMO_OK;
  for (size_t i = 0; i < schedule->thread_count && status == KYMO_OK; i++)
    if (schedule->threads[i]->state != KYMO_THREAD_ENDED)
      status = account(schedule->threads[i], schedule->end_ns);
  return status;
}

void kymo_schedule_free(struct kymo_schedule *schedule) {
  for (size_t i = 0; i < schedule->thread_count; i++) {
    while (schedule->threads[i]->watches)
      kymo_watch_end(schedule->threads[i]->watches);
    kymo_shares_free(&schedule->threads[i]->shares);
  }
  kymo_hash_table_free(&schedule->by_tid);
  kymo_hash_table_free(&schedule->calls_by_name);
  kymo_arena_free(&schedule->arena);
  free(schedule->threads);
  free(schedule->running);
  free(schedule->classes);
  free(schedule->streams);
}

/* ---- watching ---- */

struct kymo_sched_thread *kymo_schedule_running(struct kymo_schedule *schedule, int64_t tid, int64_t now_ns) {
  struct kymo_sched_thread *thread = thread_of(schedule, tid, now_ns);
  if (!thread || !schedule->has_begun || thread->state != KYMO_THREAD_UNKNOWN)
    return thread;
  return change(schedule, thread, KYMO_THREAD_RUNNING, now_ns) == KYMO_OK ? thread : NULL;
}

static bool copy_shares(struct kymo_shares *to, const struct kymo_shares *from) {
  *to = *from;
  to->room = from->count;
  to->blocked = malloc((from->count + 1) * sizeof *to->blocked);
  if (!to->blocked)
    return false;
  if (from->count)
    memcpy(to->blocked, from->blocked, from->count * sizeof *to->blocked);
  return true;
}

struct kymo_watch *kymo_watch_begin(const struct kymo_schedule *schedule, struct kymo_sched_thread *thread,
                                    int64_t now_ns) {
  struct kymo_watch *watch = calloc(1, sizeof *watch);
  if (!watch || account(thread, now_ns) != KYMO_OK || !copy_shares(&watch->before, &thread->shares)) {
    free(watch);
    return NULL;
  }
  watch->thread = thread;
  watch->begin_ns = now_ns;
  watch->doubts = thread->doubts;
  watch->is_in_gap = schedule->open_gaps;
  watch->next = thread->watches;
  thread->watches = watch;
  return watch;
}

int kymo_watch_shares(struct kymo_watch *watch, int64_t now_ns, struct kymo_shares *shares) {
  int status = account(watch->thread, now_ns);
  if (status != KYMO_OK || !copy_shares(shares, &watch->thread->shares))
    return KYMO_E_MEMORY;
  for (int i = 0; i < KYMO_THREAD_STATES; i++)
    shares->state_ns[i] -= watch->before.state_ns[i];
  /* entries are only added, so those before are the first ones */
  for (size_t i = 0; i < watch->before.count; i++) {
    shares->blocked[i].total_ns -= watch->before.blocked[i].total_ns;
    shares->blocked[i].count -= watch->before.blocked[i].count;
  }
  size_t kept = 0;
  for (size_t i = 0; i < shares->count; i++)
    if (shares->blocked[i].total_ns || shares->blocked[i].count)
      shares->blocked[kept++] = shares->blocked[i];
  shares->count = kept;
  return KYMO_OK;
}

void kymo_watch_end(struct kymo_watch *watch) {
  struct kymo_watch **at = &watch->thread->watches;
  while (*at != watch)
    at = &(*at)->next;
  *at = watch->next;
  kymo_shares_free(&watch->before);
  free(watch);
}
