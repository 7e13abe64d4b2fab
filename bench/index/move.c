/* SPDX-License-Identifier: MIT */
/* Moves in a trace by numbers:  move TRACE. Prints what each move costs, in CPU time; bench/index/run shows
 *                               it. */
#include <inttypes.h>
#include <kymo/read.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BACK UINT64_C(4000000)
#define JUMPS 1000

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void must(int status, int wanted) {
  if (status == wanted)
    return;
  fprintf(stderr, "move: %s\n", kymo_status_text(status));
  exit(1);
}

static void show(const char *what, double cost, const char *unit) {
  printf("  %-42s%10.4g %s\n", what, cost, unit);
}

int main(int argc, char **argv) {
  struct kymo_error error;
  struct kymo_trace *trace;
  const struct kymo_event *event;
  uint64_t count = 0;
  char text[2048];
  if (argc != 2)
    return 2;
  if (kymo_trace_open(&trace, (const char *const *)argv + 1, 1, NULL, &error) != KYMO_OK) {
    fprintf(stderr, "%s\n", kymo_error_text(&error, text, sizeof text));
    return 1;
  }
  double begin = seconds();
  while (kymo_trace_next(trace, &event, NULL) == KYMO_OK)
    count++;
  show("get_next, from the start", (seconds() - begin) / (double)count * 1e9, "ns an event");
  must(kymo_trace_rewind(trace), KYMO_OK);
  begin = seconds();
  must(kymo_trace_goto_event(trace, count, &event, NULL), KYMO_OK);
  show("goto_record to the last of what was read", (seconds() - begin) * 1e6, "us");
  uint64_t back = count - 1 < BACK ? count - 1 : BACK;
  begin = seconds();
  for (uint64_t i = 0; i < back; i++)
    must(kymo_trace_previous(trace, &event, NULL), KYMO_OK);
  show("get_previous, from the end", (seconds() - begin) / (double)back * 1e9, "ns an event");
  begin = seconds();
  for (uint64_t i = 0; i < JUMPS; i++)
    must(kymo_trace_goto_event(trace, 1 + i * UINT64_C(2654435761) % count, &event, NULL), KYMO_OK);
  show("goto_record, anywhere", (seconds() - begin) / JUMPS * 1e6, "us");
  kymo_trace_close(trace);
  if (kymo_trace_open(&trace, (const char *const *)argv + 1, 1, NULL, &error) != KYMO_OK)
    return 1;
  begin = seconds();
  must(kymo_trace_goto_event(trace, count, &event, NULL), KYMO_OK);
  show("goto_record to the last, of a trace just opened", seconds() - begin, "s");
  kymo_trace_close(trace);
  return 0;
}
