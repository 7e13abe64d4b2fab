/* SPDX-License-Identifier: MIT */
/* The filter of a command: an expression (--filter), or a file, as text or compiled. */
#ifndef KYMO_TOOL_FILTER_H
#define KYMO_TOOL_FILTER_H

#include "tool/input.h"
#include <kymo/filter.h>

/* Compiles an expression, or the file at `path`, for these schemas; a compiled filter is loaded. Prints
 * warnings unless `quiet`. Returns an exit status; reports the reason on failure; then *filter is NULL. */
int tool_filter_make(struct kymo_filter **filter, const char *expression, const char *path,
                     const struct kymo_filter_options *options);
/* Whether the input's filter is OVER ALL; false if it cannot be read, which is reported later. */
bool tool_filter_is_over_all(const struct tool_input *input);
/* True if the file's name is that of a filter (.fdl, .filter). */
bool tool_filter_is_name(const char *path);
/* Refuses the word after -f if it is the name of a filter (.fdl, .filter), which -f once took in some
 * commands, and suggests --filter-file. */
void tool_filter_refuse_letter(const char *word, struct argp_state *state);
/* Attaches the input's filter to the trace, if there is one. Returns an exit status; reports the reason on
 * failure. */
int tool_filter_attach(struct kymo_trace *trace, const struct tool_input *input);
/* Prints what the filter could not do, unless the input is quiet. */
void tool_filter_print_counts(const struct kymo_trace *trace, const struct tool_input *input);

#endif
