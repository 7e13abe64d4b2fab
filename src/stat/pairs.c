/* SPDX-License-Identifier: MIT */
#include "stat/pairs.h"
#include "stat/opened.h"
#include "stat/spill.h"
#include <string.h>

/* ---- grouping ---- */

int kymo_pairs_group(struct kymo_pairs *pairs, struct kymo_trace *trace, struct kymo_whos *whos,
                     const struct kymo_pair_groups *groups, struct kymo_error *error) {
  int status = kymo_grouping_begin(&pairs->key, groups->key, trace, whos, error);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&pairs->by, groups->by, trace, whos, error);
  pairs->keys_are_groups = groups->key && groups->by && strcmp(groups->key, groups->by) == 0;
  pairs->is_chain = pairs->keys_are_groups && !pairs->thread;
  return status;
}

int kymo_pairs_group_latency(struct kymo_pairs *pairs, struct kymo_grouping *thread, struct kymo_trace *trace,
                             struct kymo_whos *whos, const struct kymo_pair_groups *groups,
                             struct kymo_error *error) {
  /* a function that is left by a jump has no end, so its begin must not match the end of another one */
  const struct kymo_pair_groups used = {groups->key ? groups->key : kymo_edges_function_field(pairs->edges),
                                        groups->by};
  pairs->thread = thread;
  pairs->crosses_threads =
      used.key && strcmp(used.key, "track") != 0 && !kymo_edges_are_of_threads(pairs->edges);
  pairs->spans.crosses_threads = pairs->crosses_threads;
  int status = kymo_grouping_begin(thread, "track", trace, whos, error);
  return status == KYMO_OK ? kymo_pairs_group(pairs, trace, whos, &used, error) : status;
}

/* ---- the longest ---- */

static bool is_worst(const struct kymo_pairs *pairs, const struct kymo_worst *pair) {
  unsigned last = pairs->worst_count;
  return pairs->worst_wanted &&
         (last < pairs->worst_wanted || pairs->worst[last - 1].duration_ns < pair->duration_ns);
}

static void keep_worst(struct kymo_pairs *pairs, const struct kymo_worst *pair,
                       const struct kymo_event *event) {
  unsigned at = pairs->worst_count;
  if (!is_worst(pairs, pair))
    return;
  if (at < pairs->worst_wanted)
    pairs->worst_count++;
  else
    at--;
  for (; at > 0 && pairs->worst[at - 1].duration_ns < pair->duration_ns; at--)
    pairs->worst[at] = pairs->worst[at - 1];
  pairs->worst[at] = *pair;
  const struct kymo_who *who = pair->has_tid ? kymo_who_of(pairs->gaps->whos, event) : NULL;
  pairs->worst[at].has_tid = who && who->has_tid;
  pairs->worst[at].tid = who ? who->tid : 0;
}

static void report_pair(struct kymo_pairs *pairs, const struct kymo_worst *pair,
                        const struct kymo_event *event) {
  keep_worst(pairs, pair, event);
  if (pairs->handler)
    pairs->handler(pairs->user, pair);
}

/* ---- measuring ---- */

bool kymo_event_is_epoch(const struct kymo_event *event) {
  const struct kymo_clock *clock = event->class_->stream->clock;
  return clock && clock->origin_is_epoch;
}

uint64_t kymo_event_number(const struct kymo_event *event) {
  return event->number < KYMO_NUMBER_RELATIVE ? event->number : event->number - KYMO_NUMBER_LANDED;
}

static bool add(struct kymo_pairs *pairs, struct kymo_stat_group *group, int64_t duration_ns) {
  size_t bytes = kymo_samples_bytes(&group->samples);
  bool is_done = kymo_samples_add(&group->samples, duration_ns);
  pairs->groups.bytes += kymo_samples_bytes(&group->samples) - bytes;
  return is_done;
}

/* is_of_thread: both events are of one thread, if they have threads. */
static int measure(struct kymo_pairs *pairs, const struct kymo_span *span, const struct kymo_event *event,
                   struct kymo_stat_group *group, bool is_of_thread) {
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
                            .has_tid = is_of_thread,
                            .begin_number = span->begin_number,
                            .end_number = kymo_event_number(event),
                            .group = group};
  if (!add(pairs, group, pair.duration_ns))
    return KYMO_E_MEMORY;
  if (kymo_group_is_wanted(group, pairs->prefix))
    report_pair(pairs, &pair, event);
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
  int status = measure(pairs, span, event, pairs->is_charged_to_begin ? NULL : group,
                       pairs->thread && span->key.thread == key.thread);
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
  kymo_opened_note(span, pairs->gaps->whos, event);
  span->stream = kymo_gaps_slot(pairs->gaps, event);
  span->loss = pairs->gaps->counts[span->stream];
  return KYMO_OK;
}

/* ---- chains: a group has its last event instead of an open span, so that it need not stay in memory ---- */

