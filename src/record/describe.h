/* SPDX-License-Identifier: MIT */
/* The schema of a recorded trace: event classes, and the headers of packets and events. */
#ifndef KYMO_RECORD_DESCRIBE_H
#define KYMO_RECORD_DESCRIBE_H

#include "ring/clock.h"
#include "record/point.h"
#include "schema/build.h"

/* Adds the event class of a tracepoint whose payload has been described (record/fields.h); NULL when out of
 * memory. */
const struct kymo_event_class *kymo_point_describe(struct kymo_builder *builder,
                                                   struct kymo_stream_class *stream,
                                                   const struct kymo_point_text *point,
                                                   const struct kymo_type *payload, uint64_t id);

/* The machine of this process: sizes of C types, alignments of struct members. */
void kymo_machine_describe(struct kymo_machine *out);

struct kymo_trace_text {
  const struct kymo_session_clock *clock;
  const char *host, *program;
};

/* The schema of a recorded trace without its events: packet header, clock, environment and one stream class,
 * in *stream. The caller owns the builder. */
struct kymo_builder *kymo_trace_describe(const struct kymo_trace_text *trace,
                                         struct kymo_stream_class **stream);

#endif
