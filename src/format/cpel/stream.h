/* SPDX-License-Identifier: MIT */
/* The event sections of CPEL files, and of files with the same layout, as streams. */
#ifndef KYMO_FORMAT_CPEL_STREAM_H
#define KYMO_FORMAT_CPEL_STREAM_H

#include "format/cpel/file.h"

/* Adds a parsed file to the trace: a part, and a stream for each event section. Takes ownership of the file
 * in any case. Negative with the error. */
int kymo_cpel_add(struct kymo_trace *trace, struct cpel_file *file, struct kymo_part **part,
                  struct kymo_error *error);

#endif
