/* SPDX-License-Identifier: MIT */
/* What babeltrace2 calls traces and streams, which have no names of their own: by the paths that the user
 * gave. */
#ifndef KYMO_PRINT_CALLED_H
#define KYMO_PRINT_CALLED_H

#include "base/strbuf.h"
#include <kymo/sink.h>

/* HOST/PATH: the path from where the user pointed to; "" if that is the trace itself and no host is known. Of
 * a trace that was found in several places the host alone. */
void kymo_called_trace(struct kymo_strbuf *buf, const struct kymo_sink_options *options,
                       const struct kymo_part *part);
/* A path made absolute and free of ".", ".." and doubled slashes, without asking the file system. */
void kymo_called_path(struct kymo_strbuf *buf, const char *path);
/* The number of a stream: its instance; if it has none, or packets that do not tell when they begin, those of
 * its class are counted. */
uint64_t kymo_called_stream(const struct kymo_trace *trace, const struct kymo_stream *stream);
/* Whether that is its instance; else the streams of its class are counted. */
bool kymo_called_by_instance(const struct kymo_stream *stream);

#endif
