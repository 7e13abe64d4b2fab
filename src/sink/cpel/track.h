/* SPDX-License-Identifier: MIT */
/*
 * The track of an event in a CPEL file: its thread, its processor, or the value of a field.
 *
 *   by              number, if it is free            name
 *   track of CPEL   that                             its label
 *   thread          thread id                        NAME/TID
 *   processor       that                             cpu N
 *   field           its value                        its label or text, FIELD VALUE
 *   stream          running                          stream N
 *
 * By default the first of these that exists; fields must be requested. Threads and processors of one host are
 * the same in all its traces.
 */
#ifndef KYMO_SINK_CPEL_TRACK_H
#define KYMO_SINK_CPEL_TRACK_H

#include "print/who.h"
#include "sink/cpel/define.h"

enum kymo_cpel_track_by {
  KYMO_CPEL_BY_WHAT_THERE_IS,
  KYMO_CPEL_BY_THREAD,
  KYMO_CPEL_BY_CPU,
  KYMO_CPEL_BY_FIELD
};

struct kymo_cpel_tracks {
  struct kymo_cpel_definitions all;
  struct kymo_arena arena;
  struct kymo_trace *trace;
  struct kymo_whos *whos;
  enum kymo_cpel_track_by by;
  char *field; /* its name, or NULL */
  bool many_hosts;
  struct kymo_cpel_track_class *classes; /* by class number */
  struct kymo_cpel_track_late *late;
};

/* `by`: "thread", "cpu", the name of a field, or NULL. KYMO_E_USAGE if no event has the field.
 * kymo_cpel_tracks_end ends it also after a failure. */
int kymo_cpel_tracks_begin(struct kymo_cpel_tracks *tracks, struct kymo_trace *trace, struct kymo_whos *whos,
                           const char *by, struct kymo_error *error);
void kymo_cpel_tracks_end(struct kymo_cpel_tracks *tracks);
/* The number of an event's track. KYMO_E_MEMORY, KYMO_E_LIMIT for too many tracks. */
int kymo_cpel_track_of(struct kymo_cpel_tracks *tracks, const struct kymo_event *event, uint32_t *number,
                       struct kymo_error *error);

#endif
