/* SPDX-License-Identifier: MIT */
/* The filter that a command is given: an expression (--filter), or a file, as text or compiled. */
#ifndef KYMO_TOOL_FILTER_H
#define KYMO_TOOL_FILTER_H

#include "tool/input.h"
#include <kymo/filter.h>

/* Compiles an expression, or the file at `path`, for these schemas; a compiled filter is loaded. Tells
 * warnings unless `quiet`. An exit status, after telling why not; *filter then is NULL. */
int tool_filter_make(struct kymo_filter **filter, const char *expression, const char *path,
                     const struct kymo_filter_options *options);
/* Whether the input's filter is OVER ALL; false if it cannot be read, which is told later. */
bool tool_filter_is_over_all(const struct tool_input *input);
/* True if the file's name says that it is a filter (.fdl, .filter). */
bool tool_filter_is_name(const char *path);
/* Refuses the word after -f if it names a filter (.fdl, .filter), which -f once meant in some commands, and
 * names --filter-file. */
void tool_filter_refuse_letter(const char *word, struct argp_state *state);
/* Attaches what the input says to the trace, if it says anything. An exit status, after telling why not. */
int tool_filter_attach(struct kymo_trace *trace, const struct tool_input *input);
/* Tells what the filter could not do, unless the input says to be quiet. */
void tool_filter_tell(const struct kymo_trace *trace, const struct tool_input *input);

#endif
