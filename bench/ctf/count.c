/* SPDX-License-Identifier: MIT */
/* Counts the events of a trace by moving over each: what bench/ctf/run measures. Prints the number, the
 * private memory of the process in KiB (mapped files do not count), the places of damage, and the seconds of
 * CPU time until the first event: for opening the files, and looking ahead in each of them. */
#include <inttypes.h>
#include <kymo/read.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static long own_kib(void) {
  char line[256];
  long kib = -1;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "RssAnon: %ld", &kib) == 1)
      break;
  if (status)
    fclose(status);
  return kib;
}

int main(int argc, char **argv) {
  struct kymo_error error;
  struct kymo_trace *trace;
  const struct kymo_event *event;
  uint64_t count = 0;
  double begin = cpu_seconds(), opening = 0;
  char text[2048];
  if (argc < 2)
    return 2;
  int status = kymo_trace_open(&trace, (const char *const *)argv + 1, (size_t)argc - 1, NULL, &error);
  if (status == KYMO_OK) {
    status = kymo_trace_next(trace, &event, &error);
    opening = cpu_seconds() - begin;
    for (; status == KYMO_OK; status = kymo_trace_next(trace, &event, &error))
      count++;
    printf("%" PRIu64 " %ld %zu %.6f\n", count, own_kib(), kymo_trace_damage_count(trace), opening);
    kymo_trace_close(trace);
  }
  if (status < 0)
    fprintf(stderr, "%s\n", kymo_error_text(&error, text, sizeof text));
  return status == KYMO_END ? 0 : 1;
}
