/* SPDX-License-Identifier: MIT */
#include "tool/fleet.h"
#include "base/fail.h"
#include "fleet/fleet.h"
#include "query/source.h"
#include "tool/select.h"

/* So that a batch can be made while another one is sent. */
#define JOBS 2

struct opening {
  struct tool_input *input;
  struct tool_selection *selection;
  bool is_opened;
  int status;
};

static bool wants_all(void *user, const struct kymo_event_class *class_) {
  (void)user;
  (void)class_;
  return true;
}

static bool wants_class(void *user, const char *name) { return tool_selection_wants(user, name); }

/* First, streams come one after another: what a stream's rows are does not depend on other streams. Then
 * spans are read in the order of time. All events are numbered, also those of classes that are not sent.
 * */
static int open_traces(void *user, struct kymo_trace **trace, struct kymo_error *error) {
  struct opening *opening = user;
  struct tool_input input = *opening->input;
  input.unmerged = !opening->is_opened;
  input.force_correlate |= opening->is_opened;
  input.quiet |= opening->is_opened;
  opening->status = tool_open(trace, &input);
  opening->is_opened = true;
  if (opening->status != TOOL_OK)
    return kymo_fail(error, KYMO_E_SYSTEM, "the traces cannot be opened again");
  if (input.events.count)
    kymo_trace_select_classes(*trace, wants_all, NULL);
  return KYMO_OK;
}

/* An option that would make other batches of the same trace, or NULL. */
static const char *find_part_option(const struct tool_input *input) {
  if (input->filter || input->filter_file)
    return "--filter";
  if (input->intersect)
    return "--stream-intersection";
  return input->begin ? "--begin" : input->end ? "--end" : NULL;
}

static int send(const struct tool_fleet *fleet, struct opening *opening) {
  struct query_opening how = {.open = open_traces, .user = opening};
  struct fleet_options options = {.url = fleet->url,
                                  .cluster = fleet->cluster,
                                  .jobs = fleet->jobs ? fleet->jobs : JOBS,
                                  .wants = opening->selection ? wants_class : NULL,
                                  .user = opening->selection};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct query_source *source;
  int status = query_source_new(&source, &how, &error);
  if (status < 0) {
    if (opening->status == TOOL_OK)
      tool_say_error(&error);
    return opening->status == TOOL_OK ? TOOL_FAILED : opening->status;
  }
  status = fleet_send(&options, source, &error);
  if (status < 0)
    tool_say_error(&error);
  int end = status == KYMO_E_USAGE ? TOOL_USAGE : status < 0 ? TOOL_FAILED : TOOL_OK;
  if (end == TOOL_OK)
    end = tool_end_trace(source->first->trace, fleet->input->quiet, TOOL_LOSSES_SAY);
  query_source_release(source);
  return end;
}

int tool_fleet_send(const struct tool_fleet *fleet) {
  const char *option = find_part_option(fleet->input);
  struct opening opening = {.input = fleet->input};
  if (option) {
    tool_say("%s: the format \"clickhouse\" takes whole traces; leave out events when you query", option);
    return TOOL_USAGE;
  }
  opening.selection = tool_selection_new(&fleet->input->events);
  int status = send(fleet, &opening);
  tool_selection_free(opening.selection);
  return status;
}
