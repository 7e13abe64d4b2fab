/* SPDX-License-Identifier: MIT */
#include "trace/part.h"
#include "trace/trace.h"

static const struct part_state *state_of(const struct kymo_part *part) {
  return (const struct part_state *)part;
}

const struct kymo_schema_plan *kymo_part_plan(const struct kymo_part *part) { return state_of(part)->plan; }

int64_t kymo_part_offset_ns(const struct kymo_part *part) { return state_of(part)->clock_offset_ns; }

bool kymo_part_has_packets(const struct kymo_part *part) {
  for (uint32_t i = 0; i < part->stream_count; i++)
    if (state_of(part)->streams[i]->decoder.is_raw)
      return false;
  return true;
}

bool kymo_part_may_repeat(const struct kymo_part *part) {
  for (uint32_t i = 0; i < part->stream_count; i++)
    if (state_of(part)->streams[i]->may_repeat)
      return true;
  return false;
}

const char *kymo_part_place(const struct kymo_part *part, size_t index) {
  return index < state_of(part)->place_count ? state_of(part)->places[index] : NULL;
}

void kymo_trace_times(const struct kymo_trace *trace, int64_t *begin_ns, int64_t *end_ns) {
  *begin_ns = trace->begin_ns;
  *end_ns = trace->end_ns;
}

bool kymo_trace_lacks_memory(const struct kymo_trace *trace) { return trace->arena.failed; }

void kymo_trace_note_no_memory(struct kymo_trace *trace) { trace->arena.failed = true; }
