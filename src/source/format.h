/* SPDX-License-Identifier: MIT */
/*
 * The interface between a trace format and the reader. A format is one file in src/format/ that ends in one
 * constant descriptor, listed in src/format/list.c. It finds the schema of the bytes of a path and supplies
 * the bytes; it does not merge, filter, print or convert times.
 *
 *   probe ──► open ──► parts (a schema each) ──► streams ──► cursor ──► chunks of bytes
 *                                                               └─────► or whole events
 *
 * Two ways to supply a stream, one per struct kymo_stream_source:
 *
 *   packets  `next` returns the bytes at the cursor: a packet as the schema describes it (header,
 *            context, events). The reader decodes the header, learns the size and calls `skip`.
 *            CTF files map themselves in place; rings copy one packet into a buffer they own.
 *   events   `next_event` returns the next event as its class, time and payload. The source of a filter's
 *            activities does this (filter/activity.c). Walking, getting and filtering work the same.
 *
 * All returned bytes must be followed by KYMO_SLACK readable bytes of any value, so that the decoder can load
 * whole words.
 */
#ifndef KYMO_SOURCE_FORMAT_H
#define KYMO_SOURCE_FORMAT_H

#include "source/kernel.h"
#include <kymo/read.h>

#define KYMO_SLACK 16

#define KYMO_EVENT_OFFSET_CLASS UINT32_C(0x7fffffff) /* what class_index can hold */

/* An event in a packet of a format that encodes its events itself, and so knows what the reader would have to
 * compute. */
struct kymo_event_offset {
  uint64_t cycles; /* full value of the stream class's clock */
  uint32_t at;     /* byte of the event header in the packet */
  /* of the event class, in its stream class; or the number of classes: the event has no bytes, since a
   * prefilter held it back, but all else is as if it had */
  uint32_t class_index : 31;
  uint32_t is_untimed : 1; /* the event has no time: `cycles` is its place only */
};

/* A piece of a stream that begins with a packet. */
struct kymo_chunk {
  const uint8_t *data;
  uint64_t size_bytes; /* from `data` to the end of the file, the buffer, or a window of the file */
  uint64_t rest_bytes; /* to the end of the file, if a window ends before it; else 0 */
  const char *path;    /* for messages; borrowed from the source */
  uint64_t offset;     /* of `data` in that file */
  bool may_grow;       /* it ends at the end of the file, and a program may still be writing */
  uint32_t file;       /* number of the file in the source: for `seek` */
  /* all events of the packet in order, valid as long as `data`; or NULL */
  const struct kymo_event_offset *event_offsets;
  uint32_t offset_count;
  bool marks_segments;  /* the format marks packets that begin a segment, … */
  bool begins_segment;  /* … as this one does; else damage and losses show it */
  bool follows_loss;    /* events between the packet before and this one were lost … */
  uint64_t lost_events; /* … this many; UINT64_MAX: the number is unknown */
  uint64_t lost_bytes;  /* where `next` fails: this many bytes are lost by the reported damage */
  struct kymo_map *map; /* the file is mapped by this, which finds its holes; or NULL */
};

/* One event of a format that finds its events itself. All positions are bits in `data`. */
struct kymo_raw_event {
  const struct kymo_event_class *class_;
  const uint8_t *data; /* the bytes that contain the event; the scopes are aligned from here */
  uint64_t size_bits;
  uint64_t begin_bits; /* where common context, specific context, payload begin, in this order */
  uint64_t cycles;     /* full value of the stream class's clock, if it has one */
  const char *path;
  uint64_t offset; /* of `data` in that file */
};

/* The bytes of an event as in its file; valid until the next call for the stream. */
struct kymo_original {
  const uint8_t *bytes;
  size_t size;
  bool is_framed;           /* they followed the header of a frame (docs/bprintf.md) … */
  uint32_t sequence, flags; /* … with this number, these bits of its length, … */
  uint32_t source;          /* … in the file of this thread or CPU, … */
  bool is_big;              /* … in this order … */
  const uint8_t *header;    /* … and this begin of its file, KYMO_LOG_HEADER_BYTES_; NULL: nothing */
};

struct kymo_load_map;
struct kymo_prefilter;
struct kymo_ns;
struct kymo_cursor; /* each format defines its own */

