/* SPDX-License-Identifier: MIT */
/*
 * Filtering: how the machine takes part in moving through a trace. A filter without a memory asks about each
 * event alone. One with a memory must have seen all events before the current one, however that was reached:
 * when the number of the next event does not follow the last one seen, a lookahead reader goes over those in
 * between (or over all from the start again).
 */
#include "filter/machine.h"
#include "base/fail.h"
#include "base/likely.h"
#include "base/sized.h"
#include "filter/activity.h"
#include "trace/namer.h"
#include "trace/lookahead.h"
#include "trace/pause.h"
#include <stdlib.h>

#define PASSES_MAX 8

/* ---- life ---- */

void kymo_filter_machine_free(struct filter_machine *machine) {
  if (!machine)
    return;
  uint32_t count = machine->filter ? machine->filter->node_count : 0;
  for (uint32_t i = 0; i < count; i++) {
    if (machine->states) {
      kymo_filter_table_free(&machine->states[i].table);
      free(machine->states[i].stretches);
    }
    if (machine->patterns)
      kymo_regex_memory_free(machine->patterns[i]);
    if (machine->regexes)
      kymo_regex_free(machine->regexes[i]);
  }
  if (machine->names)
    kymo_namer.end(machine->names);
  kymo_lookahead_free(machine->ahead);
  kymo_filter_activities_free(machine->activities);
  kymo_filter_record_free(machine->record);
  kymo_arena_free(&machine->arena);
  kymo_filter_release(machine->filter);
  free(machine);
}

/* Removes what was bound for another filter from the plans. */
static void forget_classes(struct kymo_trace *trace) {
  for (size_t i = 0; i < trace->part_count; i++) {
    const struct kymo_schema_plan *plan = trace->parts[i]->plan;
    for (uint32_t j = 0; j < plan->schema->stream_count; j++)
      for (uint32_t k = 0; k < plan->schema->streams[j]->event_count; k++)
        plan->streams[j].events[k].filter = NULL;
  }
}

static struct filter_machine *new_machine(struct kymo_trace *trace, struct kymo_filter *filter) {
  struct filter_machine *machine = calloc(1, sizeof *machine);
  size_t count = filter->node_count + (size_t)1;
  if (!machine)
    return NULL;
  machine->trace = trace;
  machine->filter = kymo_filter_retain(filter);
  machine->states = kymo_arena_array(&machine->arena, count, sizeof *machine->states);
  machine->memos = kymo_arena_array(&machine->arena, count, sizeof *machine->memos);
  machine->regexes = kymo_arena_array(&machine->arena, count, sizeof(struct kymo_regex *));
  machine->patterns = kymo_arena_array(&machine->arena, count, sizeof(struct kymo_regex_memory *));
  machine->spots = kymo_arena_array(&machine->arena, count, sizeof(struct filter_spot *));
  if (machine->states && machine->memos && machine->regexes && machine->patterns && machine->spots)
    return machine;
  kymo_filter_machine_free(machine);
  return NULL;
}

/* Whether the filter was compiled for these descriptions. */
static int check_target(const struct kymo_trace *trace, const struct kymo_filter *filter,
                        struct kymo_error *error) {
  const struct kymo_schema **schemas = calloc(trace->part_count + 1, sizeof *schemas);
  if (!schemas)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  size_t count = 0;
  for (size_t i = 0; i < trace->part_count; i++)
    if (!kymo_filter_is_added(&trace->parts[i]->part))
      schemas[count++] = trace->parts[i]->schema;
  struct kymo_filter_target target = kymo_filter_target_of(schemas, count);
  free(schemas);
  if (target.low == filter->target.low && target.high == filter->target.high)
    return KYMO_OK;
  return kymo_fail(error, KYMO_E_USAGE,
                   "the filter was compiled for another description of events; recompile it");
}

static void forget(struct filter_machine *machine) {
  kymo_filter_forget(machine);
  kymo_filter_activities_forget(machine->activities);
  machine->seen = machine->given = machine->added_given = 0;
}

static void start_anew(struct filter_machine *machine) {
  if (machine->trace->number == 0)
    return;
  forget(machine);
  kymo_filter_record_free(machine->record);
  machine->record = NULL;
  machine->trace->is_moved = true;
}

static const struct filter_operations operations = {.start_anew = start_anew,
                                                    .free = kymo_filter_machine_free};

