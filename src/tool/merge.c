/* SPDX-License-Identifier: MIT */
/* kymo merge: writes several traces as one. */
#include "tool/write.h"

static int run(int argc, char **argv) {
  return tool_write_run(argc, argv, "Write traces as one trace, with all events in the order of time.", true);
}

const struct tool_command tool_merge = {
    .name = "merge",
    .summary = "write several traces as one",
    .run = run,
};