struct kymo_source_operations {
  /* Starts reading at the first packet. There may be several cursors of one source at a time. */
  int (*begin)(struct kymo_cursor **cursor, void *source, struct kymo_error *error);
  /* The bytes at the cursor, valid until the next call with this cursor. KYMO_OK, KYMO_END, KYMO_AGAIN, or
   * negative with `error`: then the cursor has moved after the unreadable bytes, and is called again. Does
   * not move otherwise. */
  int (*next)(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error);
  /* Moves after `size_bytes` of the last chunk, at most to the end of the file. */
  void (*skip)(struct kymo_cursor *cursor, uint64_t size_bytes);
  /* Requests the size of the next chunk, if the file has that many bytes. Formats that use windows have
   * this. */
  void (*want)(struct kymo_cursor *cursor, uint64_t size_bytes);
  /* From now on chunks need only show the heads of packets, unless more is requested. May be NULL. */
  void (*glance)(struct kymo_cursor *cursor);
  /* From the next chunk on, events of formats with event offsets need no bytes if they fail this prefilter;
   * NULL: all do. Borrowed until another is set, or the end. May be NULL. (source/prefilter.h) */
  void (*prefilter)(struct kymo_cursor *cursor, const struct kymo_prefilter *prefilter);
  /* Moves to where a chunk of this source began; `next` returns KYMO_END if there is nothing any more. NULL
   * if packets are not kept: then only the path from the start leads to a place. */
  void (*seek)(struct kymo_cursor *cursor, uint32_t file, uint64_t offset);
  /* Moves to the begin of a chunk before which no event has that time or a later one, the later the better,
   * without reading the events before it: to the start if it knows no other place. May be NULL: then headers
   * of packets are used, or all is stepped over. */
  void (*seek_time)(struct kymo_cursor *cursor, const struct kymo_ns *ns, int64_t time_ns);
  /* Instead of `next` and `skip`: the next event. Results as of `next`; after KYMO_E_FORMAT the
   * reader notes the damage (error's file, offset, message) and asks for the next event again. */
  int (*next_event)(struct kymo_cursor *cursor, struct kymo_raw_event *event, struct kymo_error *error);
  /* The path of a file of the source by its number, NULL after the last. Formats whose files can be read
   * again later have this, so that an index of them may be kept. */
  const char *(*file)(const void *source, uint32_t file);
  /* Tables that records fill, for formats that have them: their number, the name of one, and the value of a
   * key as far as the cursor has read. All or none. */
  size_t (*table_count)(const void *source);
  const char *(*table_name)(const void *source, size_t table, size_t *length);
  int (*table_get)(struct kymo_cursor *cursor, size_t table, const struct kymo_table_key *key,
                   struct kymo_table_value *value);
  /* The original bytes of the event whose header begins at that byte of the packet that the cursor returned
   * last. May be NULL. */
  int (*original)(struct kymo_cursor *cursor, uint32_t at, struct kymo_original *original,
                  struct kymo_error *error);
  void (*end)(struct kymo_cursor *cursor);
  void (*free)(void *source);
};

/* Deviations of tracers, recognised by the format from the environment, and of formats. */
enum kymo_quirk {
  KYMO_QUIRK_END_ZERO = 1 << 0, /* packet end time 0 means "not closed" (lttng-crash) */
  KYMO_QUIRK_BEGIN_LATE =
      1 << 1,                  /* a packet may claim to begin after its first event (barectf before 2.3.1) */
  KYMO_QUIRK_ROUNDED = 1 << 2, /* nanoseconds are those of readers of CTF, see clock.h */
};

/* A stream as a format declares it. */
struct kymo_stream_source {
  const struct kymo_source_operations *operations;
  void *source;                           /* owned by the trace, freed by operations->free */
  const struct kymo_stream_class *class_; /* or NULL if unknown */
  const char *path;                       /* copied */
  uint64_t instance;                      /* UINT64_MAX: none */
  bool may_repeat;                        /* packets may come twice: drop by sequence number */
};

/* A part as a format declares it. */
struct kymo_part_source {
  const char *format, *path;  /* format: static; path: copied */
  uint32_t path_count;        /* if there are other paths besides `path`; 0 is 1 */
  struct kymo_schema *schema; /* the trace takes over one reference, in any case */
  uint32_t quirks;
  const struct kymo_kernel *kernel;  /* what addresses mean, or NULL; lives as long as the part */
  const struct kymo_load_map *map;   /* as long, or NULL: kymo_part_add_module makes it (source/modules.h) */
  void *memory;                      /* state of the format for the part, or NULL … */
  void (*free_memory)(void *memory); /* … and its destructor, which the trace calls in any case */
};

/* What the head of a packet says about its stream. */
struct kymo_peek {
  const struct kymo_stream_class *class_;
  uint64_t instance; /* UINT64_MAX: none */
  bool has_begin;
  uint64_t begin_cycles, sequence; /* sequence UINT64_MAX: none */
};

/* The offset for the times of traces at this path; only while formats open. */
int64_t kymo_path_offset(const struct kymo_trace *trace, const char *path);
/* The options that the trace is opened with. */
const struct kymo_trace_options *kymo_trace_options(const struct kymo_trace *trace);
/* A copy that lives as long as the trace, or NULL: out of memory. */
const char *kymo_trace_copy_text(struct kymo_trace *trace, const char *text);
/* The part of that number, to add to it; a format does so only with its own parts. */
struct kymo_part *kymo_trace_own_part(struct kymo_trace *trace, size_t part);
/* Packets of this stream may come twice from now on, see kymo_stream_source.may_repeat. */
void kymo_stream_may_repeat(const struct kymo_stream *stream);
/* Whether the trace was opened to be followed: also when its user has stopped that. */
bool kymo_trace_is_growing(const struct kymo_trace *trace);
/* Whether sources return KYMO_AGAIN at their end, since more may follow. */
bool kymo_trace_is_followed(const struct kymo_trace *trace);
/* Whether an event class that is not described may soon be; `since_ns` is the stream's, and 0 as long as all
 * are described. */
