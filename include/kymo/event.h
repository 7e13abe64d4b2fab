/* SPDX-License-Identifier: MIT */
/* kymo/event.h: the parts of a trace: parts, streams, packets, events. See kymo/read.h. */
#ifndef KYMO_EVENT_H
#define KYMO_EVENT_H

#include <kymo/schema.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kymo_trace;

/* One trace of those opened together: a schema and its streams. Borrowed from the kymo_trace. */
struct kymo_part {
  const char *path;   /* as it was found */
  const char *format; /* name of its format */
  const struct kymo_schema *schema;
  uint32_t index; /* among the parts */
  uint32_t stream_count;
  uint32_t path_count; /* number of paths that were combined; `path` is the first */
};

/* One stream of packets: a file, a ring slot. Borrowed from the kymo_trace. */
struct kymo_stream {
  const struct kymo_part *part;
  const struct kymo_stream_class *class_; /* NULL while a stream has no packet at all */
  const char *path;                       /* the file that it is read from */
  uint64_t instance;                      /* stream instance id, or UINT64_MAX if the trace has none */
  uint32_t index;                         /* within the part */
  uint32_t number;                        /* within the trace, from 0; it stays */
};

/* The packet of an event. */
struct kymo_packet {
  const struct kymo_stream *stream;
  uint64_t offset;   /* in the stream's file, bytes */
  uint64_t sequence; /* packet sequence number, or UINT64_MAX */
  bool has_begin, has_end, has_discarded;
  uint64_t begin_cycles, end_cycles; /* of the stream class's clock */
  uint64_t discarded;                /* the value of the counter in the packet */
  /* private to the library from here on */
  const uint8_t *data;
  uint64_t content_bits, size_bits;
};

struct kymo_event_plan;
struct kymo_event {
  const struct kymo_event_class *class_;
  const struct kymo_packet *packet;
  uint64_t number;      /* from 1, in delivery order; after kymo_trace_goto_time, see kymo_trace_get_number */
  int64_t time_ns;      /* from the clock's origin (the epoch if clock->origin_is_epoch); else INT64_MIN */
  uint64_t cycles;      /* the clock's full value */
  uint64_t offset_bits; /* of the event header, in the packet */
  bool has_time; /* else only its place among other events is known; a stream may have events of both sorts */
  bool is_damaged; /* bytes right before it in its stream could not be read */
  /* private to the library from here on */
  uint32_t header_bits;
  const struct kymo_event_plan *plan;
};

#ifdef __cplusplus
}
#endif
#endif
