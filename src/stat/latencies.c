/* SPDX-License-Identifier: MIT */
#include "stat/latencies.h"
#include "stat/opened.h"
#include <kymo/schema.h>
#include <stdlib.h>
#include <string.h>

/* ---- kinds ---- */

/* The edges of spans, in the order of their kinds. */
struct edge {
  uint64_t kind;
  uint32_t number;
  const struct kymo_event_class *class_;
};

static int by_kind(const void *a, const void *b) {
  const struct edge *x = a, *y = b;
  return x->kind != y->kind      ? (x->kind < y->kind ? -1 : 1)
         : x->number < y->number ? -1
                                 : x->number > y->number;
}

static size_t list_edges(const struct kymo_edges *edges, struct edge *list) {
  size_t count = 0;
  for (size_t i = 0; i < kymo_trace_part_count(edges->trace); i++) {
    const struct kymo_schema *schema = kymo_trace_part(edges->trace, i)->schema;
    for (uint32_t j = 0; j < schema->stream_count; j++)
      for (uint32_t k = 0; k < schema->streams[j]->event_count; k++) {
        const struct kymo_event_class *class_ = schema->streams[j]->events[k];
        uint32_t number = kymo_class_number(edges->numbers, (uint32_t)i, class_);
        if (edges->kinds[number])
          list[count++] = (struct edge){edges->kinds[number], number, class_};
      }
  }
  return count;
}

static struct kymo_span_kind *add_kind(struct kymo_latencies *latencies, const struct edge *edge) {
  struct kymo_span_kind *kind = &latencies->kinds[latencies->kind_count];
  size_t length = 0;
  const char *name = kymo_edges_kind_name(edge->class_, &length);
  kind->group.key = edge->kind;
  kind->group.name = kymo_arena_copy(&latencies->arena, name, length);
  latencies->kind_count += kind->group.name != NULL;
  return kind->group.name ? kind : NULL;
}

int kymo_latencies_begin(struct kymo_latencies *latencies) {
  size_t room = latencies->edges->numbers->class_count + 1u, count = 0;
  struct edge *list = calloc(room, sizeof *list);
  latencies->of_class = calloc(room, sizeof *latencies->of_class);
  if (list && latencies->of_class)
    count = list_edges(latencies->edges, list);
  latencies->kinds = calloc(count + 1, sizeof *latencies->kinds);
  bool is_done = list && latencies->of_class && latencies->kinds;
  if (is_done)
    qsort(list, count, sizeof *list, by_kind);
  for (size_t i = 0; i < count && is_done; i++) {
    bool is_same = i > 0 && list[i].kind == list[i - 1].kind;
    latencies->of_class[list[i].number] =
        is_same ? latencies->of_class[list[i - 1].number] : add_kind(latencies, &list[i]);
    is_done = latencies->of_class[list[i].number];
  }
  free(list);
  return is_done ? KYMO_OK : KYMO_E_MEMORY;
}

/* ---- events ---- */

static void keep_worst(struct kymo_latencies *latencies, struct kymo_span_kind *kind,
                       const struct kymo_span *span, const struct kymo_event *event) {
  const struct kymo_who *who = kymo_who_of(latencies->gaps->whos, event);
  kind->worst = (struct kymo_instance){.begin_ns = span->begin_ns,
                                       .end_ns = event->time_ns,
                                       .tid = who ? who->tid : 0,
                                       .has_tid = who && who->has_tid,
                                       .begin_number = span->begin_number,
                                       .end_number = kymo_event_number(event),
                                       .is_epoch = kymo_event_is_epoch(event)};
}

static int measure(struct kymo_latencies *latencies, const struct kymo_span *span,
                   const struct kymo_event *event) {
  struct kymo_span_kind *kind = span->owner;
  struct kymo_stat_group *group = &kind->group;
  int64_t whole_ns = (int64_t)((uint64_t)event->time_ns - (uint64_t)span->begin_ns);
  if (latencies->gaps->counts[span->stream] != span->loss) {
    latencies->over_gaps++;
    return KYMO_OK;
  }
  if (!group->samples.count || whole_ns > group->samples.most)
    keep_worst(latencies, kind, span, event);
  group->calls++;
  group->self_ns += span->inside_ns;
  if (!span->same)
    group->outer_ns += whole_ns;
  return kymo_samples_add(&group->samples, whole_ns) ? KYMO_OK : KYMO_E_MEMORY;
}

/* `inside_ns` of a span is the sum of the times in which it was the innermost one, `last_ns` the begin of the
 * current such time. */
static int end_span(struct kymo_latencies *latencies, struct kymo_span_key key,
                    const struct kymo_event *event) {
  struct kymo_span *span = kymo_spans_find(&latencies->spans, key);
  if (!span) {
    latencies->without_begin++;
    return KYMO_OK;
  }
  if (span == kymo_spans_innermost(&latencies->spans, key.thread)) {
    span->inside_ns += event->time_ns - span->last_ns;
    if (span->outer)
      span->outer->last_ns = event->time_ns;
  }
  bool is_measured = latencies->gaps->counts[span->stream] == span->loss;
  int status = measure(latencies, span, event);
  if (latencies->handler && !latencies->handler(latencies->user, span, event, true, is_measured))
    status = KYMO_E_MEMORY;
  kymo_spans_end(&latencies->spans, span);
  return status;
}

static int begin_span(struct kymo_latencies *latencies, struct kymo_span_key key,
                      const struct kymo_event *event, uint32_t class_) {
  struct kymo_span *outer = kymo_spans_innermost(&latencies->spans, key.thread);
  if (outer)
    outer->inside_ns += event->time_ns - outer->last_ns;
  struct kymo_span *span = kymo_spans_begin(&latencies->spans, key);
  if (!span)
    return KYMO_E_MEMORY;
  span->begin_ns = span->last_ns = event->time_ns;
  span->begin_number = kymo_event_number(event);
  span->owner = latencies->of_class[class_];
  kymo_opened_note(span, latencies->gaps->whos, event);
  span->stream = kymo_gaps_slot(latencies->gaps, event);
  span->loss = latencies->gaps->counts[span->stream];
  return latencies->handler && !latencies->handler(latencies->user, span, event, false, true) ? KYMO_E_MEMORY
                                                                                              : KYMO_OK;
}

int kymo_latencies_event(struct kymo_latencies *latencies, const struct kymo_event *event) {
  uint32_t class_ = kymo_kind_of(event);
  if (event->has_time)
    latencies->last_ns = event->time_ns;
  struct kymo_span_key key = {.key = latencies->edges->kinds[class_]};
  if (!latencies->of_class[class_])
    return KYMO_OK;
  int status = kymo_grouping_number(&latencies->thread, event, &key.thread);
  if (status == KYMO_E_ABSENT || (status == KYMO_OK && !event->has_time)) {
    latencies->without_key++;
    return KYMO_OK;
  }
  if (status != KYMO_OK)
    return status;
  return latencies->edges->roles[class_] & KYMO_PAIR_ENDS ? end_span(latencies, key, event)
                                                          : begin_span(latencies, key, event, class_);
}

void kymo_latencies_free(struct kymo_latencies *latencies) {
  for (size_t i = 0; i < latencies->kind_count; i++)
    kymo_samples_free(&latencies->kinds[i].group.samples);
  free(latencies->kinds);
  free(latencies->of_class);
  kymo_spans_free(&latencies->spans);
  kymo_arena_free(&latencies->arena);
}
