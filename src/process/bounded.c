/* SPDX-License-Identifier: MIT */
#include "process/bounded.h"
#include "process/proc.h"
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the board ---- */

struct process_board {
  size_t size, used;
};

enum { ALIGNMENT = 16, HEAD = (sizeof(struct process_board) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT };

struct process_board *process_board_new(size_t size) {
  struct process_board *board =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (board == MAP_FAILED)
    return NULL;
  *board = (struct process_board){.size = size, .used = HEAD};
  return board;
}

void process_board_free(struct process_board *board) {
  if (board)
    munmap(board, board->size);
}

void *process_board_take(struct process_board *board, size_t size) {
  if (size > board->size - board->used - ALIGNMENT)
    return NULL;
  char *at = (char *)board + board->used;
  board->used += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return at;
}

const char *process_board_text(struct process_board *board, const char *format, ...) {
  char *text = NULL;
  va_list args;
  va_start(args, format);
  int length = vasprintf(&text, format, args);
  va_end(args);
  char *copy = length >= 0 ? process_board_take(board, (size_t)length + 1) : NULL;
  for (int i = 0; copy && i < length; i++)
    copy[i] = text[i];
  if (length >= 0)
    free(text);
  return copy ? copy : "";
}

/* ---- workers ---- */

long long process_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

void process_sleep_us(unsigned microseconds) {
  nanosleep(&(struct timespec){microseconds / 1000000, microseconds % 1000000 * 1000}, NULL);
}

/* How long a process was on processors, and how long it waited for one, until it was on one last; false: the
 * kernel does not say it. */
static bool read_times(pid_t pid, long long *used_ns, long long *delay_ns) {
  char text[128], *end;
  if (proc_read(text, sizeof text, "/proc/%d/schedstat", (int)pid) <= 0)
    return false;
  *used_ns = strtoll(text, &end, 10);
  *delay_ns = strtoll(end, NULL, 10);
  return true;
}

/* Whether a process only waits for its turn. */
static bool is_runnable(pid_t pid) {
  char text[512];
  const char *close = proc_read(text, sizeof text, "/proc/%d/stat", (int)pid) > 0 ? strrchr(text, ')') : NULL;
  return close && close[1] == ' ' && close[2] == 'R';
}

/* Time in which others have the processors does not count, up to a multiple of the limit. */
static bool is_late(pid_t worker, long long begin_ns, unsigned limit_ms) {
  enum { BUSY_MOST = 10 };
  long long limit_ns = limit_ms * 1000000LL, ns = process_now_ns() - begin_ns, used_ns, delay_ns;
  if (ns <= limit_ns)
    return false;
  if (ns > BUSY_MOST * limit_ns || !read_times(worker, &used_ns, &delay_ns))
    return true;
  return is_runnable(worker) ? used_ns > limit_ns : ns - delay_ns > limit_ns;
}

/* Whether the worker has ended within the time. */
static bool wait_for(pid_t worker, int *status, unsigned limit_ms) {
  enum { PAUSE_LEAST_US = 100, PAUSE_MOST_US = 3000 };
  long long begin = process_now_ns();
  for (unsigned pause = PAUSE_LEAST_US;; pause = pause < PAUSE_MOST_US ? 2 * pause : pause) {
    if (waitpid(worker, status, WNOHANG) != 0)
      return true;
    if (is_late(worker, begin, limit_ms))
      return false;
    process_sleep_us(pause);
  }
}

enum process_end process_bounded(process_step *step, void *user, unsigned limit_ms) {
  enum { PATIENCE_MS = 200 }; /* a worker in disk sleep itself ends later, without us */
  int status = -1;
  pid_t command = getpid(), worker = fork();
  if (worker < 0)
    return PROCESS_DIED;
  if (!worker) {
    /* also if the command is killed */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != command)
      _exit(1);
    step(user);
    _exit(0);
  }
  if (wait_for(worker, &status, limit_ms))
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? PROCESS_DONE : PROCESS_DIED;
  kill(worker, SIGKILL);
  wait_for(worker, &status, PATIENCE_MS);
  return PROCESS_LATE;
}
