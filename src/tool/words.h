/* SPDX-License-Identifier: MIT */
/* Words of the command line: the index in a list, and hints for misspelt ones (base/nearest.h). */
#ifndef KYMO_TOOL_WORDS_H
#define KYMO_TOOL_WORDS_H

#include "base/nearest.h"
#include "tool/tool.h"

/* The index of `word` in a list that ends in NULL, or -1. */
int tool_word(const char *word, const char *const *words);
/* " (did you mean "x"?)" of the nearest word of the list, or "". */
struct kymo_hint tool_word_hint(const char *word, const char *const *words);
/* The same for the rows of a table of the help. */
struct kymo_hint tool_row_hint(const char *word, tool_row_reader *read);

/*
 * Ends the program like argp if the command line has a long option that the parser, its children and argp do
 * not have, and suggests the nearest one: getopt, which argp uses for this, suggests nothing.
 */
void tool_check_options(const struct argp *parser, int argc, char **argv, bool in_order);

#endif
