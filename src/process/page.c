/* SPDX-License-Identifier: MIT */
/*
 *   process 4711 (srv): sleeping, 3 threads, user 0, for 2.5 s, started by 4000 (bash)
 *   /usr/bin/srv
 *
 *   Deadlock: thread 4712 'a' waits for the mutex at 0x… held by thread 4713 'b', which waits for …
 *
 *   thread 4712 'a': sleeping in futex(…)
 *       waits for the mutex at 0x…, held by thread 4713 'b'
 *       #0  __lll_lock_wait+0x49 (libc.so.6)
 *       open spans: request for 2.400 s
 *       -2.400 s  net:rx  port = 80
 *
 *   not seen:
 *       …
 */
#include "process/page.h"
#include "process/locks.h"
#include "process/threads.h"
#include "print/duration.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One line. Names of processes, files and events are untrusted: control characters become question marks. */
static void line(struct kymo_strbuf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(struct kymo_strbuf *out, const char *format, ...) {
  va_list args;
  size_t begin = out->length;
  va_start(args, format);
  kymo_strbuf_vprintf(out, format, args);
  va_end(args);
  for (size_t i = begin; i < out->length; i++)
    if ((unsigned char)out->text[i] < 0x20 || out->text[i] == 0x7f)
      out->text[i] = '?';
  kymo_strbuf_puts(out, "\n");
}

static const char *file_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* ---- the process ---- */

static void put_head(struct kymo_strbuf *out, const struct process *process) {
  char age[KYMO_DURATION_TEXT];
  if (process->core) {
    line(out, "core file %s: process %d (%s), %zu thread%s, user %u%s%s", process->core, process->pid,
         process->name, process->threads_in_all, process->threads_in_all == 1 ? "" : "s", process->user,
         process->signal ? ", ended by " : "",
         process->signal ? process_signals_text((struct process *)(uintptr_t)process,
                                                UINT64_C(1) << (process->signal - 1))
                         : "");
    return;
  }
  line(out, "process %d (%s): %s, %zu thread%s, user %u, for %s, started by %d (%s)", process->pid,
       process->name, process_state_text(process->state), process->threads_in_all,
       process->threads_in_all == 1 ? "" : "s", process->user,
       kymo_duration_text((double)process->age_ns, KYMO_DURATION_DIGITS, age), process->parent,
       process->parent_name);
  if (process->exe && *process->exe)
    line(out, "%s", process->exe);
  if (process->inner_space)
    line(out, "in another PID namespace, where its number is %d", process->inner_pid);
}

static void put_findings(struct kymo_strbuf *out, const struct process_findings *findings) {
  line(out, "%s", "");
  for (size_t i = 0; i < findings->count; i++)
    line(out, "%s", findings->list[i].text);
  if (!findings->count)
    line(out, "Nothing that was seen keeps a thread from going on");
}

/* ---- threads ---- */

static void put_wait(struct kymo_strbuf *out, struct process *process, const struct process_thread *thread) {
  if (thread->wait.kind != PROCESS_LOCK_NONE)
    line(out, "    waits for %s", process_wait_text(process, thread));
}

static void put_frame(struct kymo_strbuf *out, const struct process_frame *frame, unsigned number) {
  struct kymo_strbuf text = {0};
  if (frame->is_signal)
    kymo_strbuf_puts(&text, "<signal handler called>");
  else if (frame->function)
    kymo_strbuf_printf(&text, "%s+0x%" PRIx64, frame->function, frame->offset);
  else if (frame->module)
    kymo_strbuf_printf(&text, "%s+0x%" PRIx64, file_of(frame->module), frame->offset);
  else
    kymo_strbuf_printf(&text, "0x%" PRIx64, frame->address);
  if (frame->function && !frame->is_signal && frame->module)
    kymo_strbuf_printf(&text, " (%s)", file_of(frame->module));
  if (frame->file)
    kymo_strbuf_printf(&text, " at %s:%d", frame->file, frame->line);
  line(out, "    #%-2u %s", number, text.text ? text.text : "");
  kymo_strbuf_free(&text);
}

static void put_stack(struct kymo_strbuf *out, const struct process_thread *thread) {
  for (unsigned i = 0; i < thread->frame_count; i++)
    put_frame(out, &thread->frames[i], i);
  if (thread->stack_end)
    line(out, "    … %s", thread->stack_end);
}

static void put_spans(struct kymo_strbuf *out, const struct process_thread *thread) {
  struct kymo_strbuf text = {0};
  char age[KYMO_DURATION_TEXT];
  if (!thread->span_count)
    return;
  for (unsigned i = 0; i < thread->span_count; i++)
    kymo_strbuf_printf(&text, "%s%s for %s", i ? ", " : "", thread->spans[i].name,
                       kymo_duration_text((double)thread->spans[i].age_ns, KYMO_DURATION_DIGITS, age));
  line(out, "    open spans%s: %s", thread->spans_in_all > thread->span_count ? " (the innermost)" : "",
       text.text ? text.text : "");
  kymo_strbuf_free(&text);
}

static void put_events(struct kymo_strbuf *out, const struct process_thread *thread) {
  char age[KYMO_DURATION_TEXT];
  for (unsigned i = 0; i < thread->event_count; i++) {
    const struct process_event *event = &thread->events[i];
    if (event->has_age)
      kymo_duration_text((double)event->age_ns, KYMO_DURATION_DIGITS, age);
    line(out, "    %s%-12s %s%s%s", event->has_age ? "-" : "", event->has_age ? age : "", event->name,
         *event->text ? " " : "", event->text);
  }
}

static void put_signals(struct kymo_strbuf *out, struct process *process,
                        const struct process_thread *thread) {
  uint64_t own = thread->pending, all = thread->process_pending & thread->blocked;
  if (own | all)
    line(out, "    signals that wait for it: %s", process_signals_text(process, own | all));
}

/* "sleeping in futex(…)", "running, 98 % of a CPU" */
static void put_state(struct kymo_strbuf *text, const struct process *process,
                      const struct process_thread *thread) {
  int load = process_load(thread);
  if (!process->core)
    kymo_strbuf_puts(text, process_state_text(thread->state));
  if (load > 0)
    kymo_strbuf_printf(text, ", %d %% of a CPU", load);
  if (thread->call.text)
    kymo_strbuf_printf(text, "%sin %s", text->length ? " " : "", thread->call.text);
  if (thread->wchan[0] && thread->state != 'R')
    kymo_strbuf_printf(text, ", kernel: %s", thread->kernel_stack ? thread->kernel_stack : thread->wchan);
  if (!text->length)
    kymo_strbuf_puts(text, "outside of system calls");
}

static bool may_share(const struct process_thread *thread) {
  return thread->frame_count && !thread->event_count && !thread->span_count && !thread->wait.holder_count &&
         !thread->pending;
}

/* Threads of one stack and state, as idle ones of a pool, are shown once. */
static bool are_alike(const struct process_thread *a, const struct process_thread *b) {
  if (!may_share(a) || !may_share(b) || a->state != b->state || a->frame_count != b->frame_count ||
      a->call.number != b->call.number || a->wait.kind != b->wait.kind || process_load(a) > 0 ||
      process_load(b) > 0)
    return false;
  for (unsigned i = 0; i < a->frame_count; i++)
    if (a->frames[i].address != b->frames[i].address)
      return false;
  return true;
}

static void put_thread(struct kymo_strbuf *out, struct process *process, size_t index, const char *others) {
  struct process_thread *thread = &process->threads[index];
  struct kymo_strbuf state = {0};
  char inner[48] = "";
  put_state(&state, process, thread);
  if (thread->inner_tid != thread->tid)
    snprintf(inner, sizeof inner, " (itself: %d)", thread->inner_tid);
  line(out, "%s", "");
  line(out, "thread %d '%s'%s%s: %s", thread->tid, thread->name, inner, others, state.text ? state.text : "");
  kymo_strbuf_free(&state);
  put_wait(out, process, thread);
  put_signals(out, process, thread);
  put_stack(out, thread);
  put_spans(out, thread);
  put_events(out, thread);
}

static void put_threads(struct kymo_strbuf *out, struct process *process) {
  enum { LISTED_MAX = 16 };
  bool *is_shown = calloc(process->count + 1, sizeof *is_shown);
  if (!is_shown)
    out->failed = true;
  for (size_t i = 0; is_shown && i < process->count; i++) {
    struct kymo_strbuf others = {0};
    unsigned count = 0;
    if (is_shown[i])
      continue;
    for (size_t k = i + 1; k < process->count; k++) {
      if (is_shown[k] || !are_alike(&process->threads[i], &process->threads[k]))
        continue;
      is_shown[k] = true;
      if (count++ < LISTED_MAX)
        kymo_strbuf_printf(&others, ", %d '%s'", process->threads[k].tid, process->threads[k].name);
    }
    if (count > LISTED_MAX)
      kymo_strbuf_printf(&others, " and %u others", count - LISTED_MAX);
    put_thread(out, process, i, others.text ? others.text : "");
    kymo_strbuf_free(&others);
  }
  free(is_shown);
}

void process_page(struct kymo_strbuf *out, struct process *process, const struct process_findings *findings) {
  put_head(out, process);
  put_findings(out, findings);
  put_threads(out, process);
  if (process->no_rings || process->unseen) {
    line(out, "%s", "");
    line(out, "not seen:");
  }
  for (const struct process_unseen *unseen = process->unseen; unseen; unseen = unseen->next)
    line(out, "    %s", unseen->text);
  if (process->no_rings)
    line(out, "    events: %s", process->no_rings);
}
