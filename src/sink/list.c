/* SPDX-License-Identifier: MIT */
/* The table of sinks: a new output is a file that ends in a descriptor, and one line here. */
#include <kymo/sink.h>
#include <string.h>

extern const struct kymo_sink kymo_sink_babeltrace2;
extern const struct kymo_sink kymo_sink_chrome;
extern const struct kymo_sink kymo_sink_cpel;
extern const struct kymo_sink kymo_sink_cpel_file;
extern const struct kymo_sink kymo_sink_cpeldump;
extern const struct kymo_sink kymo_sink_ctf1;
extern const struct kymo_sink kymo_sink_ctf2;
extern const struct kymo_sink kymo_sink_csv;
extern const struct kymo_sink kymo_sink_details;
extern const struct kymo_sink kymo_sink_folded;
extern const struct kymo_sink kymo_sink_arrow;
extern const struct kymo_sink kymo_sink_generic;
extern const struct kymo_sink kymo_sink_json;
extern const struct kymo_sink kymo_sink_perfetto;
extern const struct kymo_sink kymo_sink_raw;
extern const struct kymo_sink kymo_sink_stream;
extern const struct kymo_sink kymo_sink_text;
extern const struct kymo_sink kymo_sink_trace_cmd;

static const struct kymo_sink *const sinks[] = {
    &kymo_sink_text,
    &kymo_sink_generic,
    &kymo_sink_json,
    &kymo_sink_csv,
    &kymo_sink_babeltrace2,
    &kymo_sink_cpel,
    &kymo_sink_cpeldump,
    &kymo_sink_cpel_file,
    &kymo_sink_ctf1,
    &kymo_sink_ctf2,
    &kymo_sink_stream,
    &kymo_sink_raw,
    &kymo_sink_perfetto,
    &kymo_sink_chrome,
    &kymo_sink_folded,
    &kymo_sink_arrow,
    &kymo_sink_details,
    &kymo_sink_trace_cmd,
    NULL,
};

const struct kymo_sink *const *kymo_sink_list(void) { return sinks; }

static const struct kymo_sink *find(const char *name, bool makes_files) {
  for (size_t i = 0; sinks[i]; i++)
    if (sinks[i]->makes_files == makes_files && strcmp(sinks[i]->name, name) == 0)
      return sinks[i];
  return NULL;
}

const struct kymo_sink *kymo_sink_find(const char *name) {
  const struct kymo_sink *sink = find(name, false);
  return sink ? sink : find(name, true);
}

const struct kymo_sink *kymo_sink_find_files(const char *name) { return find(name, true); }
