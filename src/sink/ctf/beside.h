/* SPDX-License-Identifier: MIT */
/*
 * Files that a recorder wrote beside a trace: clock snapshots and the load map, which are copied if the
 * trace's cycles are unchanged; the counts of events that were not kept and the cause of a snapshot, which
 * are copied with its events.
 */
#ifndef KYMO_SINK_CTF_BESIDE_H
#define KYMO_SINK_CTF_BESIDE_H

#include <kymo/read.h>

/* Writes the files of a part to a directory that has `.kymo`. The files of a part from several places are
 * merged as well. */
int kymo_ctf_carry(const struct kymo_part *part, const char *directory, struct kymo_error *error);
/* The notes of all parts that become one trace: the sums of events that were not kept, and the causes. */
int kymo_ctf_carry_notes(const struct kymo_part *const *parts, size_t count, const char *directory,
                         struct kymo_error *error);

#endif
