/* SPDX-License-Identifier: MIT */
/* Clock snapshots that a recorder has left beside a trace. */
#ifndef KYMO_FORMAT_CLOCKS_H
#define KYMO_FORMAT_CLOCKS_H

#include "source/format.h"

/* Adds those of `directory`, if there are any, to the part. What is wrong with them is told as damage, and
 * what stands before is used. KYMO_E_MEMORY. */
int kymo_clocks_load(struct kymo_trace *trace, struct kymo_part *part, const char *directory,
                     struct kymo_error *error);

#endif
