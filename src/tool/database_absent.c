/* SPDX-License-Identifier: MIT */
/* kymo convert --to sqlite without SQLite. */
#include "tool/database.h"

const struct tool_row tool_database_row = {"sqlite", "a database (built without SQLite)"};

int tool_database_write(struct tool_input *input, const char *path) {
  (void)input;
  (void)path;
  tool_say("this kymo was built without SQLite: install libsqlite3-dev, and build it again");
  return TOOL_FAILED;
}
