/* SPDX-License-Identifier: MIT */
#include "print/hint.h"
#include <stdio.h>
#include <string.h>

/* Whether `event` is `name` and `end`. */
static bool is_continued(const char *event, const char *name, const char *end) {
  size_t length = strlen(name);
  return strncmp(event, name, length) == 0 && strcmp(event + length, end) == 0;
}

struct kymo_hint kymo_event_hint(const struct kymo_trace *trace, const char *name) {
  struct kymo_nearest nearest = kymo_nearest_to(name);
  bool begins = false, ends = false;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const struct kymo_schema *schema = kymo_trace_part(trace, i)->schema;
    for (uint32_t j = 0; j < schema->stream_count; j++)
      for (uint32_t k = 0; k < schema->streams[j]->event_count; k++) {
        const char *event = schema->streams[j]->events[k]->name;
        if (!event)
          continue;
        begins = begins || is_continued(event, name, "_begin");
        ends = ends || is_continued(event, name, "_end");
        kymo_nearest_consider(&nearest, event);
      }
  }
  struct kymo_hint hint = kymo_nearest_hint(&nearest);
  if (begins && ends) /* KYMO_SPAN(group, name): users know it by the name that they wrote */
    snprintf(hint.text, sizeof hint.text, " (it is a span: use its events, \"%.30s_*\")", name);
  return hint;
}
