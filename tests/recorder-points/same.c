/* SPDX-License-Identifier: MIT */
/*
 * Events that take the time of the thread's previous event.
 *
 *   same pairs N     N events, each followed by two of the same time, in two threads
 *   same first       a thread whose first event is one
 *   same handler     a handler's event, in the middle of another: nothing was recorded between it and the
 *                    thread's last event
 */
#include <kymo/trace.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void *pairs(void *argument) {
  long count = *(long *)argument;
  for (long i = 0; i < count; i++) {
    KYMO(same, leader, i);
    KYMO_SAME(same, follower, i);
    if (i % 3 == 0)
      KYMO_SAME(same, text, i, KYMO_AS(text, "of any length"));
  }
  return NULL;
}

static void *first(void *unused) {
  KYMO_SAME(same, first);
  KYMO_SAME(same, second);
  return unused;
}

static char *trap;
static size_t page;

static void on_fault(int signal) {
  (void)signal;
  KYMO_SAME(same, handler);
  KYMO(same, handler_later);
  KYMO_SAME(same, handler_same);
  mprotect(trap, page, PROT_READ);
}

static void handler(void) {
  page = (size_t)sysconf(_SC_PAGESIZE);
  trap = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (trap == MAP_FAILED)
    exit(2);
  signal(SIGSEGV, on_fault);
  KYMO(same, before);
  KYMO(same, interrupted, KYMO_BLOB(data, trap, 8));
  KYMO_SAME(same, after);
}

int main(int argc, char **argv) {
  pthread_t thread;
  if (argc == 3) {
    long count = strtol(argv[2], NULL, 10);
    if (pthread_create(&thread, NULL, pairs, &count))
      return 2;
    pairs(&count);
    pthread_join(thread, NULL);
  } else if (argc == 2 && argv[1][0] == 'f') {
    if (pthread_create(&thread, NULL, first, NULL))
      return 2;
    pthread_join(thread, NULL);
  } else
    handler();
  return 0;
}
