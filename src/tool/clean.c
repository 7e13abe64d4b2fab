/* SPDX-License-Identifier: MIT */
/* kymo clean: removes the rings that dead processes have left. */
#include "ring/places.h"
#include "tool/tool.h"
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static error_t parse(int key, char *argument, struct argp_state *state) {
  const char **base = state->input;
  if (key == ARGP_KEY_ARG && state->arg_num == 0) {
    *base = argument;
    return 0;
  }
  return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {
    .parser = parse,
    .args_doc = "[DIRECTORY]",
    .doc =
        "Remove the rings that dead processes have left in DIRECTORY, else in $KYMO_RINGS, else where "
        "programs put them.\v"
        "Save what is in them first, if it matters: kymo cat reads the directory of a dead process as it is.",
};

static int run(int argc, char **argv) {
  const char *asked = getenv("KYMO_RINGS");
  char base[KYMO_PATH_MAX];
  argp_parse(&parser, argc, argv, 0, NULL, &asked);
  if (!kymo_pool_base(base, asked)) {
    tool_say("%s: %s", asked ? asked : base, strerror(errno));
    return TOOL_FAILED;
  }
  size_t removed = kymo_pool_clean(base, NULL, 0);
  printf("removed the rings of %zu dead process%s from %s\n", removed, removed == 1 ? "" : "es", base);
  return tool_close_output();
}

const struct tool_command tool_clean = {
    .name = "clean",
    .summary = "remove the rings of dead processes",
    .run = run,
};
