/* SPDX-License-Identifier: MIT */
/*
 * The command line of commands that read events, the same in all of them: which traces, and which of their
 * events.
 */
#ifndef KYMO_TOOL_INPUT_H
#define KYMO_TOOL_INPUT_H

#include "base/strbuf.h"
#include "tool/tool.h"
#include <argp.h>

/* Arguments of an option that may be given several times, borrowed from argv. */
struct tool_texts {
  const char **list;
  size_t count, capacity;
};

struct tool_input {
  const char **paths;
  size_t count;
  bool force_correlate;
  bool as_babeltrace2, unmerged, all_classes; /* see kymo_trace_options */
  const char *cpel_clock, *gist_header;       /* see kymo_trace_options */
  uint64_t gist_clock;
  const char *as;           /* the name of an installed description, or NULL */
  const char *key;          /* the file of a description by which the traces are read, or NULL */
  bool quiet;               /* print no warnings, and no list of damaged places */
  bool follow;              /* see kymo_trace_options … */
  const char *hold;         /* … and hold_ns, or NULL */
  bool is_gmt;              /* times without time zone are UTC, not local */
  const char *begin, *end;  /* the times of the first and last wanted event (see kymo/time.h), or NULL */
  bool intersect;           /* only the time range in which all streams have packets */
  char *range;              /* what begin and end point to, if they were given together */
  struct tool_texts events; /* patterns: which event classes; none: all */
  const char *filter, *filter_file;                  /* an expression, or a file with a filter; or NULL */
  struct tool_texts clock_offsets, clock_offsets_ns; /* "[PATH=]SECONDS", "[PATH=]NANOSECONDS" */
  bool may_be_none;                                  /* the command may be given no trace */
  struct kymo_error *why; /* NULL, or where the error goes that tool_open prints, if the library has one */
};

/* The options and arguments that fill a struct tool_input, which is the parser's input: a child of a
 * command's parser. */
extern const struct argp tool_input_options;

/* Opens the traces and moves to the first wanted event. Returns an exit status; reports the reason on
 * failure; then *trace is NULL. */
int tool_open(struct kymo_trace **trace, const struct tool_input *input);
/* Prints the warnings of a trace from a number on; tool_open has printed the earlier ones. */
void tool_print_warnings(const struct kymo_trace *trace, size_t from, bool quiet);
/* Adds a command that prints all events of the same traces, in the form of a shell; words are separated by
 * form feeds. */
void tool_input_command(struct kymo_strbuf *out, const struct tool_input *input);
/* Adds an option to such a command, unless its value is NULL. */
void tool_input_option(struct kymo_strbuf *out, const char *name, const char *value);
/* Frees the results of parsing the options. */
void tool_input_free(struct tool_input *input);

#endif
