/* SPDX-License-Identifier: MIT */
/* The commands that write traces, which differ in whether several become one. */
#ifndef KYMO_TOOL_WRITE_H
#define KYMO_TOOL_WRITE_H

#include "tool/pipe.h"

/* Runs such a command: parses what traces are read (input.h), where they are written to and how, and does it.
 * `doc`: what it does, for --help. An exit status. */
int tool_write_run(int argc, char **argv, const char *doc, bool is_merge);

#endif
