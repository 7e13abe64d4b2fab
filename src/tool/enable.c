/* SPDX-License-Identifier: MIT */
/* kymo enable, kymo disable: switch tracepoints of a running process. */
#include "base/strbuf.h"
#include "print/level.h"
#include "tool/rings.h"
#include "tool/words.h"
#include <argp.h>
#include <inttypes.h>
#include <kymo/live.h>
#include <string.h>

struct enable {
  int pid;
  int32_t level; /* -1: any */
  struct kymo_strbuf patterns;
};

static const struct argp_option options[] = {
    {"level", 'l', "LEVEL", 0,
     "Only tracepoints of this level or a more urgent one: emergency, alert, critical, error, "
     "warning, notice, info, "
     "debug:system … debug, or 0 to 14",
     0},
    {0},
};

static void take_pattern(struct enable *enable, const char *pattern) {
  if (enable->patterns.length)
    kymo_strbuf_puts(&enable->patterns, ",");
  kymo_strbuf_puts(&enable->patterns, pattern);
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct enable *enable = state->input;
  switch (key) {
  case 'l':
    enable->level = kymo_level_of(argument);
    if (enable->level < 0)
      argp_error(state, "there is no level \"%s\"%s", argument, kymo_level_hint(argument).text);
    return 0;
  case ARGP_KEY_ARG:
    if (state->arg_num)
      take_pattern(enable, argument);
    else
      enable->pid = tool_take_process(argument, state);
    return 0;
  case ARGP_KEY_END:
    if (state->arg_num < 2 && enable->level < 0)
      argp_error(state, state->arg_num ? "which tracepoints?" : "of which process?");
    else if (!state->arg_num)
      argp_error(state, "of which process?");
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* A tracepoint with a name similar to a pattern that matches none. */
static struct kymo_hint point_hint(const struct enable *enable, const char *pattern) {
  struct kymo_points *points;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_nearest nearest = kymo_nearest_to(pattern);
  if (kymo_points_find(&points, enable->pid, &error))
    return kymo_nearest_hint(&nearest);
  for (size_t i = 0; i < kymo_points_count(points); i++)
    kymo_nearest_consider(&nearest, kymo_points_name(points, i));
  struct kymo_hint hint = kymo_nearest_hint(&nearest);
  kymo_points_free(points);
  return hint;
}

static int ask(const struct enable *enable, const char *verb) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  const char *patterns = enable->patterns.length ? enable->patterns.text : "*";
  uint64_t matched = 0;
  int status =
      kymo_points_switch(enable->pid, strcmp(verb, "enable") == 0, patterns, enable->level, &matched, &error);
  if (status)
    tool_say_error(&error);
  else if (!matched)
    tool_say("no tracepoint of process %d matches %s%s; libraries it loads later may have one", enable->pid,
             patterns, point_hint(enable, patterns).text);
  else
    printf("%" PRIu64 " tracepoint%s %sd\n", matched, matched == 1 ? "" : "s", verb);
  return status ? TOOL_FAILED : matched ? tool_close_output() : TOOL_DAMAGED;
}

static int run(int argc, char **argv, const char *verb, const char *doc) {
  const struct argp parser = {
      .options = options, .parser = parse, .args_doc = "PID|NAME PATTERN...", .doc = doc};
  struct enable enable = {.level = -1};
  tool_parse(&parser, argc, argv, 0, NULL, &enable);
  if (enable.patterns.failed) {
    tool_say("out of memory");
    return TOOL_FAILED;
  }
  int status = ask(&enable, verb);
  kymo_strbuf_free(&enable.patterns);
  return status;
}

#define PATTERNS                                                                                          \
  "\vA pattern is a name (net:rx), a glob (net:*), a group (net), or re:REGEX; a leading ! excludes. If " \
  "two commands match a tracepoint, the later one applies, also to libraries that are loaded afterwards."

static int run_enable(int argc, char **argv) {
  return run(argc, argv, "enable", "Switch on the matching tracepoints of a running process." PATTERNS);
}

static int run_disable(int argc, char **argv) {
  return run(argc, argv, "disable", "Switch off the matching tracepoints of a running process." PATTERNS);
}

const struct tool_command tool_enable = {
    .name = "enable",
    .summary = "switch on tracepoints of a running process",
    .run = run_enable,
};
const struct tool_command tool_disable = {
    .name = "disable",
    .summary = "switch off tracepoints of a running process",
    .run = run_disable,
};
