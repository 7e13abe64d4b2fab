/* SPDX-License-Identifier: MIT */
/* Latencies between two kinds of events: what `kymo stat latency` measures, by the same code, with each pair
 * kept for drawing. */
#include "view/state.h"
#include "base/fail.h"
#include "stat/pairs.h"
#include "stat/report.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

struct view_latency {
  struct view *view;
  struct view_pass pass;
  struct view_match match; /* of a live trace, or with slews */
  int64_t *slews;          /* by track; NULL: they are all 0 */
  uint32_t slew_count;
  struct kymo_whos whos;
  struct kymo_gaps gaps;
  struct kymo_edges edges;
  struct kymo_grouping thread;
  struct kymo_pairs pairs;
  struct kymo_samples all;
  struct view_store store;
  struct view_series series; /* of the pairs, by when they end */
  struct view_unsorted unsorted;
  bool is_settled, has_failed;
  bool is_limited; /* to these times: */
  int64_t low_ns, high_ns;
  struct view_pair *listed; /* of these */
  uint64_t limited;         /* how many there are */
};

/* Kinds have the names that groups of events have: those without a name their numbers. */
static bool is_named(void *user, const struct kymo_event_class *class_) {
  char name[32];
  snprintf(name, sizeof name, "event%" PRIu64, (uint64_t)class_->id);
  return strcmp(class_->name && *class_->name ? class_->name : name, user) == 0;
}

/* An event where it is shown. Of a live trace, pairs have the numbers that the index has; 0: it does not have
 * the event yet. */
static int take_shown(struct view_latency *latency, const struct kymo_event *event) {
  struct kymo_event shown = *event;
  uint32_t track, kind;
  int status = view_match_event(&latency->match, event, &track, &kind);
  if (status == KYMO_OK && track < latency->slew_count)
    shown.time_ns = view_shift(event->time_ns, latency->slews[track]);
  if (view_must_match(latency->view)) {
    if (status == KYMO_OK)
      status = view_match_number_on(&latency->match, event, track, kind, &shown.number);
    shown.number = status == KYMO_OK ? shown.number : 0;
  }
  return status == KYMO_E_MEMORY ? status : kymo_pairs_event(&latency->pairs, &shown);
}

static int take(void *user, const struct kymo_event *event) {
  struct view_latency *latency = user;
  uint32_t class_ =
      kymo_class_number(&latency->whos.numbers, event->packet->stream->part->index, event->class_);
  if (event->is_damaged)
    kymo_gaps_damage(&latency->gaps, event);
  if (latency->has_failed)
    return KYMO_E_MEMORY;
  return latency->edges.roles[class_] && (view_must_match(latency->view) || latency->slews)
             ? take_shown(latency, event)
             : kymo_pairs_event(&latency->pairs, event);
}

/* False: it is not within the limits. */
static bool list_pair(struct view_latency *latency, const struct kymo_worst *pair) {
  if (!latency->is_limited)
    return true;
  if (pair->duration_ns < latency->low_ns || pair->duration_ns > latency->high_ns)
    return false;
  if (latency->limited < VIEW_PAIRS_MAX)
    latency->listed[latency->limited] =
        (struct view_pair){pair->begin_ns, pair->duration_ns, pair->begin_number, pair->end_number};
  latency->limited++;
  return true;
}

static void keep_pair(void *user, const struct kymo_worst *pair) {
  struct view_latency *latency = user;
  if (!list_pair(latency, pair))
    return;
  const struct view_entry entry = {(int64_t)((uint64_t)pair->begin_ns + (uint64_t)pair->duration_ns),
                                   (uint64_t)pair->duration_ns, 0};
  if (pair->duration_ns < 0)
    return; /* it ends before it begins: it is measured, but has no place in the picture */
  latency->has_failed |= !view_put_sorted(&latency->unsorted, &latency->series, &latency->store, 0, &entry);
}

static int add_roles(struct view_latency *latency, const struct view_latency_query *query,
                     struct kymo_error *error) {
  static const uint8_t roles[] = {KYMO_PAIR_BEGINS, KYMO_PAIR_ENDS};
  const char *const names[] = {query->from, query->to};
  for (size_t i = 0; i < 2; i++)
    if (!kymo_edges_add(&latency->edges, roles[i], is_named, (void *)(uintptr_t)names[i]))
      return kymo_fail(error, KYMO_E_USAGE, "the traces have no event \"%s\"", names[i]);
  return kymo_edges_find_kinds(&latency->edges) == KYMO_OK ? KYMO_OK : no_memory(error);
}

static int group(struct view_latency *latency, const char *key, struct kymo_error *error) {
  struct kymo_pairs *pairs = &latency->pairs;
  const struct kymo_pair_groups groups = {key, "track"};
  pairs->edges = &latency->edges;
  pairs->gaps = &latency->gaps;
  pairs->error = &latency->pass.error;
  pairs->groups.bytes_limit = (size_t)32 << 20;
  pairs->worst_wanted = KYMO_WORST_MAX;
  pairs->handler = keep_pair;
  pairs->user = latency;
  return kymo_pairs_group_latency(pairs, &latency->thread, latency->pass.trace, &latency->whos, &groups,
                                  error);
}

