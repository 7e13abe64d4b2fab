/* SPDX-License-Identifier: MIT */
/*
 * The event classes of a plan, and the layout of their rows:
 *
 *   packet context records lost so far (64), if they can be counted
 *   event header   time (64, ns, if there is a clock) | id (16) | timed (8: 0 if the record has no time; if
 *                  some may have none)
 *   payload        the columns in order, each after the hidden numbers that it needs
 *
 *   column         which (8: option, or their number if absent)   of a variant
 *                  has (8)                                        if it may be absent
 *                  n (32: elements, or bytes)                     of lists, and of blobs of any length
 *                  value
 *
 * All is little-endian and begins on byte boundaries. An element that needs numbers of its own is a struct
 * with them. An element of a list of structs has its members like a payload has columns, each after its
 * hidden numbers. A kind has one class `TRACE:kind`, and one for each interpretation that its EVENT may have,
 * of the same payload.
 */
#ifndef KYMO_PLAN_CLASSES_H
#define KYMO_PLAN_CLASSES_H

#include "plan/machine.h"

#define KYMO_PLAN_CLASSES_MAX 65535

/* Whether a field that was defined at run time is a list of values. */
bool kymo_plan_field_is_list(const struct kymo_plan *plan, const struct kymo_plan_field *field);

/* The numbers of the classes. */
struct kymo_plan_classes {
  uint32_t *first;        /* by kind: `TRACE:kind`; those of its interpretations follow */
  uint32_t **token_class; /* by TOKEN list: which of the distinct texts an item has */
  uint32_t **token_item;  /* by TOKEN list: the first item of each text */
  uint32_t *token_texts;  /* by TOKEN list: how many there are */
  uint32_t count;
  uint32_t clock;     /* the clock of the time stamps, or NONE */
  bool may_lack_time; /* rows say whether they have a time stamp */
  int64_t bias_ns;    /* added to time stamps in rows, since some may be negative */
};
/* In `arena`; false: out of memory. `found` may be NULL. */
bool kymo_plan_classes_make(struct kymo_plan_classes *classes, struct kymo_arena *arena,
                            const struct kymo_plan *plan, const struct kymo_plan_found *found);

/* The value that selects the event class of a kind's records; NULL: it has none. EVENT in a list selects
 * none. */
const struct kymo_plan_option *kymo_plan_event_option(const struct kymo_plan *plan,
                                                      const struct kymo_plan_kind *kind);

/* Whether packets say how many records were lost. */
bool kymo_plan_counts_losses(const struct kymo_plan *plan);
/* Whether files define records, with fields of their own, at run time. */
bool kymo_plan_defines_late(const struct kymo_plan *plan);
/* Whether files name event classes themselves: records defined at run time, names of a table. */
bool kymo_plan_names_late(const struct kymo_plan *plan);

/* Whether some kind has a number of 32 bits of this name that the file stores with its lowest byte first. */
bool kymo_plan_is_little(const struct kymo_plan *plan, const char *name);

/* Makes all clocks, types and classes in `builder`, which is freed in either case. */
struct kymo_schema *kymo_plan_schema(const struct kymo_plan *plan, struct kymo_builder *builder,
                                     const struct kymo_plan_found *found, struct kymo_error *error);

#endif
