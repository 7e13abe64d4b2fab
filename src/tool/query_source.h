/* SPDX-License-Identifier: MIT */
/* The traces of a command line as the source of tables: for kymo query, and for writing a database. */
#ifndef KYMO_TOOL_QUERY_SOURCE_H
#define KYMO_TOOL_QUERY_SOURCE_H

#include "query/source.h"
#include "tool/input.h"

struct tool_query_source {
  struct tool_input *input; /* set before tool_query_source_open */
  struct query_source *source;
  /* for opening */
  struct tool_selection *selection; /* --event, or NULL */
  bool is_opened;                   /* once */
  int open_status;
};

/* Opens the traces. Returns an exit status; reports the reason on failure. */
int tool_query_source_open(struct tool_query_source *traces);
/* Says what is damaged or lost where the traces were read; `rest` ends the lines of damage. Closes stdout.
 * Returns the final exit status, from the one so far. */
int tool_query_source_end(const struct tool_query_source *traces, const char *rest, int status);
void tool_query_source_free(struct tool_query_source *traces);

#endif
