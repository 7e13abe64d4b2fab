/* SPDX-License-Identifier: MIT */
/* Converts a finished trace to CTF 2. */
#ifndef KYMO_LIVE_CTF2_H
#define KYMO_LIVE_CTF2_H

#include <kymo/error.h>

/* Writes the metadata of the trace in `directory` again as CTF 2, from its registry, which then describes
 * that. The packets do not change: both versions encode them in the same way. On failure the trace is as
 * before. */
int kymo_trace_to_ctf2(const char *directory, struct kymo_error *error);

#endif
