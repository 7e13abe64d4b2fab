/* SPDX-License-Identifier: MIT */
/* Keeping the indexes of a trace's streams for the next time. Nothing here can fail: there may be no
 * index. */
#ifndef KYMO_TRACE_INDEX_FILE_H
#define KYMO_TRACE_INDEX_FILE_H

#include "trace/trace.h"

/* Loads what was kept, once. Streams whose files are others now have none. */
void kymo_index_load(struct kymo_trace *trace);
/* Keeps the indexes of those parts that have learnt much since. */
void kymo_index_keep(struct kymo_trace *trace);

#endif
