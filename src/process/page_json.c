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

static void put_text(struct kymo_json *json, const char *text) {
  if (text)
    kymo_json_text(json, text);
  else
    kymo_json_null(json);
}

/* ---- threads ---- */

static void put_call(struct kymo_json *json, const struct process_call *call) {
  kymo_json_fixed_key(json, "call");
  if (!call->is_known || !call->is_inside) {
    kymo_json_null(json);
    return;
  }
  kymo_json_begin(json, '{');
  kymo_json_fixed_key(json, "number");
  kymo_json_int(json, call->number);
  kymo_json_fixed_key(json, "arguments");
  kymo_json_begin(json, '[');
  for (int i = 0; i < 6; i++)
    put_address(json, call->arguments[i]);
  kymo_json_end(json, ']');
  kymo_json_fixed_key(json, "text");
  put_text(json, call->text);
  kymo_json_fixed_key(json, "other_end");
  put_text(json, call->peer);
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
  kymo_json_fixed_key(json, "kind");
  kymo_json_text(json, lock_name(wait->kind));
  kymo_json_fixed_key(json, "address");
  put_address(json, wait->address);
  kymo_json_fixed_key(json, "text");
  kymo_json_text(json, process_wait_text(process, thread));
  kymo_json_fixed_key(json, "holders");
  kymo_json_begin(json, '[');
  for (unsigned i = 0; i < wait->holder_count; i++)
    kymo_json_int(json, process->threads[wait->holders[i]].tid);
  kymo_json_end(json, ']');
  kymo_json_fixed_key(json, "holder_outside");
  if (wait->stranger)
    kymo_json_int(json, wait->stranger);
  else
    kymo_json_null(json);
  kymo_json_fixed_key(json, "by_events");
  kymo_json_bool(json, wait->is_by_events);
  kymo_json_end(json, '}');
}

static void put_frame(struct kymo_json *json, const struct process_frame *frame) {
  kymo_json_begin(json, '{');
  kymo_json_fixed_key(json, "address");
  put_address(json, frame->address);
  kymo_json_fixed_key(json, "function");
  put_text(json, frame->function);
  kymo_json_fixed_key(json, "module");
  put_text(json, frame->module);
  kymo_json_fixed_key(json, "offset");
  put_address(json, frame->offset);
  kymo_json_fixed_key(json, "file");
  put_text(json, frame->file);
  if (frame->file) {
    kymo_json_fixed_key(json, "line");
    kymo_json_int(json, frame->line);
  }
  kymo_json_fixed_key(json, "is_signal");
  kymo_json_bool(json, frame->is_signal);
  kymo_json_end(json, '}');
}

static void put_stack(struct kymo_json *json, const struct process_thread *thread) {
  kymo_json_fixed_key(json, "stack");
  kymo_json_begin(json, '[');
  for (unsigned i = 0; i < thread->frame_count; i++)
    put_frame(json, &thread->frames[i]);
  kymo_json_end(json, ']');
  kymo_json_fixed_key(json, "stack_end");
  put_text(json, thread->stack_end);
}

static void put_history(struct kymo_json *json, const struct process_thread *thread) {
  kymo_json_fixed_key(json, "spans");
  kymo_json_begin(json, '[');
  for (unsigned i = 0; i < thread->span_count; i++) {
    kymo_json_begin(json, '{');
    kymo_json_fixed_key(json, "name");
    kymo_json_text(json, thread->spans[i].name);
    kymo_json_fixed_key(json, "age_ns");
    kymo_json_int(json, thread->spans[i].age_ns);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
  kymo_json_fixed_key(json, "events");
  kymo_json_begin(json, '[');
  for (unsigned i = 0; i < thread->event_count; i++) {
    kymo_json_begin(json, '{');
    kymo_json_fixed_key(json, "age_ns");
    if (thread->events[i].has_age)
      kymo_json_int(json, thread->events[i].age_ns);
    else
      kymo_json_null(json);
    kymo_json_fixed_key(json, "name");
    kymo_json_text(json, thread->events[i].name);
    kymo_json_fixed_key(json, "text");
    kymo_json_text(json, thread->events[i].text);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

static void put_thread(struct kymo_json *json, struct process *process, const struct process_thread *thread) {
  int load = process_load(thread);
  kymo_json_begin(json, '{');
  kymo_json_fixed_key(json, "tid");
  kymo_json_int(json, thread->tid);
  kymo_json_fixed_key(json, "inner_tid");
  kymo_json_int(json, thread->inner_tid);
  kymo_json_fixed_key(json, "name");
  kymo_json_text(json, thread->name);
  kymo_json_fixed_key(json, "state");
  put_text(json, process->core ? NULL : process_state_text(thread->state));
  kymo_json_fixed_key(json, "cpu_percent");
  if (load >= 0)
    kymo_json_int(json, load);
  else
    kymo_json_null(json);
  kymo_json_fixed_key(json, "kernel");
  put_text(json, thread->kernel_stack ? thread->kernel_stack : *thread->wchan ? thread->wchan : NULL);
  kymo_json_fixed_key(json, "pending_signals");
  kymo_json_text(
      json, process_signals_text(process, thread->pending | (thread->process_pending & thread->blocked)));
  put_call(json, &thread->call);
  put_wait(json, process, thread);
  put_stack(json, thread);
  put_history(json, thread);
  kymo_json_end(json, '}');
}

/* ---- all ---- */

static void put_process(struct kymo_json *json, const struct process *process) {
  kymo_json_fixed_key(json, "pid");
  kymo_json_int(json, process->pid);
  kymo_json_fixed_key(json, "name");
  kymo_json_text(json, process->name);
  kymo_json_fixed_key(json, "program");
  put_text(json, process->exe);
  kymo_json_fixed_key(json, "core");
  put_text(json, process->core);
  kymo_json_fixed_key(json, "rings");
  put_text(json, process->rings);
  kymo_json_fixed_key(json, "state");
  put_text(json, process->core ? NULL : process_state_text(process->state));
  kymo_json_fixed_key(json, "user");
  kymo_json_uint(json, process->user);
  kymo_json_fixed_key(json, "threads_in_all");
  kymo_json_uint(json, process->threads_in_all);
}

static void put_findings(struct kymo_json *json, const struct process *process,
                         const struct process_findings *findings) {
  kymo_json_fixed_key(json, "findings");
  kymo_json_begin(json, '[');
  for (size_t i = 0; i < findings->count; i++) {
    const struct process_finding *finding = &findings->list[i];
    kymo_json_begin(json, '{');
    kymo_json_fixed_key(json, "kind");
    kymo_json_text(json, finding->kind);
    kymo_json_fixed_key(json, "text");
    kymo_json_text(json, finding->text);
    kymo_json_fixed_key(json, "threads");
    kymo_json_begin(json, '[');
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
  kymo_json_fixed_key(json, "threads");
  kymo_json_begin(json, '[');
  for (size_t i = 0; i < process->count; i++)
    put_thread(json, process, &process->threads[i]);
  kymo_json_end(json, ']');
  kymo_json_fixed_key(json, "not_seen");
  kymo_json_begin(json, '[');
  for (const struct process_unseen *unseen = process->unseen; unseen; unseen = unseen->next)
    kymo_json_text(json, unseen->text);
  if (process->no_rings)
    kymo_json_text(json, process_board_text(process->board, "events: %s", process->no_rings));
  kymo_json_end(json, ']');
  kymo_json_end(json, '}');
  kymo_json_newline(json);
}
