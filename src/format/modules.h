/* SPDX-License-Identifier: MIT */
/* Load maps that a recorder has left beside a trace (docs/recording.md). */
#ifndef KYMO_FORMAT_MODULES_H
#define KYMO_FORMAT_MODULES_H

#include "source/format.h"

/* Adds that of `directory`, if there is one, to the part. A line that makes no sense is told as damage, and
 * what stands before it is used. KYMO_E_MEMORY. */
int kymo_modules_load(struct kymo_trace *trace, struct kymo_part *part, const char *directory,
                      struct kymo_error *error);

#endif
