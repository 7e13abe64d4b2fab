/* SPDX-License-Identifier: MIT */
/* What is in a window, and which events are far from the mean of their tracks. */
#include "serve/api.h"
#include "base/fail.h"
#include <stdlib.h>

/* ---- selections ---- */

enum { WORD_BEGIN = 0, WORD_END = 1, WORD_SLEWS = 2 };

int64_t *api_read_slews(const char *text, uint32_t tracks, uint32_t *count) {
  int64_t *slews = text ? calloc(tracks + 1u, sizeof *slews) : NULL;
  *count = slews ? tracks : 0;
  for (char *at = (char *)(uintptr_t)text; slews && *at; at += *at == ',') {
    unsigned long track = strtoul(at, &at, 10);
    int64_t slew_ns = strtoll(at + 1, &at, 10);
    if (track < tracks)
      slews[track] = slew_ns;
  }
  return slews;
}

static int begin_selection(void **object, struct view *view, const struct task_query *query,
                           struct view_filter *filter, struct kymo_error *error) {
  struct view_selection_query wanted = {.begin_ns = strtoll(query->words[WORD_BEGIN], NULL, 10),
                                        .end_ns = strtoll(query->words[WORD_END], NULL, 10),
                                        .filter = filter};
  struct view_info info;
  struct view_selection *made;
  view_info(view, &info);
  int64_t *slews = api_read_slews(query->words[WORD_SLEWS], info.tracks, &wanted.slew_count);
  wanted.slews = slews;
  if (query->words[WORD_SLEWS] && !slews)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = view_selection_new(&made, view, &wanted, error);
  free(slews);
  *object = made;
  return status;
}
static int step_selection(void *object, uint64_t events, struct kymo_error *error) {
  return view_selection_step(object, events, error);
}
static double look_at_selection(const void *object) { return view_selection_progress(object); }
static bool from_of_selection(const void *object, int64_t *from_ns) {
  return view_selection_from(object, from_ns);
}
static void end_selection(void *object) { view_selection_free(object); }
const struct task_kind task_of_selections = {.begin = begin_selection,
                                             .step = step_selection,
                                             .progress = look_at_selection,
                                             .end = end_selection,
                                             .from = from_of_selection};

