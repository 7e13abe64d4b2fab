/* SPDX-License-Identifier: MIT */
#include "sink/export/slices.h"
#include "base/fail.h"
#include "base/list.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- processes ---- */

static bool find_process(struct kymo_slices *slices, const struct kymo_event *event, int64_t *id) {
  const struct kymo_part *part = event->packet->stream->part;
  const struct kymo_environment *entry = kymo_schema_environment(part->schema, "vpid");
  if (kymo_who_process(slices->trace, event, id))
    return true;
  if (!entry || entry->text)
    return false;
  *id = entry->integer;
  return true;
}

static const char *name_of(const struct kymo_part *part) {
  const struct kymo_environment *entry = kymo_schema_environment(part->schema, "procname");
  const char *slash = part->path ? strrchr(part->path, '/') : NULL;
  return entry && entry->text ? entry->text : slash && slash[1] ? slash + 1 : part->path ? part->path : "";
}

/* The process of an event, made if it is new; NULL: out of memory. */
static const struct kymo_slice_process *process_of(struct kymo_slices *slices,
                                                   const struct kymo_event *event) {
  struct kymo_slice_process process = {.part = event->packet->stream->part};
  process.has_id = find_process(slices, event, &process.id);
  for (size_t i = 0; i < slices->process_count; i++) {
    const struct kymo_slice_process *other = slices->processes[i];
    if (other->part == process.part && other->has_id == process.has_id && other->id == process.id)
      return other;
  }
  struct kymo_slice_process *made = kymo_arena_alloc(&slices->arena, sizeof *made);
  if (!made || !KYMO_LIST_ROOM(slices->processes, slices->process_capacity, slices->process_count))
    return NULL;
  process.number = (uint32_t)slices->process_count;
  process.name = name_of(process.part);
  *made = process;
  return slices->processes[slices->process_count++] = made;
}

/* ---- rows ---- */

static void set_name(struct kymo_slices *slices, struct kymo_slice_row *row, const struct kymo_event *event,
                     const char *name) {
  const struct kymo_who *who = kymo_who_of(&slices->whos, event);
  row->has_thread = who && who->has_tid;
  row->thread = row->has_thread ? who->tid : 0;
  const bool is_named = row->has_thread && who->name_length;
  row->name = kymo_arena_copy(&slices->arena, is_named ? who->name : name,
                              is_named ? who->name_length : strlen(name));
}

static const struct kymo_slice_row *new_row(struct kymo_slices *slices, const struct kymo_event *event,
                                            const char *name) {
  struct kymo_slice_row *row = kymo_arena_alloc(&slices->arena, sizeof *row);
  if (!row || !KYMO_LIST_ROOM(slices->rows, slices->row_capacity, slices->row_count))
    return NULL;
  const size_t before = slices->process_count;
  *row = (struct kymo_slice_row){.number = (uint32_t)slices->row_count, .process = process_of(slices, event)};
  row->is_first = slices->process_count > before;
  set_name(slices, row, event, name);
  if (!row->name || !row->process)
    return NULL;
  slices->rows[slices->row_count++] = row;
  return row;
}

/* The row of an event; NULL: the error is filled. */
static const struct kymo_slice_row *find_row(struct kymo_slices *slices, const struct kymo_event *event,
                                             struct kymo_error *error) {
  struct kymo_groups *groups = &slices->groups[event->packet->stream->part->index];
  struct kymo_stat_group *group = NULL;
  const struct kymo_slice_row **rest = &slices->rest[event->packet->stream->part->index];
  int status = kymo_grouping_find(&slices->grouping, groups, event, &group);
  if (status == KYMO_OK && group->calls)
    return slices->rows[group->calls - 1];
  if (status == KYMO_E_ABSENT && *rest)
    return *rest;
  const struct kymo_slice_row *row =
      status == KYMO_E_MEMORY ? NULL : new_row(slices, event, group ? group->name : "events");
  if (!row) {
    no_memory(error);
    return NULL;
  }
  if (group)
    group->calls = slices->row_count;
  else
    *rest = row;
  return slices->style->row(slices->state, row, error) == KYMO_OK ? row : NULL;
}

/* ---- slices ---- */

static struct kymo_slice_kind *kind_of(struct kymo_slices *slices, const struct kymo_span *span) {
  const struct kymo_span_kind *kind = span->owner;
  struct kymo_slice_kind *own = &slices->kinds[kind - slices->latencies.kinds];
  if (!own->number)
    own->number = ++slices->kind_count;
  return own;
}

static struct kymo_slice slice_of(struct kymo_slices *slices, struct kymo_span *span,
                                  const struct kymo_event *event) {
  const struct kymo_span_kind *kind = span->owner;
  return (struct kymo_slice){
      .row = slices->row,
      .name = kind->group.name,
      .kind = kind_of(slices, span)->number,
      .time_ns = event->time_ns,
      .number = span->begin_number,
      .is_apart = span->lane != 0,
      .event = event,
      .span = span,
  };
}

static bool has_failed(struct kymo_slices *slices, int status) {
  slices->status = status;
  return status != KYMO_OK;
}

/* Closes the slices in which another one ends that was opened before them, innermost first. */
static bool break_inner(struct kymo_slices *slices, const struct kymo_span *end,
                        const struct kymo_event *event) {
  struct kymo_span *span = kymo_spans_innermost(&slices->latencies.spans, end->key.thread);
  for (; span != end; span = span->outer) {
    struct kymo_slice slice = slice_of(slices, span, event);
    slice.event = NULL;
    slice.goes_on = true;
    if (!slice.is_apart && has_failed(slices, slices->style->end(slices->state, &slice, slices->error)))
      return false;
  }
  return true;
}

