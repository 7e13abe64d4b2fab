/* SPDX-License-Identifier: MIT */
#include "tool/database.h"
#include "query/save.h"
#include "tool/query_source.h"
#include <string.h>

const struct tool_row tool_database_row = {"sqlite", "a database: a table for each event class"};

int tool_database_write(struct tool_input *input, const char *path) {
  struct tool_query_source traces = {.input = input};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  if (strcmp(path, "-") == 0) {
    tool_say("a database is written to a file, not to the standard output: --output FILE");
    return TOOL_USAGE;
  }
  int status = tool_query_source_open(&traces);
  if (status == TOOL_OK && query_save(traces.source, path, &error) < 0) {
    tool_say_error(&error);
    status = TOOL_FAILED;
  }
  if (traces.source)
    status = tool_query_source_end(&traces, "", status);
  tool_query_source_free(&traces);
  return status;
}
