/* SPDX-License-Identifier: MIT */
/* kymo cat: prints the events of traces, merged by time. */
#include "tool/tool.h"
#include <argp.h>
#include <kymo/sink.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_COLOR = 256, OPTION_DATE, OPTION_FORCE };

struct cat {
  struct tool_input input;
  const struct kymo_sink *sink;
  const char *sink_options;
  bool color, quiet;
  /* while running */
  struct kymo_sink_state *state;
  int loss_status;
  struct kymo_error error;
};

/* ---- command line ---- */

static const struct argp_option options[] = {
    {"format", 'f', "FORMAT", 0, "Print as FORMAT (see below); text, if not given", 0},
    {"color", OPTION_COLOR, "WHEN", OPTION_ARG_OPTIONAL,
     "Colour: always, never, or auto: on a terminal unless "
     "NO_COLOR is set",
     0},
    {"date", OPTION_DATE, NULL, 0, "With the text format: the date in every line", 0},
    {"force-correlate", OPTION_FORCE, NULL, 0,
     "Merge traces by time even if their clocks have nothing in common", 0},
    {"quiet", 'q', NULL, 0, "Do not tell where the data is damaged; the exit status still does", 0},
    {0},
};

static bool wants_color(struct argp_state *state, const char *when) {
  if (!when || strcmp(when, "always") == 0)
    return true;
  if (strcmp(when, "never") == 0)
    return false;
  if (strcmp(when, "auto") != 0)
    argp_error(state, "--color is auto, always or never, not \"%s\"", when);
  const char *no_color = getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct cat *cat = state->input;
  switch (key) {
  case 'f':
    cat->sink = kymo_sink_find(argument);
    if (!cat->sink)
      argp_error(state, "there is no format \"%s\"", argument);
    return 0;
  case OPTION_COLOR: cat->color = wants_color(state, argument); return 0;
  case OPTION_DATE: cat->sink_options = "date"; return 0;
  case OPTION_FORCE: cat->input.force_correlate = true; return 0;
  case 'q': cat->quiet = true; return 0;
  case ARGP_KEY_INIT: cat->color = wants_color(state, "auto"); return 0;
  case ARGP_KEY_ARGS:
    cat->input.paths = (const char **)state->argv + state->next;
    cat->input.count = (size_t)(state->argc - state->next);
    return 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "which trace?"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* Appends the table of sinks to the help. */
static char *help_filter(int key, const char *text, void *input) {
  (void)input;
  if (key != ARGP_KEY_HELP_POST_DOC)
    return (char *)text;
  char *out = NULL;
  size_t size;
  FILE *stream = open_memstream(&out, &size);
  if (!stream)
    return (char *)text;
  fputs("Formats:\n", stream);
  for (const struct kymo_sink *const *sink = kymo_sinks(); *sink; sink++)
    fprintf(stream, "  %-12s %s\n", (*sink)->name, (*sink)->summary);
  fputs("\nDamaged places are told on the standard error stream, each in one line, after all sound events.\n",
        stream);
  fclose(stream);
  return out ? out : (char *)text;
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "TRACE...",
    .doc = "Print the events of traces, merged by time.\v",
    .help_filter = help_filter,
};

/* ---- work ---- */

static void on_loss(void *user, const struct kymo_loss *loss) {
  struct cat *cat = user;
  if (cat->loss_status >= 0 && cat->sink->loss)
    cat->loss_status = cat->sink->loss(cat->state, loss, &cat->error);
}

/* Events to the sink until the end; a negative status of the sink or the reader. *read_status is the
 * reader's. */
static int copy_events(struct cat *cat, struct kymo_trace *trace, int *read_status) {
  const struct kymo_event *event;
  for (;;) {
    *read_status = kymo_get_next(trace, &event, &cat->error);
    if (cat->loss_status < 0)
      return cat->loss_status;
    if (*read_status != KYMO_OK)
      return KYMO_OK;
    int status = cat->sink->event(cat->state, event, &cat->error);
    if (status < 0)
      return status;
  }
}

static int print_trace(struct cat *cat, struct kymo_trace *trace) {
  struct kymo_sink_options sink_options = {.size = sizeof(sink_options),
                                           .out = stdout,
                                           .color = cat->color,
                                           .text = cat->sink_options,
                                           .paths = cat->input.paths,
                                           .path_count = cat->input.count};
  struct kymo_error end_error = {.offset = KYMO_ERROR_NO_OFFSET};
  int read_status = KYMO_END;
  int status = cat->sink->begin(&cat->state, trace, &sink_options, &cat->error);
  kymo_set_loss_handler(trace, on_loss, cat);
  if (status >= 0)
    status = copy_events(cat, trace, &read_status);
  int end_status = cat->sink->end(cat->state, &end_error);
  if (status >= 0 && end_status < 0) {
    status = end_status;
    cat->error = end_error;
  }
  if (status < 0 || read_status < 0)
    tool_say_error(&cat->error);
  if (status < 0)
    return status == KYMO_E_USAGE ? TOOL_USAGE : TOOL_FAILED;
  return tool_status_of(read_status);
}

static int run(int argc, char **argv) {
  struct cat cat = {.sink = kymo_sink_find("text"), .error = {.offset = KYMO_ERROR_NO_OFFSET}};
  argp_parse(&parser, argc, argv, 0, NULL, &cat);
  cat.input.as_babeltrace2 = cat.sink->as_babeltrace2;
  struct kymo_trace *trace = tool_open(&cat.input);
  if (!trace)
    return TOOL_FAILED;
  int status = print_trace(&cat, trace);
  int damage = tool_tell_damage(trace, cat.quiet);
  kymo_close(trace);
  if (status == TOOL_FAILED || status == TOOL_USAGE)
    return status;
  int output = tool_close_output();
  if (output != TOOL_OK)
    return output;
  return status != TOOL_OK ? status : damage;
}

const struct tool_command tool_cat = {
    .name = "cat",
    .summary = "print the events of traces",
    .run = run,
};
