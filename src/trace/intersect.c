/* SPDX-License-Identifier: MIT */
/* The times at which all streams of a part have packets. */
#include "trace/trace.h"

static int intersect_part(struct kymo_trace *trace, struct part_state *part, struct kymo_error *error) {
  part->window_begin_ns = INT64_MIN;
  part->window_end_ns = INT64_MAX;
  for (uint32_t i = 0; i < part->part.stream_count; i++) {
    struct kymo_stream_info info;
    int status = kymo_stream_describe(trace, kymo_part_stream(trace, &part->part, i), &info, error);
    if (status < 0)
      return status;
    if (!info.has_times)
      continue;
    part->window_begin_ns = info.begin_ns > part->window_begin_ns ? info.begin_ns : part->window_begin_ns;
    part->window_end_ns = info.end_ns < part->window_end_ns ? info.end_ns : part->window_end_ns;
  }
  return KYMO_OK;
}

int kymo_trace_intersect(struct kymo_trace *trace, int64_t *begin_ns, int64_t *end_ns,
                         struct kymo_error *error) {
  *begin_ns = INT64_MAX;
  *end_ns = INT64_MIN;
  for (size_t i = 0; i < trace->part_count; i++) {
    struct part_state *part = trace->parts[i];
    int status = intersect_part(trace, part, error);
    if (status < 0)
      return status;
    part->has_window = trace->part_count > 1; /* for one part, the window is that of the trace */
    *begin_ns = part->window_begin_ns < *begin_ns ? part->window_begin_ns : *begin_ns;
    *end_ns = part->window_end_ns > *end_ns ? part->window_end_ns : *end_ns;
  }
  return KYMO_OK;
}
