/* SPDX-License-Identifier: MIT */
#include "stat/pairs.h"
#include "stat/spill.h"

static void keep_worst(struct kymo_pairs *pairs, const struct kymo_worst *pair) {
  unsigned at = pairs->worst_count;
  if (pairs->worst_wanted == 0)
    return;
  if (at == pairs->worst_wanted && pairs->worst[at - 1].duration_ns >= pair->duration_ns)
    return;
  if (at < pairs->worst_wanted)
    pairs->worst_count++;
  else
    at--;
  for (; at > 0 && pairs->worst[at - 1].duration_ns < pair->duration_ns; at--)
    pairs->worst[at] = pairs->worst[at - 1];
  pairs->worst[at] = *pair;
}

static void tell_pair(struct kymo_pairs *pairs, const struct kymo_worst *pair) {
  keep_worst(pairs, pair);
  if (pairs->handler)
    pairs->handler(pairs->user, pair);
}

bool kymo_event_is_epoch(const struct kymo_event *event) {
  const struct kymo_clock *clock = event->class_->stream->clock;
  return clock && clock->origin_is_epoch;
}

uint64_t kymo_event_number(const struct kymo_event *event) {
  return event->number < KYMO_NUMBER_RELATIVE ? event->number : event->number - KYMO_NUMBER_LANDED;
}

static int measure(struct kymo_pairs *pairs, const struct kymo_span *span, const struct kymo_event *event,
                   struct kymo_stat_group *group) {
  if (pairs->gaps->counts[span->stream] != span->loss) {
    pairs->over_gaps++;
    return KYMO_OK;
  }
  if (!group)
    group = span->owner;
  if (!group) {
    pairs->without_key++;
    return KYMO_OK;
  }
  struct kymo_worst pair = {.duration_ns = (int64_t)((uint64_t)event->time_ns - (uint64_t)span->begin_ns),
                            .begin_ns = span->begin_ns,
                            .is_epoch = kymo_event_is_epoch(event),
                            .begin_number = span->begin_number,
                            .end_number = kymo_event_number(event),
                            .group = group};
  size_t bytes = kymo_samples_bytes(&group->samples);
  if (!kymo_samples_add(&group->samples, pair.duration_ns))
    return KYMO_E_MEMORY;
  pairs->groups.bytes += kymo_samples_bytes(&group->samples) - bytes;
  if (kymo_group_is_wanted(group, pairs->prefix))
    tell_pair(pairs, &pair);
  return KYMO_OK;
}

static int end_pair(struct kymo_pairs *pairs, struct kymo_span_key key, const struct kymo_event *event,
                    struct kymo_stat_group *group) {
  struct kymo_span *span = kymo_spans_find(&pairs->spans, key);
  if (!span && pairs->crosses_threads)
    span = kymo_spans_find_elsewhere(&pairs->spans, key.key);
  if (!span) {
    pairs->without_begin++;
    return KYMO_OK;
  }
  int status = measure(pairs, span, event, pairs->is_charged_to_begin ? NULL : group);
  kymo_spans_end(&pairs->spans, span);
  return status;
}

static int begin_pair(struct kymo_pairs *pairs, struct kymo_span_key key, const struct kymo_event *event,
                      struct kymo_stat_group *group) {
  struct kymo_span *span = kymo_spans_begin(&pairs->spans, key);
  if (!span)
    return KYMO_E_MEMORY;
  span->begin_ns = event->time_ns;
  span->begin_number = kymo_event_number(event);
  span->owner = group;
  span->stream = kymo_gaps_slot(pairs->gaps, event);
  span->loss = pairs->gaps->counts[span->stream];
  return KYMO_OK;
}

/* What the event begins or ends. */
static int find_key(const struct kymo_pairs *pairs, const struct kymo_event *event, const struct kymo_stat_group *group,
                    uint64_t kind, struct kymo_span_key *key) {
  int status = KYMO_OK;
  *key = (struct kymo_span_key){0};
  if (pairs->keys_are_groups)
    key->key = group->key;
  else
    status = kymo_grouping_number(&pairs->key, event, &key->key);
  if (status == KYMO_OK && pairs->thread)
    status = kymo_grouping_number(pairs->thread, event, &key->thread);
  key->key ^= kind;
  return status;
}

/* What is open, and what is among the longest. */
static void visit_groups(void *user, kymo_group_visit *visit) {
  struct kymo_pairs *pairs = user;
  kymo_groups_visit_spans(&pairs->spans, visit);
  for (unsigned i = 0; i < pairs->worst_count; i++)
    visit(&pairs->worst[i].group);
}

int kymo_pairs_event(struct kymo_pairs *pairs, const struct kymo_event *event) {
  struct kymo_stat_group *group = NULL;
  struct kymo_span_key key;
  uint32_t class_ = kymo_grouping_class(&pairs->by, event);
  unsigned role = pairs->edges->roles[class_];
  if (!role)
    return KYMO_OK;
  int status = kymo_groups_are_full(&pairs->groups) ? kymo_groups_spill(&pairs->groups, visit_groups, pairs, pairs->error) : KYMO_OK;
  if (status != KYMO_OK)
    return status;
  status = kymo_grouping_find(&pairs->by, &pairs->groups, event, &group);
  /* the end of a span mostly has no fields: it is of the group in which it began */
  if (status == KYMO_E_ABSENT && !pairs->keys_are_groups)
    status = KYMO_OK;
  if (status == KYMO_OK)
    status = find_key(pairs, event, group, pairs->edges->kinds[class_], &key);
  if (status == KYMO_E_ABSENT || (status == KYMO_OK && !event->has_time)) {
    pairs->without_key++;
    return KYMO_OK;
  }
  if (status == KYMO_OK && role & KYMO_PAIR_ENDS)
    status = end_pair(pairs, key, event, group);
  if (status == KYMO_OK && role & KYMO_PAIR_BEGINS)
    status = begin_pair(pairs, key, event, group);
  return status;
}

bool kymo_pairs_are_short(const struct kymo_pairs *pairs) {
  return pairs->spans.open || pairs->without_begin || pairs->without_key || pairs->over_gaps;
}

void kymo_pairs_free(struct kymo_pairs *pairs) {
  kymo_spans_free(&pairs->spans);
  kymo_groups_free(&pairs->groups);
}
