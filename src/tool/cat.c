/* SPDX-License-Identifier: MIT */
/* kymo cat: prints the events of traces, merged by time. */
#include "base/strbuf.h"
#include "tool/filter.h"
#include "tool/jobs.h"
#include "tool/pipe.h"
#include "tool/raw.h"
#include "tool/words.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_COLOR = 256, OPTION_GMT, OPTION_HOLD, OPTION_SINK, OPTION_RECORDS, OPTION_JOBS, OPTION_FLAG };

struct cat {
  struct tool_pipe pipe;
  struct kymo_strbuf sink_options;
  const char *records; /* a plug-in that finds them, or NULL */
};

static const struct argp_option options[] = {
    {"format", 'f', "FORMAT", 0,
     "Print as FORMAT (see below), or as FORMAT:OPTION,… with its options; if not given, generic for "
     "streams that define their events, else text",
     0},
    {"sink", OPTION_SINK, "FILE", 0,
     "Pass the events to the sink of this shared object (docs/sinks.md), or to FILE:OPTIONS", 0},
    {"records", OPTION_RECORDS, "FILE.so[:OPTIONS]", 0,
     "Print records of files that only a plug-in knows, as bytes; it finds and orders them; see "
     "<kymo/records.h>",
     0},
    {"follow", 'F', NULL, 0,
     "Go on after the last event, with events that are still being written, until interrupted", 0},
    {"hold", OPTION_HOLD, "SECONDS", 0,
     "When following: how long events wait for streams that may still deliver earlier ones "
     "(default: 1s for files)",
     0},
    {"jobs", OPTION_JOBS, "COUNT", 0,
     "How many processes read the trace (default: one; for 64 MiB of packets or more, printed to a file, "
     "one for each processor). The output is the same",
     0},
    {"color", OPTION_COLOR, "WHEN", OPTION_ARG_OPTIONAL,
     "Colour: always, never, or auto: on a terminal unless "
     "NO_COLOR is set",
     0},
    {0, 0, NULL, 0, "What lines hold, in the formats text and babeltrace2:", 1},
    {"fields", OPTION_FLAG, "LIST", 0,
     "Show for each event: trace, trace:hostname, trace:domain, trace:procname, trace:vpid, loglevel, emf, "
     "all or none",
     1},
    {"names", OPTION_FLAG + 1, "LIST", 0,
     "Show names of values: payload, context, scope, header, all or none", 1},
    {"no-delta", OPTION_FLAG + 2, NULL, 0, "Leave out the time since the previous event", 1},
    {"clock-cycles", OPTION_FLAG + 3, NULL, 0, "Show times as values of the clock", 1},
    {"clock-date", OPTION_FLAG + 4, NULL, 0, "Show the date in every line", 1},
    {"clock-gmt", OPTION_GMT, NULL, 0, "Show times in UTC, and read those of --begin and --end as UTC", 1},
    {"clock-seconds", OPTION_FLAG + 5, NULL, 0, "Show times in seconds from the clock's origin", 1},
    {0},
};

/* The sinks' names for them, by the number added to OPTION_FLAG. */
static const char *const flags[] = {"fields=",      "names=",     "no-delta",
                                    "clock-cycles", "clock-date", "clock-seconds"};