int kymo_filter_attach(struct kymo_trace *trace, struct kymo_filter *filter, struct kymo_error *error) {
  int status = filter ? check_target(trace, filter, error) : KYMO_OK;
  if (status == KYMO_OK && filter && filter->looks_ahead && trace->follow)
    status = kymo_fail(
        error, KYMO_E_USAGE,
        "E59 this filter must see all events before it selects the first one (BEFORE, AFTER LAST, AROUND, "
        "END), and a trace that "
        "is followed has no end yet");
  if (status == KYMO_OK)
    status = kymo_trace_end_prefilters(trace, error);
  if (status != KYMO_OK)
    return status;
  kymo_filter_machine_free(trace->filter);
  trace->filter = NULL;
  trace->may_prefilter = false;
  forget_classes(trace);
  if (!filter)
    return KYMO_OK;
  trace->filter = new_machine(trace, filter);
  if (!trace->filter)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  trace->filter_operations = &operations;
  status = kymo_filter_activities_begin(trace->filter, error);
  if (status < 0) {
    kymo_filter_machine_free(trace->filter);
    trace->filter = NULL;
  }
  return status;
}

void kymo_filter_counts_(const struct kymo_trace *trace, struct kymo_filter_result *result, size_t size) {
  struct kymo_filter_result none = {0, 0, 0};
  kymo_sized_out(result, size, trace->filter ? &trace->filter->counts : &none, sizeof none);
}

/* ---- one event ---- */

static struct kymo_filter_class *class_of(struct filter_machine *machine, const struct kymo_event *event) {
  struct kymo_event_plan *plan = (struct kymo_event_plan *)(uintptr_t)event->plan;
  if (KYMO_UNLIKELY(!plan->filter) && !(plan->filter = kymo_filter_bind(machine, event)))
    machine->failed = KYMO_E_MEMORY;
  return plan->filter;
}

bool kymo_filter_selects(struct filter_machine *machine, const struct kymo_event *event) {
  const struct kymo_filter_class *class_ = class_of(machine, event);
  if (KYMO_UNLIKELY(!class_ || class_->is_unseen))
    return false;
  for (uint32_t i = 0; i < class_->raw_count; i++)
    if (!kymo_filter_raw_holds(&class_->raws[i], event))
      return false;
  if (class_->is_raw)
    return true;
  struct filter_look look = {machine, event};
  return class_->select->test(class_->select, &look);
}

/* An event for a filter without a memory: most classes are decided by one flag. */
static inline bool selects_alone(struct filter_machine *machine, const struct kymo_event *event) {
  const struct kymo_filter_class *class_ = event->plan->filter;
  if (KYMO_LIKELY(class_ != NULL) && class_->is_decided)
    return class_->verdict;
  machine->stamp++;
  return kymo_filter_selects(machine, event);
}

/* Passes an event to the memory, without asking whether it is selected. */
static void see(struct filter_machine *machine, const struct kymo_event *event) {
  const struct kymo_filter_class *class_ = class_of(machine, event);
  struct filter_look look = {machine, event};
  machine->stamp++;
  if (!class_ || class_->is_unseen)
    return;
  kymo_filter_remember(machine, class_, &look);
  if (!machine->pass)
    kymo_filter_activities_see(machine, class_, &look);
}

int kymo_filter_failure(const struct filter_machine *machine, struct kymo_error *error) {
  return kymo_fail(error, machine->failed, "%s",
                   machine->failed == KYMO_E_LIMIT ? machine->limit : "out of memory");
}

/* ---- selecting ---- */

static bool is_full(const struct filter_machine *machine) {
  return machine->filter->first && machine->given >= machine->filter->first;
}

/* Whether the event is to be returned; then it counts for FIRST. */
static bool give(struct filter_machine *machine, const struct kymo_event *event) {
  bool is_given = !is_full(machine) && kymo_filter_selects(machine, event);
  machine->given += is_given;
  return is_given;
}

bool kymo_filter_give_added(struct filter_machine *machine, const struct kymo_event **event) {
  while (kymo_filter_activities_next(machine, event)) {
    machine->stamp++; /* nothing that was computed for the event that closed it holds for this one */
    if (give(machine, *event)) {
      machine->added_given++;
      return true;
    }
  }
  return false;
}

/* ---- skipping ---- */

