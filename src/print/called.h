/* SPDX-License-Identifier: MIT */
/* babeltrace2's names of traces and streams, which have no names of their own: derived from the paths that
 * the user gave. */
#ifndef KYMO_PRINT_CALLED_H
#define KYMO_PRINT_CALLED_H

#include "base/strbuf.h"
#include <kymo/sink.h>

/* HOST/PATH: the path below the user's path; "" if that is the trace itself and no host is known. For a trace
 * in several places only the host. */
void kymo_called_trace(struct kymo_strbuf *buf, const struct kymo_sink_options *options,
                       const struct kymo_part *part);
/* A path made absolute, without ".", ".." and doubled slashes, without using the file system. */
void kymo_called_path(struct kymo_strbuf *buf, const char *path);
/* The number of a stream: its instance; if it has none, or its packets have no begin times, its position
 * among the streams of its class. */
uint64_t kymo_called_stream(const struct kymo_trace *trace, const struct kymo_stream *stream);
/* Whether that is its instance; else the position in its class. */
bool kymo_called_by_instance(const struct kymo_stream *stream);

#endif
