/* SPDX-License-Identifier: MIT */
/*
 * idle TRACE ROUNDS: records nothing for a while, then a few packets, and measures how long they take to
 * reach the files of the trace; ROUNDS times. Prints the microseconds of each round, then waits for the end
 * of its input.
 */
#include <glob.h>
#include <kymo/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static long long now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

/* Bytes of the stream files below the trace, which is in a directory of the process while it is recorded. */
static long long bytes_in(const char *trace) {
  char patterns[2][512];
  glob_t found = {0};
  struct stat st;
  long long sum = 0;
  snprintf(patterns[0], sizeof patterns[0], "%s/stream*", trace);
  snprintf(patterns[1], sizeof patterns[1], "%s/*/stream*", trace);
  glob(patterns[0], 0, NULL, &found);
  glob(patterns[1], GLOB_APPEND, NULL, &found);
  for (size_t i = 0; i < found.gl_pathc; i++)
    sum += stat(found.gl_pathv[i], &st) ? 0 : st.st_size;
  globfree(&found);
  return sum;
}

int main(int argc, char **argv) {
  long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
  for (long round = 0; round < rounds; round++) {
    usleep(400000 + 13000 * (unsigned)round); /* longer than all pauses of the reader together */
    long long before = bytes_in(argv[1]), begin = now_us();
    for (int i = 0; i < 2000; i++)
      KYMO(idle, step, round, i);
    while (bytes_in(argv[1]) == before && now_us() - begin < 5000000)
      usleep(200);
    printf("%lld\n", now_us() - begin);
    fflush(stdout);
  }
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}
