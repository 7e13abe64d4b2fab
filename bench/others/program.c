/* SPDX-License-Identifier: MIT */
/* What bench/others/run traces: a loop around one function call, one tracepoint, or one call of libc. It
 * prints nanoseconds a round. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#ifdef BENCH_POINT
#include <kymo/trace.h>
#endif

#ifdef BENCH_CALL
static int zero;
#endif

__attribute__((noinline)) static void work(long i) {
#ifdef BENCH_POINT
  KYMO(bench, point, i);
#elif defined BENCH_CALL
  char byte;
  if (read(zero, &byte, 1) != 1)
    exit(1);
#endif
  __asm__ __volatile__("" ::"r"(i));
}

__attribute__((no_instrument_function)) static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
#ifdef BENCH_CALL
  zero = open("/dev/zero", O_RDONLY);
#endif
  work(0);
  double begin = now_ns();
  for (long i = 0; i < rounds; i++)
    work(i);
  printf("%.3f\n", (now_ns() - begin) / (double)rounds);
  return 0;
}
