/* SPDX-License-Identifier: MIT */
/* Events by the batch. */
#include "base/fail.h"
#include "base/sized.h"
#include "trace/trace.h"

static bool make_columns(struct kymo_trace *trace) {
  if (!trace->batch_times_ns) {
    trace->batch_classes = kymo_arena_array(&trace->arena, KYMO_BATCH_EVENTS, sizeof *trace->batch_classes);
    trace->batch_offsets = kymo_arena_array(&trace->arena, KYMO_BATCH_EVENTS, sizeof *trace->batch_offsets);
    trace->batch_times_ns = kymo_arena_array(&trace->arena, KYMO_BATCH_EVENTS, sizeof *trace->batch_times_ns);
  }
  return trace->batch_times_ns && trace->batch_offsets && trace->batch_classes;
}

static int next_batch(struct kymo_trace *trace, struct kymo_batch *batch, struct kymo_error *error) {
  const struct kymo_event *event;
  if (!make_columns(trace))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = kymo_trace_next(trace, &event, error);
  if (status != KYMO_OK)
    return status;
  struct kymo_event **first = &trace->batch[trace->batch_next - 1];
  *batch = (struct kymo_batch){.number = event->number,
                               .events = (const struct kymo_event *const *)first,
                               .times_ns = trace->batch_times_ns,
                               .classes = trace->batch_classes,
                               .offsets = trace->batch_offsets};
  do {
    trace->batch_times_ns[batch->count] = event->time_ns;
    trace->batch_classes[batch->count] = event->class_;
    trace->batch_offsets[batch->count++] = event->packet->offset + event->offset_bits / 8;
  } while (trace->batch_next < trace->batch_limit && kymo_trace_next(trace, &event, error) == KYMO_OK);
  return KYMO_OK;
}

int kymo_trace_next_batch_(struct kymo_trace *trace, struct kymo_batch *batch, size_t size,
                           struct kymo_error *error) {
  struct kymo_batch own = {.count = 0};
  int status = next_batch(trace, &own, error);
  kymo_sized_out(batch, size, &own, sizeof own);
  return status;
}
