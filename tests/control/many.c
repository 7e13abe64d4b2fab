/* SPDX-License-Identifier: MIT */
/*
 * many [-t THREADS] [-w MICROSECONDS]: 500 tracepoints, many:p000 to many:p499, which each thread passes
 * again and again, at full speed or with pauses; all record the thread's number, its count of passes
 * (`round`), and a checksum of both. Ends when killed, or at the end of its input.
 */
#include <kymo/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int pause_us;

#define POINT(n) KYMO(many, p##n, thread, round, KYMO_AS(sum, round * 31 + thread + 1##n));
#define TEN(n) \
  POINT(n##0)  \
  POINT(n##1) POINT(n##2) POINT(n##3) POINT(n##4) POINT(n##5) POINT(n##6) POINT(n##7) POINT(n##8) POINT(n##9)
#define HUNDRED(n) \
  TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)

/* Sanitizers would take minutes to compile this, and have enough to see in the library. */
__attribute__((no_sanitize("address"), no_sanitize("undefined"), no_sanitize("thread"))) static void *
pass_by(void *number) {
  uint32_t thread = (uint32_t)(uintptr_t)number;
  for (uint64_t round = 0;; round++) {
    HUNDRED(0)
    HUNDRED(1)
    HUNDRED(2)
    HUNDRED(3)
    HUNDRED(4)
    if (pause_us)
      usleep((useconds_t)pause_us);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int threads = 1;
  for (int option; (option = getopt(argc, argv, "t:w:")) >= 0;)
    if (option == 't')
      threads = (int)strtol(optarg, NULL, 10);
    else
      pause_us = (int)strtol(optarg, NULL, 10);
  for (int i = 0; i < threads; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, pass_by, (void *)(uintptr_t)i))
      return 2;
  }
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}
