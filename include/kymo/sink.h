/* SPDX-License-Identifier: MIT */
/*
 * kymo/sink.h: an output for events. A sink is one constant descriptor in one file;
 * the built-in ones stand in src/sink/ and are listed in src/sink/list.c.
 *
 * Life: begin, then event and loss as often as needed, then end. A sink that fails
 * fills the error and returns a negative status; end is called all the same.
 */
#ifndef KYMO_SINK_H
#define KYMO_SINK_H

#include <kymo/read.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kymo_sink_options {
  size_t size;                 /* sizeof(struct kymo_sink_options) */
  FILE *out;                   /* where to write; belongs to the caller */
  bool color;
  const char *text;            /* the sink's own options, "key=value,…", or NULL */
  const char *const *paths;    /* what kymo_open was given, so that traces can be named as the user knows */
  size_t path_count;           /* … them; or NULL and 0 */
};

struct kymo_sink_state;        /* each sink defines its own */

struct kymo_sink {
  const char *name;            /* as in --format NAME */
  const char *summary;         /* one line for --help */
  bool as_babeltrace2;         /* wants traces that were opened with kymo_open_options.as_babeltrace2 */
  int (*begin)(struct kymo_sink_state **state, struct kymo_trace *trace,
               const struct kymo_sink_options *options, struct kymo_error *error);
  int (*event)(struct kymo_sink_state *state, const struct kymo_event *event, struct kymo_error *error);
  int (*loss)(struct kymo_sink_state *state, const struct kymo_loss *loss, struct kymo_error *error); /* or NULL */
  int (*end)(struct kymo_sink_state *state, struct kymo_error *error); /* frees state */
};

/* The built-in sink of this name, or NULL. */
const struct kymo_sink *kymo_sink_find(const char *name);
/* All built-in sinks, NULL at the end. */
const struct kymo_sink *const *kymo_sinks(void);

#ifdef __cplusplus
}
#endif
#endif
