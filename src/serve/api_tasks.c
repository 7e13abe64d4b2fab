/* SPDX-License-Identifier: MIT */
/* What takes longer than a reply: filters, latencies, histograms; and statistics of spans. */
#include "serve/api.h"
#include "base/fail.h"
#include "stat/pairs.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

/* ---- kinds of tasks ---- */

enum { WORD_FROM = 0, WORD_TO = 1, WORD_KEY = 2, WORD_LOW = 3, WORD_HIGH = 4, WORD_SLEW = 5 };

static int begin_filter(void **object, struct view *view, const struct task_query *query,
                        struct view_filter *filter, struct kymo_error *error) {
  struct view_filter *made;
  (void)filter;
  int status = view_filter_new(&made, view, query->words[0], error);
  *object = made;
  return status;
}
static int step_filter(void *object, uint64_t events, struct kymo_error *error) {
  return view_filter_step(object, events, error);
}
static double look_at_filter(const void *object) { return view_filter_progress(object); }
static bool from_of_filter(const void *object, int64_t *from_ns) { return view_filter_from(object, from_ns); }
static void end_filter(void *object) { view_filter_free(object); }
const struct task_kind task_of_filters = {.begin = begin_filter,
                                          .step = step_filter,
                                          .progress = look_at_filter,
                                          .end = end_filter,
                                          .from = from_of_filter};

static int begin_latency(void **object, struct view *view, const struct task_query *query,
                         struct view_filter *filter, struct kymo_error *error) {
  const char *low = query->words[WORD_LOW], *high = query->words[WORD_HIGH];
  struct view_latency_query wanted = {.from = query->words[WORD_FROM],
                                      .to = query->words[WORD_TO],
                                      .key = query->words[WORD_KEY],
                                      .filter = filter,
                                      .is_limited = low,
                                      .low_ns = low ? strtoll(low, NULL, 10) : 0,
                                      .high_ns = high ? strtoll(high, NULL, 10) : 0};
  struct view_latency *made;
  struct view_info info;
  view_info(view, &info);
  int64_t *slews = api_read_slews(query->words[WORD_SLEW], info.tracks, &wanted.slew_count);
  wanted.slews = slews;
  if (query->words[WORD_SLEW] && !slews)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = view_latency_new(&made, view, &wanted, error);
  free(slews);
  *object = made;
  return status;
}
static int step_latency(void *object, uint64_t events, struct kymo_error *error) {
  return view_latency_step(object, events, error);
}
static double look_at_latency(const void *object) { return view_latency_progress(object); }
static bool from_of_latency(const void *object, int64_t *from_ns) {
  return view_latency_from(object, from_ns);
}
static void end_latency(void *object) { view_latency_free(object); }
const struct task_kind task_of_latencies = {.begin = begin_latency,
                                            .step = step_latency,
                                            .progress = look_at_latency,
                                            .end = end_latency,
                                            .from = from_of_latency};

static int begin_histogram(void **object, struct view *view, const struct task_query *query,
                           struct view_filter *filter, struct kymo_error *error) {
  struct view_histogram *made;
  int status = view_histogram_new(&made, view, query->words[0], filter, error);
  *object = made;
  return status;
}
static int step_histogram(void *object, uint64_t events, struct kymo_error *error) {
  return view_histogram_step(object, events, error);
}
static double look_at_histogram(const void *object) { return view_histogram_progress(object); }
static bool from_of_histogram(const void *object, int64_t *from_ns) {
  return view_histogram_from(object, from_ns);
}
static void end_histogram(void *object) { view_histogram_free(object); }
const struct task_kind task_of_histograms = {.begin = begin_histogram,
                                             .step = step_histogram,
                                             .progress = look_at_histogram,
                                             .end = end_histogram,
                                             .from = from_of_histogram};

