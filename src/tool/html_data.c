/* SPDX-License-Identifier: MIT */
#include "tool/html_data.h"
#include "base/fail.h"
#include "serve/json.h"
#include "stat/pairs.h"
#include "tool/tool.h"
#include "view/event_text.h"
#include <kymo/filter.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_EVENTS = 1 << 20 };

/* ---- reading ---- */

static int count_events(struct html_data *data, struct kymo_error *error) {
  const struct kymo_event *event;
  struct kymo_trace *trace;
  int status = data->options->open(data->options->user, false, &trace, error);
  if (status != KYMO_OK)
    return status;
  while ((status = kymo_trace_next_filtered(trace, &event, error)) == KYMO_OK)
    data->events += event->number != 0; /* what an activity adds has no place on a track */
  kymo_trace_close(trace);
  return status == KYMO_END ? KYMO_OK : status;
}

/* Those that have ended: of others there is at most one on each lane. */
static uint64_t count_spans(const struct view *view) {
  struct view_track_info track;
  uint64_t spans = 0;
  for (uint32_t i = 0; view_track(view, i, &track); i++)
    spans += track.spans;
  return spans;
}

/* A list of the view is shorter than its count only if memory has run out, or if it is as long as it may
 * be. */
static bool has_losses(const struct view *view) {
  struct view_info info;
  size_t count;
  view_info(view, &info);
  view_losses(view, &count);
  return count == info.losses || count == VIEW_LOSSES_MAX;
}

int html_data_begin(struct html_data *data, struct kymo_error *error) {
  int status = view_open(&data->view, data->options, error);
  while (status == KYMO_OK)
    status = view_build_step(data->view, STEP_EVENTS, error);
  if (status >= 0 && !has_losses(data->view))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status >= 0)
    status = count_events(data, error);
  if (status >= 0)
    data->spans = count_spans(data->view);
  return status == KYMO_OK ? data->options->open(data->options->user, false, &data->trace, error) : status;
}

void html_data_end(struct html_data *data) {
  kymo_trace_close(data->trace);
  view_close(data->view);
}

/* ---- one event ---- */

struct event_writer {
  struct kymo_json *json;
  struct kymo_trace *trace;
  struct kymo_strbuf field, text;
};

static bool put_field(void *user, const char *path, const char *text) {
  struct kymo_json *json = user;
  kymo_json_begin(json, '[');
  kymo_json_text(json, path);
  kymo_json_text(json, text);
  kymo_json_end(json, ']');
  return true;
}

/* Fields of packets are left out: they would be most of the file. KYMO_OK, KYMO_E_MEMORY. */
static int put_event(struct event_writer *writer, const struct kymo_event *event,
                     const struct view_mark *mark) {
  struct kymo_json *json = writer->json;
  if (view_event_text(writer->trace, event, &writer->field, &writer->text) != KYMO_OK)
    return KYMO_E_MEMORY;
  kymo_json_begin(json, '{');
  api_put_u64(json, "number", kymo_event_number(event)); /* as kymo cat counts in the window */
  api_put_i64(json, "time", mark->time_ns);
  api_put_uint(json, "track", mark->track);
  api_put_uint(json, "kind", mark->kind);
  api_put_text(json, "text", writer->text.length ? writer->text.text : "");
  kymo_json_key(json, "fields");
  kymo_json_begin(json, '[');
  int status = view_each_field(writer->trace, event, VIEW_FIELDS_OF_EVENT, &writer->field, put_field, json);
  kymo_json_end(json, ']');
  kymo_json_end(json, '}');
  return status;
}

static int put_events(const struct html_data *data, struct kymo_json *json) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct event_writer writer = {.json = json, .trace = data->trace};
  const struct kymo_event *event;
  struct view_mark mark;
  uint64_t count = 0;
  int status = KYMO_OK;
  kymo_json_key(json, "events");
  kymo_json_begin(json, '[');
  while (status == KYMO_OK && (status = kymo_trace_next_filtered(data->trace, &event, &error)) == KYMO_OK)
    if (event->number != 0 && view_find(data->view, event->number, &mark)) {
      if (put_event(&writer, event, &mark) != KYMO_OK)
        status = kymo_fail(&error, KYMO_E_MEMORY, "out of memory");
      count++;
    }
  kymo_json_end(json, ']');
  if (status >= 0 && count > HTML_EVENTS_MAX)
    status = kymo_fail(&error, KYMO_E_LIMIT, "the traces have grown meanwhile");
  if (status < 0)
    tool_say_error(&error);
  kymo_strbuf_free(&writer.field);
  kymo_strbuf_free(&writer.text);
  return status == KYMO_END ? KYMO_OK : status;
}

