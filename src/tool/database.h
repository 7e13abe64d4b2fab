/* SPDX-License-Identifier: MIT */
/* kymo convert --to sqlite: traces as a database file. Not a sink, since libkymo does not need SQLite. */
#ifndef KYMO_TOOL_DATABASE_H
#define KYMO_TOOL_DATABASE_H

#include "tool/input.h"

/* The row of the format in a help page. */
extern const struct tool_row tool_database_row;
/* Writes the traces to the file. Returns an exit status; reports the reason on failure. */
int tool_database_write(struct tool_input *input, const char *path);

#endif
