/* SPDX-License-Identifier: MIT */
/* Load maps that a recorder wrote beside a trace (docs/recording.md). */
#ifndef KYMO_FORMAT_MODULES_H
#define KYMO_FORMAT_MODULES_H

#include "source/format.h"

/* Adds the load map of `directory`, if there is one, to the part. An invalid line is listed as damage, and
 * the lines before it are used. KYMO_E_MEMORY. */
int kymo_modules_load(struct kymo_trace *trace, struct kymo_part *part, const char *directory,
                      struct kymo_error *error);

#endif
