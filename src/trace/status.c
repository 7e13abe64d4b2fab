/* SPDX-License-Identifier: MIT */
/* The policy for damage, the limits and the counters of a trace; messages for results. */
#include "base/sized.h"
#include "trace/trace.h"
#include <stdio.h>

void kymo_trace_set_policy(struct kymo_trace *trace, enum kymo_policy policy) {
  trace->stops_at_damage = policy == KYMO_POLICY_STOP;
  trace->damage_reported = trace->damage_count;
}

bool kymo_trace_met_damage(struct kymo_trace *trace, struct kymo_error *error) {
  if (trace->damage_reported >= trace->damage_count)
    return false;
  const struct kymo_damage *damage = &trace->damage[trace->damage_reported++];
  struct kymo_error *last = &trace->last_error;
  *last =
      (struct kymo_error){.code = damage->code < 0 ? damage->code : KYMO_E_FORMAT, .offset = damage->offset};
  snprintf(last->file, sizeof last->file, "%s", damage->path);
  snprintf(last->message, sizeof last->message, "%s", damage->message);
  if (error)
    *error = *last;
  return true;
}

void kymo_trace_set_limits_(struct kymo_trace *trace, const struct kymo_trace_limits *limits, size_t size) {
  struct kymo_trace_limits own;
  kymo_sized_in(&own, sizeof own, limits, size);
  trace->damage_limit = own.damage;
  if (own.checkpoint_bytes)
    kymo_checkpoint_limit(trace, own.checkpoint_bytes);
}

const struct kymo_error *kymo_trace_last_error(const struct kymo_trace *trace) { return &trace->last_error; }

void kymo_trace_count_(const struct kymo_trace *trace, struct kymo_trace_counts *out, size_t size) {
  struct kymo_trace_counts own = {.damage = trace->damage_count,
                                  .streams = trace->stream_count,
                                  .checkpoints = trace->checkpoints.count + trace->relative.count};
  own.delivered = trace->number < KYMO_NUMBER_RELATIVE ? trace->number : 0;
  for (size_t i = 0; i < trace->stream_count; i++) {
    own.packets += trace->streams[i]->decoder.packet_count;
    own.indexed_packets += trace->streams[i]->index.packets;
  }
  kymo_sized_out(out, size, &own, sizeof own);
}

const char *kymo_status_text(int status) {
  switch (status) {
  case KYMO_OK: return "success";
  case KYMO_AGAIN: return "no event now, there may be more later";
  case KYMO_END: return "no more events";
  case KYMO_E_SYSTEM: return "a system call failed";
  case KYMO_E_MEMORY: return "out of memory";
  case KYMO_E_USAGE: return "invalid arguments";
  case KYMO_E_FORMAT: return "malformed data";
  case KYMO_E_SYNTAX: return "invalid description";
  case KYMO_E_LIMIT: return "a limit of the library was reached";
  case KYMO_E_UNKNOWN: return "not found";
  case KYMO_E_TYPE: return "the field has another type";
  case KYMO_E_ABSENT: return "the event does not have the field";
  case KYMO_E_RANGE: return "the value does not fit";
  default: return "an unknown result";
  }
}

const char *kymo_version(void) { return KYMO_VERSION; }
