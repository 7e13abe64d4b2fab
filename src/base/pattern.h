/* SPDX-License-Identifier: MIT */
/*
 * Which tracepoints are on: a list of patterns, separated by commas.
 *
 *   net:rx      a name, or a glob (net:*, *:rx, app.trace.*)
 *   net         a group
 *   re:^net:r   a regular expression (base/regex.h) that matches somewhere in the name
 *   !net:tx     … but not these
 *
 * A tracepoint is on if some pattern matches it and no excluding one does. A list of only excluding patterns
 * matches everything else.
 */
#ifndef KYMO_BASE_PATTERN_H
#define KYMO_BASE_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

struct kymo_patterns;

/* The value of *wrong if there is no memory: exactly this pointer. */
extern const char kymo_patterns_no_memory[];

/* NULL if memory runs out, a pattern is invalid, or the list is too large; *wrong, which is static, is then
 * the reason. */
struct kymo_patterns *kymo_patterns_new(const char *text, const char **wrong);
/* The same for a single pattern, in which a comma is an ordinary character. */
struct kymo_patterns *kymo_pattern_new(const char *text, const char **wrong);
void kymo_patterns_free(struct kymo_patterns *patterns);
/* The number of instructions of all patterns, which determines their memory. */
uint32_t kymo_patterns_steps(const struct kymo_patterns *patterns);
/* Patterns cache results, so only one thread at a time may match. */
bool kymo_patterns_match(struct kymo_patterns *patterns, const char *name);

#endif
