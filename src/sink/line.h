/* SPDX-License-Identifier: MIT */
/*
 * The wanted parts of a line: options that the formats with one line per event share, as in babeltrace2.
 *
 *   no-delta  clock-cycles  clock-date  clock-gmt  clock-seconds
 *   fields=trace+trace:hostname+…+loglevel+emf     facts about the event besides its fields
 *   names=payload+context+scope+header             where names precede values
 */
#ifndef KYMO_SINK_LINE_H
#define KYMO_SINK_LINE_H

#include "print/options.h"
#include <kymo/read.h>

enum kymo_line_field {
  KYMO_LINE_TRACE = 1 << 0,
  KYMO_LINE_HOSTNAME = 1 << 1,
  KYMO_LINE_DOMAIN = 1 << 2,
  KYMO_LINE_PROCNAME = 1 << 3,
  KYMO_LINE_VPID = 1 << 4,
  KYMO_LINE_LEVEL = 1 << 5,
  KYMO_LINE_EMF = 1 << 6,
};

enum kymo_line_name {
  KYMO_LINE_PAYLOAD = 1 << 0,
  KYMO_LINE_CONTEXT = 1 << 1,
  KYMO_LINE_SCOPE = 1 << 2,
  KYMO_LINE_HEADER = 1 << 3,
};

struct kymo_line {
  uint32_t fields, names; /* of the enumerations above */
  bool no_delta, clock_cycles, clock_date, clock_gmt, clock_seconds;
  bool as_2_1; /* babeltrace2 alone: as its version 2.1 prints */
};

/* Reads the options of the sink called `sink`; without `fields`, `fields` are shown, and without `names`
 * those of payload and context. KYMO_E_USAGE. */
int kymo_line_read(struct kymo_line *line, const char *sink, const char *text, uint32_t fields,
                   struct kymo_error *error);

/* "TRACE_INFO"; NULL if the class has no level. */
const char *kymo_line_level(const struct kymo_event_class *class_);

#endif
