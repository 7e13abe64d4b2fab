/* SPDX-License-Identifier: MIT */
/*
 * In this order:
 *
 *   ended, stopped, frozen   the whole process
 *   deadlock                 a cycle of threads
 *   lock                     threads that wait for one holder, through others or not: what the holder does
 *   spin                     threads that use a processor
 *   disk                     threads in disk sleep
 *   wait                     what the first thread waits for, and others in calls that have another end
 */
#include "process/findings.h"
#include "process/locks.h"
#include "process/threads.h"
#include "base/list.h"
#include "base/strbuf.h"
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { SPIN_PERCENT = 50, LISTED_MAX = 8 };

struct search {
  struct process *process;
  struct process_findings *findings;
  bool *is_named; /* by thread: it is in a finding */
  int *path;
};

/* ---- texts ---- */

const char *process_signals_text(struct process *process, uint64_t set) {
  struct kymo_strbuf out = {0};
  for (int number = 1; number <= 64; number++) {
    const char *name = sigabbrev_np(number);
    if (!(set >> (number - 1) & 1))
      continue;
    kymo_strbuf_puts(&out, out.length ? ", " : "");
    if (name)
      kymo_strbuf_printf(&out, "SIG%s", name);
    else
      kymo_strbuf_printf(&out, "%d", number);
  }
  const char *text = out.text && !out.failed ? process_board_text(process->board, "%s", out.text) : "";
  kymo_strbuf_free(&out);
  return text;
}

static const char *place_text(struct process *process, const struct process_frame *frame) {
  const char *file = frame->module ? strrchr(frame->module, '/') : NULL;
  if (frame->function)
    return process_board_text(process->board, "%s", frame->function);
  if (frame->module)
    return process_board_text(process->board, "%s+0x%" PRIx64, file ? file + 1 : frame->module,
                              frame->offset);
  return process_board_text(process->board, "0x%" PRIx64, frame->address);
}

/* "on_alarm, a handler of a signal that interrupted main" */
static const char *where_text(struct process *process, const struct process_thread *thread) {
  for (unsigned i = 1; i + 1 < thread->frame_count; i++)
    if (thread->frames[i].is_signal)
      return process_board_text(process->board, "%s%s%s, a signal handler that interrupted %s",
                                place_text(process, &thread->frames[0]), i > 1 ? ", called in " : "",
                                i > 1 ? place_text(process, &thread->frames[i - 1]) : "",
                                place_text(process, &thread->frames[i + 1]));
  return thread->frame_count ? place_text(process, &thread->frames[0]) : "an unknown place";
}

const char *process_doing_text(struct process *process, const struct process_thread *thread) {
  struct process_board *board = process->board;
  if (!thread->state || thread->state == 'Z')
    return "has ended";
  if (thread->wait.kind != PROCESS_LOCK_NONE)
    return process_board_text(board, "waits for %s", process_wait_text(process, thread));
  if (thread->call.text) {
    const char *peer = thread->call.peer ? process_board_text(board, ", %s", thread->call.peer) : "";
    return process_board_text(board, "%s %s%s", thread->state == 'D' ? "is in disk sleep in" : "waits in",
                              thread->call.text, peer);
  }
  if (thread->state == 'R')
    return process_board_text(board, "runs in %s", where_text(process, thread));
  if (thread->wchan[0])
    return process_board_text(board, "is %s in the kernel's %s", process_state_text(thread->state),
                              thread->wchan);
  return process_board_text(board, "is %s in %s", process_state_text(thread->state),
                            where_text(process, thread));
}

/* ---- adding ---- */

static void add(struct search *search, const char *kind, const char *text, const int *threads,
                unsigned count) {
  struct process_findings *findings = search->findings;
  int *copy = calloc(count + 1u, sizeof *copy);
  if (!copy || !KYMO_LIST_ROOM(findings->list, findings->room, findings->count)) {
    findings->failed = true;
    free(copy);
    return;
  }
  for (unsigned i = 0; i < count; i++) {
    copy[i] = threads[i];
    search->is_named[threads[i]] = true;
  }
  findings->list[findings->count++] = (struct process_finding){kind, text, copy, count};
}

static void add_of(struct search *search, const char *kind, int thread, const char *text) {
  add(search, kind, text, &thread, 1);
}

/* ---- the process ---- */

static void find_end(struct search *search) {
  struct process *process = search->process;
  bool is_whole = process->count == 1 && process->threads[0].state == 'Z';
  if (process->state != 'Z' && process->state != 'X')
    return;
  const char *parent =
      process_board_text(process->board, "its parent, process %d (%s), has not waited for it",
                         process->parent, process->parent_name);
  if (is_whole)
    add_of(search, "ended", 0, process_board_text(process->board, "The process has ended: %s", parent));
  else
    add(search, "ended", "The first thread has ended; the process goes on without it", NULL, 0);
}

