/* SPDX-License-Identifier: MIT */
/*
 * Which tracepoints are on: a list of patterns, separated by commas.
 *
 *   net:rx      a name, or a glob (net:*, *:rx, app.trace.*)
 *   net         a group
 *   re:^net:r   an extended regular expression that matches somewhere in the name
 *   !net:tx     … but not these
 *
 * A tracepoint is on if some pattern matches it and no excluding one does. A list of only excluding ones
 * stands for everything else.
 */
#ifndef KYMO_RECORD_PATTERN_H
#define KYMO_RECORD_PATTERN_H

#include <stdbool.h>

struct kymo_patterns;

/* NULL if memory is short or a regular expression is wrong; *wrong then is why (static or inside the result
 * of none). */
struct kymo_patterns *kymo_patterns_new(const char *text, const char **wrong);
/* The same for a single pattern, in which a comma is nothing special. */
struct kymo_patterns *kymo_pattern_new(const char *text, const char **wrong);
void kymo_patterns_free(struct kymo_patterns *patterns);
bool kymo_patterns_match(const struct kymo_patterns *patterns, const char *name);

#endif
