/* SPDX-License-Identifier: MIT */
/*
 * supervisor: a program that does itself what kymo record, snapshot and stat do, by kymo/live.h and
 * kymo/stat.h.
 *
 *   supervisor record DIRECTORY COMMAND [ARGUMENT...]   runs a command and records it
 *   supervisor attach DIRECTORY PID SECONDS             records a process that runs already
 *   supervisor list                                     processes with tracepoints
 *   supervisor points PID                               tracepoints of one
 *   supervisor enable|disable PID PATTERN               switches them
 *   supervisor count PID                                what its threads have recorded and lost
 *   supervisor snapshot DIRECTORY PID                   saves its rings
 *   supervisor stat KIND TRACE [FROM TO]                statistics of a trace
 *
 * The exit status is that of the command, 1 if a trace is not whole, 2 for a wrong command line, 3 after an
 * error.
 */
#include <inttypes.h>
#include <kymo/live.h>
#include <kymo/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { PARTIAL = 1, USAGE = 2, FAILED = 3 };

static int fail(const struct kymo_error *error) {
  char text[1200];
  fprintf(stderr, "supervisor: %s\n", kymo_error_text(error, text, sizeof text));
  return FAILED;
}

/* ---- recording ---- */

/* Until the process ends, or the time has passed. What cannot be written is tried again. */
static void work(struct kymo_recording *recording, int64_t timeout_ns) {
  struct kymo_error error;
  int status;
  while ((status = kymo_recording_work(recording, timeout_ns, -1, &error)) < 0)
    fail(&error);
}

static int finish(struct kymo_recording *recording, bool is_command) {
  struct kymo_error error;
  int status = kymo_recording_stop(recording, &error);
  if (status < 0)
    fail(&error);
  int64_t lost = kymo_recording_number(recording, KYMO_RECORDING_LOST);
  int how = (int)kymo_recording_number(recording, KYMO_RECORDING_WAIT_STATUS);
  printf("%s: %" PRId64 " events, %" PRId64 " lost\n",
         kymo_recording_text(recording, KYMO_RECORDING_DIRECTORY),
         kymo_recording_number(recording, KYMO_RECORDING_EVENTS), lost);
  kymo_recording_free(recording);
  if (is_command && WIFSIGNALED(how))
    return 128 + WTERMSIG(how);
  if (is_command && WEXITSTATUS(how))
    return WEXITSTATUS(how);
  return status < 0 || lost ? PARTIAL : 0;
}

static int record(const char *directory, char **command) {
  struct kymo_recording_options options = {.directory = directory};
  struct kymo_recording *recording;
  struct kymo_error error;
  if (kymo_recording_start(&recording, command, &options, &error) < 0)
    return fail(&error);
  work(recording, -1);
  return finish(recording, true);
}

static int attach(const char *directory, int pid, double seconds) {
  struct kymo_recording_options options = {.directory = directory};
  struct kymo_recording *recording;
  struct kymo_error error;
  if (kymo_recording_attach(&recording, pid, &options, &error) < 0)
    return fail(&error);
  work(recording, (int64_t)(seconds * 1e9));
  return finish(recording, false);
}

/* ---- processes ---- */

static int list(void) {
  struct kymo_processes *all;
  struct kymo_error error;
  if (kymo_processes_find(&all, KYMO_PROCESSES_LIVING, &error) < 0)
    return fail(&error);
  for (size_t i = 0; i < kymo_processes_count(all); i++)
    printf("%" PRId64 " %s %" PRId64 " %" PRId64 "\n", kymo_processes_number(all, i, KYMO_PROCESS_PID),
           kymo_processes_text(all, i, KYMO_PROCESS_PROGRAM),
           kymo_processes_number(all, i, KYMO_PROCESS_TRACEPOINTS),
           kymo_processes_number(all, i, KYMO_PROCESS_ON));
  kymo_processes_free(all);
  return 0;
}

static int points(int pid) {
  struct kymo_points *all;
  struct kymo_error error;
  if (kymo_points_find(&all, pid, &error) < 0)
    return fail(&error);
  for (size_t i = 0; i < kymo_points_count(all); i++)
    printf("%s %s\n", kymo_points_number(all, i, KYMO_POINT_IS_ON) ? "on " : "off", kymo_points_name(all, i));
  kymo_points_free(all);
  return 0;
}