/* Skips an event with the same effect as if it had been asked for. */
static void pass_over(struct filter_machine *machine, const struct kymo_event *event, bool keeps) {
  const struct kymo_event *added;
  see(machine, event);
  if (machine->pass)
    return;
  bool is_given = give(machine, event);
  machine->added_given = 0;
  while (!keeps && kymo_filter_give_added(machine, &added))
    continue;
  if (machine->record &&
      !kymo_filter_record_note(machine->record, event->number, is_given, machine->added_given))
    machine->failed = KYMO_E_MEMORY;
}

/* Goes over the events of a second pass, up to the one with this number; `keep`: the events that this one
 * has added wait. */
static int see_from(struct filter_machine *machine, struct kymo_trace *lookahead, uint64_t last,
                    uint64_t keep, struct kymo_error *error) {
  const struct kymo_event *event;
  int status = KYMO_OK;
  while (status == KYMO_OK && (status = kymo_trace_next(lookahead, &event, error)) == KYMO_OK &&
         event->number <= last) {
    if (event->number > machine->seen)
      pass_over(machine, event, event->number == keep);
    if (machine->failed)
      status = kymo_filter_failure(machine, error);
  }
  return status;
}

static struct kymo_trace *look_ahead(const struct filter_machine *machine, struct kymo_error *error) {
  const struct kymo_trace *trace = machine->trace;
  struct kymo_trace *lookahead = kymo_lookahead_new(trace, trace->streams, trace->stream_count);
  if (lookahead)
    lookahead->is_selecting = trace->is_selecting, lookahead->wants_times = trace->wants_times;
  else
    kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return lookahead;
}

static int see_up_to(struct filter_machine *machine, uint64_t last, uint64_t keep, struct kymo_error *error) {
  struct kymo_trace *lookahead = look_ahead(machine, error);
  int status = lookahead ? see_from(machine, lookahead, last, keep, error) : KYMO_E_MEMORY;
  kymo_lookahead_free(lookahead);
  return status < 0 ? status : KYMO_OK;
}

/* A first pass, or as much of it as may be read before the trace pauses (KYMO_AGAIN). */
static int see_all(struct filter_machine *machine, struct kymo_error *error) {
  const struct kymo_trace *trace = machine->trace;
  uint64_t number = trace->number;
  if (!machine->ahead) {
    machine->seen = 0;
    machine->ahead = look_ahead(machine, error);
  }
  if (!machine->ahead)
    return KYMO_E_MEMORY;
  kymo_trace_pause_after(machine->ahead, trace->pause_number > number ? trace->pause_number - number : 0);
  int status = see_from(machine, machine->ahead, UINT64_MAX, 0, error);
  if (status == KYMO_AGAIN)
    return status;
  kymo_lookahead_free(machine->ahead);
  machine->ahead = NULL;
  return status < 0 ? status : KYMO_OK;
}

/* The first passes. KYMO_AGAIN: the trace pauses, and the next call goes on. */
static int prepare(struct filter_machine *machine, struct kymo_error *error) {
  uint32_t passes = machine->filter->looks_ahead ? kymo_filter_rank(machine) : 0;
  int status = KYMO_OK;
  if (passes > PASSES_MAX)
    return kymo_fail(error, KYMO_E_LIMIT, "E61 tests that look ahead are nested %u deep; expected at most %d",
                     passes, PASSES_MAX);
  for (machine->pass += !machine->pass; machine->pass <= passes && status == KYMO_OK; machine->pass++) {
    status = see_all(machine, error);
    if (status == KYMO_AGAIN)
      return status;
    kymo_filter_forget(machine);
  }
  machine->pass = 0;
  machine->seen = 0;
  machine->is_ready = status == KYMO_OK;
  return status;
}

/* The span of time that moments count from: those that count from the begin or the end need it. */
static int find_range(struct filter_machine *machine, struct kymo_error *error) {
  bool is_needed = false;
  for (uint32_t i = 0; i < machine->filter->moment_count; i++)
    is_needed |= machine->filter->moments[i].anchor != KYMO_FILTER_EPOCH;
  if (!is_needed)
    return KYMO_OK;
  int status = kymo_trace_range(machine->trace, &machine->begin_ns, &machine->end_ns, error);
  machine->has_range = status == KYMO_OK;
  return status == KYMO_E_ABSENT ? KYMO_OK : status;
}

/* ---- segments ---- */

