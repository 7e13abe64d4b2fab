/* SPDX-License-Identifier: MIT */
/* The datum of a CPEL event, as its format shows it: for the dump, and where a format cannot be written as it
 * is. */
#ifndef KYMO_SINK_CPEL_DATUM_H
#define KYMO_SINK_CPEL_DATUM_H

#include "base/arena.h"
#include "base/printfmt.h"
#include "print/out.h"
#include <kymo/read.h>

/* The conversions of a datum's format. */
#define KYMO_CPEL_CONVERSIONS "diuoxXcskI"

/* How the events of a class show it. */
struct kymo_cpel_datum {
  struct kymo_printfmt format;
  uint32_t number, text, symbol; /* ids of fields */
};

/* Whether it is an integer for which a datum has room. */
bool kymo_cpel_is_word(const struct kymo_type *type);
/* Whether the events of a class have a track, and nothing else but a datum, as those that were made of CPEL
 * events have. Where streams were merged, a member `source` tells them apart. */
bool kymo_cpel_has_datum(const struct kymo_event_class *class_);
/* Takes `format` apart for the events of a class that was made of a CPEL event. False: it is no good, as
 * *fault tells. */
bool kymo_cpel_datum_begin(struct kymo_cpel_datum *datum, struct kymo_arena *arena, struct kymo_trace *trace,
                           const struct kymo_event_class *class_, const char *format,
                           struct kymo_printfmt_fault *fault);
void kymo_cpel_datum_print(struct kymo_out *out, const struct kymo_cpel_datum *datum,
                           const struct kymo_event *event);
/* An integer field, whatever its sign; 0 if it is not there. */
uint64_t kymo_cpel_number_of(const struct kymo_event *event, uint32_t field);

#endif
