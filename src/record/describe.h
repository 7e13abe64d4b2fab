/* SPDX-License-Identifier: MIT */
/* From what a tracepoint says of itself to the schema, and from there to metadata text. */
#ifndef KYMO_RECORD_DESCRIBE_H
#define KYMO_RECORD_DESCRIBE_H

#include "base/strbuf.h"
#include "record/clock.h"
#include "schema/build.h"
#include <kymo/layout.h>

enum { KYMO_NAME_MAX = 256, KYMO_FIELDS_MAX = 16 };

/* A tracepoint in readable form. */
struct kymo_point_text {
  char name[KYMO_NAME_MAX]; /* "group:name", or a free name */
  const char *file;
  uint32_t line;
  uint32_t count;
  char field[KYMO_FIELDS_MAX][64];
  uint64_t code[KYMO_FIELDS_MAX];
};

/*
 * Reads the macro's arguments as written (`text`, `size` bytes with the file's name behind the zero) and the
 * field codes. Names of fields: what a wrapper says, else the expression made an identifier; a name that
 * occurs twice is numbered. False if the text is not what the macro writes (a hostile file, for kymo list).
 */
bool kymo_point_parse(struct kymo_point_text *out, const struct kymo_tracepoint *point, const uint64_t *codes,
                      const char *text, size_t size);

/* Adds the event class to the stream; NULL when out of memory. */
const struct kymo_event_class *kymo_point_describe(struct kymo_builder *builder,
                                                   struct kymo_stream_class *stream,
                                                   const struct kymo_point_text *point, uint64_t id);

struct kymo_trace_text {
  const struct kymo_session_clock *clock;
  const char *host, *program;
};

/* The schema of a recorded trace without its events: packet header, clock, environment and one stream class,
 * in *stream. The builder is the caller's. */
struct kymo_builder *kymo_trace_describe(const struct kymo_trace_text *trace,
                                         struct kymo_stream_class **stream);

#endif
