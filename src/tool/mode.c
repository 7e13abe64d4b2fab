/* SPDX-License-Identifier: MIT */
/* kymo mode: prints or changes what a running process does with full rings. */
#include "tool/rings.h"
#include "tool/words.h"
#include <argp.h>
#include <kymo/live.h>
#include <stdlib.h>
#include <string.h>

struct mode {
  int pid;
  const char *mode; /* NULL: print it */
};

static const char *const modes[] = {"overwrite", "discard", NULL};

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct mode *mode = state->input;
  switch (key) {
  case ARGP_KEY_ARG:
    if (state->arg_num == 0)
      mode->pid = tool_take_process(argument, state);
    if (state->arg_num == 1)
      mode->mode = argument;
    if (mode->mode && tool_word(mode->mode, modes) < 0)
      argp_error(state, "the mode is discard or overwrite, not \"%s\"%s", argument,
                 tool_word_hint(argument, modes).text);
    return state->arg_num < 2 ? 0 : ARGP_ERR_UNKNOWN;
  case ARGP_KEY_NO_ARGS: argp_error(state, "of which process?"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .parser = parse,
    .args_doc = "PID|NAME [overwrite|discard]",
    .doc = "Print, or change, what happens in a running process when a ring is full: old events are "
           "overwritten, "
           "or new ones "
           "are discarded and counted.\vA change applies from the next packet of each ring on.",
};

static int run(int argc, char **argv) {
  struct mode mode = {0};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  bool overwrites = false;
  tool_parse(&parser, argc, argv, 0, NULL, &mode);
  int status = mode.mode ? kymo_process_overwrite(mode.pid, strcmp(mode.mode, "overwrite") == 0, &error)
                         : kymo_process_overwrites(mode.pid, &overwrites, &error);
  if (status)
    tool_say_error(&error);
  else if (!mode.mode)
    puts(overwrites ? "overwrite" : "discard");
  return status ? TOOL_FAILED : tool_close_output();
}

const struct tool_command tool_mode = {
    .name = "mode",
    .summary = "print or change what a running process does with full rings",
    .run = run,
};
