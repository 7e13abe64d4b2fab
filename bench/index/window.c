/* SPDX-License-Identifier: MIT */
/* Counts the events of a trace from a time on:  window NANOSECONDS TRACE. What bench/index/run measures. */
#include <inttypes.h>
#include <kymo/read.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  struct kymo_error error;
  struct kymo_trace *trace;
  const struct kymo_event *event;
  uint64_t count = 0;
  char text[2048];
  if (argc != 3)
    return 2;
  int status = kymo_trace_open(&trace, (const char *const *)argv + 2, 1, NULL, &error);
  if (status == KYMO_OK) {
    status = kymo_trace_goto_time(trace, strtoll(argv[1], NULL, 10), &error);
    while (status == KYMO_OK && (status = kymo_trace_next(trace, &event, &error)) == KYMO_OK)
      count++;
    printf("%" PRIu64 "\n", count);
    kymo_trace_close(trace);
  }
  if (status < 0)
    fprintf(stderr, "%s\n", kymo_error_text(&error, text, sizeof text));
  return status == KYMO_END ? 0 : 1;
}
