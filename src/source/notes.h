/* SPDX-License-Identifier: MIT */
/* A recorder's notes on a trace as a whole: events that were not kept, and the cause of a snapshot. */
#ifndef KYMO_SOURCE_NOTES_H
#define KYMO_SOURCE_NOTES_H

#include <kymo/read.h>

struct kymo_recorder_notes {
  bool has_not_kept;         /* of overwritten rings: … */
  uint64_t overwritten;      /* events that were overwritten before they could be saved … */
  uint64_t discarded_before; /* … and discarded before the first packets, where readers cannot count them */
  const char *cause;         /* of a snapshot, or the end of a dead process with rings; else NULL */
};

/* Adds the counts of one more place, and the cause if there is none yet, which is copied. KYMO_E_MEMORY. */
int kymo_part_add_notes(struct kymo_trace *trace, struct kymo_part *part,
                        const struct kymo_recorder_notes *notes, struct kymo_error *error);
const struct kymo_recorder_notes *kymo_part_notes(const struct kymo_part *part);

#endif
