/* SPDX-License-Identifier: MIT */
/* kymo stat: what a running process records, and loses. */
#include "tool/client.h"
#include "tool/stat.h"
#include "tool/statistics.h"
#include <kymo/time.h>
#include "tool/tool.h"
#include <argp.h>
#include <unistd.h>

enum { OPTION_ONCE = 256 };

static const struct argp_option options[] = {
    {"interval", 'i', "TIME", 0, "From one look at the rings to the next; default 1s", 0},
    {"once", OPTION_ONCE, NULL, 0, "Tell once, about one interval", 0},
    {"json", 'j', NULL, 0, "A line of JSON an interval", 0},
    {0},
};

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
    stat->pid = tool_pid(argument);
    if (stat->pid < 0)
      argp_error(state, "expected the number of a process, or a kind of statistics and traces, found \"%s\"%s", argument,
                 tool_statistics_hint(argument).text);
    return state->arg_num ? ARGP_ERR_UNKNOWN : 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "of which process?"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "PID\nSTATISTICS TRACE...\nhistogram FIELD TRACE...",
    .doc = "Tell how many events the threads of a running process record, how many are lost, and how full its rings are, again "
           "and again until it ends. The process is not asked, and may hang. Of traces: statistics in one pass; kymo help stat latency "
           "shows the options of latency, and so on.\v",
    .help_filter = tool_statistics_help,
};

static int run(int argc, char **argv) {
  if (argc > 1 && tool_is_statistics(argv[1]))
    return tool_statistics(argc, argv);
  struct tool_stat stat = {.interval_ns = 1000000000};
  tool_parse(&parser, argc, argv, 0, NULL, &stat);
  stat.is_live = !stat.once && !stat.json && isatty(STDOUT_FILENO);
  int status = tool_stat_process(&stat);
  return status == TOOL_OK ? tool_close_output() : status;
}

const struct tool_command tool_stat = {
    .name = "stat",
    .summary = "tell what a process records and loses, or measure traces",
    .run = run,
};
