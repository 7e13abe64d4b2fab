/* SPDX-License-Identifier: MIT */
/*
 * writer THREADS ROUNDS PROCESSES [FIFO]: each thread of each process writes a byte ROUNDS times, each time
 * within a span "app:write"; first it waits for a byte from FIFO.
 */
#include <fcntl.h>
#include <kymo/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int null, rounds;

static void *work(void *unused) {
  (void)unused;
  for (int i = 0; i < rounds; i++) {
    KYMO_SPAN_BEGIN(app, write, i);
    if (write(null, "x", 1) != 1)
      exit(1);
    KYMO_SPAN_END(app, write);
  }
  return NULL;
}

static void run(int count) {
  pthread_t threads[64];
  KYMO(app, begin, count); /* makes the rings of a forked process */
  for (int i = 0; i < count; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1,
      processes = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 1;
  rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
  null = open("/dev/null", O_WRONLY);
  if (null < 0 || threads > 64)
    return 1;
  char byte;
  int go = argc > 4 ? open(argv[4], O_RDONLY) : -1;
  if (go >= 0 && read(go, &byte, 1) != 1)
    return 1;
  for (int i = 1; i < processes; i++)
    if (!fork()) {
      run(threads);
      return 0;
    }
  run(threads);
  while (wait(NULL) > 0)
    ;
  return 0;
}
