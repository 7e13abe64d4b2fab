/* SPDX-License-Identifier: MIT */
/* Consecutive numbers for event classes and streams. */
#include "print/number.h"
#include "base/fail.h"

static bool number_part(struct kymo_numbers *numbers, struct kymo_numbers_part *part,
                        const struct kymo_part *source) {
  const struct kymo_schema *schema = source->schema;
  part->first_class = kymo_arena_array(&numbers->arena, (size_t)schema->stream_count + 1, sizeof(uint32_t));
  if (!part->first_class)
    return false;
  numbers->stream_count += source->stream_count;
  for (uint32_t i = 0; i < schema->stream_count; i++) {
    part->first_class[i] = numbers->class_count;
    numbers->class_count += schema->streams[i]->event_count;
  }
  return true;
}

int kymo_numbers_begin(struct kymo_numbers *numbers, const struct kymo_trace *trace,
                       struct kymo_error *error) {
  *numbers = (struct kymo_numbers){0};
  size_t count = kymo_trace_part_count(trace);
  numbers->parts = kymo_arena_array(&numbers->arena, count + 1, sizeof(*numbers->parts));
  bool ok = numbers->parts != NULL;
  for (size_t i = 0; ok && i < count; i++)
    ok = number_part(numbers, &numbers->parts[i], kymo_trace_part(trace, i));
  return ok ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

void kymo_numbers_end(struct kymo_numbers *numbers) {
  kymo_arena_free(&numbers->arena);
  numbers->parts = NULL;
}
