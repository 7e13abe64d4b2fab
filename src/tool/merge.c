/* SPDX-License-Identifier: MIT */
/* kymo merge: writes several traces as one. */
#include "tool/write.h"

static int run(int argc, char **argv) {
  return tool_write_run(argc, argv, "Write several traces as one trace; all events are in time order.", true);
}

const struct tool_command tool_merge = {
    .name = "merge",
    .summary = "write several traces as one",
    .run = run,
};
