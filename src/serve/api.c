/* SPDX-License-Identifier: MIT */
/* The table of paths, and one request. */
#include "serve/api.h"
#include "base/fail.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* exact: an answer that is not of the trace as it is now would mislead. Pictures and rows are asked for again
 * when the index has changed, and tasks compare the trace themselves. */
static const struct route {
  const char *path;
  api_handler *answer;
  bool is_exact;
} routes[] = {
    {"state", api_state, false},         {"offers", api_offers, false},
    {"open", api_open, false},           {"reload", api_reload, false},
    {"quit", api_quit, false},           {"tracks", api_tracks, false},
    {"kinds", api_kinds, false},         {"fields", api_fields, false},
    {"schema", api_schema, false},       {"losses", api_losses, false},
    {"problems", api_problems, false},   {"tile", api_tile, false},
    {"spans", api_spans, false},         {"values", api_values, false},
    {"nearest", api_nearest, true},      {"spanat", api_span_at, true},
    {"event", api_event, false},         {"rows", api_rows, false},
    {"rowof", api_row_of, true},         {"rowat", api_row_at, true},
    {"search", api_search, true},        {"chase", api_chase, true},
    {"activity", api_activity, true},    {"selection", api_selection, false},
    {"anomaly", api_anomaly, false},     {"anomaly/next", api_anomaly_next, true},
    {"filter", api_filter_task, false},  {"latency", api_latency, false},
    {"histogram", api_histogram, false}, {"statistics", api_statistics, false},
    {"compare", api_compare, false},     {"trackby", api_track_by, false},
};

/* ---- errors ---- */

/* {"message":…,"column":…} */
static void put_error(struct kymo_json *json, const char *message, uint32_t column) {
  kymo_json_key(json, "error");
  kymo_json_begin(json, '{');
  api_put_text(json, "message", message);
  if (column)
    api_put_uint(json, "column", column);
  else
    api_put_null(json, "column");
  kymo_json_end(json, '}');
}

void api_put_task(struct kymo_json *json, const struct task *task) {
  static const char *const states[] = {"running", "done", "failed"};
  api_put_uint(json, "id", task->id);
  api_put_text(json, "state", states[task->state]);
  api_put_u64(json, "indexed", task->indexed);
  api_put_double(json, "done", task->state != TASK_RUNNING ? 1 : task->kind->progress(task->object));
  int64_t from_ns;
  if (task->state == TASK_DONE && task->kind->from(task->object, &from_ns))
    api_put_i64(json, "from", from_ns);
  else
    api_put_null(json, "from");
  api_put_text(json, "renewal", task->is_late ? task->late.message : NULL);
  if (task->state == TASK_FAILED)
    put_error(json, task->error.message, task->error.column);
  else
    api_put_null(json, "error");
}

/* ---- one request ---- */

unsigned api_status(int status) {
  switch (status) {
  case KYMO_OK:
  case KYMO_AGAIN:
  case KYMO_END: return API_OK;
  case VIEW_LATER: return API_STEP;
  case KYMO_E_USAGE:
  case KYMO_E_SYNTAX:
  case KYMO_E_TYPE:
  case KYMO_E_RANGE:
  case KYMO_E_LIMIT: return API_BAD;
  case KYMO_E_UNKNOWN:
  case KYMO_E_ABSENT: return API_ABSENT;
  default: return API_FAILED;
  }
}

bool api_filter(struct api_call *call, struct view_filter **filter) {
  uint32_t id;
  *filter = NULL;
  if (!query_text(call->query, "filter"))
    return true;
  if (!query_u32(call->query, "filter", UINT32_MAX, &id))
    return false;
  struct task *task = tasks_find(&call->api->tasks, &task_of_filters, id);
  if (!task) {
    kymo_fail(&call->error, KYMO_E_ABSENT, "there is no such filter any more: ask for it by its text again");
    return false;
  }
  if (task->state == TASK_FAILED) {
    call->error = task->error;
    return false;
  }
  *filter = task->object;
  return true;
}