static bool wants_color(struct argp_state *state, const char *when) {
  static const char *const whens[] = {"auto", "always", "never", NULL};
  if (!when || strcmp(when, "always") == 0)
    return true;
  if (strcmp(when, "never") == 0)
    return false;
  if (strcmp(when, "auto") != 0)
    argp_error(state, "--color is auto, always or never, not \"%s\"%s", when,
               tool_word_hint(when, whens).text);
  const char *no_color = getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

/* The sink's own options are joined into one text, where lists use plus signs instead of commas. */
static void add_options(struct cat *cat, const char *text, const char *list) {
  struct kymo_strbuf *all = &cat->sink_options;
  kymo_strbuf_puts(all, all->length > 0 ? "," : "");
  kymo_strbuf_puts(all, text);
  for (; list && *list; list++)
    kymo_strbuf_add(all, *list == ',' ? "+" : list, 1);
}

/* The sinks that print. */
static bool list_format(size_t index, struct tool_row *row) {
  const struct kymo_sink *sink = kymo_sink_list()[index];
  if (sink && !sink->makes_files)
    *row = (struct tool_row){sink->name, sink->summary};
  return sink != NULL;
}

/* NAME or NAME:OPTIONS. */
static void set_format(struct cat *cat, struct argp_state *state, char *name) {
  tool_filter_refuse_letter(name, state);
  char *options_text = strchr(name, ':');
  if (options_text) {
    *options_text++ = 0;
    add_options(cat, options_text, NULL);
  }
  cat->pipe.sink = kymo_sink_find(name);
  if (!cat->pipe.sink)
    argp_error(state, "there is no format \"%s\"%s", name, tool_row_hint(name, list_format).text);
  else if (cat->pipe.sink->makes_files)
    argp_error(state, "the format \"%s\" makes files: kymo convert --to %s", name, name);
}

/* The sink that receives the events. Options for lines are for kymo's own formats. */
static void choose(struct cat *cat, struct argp_state *state) {
  struct tool_pipe *pipe = &cat->pipe;
  if (!pipe->plugin) {
    if (!pipe->sink && !cat->sink_options.length) /* those are about the lines of text */
      pipe->sink_of_definitions = kymo_sink_find("generic");
    pipe->sink = pipe->sink ? pipe->sink : kymo_sink_find("text");
    pipe->sink_options = cat->sink_options.text;
    if (pipe->color && pipe->sink == kymo_sink_find("text"))
      tool_allow_colors();
  } else if (pipe->sink) {
    argp_error(state, "--format and --sink both choose where the events go; use one");
  } else if (cat->sink_options.length > 0) {
    argp_error(state, "--%s is for formats: the options of a sink follow its file, --sink FILE:OPTIONS",
               cat->sink_options.text);
  }
}

/* Records are shown as bytes, so other options have no effect. */
static void check_records(const struct cat *cat, struct argp_state *state) {
  const struct tool_pipe *pipe = &cat->pipe;
  const char *given = tool_raw_event_option(&pipe->input);
  if (pipe->input.key || pipe->input.as)
    argp_error(state, "--records and --%s both define the records; use one", pipe->input.key ? "key" : "as");
  else if (pipe->sink || pipe->plugin || cat->sink_options.length > 0 || given)
    argp_error(state, "--records shows the bytes of records; --%s is for events",
               pipe->sink     ? "format"
               : pipe->plugin ? "sink"
               : given        ? given
                              : cat->sink_options.text);
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct cat *cat = state->input;
  switch (key) {
  case 'f': set_format(cat, state, argument); return 0;
  case OPTION_SINK: tool_pipe_set_plugin(&cat->pipe, argument, state); return 0;
  case OPTION_RECORDS: cat->records = argument; return 0;
  case OPTION_COLOR: cat->pipe.color = wants_color(state, argument); return 0;
  case OPTION_GMT:
    cat->pipe.input.is_gmt = true;
    add_options(cat, "clock-gmt", NULL);
    return 0;
  case 'F': cat->pipe.input.follow = true; return 0;
  case OPTION_JOBS: cat->pipe.jobs = tool_jobs_parse(argument, state); return 0;
  case OPTION_HOLD: cat->pipe.input.hold = argument; return 0;
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &cat->pipe.input;
    cat->pipe.color = wants_color(state, "auto");
    return 0;
  case ARGP_KEY_END:
    if (cat->records)
      check_records(cat, state);
    else
      choose(cat, state);
    return 0;
  default:
    if (key < OPTION_FLAG || key >= OPTION_FLAG + (int)(sizeof flags / sizeof flags[0]))
      return ARGP_ERR_UNKNOWN;
    add_options(cat, flags[key - OPTION_FLAG], argument);
    return 0;
  }
}

static char *help_filter(int key, const char *text, void *input) {
  (void)input;
  return tool_help_table(key, text, "Formats:", list_format);
}

static const struct argp_child children[] = {{&tool_input_options, 0, NULL, 0}, {0}};

static const struct argp parser = {
    .children = children,
    .options = options,
    .parser = parse,
    .args_doc = "TRACE...",
    .doc = "Print the events of traces, merged by time.\vDamaged places are reported on standard error, "
           "each on one line, "
           "after all readable events.",
    .help_filter = help_filter,
};

static int run(int argc, char **argv) {
  struct cat cat = {0};
  tool_parse(&parser, argc, argv, 0, NULL, &cat);
  int status = cat.records ? tool_raw_show(cat.records, &cat.pipe.input) : tool_pipe(&cat.pipe);
  tool_input_free(&cat.pipe.input);
  kymo_strbuf_free(&cat.sink_options);
  return status;
}

const struct tool_command tool_cat = {
    .name = "cat",
    .summary = "print the events of traces",
    .run = run,
};
