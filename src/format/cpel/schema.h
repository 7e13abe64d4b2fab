/* SPDX-License-Identifier: MIT */
/*
 * The schema of a CPEL file: a stream class for each event section, an event class for
 * each code in it.
 *
 *   header   time (64 bits), code (32)
 *   context  track (32): an enumeration of the defined tracks
 *   payload  by the conversions of the datum's format:
 *
 *     none, numbers   datum                  %d: signed; %x: base 16; …
 *     %s              text
 *     %s and numbers  datum, text
 *     %k              datum, symbol          symbol: "name+0x1c"
 *     %k and %s       datum, text, symbol
 *
 * All of it packed and little-endian, as the cursor of cpel.c lays it down. The datum's format is the class's
 * print template.
 */
#ifndef KYMO_FORMAT_CPEL_SCHEMA_H
#define KYMO_FORMAT_CPEL_SCHEMA_H

#include "format/cpel/file.h"

enum cpel_payload { CPEL_DATUM, CPEL_TEXT, CPEL_DATUM_TEXT, CPEL_DATUM_SYMBOL, CPEL_DATUM_TEXT_SYMBOL };

struct cpel_class {
  uint32_t code;
  enum cpel_payload payload;
};

/* The classes of one event section, by code. */
struct cpel_classes {
  struct cpel_class *list;
  size_t count;
};

/* Makes the schema; `classes` has space for one class per event section; the data that it refers to is in
 * file->arena. Invalid formats are listed as damage and ignored. NULL on failure. */
struct kymo_schema *kymo_cpel_schema(struct cpel_file *file, struct kymo_trace *trace,
                                     struct cpel_classes *classes, struct kymo_error *error);

#endif
