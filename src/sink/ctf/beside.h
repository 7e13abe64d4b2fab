/* SPDX-License-Identifier: MIT */
/*
 * What a recorder has left beside a trace: clock snapshots and the load map, which go with the trace where
 * its cycles stay; what was not kept and what a snapshot was taken on, which go with its events.
 */
#ifndef KYMO_SINK_CTF_BESIDE_H
#define KYMO_SINK_CTF_BESIDE_H

#include <kymo/read.h>

/* Writes those of a part to a directory that has `.kymo`. Those of a part that is put together from several
 * places are put together as well. */
int kymo_ctf_carry(const struct kymo_part *part, const char *directory, struct kymo_error *error);
/* The notes of all parts that become one trace: the sum of what was not kept, and the causes. */
int kymo_ctf_carry_notes(const struct kymo_part *const *parts, size_t count, const char *directory,
                         struct kymo_error *error);

#endif
