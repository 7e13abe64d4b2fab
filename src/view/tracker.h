/* SPDX-License-Identifier: MIT */
/*
 * Which track an event is on, and which kind of event it is: numbers from 0 in the order of their first
 * events, so that every pass over a trace from its start finds the same ones. Kinds are event classes of one
 * name, whatever part they are of; tracks are those of `kymo stat` (stat/groups.h), each part's for itself.
 */
#ifndef KYMO_VIEW_TRACKER_H
#define KYMO_VIEW_TRACKER_H

#include "stat/groups.h"

enum view_track_by {
  VIEW_BY_THREAD, /* CPEL's tracks by their names; else threads; else processors or streams */
  VIEW_BY_CPU,
  VIEW_BY_STREAM,
  VIEW_BY_EVENT,
  VIEW_BY_FIELD
};

enum { VIEW_TRACKS_MAX = 65535, VIEW_KINDS_MAX = 65535 }; /* events of further ones are on the last one */

struct view_tracker {
  struct kymo_trace *trace;
  enum view_track_by by;
  struct kymo_whos whos;
  struct kymo_grouping track, event;
  struct kymo_groups *tracks;    /* by part; `calls` of a group: its number + 1 */
  struct kymo_stat_group **rest; /* by part: of events that nothing says a track of; NULL: none was met */
  size_t part_count;
  struct kymo_groups kinds;
  uint32_t *kind_of; /* by class number: kind + 1; 0: not met yet */
  struct view_recent {
    uint64_t version;
    uint32_t track;
  } * recent; /* by stream number: the track of its last event, and by which version of the thread */
  uint32_t
      *track_of;  /* by stream number (and by class number, of tracks that are events): + 1; 0: not known */
  bool has_field; /* some class has a field "track", so that threads alone do not say it */
  uint32_t track_count, kind_count;
};

/* What is new of an event; pointers hold until the tracker ends. */
struct view_place {
  uint32_t track, kind;
  const char *new_track, *new_kind; /* their names, if it is their first event; else NULL */
};

/* Gets ready for a trace that is at its start. `field` is for VIEW_BY_FIELD and must live on. KYMO_E_MEMORY;
 * KYMO_E_USAGE if no event class has the field. Ended by view_tracker_end also after a failure. */
int view_tracker_begin(struct view_tracker *tracker, struct kymo_trace *trace, enum view_track_by by,
                       const char *field, struct kymo_error *error);
/* The trace has new streams or classes (kymo_trace_set_growth_handler): numbers stay. */
int view_tracker_renew(struct view_tracker *tracker, struct kymo_error *error);
/* The track and the kind of an event; new ones get the next numbers. KYMO_OK or KYMO_E_MEMORY. */
int view_tracker_find(struct view_tracker *tracker, const struct kymo_event *event, struct view_place *place);
/* The track on which the stream's last event was; UINT32_MAX: it had none, or events on several. */
uint32_t view_tracker_of_stream(const struct view_tracker *tracker, const struct kymo_stream *stream);
/* Whether the name of an event's track is made of the number of the event's stream. */
bool view_tracker_names_stream(const struct view_tracker *tracker, const struct kymo_event *event,
                               const char *name);
/* Frees what the tracker has; one of zeros is fine. The trace stays. */
void view_tracker_end(struct view_tracker *tracker);

#endif
