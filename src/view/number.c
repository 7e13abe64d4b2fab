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

/* The field of an event. False: it has none. */
static bool find_field(const struct view_number *number, struct kymo_trace *trace,
                       const struct kymo_numbers *numbers, const struct kymo_event *event, uint32_t *field) {
  uint32_t *known =
      &number->fields[kymo_class_number(numbers, event->packet->stream->part->index, event->class_)];
  if (!*known) {
    uint32_t id = kymo_field_id(trace, event->class_, number->path);
    *known = id == KYMO_FIELD_NONE ? 1 : id + 2;
  }
  *field = *known - 2;
  return *known != 1;
}

bool view_text_read(const struct view_number *number, struct kymo_trace *trace,
                    const struct kymo_numbers *numbers, const struct kymo_event *event, const char **text,
                    uint64_t *length) {
  uint32_t field;
  return find_field(number, trace, numbers, event, &field) &&
         kymo_event_get_string(event, field, text, length) == KYMO_OK;
}

bool view_number_read(const struct view_number *number, struct kymo_trace *trace,
                      const struct kymo_numbers *numbers, const struct kymo_event *event, double *value) {
  uint32_t field;
  int64_t integer;
  uint64_t large;
  if (!find_field(number, trace, numbers, event, &field))
    return false;
  if (kymo_event_get_int(event, field, &integer) == KYMO_OK)
    *value = (double)integer;
  else if (kymo_event_get_uint(event, field, &large) == KYMO_OK)
    *value = (double)large;
  else if (kymo_event_get_float(event, field, value) != KYMO_OK)
    return false;
  return *value == *value; /* what is not a number has no place on a scale */
}
