/* SPDX-License-Identifier: MIT */
/*
 * What the rings of a live process have overwritten. The index has all events that it has seen, but a pass
 * over the rings has only those that are still there. From when on it has all of them is asked after the
 * pass: what a ring has then, it has had since the pass began.
 */
#include "view/state.h"
#include "base/list.h"
#include "trace/pass.h"
#include <kymo/info.h>
#include <kymo/move.h>
#include <string.h>

static bool note_origin(struct view *view, uint64_t number, uint32_t origin) {
  enum { CHUNK = 65536 };
  uint64_t at = (number - 1) * sizeof origin;
  if (number == 0 || number >= KYMO_NUMBER_RELATIVE)
    return true;
  if (!view->origins.base && view_store_temporary(&view->origins, NULL) != KYMO_OK)
    return false;
  while (at >= view->origins.used)
    if (view_store_add(&view->origins, CHUNK) == UINT64_MAX)
      return false;
  memcpy(view->origins.base + at, &origin, sizeof origin);
  return true;
}

uint32_t view_origin_of(const struct view *view, uint64_t number) {
  uint32_t origin = 0;
  if (number > 0 && number <= view->origins.used / sizeof origin)
    memcpy(&origin, view->origins.base + (number - 1) * sizeof origin, sizeof origin);
  return origin;
}

bool view_note_stream(struct view *view, const struct kymo_event *event) {
  const struct kymo_stream *stream = event->packet->stream;
  while (stream->number >= view->stream_count) {
    if (!KYMO_LIST_ROOM(view->streams, view->stream_capacity, view->stream_count))
      return false;
    view->streams[view->stream_count++] = (struct view_stream){.first_ns = INT64_MAX};
  }
  struct view_stream *known = &view->streams[stream->number];
  if (event->time_ns < known->first_ns)
    *known = (struct view_stream){stream->part->index, stream->instance, event->time_ns};
  return note_origin(view, event->number, stream->number + 1);
}

/* A stream of another trace of the same rings; NULL: the index has no event of it. */
static const struct view_stream *find_stream(const struct view *view, const struct kymo_stream *stream) {
  for (uint32_t i = 0; i < view->stream_count; i++) {
    const struct view_stream *known = &view->streams[i];
    if (known->first_ns != INT64_MAX && known->instance == stream->instance &&
        known->part < view->part_count && strcmp(view->parts[known->part], stream->part->path) == 0)
      return known;
  }
  return NULL;
}

/* From when on a ring has all events of the index; INT64_MIN: it has all. */
static int64_t ask_ring(const struct view *view, const struct kymo_stream *stream, bool is_growing) {
  const struct view_stream *known = find_stream(view, stream);
  int64_t first_ns;
  if (!known)
    return INT64_MIN;
  if (!kymo_stream_first_ns(stream, &first_ns)) /* it is overwritten faster than it can be read */
    first_ns = is_growing || view->end_ns == INT64_MAX ? INT64_MIN : view->end_ns + 1;
  return first_ns > known->first_ns ? first_ns : INT64_MIN;
}

bool view_ask_rings(struct view *view, const struct kymo_trace *trace, bool is_growing, int64_t *from_ns) {
  *from_ns = INT64_MIN;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const struct kymo_part *part = kymo_trace_part(trace, i);
    for (uint32_t k = 0; k < part->stream_count && strcmp(part->format, "ring") == 0; k++) {
      int64_t ring_ns = ask_ring(view, kymo_part_stream(trace, part, k), is_growing);
      *from_ns = ring_ns > *from_ns ? ring_ns : *from_ns;
    }
  }
  view->overwritten_ns = *from_ns > view->overwritten_ns ? *from_ns : view->overwritten_ns;
  return *from_ns != INT64_MIN;
}

bool view_overwritten(struct view *view, int64_t *before_ns) {
  int64_t now_ns;
  if (view->build && view_must_match(view))
    view_ask_rings(view, view->build->trace, true, &now_ns);
  *before_ns = view->overwritten_ns;
  return view->overwritten_ns != INT64_MIN;
}
