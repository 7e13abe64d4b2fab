/* SPDX-License-Identifier: MIT */
/*
 *   list ──► permission ──► calls ──► rings ──► 200 ms after the list: who has run? ──► registers ──► frames
 *
 * Each step is a worker with a deadline. A step over all threads that is late is begun again after the thread
 * at which it was, a few times. Who has run is asked before anything is stopped, since stopping makes threads
 * run.
 */
#include "process/gather.h"
#include "process/capture.h"
#include "process/locks.h"
#include "process/rings.h"
#include "process/syscalls.h"
#include "process/threads.h"
#include "process/unwind.h"
#include "base/fail.h"

enum {
  LIST_MS = 5000,
  PERMISSION_MS = 2000,
  CALLS_MS = 3000,
  RINGS_MS = 10000,
  CAPTURE_MS = 5000,
  FRAMES_MS = 8000,
  CORE_MS = 60000,
  SAMPLE_MS = 200,
  ATTEMPTS_MAX = 3,
};
static const size_t BOARD_SIZE = (size_t)512 << 20;

struct gathering {
  struct process *process;
  const struct process_options *options;
  const char *denial;
  bool refused, is_done;
  struct kymo_error error;
  int status;
};

struct process *process_new(void) {
  struct process_board *board = process_board_new(BOARD_SIZE);
  struct process *process = board ? process_board_take(board, sizeof *process) : NULL;
  if (process)
    process->board = board;
  return process;
}

void process_free(struct process *process) {
  if (process)
    process_board_free(process->board);
}

/* ---- steps ---- */

static void list(void *user) {
  struct gathering *gathering = user;
  gathering->is_done = process_read_threads(gathering->process);
}

static void ask_permission(void *user) {
  struct gathering *gathering = user;
  gathering->denial = process_denial(gathering->process, &gathering->refused);
}

static void read_calls(void *user) {
  struct process *process = ((struct gathering *)user)->process;
  for (; process->next < process->count; process->next++)
    process_read_call(process, &process->threads[process->next]);
}

static void read_rings(void *user) { process_read_rings(((struct gathering *)user)->process); }

static void look_again(void *user) { process_read_again(((struct gathering *)user)->process); }

static void capture(void *user) {
  struct gathering *gathering = user;
  struct process *process = gathering->process;
  for (; process->next < process->count; process->next++)
    process_capture(process, &process->threads[process->next], gathering->options->may_interrupt);
}

static void unwind(void *user) {
  struct process *process = ((struct gathering *)user)->process;
  struct process_unwinder *unwinder = process_unwinder_new(process);
  if (!unwinder)
    process->next = process->count;
  for (; process->next < process->count; process->next++)
    process_unwind(unwinder, &process->threads[process->next]);
  for (size_t i = 0; unwinder && i < process->count; i++)
    process_find_lines(unwinder, &process->threads[i]);
  process_unwinder_free(unwinder);
}

static const char *end_text(enum process_end end) {
  return end == PROCESS_LATE ? "took too long, and was given up" : "ended by a fault";
}

/* A step over all threads. */
static void for_threads(struct gathering *gathering, process_step *step, const char *what,
                        unsigned limit_ms) {
  struct process *process = gathering->process;
  process->next = 0;
  for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    enum process_end end = process_bounded(step, gathering, limit_ms);
    if (end == PROCESS_DONE)
      return;
    if (process->next >= process->count) { /* what comes after the stacks */
      process_unseen(process, "lines of the source: finding them %s", end_text(end));
      return;
    }
    struct process_thread *thread = &process->threads[process->next++];
    process_unseen(process, "%s of %s: reading it %s", what, process_thread_text(process, thread),
                   end_text(end));
  }
  if (process->next < process->count)
    process_unseen(process, "%s of the other %zu threads: not tried any more", what,
                   process->count - process->next);
}

/* ---- a process ---- */