/* Determines where the segments of each stream are. */
static int find_segments(struct filter_machine *machine, struct kymo_error *error) {
  struct kymo_trace *trace = machine->trace;
  int status = machine->filter->has_segments
                   ? kymo_trace_count_segments(trace, &machine->segment_count, error)
                   : KYMO_OK;
  if (status < 0 || !machine->filter->has_segments)
    return status;
  machine->segments = kymo_arena_array(&machine->arena, trace->stream_count + 1, sizeof *machine->segments);
  machine->first_segments =
      kymo_arena_array(&machine->arena, trace->stream_count + 1, sizeof *machine->first_segments);
  machine->next_segments =
      kymo_arena_array(&machine->arena, machine->segment_count + 1, sizeof *machine->next_segments);
  if (!machine->segments || !machine->first_segments || !machine->next_segments)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = machine->segment_count; i > 0; i--) {
    uint32_t rank = ((const struct stream_state *)kymo_trace_segment(trace, i - 1)->stream)->rank;
    machine->next_segments[i - 1] = machine->first_segments[rank];
    machine->first_segments[rank] = (uint32_t)i;
  }
  return KYMO_OK;
}

static bool begins_by(const struct filter_machine *machine, uint32_t segment, uint64_t number) {
  return segment && kymo_trace_segment(machine->trace, segment - 1)->first <= number;
}

uint64_t kymo_filter_segment_of(struct filter_machine *machine, const struct kymo_event *event) {
  uint32_t rank = kymo_stream_of(event)->rank, *at;
  if (!machine->segments || kymo_filter_is_added(event->packet->stream->part))
    return 0;
  at = &machine->segments[rank];
  if (!begins_by(machine, *at, event->number))
    *at = machine->first_segments[rank];
  while (*at && begins_by(machine, machine->next_segments[*at - 1], event->number))
    *at = machine->next_segments[*at - 1];
  return *at;
}

/* The same, starting from where the memory is, if that is not after it. */
static int bring(struct filter_machine *machine, uint64_t last, bool keeps, struct kymo_error *error) {
  const struct kymo_event *added;
  if (last < machine->seen || (keeps && last == machine->seen))
    forget(machine);
  while (kymo_filter_give_added(machine, &added)) /* activities that ended at the current place count for
                                                   * FIRST */
    continue;
  int status = see_up_to(machine, last, keeps ? last : 0, error);
  machine->seen = last;
  return status;
}

int kymo_filter_replay(struct filter_machine *machine, uint64_t last, bool keeps, struct kymo_error *error) {
  struct kymo_filter_result counts = machine->counts; /* events before do not count again */
  forget(machine);
  int status = bring(machine, last, keeps, error);
  machine->counts = counts;
  return status;
}

/* Brings the memory to the event that comes next. */
static int catch_up(struct filter_machine *machine, const struct kymo_event *event,
                    struct kymo_error *error) {
  uint64_t number;
  int status = kymo_trace_get_number(machine->trace, event, &number, error);
  return status == KYMO_OK ? bring(machine, number - 1, false, error) : status;
}

/* ---- moving ---- */

static int see_next(struct filter_machine *machine, const struct kymo_event **event,
                    struct kymo_error *error) {
  struct kymo_trace *trace = machine->trace;
  bool is_here = kymo_filter_is_here(machine);
  int status = kymo_trace_next(trace, event, error);
  if (status == KYMO_OK && !is_here)
    status = catch_up(machine, *event, error);
  kymo_filter_leave(machine, status == KYMO_OK || is_here);
  if (status != KYMO_OK)
    return status;
  see(machine, *event);
  machine->seen = (*event)->number;
  machine->added_given = 0;
  return machine->failed ? kymo_filter_failure(machine, error) : KYMO_OK;
}

/* After a move to an event, the events that it has added come next. */
static int find_added(struct filter_machine *machine, struct kymo_error *error) {
  struct kymo_trace *trace = machine->trace;
  bool is_at_event = trace->number > 0 && trace->number < KYMO_NUMBER_RELATIVE && !trace->is_at_end;
  if (!machine->activities || kymo_filter_is_here(machine) || !is_at_event)
    return KYMO_OK;
  int status = bring(machine, trace->number, true, error);
  kymo_filter_leave(machine, status == KYMO_OK);
  return status;
}

