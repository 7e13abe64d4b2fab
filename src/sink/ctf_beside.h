/* SPDX-License-Identifier: MIT */
/* What a recorder has left beside a trace: clock snapshots and the load map, which go with the trace where its cycles stay. */
#ifndef KYMO_SINK_CTF_BESIDE_H
#define KYMO_SINK_CTF_BESIDE_H

#include <kymo/read.h>

/* Writes those of a part to a directory that has `.kymo`. Those of a part that is put together from several places are put
 * together as well. */
int kymo_ctf_carry(const struct kymo_part *part, const char *directory, struct kymo_error *error);

#endif