static int switch_points(int pid, bool on, const char *patterns) {
  struct kymo_error error;
  uint64_t matched;
  if (kymo_points_switch(pid, on, patterns, -1, &matched, &error) < 0)
    return fail(&error);
  printf("%" PRIu64 "\n", matched);
  return matched ? 0 : PARTIAL;
}

static int count(int pid) {
  char rings[1024];
  struct kymo_counts *counts;
  struct kymo_error error;
  if (kymo_process_rings(rings, sizeof rings, pid, &error) < 0 ||
      kymo_counts_open(&counts, rings, &error) < 0)
    return fail(&error);
  int status = kymo_counts_read(counts, &error);
  for (size_t i = 0; status >= 0 && i < kymo_counts_threads(counts); i++)
    printf("%" PRId64 " %s %" PRId64 " %" PRId64 "\n", kymo_counts_number(counts, i, KYMO_COUNT_TID),
           kymo_counts_name(counts, i), kymo_counts_number(counts, i, KYMO_COUNT_EVENTS),
           kymo_counts_number(counts, i, KYMO_COUNT_LOST));
  kymo_counts_close(counts);
  return status < 0 ? fail(&error) : 0;
}

static int snapshot(const char *directory, int pid) {
  char rings[1024];
  struct kymo_snapshot_options options = {.directory = directory};
  struct kymo_snapshot *saved = NULL;
  struct kymo_error error;
  int status = kymo_process_rings(rings, sizeof rings, pid, &error);
  if (status >= 0)
    status = kymo_snapshot_take(&saved, rings, &options, &error);
  int64_t lost = saved ? kymo_snapshot_number(saved, KYMO_SNAPSHOT_LOST) : 0;
  if (status >= 0)
    printf("%s: %" PRId64 " events, %" PRId64 " lost\n", kymo_snapshot_text(saved, KYMO_SNAPSHOT_DIRECTORY),
           kymo_snapshot_number(saved, KYMO_SNAPSHOT_EVENTS), lost);
  kymo_snapshot_free(saved);
  return status < 0 ? fail(&error) : lost ? PARTIAL : 0;
}

/* ---- statistics ---- */

/* The columns of kymo stat --csv that all kinds of times have. */
static void print_row(const struct kymo_stat *stat, size_t row) {
  static const enum kymo_stat_number numbers[] = {KYMO_STAT_COUNT, KYMO_STAT_TOTAL, KYMO_STAT_MIN,
                                                  KYMO_STAT_P50,   KYMO_STAT_P99,   KYMO_STAT_MAX};
  int64_t value;
  printf("%s", kymo_stat_name(stat, row));
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (kymo_stat_get(stat, row, numbers[i], &value))
      printf(",%" PRId64, value);
  putchar('\n');
}

static int measure(const char *kind, const char *path, const char *from, const char *to) {
  struct kymo_stat_options options = {.from = from, .to = to};
  struct kymo_trace *trace;
  struct kymo_stat *stat;
  struct kymo_error error;
  if (kymo_trace_open(&trace, &path, 1, NULL, &error) < 0)
    return fail(&error);
  int status = kymo_stat_run(&stat, trace, kind, &options, &error);
  kymo_trace_close(trace);
  if (status < 0)
    return fail(&error);
  for (size_t row = 0; row < kymo_stat_rows(stat); row++)
    print_row(stat, row);
  kymo_stat_free(stat);
  return 0;
}

static int number(const char *text) { return (int)strtol(text, NULL, 10); }

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "record") && argc > 3)
    return record(argv[2], argv + 3);
  if (!strcmp(what, "attach") && argc == 5)
    return attach(argv[2], number(argv[3]), strtod(argv[4], NULL));
  if (!strcmp(what, "list"))
    return list();
  if (!strcmp(what, "points") && argc == 3)
    return points(number(argv[2]));
  if ((!strcmp(what, "enable") || !strcmp(what, "disable")) && argc == 4)
    return switch_points(number(argv[2]), *what == 'e', argv[3]);
  if (!strcmp(what, "count") && argc == 3)
    return count(number(argv[2]));
  if (!strcmp(what, "snapshot") && argc == 4)
    return snapshot(argv[2], number(argv[3]));
  if (!strcmp(what, "stat") && (argc == 4 || argc == 6))
    return measure(argv[2], argv[3], argc == 6 ? argv[4] : NULL, argc == 6 ? argv[5] : NULL);
  fputs("usage: supervisor record|attach|list|points|enable|disable|count|snapshot|stat ...\n", stderr);
  return USAGE;
}
