/* SPDX-License-Identifier: MIT */
#include "trace/apart.h"
#include "trace/trace.h"
#include <string.h>
#include <sys/stat.h>

bool kymo_trace_can_read_apart(const struct kymo_trace *trace) {
  if (trace->is_merging || trace->follow)
    return false;
  for (size_t i = 0; i < trace->stream_count; i++) {
    const struct stream_state *stream = trace->streams[i];
    if (stream->phase != STREAM_NEW || strcmp(stream->part->part.format, "ctf") != 0)
      return false;
  }
  return true;
}

int kymo_trace_read_apart(struct kymo_trace *trace, const struct kymo_stream *stream,
                          struct kymo_error *error) {
  trace->options.unmerged = true;
  for (size_t i = 0; i < trace->stream_count; i++) {
    struct stream_state *one = trace->streams[i];
    one->phase = &one->decoder.stream == stream ? STREAM_NEW : STREAM_DONE;
  }
  return kymo_trace_drop_batch(trace, trace->number, error);
}

uint64_t kymo_stream_bytes(const struct kymo_stream *of) {
  const struct stream_state *stream = (const struct stream_state *)of;
  const char *path;
  struct stat info;
  uint64_t bytes = 0;
  for (uint32_t i = 0; stream->operations->file && (path = stream->operations->file(stream->source, i)); i++)
    bytes += stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
  return bytes;
}
