/* SPDX-License-Identifier: MIT */
/*
 * hang handler|deadlock|pause|abort: records ten events, prints that, and hangs: in a signal handler that
 * interrupts an event and records another one; in two threads that wait for each other, with an event of each
 * in its ring; in a pause. Or dies.
 */
#include <kymo/trace.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void tell(void) {
  static const char ready[] = "ready\n";
  if (write(STDOUT_FILENO, ready, sizeof ready - 1) < 0)
    _exit(2);
}

static void spin(int signal) {
  KYMO(hang, handler, signal);
  tell();
  for (;;) {
  }
}

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t both;
static void *wait_for_the_other(void *number) {
  int self = (int)(intptr_t)number;
  pthread_mutex_lock(&locks[self]);
  KYMO(hang, deadlock, self);
  pthread_barrier_wait(&both);
  if (!self)
    tell();
  pthread_mutex_lock(&locks[!self]);
  return NULL;
}

static void *sleep_on(void *unused) {
  tell();
  pause();
  return unused;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  for (int i = 0; i < 10; i++)
    KYMO(hang, step, i);
  if (!strcmp(how, "handler")) {
    signal(SIGUSR1, spin);
    KYMO(hang, interrupted, raise(SIGUSR1));
  } else if (!strcmp(how, "deadlock")) {
    pthread_t other;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&other, NULL, wait_for_the_other, (void *)1);
    wait_for_the_other(NULL);
  } else if (!strcmp(how, "abort"))
    abort();
  else
    sleep_on(NULL);
  return 0;
}
