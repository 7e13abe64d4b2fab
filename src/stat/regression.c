/* SPDX-License-Identifier: MIT */
#include "stat/regression.h"
#include "stat/pairs.h"
#include <math.h>
#include <stdlib.h>

static int add(struct kymo_stat_group *key, int64_t own_ns) {
  key->weighted += (double)key->samples.count * (double)own_ns;
  return kymo_samples_add(&key->samples, own_ns) ? KYMO_OK : KYMO_E_MEMORY;
}

/* Leaves what was entered last with this key, and whatever was entered inside of it and never left. */
static int leave(struct kymo_regression *regression, struct kymo_regression_stack *stack, struct kymo_stat_group *key,
                 int64_t now_ns) {
  uint32_t depth = stack->depth;
  while (depth > 0 && stack->frames[depth - 1].key != key)
    depth--;
  if (depth == 0) {
    regression->without_enter++;
    return KYMO_OK;
  }
  regression->without_leave += stack->depth - depth;
  stack->depth = depth - 1;
  const struct kymo_regression_frame *frame = &stack->frames[depth - 1];
  int64_t whole_ns = (int64_t)((uint64_t)now_ns - (uint64_t)frame->begin_ns);
  if (stack->depth > 0)
    stack->frames[stack->depth - 1].inside_ns += whole_ns;
  return add(key, whole_ns - frame->inside_ns);
}

static void enter(struct kymo_regression *regression, struct kymo_regression_stack *stack, struct kymo_stat_group *key,
                  int64_t now_ns) {
  if (stack->depth == KYMO_REGRESSION_DEPTH) {
    regression->too_deep++;
    return;
  }
  stack->frames[stack->depth++] = (struct kymo_regression_frame){.key = key, .begin_ns = now_ns};
}

int kymo_regression_event(struct kymo_regression *regression, const struct kymo_event *event) {
  struct kymo_stat_group *key, *track;
  unsigned role =
      regression->roles[kymo_grouping_class(&regression->key, event)];
  if (!role || !event->has_time)
    return KYMO_OK;
  int status = kymo_grouping_find(&regression->key, &regression->keys, event, &key);
  if (status == KYMO_OK)
    status = kymo_grouping_find(&regression->track, &regression->tracks, event, &track);
  if (status != KYMO_OK)
    return status == KYMO_E_ABSENT ? KYMO_OK : status;
  if (!track->stack && !(track->stack = kymo_arena_alloc(&regression->tracks.arena, sizeof *track->stack)))
    return KYMO_E_MEMORY;
  if (role & KYMO_PAIR_ENDS)
    status = leave(regression, track->stack, key, event->time_ns);
  if (status == KYMO_OK && role & KYMO_PAIR_BEGINS)
    enter(regression, track->stack, key, event->time_ns);
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
  kymo_groups_free(&regression->tracks);
}
