/* SPDX-License-Identifier: MIT */
/* kymo stat: prints what a running process records, and loses. */
#include "live/client.h"
#include "tool/rings.h"
#include "tool/stat.h"
#include "tool/statistics.h"
#include <kymo/time.h>
#include "tool/tool.h"
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_ONCE = 256 };

static const struct argp_option options[] = {
    {"interval", 'i', "TIME", 0, "Time between two readings of the rings; default 1s", 0},
    {"once", OPTION_ONCE, NULL, 0, "Print one interval and stop", 0},
    {"json", 'j', NULL, 0, "Print one line of JSON per interval", 0},
    {0},
};

/* A live process, if there is one, since a dead one does nothing more. */
static void take_name(struct tool_stat *stat, const char *name, struct argp_state *state) {
  struct kymo_hint program = {""}, kind = tool_statistics_hint(name);
  char rings[KYMO_PATH_MAX];
  int found = tool_rings_may_name(name) ? tool_rings_named(rings, name, true, &program) : TOOL_FAILED;
  if (found == TOOL_USAGE)
    exit(TOOL_USAGE);
  if (found != TOOL_OK && !*kind.text && !access(name, F_OK))
    argp_error(state,
               "which statistics of the trace %s? For example: kymo stat latency %s, kymo stat counts %s",
               name, name, name);
  else if (found != TOOL_OK)
    argp_error(state,
               "expected the number or name of a process, or a kind of statistics and traces, found \"%s\"%s",
               name, *kind.text ? kind.text : program.text);
  else if (!(stat->rings = strdup(rings)))
    tool_end_without_memory();
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct tool_stat *stat = state->input;
  struct kymo_time_mistake mistake;
  switch (key) {
  case 'i':
    if (!kymo_duration_parse(&stat->interval_ns, argument, &mistake) || stat->interval_ns < 1000000)
      argp_error(state, "--interval is a time from 1ms, not \"%s\"", argument);
    return 0;
  case OPTION_ONCE: stat->once = true; return 0;
  case 'j': stat->json = true; return 0;
  case ARGP_KEY_ARG:
    if (state->arg_num)
      return ARGP_ERR_UNKNOWN;
    stat->pid = kymo_pid_of(argument);
    if (stat->pid < 0)
      take_name(stat, argument, state);
    return 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "of which process?"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "PID|NAME\nSTATISTICS TRACE...\nhistogram FIELD TRACE...",
    .doc =
        "Print how many events the threads of a running process record, how many are lost, and how full its "
        "rings are, again "
        "and again until it ends. The process need not respond. For traces: compute statistics in one pass; "
        "kymo help stat latency "
        "shows the options of latency, and so on.\v",
    .help_filter = tool_statistics_help,
};

/* The help for a misspelt kind of statistics would be that of kymo stat. */
static bool is_misspelt_help(int argc, char **argv) {
  struct kymo_hint hint = tool_statistics_hint(argv[1]);
  bool is_help = *argv[1] != '-' && *hint.text && strcmp(argv[argc - 1], "--help") == 0;
  if (is_help)
    tool_say("there is no kind of statistics \"%s\"%s", argv[1], hint.text);
  return is_help;
}

static int run(int argc, char **argv) {
  if (argc > 1 && tool_is_statistics(argv[1]))
    return tool_statistics(argc, argv);
  if (argc > 1 && is_misspelt_help(argc, argv))
    return TOOL_USAGE;
  struct tool_stat stat = {.interval_ns = 1000000000};
  tool_parse(&parser, argc, argv, 0, NULL, &stat);
  stat.is_live = !stat.once && !stat.json && isatty(STDOUT_FILENO);
  int status = tool_stat_process(&stat);
  free(stat.rings);
  return status == TOOL_OK ? tool_close_output() : status;
}

const struct tool_command tool_stat = {
    .name = "stat",
    .summary = "print what a process records and loses, or statistics of traces",
    .run = run,
};