static int begin_values(void **object, struct view *view, const struct task_query *query,
                        struct view_filter *filter, struct kymo_error *error) {
  struct view_values *made;
  int status = query->words[1] ? view_values_new_texts(&made, view, query->words[0], filter, error)
                               : view_values_new(&made, view, query->words[0], filter, error);
  *object = made;
  return status;
}
static int step_values(void *object, uint64_t events, struct kymo_error *error) {
  return view_values_step(object, events, error);
}
static double look_at_values(const void *object) { return view_values_progress(object); }
static bool from_of_values(const void *object, int64_t *from_ns) { return view_values_from(object, from_ns); }
static void end_values(void *object) { view_values_free(object); }
const struct task_kind task_of_values = {.begin = begin_values,
                                         .step = step_values,
                                         .progress = look_at_values,
                                         .end = end_values,
                                         .from = from_of_values};

/* ---- filters ---- */

/* What is wrong with the text of a filter is what the page shows below it: no failure of the request. */
static unsigned refuse_filter(struct api_call *call) {
  struct kymo_json *json = call->json;
  const struct kymo_error *error = &call->error;
  unsigned status = api_status(error->code);
  if (status >= API_FAILED)
    return status;
  api_put_null(json, "id");
  api_put_text(json, "state", "failed");
  api_put_uint(json, "done", 1);
  api_put_u64(json, "count", 0);
  kymo_json_key(json, "error");
  kymo_json_begin(json, '{');
  api_put_text(json, "message", error->message);
  if (error->column)
    api_put_uint(json, "column", error->column);
  else
    api_put_null(json, "column");
  kymo_json_end(json, '}');
  return API_OK;
}

unsigned api_filter_task(struct api_call *call) {
  const char *text = query_need(call->query, "text");
  if (!text)
    return API_BAD;
  const struct task *task =
      tasks_ask(&call->api->tasks, &task_of_filters, &(struct task_query){.words = {text}}, &call->error);
  if (!task)
    return refuse_filter(call);
  api_put_task(call->json, task);
  api_put_u64(call->json, "count", view_filter_count(task->object));
  api_put_u64(call->json, "added", view_filter_added(task->object));
  return API_OK;
}

/* ---- measured numbers ---- */

