/* SPDX-License-Identifier: MIT */
/*
 * What a trace format is to the reader. A format is one file in src/format/ that ends in one
 * constant descriptor, listed in src/format/list.c. It finds out what the bytes of a path mean
 * (the schema) and supplies them; it does not merge, filter, print or keep time.
 *
 *   probe ──► open ──► parts (a schema each) ──► streams ──► cursor ──► chunks of bytes
 *                                                               └─────► or whole events
 *
 * Two ways to supply a stream, one per struct kymo_stream_source:
 *
 *   packets  `next` gives the bytes at the cursor: a packet as the schema describes it (header,
 *            context, events). The reader decodes the header, learns the size and says `skip`.
 *            CTF files map themselves in place; rings copy one packet into a buffer they own.
 *   events   `next_event` steps over the format's own framing and gives (class, payload bytes,
 *            time). Formats that are not made of CTF packets (CPEL, trace.dat, described records)
 *            do this; walking, getting and filtering work the same.
 *
 * All bytes handed over must be followed by KYMO_SLACK readable bytes of any value, so that the
 * decoder can load whole words.
 */
#ifndef KYMO_READ_FORMAT_H
#define KYMO_READ_FORMAT_H

#include <kymo/read.h>

#define KYMO_SLACK 16

/* A piece of a stream that begins with a packet. */
struct kymo_chunk {
  const uint8_t *data;
  uint64_t size_bytes;   /* from `data` to the end of the file, or of the buffer */
  const char *path;      /* for messages; borrowed from the source */
  uint64_t offset;       /* of `data` in that file */
};

/* One event of a format that steps by itself. All positions are bits in `data`. */
struct kymo_raw_event {
  const struct kymo_event_class *class_;
  const uint8_t *data;   /* the bytes that hold the event; the scopes are aligned from here */
  uint64_t size_bits;
  uint64_t begin_bits;   /* where common context, specific context, payload begin, in this order */
  uint64_t cycles;       /* full value of the stream class's clock, if it has one */
  const char *path;
  uint64_t offset;       /* of `data` in that file */
};

struct kymo_cursor;      /* each format defines its own */

struct kymo_source_operations {
  /* Starts reading at the first packet. Several cursors of one source may exist at a time. */
  int (*begin)(struct kymo_cursor **cursor, void *source, struct kymo_error *error);
  /* The bytes at the cursor, valid until the next call with this cursor. KYMO_OK, KYMO_END,
   * KYMO_AGAIN, or negative with `error`: then the cursor has moved behind what cannot be read, and
   * is asked again. Does not move otherwise. */
  int (*next)(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error);
  /* Moves behind `size_bytes` of the last chunk, at most its size. */
  void (*skip)(struct kymo_cursor *cursor, uint64_t size_bytes);
  /* Instead of `next` and `skip`: the next event. Results as of `next`; after KYMO_E_FORMAT the
   * reader notes the damage (error's file, offset, message) and asks for the next event again. */
  int (*next_event)(struct kymo_cursor *cursor, struct kymo_raw_event *event, struct kymo_error *error);
  void (*end)(struct kymo_cursor *cursor);
  void (*free)(void *source);
};

/* Oddities of tracers, recognised by the format from the environment. */
enum kymo_quirk {
  KYMO_QUIRK_END_ZERO = 1 << 0,    /* packet end time 0 means "not closed" (lttng-crash) */
};

/* A stream as a format declares it. */
struct kymo_stream_source {
  const struct kymo_source_operations *operations;
  void *source;                            /* becomes the trace's, freed by operations->free */
  const struct kymo_stream_class *class_;  /* or NULL if unknown */
  const char *path;                        /* copied */
  uint64_t instance;                       /* UINT64_MAX: none */
  bool may_repeat;                         /* packets may come twice: drop by sequence number */
};

/* A part as a format declares it. */
struct kymo_part_source {
  const char *format, *path;               /* format: static; path: copied */
  struct kymo_schema *schema;              /* the trace takes over one share, in any case */
  uint32_t quirks;
};

/* What the head of a packet says about its stream. */
struct kymo_peek {
  const struct kymo_stream_class *class_;
  uint64_t instance;                       /* UINT64_MAX: none */
  bool has_begin;
  uint64_t begin_cycles, sequence;         /* sequence UINT64_MAX: none */
};

/* Adds a part and makes its plan. */
int kymo_trace_add_part(struct kymo_trace *trace, const struct kymo_part_source *source, struct kymo_part **part,
                        struct kymo_error *error);
/* Reads the head of the packet that `chunk` begins with; KYMO_E_FORMAT if it is no good. */
int kymo_part_peek(const struct kymo_part *part, const struct kymo_chunk *chunk, struct kymo_peek *peek,
                   struct kymo_error *error);
/* Adds a stream to a part; takes over source->source, in any case. */
int kymo_part_add_stream(struct kymo_trace *trace, struct kymo_part *part,
                         const struct kymo_stream_source *source, struct kymo_error *error);
/* Notes a damaged place. */
void kymo_trace_add_damage(struct kymo_trace *trace, const struct kymo_damage *damage);

struct kymo_format {
  const char *name;     /* as in kymo_open_options.format */
  const char *summary;  /* one line */
  /* True if `path` (a file, a directory, or any other text) is a trace of this format. The
   * search asks from the top down and does not look inside a directory that somebody took. */
  bool (*probe)(const char *path);
  /* Adds the parts and streams of all paths that probe took. */
  int (*open)(struct kymo_trace *trace, const char *const *paths, size_t count, struct kymo_error *error);
};

/* All formats in the order of asking, NULL at the end (src/format/list.c). */
extern const struct kymo_format *const kymo_formats[];

#endif
