/* SPDX-License-Identifier: MIT */
#include "view/state.h"
#include "base/fail.h"
#include <stdlib.h>

static bool has_field(const struct view_number *number, struct kymo_trace *trace) {
  for (uint32_t i = 0; i < kymo_trace_class_count(trace); i++)
    if (kymo_field_id(trace, kymo_trace_class(trace, i), number->path) != KYMO_FIELD_NONE)
      return true;
  return false;
}

int view_number_begin(struct view_number *number, const char *path, struct kymo_trace *trace,
                      const struct kymo_numbers *numbers, struct kymo_error *error) {
  *number = (struct view_number){.path = path};
  number->fields = calloc(numbers->class_count + 1u, sizeof *number->fields);
  if (!number->fields)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return has_field(number, trace) ? KYMO_OK
                                  : kymo_fail(error, KYMO_E_USAGE, "no event has a field \"%s\"", path);
}

void view_number_end(struct view_number *number) { free(number->fields); }

bool view_number_read(const struct view_number *number, struct kymo_trace *trace,
                      const struct kymo_numbers *numbers, const struct kymo_event *event, double *value) {
  uint32_t *known =
      &number->fields[kymo_class_number(numbers, event->packet->stream->part->index, event->class_)];
  int64_t integer;
  uint64_t large;
  if (!*known) {
    uint32_t id = kymo_field_id(trace, event->class_, number->path);
    *known = id == KYMO_FIELD_NONE ? 1 : id + 2;
  }
  if (*known == 1)
    return false;
  if (kymo_event_get_int(event, *known - 2, &integer) == KYMO_OK)
    *value = (double)integer;
  else if (kymo_event_get_uint(event, *known - 2, &large) == KYMO_OK)
    *value = (double)large;
  else if (kymo_event_get_float(event, *known - 2, value) != KYMO_OK)
    return false;
  return *value == *value; /* what is not a number has no place on a scale */
}
