/* SPDX-License-Identifier: MIT */
#include "process/model.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void process_unseen(struct process *process, const char *format, ...) {
  char *text = NULL;
  va_list args;
  va_start(args, format);
  int length = vasprintf(&text, format, args);
  va_end(args);
  struct process_unseen *line = process_board_take(process->board, sizeof *line), *last;
  process->is_incomplete = true;
  if (length < 0)
    return;
  if (line) {
    line->text = process_board_text(process->board, "%s", text);
    last = (struct process_unseen *)(uintptr_t)process->unseen;
    while (last && last->next)
      last = (struct process_unseen *)(uintptr_t)last->next;
    if (last)
      last->next = line;
    else
      process->unseen = line;
  }
  free(text);
}

const char *process_thread_text(struct process *process, const struct process_thread *thread) {
  return process_board_text(process->board, "thread %d '%s'", thread->tid, thread->name);
}

int process_thread_of(const struct process *process, int inner_tid) {
  for (size_t i = 0; i < process->count; i++)
    if (process->threads[i].inner_tid == inner_tid)
      return (int)i;
  return -1;
}