bool api_filter_id(struct api_call *call, unsigned *id) {
  struct view_filter *filter;
  uint32_t number = 0;
  *id = 0;
  if (!api_filter(call, &filter))
    return false;
  if (filter)
    query_u32(call->query, "filter", UINT32_MAX, &number);
  *id = number;
  return true;
}

/* Renders what `put` writes as JSON; false: no memory. */
struct rendered {
  FILE *stream;
  char *text;
  size_t size;
  struct kymo_out out;
  struct kymo_json json;
};

static bool begin_json(struct rendered *rendered) {
  *rendered = (struct rendered){0};
  rendered->stream = open_memstream(&rendered->text, &rendered->size);
  if (!rendered->stream)
    return false;
  if (kymo_out_begin(&rendered->out, rendered->stream, NULL) != KYMO_OK) {
    fclose(rendered->stream);
    free(rendered->text);
    return false;
  }
  kymo_json_start(&rendered->json, &rendered->out);
  return true;
}

static bool end_json(struct rendered *rendered) {
  bool is_written = kymo_out_finish(&rendered->out, NULL) == KYMO_OK;
  /* without memory for the last of it, fclose succeeds, and there is no text */
  bool is_done = fclose(rendered->stream) == 0 && is_written && rendered->text;
  if (!is_done)
    free(rendered->text);
  return is_done;
}

static void reply_error(struct http_reply *reply, unsigned status, const char *message, uint32_t column) {
  struct rendered rendered;
  if (!begin_json(&rendered))
    return;
  kymo_json_begin(&rendered.json, '{');
  put_error(&rendered.json, message, column);
  kymo_json_end(&rendered.json, '}');
  if (end_json(&rendered))
    *reply = (struct http_reply){status, "application/json", rendered.text, rendered.size, false};
}

/* ---- requests, by steps ---- */

/* A request that was begun. */
struct asked {
  struct api_call call;
  struct query query;
  struct rendered rendered;
  const struct route *route;
  uint64_t epoch;
  int64_t cpu_us;
};

void *api_state_of(struct api_call *call, size_t size, void (*end)(void *state)) {
  if (!call->state) {
    call->state = calloc(1, size);
    call->end_state = end;
  }
  return call->state;
}

static uint64_t epoch_of(const struct api *api) {
  struct view_info info = {0};
  if (api->main.view)
    view_info(api->main.view, &info);
  return api->epoch + info.rebuilt;
}

static bool begin_call(struct api *api, struct asked *asked) {
  if (!begin_json(&asked->rendered))
    return false;
  asked->call = (struct api_call){
      .api = api, .view = api->main.view, .query = &asked->query, .json = &asked->rendered.json};
  asked->epoch = epoch_of(api);
  kymo_json_begin(asked->call.json, '{');
  return true;
}

/* True: there is a text, which is the caller's. */
static bool end_call(struct asked *asked) {
  struct api_call *call = &asked->call;
  if (call->state)
    call->end_state(call->state);
  call->state = NULL;
  kymo_json_end(call->json, '}');
  return end_json(&asked->rendered);
}

/* Adds the JSON to the bytes. False: no memory. */
static bool join_json(struct api_call *call, const char *text, size_t size) {
  size_t all = call->size + (size + 3) / 4 * 4 + 4;
  uint8_t *bytes = realloc(call->bytes, all);
  if (!bytes)
    return false;
  memset(bytes + call->size, 0, all - call->size);
  memcpy(bytes + call->size, text, size);
  for (unsigned i = 0; i < 4; i++)
    bytes[all - 4 + i] = (uint8_t)(size >> 8 * i);
  call->bytes = bytes;
  call->size = all;
  return true;
}

static void reply_to(struct asked *asked, unsigned status, struct http_reply *reply) {
  struct api_call *call = &asked->call;
  const struct query *query = &asked->query;
  char *text = end_call(asked) ? asked->rendered.text : NULL;
  if (text && call->bytes && call->has_json && !join_json(call, text, asked->rendered.size))
    status = API_FAILED;
  if (status >= API_BAD || !text) {
    free(call->bytes);
    free(text);
    if (*query->error)
      reply_error(reply, API_BAD, query->error, 0);
    else
      reply_error(reply, text ? status : API_FAILED,
                  *call->error.message ? call->error.message : "out of memory", call->error.column);
  } else if (call->bytes) {
    free(text);
    *reply = (struct http_reply){status, "application/octet-stream", call->bytes, call->size, false};
  } else {
    *reply = (struct http_reply){status, "application/json", text, asked->rendered.size, false};
  }
}

