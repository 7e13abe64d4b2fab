/* SPDX-License-Identifier: MIT */
/* Names in filters that mean a property of every event, for event classes that have no field of that
 * name. */
#ifndef KYMO_FILTER_NAMES_H
#define KYMO_FILTER_NAMES_H

#include <kymo/schema.h>

enum kymo_stand_in {
  KYMO_STAND_IN_NONE,
  KYMO_STAND_IN_EVENT,    /* the event class's name */
  KYMO_STAND_IN_GROUP,    /* group: the part of it before the colon */
  KYMO_STAND_IN_LEVEL,    /* level: its log level */
  KYMO_STAND_IN_TIME,     /* ACQUISITION: the event's time */
  KYMO_STAND_IN_STREAM,   /* the processor, else the stream's number */
  KYMO_STAND_IN_SEQUENCE, /* the packet's number */
  KYMO_STAND_IN_PID,      /* the process that the whole trace is of */
  KYMO_STAND_IN_PROCESS,  /* process: its name */
  KYMO_STAND_IN_ALIAS,    /* another field: see kymo_stand_in_alias */
};

enum kymo_stand_in kymo_stand_in_of(const char *name);
/* What the trace as a whole has as this; NULL: nothing. It goes before the aliases. */
const struct kymo_environment *kymo_stand_in_environment(const struct kymo_schema *schema, const char *name);
/* Other names that tracers have for this, by index from 0; NULL after the last. */
const char *kymo_stand_in_alias(const char *name, size_t index);
/* All such names by index, for suggestions; NULL after the last. */
const char *kymo_stand_in_name(size_t index);
/* The type of levels: numbers with their names. */
extern const struct kymo_type kymo_level_type;

/* Whether the event class is of a kind of records: by its name, by the part of it after the group, or by a
 * description's name for the kind whose interpretations are separate classes. */
bool kymo_filter_is_kind(const struct kymo_event_class *class_, const char *name);
/* Whether the class's records are headers, definitions or segments. */
bool kymo_filter_is_no_event(const struct kymo_event_class *class_);

#endif