/* Opens them again, outermost first. */
static bool resume_inner(struct kymo_slices *slices, const struct kymo_span *end,
                         const struct kymo_event *event) {
  for (struct kymo_span *span = end->inner; span; span = span->inner) {
    struct kymo_slice slice = slice_of(slices, span, event);
    slice.event = NULL;
    slice.goes_on = true;
    if (!slice.is_apart && has_failed(slices, slices->style->begin(slices->state, &slice, slices->error)))
      return false;
  }
  return true;
}

static bool is_inside(const struct kymo_span *span) {
  for (const struct kymo_span *inner = span->inner; inner; inner = inner->inner)
    if (inner->lane == 0)
      return true;
  return false;
}

static bool end_slice(struct kymo_slices *slices, struct kymo_span *span, const struct kymo_event *event,
                      bool is_measured) {
  struct kymo_slice slice = slice_of(slices, span, event);
  const bool overlaps = !slice.is_apart && is_inside(span);
  slice.is_over_loss = !is_measured;
  slice.self_ns = span->inside_ns;
  if (overlaps && !break_inner(slices, span, event))
    return false;
  if (has_failed(slices, slices->style->end(slices->state, &slice, slices->error)))
    return false;
  kind_of(slices, span)->is_apart |= overlaps;
  return !overlaps || resume_inner(slices, span, event);
}

static bool take_edge(void *user, struct kymo_span *span, const struct kymo_event *event, bool is_end,
                      bool is_measured) {
  struct kymo_slices *slices = user;
  slices->is_edge = true;
  if (is_end)
    return end_slice(slices, span, event, is_measured);
  span->lane = kind_of(slices, span)->is_apart;
  const struct kymo_slice slice = slice_of(slices, span, event);
  return !has_failed(slices, slices->style->begin(slices->state, &slice, slices->error));
}

int kymo_slices_event(struct kymo_slices *slices, const struct kymo_event *event, struct kymo_error *error) {
  slices->row = find_row(slices, event, error);
  if (!slices->row)
    return error->code;
  if (event->is_damaged)
    kymo_gaps_damage(&slices->gaps, event);
  slices->is_edge = false;
  slices->error = error;
  slices->status = KYMO_OK;
  int status = kymo_latencies_event(&slices->latencies, event);
  if (slices->status != KYMO_OK)
    return slices->status;
  if (status != KYMO_OK)
    return no_memory(error);
  if (slices->is_edge)
    return KYMO_OK;
  const struct kymo_slice instant = {
      .row = slices->row, .name = event->class_->name, .time_ns = event->time_ns, .event = event};
  return slices->style->instant(slices->state, &instant, error);
}

void kymo_slices_loss(struct kymo_slices *slices, const struct kymo_loss *loss, char name[KYMO_LOSS_NAME]) {
  const char *what = loss->is_packets ? "packets" : "events";
  kymo_gaps_take(&slices->gaps, loss);
  if (loss->count_known)
    snprintf(name, KYMO_LOSS_NAME, "%" PRIu64 " %s lost", loss->count, what);
  else
    snprintf(name, KYMO_LOSS_NAME, "%s lost", what);
}

/* ---- life ---- */

int kymo_slices_begin(struct kymo_slices *slices, struct kymo_trace *trace,
                      const struct kymo_slice_style *style, struct kymo_sink_state *state,
                      struct kymo_error *error) {
  size_t count;
  *slices = (struct kymo_slices){.trace = trace, .style = style, .state = state};
  slices->part_count = kymo_trace_part_count(trace);
  slices->groups = calloc(slices->part_count + 1, sizeof *slices->groups);
  slices->rest = calloc(slices->part_count + 1, sizeof *slices->rest);
  int status = kymo_whos_begin(&slices->whos, trace, error);
  if (status == KYMO_OK)
    status = kymo_edges_begin(&slices->edges, trace, &slices->whos.numbers, error);
  if (status == KYMO_OK)
    status = kymo_gaps_begin(&slices->gaps, trace, &slices->whos, error);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&slices->grouping, "track", trace, &slices->whos, error);
  slices->latencies = (struct kymo_latencies){.edges = &slices->edges,
                                              .gaps = &slices->gaps,
                                              .handler = take_edge,
                                              .user = slices,
                                              .spans.is_nested = true};
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&slices->latencies.thread, "track", trace, &slices->whos, error);
  if (status != KYMO_OK)
    return status;
  if (!slices->groups || !slices->rest || kymo_edges_add_spans(&slices->edges, &count) != KYMO_OK ||
      kymo_latencies_begin(&slices->latencies) != KYMO_OK)
    return no_memory(error);
  slices->kinds = calloc(slices->latencies.kind_count + 1, sizeof *slices->kinds);
  return slices->kinds ? KYMO_OK : no_memory(error);
}

void kymo_slices_end(struct kymo_slices *slices) {
  kymo_latencies_free(&slices->latencies);
  kymo_grouping_end(&slices->latencies.thread);
  kymo_grouping_end(&slices->grouping);
  for (size_t i = 0; slices->groups && i < slices->part_count; i++)
    kymo_groups_free(&slices->groups[i]);
  free(slices->groups);
  free(slices->processes);
  free(slices->rows);
  free(slices->rest);
  free(slices->kinds);
  kymo_gaps_end(&slices->gaps);
  kymo_edges_end(&slices->edges);
  kymo_whos_end(&slices->whos);
  kymo_arena_free(&slices->arena);
}
