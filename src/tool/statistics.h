/* SPDX-License-Identifier: MIT */
/* kymo stat KIND TRACE: statistics of traces. */
#ifndef KYMO_TOOL_STATISTICS_H
#define KYMO_TOOL_STATISTICS_H

#include "base/nearest.h"
#include <stdbool.h>

/* Whether a word is a kind of statistics. */
bool tool_is_statistics(const char *word);
/* The kind of statistics with the name most similar to a misspelt word (base/nearest.h). */
struct kymo_hint tool_statistics_hint(const char *word);
/* The help_filter of argp that lists the kinds. */
char *tool_statistics_help(int key, const char *text, void *input);
/* Runs "kymo stat" with a kind of statistics in argv[1]. Returns an exit status. */
int tool_statistics(int argc, char **argv);

#endif