static void find_stop(struct search *search) {
  struct process *process = search->process;
  size_t stopped = 0, frozen = 0;
  int *list = search->path;
  unsigned count = 0;
  for (size_t i = 0; i < process->count; i++) {
    stopped += process->threads[i].state == 'T';
    frozen +=
        strstr(process->threads[i].wchan, "freezer") || strstr(process->threads[i].wchan, "refrigerator");
    if (process->threads[i].state == 'T')
      list[count++] = (int)i;
  }
  if (stopped == process->count)
    add(search, "stopped",
        process_board_text(
            process->board,
            "The process is stopped by a signal (SIGSTOP, SIGTSTP, SIGTTIN or SIGTTOU); kill -CONT "
            "%d lets it go on",
            process->pid),
        list, count);
  if (frozen && frozen == process->count)
    add(search, "frozen", "The process is frozen by its cgroup", NULL, 0);
  if (process->tracer) {
    char state = process->state;
    add(search, "traced",
        process_board_text(process->board, "Process %d traces the process%s", process->tracer,
                           state == 't' ? " and has stopped it" : ""),
        NULL, 0);
  }
}

/* ---- locks ---- */

static bool has_timeout(const struct process_thread *thread) {
  return thread->call.is_futex && thread->call.arguments[3];
}

static const char *by_events_text(const struct process_wait *wait) {
  return wait->is_by_events ? " (by its events)" : "";
}

/* "thread 12 'a' waits for the mutex at 0x… held by thread 13 'b', which waits for …" */
static void add_cycle(struct search *search, unsigned count) {
  struct process *process = search->process;
  struct kymo_strbuf out = {0};
  bool ends = false;
  const struct process_thread *first = &process->threads[search->path[0]];
  kymo_strbuf_printf(&out, "Deadlock: %s", process_thread_text(process, first));
  for (unsigned i = 0; i < count; i++) {
    const struct process_thread *thread = &process->threads[search->path[i]],
                                *holder = &process->threads[search->path[(i + 1) % count]];
    ends |= has_timeout(thread);
    if (thread->wait.kind == PROCESS_LOCK_JOIN)
      kymo_strbuf_printf(&out, "%s waits for the end of %s", i ? ", which" : "",
                         process_thread_text(process, holder));
    else
      kymo_strbuf_printf(
          &out, "%s waits for %s held by %s%s", i ? ", which" : "", process_lock_text(process, thread),
          count == 1 ? "itself" : process_thread_text(process, holder), by_events_text(&thread->wait));
  }
  kymo_strbuf_puts(&out, ends ? " (a timeout ends one of these waits)" : "");
  if (out.failed)
    search->findings->failed = true;
  else
    add(search, "deadlock", process_board_text(process->board, "%s", out.text), search->path, count);
  kymo_strbuf_free(&out);
}

static void find_deadlocks(struct search *search) {
  for (size_t i = 0; i < search->process->count; i++) {
    unsigned count = search->is_named[i] ? 0 : process_find_cycle(search->process, (int)i, search->path);
    if (count)
      add_cycle(search, count);
  }
}

/* A thread that has run meanwhile does not wait as it did. */
static bool is_stuck(const struct process *process, int thread) {
  return process->core || !process_has_run(&process->threads[thread]);
}

/* The thread at the end of the chain of waits, or -1: a cycle, or a holder that is no thread. *last: the last
 * thread that waits. */
static int final_holder(const struct process *process, int thread, int *last) {
  int at = thread;
  for (size_t steps = 0; steps <= process->count; steps++) {
    const struct process_wait *wait = &process->threads[at].wait;
    if (!wait->holder_count)
      return at == thread ? -1 : at;
    *last = at;
    at = wait->holders[0];
  }
  return -1;
}

static void add_names(struct kymo_strbuf *out, const struct process *process, const int *list,
                      unsigned count) {
  for (unsigned i = 0; i < count && i < LISTED_MAX; i++)
    kymo_strbuf_printf(out, "%s%d '%s'", i ? ", " : "", process->threads[list[i]].tid,
                       process->threads[list[i]].name);
  if (count > LISTED_MAX)
    kymo_strbuf_printf(out, " and %u others", count - LISTED_MAX);
}