/* ---- all ---- */

static void put_spans(const struct html_data *data, struct kymo_json *json) {
  struct view_track_info track;
  struct view_span span;
  kymo_json_key(json, "spans");
  kymo_json_begin(json, '[');
  for (uint32_t i = 0; view_track(data->view, i, &track); i++)
    for (uint32_t lane = 0; lane < track.lanes; lane++)
      for (uint64_t k = 0; view_span(data->view, i, lane, k, &span); k++) {
        kymo_json_begin(json, '{');
        api_put_uint(json, "track", i);
        api_put_uint(json, "lane", lane);
        api_put_i64(json, "begin", span.begin_ns);
        api_put_u64(json, "duration", span.duration_ns);
        api_put_uint(json, "kind", span.kind);
        api_put_bool(json, "isOpen", span.is_open);
        kymo_json_end(json, '}');
      }
  kymo_json_end(json, ']');
}

static void put_state(const struct html_data *data, struct kymo_json *json) {
  struct view_problem problem;
  struct view_info info;
  size_t problems = 0;
  while (view_problem(data->view, problems, &problem))
    problems++;
  view_info(data->view, &info);
  api_put_text(json, "version", KYMO_VERSION);
  api_put_uint(json, "generation", 1);
  api_put_text(json, "title", data->title);
  kymo_json_key(json, "files");
  kymo_json_begin(json, '[');
  for (size_t i = 0; i < data->file_count; i++)
    kymo_json_text(json, data->options->paths[i]);
  kymo_json_end(json, ']');
  api_put_text(json, "command", data->command);
  api_put_info(json, &info);
  api_put_bool(json, "isLive", false);
  api_put_uint(json, "progress", 1);
  api_put_uint(json, "problems", problems);
  api_put_null(json, "error");
  api_put_null(json, "compare");
}

static int put_all(const struct html_data *data, struct kymo_json *json) {
  kymo_json_begin(json, '{');
  kymo_json_key(json, "state");
  kymo_json_begin(json, '{');
  put_state(data, json);
  kymo_json_end(json, '}');
  api_put_tracks(json, data->view, 0, VIEW_TRACKS_MAX);
  api_put_kinds(json, data->view);
  api_put_losses(json, data->view);
  api_put_problems(json, data->view);
  put_spans(data, json);
  int status = put_events(data, json);
  kymo_json_end(json, '}');
  return status;
}

/* Inside of a page no text may look like the end of the script: '<' is a character of strings alone, and is
 * written in another form there. */
static ssize_t write_escaped(void *cookie, const char *bytes, size_t size) {
  for (const char *at = bytes, *end = bytes + size, *next; at < end; at = next) {
    next = memchr(at, '<', (size_t)(end - at));
    size_t length = (size_t)((next ? next : end) - at);
    if (fwrite(at, 1, length, cookie) != length || (next && fputs("\\u003c", cookie) < 0))
      return -1;
    next = next ? next + 1 : end;
  }
  return (ssize_t)size;
}

int html_data_write(const struct html_data *data, FILE *file) {
  struct kymo_out out;
  struct kymo_json json;
  FILE *escaped = fopencookie(file, "w", (cookie_io_functions_t){.write = write_escaped});
  if (!escaped || kymo_out_begin(&out, escaped, NULL) != KYMO_OK) {
    if (escaped)
      fclose(escaped);
    tool_say("out of memory");
    return KYMO_E_MEMORY;
  }
  kymo_json_start(&json, &out);
  int status = put_all(data, &json);
  kymo_out_finish(&out, NULL);
  fclose(escaped);
  return status;
}
