/* SPDX-License-Identifier: MIT */
#include "source/prefilter.h"
#include "trace/trace.h"

void kymo_stream_set_prefilter(struct stream_state *stream, const struct kymo_prefilter *prefilter) {
  stream->prefilter = prefilter;
  stream->trace->is_prefiltered |= prefilter != NULL;
  if (stream->cursor && stream->operations->prefilter)
    stream->operations->prefilter(stream->cursor, prefilter);
}

void kymo_trace_drop_prefilters(struct kymo_trace *trace) {
  for (size_t i = 0; trace->is_prefiltered && i < trace->stream_count; i++) {
    kymo_stream_set_prefilter(trace->streams[i], NULL);
    trace->streams[i]->in_packet = false;
  }
  trace->is_prefiltered = false;
}
