/* SPDX-License-Identifier: MIT */
/* Clock snapshots that a recorder wrote beside a trace. */
#ifndef KYMO_FORMAT_CLOCKS_H
#define KYMO_FORMAT_CLOCKS_H

#include "source/format.h"

/* Adds the snapshots of `directory`, if there are any, to the part. A fault in them is listed as damage, and
 * the snapshots before it are used. KYMO_E_MEMORY. */
int kymo_clocks_load(struct kymo_trace *trace, struct kymo_part *part, const char *directory,
                     struct kymo_error *error);

#endif