/* Those that have events, as [{"track":0,"events":"5"}]. */
static void put_counts(struct kymo_json *json, const char *list, const char *name, const uint64_t *counts,
                       uint32_t count) {
  kymo_json_key(json, list);
  kymo_json_begin(json, '[');
  for (uint32_t i = 0; i < count; i++) {
    if (!counts[i])
      continue;
    kymo_json_begin(json, '{');
    api_put_uint(json, name, i);
    api_put_u64(json, "events", counts[i]);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

unsigned api_selection(struct api_call *call) {
  struct query *query = call->query;
  struct kymo_json *json = call->json;
  struct task_query wanted = {
      .words = {query_text(query, "begin"), query_text(query, "end"), query_text(query, "slew")}};
  uint32_t tracks[API_TRACKS_MAX];
  int64_t slews[API_TRACKS_MAX];
  size_t count;
  struct view_selection_result result;
  int64_t begin_ns, end_ns;
  if (!query_i64(query, "begin", &begin_ns) || !query_i64(query, "end", &end_ns) ||
      !query_offsets(query, "slew", tracks, slews, API_TRACKS_MAX, &count))
    return API_BAD;
  if (!api_filter_id(call, &wanted.filter))
    return API_ABSENT;
  const struct task *task = tasks_ask(&call->api->tasks, &task_of_selections, &wanted, &call->error);
  if (!task)
    return api_status(call->error.code);
  api_put_task(json, task);
  view_selection_result(task->object, &result);
  api_put_u64(json, "events", result.events);
  put_counts(json, "tracks", "track", result.tracks, result.track_count);
  put_counts(json, "kinds", "kind", result.kinds, result.kind_count);
  api_put_statistics(json, result.spans, result.span_count);
  return API_OK;
}

/* ---- anomalies ---- */

enum { WORD_KIND = 0, WORD_FIELD = 1, WORD_THRESHOLD = 2, WORD_SIDES = 3 };

static int begin_anomaly(void **object, struct view *view, const struct task_query *query,
                         struct view_filter *filter, struct kymo_error *error) {
  const struct view_anomaly_query wanted = {query->words[WORD_KIND], query->words[WORD_FIELD],
                                            strtod(query->words[WORD_THRESHOLD], NULL),
                                            (unsigned)(query->words[WORD_SIDES][0] - '0'), filter};
  struct view_anomaly *made;
  int status = view_anomaly_new(&made, view, &wanted, error);
  *object = made;
  return status;
}
static int step_anomaly(void *object, uint64_t events, struct kymo_error *error) {
  return view_anomaly_step(object, events, error);
}
static double look_at_anomaly(const void *object) { return view_anomaly_progress(object); }
static bool from_of_anomaly(const void *object, int64_t *from_ns) {
  return view_anomaly_from(object, from_ns);
}
static void end_anomaly(void *object) { view_anomaly_free(object); }
const struct task_kind task_of_anomalies = {.begin = begin_anomaly,
                                            .step = step_anomaly,
                                            .progress = look_at_anomaly,
                                            .end = end_anomaly,
                                            .from = from_of_anomaly};

/* The task that a query describes: NULL with the status. */
static const struct task *find_anomaly(struct api_call *call, unsigned *sides, unsigned *status) {
  static const char *const names[] = {"high", "low", "both", NULL}, *const digits[] = {"1", "2", "3"};
  static const unsigned values[] = {VIEW_HIGH, VIEW_LOW, VIEW_HIGH | VIEW_LOW};
  struct query *query = call->query;
  const char *field = query_need(query, "field");
  struct view_kind_info kind = {0};
  double threshold;
  uint32_t number = 0;
  unsigned word;
  *status = API_BAD;
  if (!field || !query_double(query, "threshold", &threshold) || !query_word(query, "sides", names, &word) ||
      (query_text(query, "kind") && !query_u32(query, "kind", UINT32_MAX - 1, &number)))
    return NULL;
  *status = API_ABSENT;
  if (query_text(query, "kind") && !view_kind(call->view, number, &kind)) {
    kymo_fail(&call->error, KYMO_E_ABSENT, "there is no such kind of events");
    return NULL;
  }
  *sides = values[word];
  struct task_query wanted = {.words = {kind.name, field, query_text(query, "threshold"), digits[word]}};
  if (!api_filter_id(call, &wanted.filter))
    return NULL;
  const struct task *task = tasks_ask(&call->api->tasks, &task_of_anomalies, &wanted, &call->error);
  *status = task ? API_OK : api_status(call->error.code);
  return task;
}

static void put_anomalies(struct kymo_json *json, const struct view_anomaly *anomaly, unsigned sides) {
  uint32_t count;
  const struct view_anomaly_track *tracks = view_anomaly_tracks(anomaly, &count);
  kymo_json_key(json, "tracks");
  kymo_json_begin(json, '[');
  for (uint32_t i = 0; i < count; i++) {
    if (!tracks[i].count)
      continue;
    kymo_json_begin(json, '{');
    api_put_uint(json, "track", i);
    api_put_u64(json, "count", tracks[i].count);
    api_put_double(json, "least", tracks[i].least);
    api_put_double(json, "most", tracks[i].most);
    api_put_double(json, "mean", tracks[i].mean);
    api_put_double(json, "deviation", tracks[i].deviation);
    api_put_double(json, "threshold", sides & VIEW_HIGH ? tracks[i].high : tracks[i].low);
    api_put_double(json, "high", tracks[i].high);
    api_put_double(json, "low", tracks[i].low);
    api_put_u64(json, "anomalies", tracks[i].anomalies);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

unsigned api_anomaly(struct api_call *call) {
  unsigned sides, status;
  const struct task *task = find_anomaly(call, &sides, &status);
  if (!task)
    return status;
  api_put_task(call->json, task);
  if (task->state == TASK_DONE)
    put_anomalies(call->json, task->object, sides);
  return API_OK;
}

unsigned api_anomaly_next(struct api_call *call) {
  struct view_search search = {.kind = UINT32_MAX, .track = UINT32_MAX};
  struct api_slews slews;
  unsigned sides, status;
  if (!query_u64(call->query, "number", UINT64_MAX - 1, &search.number) ||
      !query_flag(call->query, "back", &search.is_back) || !api_slews(call, &slews))
    return API_BAD;
  search.slews = slews.list.count ? &slews.list : NULL;
  const struct task *task = find_anomaly(call, &sides, &status);
  if (!task)
    return status;
  if (task->state == TASK_DONE) {
    search.filter = view_anomaly_filter(task->object);
    status = api_put_search(call, &search);
  }
  if (status != API_STEP)
    api_put_task(call->json, task);
  return task->state == TASK_DONE ? status : API_LATER;
}