static void look_inside(struct gathering *gathering) {
  struct process *process = gathering->process;
  if (!gathering->denial) {
    for_threads(gathering, capture, "the stack", CAPTURE_MS);
    for_threads(gathering, unwind, "the stack", FRAMES_MS);
    return;
  }
  process_unseen(process, "system calls, locks and stacks: %s", gathering->denial);
}

static void wait_for_sample(const struct process *process) {
  long long begin = process->threads[0].seen_ns;
  long long left = begin + SAMPLE_MS * 1000000LL - process_now_ns();
  if (left > 0)
    process_sleep_us((unsigned)(left / 1000));
}

static void look_around(struct gathering *gathering) {
  struct process *process = gathering->process;
  if (process->threads_in_all > process->count)
    process_unseen(process, "threads: only %zu of %zu are shown", process->count, process->threads_in_all);
  if (process->is_32_bit)
    process_unseen(process, "locks, and the names of system calls: it is a 32-bit program");
  if (!gathering->denial)
    for_threads(gathering, read_calls, "the system call", CALLS_MS);
  enum process_end end = process_bounded(read_rings, gathering, RINGS_MS);
  if (end != PROCESS_DONE)
    process_unseen(process, "events: reading the rings %s", end_text(end));
  wait_for_sample(process);
  end = process_bounded(look_again, gathering, LIST_MS);
  if (end != PROCESS_DONE)
    process_unseen(process, "processor time: reading it %s", end_text(end));
}

static int gather(struct gathering *gathering, int pid, struct kymo_error *error) {
  struct process *process = gathering->process;
  enum process_end end = process_bounded(list, gathering, LIST_MS);
  if (end != PROCESS_DONE)
    return kymo_fail(error, KYMO_E_SYSTEM, "listing the threads of process %d %s", pid, end_text(end));
  if (!gathering->is_done)
    return kymo_fail(error, KYMO_E_UNKNOWN, "there is no process %d", pid);
  if (process->state == 'Z' && process->count == 1)
    return KYMO_OK;
  end = process_bounded(ask_permission, gathering, PERMISSION_MS);
  if (gathering->refused)
    return kymo_fail(error, KYMO_E_SYSTEM, "process %d (%s) cannot be looked at: %s", pid, process->name,
                     gathering->denial);
  if (end != PROCESS_DONE)
    gathering->denial = process_board_text(process->board, "opening its memory %s", end_text(end));
  look_around(gathering);
  look_inside(gathering);
  process_find_locks(process);
  return KYMO_OK;
}

/* What a step changes is on the board. */
static struct gathering *begin(struct process *process, const struct process_options *options) {
  struct gathering *gathering = process_board_take(process->board, sizeof *gathering);
  if (gathering)
    *gathering = (struct gathering){.process = process, .options = options};
  return gathering;
}

int process_gather(struct process *process, int pid, const struct process_options *options,
                   struct kymo_error *error) {
  struct gathering *gathering = begin(process, options);
  process->pid = pid;
  return gathering ? gather(gathering, pid, error) : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

/* ---- a core file ---- */

static void read_core(void *user) {
  struct gathering *gathering = user;
  gathering->error.offset = KYMO_ERROR_NO_OFFSET;
  gathering->status = process_read_core(gathering->process, &gathering->error);
}

int process_gather_core(struct process *process, const char *core, const char *exe,
                        struct kymo_error *error) {
  struct gathering *gathering = begin(process, NULL);
  if (!gathering)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  process->core = core;
  process->exe = exe;
  process->no_rings = "a core file has none; kymo list --dead lists those that dead processes left";
  enum process_end end = process_bounded(read_core, gathering, CORE_MS);
  if (end != PROCESS_DONE && !process->count)
    return kymo_fail_at(error, KYMO_E_SYSTEM, core, KYMO_ERROR_NO_OFFSET, "reading the core file %s",
                        end_text(end));
  if (end != PROCESS_DONE)
    process_unseen(process, "stacks: reading the core file %s", end_text(end));
  *error = gathering->error;
  if (gathering->status == KYMO_OK)
    process_find_locks(process);
  return gathering->status;
}