static int next_with_memory(struct filter_machine *machine, const struct kymo_event **event,
                            struct kymo_error *error) {
  int status = find_added(machine, error);
  if (status != KYMO_OK)
    return status;
  for (;;) {
    if (kymo_filter_is_here(machine) && kymo_filter_give_added(machine, event))
      return KYMO_OK;
    status = see_next(machine, event, error);
    if (status != KYMO_OK || give(machine, *event))
      return status;
    if (is_full(machine)) /* and it was so before this event: no other move took place, or one that went
                           * after the last event */
      return KYMO_END;
  }
}

/* Goes through the current batch, as kymo_trace_next does; NULL: none of them is selected. */
static const struct kymo_event *next_in_batch(struct filter_machine *machine) {
  struct kymo_trace *trace = machine->trace;
  while (trace->batch_next < trace->batch_limit && !machine->failed) {
    struct kymo_event *event = trace->batch[trace->batch_next++];
    if (trace->are_numbered)
      trace->number = event->number;
    else
      event->number = ++trace->number;
    if (selects_alone(machine, event))
      return event;
  }
  return NULL;
}

static int next_alone(struct filter_machine *machine, const struct kymo_event **event,
                      struct kymo_error *error) {
  bool is_plain = !machine->filter->counts;
  for (;;) {
    uint64_t number;
    if (is_plain && (*event = next_in_batch(machine)) != NULL)
      return KYMO_OK;
    if (KYMO_UNLIKELY(machine->failed))
      return kymo_filter_failure(machine, error);
    int status = kymo_trace_move_on(machine->trace, event, error);
    if (!is_plain && status == KYMO_OK)
      status = kymo_trace_get_number(machine->trace, *event, &number, error);
    if (status != KYMO_OK || selects_alone(machine, *event))
      return status;
  }
}

/* As next_alone, up to FIRST n: only the number of selected events is remembered. */
static int next_of_first(struct filter_machine *machine, const struct kymo_event **event,
                         struct kymo_error *error) {
  bool is_here = kymo_filter_is_here(machine);
  int status = next_alone(machine, event, error);
  if (status == KYMO_OK && !is_here)
    status = catch_up(machine, *event, error);
  kymo_filter_leave(machine, status == KYMO_OK || is_here);
  if (status != KYMO_OK)
    return status;
  machine->seen = (*event)->number;
  if (is_full(machine))
    return KYMO_END;
  machine->given++;
  return KYMO_OK;
}

int kymo_filter_prepare(struct filter_machine *machine, struct kymo_error *error) {
  if (machine->is_ready)
    return KYMO_OK;
  if (machine->pass)
    return prepare(machine, error);
  int status = find_range(machine, error);
  if (status == KYMO_OK)
    status = find_segments(machine, error);
  if (status == KYMO_OK && !kymo_filter_make_prefilters(machine))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return status == KYMO_OK ? prepare(machine, error) : status;
}

static __attribute__((noinline)) int next_of(struct filter_machine *machine, const struct kymo_event **event,
                                             struct kymo_error *error) {
  struct kymo_trace *trace = machine->trace;
  *event = NULL;
  machine->is_ended = is_full(machine) && kymo_filter_is_here(machine);
  if (machine->is_ended)
    return KYMO_END;
  int status = kymo_filter_prepare(machine, error);
  bool is_limited =
      trace->end_ns != INT64_MAX; /* the end is then between events, which may have been prefiltered */
  if (status == KYMO_OK && is_limited)
    status = kymo_trace_end_prefilters(trace, error);
  if (status == KYMO_OK && trace->may_prefilter && !trace->is_prefiltered && !is_limited)
    kymo_filter_set_prefilters(machine);
  if (status == KYMO_OK)
    status = machine->filter->remembers ? next_with_memory(machine, event, error)
             : machine->filter->first   ? next_of_first(machine, event, error)
                                        : next_alone(machine, event, error);
  if (status != KYMO_OK)
    *event = NULL;
  return status;
}

bool kymo_filter_is_alone(const struct kymo_trace *trace) {
  const struct kymo_filter *filter = trace->filter ? trace->filter->filter : NULL;
  return !filter || (!filter->remembers && !filter->looks_ahead && !filter->counts && !filter->first &&
                     !filter->over_all);
}

int kymo_trace_next_filtered(struct kymo_trace *trace, const struct kymo_event **event,
                             struct kymo_error *error) {
  return trace->filter ? next_of(trace->filter, event, error) : kymo_trace_next(trace, event, error);
}
