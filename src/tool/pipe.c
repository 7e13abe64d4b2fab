/* SPDX-License-Identifier: MIT */
#include "tool/pipe.h"
#include "schema/definition.h"
#include "tool/filter.h"
#include "tool/jobs_print.h"
#include "tool/jobs_write.h"
#include "tool/select.h"
#include "trace/plugin.h"
#include <signal.h>

struct flow {
  const struct tool_pipe *pipe;
  const struct kymo_sink *sink;
  struct kymo_trace *trace;
  struct kymo_sink_state *state;
  int handler_status; /* of losses and boundaries */
  struct kymo_error error;
};

static void on_loss(void *user, const struct kymo_loss *loss) {
  struct flow *flow = user;
  if (flow->handler_status >= 0)
    flow->handler_status = flow->sink->loss(flow->state, loss, &flow->error);
}

static void on_boundary(void *user, const struct kymo_boundary *boundary) {
  struct flow *flow = user;
  if (flow->handler_status >= 0)
    flow->handler_status = flow->sink->boundary(flow->state, boundary, &flow->error);
}

/* ---- following ---- */

/* The longest wait for an event that changes no file: a signal that arrives just before. */
#define WAIT_MS 250

static struct kymo_trace *followed; /* for the signal handler */

static void on_interrupt(int number) {
  (void)number;
  kymo_trace_stop_following(followed);
}

