/* SPDX-License-Identifier: MIT */
#include "tool/query_source.h"
#include "base/fail.h"
#include "tool/filter.h"
#include "tool/select.h"
#include <inttypes.h>

/* The first opening prints warnings; later ones are for cursors that read at the same time. */
static int open_traces(void *user, struct kymo_trace **trace, struct kymo_error *error) {
  struct tool_query_source *traces = user;
  bool quiet = traces->input->quiet;
  traces->input->quiet |= traces->is_opened;
  traces->open_status = tool_open(trace, traces->input);
  traces->input->quiet = quiet;
  traces->is_opened = true;
  if (traces->open_status == TOOL_OK)
    return KYMO_OK;
  return kymo_fail(error, KYMO_E_SYSTEM, "the traces cannot be opened again");
}

static bool wants_class(void *user, const char *name) {
  const struct tool_query_source *traces = user;
  return tool_selection_wants(traces->selection, name);
}

int tool_query_source_open(struct tool_query_source *traces) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  traces->selection = tool_selection_new(&traces->input->events);
  struct query_opening opening = {.open = open_traces,
                                  .wants = traces->selection ? wants_class : NULL,
                                  .user = traces,
                                  .has_filter = traces->input->filter || traces->input->filter_file};
  if (query_source_new(&traces->source, &opening, &error) >= 0)
    return TOOL_OK;
  if (traces->open_status == TOOL_OK)
    tool_say_error(&error);
  return traces->open_status == TOOL_OK ? TOOL_FAILED : traces->open_status;
}

struct report {
  const char *rest;
  bool quiet;
};

static void print_damage(void *user, const struct kymo_damage *damage) {
  const struct report *report = user;
  char offset[40] = "", lost[48] = "";
  if (report->quiet)
    return;
  if (damage->offset != KYMO_ERROR_NO_OFFSET)
    snprintf(offset, sizeof offset, " byte %" PRIu64 ":", damage->offset);
  if (damage->bytes_lost)
    snprintf(lost, sizeof lost, " (%" PRIu64 " bytes skipped)", damage->bytes_lost);
  tool_say("%s:%s %s%s%s", damage->path ? damage->path : "", offset, damage->message, lost, report->rest);
}

int tool_query_source_end(const struct tool_query_source *traces, const char *rest, int status) {
  struct report report = {rest, traces->input->quiet};
  bool is_damaged = query_source_damage(traces->source, print_damage, &report) > 0;
  tool_filter_print_counts(traces->source->first->trace, traces->input);
  int output = tool_close_output();
  int lost = tool_print_losses(traces->source->losses, report.quiet);
  if (status != TOOL_OK || output != TOOL_OK)
    return status != TOOL_OK ? status : output;
  return is_damaged || lost != TOOL_OK ? TOOL_DAMAGED : TOOL_OK;
}

void tool_query_source_free(struct tool_query_source *traces) {
  query_source_release(traces->source);
  tool_selection_free(traces->selection);
}
