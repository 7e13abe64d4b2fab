/* SPDX-License-Identifier: MIT */
#include "tool/window.h"
#include "trace/part.h"
#include <string.h>
#include <time.h>

static int parse_bound(struct tool_bound *bound, const char *option, const char *text,
                       const struct kymo_time_world *world) {
  struct kymo_time_mistake mistake;
  *bound = (struct tool_bound){.option = option, .text = text};
  if (!text || kymo_time_parse(&bound->time, text, world, &mistake))
    return TOOL_OK;
  if (mistake.length > 0)
    tool_say("%s %s: \"%.*s\": %s; %s", option, text, mistake.length, mistake.at, mistake.why,
             kymo_time_forms());
  else
    tool_say("%s %s: %s; %s", option, text, mistake.why, kymo_time_forms());
  return TOOL_USAGE;
}

int tool_window_parse(struct tool_window *window, const struct tool_input *input) {
  if (input->intersect && input->follow) {
    tool_say("--stream-intersection is for a complete trace, not for one that grows (--follow)");
    return TOOL_USAGE;
  }
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  struct kymo_time_world world = {.is_gmt = input->is_gmt,
                                  .now_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec};
  int status = parse_bound(&window->begin, "--begin", input->begin, &world);
  return status == TOOL_OK ? parse_bound(&window->end, "--end", input->end, &world) : status;
}

static bool is_relative(const struct tool_bound *bound) {
  return bound->text && kymo_time_is_relative(&bound->time);
}

static int resolve(struct tool_bound *bound, int64_t begin_ns, int64_t end_ns) {
  if (!bound->text || kymo_time_resolve(&bound->time, begin_ns, end_ns, &bound->ns))
    return TOOL_OK;
  tool_say("%s %s: too far from the times of the trace", bound->option, bound->text);
  return TOOL_USAGE;
}

static bool has_epoch(const struct kymo_trace *trace) {
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const struct kymo_schema *schema = kymo_trace_part(trace, i)->schema;
    for (uint32_t j = 0; j < schema->stream_count; j++)
      if (schema->streams[j]->clock && schema->streams[j]->clock->origin_is_epoch)
        return true;
  }
  return false;
}

/* 10s is ten seconds after the origin of the clock: for a clock that counts from 1970, +10s was probably
 * meant. */
static void warn_of_origin(const struct tool_bound *bound, struct kymo_trace *trace) {
  const char *text = bound->text;
  const int64_t month_ns = 30 * INT64_C(86400000000000);
  int64_t begin_ns, end_ns;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  bool is_suspicious = text && text[0] >= '0' && text[0] <= '9' && strchr("smhd", text[strlen(text) - 1]) &&
                       bound->ns < month_ns;
  if (is_suspicious && has_epoch(trace) && kymo_trace_range(trace, &begin_ns, &end_ns, &error) >= 0 &&
      begin_ns > month_ns)
    tool_say("%s %s is a time of January 1970; +%s counts from the begin of the trace, -%s from its end",
             bound->option, text, text, text);
}

/* Moves the trace to the later begin, and lets it stop at the earlier end. */
static int apply(const struct tool_window *window, struct kymo_trace *trace, int64_t begin_ns,
                 int64_t end_ns) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  if (window->begin.text && window->begin.ns > begin_ns)
    begin_ns = window->begin.ns;
  if (window->end.text && window->end.ns < end_ns)
    end_ns = window->end.ns;
  if (end_ns != INT64_MAX)
    kymo_trace_set_end_time(trace, end_ns);
  if (begin_ns != INT64_MIN || end_ns != INT64_MAX)
    kymo_trace_want_times(trace);
  if (begin_ns == INT64_MIN || kymo_trace_goto_time(trace, begin_ns, &error) >= 0)
    return TOOL_OK;
  tool_say_error(&error);
  return TOOL_FAILED;
}

int tool_window_apply(struct tool_window *window, struct kymo_trace *trace, bool intersect) {
  struct tool_bound *begin = &window->begin, *end = &window->end;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  int64_t begin_ns = 0, end_ns = 0;
  if ((is_relative(begin) || is_relative(end)) && kymo_trace_range(trace, &begin_ns, &end_ns, &error) < 0) {
    tool_say_error(&error);
    return TOOL_FAILED;
  }
  if (resolve(begin, begin_ns, end_ns) != TOOL_OK || resolve(end, begin_ns, end_ns) != TOOL_OK)
    return TOOL_USAGE;
  warn_of_origin(begin, trace);
  warn_of_origin(end, trace);
  if (begin->text && end->text && begin->ns > end->ns) {
    tool_say("--begin %s is later than --end %s", begin->text, end->text);
    return TOOL_USAGE;
  }
  int64_t first_ns = INT64_MIN, last_ns = INT64_MAX;
  if (intersect && kymo_trace_intersect(trace, &first_ns, &last_ns, &error) < 0) {
    tool_say_error(&error);
    return TOOL_FAILED;
  }
  return apply(window, trace, first_ns, last_ns);
}
