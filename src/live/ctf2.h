/* SPDX-License-Identifier: MIT */
/* A finished trace becomes CTF 2. */
#ifndef KYMO_LIVE_CTF2_H
#define KYMO_LIVE_CTF2_H

#include <kymo/error.h>

/* Writes the metadata of the trace in `directory` anew as CTF 2, from its registry, which then describes
 * that. The packets stay as they are: both versions lay them down in the same way. On failure the trace is as
 * it was. */
int kymo_trace_to_ctf2(const char *directory, struct kymo_error *error);

#endif
