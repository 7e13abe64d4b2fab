/* SPDX-License-Identifier: MIT */
/*
 * All spans of traces, by their kinds, without options for the events that begin or end them:
 *
 *   count   how many have begun and ended
 *   total   from begin to end; of a span inside another one of its kind in the same thread only the
 *           outermost, so nothing counts twice
 *   self    while it was the innermost open span of its thread: without the spans inside of it. Spans that
 *           overlap without one being inside the other have no time twice, either
 *
 * and the longest instance of each kind, with the command that shows its events. Spans over lost events are
 * not measured. Spans that are open at the end are listed (stat/opened.h).
 */
#ifndef KYMO_STAT_LATENCIES_H
#define KYMO_STAT_LATENCIES_H

#include "span/spans.h"
#include "stat/edges.h"
#include "stat/gaps.h"
#include "stat/instance.h"

/* A kind of spans; its group is the first member, so that groups are sorted like those of other tables. */
struct kymo_span_kind {
  struct kymo_stat_group group; /* name, samples, outer_ns (total), self_ns; calls: the count */
  struct kymo_instance worst;
};

/* Called when a span has begun, and before it is taken away when its end has come. `end` says which;
 * is_measured: no events are lost in it. The handler may keep something in what is the caller's of the span,
 * but for its owner, a struct kymo_span_kind. False: out of memory. */
typedef bool kymo_latency_handler(void *user, struct kymo_span *span, const struct kymo_event *event,
                                  bool is_end, bool is_measured);

struct kymo_latencies {
  /* set by the owner */
  const struct kymo_edges *edges;
  struct kymo_gaps *gaps;
  struct kymo_grouping thread;
  kymo_latency_handler *handler; /* or NULL */
  void *user;
  /* what came of it */
  struct kymo_arena arena;          /* of their names */
  struct kymo_span_kind **of_class; /* by class number; NULL: no edge of a span */
  struct kymo_span_kind *kinds;
  size_t kind_count;
  struct kymo_spans spans; /* the open spans; is_nested is set by the owner */
  uint64_t without_begin, without_key, over_gaps;
  int64_t last_ns; /* of the latest event */
};

/* Finds the kinds of the classes with roles (kymo_edges_add_spans). KYMO_E_MEMORY. */
int kymo_latencies_begin(struct kymo_latencies *latencies);
/* Takes one event. KYMO_OK or KYMO_E_MEMORY. */
int kymo_latencies_event(struct kymo_latencies *latencies, const struct kymo_event *event);
/* The table, and the spans that are not in it. KYMO_E_MEMORY. */
int kymo_latencies_report(const struct kymo_latencies *latencies, const struct kymo_report *report);
/* The line about spans that could not be measured. */
void kymo_latencies_put_short(const struct kymo_latencies *latencies, const struct kymo_report *report);
void kymo_latencies_free(struct kymo_latencies *latencies);

#endif
