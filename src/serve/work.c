/* SPDX-License-Identifier: MIT */
/* Opening the views, and the work between requests: the index first, then the tasks. */
#include "serve/api.h"
#include "serve/clock.h"
#include <stdlib.h>

enum {
  STEP_EVENTS = 4096,
  SLICE_US = 5000,   /* of work between two looks for requests */
  SEEN_US = 200000,  /* how often the generation grows at most */
  AGAIN_US = 100000, /* how often a live trace is looked at */
};

/* ---- life ---- */

int api_open_view(struct api_view *out, const struct view_options *options, struct kymo_error *error) {
  *out = (struct api_view){.options = *options, .error = {.offset = KYMO_ERROR_NO_OFFSET}};
  return view_open(&out->view, options, error);
}

int api_begin(struct api *api, const struct serve_options *options, struct kymo_error *error) {
  *api = (struct api){.options = options,
                      .traces = options->traces,
                      .generation = 1,
                      .step_us = API_STEP_US,
                      .cpu_us = API_CPU_US};
  int status = options->traces.view ? api_open_view(&api->main, options->traces.view, error) : KYMO_OK;
  if (status == KYMO_OK && options->other)
    status = api_open_view(&api->other, options->other, error);
  api->tasks.view = api->main.view;
  return status;
}

void api_end(struct api *api) {
  tasks_clear(&api->tasks);
  view_close(api->main.view);
  view_close(api->other.view);
  free(api->field);
}

void api_show(struct api *api, const struct api_view *view) {
  tasks_clear(&api->tasks);
  view_close(api->main.view);
  api->main = *view;
  api->tasks.view = view->view;
  api->epoch += 1000000; /* an index that is built anew counts, too */
  api->generation++;
}

/* ---- tracks by something else ---- */

/* The index begins anew; the earlier one stays if that fails. */
unsigned api_track_by(struct api_call *call) {
  static const char *const words[] = {"thread", "cpu", "stream", "class", "field", NULL};
  static const enum view_track_by sorts[] = {VIEW_BY_THREAD, VIEW_BY_CPU, VIEW_BY_STREAM, VIEW_BY_EVENT,
                                             VIEW_BY_FIELD};
  struct api *api = call->api;
  struct view_options options = api->main.options;
  struct api_view made;
  unsigned word;
  if (!query_word(call->query, "by", words, &word))
    return API_BAD;
  options.by = sorts[word];
  options.field = options.by == VIEW_BY_FIELD ? query_need(call->query, "field") : NULL;
  if (options.by == VIEW_BY_FIELD && !options.field)
    return API_BAD;
  char *field = options.field ? strdup(options.field) : NULL;
  if (options.field && !field)
    return API_FAILED;
  int status = api_open_view(&made, &options, &call->error);
  if (status != KYMO_OK) {
    free(field);
    return api_status(status);
  }
  api_show(api, &made);
  free(api->field);
  api->main.options.field = api->field = field;
  api_put_uint(call->json, "generation", api->generation);
  return API_OK;
}

/* ---- work ---- */

/* True: something was done. An index that was read whole may not fit later on. */
static bool build(struct api_view *built) {
  if (built->view && view_is_wrong(built->view))
    built->is_over = built->is_built = false;
  if (!built->view || built->is_over || (built->is_built && serve_now_us() < built->again_us))
    return false;
  int status = view_build_step(built->view, STEP_EVENTS, &built->error);
  built->is_built = status != KYMO_OK;
  built->is_over = status == KYMO_END || status < 0;
  built->again_us = serve_now_us() + AGAIN_US;
  return true;
}

static void see(struct api *api) {
  struct view_info info;
  struct view_problem problem;
  size_t problems = api->seen_problems;
  int64_t now_us = serve_now_us();
  if (!api->main.view)
    return;
  view_info(api->main.view, &info);
  if (info.is_complete == api->seen.is_complete && info.rebuilt == api->seen.rebuilt &&
      now_us - api->seen_us < SEEN_US)
    return;
  while (view_problem(api->main.view, problems, &problem))
    problems++;
  if (info.rebuilt != api->seen.rebuilt)
    problems = 0;
  bool is_same = info.events == api->seen.events && info.is_complete == api->seen.is_complete &&
                 info.rebuilt == api->seen.rebuilt && problems == api->seen_problems &&
                 info.losses == api->seen.losses;
  api->generation += !is_same;
  api->seen = info;
  api->seen_problems = problems;
  api->seen_us = now_us;
}

bool api_work(struct api *api) {
  int64_t until_us = serve_now_us() + SLICE_US;
  bool is_busy;
  do {
    is_busy = build(&api->main);
    is_busy |= build(&api->other);
    if (api->main.is_built || api->main.options.is_live)
      is_busy |= tasks_step(&api->tasks);
  } while (is_busy && serve_now_us() < until_us);
  tasks_forget(&api->tasks);
  see(api);
  return is_busy;
}

int64_t api_rest_us(const struct api *api) {
  int64_t rest_us = -1, now_us = serve_now_us();
  const struct api_view *const views[] = {&api->main, &api->other};
  for (size_t i = 0; i < 2; i++)
    if (views[i]->view && !views[i]->is_over) {
      int64_t left_us = views[i]->is_built && views[i]->again_us > now_us ? views[i]->again_us - now_us : 0;
      rest_us = rest_us < 0 || left_us < rest_us ? left_us : rest_us;
    }
  return rest_us;
}
