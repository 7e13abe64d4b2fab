/* SPDX-License-Identifier: MIT */
/* Sinks out of plug-ins. */
#include "base/fail.h"
#include "trace/plugin.h"
#include <kymo/sink.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct loaded {
  struct kymo_sink
      sink; /* the plug-in's, extended by members that an older one lacks; first, since kymo_sink_unload
             * receives only this pointer */
  struct kymo_plugin plugin;
};

/* The oldest descriptors end with `end`. */
static const struct kymo_plugin_kind kind = {
    .symbol = "kymo_sink_plugin",
    .abi_version = KYMO_SINK_ABI_VERSION,
    .size_bytes = sizeof(struct kymo_sink),
    .least_bytes = offsetof(struct kymo_sink, flush),
};

static int check(const struct kymo_sink *sink, const char *path, struct kymo_error *error) {
  const char *missing = !sink->name    ? "name"
                        : !sink->begin ? "begin"
                        : !sink->event ? "event"
                        : !sink->end   ? "end"
                                       : NULL;
  if (missing)
    return kymo_fail_at(error, KYMO_E_FORMAT, path, KYMO_ERROR_NO_OFFSET, "expected %s with %s, found NULL",
                        kind.symbol, missing);
  if (!sink->flush != !sink->grow)
    return kymo_fail_at(error, KYMO_E_FORMAT, path, KYMO_ERROR_NO_OFFSET,
                        "expected %s with flush and grow or neither, found only %s", kind.symbol,
                        sink->flush ? "flush" : "grow");
  return KYMO_OK;
}

int kymo_sink_load(const struct kymo_sink **sink, const char *path, struct kymo_error *error) {
  *sink = NULL;
  struct loaded *loaded = calloc(1, sizeof *loaded);
  if (!loaded)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = kymo_plugin_open(&loaded->plugin, path, &kind, error);
  if (status == KYMO_OK) {
    memcpy(&loaded->sink, loaded->plugin.descriptor, loaded->plugin.size_bytes);
    status = check(&loaded->sink, path, error);
  }
  if (status == KYMO_OK)
    *sink = &loaded->sink;
  else
    kymo_sink_unload(&loaded->sink);
  return status;
}

void kymo_sink_unload(const struct kymo_sink *sink) {
  struct loaded *loaded = (struct loaded *)sink;
  if (!loaded)
    return;
  kymo_plugin_close(&loaded->plugin);
  free(loaded);
}
