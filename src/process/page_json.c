/* SPDX-License-Identifier: MIT */
#include "process/locks.h"
#include "process/page.h"
#include "process/threads.h"
#include <inttypes.h>
#include <stdio.h>

static void put_address(struct kymo_json *json, uint64_t address) {
  char text[24];
  snprintf(text, sizeof text, "0x%" PRIx64, address);
  kymo_json_text(json, text);
}

/* ---- threads ---- */

static void put_call(struct kymo_json *json, const struct process_call *call) {
  kymo_json_fixed_key(json, "call");
  if (!call->is_known || !call->is_inside) {
    kymo_json_null(json);
    return;
  }
  kymo_json_begin(json, '{');
  kymo_json_member(json, "number", int, call->number);
  kymo_json_member(json, "arguments", begin, '[');
  for (int i = 0; i < 6; i++)
    put_address(json, call->arguments[i]);
  kymo_json_end(json, ']');
  kymo_json_member(json, "text", text, call->text);
  kymo_json_member(json, "other_end", text, call->peer);
  kymo_json_end(json, '}');
}

static const char *lock_name(enum process_lock_kind kind) {
  static const char *const names[] = {
      [PROCESS_LOCK_MUTEX] = "mutex",         [PROCESS_LOCK_RWLOCK] = "rwlock",
      [PROCESS_LOCK_FILE] = "stream",         [PROCESS_LOCK_CONDITION] = "condition",
      [PROCESS_LOCK_SEMAPHORE] = "semaphore", [PROCESS_LOCK_BARRIER] = "barrier",
      [PROCESS_LOCK_JOIN] = "join",           [PROCESS_LOCK_OTHER] = "futex",
  };
  return names[kind];
}

static void put_wait(struct kymo_json *json, struct process *process, const struct process_thread *thread) {
  const struct process_wait *wait = &thread->wait;
  kymo_json_fixed_key(json, "waits_for");
  if (wait->kind == PROCESS_LOCK_NONE) {
    kymo_json_null(json);
    return;
  }
  kymo_json_begin(json, '{');
  kymo_json_member(json, "kind", text, lock_name(wait->kind));
  kymo_json_fixed_key(json, "address");
  put_address(json, wait->address);
  kymo_json_member(json, "text", text, process_wait_text(process, thread));
  kymo_json_member(json, "holders", begin, '[');
  for (unsigned i = 0; i < wait->holder_count; i++)
    kymo_json_int(json, process->threads[wait->holders[i]].tid);
  kymo_json_end(json, ']');
  kymo_json_fixed_key(json, "holder_outside");
  if (wait->stranger)
    kymo_json_int(json, wait->stranger);
  else
    kymo_json_null(json);
  kymo_json_member(json, "by_events", bool, wait->is_by_events);
  kymo_json_end(json, '}');
}

static void put_frame(struct kymo_json *json, const struct process_frame *frame) {
  kymo_json_begin(json, '{');
  kymo_json_fixed_key(json, "address");
  put_address(json, frame->address);
  kymo_json_member(json, "function", text, frame->function);
  kymo_json_member(json, "module", text, frame->module);
  kymo_json_fixed_key(json, "offset");
  put_address(json, frame->offset);
  kymo_json_member(json, "file", text, frame->file);
  if (frame->file)
    kymo_json_member(json, "line", int, frame->line);
  kymo_json_member(json, "is_signal", bool, frame->is_signal);
  kymo_json_end(json, '}');
}

static void put_stack(struct kymo_json *json, const struct process_thread *thread) {
  kymo_json_member(json, "stack", begin, '[');
  for (unsigned i = 0; i < thread->frame_count; i++)
    put_frame(json, &thread->frames[i]);
  kymo_json_end(json, ']');
  kymo_json_member(json, "stack_end", text, thread->stack_end);
}

