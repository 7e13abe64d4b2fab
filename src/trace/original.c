/* SPDX-License-Identifier: MIT */
#include "trace/original.h"
#include "base/fail.h"
#include "trace/trace.h"

int kymo_event_original(const struct kymo_event *event, struct kymo_original *original,
                        struct kymo_error *error) {
  const struct stream_state *stream = (const struct stream_state *)event->packet->stream;
  if (!stream->operations->original)
    return kymo_fail_at(error, KYMO_E_USAGE, stream->decoder.stream.path, KYMO_ERROR_NO_OFFSET,
                        "its events are not byte ranges of a stream");
  return stream->operations->original(stream->cursor, (uint32_t)(event->offset_bits / 8), original, error);
}
