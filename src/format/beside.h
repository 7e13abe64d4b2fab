/* SPDX-License-Identifier: MIT */
/* What is beside the files of a trace of the kernel's that kymo recorded (live/beside.h). */
#ifndef KYMO_FORMAT_BESIDE_H
#define KYMO_FORMAT_BESIDE_H

#include "base/arena.h"
#include <kymo/schema.h>
#include <stdint.h>

struct kymo_beside {
  const char *origin; /* of the clock; NULL: there is none */
  uint64_t lost;      /* events after the last ones */
};

/* Reads both; texts are in the arena. */
int kymo_beside_read(struct kymo_beside *beside, const char *directory, struct kymo_arena *arena,
                     struct kymo_error *error);
/* The clock of a recording, which its programs have too. KYMO_E_FORMAT: the origin is none; `path` names the
 * file it is beside. */
int kymo_beside_clock(struct kymo_clock *clock, const char *origin, const char *path,
                      struct kymo_error *error);

#endif
