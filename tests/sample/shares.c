/* SPDX-License-Identifier: MIT */
/*
 * shares SECONDS [FIFO]: spends three parts of its CPU time in `heavy` and one in `light`: in two threads and
 * in a child with one, each time within a span "app:heavy" or "app:light". First it waits for a byte from
 * FIFO.
 */
#include <fcntl.h>
#include <kymo/trace.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noipa))

static double seconds;

static double used(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

APART static void spin(double part) {
  volatile unsigned sum = 0;
  double end = used() + part * seconds;
  while (used() < end)
    for (unsigned i = 0; i < 20000; i++)
      sum += i;
}

APART static void heavy(void) {
  spin(0.03);
  __asm__ volatile("");
}

APART static void light(void) {
  spin(0.01);
  __asm__ volatile("");
}

APART static void work(void) {
  for (int i = 0; i < 25; i++) {
    KYMO_SPAN_BEGIN(app, heavy);
    heavy();
    KYMO_SPAN_END(app, heavy);
    KYMO_SPAN_BEGIN(app, light);
    light();
    KYMO_SPAN_END(app, light);
  }
}

static void *thread(void *unused) {
  work();
  return unused;
}

int main(int argc, char **argv) {
  pthread_t other;
  char byte;
  seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
  int go = argc > 2 ? open(argv[2], O_RDONLY) : -1;
  if (go >= 0 && read(go, &byte, 1) != 1)
    return 1;
  if (pthread_create(&other, NULL, thread, NULL))
    return 1;
  work();
  pthread_join(other, NULL);
  pid_t child = fork();
  if (child == 0) {
    work();
    return 0;
  }
  waitpid(child, NULL, 0);
  return 0;
}
