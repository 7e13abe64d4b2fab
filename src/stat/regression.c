/* SPDX-License-Identifier: MIT */
#include "stat/regression.h"
#include "stat/spill.h"
#include <math.h>

static void add(struct kymo_stat_group *key, int64_t own_ns) {
  key->weighted += (double)key->samples.count * (double)own_ns;
  kymo_samples_note(&key->samples, own_ns);
}

/* Leaves the last one entered with this key, and those entered inside of it and never left. */
static void leave(struct kymo_regression *regression, struct kymo_span_key key, int64_t now_ns) {
  struct kymo_span *span = kymo_spans_find(&regression->spans, key), *inner;
  if (!span) {
    regression->without_enter++;
    return;
  }
  for (; (inner = kymo_spans_innermost(&regression->spans, key.thread)) != span; regression->without_leave++)
    kymo_spans_end(&regression->spans, inner);
  int64_t whole_ns = (int64_t)((uint64_t)now_ns - (uint64_t)span->begin_ns);
  if (regression->gaps->counts[span->stream] != span->loss)
    regression->over_gaps++;
  else
    add(span->owner, whole_ns - span->inside_ns);
  if (span->outer)
    span->outer->inside_ns += whole_ns;
  kymo_spans_end(&regression->spans, span);
}

static int enter(struct kymo_regression *regression, struct kymo_span_key key, struct kymo_stat_group *group,
                 const struct kymo_event *event) {
  struct kymo_span *span = kymo_spans_begin(&regression->spans, key);
  if (!span)
    return KYMO_E_MEMORY;
  span->begin_ns = event->time_ns;
  span->owner = group;
  span->stream = kymo_gaps_slot(regression->gaps, event);
  span->loss = regression->gaps->counts[span->stream];
  return KYMO_OK;
}

static void visit_groups(void *user, kymo_group_visit *visit) {
  struct kymo_regression *regression = user;
  kymo_groups_visit_spans(&regression->spans, visit);
}

int kymo_regression_event(struct kymo_regression *regression, const struct kymo_event *event) {
  struct kymo_stat_group *group;
  struct kymo_span_key key = {0};
  unsigned role = regression->edges->roles[kymo_kind_of(event)];
  if (!role || !event->has_time)
    return KYMO_OK;
  int status = kymo_groups_are_full(&regression->keys)
                   ? kymo_groups_spill(&regression->keys, visit_groups, regression, regression->error)
                   : KYMO_OK;
  if (status == KYMO_OK)
    status = kymo_grouping_find(&regression->key, &regression->keys, event, &group);
  if (status == KYMO_OK)
    status = kymo_grouping_number(&regression->track, event, &key.thread);
  if (status != KYMO_OK)
    return status == KYMO_E_ABSENT ? KYMO_OK : status;
  key.key = group->key;
  if (role & KYMO_PAIR_ENDS)
    leave(regression, key, event->time_ns);
  if (role & KYMO_PAIR_BEGINS)
    status = enter(regression, key, group, event);
  return status;
}

/* Least squares; the instances are 0 to count - 1, so their sums are known. */
struct kymo_line kymo_regression_line(const struct kymo_stat_group *group) {
  const struct kymo_samples *y = &group->samples;
  double n = (double)y->count, x = n * (n - 1) / 2, xx = (n - 1) * n * (2 * n - 1) / 6;
  double spread_x = n * xx - x * x, spread_y = n * y->squares;
  double together = n * group->weighted - x * y->total;
  struct kymo_line line = {.slope = spread_x > 0 ? together / spread_x : 0};
  line.offset = n > 0 ? (y->total - line.slope * x) / n : 0;
  line.r = spread_x > 0 && spread_y > 0 ? together / sqrt(spread_x * spread_y) : 0;
  return line;
}

void kymo_regression_free(struct kymo_regression *regression) {
  kymo_groups_free(&regression->keys);
  kymo_spans_free(&regression->spans);
}
