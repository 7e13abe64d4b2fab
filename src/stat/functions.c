/* SPDX-License-Identifier: MIT */
#include "stat/functions.h"
#include <stdlib.h>

/* The functions that were open until `now_ns`. */
static int leave(struct kymo_functions *functions, struct kymo_span *span, int64_t now_ns) {
  struct kymo_stat_group *group = span->owner;
  int64_t whole_ns = (int64_t)((uint64_t)now_ns - (uint64_t)span->begin_ns);
  int status = KYMO_OK;
  if (functions->gaps->counts[span->stream] != span->loss) {
    functions->over_gaps++;
  } else {
    group->self_ns += whole_ns - span->inside_ns;
    if (!span->same)
      group->outer_ns += whole_ns;
    status = kymo_samples_add(&group->samples, whole_ns) ? KYMO_OK : KYMO_E_MEMORY;
  }
  if (span->outer) {
    span->outer->inside_ns += whole_ns;
    span->outer->last_ns = now_ns;
  }
  kymo_spans_end(&functions->spans, span);
  return status;
}

static int exit_function(struct kymo_functions *functions, struct kymo_span_key key, int64_t now_ns) {
  struct kymo_span *span = kymo_spans_find(&functions->spans, key), *inner;
  int status = KYMO_OK;
  if (!span) {
    functions->without_enter++;
    if ((inner = kymo_spans_innermost(&functions->spans, key.thread)))
      inner->last_ns = now_ns;
    return KYMO_OK;
  }
  for (; status == KYMO_OK && (inner = kymo_spans_innermost(&functions->spans, key.thread)) != span;
       functions->left_by_caller++)
    status = leave(functions, inner, now_ns);
  return status == KYMO_OK ? leave(functions, span, now_ns) : status;
}

static int enter(struct kymo_functions *functions, struct kymo_span_key key, struct kymo_stat_group *group,
                 const struct kymo_event *event) {
  struct kymo_span *span = kymo_spans_begin(&functions->spans, key);
  if (!span)
    return KYMO_E_MEMORY;
  span->begin_ns = span->last_ns = event->time_ns;
  span->owner = group;
  span->stream = kymo_gaps_slot(functions->gaps, event);
  span->loss = functions->gaps->counts[span->stream];
  group->calls++;
  return KYMO_OK;
}

int kymo_functions_event(struct kymo_functions *functions, const struct kymo_event *event) {
  struct kymo_stat_group *group;
  struct kymo_span_key key = {0};
  unsigned role = functions->edges->roles[kymo_kind_of(event)];
  if (!role)
    return KYMO_OK;
  int status = kymo_grouping_find(&functions->function, &functions->groups, event, &group);
  if (status == KYMO_OK)
    status = kymo_grouping_number(&functions->thread, event, &key.thread);
  if (status == KYMO_E_ABSENT || (status == KYMO_OK && !event->has_time)) {
    functions->without_key++;
    return KYMO_OK;
  }
  if (status != KYMO_OK)
    return status;
  key.key = group->key;
  return role & KYMO_PAIR_ENDS ? exit_function(functions, key, event->time_ns)
                               : enter(functions, key, group, event);
}

struct innermost {
  struct kymo_span **list;
  size_t count;
};

static bool add_innermost(void *user, struct kymo_span *span) {
  struct innermost *innermost = user;
  if (!span->inner)
    innermost->list[innermost->count++] = span;
  return true;
}

int kymo_functions_end(struct kymo_functions *functions) {
  struct innermost innermost = {calloc(functions->spans.open + 1, sizeof *innermost.list), 0};
  int status = innermost.list ? KYMO_OK : KYMO_E_MEMORY;
  functions->open = functions->spans.open;
  if (innermost.list)
    kymo_spans_each(&functions->spans, add_innermost, &innermost);
  for (size_t i = 0; i < innermost.count && status == KYMO_OK; i++) {
    int64_t last_ns = innermost.list[i]->last_ns;
    for (struct kymo_span *span = innermost.list[i], *outer; span && status == KYMO_OK; span = outer) {
      outer = span->outer;
      status = leave(functions, span, last_ns);
    }
  }
  free(innermost.list);
  return status;
}

void kymo_functions_free(struct kymo_functions *functions) {
  kymo_spans_free(&functions->spans);
  kymo_groups_free(&functions->groups);
}
