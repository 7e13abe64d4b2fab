/* SPDX-License-Identifier: MIT */
/*
 * Work that may never end, in a process of its own, with a deadline.
 *
 *   command ── fork ──► worker: reads /proc, a process's memory, its program's files
 *      │                  │
 *      │ waits, at most   └── writes ──► board: memory of both
 *      └── kills the worker, and uses what is on the board
 *
 * A read of /proc waits for locks that a thread in disk sleep may hold, and a file may be on a server that
 * does not answer; neither ends by a timeout of its own. Untrusted programs are read in the worker, too: a
 * fault ends it alone.
 */
#ifndef KYMO_PROCESS_BOUNDED_H
#define KYMO_PROCESS_BOUNDED_H

#include <stdbool.h>
#include <stddef.h>

/* Memory that the command and its workers share, at the same addresses. Only one of them allocates at a
 * time. */
struct process_board;

/* Space for `size` bytes, which cost nothing before they are used. NULL: out of memory. */
struct process_board *process_board_new(size_t size);
void process_board_free(struct process_board *board);
/* Zeroed, never freed before the board is. NULL: the board is full. */
void *process_board_take(struct process_board *board, size_t size);
/* A text on the board; "" if that is full. */
const char *process_board_text(struct process_board *board, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum process_end {
  PROCESS_DONE, /* the step has ended */
  PROCESS_LATE, /* it was ended by the deadline */
  PROCESS_DIED, /* it ended by a fault, or could not be started */
};
/* Runs the step in a worker for at most `limit_ms`, not counting the time in which it waits for a processor,
 * and at most ten times as long. What the worker traces goes on when it ends, whatever
 * ends it. */
typedef void process_step(void *user);
enum process_end process_bounded(process_step *step, void *user, unsigned limit_ms);

/* CLOCK_MONOTONIC. */
long long process_now_ns(void);
void process_sleep_us(unsigned microseconds);

#endif