static void put_buckets(struct kymo_json *json, const struct kymo_samples *samples) {
  kymo_json_key(json, "buckets");
  kymo_json_begin(json, '[');
  for (unsigned i = 0; i < 128; i++) {
    bool is_below = i < 64;
    unsigned bits = is_below ? 63 - i : i - 64;
    uint64_t count = kymo_samples_in(samples, is_below, bits), low = bits ? UINT64_C(1) << bits : 0,
             high = bits == 63 ? UINT64_MAX : UINT64_C(1) << (bits + 1);
    if (!count)
      continue;
    kymo_json_begin(json, '{');
    char text[32];
    snprintf(text, sizeof text, "%s%llu", is_below ? "-" : "",
             (unsigned long long)(is_below ? high - 1 : low));
    api_put_text(json, "low", text);
    snprintf(text, sizeof text, "%s%llu", is_below && low ? "-" : "",
             (unsigned long long)(is_below ? (low ? low - 1 : 0) : high));
    api_put_text(json, "high", text);
    api_put_u64(json, "count", count);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

static void put_samples(struct kymo_json *json, struct kymo_samples *samples) {
  api_put_u64(json, "count", samples->count);
  api_put_i64(json, "least", samples->least);
  api_put_i64(json, "most", samples->most);
  api_put_double(json, "mean", samples->mean);
  api_put_i64(json, "p50", kymo_samples_percentile(samples, 500).value);
  api_put_i64(json, "p90", kymo_samples_percentile(samples, 900).value);
  api_put_i64(json, "p99", kymo_samples_percentile(samples, 990).value);
  api_put_i64(json, "p999", kymo_samples_percentile(samples, 999).value);
  put_buckets(json, samples);
}

/* Floating-point numbers: infinities and what is not a number are in no bar. */
static void put_floats(struct kymo_json *json, const struct kymo_floats *floats) {
  api_put_bool(json, "isFloat", true);
  api_put_u64(json, "count", floats->count);
  api_put_u64(json, "notNumbers", floats->nans);
  api_put_u64(json, "infinite", floats->infinities[0] + floats->infinities[1]);
  api_put_double(json, "least", floats->least);
  api_put_double(json, "most", floats->most);
  api_put_double(json, "mean", floats->mean);
  kymo_json_key(json, "buckets");
  kymo_json_begin(json, '[');
  for (uint32_t i = 0; i < floats->place_count; i++) {
    struct kymo_float_bar bar = kymo_floats_bar(floats, i);
    kymo_json_begin(json, '{');
    api_put_double(json, "low", fmax(bar.from, -DBL_MAX));
    api_put_double(json, "high", fmin(bar.to, DBL_MAX));
    api_put_u64(json, "count", bar.count);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

static void put_measured(struct api_call *call, const struct view_pair *pair) {
  struct kymo_json *json = call->json;
  struct view_mark end;
  kymo_json_begin(json, '{');
  api_put_i64(json, "begin", pair->begin_ns);
  api_put_i64(json, "end", (int64_t)((uint64_t)pair->begin_ns + (uint64_t)pair->duration_ns));
  api_put_i64(json, "duration", pair->duration_ns);
  api_put_u64(json, "numberBegin", pair->begin_number);
  api_put_u64(json, "numberEnd", pair->end_number);
  if (view_find(call->view, pair->end_number, &end))
    api_put_uint(json, "track", end.track);
  else
    api_put_null(json, "track");
  kymo_json_end(json, '}');
}

/* The longest, and the first ones within the limits. */
static void put_pairs(struct api_call *call, const struct view_latency_result *result) {
  struct kymo_json *json = call->json;
  kymo_json_key(json, "worst");
  kymo_json_begin(json, '[');
  for (unsigned i = 0; i < result->worst_count; i++) {
    const struct kymo_worst *worst = &result->worst[i];
    put_measured(call, &(struct view_pair){worst->begin_ns, worst->duration_ns, worst->begin_number,
                                           worst->end_number});
  }
  kymo_json_end(json, ']');
  api_put_u64(json, "limited", result->limited);
  kymo_json_key(json, "pairs");
  kymo_json_begin(json, '[');
  for (unsigned i = 0; i < result->pair_count; i++)
    put_measured(call, &result->pairs[i]);
  kymo_json_end(json, ']');
}

unsigned api_latency(struct api_call *call) {
  struct query *query = call->query;
  struct task_query wanted = {.words = {query_need(query, "from"), query_need(query, "to"),
                                        query_text(query, "key"), query_text(query, "low"),
                                        query_text(query, "high"), query_text(query, "slew")}};
  uint32_t tracks[API_TRACKS_MAX];
  int64_t slews[API_TRACKS_MAX];
  size_t count;
  struct view_latency_result result;
  int64_t low_ns, high_ns;
  if (!wanted.words[WORD_FROM] || !wanted.words[WORD_TO] ||
      ((wanted.words[WORD_LOW] || wanted.words[WORD_HIGH]) &&
       (!query_i64(query, "low", &low_ns) || !query_i64(query, "high", &high_ns))) ||
      !query_offsets(query, "slew", tracks, slews, API_TRACKS_MAX, &count))
    return API_BAD;
  if (!api_filter_id(call, &wanted.filter))
    return API_ABSENT;
  const struct task *task = tasks_ask(&call->api->tasks, &task_of_latencies, &wanted, &call->error);
  if (!task)
    return api_status(call->error.code);
  api_put_task(call->json, task);
  if (task->state != TASK_DONE)
    return API_OK;
  if (view_latency_result(task->object, &result) != KYMO_OK)
    return API_FAILED;
  put_samples(call->json, result.all);
  api_put_u64(call->json, "withoutBegin", result.without_begin);
  api_put_u64(call->json, "withoutEnd", result.without_end);
  api_put_u64(call->json, "withoutKey", result.without_key);
  api_put_u64(call->json, "overGaps", result.over_gaps);
  put_pairs(call, &result);
  return API_OK;
}

/* The most common texts. */
static void put_values(struct kymo_json *json, const struct view_histogram_value *list, size_t count,
                       uint64_t all) {
  api_put_u64(json, "all", all);
  kymo_json_key(json, "values");
  kymo_json_begin(json, '[');
  for (size_t i = 0; i < count; i++) {
    kymo_json_begin(json, '{');
    api_put_text(json, "text", list[i].text);
    api_put_u64(json, "count", list[i].count);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

unsigned api_histogram(struct api_call *call) {
  const struct view_histogram_value *list;
  uint64_t all;
  size_t count;
  struct task_query wanted = {.words = {query_need(call->query, "field")}};
  if (!wanted.words[0])
    return API_BAD;
  if (!api_filter_id(call, &wanted.filter))
    return API_ABSENT;
  const struct task *task = tasks_ask(&call->api->tasks, &task_of_histograms, &wanted, &call->error);
  if (!task)
    return api_status(call->error.code);
  api_put_task(call->json, task);
  if (task->state != TASK_DONE)
    return API_OK;
  int status = view_histogram_values(task->object, &list, &count, &all);
  if (status == KYMO_E_MEMORY)
    return API_FAILED;
  if (status == KYMO_E_ABSENT && view_histogram_result(task->object)->floats)
    put_floats(call->json, view_histogram_result(task->object)->floats);
  else if (status == KYMO_E_ABSENT)
    put_samples(call->json, view_histogram_result(task->object));
  else
    put_values(call->json, list, count, all);
  return API_OK;
}

/* ---- at once ---- */

/* Of the events that a filter selects: a task. Its window is all time, since a live trace grows. */
static unsigned filtered_statistics(struct api_call *call, unsigned filter) {
  static const char begin[] = "-9223372036854775808", end[] = "9223372036854775807";
  const struct task_query wanted = {.words = {begin, end}, .filter = filter};
  struct view_selection_result result;
  const struct task *task = tasks_ask(&call->api->tasks, &task_of_selections, &wanted, &call->error);
  if (!task)
    return api_status(call->error.code);
  api_put_task(call->json, task);
  view_selection_result(task->object, &result);
  api_put_statistics(call->json, result.spans, result.span_count);
  return API_OK;
}

unsigned api_statistics(struct api_call *call) {
  struct view_statistic *list;
  size_t count;
  unsigned filter;
  if (!api_filter_id(call, &filter))
    return API_ABSENT;
  if (filter)
    return filtered_statistics(call, filter);
  int status = view_statistics(call->view, &list, &count);
  if (status != KYMO_OK)
    return api_status(status);
  api_put_statistics(call->json, list, count);
  free(list);
  return API_OK;
}

static void put_pair(struct kymo_json *json, const char *key, int64_t a, int64_t b) {
  char text[24];
  kymo_json_key(json, key);
  kymo_json_begin(json, '[');
  for (unsigned i = 0; i < 2; i++) {
    snprintf(text, sizeof text, "%lld", (long long)(i ? b : a));
    kymo_json_text(json, text);
  }
  kymo_json_end(json, ']');
}

unsigned api_compare(struct api_call *call) {
  struct api *api = call->api;
  struct kymo_json *json = call->json;
  struct view_difference *list;
  size_t count;
  if (!api->other.view)
    return api_status(kymo_fail(&call->error, KYMO_E_ABSENT,
                                "there is nothing to compare with: kymo view --compare OTHER TRACE"));
  int status = view_compare(api->main.view, api->other.view, &list, &count);
  if (status != KYMO_OK)
    return api_status(status);
  api_put_text(json, "state", api->main.is_built && api->other.is_built ? "done" : "running");
  kymo_json_key(json, "differences");
  kymo_json_begin(json, '[');
  for (size_t i = 0; i < count; i++) {
    kymo_json_begin(json, '{');
    api_put_text(json, "name", list[i].name);
    api_put_bool(json, "isSpan", list[i].is_span);
    put_pair(json, "counts", (int64_t)list[i].counts[0], (int64_t)list[i].counts[1]);
    kymo_json_key(json, "rates");
    kymo_json_begin(json, '[');
    kymo_json_float(json, list[i].rates[0], false);
    kymo_json_float(json, list[i].rates[1], false);
    kymo_json_end(json, ']');
    put_pair(json, "p50", list[i].p50_ns[0], list[i].p50_ns[1]);
    put_pair(json, "p99", list[i].p99_ns[0], list[i].p99_ns[1]);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
  free(list);
  return API_OK;
}
