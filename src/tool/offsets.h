/* SPDX-License-Identifier: MIT */
/* Offsets of the times of traces on the command line: --clock-offset and --clock-offset-ns. */
#ifndef KYMO_TOOL_OFFSETS_H
#define KYMO_TOOL_OFFSETS_H

#include "tool/input.h"

/* One offset for each path of the input, for kymo_trace_options.path_offsets_ns, for the caller to free; NULL
 * if there are none. Returns an exit status; reports the reason on failure. */
int tool_offsets_make(int64_t **offsets_ns, const struct tool_input *input);

#endif