/* The first of these signals ends the following, after all complete events; the next one ends the command. */
static void begin_following(struct flow *flow) {
  struct sigaction action = {.sa_handler = on_interrupt,
                             .sa_flags =
                                 (int)SA_RESETHAND | SA_RESTART}; /* output in progress is completed */
  followed = flow->trace;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

static void on_growth(void *user) {
  struct flow *flow = user;
  if (flow->handler_status >= 0)
    flow->handler_status = flow->sink->grow(flow->state, &flow->error);
  tool_select(flow->trace, &flow->pipe->input.events, true);
}

static int wait_for_more(struct flow *flow) {
  int status = flow->sink->flush(flow->state, &flow->error);
  if (status >= 0)
    kymo_trace_wait(flow->trace, WAIT_MS);
  return status;
}

/* ---- flow ---- */

/* Passes events to the sink until the end; a negative status of the sink or the reader. *read_status is the
 * reader's. */
static int copy_events(struct flow *flow, int *read_status) {
  const struct kymo_event *event;
  for (;;) {
    *read_status = kymo_trace_next_filtered(flow->trace, &event, &flow->error);
    if (flow->handler_status < 0)
      return flow->handler_status;
    if (*read_status != KYMO_OK && *read_status != KYMO_AGAIN)
      return KYMO_OK;
    int status =
        *read_status == KYMO_OK ? flow->sink->event(flow->state, event, &flow->error) : wait_for_more(flow);
    if (status < 0)
      return status;
  }
}

static struct kymo_sink_options make_options(const struct tool_pipe *pipe) {
  return (struct kymo_sink_options){.size = sizeof(struct kymo_sink_options),
                                    .out = stdout,
                                    .color = pipe->color,
                                    .text = pipe->sink_options,
                                    .path = pipe->path,
                                    .paths = pipe->input.paths,
                                    .path_count = pipe->input.count};
}

/* A sink that writes files and has begun: by several jobs, if that is possible. */
static enum tool_jobs_result write_by_jobs(const struct flow *flow) {
  const struct tool_writing writing = {
      .trace = flow->trace, .sink = flow->sink, .state = flow->state, .jobs = flow->pipe->jobs};
  return flow->pipe->path ? tool_jobs_write(&writing) : TOOL_JOBS_NONE;
}

static int run_flow(struct flow *flow) {
  struct kymo_trace *trace = flow->trace;
  const struct tool_pipe *pipe = flow->pipe;
  const struct kymo_sink_options options = make_options(pipe);
  struct kymo_error end_error = {.offset = KYMO_ERROR_NO_OFFSET};
  int read_status = KYMO_END;
  int status = flow->sink->begin(&flow->state, trace, &options, &flow->error);
  kymo_trace_set_loss_handler(trace, flow->sink->loss ? on_loss : NULL, flow);
  kymo_trace_set_boundary_handler(trace, flow->sink->boundary ? on_boundary : NULL, flow);
  kymo_trace_set_growth_handler(trace, on_growth, flow);
  if (pipe->input.follow)
    begin_following(flow);
  enum tool_jobs_result result = status >= 0 ? write_by_jobs(flow) : TOOL_JOBS_NONE;
  if (status >= 0 && (result == TOOL_JOBS_NONE || result == TOOL_JOBS_UNDONE))
    status = copy_events(flow, &read_status);
  int end_status = flow->sink->end(flow->state, &end_error);
  if (status >= 0 && end_status < 0) {
    status = end_status;
    flow->error = end_error;
  }
  if (result == TOOL_JOBS_FAILED)
    return TOOL_FAILED;
  if (status < 0 && !flow->error.message[0])
    tool_say("the sink \"%s\" failed without a message: %s", flow->sink->name, kymo_status_text(status));
  else if (status < 0 || read_status < 0)
    tool_say_error(&flow->error);
  if (status < 0)
    return status == KYMO_E_USAGE ? TOOL_USAGE : TOOL_FAILED;
  return tool_status_of(read_status);
}

static bool is_defined(const struct kymo_trace *trace) {
  size_t count = kymo_trace_part_count(trace);
  for (size_t i = 0; i < count; i++) {
    const struct kymo_schema *schema = kymo_trace_part(trace, i)->schema;
    bool is = false;
    for (uint32_t k = 0; schema && k < schema->stream_count; k++)
      is |= kymo_has_definitions(schema->streams[k]);
    if (!is)
      return false;
  }
  return count > 0;
}

/* What follows these bytes is printed. */
static bool leave_out(FILE **stream, uint64_t bytes) {
  FILE *rest = tool_jobs_rest(*stream, bytes);
  if (rest)
    *stream = rest;
  return rest != NULL;
}

/* By several jobs, if that is possible, else by one, which begins from the start and leaves out what is
 * printed. */
static int run_jobs(struct flow *flow) {
  const struct kymo_sink_options options = make_options(flow->pipe);
  struct tool_printing printing = {
      .trace = flow->trace, .sink = flow->sink, .options = &options, .jobs = flow->pipe->jobs};
  enum tool_jobs_result result = flow->pipe->path ? TOOL_JOBS_NONE : tool_jobs_print(&printing);
  if (result == TOOL_JOBS_UNDONE &&
      (!leave_out(&stdout, printing.out_bytes) || !leave_out(&stderr, printing.err_bytes)))
    tool_end_without_memory();
  return result == TOOL_JOBS_DONE ? TOOL_OK : result == TOOL_JOBS_FAILED ? TOOL_FAILED : run_flow(flow);
}

/* The final exit status, from the current one. */
static int end_flow(const struct flow *flow, int status) {
  bool quiet = flow->pipe->input.quiet;
  if (status == TOOL_FAILED || status == TOOL_USAGE) {
    tool_print_damage(flow->trace, quiet);
    return status;
  }
  int end = tool_end_trace(flow->trace, quiet,
                           flow->sink->as_babeltrace2 ? TOOL_LOSSES_AS_BABELTRACE2 : TOOL_LOSSES_SAY);
  return status == TOOL_OK || end == TOOL_FAILED ? end : status;
}

static int run_pipe(const struct tool_pipe *pipe) {
  struct flow flow = {.pipe = pipe, .sink = pipe->sink, .error = {.offset = KYMO_ERROR_NO_OFFSET}};
  if (pipe->input.follow && !pipe->sink->grow) {
    tool_say("the %s \"%s\" cannot be %s while a trace grows", pipe->plugin ? "sink" : "format",
             pipe->sink->name, pipe->plugin ? "used" : "printed");
    return TOOL_USAGE;
  }
  int status = tool_open(&flow.trace, &pipe->input);
  if (status != TOOL_OK)
    return status;
  if (pipe->sink_of_definitions && is_defined(flow.trace))
    flow.sink = pipe->sink_of_definitions;
  size_t warnings = kymo_trace_warning_count(flow.trace);
  status = run_jobs(&flow);
  tool_print_warnings(flow.trace, warnings, pipe->input.quiet);
  tool_filter_print_counts(flow.trace, &pipe->input);
  int end = end_flow(&flow, status);
  kymo_trace_close(flow.trace);
  return end;
}

/* ---- plug-ins ---- */

void tool_pipe_set_plugin(struct tool_pipe *pipe, char *argument, struct argp_state *state) {
  char *options = kymo_plugin_split(argument);
  if (pipe->plugin)
    argp_error(state, "--sink is given once");
  if (!*argument)
    argp_error(state, "--sink is a file, FILE or FILE:OPTIONS");
  pipe->plugin = argument;
  pipe->sink_options = options && *options ? options : NULL;
}

/* Whether the plug-in fits the purpose of the command. */
static int check_plugin(const struct tool_pipe *pipe) {
  if (pipe->sink->makes_files == !!pipe->path)
    return TOOL_OK;
  if (pipe->path)
    tool_say("the sink %s writes no files: kymo cat --sink %s", pipe->plugin, pipe->plugin);
  else
    tool_say("the sink %s writes files: kymo convert --sink %s --output OUT", pipe->plugin, pipe->plugin);
  return TOOL_USAGE;
}

int tool_pipe(struct tool_pipe *pipe) {
  const struct kymo_sink *loaded = NULL;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  if (pipe->plugin && kymo_sink_load(&loaded, pipe->plugin, &error) != KYMO_OK) {
    tool_say_error(&error);
    return TOOL_FAILED;
  }
  if (loaded)
    pipe->sink = loaded;
  pipe->input.as_babeltrace2 = pipe->sink->as_babeltrace2;
  pipe->input.all_classes = pipe->sink->all_classes;
  pipe->input.unmerged = pipe->sink->unmerged;
  int status = loaded ? check_plugin(pipe) : TOOL_OK;
  if (status == TOOL_OK)
    status = run_pipe(pipe);
  kymo_sink_unload(loaded);
  return status;
}
