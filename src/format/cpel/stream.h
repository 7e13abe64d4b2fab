/* SPDX-License-Identifier: MIT */
/* The event sections of CPEL files, and of what is laid out as these are, as streams. */
#ifndef KYMO_FORMAT_CPEL_STREAM_H
#define KYMO_FORMAT_CPEL_STREAM_H

#include "format/cpel/file.h"

/* Adds a file that was taken apart to the trace: a part, and a stream for each event section. Takes the file
 * over, in any case. Negative with the error. */
int kymo_cpel_add(struct kymo_trace *trace, struct cpel_file *file, struct kymo_part **part,
                  struct kymo_error *error);

#endif