/* All threads that wait for this one, through others or not. */
static void add_holder_of(struct search *search, int holder, int last) {
  struct process *process = search->process;
  struct kymo_strbuf out = {0};
  unsigned count = 0;
  const struct process_wait *wait = &process->threads[last].wait;
  for (size_t i = 0; i < process->count; i++) {
    int before;
    if (!search->is_named[i] && is_stuck(process, (int)i) && process->threads[i].wait.holder_count &&
        final_holder(process, (int)i, &before) == holder)
      search->path[count++] = (int)i;
  }
  kymo_strbuf_printf(&out, "%s ", count == 1 ? "Thread" : "Threads");
  add_names(&out, process, search->path, count);
  const struct process_thread *thread = &process->threads[holder];
  if (wait->kind == PROCESS_LOCK_JOIN)
    kymo_strbuf_printf(&out, " %s for the end of %s", count == 1 ? "waits" : "wait",
                       process_thread_text(process, thread));
  else
    kymo_strbuf_printf(&out, " %s for %s held by %s%s", count == 1 ? "waits" : "wait",
                       process_lock_text(process, &process->threads[last]),
                       process_thread_text(process, thread), by_events_text(wait));
  kymo_strbuf_printf(&out, ", which %s", process_doing_text(process, thread));
  if (out.failed)
    search->findings->failed = true;
  else
    add(search, wait->kind == PROCESS_LOCK_JOIN ? "join" : "lock",
        process_board_text(process->board, "%s", out.text), search->path, count);
  search->is_named[holder] = true;
  kymo_strbuf_free(&out);
}

/* The holder is no thread of the process. */
static void add_stranger(struct search *search, int thread) {
  struct process *process = search->process;
  const struct process_thread *waiter = &process->threads[thread];
  add_of(search, "lock", thread,
         process_board_text(process->board, "Thread %d '%s' waits for %s", waiter->tid, waiter->name,
                            process_wait_text(process, waiter)));
}

/* Locks first, and ends of threads after them. */
static void find_holders(struct search *search, bool joins) {
  struct process *process = search->process;
  for (size_t i = 0; i < process->count; i++) {
    int last = (int)i;
    if (search->is_named[i] || !is_stuck(process, (int)i))
      continue;
    if ((process->threads[i].wait.stranger || process->threads[i].wait.readers) &&
        !process->threads[i].wait.holder_count && !joins)
      add_stranger(search, (int)i);
    int holder = search->is_named[i] ? -1 : final_holder(process, (int)i, &last);
    if (holder >= 0 && (process->threads[last].wait.kind == PROCESS_LOCK_JOIN) == joins &&
        !(joins && search->is_named[holder]))
      add_holder_of(search, holder, last);
  }
}

/* ---- single threads ---- */

static void find_spins(struct search *search) {
  struct process *process = search->process;
  for (size_t i = 0; i < process->count; i++) {
    const struct process_thread *thread = &process->threads[i];
    int load = process_load(thread);
    bool never_waits = process_never_waits(thread);
    if (load < SPIN_PERCENT && !never_waits)
      continue;
    add_of(search, "spin", (int)i,
           process_board_text(process->board, "Thread %d '%s' runs%s in %s (%d %% of a CPU)", thread->tid,
                              thread->name, never_waits ? " and never waits" : "",
                              where_text(process, thread), load < 0 ? 0 : load));
  }
}

static void find_sleeps(struct search *search) {
  struct process *process = search->process;
  for (size_t i = 0; i < process->count; i++) {
    const struct process_thread *thread = &process->threads[i];
    const char *kernel = thread->kernel_stack ? thread->kernel_stack : thread->wchan;
    if (thread->state != 'D' || search->is_named[i])
      continue;
    add_of(search, "disk", (int)i,
           process_board_text(process->board,
                              "Thread %d '%s' %s%s%s%s; no signal ends that, except perhaps SIGKILL",
                              thread->tid, thread->name, process_doing_text(process, thread),
                              *kernel ? " (in the kernel: " : "", kernel, *kernel ? ")" : ""));
  }
}

static void find_waits(struct search *search) {
  struct process *process = search->process;
  unsigned added = 0;
  for (size_t i = 0; i < process->count && added < LISTED_MAX; i++) {
    const struct process_thread *thread = &process->threads[i];
    bool is_first = i == 0 && !search->findings->count;
    if (search->is_named[i] || !thread->state || (!is_first && !thread->call.peer))
      continue;
    added++;
    add_of(search, "wait", (int)i,
           process_board_text(process->board, "Thread %d '%s' %s", thread->tid, thread->name,
                              process_doing_text(process, thread)));
  }
}

void process_find(struct process *process, struct process_findings *findings) {
  struct search search = {.process = process,
                          .findings = findings,
                          .is_named = calloc(process->count + 1, sizeof *search.is_named),
                          .path = calloc(process->count + 1, sizeof *search.path)};
  *findings = (struct process_findings){.failed = !search.is_named || !search.path};
  if (!findings->failed) {
    find_end(&search);
    find_stop(&search);
    find_deadlocks(&search);
    find_holders(&search, false);
    find_spins(&search);
    find_sleeps(&search);
    find_holders(&search, true);
    find_waits(&search);
  }
  free(search.is_named);
  free(search.path);
}

void process_findings_free(struct process_findings *findings) {
  for (size_t i = 0; i < findings->count; i++)
    free(findings->list[i].threads);
  free(findings->list);
  *findings = (struct process_findings){0};
}