static int go_on(struct kymo_pairs *pairs, const struct kymo_event *event, struct kymo_stat_group *group) {
  struct kymo_group_end now = {event->time_ns, kymo_event_number(event), pairs->gaps->all,
                               kymo_event_is_epoch(event)};
  struct kymo_group_ends *ends = group->ends;
  int status = KYMO_OK;
  if (ends) {
    const struct kymo_span span = {.begin_ns = ends->last.time_ns,
                                   .begin_number = ends->last.number,
                                   .stream = ends->stream,
                                   .loss = ends->loss};
    status = measure(pairs, &span, event, group, false);
  } else {
    ends = group->ends = kymo_arena_alloc(&pairs->groups.arena, sizeof *ends);
    if (!ends)
      return KYMO_E_MEMORY;
    pairs->without_begin++;
    pairs->groups.bytes += sizeof *ends;
    ends->first = now;
  }
  ends->last = now;
  ends->stream = kymo_gaps_slot(pairs->gaps, event);
  ends->loss = pairs->gaps->counts[ends->stream];
  return status;
}

/* Names of the longest are kept; names that are no longer among them are removed from time to time. */
static bool keep_name(struct kymo_pairs *pairs, struct kymo_worst *pair) {
  struct kymo_stat_group *copy = kymo_arena_alloc(&pairs->names, sizeof *copy);
  const char *name = kymo_arena_copy(&pairs->names, pair->group->name, strlen(pair->group->name));
  if (!copy || !name)
    return false;
  *copy = (struct kymo_stat_group){.name = name};
  pair->group = copy;
  pairs->name_count++;
  return true;
}

static bool renew_names(struct kymo_pairs *pairs) {
  struct kymo_arena old = pairs->names;
  bool is_done = true;
  pairs->names = (struct kymo_arena){0};
  for (unsigned i = 0; i < pairs->worst_count; i++)
    is_done = keep_name(pairs, &pairs->worst[i]) && is_done;
  pairs->name_count = 0;
  if (is_done)
    kymo_arena_free(&old);
  return is_done;
}

/* The time from the last event of one run to the first of a later one. It is unknown which streams had the
 * losses in between. */
static bool join(void *user, struct kymo_stat_group *group, const struct kymo_group_end *before,
                 const struct kymo_group_end *after) {
  struct kymo_pairs *pairs = user;
  struct kymo_worst pair = {.duration_ns = (int64_t)((uint64_t)after->time_ns - (uint64_t)before->time_ns),
                            .begin_ns = before->time_ns,
                            .is_epoch = before->is_epoch,
                            .begin_number = before->number,
                            .end_number = after->number,
                            .group = group};
  pairs->without_begin--;
  if (before->losses != after->losses) {
    pairs->over_gaps++;
    return true;
  }
  if (!add(pairs, group, pair.duration_ns))
    return false;
  if (!kymo_group_is_wanted(group, pairs->prefix))
    return true;
  if (is_worst(pairs, &pair) &&
      !(keep_name(pairs, &pair) && (pairs->name_count < 10 * KYMO_WORST_MAX || renew_names(pairs))))
    return false;
  report_pair(pairs, &pair, NULL);
  return true;
}

int kymo_pairs_settle(struct kymo_pairs *pairs, const struct kymo_report *report, struct kymo_samples *all) {
  pairs->groups.joiner = join;
  pairs->groups.user = pairs;
  int status = kymo_groups_settle(&pairs->groups, report, all, pairs->error);
  pairs->without_end = pairs->is_chain ? pairs->groups.ended : pairs->spans.open;
  return status;
}

/* ---- events ---- */

/* The key of the event that begins or ends. */
static int find_key(const struct kymo_pairs *pairs, const struct kymo_event *event,
                    const struct kymo_stat_group *group, uint64_t kind, struct kymo_span_key *key) {
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

/* Groups of open spans, and of the longest ones. */
static void visit_groups(void *user, kymo_group_visit *visit) {
  struct kymo_pairs *pairs = user;
  kymo_groups_visit_spans(&pairs->spans, visit);
  for (unsigned i = 0; i < pairs->worst_count; i++)
    visit(&pairs->worst[i].group);
}

int kymo_pairs_event(struct kymo_pairs *pairs, const struct kymo_event *event) {
  struct kymo_stat_group *group = NULL;
  struct kymo_span_key key;
  uint32_t class_ = kymo_kind_of(event);
  unsigned role = pairs->edges->roles[class_];
  if (event->has_time)
    pairs->last_ns = event->time_ns;
  if (!role)
    return KYMO_OK;
  int status = kymo_groups_are_full(&pairs->groups)
                   ? kymo_groups_spill(&pairs->groups, visit_groups, pairs, pairs->error)
                   : KYMO_OK;
  if (status != KYMO_OK)
    return status;
  status = kymo_grouping_find(&pairs->by, &pairs->groups, event, &group);
  if (status == KYMO_OK && pairs->is_chain && event->has_time)
    return go_on(pairs, event, group);
  /* the end of a span usually has no fields: it belongs to the group in which it began */
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
  return pairs->without_end || pairs->without_begin || pairs->without_key || pairs->over_gaps;
}

void kymo_pairs_free(struct kymo_pairs *pairs) {
  kymo_spans_free(&pairs->spans);
  kymo_groups_free(&pairs->groups);
  kymo_arena_free(&pairs->names);
}
