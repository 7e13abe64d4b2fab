/* SPDX-License-Identifier: MIT */
/* What there is: the state, tracks, kinds, fields, losses, problems. */
#include "serve/api.h"
#include <inttypes.h>
#include <kymo/info.h>

/* ---- state ---- */

static void put_files(struct api_call *call) {
  const struct serve_traces *traces = &call->api->traces;
  kymo_json_key(call->json, "files");
  kymo_json_begin(call->json, '[');
  for (size_t i = 0; traces->view && i < traces->file_count; i++)
    kymo_json_text(call->json, traces->view->paths[i]);
  kymo_json_end(call->json, ']');
}

static void put_start(struct api_call *call) {
  const struct serve_traces *traces = &call->api->traces;
  struct kymo_json *json = call->json;
  kymo_json_key(json, "start");
  kymo_json_begin(json, '{');
  api_put_text(json, "filter", traces->filter);
  if (traces->has_begin)
    api_put_i64(json, "begin", traces->begin_ns);
  else
    api_put_null(json, "begin");
  if (traces->has_end)
    api_put_i64(json, "end", traces->end_ns);
  else
    api_put_null(json, "end");
  kymo_json_key(json, "slew");
  kymo_json_begin(json, '[');
  for (size_t i = 0; i < traces->slew_count; i++) {
    kymo_json_begin(json, '{');
    api_put_text(json, "track", traces->slews[i].track);
    api_put_i64(json, "ns", traces->slews[i].ns);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
  kymo_json_end(json, '}');
}

/* What can be changed: whether traces are offered, and the clocks that are given. */
static void put_change(struct api_call *call) {
  const struct api *api = call->api;
  struct kymo_json *json = call->json;
  api_put_uint(json, "opened", api->opened);
  api_put_bool(json, "canChange", api->options->change);
  if (api->traces.gist_clock)
    api_put_u64(json, "gistClock", api->traces.gist_clock);
  else
    api_put_null(json, "gistClock");
  api_put_text(json, "cpelClock", api->traces.cpel_clock);
}

static size_t count_problems(const struct view *view) {
  struct view_problem problem;
  size_t count = 0;
  while (view && view_problem(view, count, &problem))
    count++;
  return count;
}

static void put_overwritten(struct api_call *call) {
  int64_t before_ns;
  if (call->view && view_overwritten(call->view, &before_ns))
    api_put_i64(call->json, "overwrittenBefore", before_ns);
  else
    api_put_null(call->json, "overwrittenBefore");
}

unsigned api_state(struct api_call *call) {
  static const char *const words[] = {[VIEW_BY_THREAD] = "thread",
                                      [VIEW_BY_CPU] = "cpu",
                                      [VIEW_BY_STREAM] = "stream",
                                      [VIEW_BY_EVENT] = "class",
                                      [VIEW_BY_FIELD] = "field"};
  const struct api *api = call->api;
  struct kymo_json *json = call->json;
  const struct kymo_error *error = &api->main.error;
  char text[2048];
  struct view_info info = {.has_times = true, .is_complete = true, .progress = 1};
  if (call->view) {
    view_agree(call->view, NULL); /* pictures alone would not notice another trace */
    view_info(call->view, &info);
  }
  api_put_text(json, "version", KYMO_VERSION);
  api_put_uint(json, "generation", api->generation);
  api_put_text(json, "title", api->traces.title);
  put_files(call);
  api_put_text(json, "command", api->traces.command);
  put_start(call);
  put_change(call);
  api_put_info(json, &info);
  api_put_bool(json, "isLive", api->main.options.is_live);
  put_overwritten(call);
  if (info.progress >= 0)
    api_put_double(json, "progress", info.progress);
  else
    api_put_null(json, "progress");
  api_put_uint(json, "problems", count_problems(call->view));
  api_put_text(json, "error",
               error->code < 0 ? kymo_error_text(error, text, sizeof text)
               : info.is_gone ? "the files of the trace are gone: pictures and counts are of what was indexed"
                              : NULL);
  api_put_text(json, "trackBy", words[api->main.options.by]);
  api_put_text(json, "field", api->main.options.field);
  kymo_json_key(json, "compare");
  if (api->other.view) {
    kymo_json_begin(json, '{');
    api_put_text(json, "title", api->options->other_title);
    kymo_json_end(json, '}');
  } else {
    kymo_json_null(json);
  }
  return API_OK;
}

/* ---- lists ---- */

unsigned api_tracks(struct api_call *call) {
  enum { MOST = 10000 };
  struct view_info info;
  uint32_t first = 0, count = 1000;
  if ((query_text(call->query, "first") && !query_u32(call->query, "first", UINT32_MAX - MOST, &first)) ||
      (query_text(call->query, "count") && !query_u32(call->query, "count", MOST, &count)))
    return API_BAD;
  view_info(call->view, &info);
  api_put_uint(call->json, "total", info.tracks);
  api_put_tracks(call->json, call->view, first, count);
  return API_OK;
}

unsigned api_kinds(struct api_call *call) {
  api_put_kinds(call->json, call->view);
  return API_OK;
}

unsigned api_fields(struct api_call *call) {
  struct kymo_json *json = call->json;
  const struct view_field *list;
  size_t count;
  int status = view_fields(call->view, &list, &count, &call->error);
  if (status != KYMO_OK)
    return api_status(status);
  kymo_json_key(json, "fields");
  kymo_json_begin(json, '[');
  for (size_t i = 0; i < count; i++) {
    kymo_json_begin(json, '{');
    api_put_text(json, "name", list[i].name);
    api_put_bool(json, "isNumeric", list[i].is_numeric);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
  return API_OK;
}

static void put_clocks(struct kymo_json *json, const struct kymo_trace *trace) {
  kymo_json_key(json, "clocks");
  kymo_json_begin(json, '[');
  for (size_t i = 0; i < kymo_trace_clock_count(trace); i++) {
    const struct kymo_clock *clock = kymo_trace_clock(trace, i);
    kymo_json_begin(json, '{');
    api_put_text(json, "name", clock->name);
    api_put_u64(json, "frequency", clock->frequency);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

/* How the messages of kinds of events are made. */
static void put_templates(struct kymo_json *json, const struct kymo_trace *trace) {
  enum { MOST = 10000 };
  uint32_t count = kymo_trace_class_count(trace), put = 0;
  kymo_json_key(json, "templates");
  kymo_json_begin(json, '[');
  for (uint32_t i = 0; i < count && put < MOST; i++) {
    const char *text = kymo_trace_class(trace, i)->template_text;
    if (!text || !*text)
      continue;
    put++;
    kymo_json_begin(json, '{');
    api_put_text(json, "name", kymo_trace_class_name(trace, i));
    api_put_text(json, "text", text);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

static void put_warnings(struct kymo_json *json, const struct kymo_trace *trace) {
  enum { MOST = 1000 };
  size_t count = kymo_trace_warning_count(trace);
  kymo_json_key(json, "warnings");
  kymo_json_begin(json, '[');
  for (size_t i = 0; i < count && i < MOST; i++) {
    const struct kymo_warning *warning = kymo_trace_warning(trace, i);
    kymo_json_begin(json, '{');
    api_put_text(json, "path", warning->path);
    if (warning->offset != KYMO_ERROR_NO_OFFSET)
      api_put_u64(json, "offset", warning->offset);
    else
      api_put_null(json, "offset");
    api_put_text(json, "message", warning->message);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

/* What opening the traces says of them: clocks, templates, warnings. */
unsigned api_schema(struct api_call *call) {
  const struct kymo_trace *trace = view_trace(call->view, &call->error);
  if (!trace)
    return API_FAILED;
  put_clocks(call->json, trace);
  put_templates(call->json, trace);
  put_warnings(call->json, trace);
  return API_OK;
}

unsigned api_losses(struct api_call *call) {
  api_put_losses(call->json, call->view);
  return API_OK;
}

unsigned api_problems(struct api_call *call) {
  api_put_problems(call->json, call->view);
  return API_OK;
}
