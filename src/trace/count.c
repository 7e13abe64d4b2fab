/* SPDX-License-Identifier: MIT */
/* Counting events by their classes: stream after stream, so nothing is merged, and no event is made. */
#include "base/fail.h"
#include "trace/trace.h"

bool kymo_trace_can_count(const struct kymo_trace *trace) {
  return !trace->is_merging && !trace->filter && !trace->follow && !trace->wants_times &&
         !trace->stops_at_damage && trace->begin_ns == INT64_MIN && trace->end_ns == INT64_MAX &&
         trace->slice_end_ns == INT64_MAX;
}

static void count_found(const struct kymo_decoder *decoder, uint64_t *counts) {
  const struct kymo_event_plan *plans = decoder->plan->events;
  counts += decoder->first_kind;
  for (uint32_t i = 0; i < decoder->event_count; i++)
    counts[plans[decoder->found[i].index].kind]++;
}

static int count_stream(struct stream_state *stream, uint64_t *counts, struct kymo_error *error) {
  int status = kymo_stream_advance(stream, error);
  while (status >= 0 && (stream->phase == STREAM_EVENT || stream->phase == STREAM_NOTICE)) {
    if (stream->phase == STREAM_EVENT) {
      count_found(&stream->decoder, counts);
      status = kymo_stream_advance(stream, error);
    } else {
      status = kymo_stream_pass_notice(stream, error);
    }
  }
  return status;
}

static void drop_unwanted(const struct kymo_trace *trace, uint64_t *counts) {
  for (size_t i = 0; i < trace->part_count; i++) {
    const struct kymo_schema_plan *plan = trace->parts[i]->plan;
    for (uint32_t j = 0; j < plan->schema->stream_count; j++)
      for (uint32_t k = 0; k < plan->schema->streams[j]->event_count; k++)
        if (plan->streams[j].events[k].is_unwanted)
          counts[trace->parts[i]->first_kind + plan->streams[j].events[k].kind] = 0;
  }
}

int kymo_trace_count_classes(struct kymo_trace *trace, uint64_t *counts, struct kymo_error *error) {
  int status = KYMO_OK;
  for (size_t i = 0; i < trace->stream_count && status >= 0; i++)
    status = count_stream(trace->streams[i], counts, error);
  if (trace->arena.failed && status >= 0) /* what was found so far may be incomplete */
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  drop_unwanted(trace, counts);
  kymo_trace_rewind(trace);
  return status < 0 ? status : KYMO_OK;
}
