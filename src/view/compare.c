/* SPDX-License-Identifier: MIT */
/* Statistics of spans, and what differs between two views. */
#include "view/state.h"
#include <stdlib.h>
#include <string.h>

/* ---- spans ---- */

struct view_statistic view_statistic_of(const char *name, struct kymo_samples *samples, int64_t total_ns,
                                        int64_t self_ns) {
  return (struct view_statistic){.name = name,
                                 .count = samples->count,
                                 .total_ns = total_ns,
                                 .self_ns = self_ns,
                                 .least_ns = samples->least,
                                 .most_ns = samples->most,
                                 .mean_ns = samples->mean,
                                 .p50 = kymo_samples_percentile(samples, 500),
                                 .p90 = kymo_samples_percentile(samples, 900),
                                 .p99 = kymo_samples_percentile(samples, 990),
                                 .p999 = kymo_samples_percentile(samples, 999)};
}

int view_statistics(struct view *view, struct view_statistic **list, size_t *count) {
  *count = view->span_kind_count;
  *list = view_sum_up_spans(view) ? calloc(*count + 1, sizeof **list) : NULL;
  for (size_t i = 0; i < *count && *list; i++)
    (*list)[i] = view_statistic_of(view->span_kinds[i].name, &view->span_kinds[i].samples,
                                   view->span_kinds[i].total_ns, view->span_kinds[i].self_ns);
  return *list ? KYMO_OK : KYMO_E_MEMORY;
}

/* ---- comparing ---- */

struct comparing {
  struct view_difference *list;
  size_t count;
};

static int by_name(const void *a, const void *b) {
  const struct view_difference *x = a, *y = b;
  int order = (int)x->is_span - (int)y->is_span;
  return order ? order : strcmp(x->name, y->name);
}

static double rate(const struct view *view, uint64_t count) {
  double ns = (double)((uint64_t)view->end_ns - (uint64_t)view->begin_ns);
  return view->has_times && ns > 0 ? (double)count * 1e9 / ns : 0;
}

static void add_view(struct comparing *comparing, struct view *view, unsigned side,
                     const struct view_statistic *statistics) {
  for (uint32_t i = 0; i < view->kind_count; i++) {
    struct view_difference *row = &comparing->list[comparing->count++];
    row->name = view->kinds[i].name;
    row->counts[side] = view->kinds[i].events;
    row->rates[side] = rate(view, view->kinds[i].events);
  }
  for (uint32_t i = 0; i < view->span_kind_count; i++) {
    struct view_difference *row = &comparing->list[comparing->count++];
    *row = (struct view_difference){.name = statistics[i].name, .is_span = true};
    row->counts[side] = statistics[i].count;
    row->rates[side] = rate(view, statistics[i].count);
    row->p50_ns[side] = statistics[i].p50.value;
    row->p99_ns[side] = statistics[i].p99.value;
  }
}

/* Rows of one name become one. */
static void join(struct comparing *comparing) {
  size_t made = 0;
  qsort(comparing->list, comparing->count, sizeof *comparing->list, by_name);
  for (size_t i = 0; i < comparing->count; i++) {
    const struct view_difference *row = &comparing->list[i];
    struct view_difference *last = made ? &comparing->list[made - 1] : NULL;
    if (!last || by_name(last, row) != 0) {
      comparing->list[made++] = *row;
      continue;
    }
    for (unsigned side = 0; side < 2; side++) {
      last->counts[side] += row->counts[side];
      last->rates[side] += row->rates[side];
      last->p50_ns[side] += row->p50_ns[side];
      last->p99_ns[side] += row->p99_ns[side];
    }
  }
  comparing->count = made;
}

int view_compare(struct view *a, struct view *b, struct view_difference **list, size_t *count) {
  struct view *const views[] = {a, b};
  struct view_statistic *statistics[2] = {NULL, NULL};
  size_t counts[2] = {0, 0};
  struct comparing comparing = {0};
  int status = KYMO_OK;
  for (unsigned i = 0; i < 2 && status == KYMO_OK; i++)
    status = view_statistics(views[i], &statistics[i], &counts[i]);
  if (status == KYMO_OK)
    comparing.list =
        calloc(counts[0] + counts[1] + a->kind_count + b->kind_count + 1, sizeof *comparing.list);
  for (unsigned i = 0; i < 2 && comparing.list; i++)
    add_view(&comparing, views[i], i, statistics[i]);
  if (comparing.list)
    join(&comparing);
  free(statistics[0]);
  free(statistics[1]);
  *list = comparing.list;
  *count = comparing.count;
  return comparing.list ? KYMO_OK : KYMO_E_MEMORY;
}
