/* SPDX-License-Identifier: MIT */
/* The commands that write traces: they differ in whether several traces become one. */
#ifndef KYMO_TOOL_WRITE_H
#define KYMO_TOOL_WRITE_H

#include "tool/pipe.h"

/* Runs such a command: parses which traces are read (input.h), the output and its form, and writes it. `doc`:
 * the description for --help. Returns an exit status; reports the reason on failure. */
int tool_write_run(int argc, char **argv, const char *doc, bool is_merge);

#endif
