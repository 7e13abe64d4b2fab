/* SPDX-License-Identifier: MIT */
/* The datum of a CPEL event, in its format: for the dump, and where a format cannot be written unchanged. */
#ifndef KYMO_SINK_CPEL_DATUM_H
#define KYMO_SINK_CPEL_DATUM_H

#include "base/arena.h"
#include "base/printfmt.h"
#include "print/out.h"
#include <kymo/read.h>

/* The conversions of a datum's format. */
#define KYMO_CPEL_CONVERSIONS "diuoxXcskI"

/* How the events of a class show their datum. */
struct kymo_cpel_datum {
  struct kymo_printfmt format;
  uint32_t number, text, symbol; /* ids of fields */
};

/* Whether it is an integer that fits a datum. */
bool kymo_cpel_is_word(const struct kymo_type *type);
/* Whether the events of a class have a track, and only a datum besides, like events from CPEL. If streams
 * were merged, a member `source` distinguishes them. */
bool kymo_cpel_has_datum(const struct kymo_event_class *class_);
/* Parses `format` for the events of a class from CPEL. False: it is invalid, and *fault is the reason. */
bool kymo_cpel_datum_begin(struct kymo_cpel_datum *datum, struct kymo_arena *arena, struct kymo_trace *trace,
                           const struct kymo_event_class *class_, const char *format,
                           struct kymo_printfmt_fault *fault);
void kymo_cpel_datum_print(struct kymo_out *out, const struct kymo_cpel_datum *datum,
                           const struct kymo_event *event);
/* An integer field, whatever its sign; 0 if it is not there. */
uint64_t kymo_cpel_number_of(const struct kymo_event *event, uint32_t field);

#endif
