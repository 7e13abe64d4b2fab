/* SPDX-License-Identifier: MIT */
#include "source/screen.h"
#include "trace/trace.h"

void kymo_stream_set_screen(struct stream_state *stream, const struct kymo_screen *screen) {
  stream->screen = screen;
  stream->trace->is_screened |= screen != NULL;
  if (stream->cursor && stream->operations->screen)
    stream->operations->screen(stream->cursor, screen);
}

void kymo_trace_drop_screens(struct kymo_trace *trace) {
  for (size_t i = 0; trace->is_screened && i < trace->stream_count; i++) {
    kymo_stream_set_screen(trace->streams[i], NULL);
    trace->streams[i]->in_packet = false;
  }
  trace->is_screened = false;
}
