/* SPDX-License-Identifier: MIT */
/*
 * kymo/sink.h: an output for events. A sink is one constant descriptor in one file: a built-in one is in
 * src/sink/ and is listed in src/sink/list.c, any other is the descriptor kymo_sink_plugin of a shared object
 * (`kymo cat --sink FILE`, docs/sinks.md).
 *
 * Life: begin, then event, loss and boundary as often as needed, then end. A sink that fails fills the error
 * and returns a negative status; end is still called. All calls are in one thread.
 */
#ifndef KYMO_SINK_H
#define KYMO_SINK_H

#include <kymo/read.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kymo_sink_options {
  size_t size;      /* sizeof(struct kymo_sink_options) */
  FILE *out;        /* where to write; belongs to the caller */
  const char *path; /* path for the output of a sink that writes files: a file or directory that it creates */
  bool color;
  const char *text; /* the sink's own options, "key=value,…", or NULL */
  const char *const
      *paths;        /* the paths that kymo_trace_open received, so that traces can be named as the user
                             * knows */
  size_t path_count; /* … them; or NULL and 0 */
};

struct kymo_sink_state; /* each sink defines its own */

/* Incremented when the meaning of an existing member changes. New members are appended; `size_bytes` shows
 * whether they are there. */
#define KYMO_SINK_ABI_VERSION 1
/* The first members of every descriptor: const struct kymo_sink my_sink = {KYMO_SINK_ABI, .name = …}; */
#define KYMO_SINK_ABI .abi_version = KYMO_SINK_ABI_VERSION, .size_bytes = sizeof(struct kymo_sink)

struct kymo_sink {
  uint32_t abi_version, size_bytes; /* KYMO_SINK_ABI */
  const char *name;                 /* as in --format NAME */
  const char *summary;              /* one line for --help */
  bool as_babeltrace2;              /* wants traces that were opened with kymo_trace_options.as_babeltrace2 */
  bool unmerged;                    /* wants traces that were opened with kymo_trace_options.unmerged */
  bool makes_files;                 /* writes to kymo_sink_options.path, not to out */
  int (*begin)(struct kymo_sink_state **state, struct kymo_trace *trace,
               const struct kymo_sink_options *options, struct kymo_error *error);
  int (*event)(struct kymo_sink_state *state, const struct kymo_event *event, struct kymo_error *error);
  int (*loss)(struct kymo_sink_state *state, const struct kymo_loss *loss,
              struct kymo_error *error); /* or NULL */
  int (*boundary)(struct kymo_sink_state *state, const struct kymo_boundary *boundary,
                  struct kymo_error *error);                           /* or NULL */
  int (*end)(struct kymo_sink_state *state, struct kymo_error *error); /* frees state */
  /* Both or neither; without them the sink cannot be used for a trace that is followed. flush: all events so
   * far shall be visible; grow: the trace has grown (see kymo_trace_set_growth_handler). */
  int (*flush)(struct kymo_sink_state *state, struct kymo_error *error);
  int (*grow)(struct kymo_sink_state *state, struct kymo_error *error);
  bool all_classes; /* wants traces that were opened with kymo_trace_options.all_classes */
};

/* The built-in sink of this name, or NULL; the printing one, if there is also one that writes files. */
const struct kymo_sink *kymo_sink_find(const char *name);
/* The built-in sink of this name that writes files, or NULL. */
const struct kymo_sink *kymo_sink_find_files(const char *name);
/* All built-in sinks, NULL at the end. */
const struct kymo_sink *const *kymo_sink_list(void);

/* ---- plug-ins ---- */

/* What a plug-in defines; the library has none. */
extern const struct kymo_sink kymo_sink_plugin __attribute__((visibility("default")));

/*
 * Loads the sink of a shared object. A path without a slash is a file in the working directory. No code of
 * the file runs unless it exports kymo_sink_plugin; then its constructors run before its descriptor is
 * checked. On success the caller owns *sink and returns it with kymo_sink_unload; members that an older
 * plug-in does not have are NULL. Otherwise *sink is NULL and `error` is filled: KYMO_E_SYSTEM if the file
 * cannot be read or loaded, KYMO_E_FORMAT if it is not a plug-in, KYMO_E_UNKNOWN if its descriptor is of
 * another version or of a newer kymo.
 */
int kymo_sink_load(const struct kymo_sink **sink, const char *path, struct kymo_error *error);
/* Unloads the sink; nothing of the plug-in may be in use any more. NULL is allowed. */
void kymo_sink_unload(const struct kymo_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
