/* SPDX-License-Identifier: MIT */
/* Processes and rings by the words of the command line. */
#ifndef KYMO_TOOL_RINGS_H
#define KYMO_TOOL_RINGS_H

#include "base/nearest.h"
#include "ring/places.h"
#include <argp.h>
#include <stddef.h>

enum { TOOL_AGE_MAX = 24, TOOL_SIZE_MAX = 24 };

/*
 * The rings that a word of the command line names: `out` is the directory of the pool whose program has this
 * name, if there is exactly one. With `prefers_living`, of live processes if there are any. TOOL_OK;
 * TOOL_USAGE after listing several candidates; TOOL_FAILED without a message, if there are none: `hint` is
 * then a similar name.
 */
int tool_rings_named(char out[KYMO_PATH_MAX], const char *word, bool prefers_living, struct kymo_hint *hint);
/*
 * The process that a word of the command line names: its number, or the name of a program with exactly one
 * listening process. TOOL_OK; TOOL_USAGE after listing several candidates, TOOL_FAILED if there are none,
 * without a message and with a `hint`.
 */
int tool_process_named(int *pid, const char *word, struct kymo_hint *hint);
/* The same for a parser, which it ends with a message if there is no such process. */
int tool_take_process(const char *word, struct argp_state *state);
/* The argument of --ctf: whether it is 2, and an error of usage if it is neither 2 nor 1.8. */
bool tool_take_ctf2(const char *word, struct argp_state *state);
/* Whether a word can be a name: it is not a path, and no file except a program has that name. */
bool tool_rings_may_name(const char *word);

/* "3 min", "1.2 M" in columns of constant width. */
const char *tool_age_text(int64_t ns, char out[TOOL_AGE_MAX]);
const char *tool_size_text(uint64_t bytes, char out[TOOL_SIZE_MAX]);

#endif
