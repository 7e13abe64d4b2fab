/* SPDX-License-Identifier: MIT */
/* Records as bytes on the command line (src/records/records.h): kymo merge --by, --records, kymo cat
 * --records. */
#ifndef KYMO_TOOL_RAW_H
#define KYMO_TOOL_RAW_H

#include "tool/input.h"

/* How records are found and ordered: one of both. */
struct tool_raw {
  const char *by;      /* "sec,usec", "time", "sequence" or NULL */
  const char *records; /* a plug-in, or NULL */
};

/* Merges into the file at `path`. Returns an exit status; the reason of a failure is printed. */
int tool_raw_merge(const struct tool_raw *raw, const struct tool_input *input, const char *path);
/* Prints the records that a plug-in finds as lines on the standard output. Returns an exit status
 * likewise. */
int tool_raw_show(const char *plugin, const struct tool_input *input);
/* An option that was given and is for events, without its dashes; or NULL. */
const char *tool_raw_event_option(const struct tool_input *input);

#endif
