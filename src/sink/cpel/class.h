/* SPDX-License-Identifier: MIT */
/*
 * How the events of a class become events of CPEL, which have a code, whose definition contains their name
 * and format, and one word of datum:
 *
 *   fields of the event                      format          datum
 *   none                                                     0
 *   one integer of at most 32 bits           "port = %u"     it
 *   anything else                            "%s" a string: "port = 80, state = OPEN | vpid = 4700"
 *
 * Events that came from CPEL (format/cpel/schema.h) keep their format, with its strings and symbols. For
 * VPP's tools, only formats are written that all of them accept; other formats become a string.
 */
#ifndef KYMO_SINK_CPEL_CLASS_H
#define KYMO_SINK_CPEL_CLASS_H

#include "print/text_fields.h"
#include "sink/cpel/datum.h"
#include "sink/cpel/define.h"
#include "sink/cpel/track.h"

enum kymo_cpel_how {
  KYMO_CPEL_NOTHING,   /* datum 0 */
  KYMO_CPEL_NUMBER,    /* a field */
  KYMO_CPEL_SYMBOL,    /* a field, and a name for its value in another one */
  KYMO_CPEL_TEXT,      /* a string: a field unchanged */
  KYMO_CPEL_FORMATTED, /* a string: the text in the original format */
  KYMO_CPEL_FIELDS,    /* a string: all fields */
};

struct kymo_cpel_class {
  uint32_t code;
  enum kymo_cpel_how how;
  bool is_cut;           /* an unsigned number: only the field's bits */
  uint32_t number, text; /* ids of fields */
  unsigned bits;
  uint32_t says; /* see struct kymo_text_fields */
  const char *says_member;
  struct kymo_cpel_datum datum; /* FORMATTED */
  struct kymo_script script;    /* FIELDS */
};

struct kymo_cpel_classes {
  struct kymo_trace *trace;
  enum kymo_cpel_track_by by;
  bool for_vpp, keeps_symbols;
  struct kymo_cpel_definitions all, symbols; /* symbols: numbers are values, formats names */
  struct kymo_cpel_class **list;             /* by class number */
  FILE *memory; /* receives strings that are longer than the buffer of `fields` */
  char *memory_text;
  size_t memory_size;
  struct kymo_text_fields fields; /* last, since most of it is for walking */
};

/* kymo_cpel_classes_end ends it also after a failure. */
int kymo_cpel_classes_begin(struct kymo_cpel_classes *classes, struct kymo_trace *trace, bool for_vpp,
                            struct kymo_error *error);
void kymo_cpel_classes_end(struct kymo_cpel_classes *classes);

/* The datum of an event: a number, or a string of `length` bytes at `text`, valid until the next call. */
struct kymo_cpel_value {
  uint32_t code, number;
  const char *text;
  size_t length;
};
int kymo_cpel_value_of(struct kymo_cpel_classes *classes, const struct kymo_event *event,
                       struct kymo_cpel_value *value, struct kymo_error *error);

#endif
