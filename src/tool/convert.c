/* SPDX-License-Identifier: MIT */
/* kymo convert: writes traces in another format. */
#include "tool/write.h"

static int run(int argc, char **argv) {
  return tool_write_run(argc, argv,
                        "Write traces in another format. Streams, packets and losses are preserved.", false);
}

const struct tool_command tool_convert = {
    .name = "convert",
    .summary = "write traces in another format",
    .run = run,
};
