/* SPDX-License-Identifier: MIT */
/* kymo query without SQLite. */
#include "tool/tool.h"

static int run(int argc, char **argv) {
  (void)argc;
  (void)argv;
  tool_say("this kymo was built without SQLite: install libsqlite3-dev, and build it again");
  return TOOL_FAILED;
}

const struct tool_command tool_query = {
    .name = "query",
    .summary = "answer questions in SQL about traces (built without SQLite)",
    .run = run,
};