static int64_t cpu_now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* One step: the status. */
static unsigned step(struct api *api, struct asked *asked) {
  int64_t before_us = cpu_now_us();
  if (api->main.view)
    view_set_budget(api->main.view, api->step_us);
  unsigned status = asked->route->answer(&asked->call);
  if (asked->route->is_exact && status < API_BAD &&
      view_agree(asked->call.view, &asked->call.error) != KYMO_OK)
    status = API_FAILED;
  if (api->main.view)
    view_set_budget(api->main.view, 0);
  api->main.is_over = api->main.error.code < 0; /* the answer may have found that the index is wrong */
  asked->cpu_us += cpu_now_us() - before_us;
  if (status != API_STEP || asked->cpu_us <= api->cpu_us)
    return status;
  return api_status(kymo_fail(&asked->call.error, KYMO_E_LIMIT,
                              "expected a request of at most %lld s of CPU time: ask for less",
                              (long long)(api->cpu_us / 1000000)));
}

bool api_go_on(void *user, void *rest, struct http_reply *reply) {
  struct asked *asked = rest;
  struct api *api = user;
  unsigned status = API_STEP;
  if (reply && asked->epoch != epoch_of(api)) { /* what was done so far is of another index */
    if (end_call(asked))
      free(asked->rendered.text);
    if (!begin_call(api, asked))
      return free(asked), true;
  }
  if (reply)
    status = step(api, asked);
  if (reply && status == API_STEP)
    return false;
  if (reply)
    reply_to(asked, status, reply);
  else if (end_call(asked))
    free(asked->rendered.text);
  free(asked);
  return true;
}

/* Whether it answers also when nothing is shown. */
static bool needs_no_view(api_handler *answer) {
  return answer == api_state || answer == api_offers || answer == api_open || answer == api_quit;
}

static void call_route(struct api *api, const struct route *route, const char *query,
                       struct http_reply *reply, void **rest) {
  if (!api->main.view && !needs_no_view(route->answer)) {
    reply_error(reply, API_ABSENT, "no trace is open", 0);
    return;
  }
  struct asked *asked = calloc(1, sizeof *asked);
  if (!asked)
    return;
  asked->route = route;
  if (!query_parse(&asked->query, query)) {
    reply_error(reply, API_BAD, asked->query.error, 0);
    free(asked);
  } else if (!begin_call(api, asked)) {
    free(asked);
  } else if (!api_go_on(api, asked, reply)) {
    *rest = asked;
  }
}

static void answer_api(struct api *api, const char *path, size_t length, const char *query,
                       struct http_reply *reply, void **rest) {
  for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
    if (strlen(routes[i].path) == length && strncmp(routes[i].path, path, length) == 0) {
      call_route(api, &routes[i], query, reply, rest);
      return;
    }
  reply_error(reply, API_ABSENT, "there is no such path", 0);
}

static void answer_asset(const char *path, size_t length, struct http_reply *reply) {
  for (const struct serve_asset *asset = serve_assets; asset->path; asset++)
    if (strlen(asset->path) == length && strncmp(asset->path, path, length) == 0) {
      *reply = (struct http_reply){API_OK, asset->type, (void *)(uintptr_t)asset->bytes, asset->size, true};
      return;
    }
  reply_error(reply, API_ABSENT, "there is no such path", 0);
}

void api_answer(void *user, const char *target, bool has_token, struct http_reply *reply, void **rest) {
  static const char prefix[] = "/api/";
  size_t length = strcspn(target, "?"), skip = sizeof prefix - 1;
  const char *query = target[length] ? target + length + 1 : NULL;
  if (strncmp(target, prefix, skip) != 0)
    answer_asset(target, length, reply);
  else if (!has_token)
    reply_error(reply, 403, "expected the token of this run: open the address that kymo view has printed", 0);
  else
    answer_api(user, target + skip, length - skip, query, reply, rest);
}
