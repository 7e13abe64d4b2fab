/* SPDX-License-Identifier: MIT */
/*
 * Times between events, of three kinds:
 *
 *               begins and ends            by                          belongs to
 *   latency     --from, --to               thread, --key, kind         the group of the event that ends it
 *   state       one event, the next one    all                         the group of the event that begins it
 *   distance    one event, the next one    each group                  its group
 *
 * An end belongs to the latest open begin (span/spans.h). A time over lost events is not measured, since its
 * span may have ended, and another one begun, among them. One pass; memory depends on the number of groups
 * and of open spans.
 */
#ifndef KYMO_STAT_PAIRS_H
#define KYMO_STAT_PAIRS_H

#include "span/spans.h"
#include "stat/edges.h"
#include "stat/gaps.h"
#include "stat/groups.h"

/* One of the longest. */
struct kymo_worst {
  int64_t duration_ns, begin_ns;
  bool is_epoch; /* that is a time of day */
  bool has_tid;  /* both events are of one thread: */
  int64_t tid;
  uint64_t begin_number, end_number; /* of the events, as kymo cat counts them, from 1 */
  struct kymo_stat_group *group;
};
#define KYMO_WORST_MAX 100

/* Whether the times of the event's clock are times of day. */
bool kymo_event_is_epoch(const struct kymo_event *event);
/* The number of the event among those that are read: from the begin of the window, if there is one. */
uint64_t kymo_event_number(const struct kymo_event *event);

/* Called for each time between events. */
typedef void kymo_pair_handler(void *user, const struct kymo_worst *pair);

struct kymo_pairs {
  /* set by the owner */
  const struct kymo_edges *edges;
  struct kymo_gaps *gaps;
  struct kymo_grouping key, by;
  struct kymo_grouping *thread; /* NULL: begin and end may be in different threads */
  bool keys_are_groups;         /* they go by the same */
  bool crosses_threads;         /* an end whose thread has no begin of its key takes the latest one of another
                        * thread */
  bool is_charged_to_begin;
  bool is_chain; /* each event of a group ends the time that the previous one began; threads are ignored */
  struct kymo_error *error; /* filled if a temporary file fails */
  unsigned worst_wanted;
  const char *prefix;         /* only groups whose names begin with this are listed; NULL: all */
  kymo_pair_handler *handler; /* or NULL */
  void *user;
  /* what came of it */
  struct kymo_groups groups;               /* bytes_limit is set by the owner */
  struct kymo_spans spans;                 /* what is open */
  struct kymo_worst worst[KYMO_WORST_MAX]; /* the longest first */
  unsigned worst_count;
  struct kymo_arena names; /* of groups of the longest that were found between two runs … */
  size_t name_count;       /* … their number */
  uint64_t without_begin, without_end, without_key; /* without_end: from kymo_pairs_settle on */
  int64_t last_ns;                                  /* of the latest event */
  uint64_t over_gaps;                               /* not measured, since events are lost in between */
};

/* By what begins and ends belong together, and by what times are summed up; NULL: all. */
struct kymo_pair_groups {
  const char *key, *by;
};
/* Begins both groupings, which the owner ends, also after a failure; `thread` is set before. Results as of
 * kymo_grouping_begin. */
int kymo_pairs_group(struct kymo_pairs *pairs, struct kymo_trace *trace, struct kymo_whos *whos,
                     const struct kymo_pair_groups *groups, struct kymo_error *error);
/* The same for latencies, whose begins and ends are in one thread, or in others if a key says so; `edges` is
 * set before, and `thread` is begun, too. */
int kymo_pairs_group_latency(struct kymo_pairs *pairs, struct kymo_grouping *thread, struct kymo_trace *trace,
                             struct kymo_whos *whos, const struct kymo_pair_groups *groups,
                             struct kymo_error *error);
/* Takes one event. KYMO_OK, KYMO_E_MEMORY, or KYMO_E_SYSTEM with the error. */
int kymo_pairs_event(struct kymo_pairs *pairs, const struct kymo_event *event);
struct kymo_report;
/* Nothing more is measured: completes the groups, and sums them up in `all`, as kymo_groups_settle does. */
int kymo_pairs_settle(struct kymo_pairs *pairs, const struct kymo_report *report, struct kymo_samples *all);
/* Whether some times were not measured. */
bool kymo_pairs_are_short(const struct kymo_pairs *pairs);
void kymo_pairs_free(struct kymo_pairs *pairs);

#endif