static int begin(struct view_latency *latency, const struct view_latency_query *query,
                 struct kymo_error *error) {
  int status = view_pass_begin(&latency->pass, latency->view, query->filter, error);
  if (status == KYMO_OK && (latency->view->options.is_live || latency->slews))
    status = view_match_begin(&latency->match, latency->view, latency->pass.trace, error);
  latency->match.is_part = query->filter;
  if (status == KYMO_OK)
    status = kymo_whos_begin(&latency->whos, latency->pass.trace, error);
  if (status == KYMO_OK)
    status = kymo_gaps_begin(&latency->gaps, latency->pass.trace, &latency->whos, error);
  if (status == KYMO_OK)
    status = kymo_edges_begin(&latency->edges, latency->pass.trace, &latency->whos.numbers, error);
  if (status == KYMO_OK)
    status = add_roles(latency, query, error);
  if (status == KYMO_OK)
    status = group(latency, query->key, error);
  if (status == KYMO_OK)
    status = view_store_temporary(&latency->store, error);
  if (status == KYMO_OK)
    kymo_trace_set_loss_handler(latency->pass.trace, kymo_gaps_take, &latency->gaps);
  return status;
}

static bool copy_slews(struct view_latency *latency, const struct view_latency_query *query) {
  if (!query->slew_count)
    return true;
  latency->slews = calloc(query->slew_count, sizeof *latency->slews);
  if (!latency->slews)
    return false;
  memcpy(latency->slews, query->slews, query->slew_count * sizeof *latency->slews);
  latency->slew_count = query->slew_count;
  return true;
}

int view_latency_new(struct view_latency **out, struct view *view, const struct view_latency_query *query,
                     struct kymo_error *error) {
  struct view_latency *latency = calloc(1, sizeof *latency);
  *out = NULL;
  if (!latency)
    return no_memory(error);
  latency->view = view;
  latency->pass.take = take;
  latency->pass.user = latency;
  latency->series.kind = VIEW_SPANS;
  latency->is_limited = query->is_limited;
  latency->low_ns = query->low_ns;
  latency->high_ns = query->high_ns;
  latency->listed = calloc(query->is_limited ? VIEW_PAIRS_MAX : 1, sizeof *latency->listed);
  bool is_there = latency->listed && copy_slews(latency, query);
  int status = is_there ? begin(latency, query, error) : no_memory(error);
  if (status == KYMO_OK)
    *out = latency;
  else
    view_latency_free(latency);
  return status;
}

static struct view_series *get_series(void *user, uint32_t number) {
  struct view_latency *latency = user;
  (void)number;
  return &latency->series;
}

int view_latency_step(struct view_latency *latency, uint64_t events, struct kymo_error *error) {
  static const struct kymo_report report = {.form = KYMO_REPORT_JSON};
  int status = view_pass_step(&latency->pass, events, error);
  if (status == KYMO_END && !latency->is_settled) {
    int settled = kymo_pairs_settle(&latency->pairs, &report, &latency->all);
    latency->is_settled = true;
    if (settled != KYMO_OK)
      return kymo_fail(error, settled, "%s", latency->pass.error.message);
  }
  if (status == KYMO_END)
    status = view_sort_step(&latency->unsorted, &latency->store, get_series, latency, events);
  return status == KYMO_E_MEMORY ? no_memory(error) : status;
}

/* Before the end: what there is so far, of all groups. */
static bool sum_up(struct view_latency *latency) {
  const struct kymo_groups *groups = &latency->pairs.groups;
  bool is_done = true;
  kymo_samples_free(&latency->all);
  latency->all = (struct kymo_samples){0};
  for (size_t i = 0; i < groups->count; i++)
    is_done = kymo_samples_join(&latency->all, &groups->list[i]->samples) && is_done;
  return is_done;
}

int view_latency_result(struct view_latency *latency, struct view_latency_result *result) {
  const struct kymo_pairs *pairs = &latency->pairs;
  bool is_done = latency->is_settled || sum_up(latency);
  *result = (struct view_latency_result){
      .all = &latency->all,
      .without_begin = pairs->without_begin,
      .without_end = latency->is_settled ? pairs->without_end : pairs->spans.open,
      .without_key = pairs->without_key,
      .over_gaps = pairs->over_gaps,
      .worst = pairs->worst,
      .worst_count = pairs->worst_count,
      .limited = latency->limited,
      .pairs = latency->listed,
      .pair_count = latency->limited < VIEW_PAIRS_MAX ? (unsigned)latency->limited : VIEW_PAIRS_MAX};
  return is_done ? KYMO_OK : KYMO_E_MEMORY;
}

int view_latency_tile(const struct view_latency *latency, const struct view_window *window,
                      struct view_cell *cells) {
  const struct view_series *series = &latency->series;
  uint64_t at = view_series_find(series, &latency->store, window->begin_ns, 0);
  for (uint32_t x = 0; x < window->pixels; x++) {
    uint64_t end = view_series_find(series, &latency->store, view_window_edge(window, x + 1), at);
    struct view_range range;
    view_series_range(series, &latency->store, NULL, at, end, &range);
    cells[x] = (struct view_cell){range.count, range.mask, range.most, range.count ? 0 : UINT32_MAX};
    at = end;
  }
  return KYMO_OK;
}

double view_latency_progress(const struct view_latency *latency) {
  return view_pass_progress(&latency->pass);
}

bool view_latency_from(const struct view_latency *latency, int64_t *from_ns) {
  return view_pass_from(&latency->pass, from_ns);
}

void view_latency_free(struct view_latency *latency) {
  if (!latency)
    return;
  kymo_samples_free(&latency->all);
  kymo_pairs_free(&latency->pairs);
  kymo_grouping_end(&latency->pairs.key);
  kymo_grouping_end(&latency->pairs.by);
  kymo_grouping_end(&latency->thread);
  kymo_edges_end(&latency->edges);
  kymo_gaps_end(&latency->gaps);
  kymo_whos_end(&latency->whos);
  view_match_end(&latency->match);
  view_pass_end(&latency->pass);
  view_series_free(&latency->series);
  view_unsorted_free(&latency->unsorted);
  view_store_end(&latency->store);
  free(latency->listed);
  free(latency->slews);
  free(latency);
}
