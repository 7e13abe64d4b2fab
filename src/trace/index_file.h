/* SPDX-License-Identifier: MIT */
/* Keeps the indexes of a trace's streams for the next time. Failures are ignored: then there is no index. */
#ifndef KYMO_TRACE_INDEX_FILE_H
#define KYMO_TRACE_INDEX_FILE_H

#include "trace/trace.h"

/* Loads the kept indexes, once. Streams whose files have changed have none. */
void kymo_index_load(struct kymo_trace *trace);
/* Writes the indexes of those parts that have grown much since. */
void kymo_index_keep(struct kymo_trace *trace);

#endif
