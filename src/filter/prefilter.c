/* SPDX-License-Identifier: MIT */
/*
 * Prefilters made of a filter: the events that the class alone or raw tests decide. A filter with a memory
 * must see all events and has no prefilter.
 */
#include "filter/machine.h"
#include "source/prefilter.h"

#define BOUNDS_MAX 65536

/* Pretends that there is an event of the class: binding only asks for its places. */
static struct kymo_filter_class *bind(struct filter_machine *machine, struct stream_state *stream,
                                      struct kymo_event_plan *plan) {
  const struct kymo_packet packet = {.stream = &stream->decoder.stream};
  const struct kymo_event event = {.class_ = plan->class_, .packet = &packet, .plan = plan};
  if (!plan->filter)
    plan->filter = kymo_filter_bind(machine, &event);
  return plan->filter;
}

/* NULL: out of memory. *is_useful: some events will fail. */
static const struct kymo_prefilter *make_prefilter(struct filter_machine *machine,
                                                   struct stream_state *stream, bool *is_useful) {
  const struct kymo_stream_class *class_ = stream->decoder.stream.class_;
  struct kymo_prefilter *prefilter = kymo_arena_alloc(&machine->arena, sizeof *prefilter);
  struct kymo_prefilter_class *classes =
      kymo_arena_array(&machine->arena, class_->event_count + 1u, sizeof *classes);
  stream->decoder.plan = &stream->part->plan->streams[class_->index];
  for (uint32_t i = 0; prefilter && classes && i < class_->event_count; i++) {
    const struct kymo_filter_class *bound = bind(machine, stream, &stream->decoder.plan->events[i]);
    if (!bound)
      return NULL;
    classes[i] =
        (struct kymo_prefilter_class){bound->is_decided && !bound->verdict, bound->raw_count, bound->raws};
    *is_useful |= classes[i].fails || classes[i].test_count;
  }
  if (prefilter && classes)
    prefilter->classes = classes;
  return classes ? prefilter : NULL;
}

/* Events that come late, or in no order, cannot be found again. */
static bool can_prefilter(const struct filter_machine *machine) {
  const struct kymo_trace *trace = machine->trace;
  return !machine->filter->remembers && !trace->follow && !trace->options.unmerged;
}

/* All classes are bound at once, though few may come: files may define very many. */
static bool is_worth_it(const struct filter_machine *machine, const struct kymo_stream_class *class_) {
  return (uint64_t)class_->event_count * machine->filter->node_count <= BOUNDS_MAX;
}

bool kymo_filter_make_prefilters(struct filter_machine *machine) {
  struct kymo_trace *trace = machine->trace;
  machine->prefilters =
      kymo_arena_array(&machine->arena, trace->stream_count + 1, sizeof(struct kymo_prefilter *));
  for (size_t i = 0; machine->prefilters && i < trace->stream_count && can_prefilter(machine); i++) {
    struct stream_state *stream = trace->streams[i];
    bool is_useful = false;
    if (!stream->operations->prefilter || !stream->decoder.stream.class_ ||
        !is_worth_it(machine, stream->decoder.stream.class_))
      continue;
    const struct kymo_prefilter *prefilter = make_prefilter(machine, stream, &is_useful);
    if (!prefilter)
      return false;
    machine->prefilters[i] = is_useful ? prefilter : NULL;
    trace->may_prefilter |= is_useful;
  }
  return machine->prefilters != NULL;
}

void kymo_filter_set_prefilters(const struct filter_machine *machine) {
  const struct kymo_trace *trace = machine->trace;
  for (size_t i = 0; i < trace->stream_count; i++)
    if (machine->prefilters[i])
      kymo_stream_set_prefilter(trace->streams[i], machine->prefilters[i]);
}
