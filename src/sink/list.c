/* SPDX-License-Identifier: MIT */
/* The table of sinks: a new output is a file that ends in a descriptor, and one line here. */
#include <kymo/sink.h>
#include <string.h>

extern const struct kymo_sink kymo_sink_babeltrace2;
extern const struct kymo_sink kymo_sink_json;
extern const struct kymo_sink kymo_sink_text;

static const struct kymo_sink *const sinks[] = {
    &kymo_sink_text,
    &kymo_sink_json,
    &kymo_sink_babeltrace2,
    NULL,
};

const struct kymo_sink *const *kymo_sinks(void) {
  return sinks;
}

const struct kymo_sink *kymo_sink_find(const char *name) {
  for (size_t i = 0; sinks[i]; i++)
    if (strcmp(sinks[i]->name, name) == 0)
      return sinks[i];
  return NULL;
}
