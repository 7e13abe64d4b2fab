/* SPDX-License-Identifier: MIT */
/* Fields of the event classes of an open trace; decode/field.h finds them. */
#include "base/sized.h"
#include "decode/field.h"
#include "trace/trace.h"

/* The plan of an event class, and that of its stream class; NULL: it is not the trace's. */
static struct kymo_event_plan *find_plan(struct kymo_trace *trace, const struct kymo_event_class *class_,
                                         struct kymo_stream_plan **stream) {
  for (size_t i = 0; i < trace->part_count; i++) {
    struct kymo_schema_plan *plan = trace->parts[i]->plan;
    if (class_->stream->index >= plan->schema->stream_count)
      continue;
    *stream = &plan->streams[class_->stream->index];
    if ((*stream)->class_ == class_->stream)
      return &(*stream)->events[class_->index];
  }
  return NULL;
}

const struct kymo_schema *kymo_class_schema(const struct kymo_trace *trace,
                                            const struct kymo_event_class *class_) {
  for (size_t i = 0; i < trace->part_count; i++) {
    const struct kymo_schema *schema = trace->parts[i]->plan->schema;
    if (class_->stream->index < schema->stream_count &&
        schema->streams[class_->stream->index] == class_->stream)
      return schema;
  }
  return NULL;
}

uint32_t kymo_field_id(struct kymo_trace *trace, const struct kymo_event_class *class_, const char *path) {
  struct kymo_stream_plan *stream;
  struct kymo_event_plan *plan = find_plan(trace, class_, &stream);
  return plan ? kymo_event_plan_field_id(plan, stream, &trace->arena, path) : KYMO_FIELD_NONE;
}

int kymo_field_list(struct kymo_trace *trace, const struct kymo_event_class *class_, const uint32_t **ids,
                    size_t *count) {
  struct kymo_stream_plan *stream;
  struct kymo_event_plan *plan = find_plan(trace, class_, &stream);
  *ids = NULL;
  *count = 0;
  return plan ? kymo_event_plan_fields(plan, stream, &trace->arena, ids, count) : KYMO_E_UNKNOWN;
}

int kymo_field_info_(struct kymo_trace *trace, const struct kymo_event_class *class_, uint32_t id,
                     struct kymo_field *info, size_t size) {
  struct kymo_stream_plan *stream;
  const struct kymo_event_plan *plan = find_plan(trace, class_, &stream);
  struct kymo_field own = {.name = NULL};
  int status = plan ? kymo_event_plan_field_info(plan, id, &own) : KYMO_E_UNKNOWN;
  kymo_sized_out(info, size, &own, sizeof own);
  return status;
}
