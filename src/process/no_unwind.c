/* SPDX-License-Identifier: MIT */
/* Replaces unwind.c and core.c where kymo is built without libdw. */
#include "process/unwind.h"
#include "base/fail.h"

bool process_can_unwind(void) { return false; }

struct process_unwinder *process_unwinder_new(struct process *process) {
  process_unseen(process, "stacks: this kymo was built without libdw (elfutils), which unwinds them");
  return NULL;
}

void process_unwinder_free(struct process_unwinder *unwinder) { (void)unwinder; }

void process_unwind(struct process_unwinder *unwinder, struct process_thread *thread) {
  (void)unwinder, (void)thread;
}

void process_find_lines(struct process_unwinder *unwinder, struct process_thread *thread) {
  (void)unwinder, (void)thread;
}

int process_read_core(struct process *process, struct kymo_error *error) {
  return kymo_fail_at(error, KYMO_E_UNKNOWN, process->core, KYMO_ERROR_NO_OFFSET,
                      "this kymo was built without libdw (elfutils), which reads core files");
}
