/* SPDX-License-Identifier: MIT */
/*
 * A CPEL file made of the events of any traces.
 *
 *   FileStrtab   names and formats        string table
 *   Texts        what datums refer to     string table
 *                                         symbols · event definitions · track definitions
 *                                         events, of each clock
 *
 * Each section begins with its size, and those with names come first, as VPP's tools want it. So nothing can
 * be written before the last event: events and strings are spooled.
 *
 * Times are nanoseconds since the epoch; times of a clock without epoch are its ticks, in a section of their
 * own. For VPP's tools all are nanoseconds since the first event, in one section: they print other sections
 * from 0 each, or not at all.
 *
 * A section has 4 GiB at most. When one is full, another begins, with a table of strings of its own.
 */
#ifndef KYMO_SINK_CPEL_MAKE_H
#define KYMO_SINK_CPEL_MAKE_H

#include "sink/cpel/class.h"
#include "sink/cpel/out.h"
#include "sink/cpel/strings.h"

enum kymo_cpel_unit { KYMO_CPEL_UNIT_ANY, KYMO_CPEL_UNIT_US, KYMO_CPEL_UNIT_S };

/* What is asked for. */
struct kymo_cpel_demand {
  const char *path;
  bool for_vpp;
  const char *track;        /* or NULL */
  enum kymo_cpel_unit unit; /* of the written clocks; ANY: as in VPP, where the number shows it, too */
  uint64_t section_most;    /* maximum bytes of a section */
};

struct kymo_cpel_make {
  struct kymo_trace *trace;
  struct kymo_cpel_demand demand;
  struct kymo_cpel_out *out;
  struct kymo_cpel_classes classes;
  struct kymo_cpel_tracks tracks;
  struct kymo_arena arena;
  struct kymo_cpel_clocks *clocks;
  struct kymo_cpel_events *sections; /* in the order of the file */
  size_t section_count, section_room;
  struct kymo_cpel_strings *tables;
  size_t table_count, table_room;
  bool has_first;
  int64_t first_ns, least_ns, last_ns; /* times of the first event, the earliest, and the previous one */
  bool is_epoch;                       /* … since the epoch */
  uint64_t number, untimed;            /* events so far, and how many of them have no time */
};

/* kymo_cpel_make_end ends it also after a failure. `out` receives the file. */
int kymo_cpel_make_begin(struct kymo_cpel_make *make, struct kymo_trace *trace,
                         const struct kymo_cpel_demand *demand, struct kymo_cpel_out *out,
                         struct kymo_error *error);
int kymo_cpel_make_event(struct kymo_cpel_make *make, const struct kymo_event *event,
                         struct kymo_error *error);
/* Writes the file. */
int kymo_cpel_make_write(struct kymo_cpel_make *make, struct kymo_error *error);
void kymo_cpel_make_end(struct kymo_cpel_make *make);

#endif