bool kymo_follow_may_describe(const struct kymo_trace *trace, int64_t *since_ns);
/* kymo_part_source.memory; kymo_stream_source.source. */
void *kymo_part_memory(const struct kymo_part *part);
void *kymo_stream_source(const struct kymo_stream *stream);
/* A followed part has a new description that begins with the old one; takes over a reference to `schema`, in
 * any case. Only from within `grow`. KYMO_E_FORMAT if it does not begin so. */
int kymo_part_renew(struct kymo_trace *trace, struct kymo_part *part, struct kymo_schema *schema,
                    struct kymo_error *error);
/* Adds a part and creates its plan. */
int kymo_trace_add_part(struct kymo_trace *trace, const struct kymo_part_source *source,
                        struct kymo_part **part, struct kymo_error *error);
/* Reads the head of the packet at the begin of `chunk`; KYMO_E_FORMAT if it is invalid. */
int kymo_part_peek(const struct kymo_part *part, const struct kymo_chunk *chunk, struct kymo_peek *peek,
                   struct kymo_error *error);
/* Adds a stream to a part; takes over source->source, in any case. */
int kymo_part_add_stream(struct kymo_trace *trace, struct kymo_part *part,
                         const struct kymo_stream_source *source, struct kymo_error *error);
/* The clock snapshots of a part, ordered by cycles. */
struct kymo_clock_snapshots {
  const char *boot_id, *host; /* NULL if there are none */
  const struct kymo_clock_snapshot *list;
  size_t count;
};
const struct kymo_clock_snapshots *kymo_part_clock_snapshots(const struct kymo_part *part);
/* Adds clock snapshots, which are copied, to those of a part; snapshots of another boot than the first are
 * left out. */
int kymo_part_add_clock_snapshots(struct kymo_trace *trace, struct kymo_part *part,
                                  const struct kymo_clock_snapshots *more, struct kymo_error *error);
/* Notes a damaged place. */
void kymo_trace_add_damage(struct kymo_trace *trace, const struct kymo_damage *damage);
/* Adds a warning for byte `offset` (or KYMO_ERROR_NO_OFFSET) of the file at `path`. */
void kymo_trace_warn(struct kymo_trace *trace, const char *path, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A directory in which a recorder may have written files for this part: its path is copied. KYMO_E_MEMORY. */
int kymo_part_add_place(struct kymo_trace *trace, struct kymo_part *part, const char *directory,
                        struct kymo_error *error);
/* Lists a section of the part's file; data that it points to is copied. KYMO_OK or KYMO_E_MEMORY. */
int kymo_part_add_section(struct kymo_trace *trace, struct kymo_part *part,
                          const struct kymo_section *section, struct kymo_error *error);

struct kymo_format {
  const char *name;    /* as in kymo_trace_options.format */
  const char *summary; /* one line */
  /* KYMO_OK if `path` (a file, a directory, or any other text) is a trace of this format, KYMO_E_UNKNOWN if
   * not. Any other status: reading failed, `error` has the place, and no other format is tried. The search
   * goes from the top down and does not enter a directory that a format accepted. */
  int (*probe)(const char *path, struct kymo_error *error);
  /* Adds the parts and streams of all paths that probe accepted. */
  int (*open)(struct kymo_trace *trace, const char *const *paths, size_t count, struct kymo_error *error);
  /* NULL, or looks for growth of a followed trace: adds parts and streams, renews parts. `paths` are all that
   * probe accepts now. Incomplete directories are tried again the next time. */
  int (*grow)(struct kymo_trace *trace, const char *const *paths, size_t count, struct kymo_error *error);
  bool needs_key; /* never found by probing: only with kymo_trace_options.description */
  bool is_memory; /* changes cause no notification, and all streams can be read at one instant */
};

/* The operation `open` of formats whose files are opened one by one, by a function that needs `error`. */
typedef int kymo_open_one(struct kymo_trace *trace, const char *path, struct kymo_error *error);
static inline int kymo_open_each(struct kymo_trace *trace, const char *const *paths, size_t count,
                                 kymo_open_one *open_one, struct kymo_error *error) {
  struct kymo_error local = {.code = KYMO_OK};
  int status = KYMO_OK;
  for (size_t i = 0; i < count && status == KYMO_OK; i++)
    status = open_one(trace, paths[i], error ? error : &local);
  return status;
}

#endif