static void put_history(struct kymo_json *json, const struct process_thread *thread) {
  kymo_json_member(json, "spans", begin, '[');
  for (unsigned i = 0; i < thread->span_count; i++) {
    kymo_json_begin(json, '{');
    kymo_json_member(json, "name", text, thread->spans[i].name);
    kymo_json_member(json, "age_ns", int, thread->spans[i].age_ns);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
  kymo_json_member(json, "events", begin, '[');
  for (unsigned i = 0; i < thread->event_count; i++) {
    kymo_json_begin(json, '{');
    kymo_json_fixed_key(json, "age_ns");
    if (thread->events[i].has_age)
      kymo_json_int(json, thread->events[i].age_ns);
    else
      kymo_json_null(json);
    kymo_json_member(json, "name", text, thread->events[i].name);
    kymo_json_member(json, "text", text, thread->events[i].text);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

static void put_thread(struct kymo_json *json, struct process *process, const struct process_thread *thread) {
  int load = process_load(thread);
  kymo_json_begin(json, '{');
  kymo_json_member(json, "tid", int, thread->tid);
  kymo_json_member(json, "inner_tid", int, thread->inner_tid);
  kymo_json_member(json, "name", text, thread->name);
  kymo_json_member(json, "state", text, process->core ? NULL : process_state_text(thread->state));
  kymo_json_fixed_key(json, "cpu_percent");
  if (load >= 0)
    kymo_json_int(json, load);
  else
    kymo_json_null(json);
  kymo_json_member(json, "kernel", text,
                   thread->kernel_stack ? thread->kernel_stack
                   : *thread->wchan     ? thread->wchan
                                        : NULL);
  kymo_json_member(
      json, "pending_signals", text,
      process_signals_text(process, thread->pending | (thread->process_pending & thread->blocked)));
  put_call(json, &thread->call);
  put_wait(json, process, thread);
  put_stack(json, thread);
  put_history(json, thread);
  kymo_json_end(json, '}');
}

/* ---- all ---- */

static void put_process(struct kymo_json *json, const struct process *process) {
  kymo_json_member(json, "pid", int, process->pid);
  kymo_json_member(json, "name", text, process->name);
  kymo_json_member(json, "program", text, process->exe);
  kymo_json_member(json, "core", text, process->core);
  kymo_json_member(json, "rings", text, process->rings);
  kymo_json_member(json, "state", text, process->core ? NULL : process_state_text(process->state));
  kymo_json_member(json, "user", uint, process->user);
  kymo_json_member(json, "threads_in_all", uint, process->threads_in_all);
}

static void put_findings(struct kymo_json *json, const struct process *process,
                         const struct process_findings *findings) {
  kymo_json_member(json, "findings", begin, '[');
  for (size_t i = 0; i < findings->count; i++) {
    const struct process_finding *finding = &findings->list[i];
    kymo_json_begin(json, '{');
    kymo_json_member(json, "kind", text, finding->kind);
    kymo_json_member(json, "text", text, finding->text);
    kymo_json_member(json, "threads", begin, '[');
    for (unsigned k = 0; k < finding->count; k++)
      kymo_json_int(json, process->threads[finding->threads[k]].tid);
    kymo_json_end(json, ']');
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

void process_page_json(struct kymo_json *json, struct process *process,
                       const struct process_findings *findings) {
  kymo_json_begin(json, '{');
  put_process(json, process);
  put_findings(json, process, findings);
  kymo_json_member(json, "threads", begin, '[');
  for (size_t i = 0; i < process->count; i++)
    put_thread(json, process, &process->threads[i]);
  kymo_json_end(json, ']');
  kymo_json_member(json, "not_seen", begin, '[');
  for (const struct process_unseen *unseen = process->unseen; unseen; unseen = unseen->next)
    kymo_json_text(json, unseen->text);
  if (process->no_rings)
    kymo_json_text(json, process_board_text(process->board, "events: %s", process->no_rings));
  kymo_json_end(json, ']');
  kymo_json_end(json, '}');
  kymo_json_newline(json);
}
