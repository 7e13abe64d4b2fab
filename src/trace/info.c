/* SPDX-License-Identifier: MIT */
/* Properties of an open trace that need no further reading. */
#include "base/sized.h"
#include "decode/field.h"
#include "trace/trace.h"

/* ---- kinds ---- */

static uint32_t count_kinds(const struct kymo_schema *schema) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < schema->stream_count; i++)
    count += schema->streams[i]->event_count;
  return count;
}

void kymo_trace_number_kinds(struct kymo_trace *trace) {
  uint32_t first = 0;
  for (size_t i = 0; i < trace->part_count; i++) {
    struct part_state *part = trace->parts[i];
    part->first_kind = first;
    for (uint32_t j = 0; j < part->part.stream_count; j++)
      part->streams[j]->decoder.first_kind = first;
    first += count_kinds(part->schema);
  }
}

uint32_t kymo_event_get_class_number(const struct kymo_event *event) { return kymo_kind_of(event); }

uint32_t kymo_trace_class_count(const struct kymo_trace *trace) {
  const struct part_state *last = trace->part_count ? trace->parts[trace->part_count - 1] : NULL;
  return last ? last->first_kind + count_kinds(last->schema) : 0;
}

const struct kymo_event_class *kymo_trace_class(const struct kymo_trace *trace, uint32_t kind) {
  size_t part = 0;
  while (part + 1 < trace->part_count && trace->parts[part + 1]->first_kind <= kind)
    part++;
  if (part >= trace->part_count)
    return NULL;
  const struct kymo_schema *schema = trace->parts[part]->schema;
  kind -= trace->parts[part]->first_kind;
  for (uint32_t i = 0; i < schema->stream_count; i++) {
    if (kind < schema->streams[i]->event_count)
      return schema->streams[i]->events[kind];
    kind -= schema->streams[i]->event_count;
  }
  return NULL;
}

const char *kymo_trace_class_name(const struct kymo_trace *trace, uint32_t kind) {
  const struct kymo_event_class *class_ = kymo_trace_class(trace, kind);
  return class_ ? class_->name : NULL;
}

/* ---- interpretations ---- */

int kymo_field_interpretations(struct kymo_trace *trace, const struct kymo_event_class *class_,
                               uint32_t field, const struct kymo_mapping **list, uint32_t *count) {
  struct kymo_field info;
  int status = kymo_field_info(trace, class_, field, &info);
  if (status == KYMO_OK && info.interpretation_count == 0)
    status = KYMO_E_TYPE;
  *list = status == KYMO_OK ? info.interpretations : NULL;
  *count = status == KYMO_OK ? info.interpretation_count : 0;
  return status;
}

/* ---- clocks ---- */

size_t kymo_trace_clock_count(const struct kymo_trace *trace) {
  size_t count = 0;
  for (size_t i = 0; i < trace->part_count; i++)
    count += trace->parts[i]->schema->clock_count;
  return count;
}

const struct kymo_clock *kymo_trace_clock(const struct kymo_trace *trace, size_t index) {
  for (size_t i = 0; i < trace->part_count; i++) {
    const struct kymo_schema *schema = trace->parts[i]->schema;
    if (index < schema->clock_count)
      return schema->clocks[index];
    index -= schema->clock_count;
  }
  return NULL;
}

/* ---- tables ---- */

size_t kymo_stream_table_count(const struct kymo_stream *stream) {
  const struct stream_state *state = (const struct stream_state *)stream;
  return state->operations->table_count ? state->operations->table_count(state->source) : 0;
}

const char *kymo_stream_table_name(const struct kymo_stream *stream, size_t table, size_t *length) {
  const struct stream_state *state = (const struct stream_state *)stream;
  return table < kymo_stream_table_count(stream) ? state->operations->table_name(state->source, table, length)
                                                 : NULL;
}

int kymo_stream_table_get_(const struct kymo_stream *stream, size_t table, const struct kymo_table_key *key,
                           size_t key_size, struct kymo_table_value *value, size_t size) {
  const struct stream_state *state = (const struct stream_state *)stream;
  struct kymo_table_key wanted;
  struct kymo_table_value found = {.bytes = NULL};
  if (table >= kymo_stream_table_count(stream))
    return KYMO_E_UNKNOWN;
  if (!state->cursor)
    return KYMO_E_ABSENT;
  kymo_sized_in(&wanted, sizeof wanted, key, key_size);
  int status = state->operations->table_get(state->cursor, table, &wanted, &found);
  if (status == KYMO_OK)
    kymo_sized_out(value, size, &found, sizeof found);
  return status;
}
