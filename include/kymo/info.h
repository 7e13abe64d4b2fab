/* SPDX-License-Identifier: MIT */
/* kymo/info.h: properties of an open trace. See kymo/read.h. */
#ifndef KYMO_INFO_H
#define KYMO_INFO_H

#include <kymo/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- event classes ---- */

/* The number of event classes of all parts. They are numbered from 0, one part after another. */
uint32_t kymo_trace_class_count(const struct kymo_trace *trace);
/* The event class with a number, and its name; NULL: there is none. */
const struct kymo_event_class *kymo_trace_class(const struct kymo_trace *trace, uint32_t number);
const char *kymo_trace_class_name(const struct kymo_trace *trace, uint32_t number);

/* ---- fields ---- */

/* What the values of a field mean. */
enum kymo_data_kind {
  KYMO_DATA_TOKEN,  /* one of a set of codes, each with an interpretation: kymo_event_get_token */
  KYMO_DATA_FLAGS,  /* several of a set of bits: kymo_event_get_flags */
  KYMO_DATA_TIME,   /* a point or stretch of time: kymo_event_get_time */
  KYMO_DATA_NUMBER, /* an integer or, by its type, a float: kymo_event_get_int … */
  KYMO_DATA_TEXT,   /* kymo_event_get_string */
  KYMO_DATA_BYTES,  /* kymo_event_get_bytes */
  KYMO_DATA_LIST,   /* of elements: kymo_event_get_element */
  KYMO_DATA_GROUP,  /* several fields with ids of their own */
  KYMO_DATA_CHOICE, /* several fields, one of which is in an event */
};

/* One field of an event class. Borrowed from the trace. */
struct kymo_field {
  const char *path; /* as kymo_field_id takes it */
  const char *name; /* the last part of it */
  enum kymo_data_kind kind;
  enum kymo_scope scope;        /* where it is */
  const struct kymo_type *type; /* the type inside optionals; NULL for KYMO_FIELD_EVENT and the like */
  bool is_optional;             /* not all events of the class have it */
  const char *unit;             /* of the values, or NULL */
  const struct kymo_mapping
      *interpretations; /* of tokens (by values), flags (by bits), and lists of these: kymo_mapping_get */
  uint32_t interpretation_count;
};

/*
 * The ids of all fields of an event class, in the order of the payload, then of specific, common and packet
 * context; members of groups follow their group, elements of lists have no ids. The trace owns *ids.
 * KYMO_E_UNKNOWN: the class is not of this trace; KYMO_E_MEMORY.
 */
int kymo_field_list(struct kymo_trace *trace, const struct kymo_event_class *class_, const uint32_t **ids,
                    size_t *count);
int kymo_field_info_(struct kymo_trace *trace, const struct kymo_event_class *class_, uint32_t field,
                     struct kymo_field *info, size_t size);
/* Describes a field. KYMO_E_UNKNOWN: there is none with this id. */
static inline int kymo_field_info(struct kymo_trace *trace, const struct kymo_event_class *class_,
                                  uint32_t field, struct kymo_field *info) {
  return kymo_field_info_(trace, class_, field, info, sizeof *info);
}
/* The interpretations of a token or flag field, for kymo_mapping_get. KYMO_E_UNKNOWN as above; KYMO_E_TYPE:
 * it has none. */
int kymo_field_interpretations(struct kymo_trace *trace, const struct kymo_event_class *class_,
                               uint32_t field, const struct kymo_mapping **list, uint32_t *count);

/* ---- clocks ---- */

/* The number of clocks of all parts, one part after another, and each clock by its index; NULL: there is
 * none. */
size_t kymo_trace_clock_count(const struct kymo_trace *trace);
const struct kymo_clock *kymo_trace_clock(const struct kymo_trace *trace, size_t index);

/* ---- parts and streams ---- */

size_t kymo_trace_part_count(const struct kymo_trace *trace);
const struct kymo_part *kymo_trace_part(const struct kymo_trace *trace, size_t index);
/* Orders events of equal time by the places of their parts (one place for each part, by index); equal places
 * are ordered by uuid and path. Call it before the first move; later it has no effect. */
void kymo_trace_order_parts(struct kymo_trace *trace, const uint32_t *places);
const struct kymo_stream *kymo_part_stream(const struct kymo_trace *trace, const struct kymo_part *part,
                                           size_t index);

/* The values of all clocks of a machine at one instant; clocks of machines are compared by these. */
struct kymo_clock_snapshot {
  uint64_t cycles;                   /* the trace's clock: in the middle of the measurement … */
  uint64_t span;                     /* … which took this number of its cycles */
  int64_t monotonic_ns, realtime_ns; /* CLOCK_MONOTONIC, and CLOCK_REALTIME since the epoch */
  uint64_t error_ns;    /* upper bound of CLOCK_REALTIME's error, as the kernel estimates it; UINT64_MAX:
                         * unknown */
  bool is_synchronised; /* a service (NTP, PTP) synchronises CLOCK_REALTIME */
};

/* The snapshots beside a trace (.kymo/clocks), ordered by cycles; all of one boot of one machine. */
size_t kymo_part_clock_snapshot_count(const struct kymo_part *part);
/* NULL: there is none at this index. */
const struct kymo_clock_snapshot *kymo_part_clock_snapshot(const struct kymo_part *part, size_t index);
/* The boot and the machine of the snapshots; NULL if there are none. */
const char *kymo_part_boot_id(const struct kymo_part *part);
const char *kymo_part_host(const struct kymo_part *part);

/* A section of a part's file, for formats whose files have sections. Borrowed from the trace. */
struct kymo_section {
  uint64_t type;               /* the format's number for it */
  uint64_t offset, size_bytes; /* of what it holds, in the file */
  const char *name;            /* name of this type of section: "string table" */
  const char *holds;           /* "4 event definitions", or NULL */
};
size_t kymo_part_section_count(const struct kymo_part *part);
/* In the order of the file. */
const struct kymo_section *kymo_part_section(const struct kymo_part *part, size_t index);

/* Properties of one stream that its packet headers contain; its events are not decoded. */
struct kymo_stream_info {
  uint64_t packets, bytes;
  uint64_t discarded_events, lost_packets; /* by the counters in the packets */
  bool has_times;
  int64_t begin_ns, end_ns; /* of the first and last packet (first and last event if they have no times) */
};
int kymo_stream_describe_(struct kymo_trace *trace, const struct kymo_stream *stream,
                          struct kymo_stream_info *info, size_t size, struct kymo_error *error);
/* Reads all packet headers of a stream. Does not move the trace. */
static inline int kymo_stream_describe(struct kymo_trace *trace, const struct kymo_stream *stream,
                                       struct kymo_stream_info *info, struct kymo_error *error) {
  return kymo_stream_describe_(trace, stream, info, sizeof *info, error);
}
/* Of the discarded events that kymo_stream_describe found in this stream, the name of a cause and how many
 * events were lost by it: from counters in the packet contexts that are named discarded_CAUSE (as kymo's own,
 * see docs/recording.md). NULL: there are fewer causes. `count` may be NULL. */
const char *kymo_stream_loss_cause(const struct kymo_stream *stream, uint32_t index, uint64_t *count);

/*
 * The earliest and latest time of all streams, in nanoseconds as in events: by packet headers where these
 * have times, else by stepping over the events. KYMO_E_ABSENT if nothing has a time. Does not move the trace.
 */
int kymo_trace_range(struct kymo_trace *trace, int64_t *begin_ns, int64_t *end_ns, struct kymo_error *error);

/* One damaged place that was found while reading. */
struct kymo_damage {
  const char *path;
  uint64_t offset;     /* byte offset in the file where it was detected */
  uint64_t bytes_lost; /* bytes that were skipped because of it */
  int code;            /* KYMO_E_FORMAT, KYMO_E_LIMIT … */
  const char *message; /* what was expected and what was found */
};
size_t kymo_trace_damage_count(const struct kymo_trace *trace);
/* The number of damaged places. It exceeds the number of listed ones if there are very many; then the last
 * entry of the list says so. */
size_t kymo_trace_damage_total(const struct kymo_trace *trace);
const struct kymo_damage *kymo_trace_damage(const struct kymo_trace *trace, size_t index);

/* What users should know of how a trace is read, though no data is lost: a clock that was assumed, a table
 * that was sorted. Borrowed from the trace. */
struct kymo_warning {
  const char *path;
  uint64_t offset; /* byte in the file, or KYMO_ERROR_NO_OFFSET */
  const char *message;
};
size_t kymo_trace_warning_count(const struct kymo_trace *trace);
const struct kymo_warning *kymo_trace_warning(const struct kymo_trace *trace, size_t index);

/* ---- tables ---- */

/* A key of a table: a text, or a number if `text` is NULL. */
struct kymo_table_key {
  const void *text;
  size_t length;
  uint64_t number;
};
/* A value in a table: bytes or a text, or a number if `bytes` is NULL; a definition has its name as text. */
struct kymo_table_value {
  const uint8_t *bytes;
  uint64_t count;
  uint64_t number;
};
/* The number of tables that a described stream fills; other formats have none. And the name of
 * one, not NUL-ended; NULL: there is none. */
size_t kymo_stream_table_count(const struct kymo_stream *stream);
const char *kymo_stream_table_name(const struct kymo_stream *stream, size_t table, size_t *length);
int kymo_stream_table_get_(const struct kymo_stream *stream, size_t table, const struct kymo_table_key *key,
                           size_t key_size, struct kymo_table_value *value, size_t size);
/*
 * The value of a key in a table, as far as the stream was read, which may be one block past its last event.
 * Tables that are KNOWN ALWAYS are complete at once. Borrowed until the next move. KYMO_E_ABSENT: there is no
 * value; KYMO_E_UNKNOWN: there is no such table; KYMO_E_RANGE: a negative number, or one of more than 64
 * bits.
 */
static inline int kymo_stream_table_get(const struct kymo_stream *stream, size_t table,
                                        const struct kymo_table_key *key, struct kymo_table_value *value) {
  return kymo_stream_table_get_(stream, table, key, sizeof *key, value, sizeof *value);
}

/* ---- segments ---- */

/*
 * A range of a stream in which nothing is missing. It begins at the begin of the stream, after a loss, and
 * after damage; in described files at a SEGMENT mark, but not where only a check failed.
 */
enum kymo_segment_cause { KYMO_SEGMENT_STREAM, KYMO_SEGMENT_LOSS, KYMO_SEGMENT_DAMAGE, KYMO_SEGMENT_MARK };
struct kymo_segment {
  const struct kymo_stream *stream;
  enum kymo_segment_cause cause; /* why it begins */
  uint64_t first;                /* number of its first event (see kymo_trace_goto_event) … */
  uint64_t count;                /* … and how many events it has */
  bool has_times;
  int64_t begin_ns, end_ns; /* of the first and last event */
};
/* The number of segments that have events, ordered by their first events. The first call steps over the
 * whole trace. Does not move. KYMO_E_LIMIT: there are more than KYMO_SEGMENTS_MAX; KYMO_E_USAGE: the trace is
 * followed. */
#define KYMO_SEGMENTS_MAX 65536
int kymo_trace_count_segments(struct kymo_trace *trace, size_t *count, struct kymo_error *error);
/* One of the segments that kymo_trace_count_segments counted, or NULL. */
const struct kymo_segment *kymo_trace_segment(const struct kymo_trace *trace, size_t index);

/* ---- what a trace does ---- */

enum kymo_policy {
  KYMO_POLICY_MARK, /* damage is listed, and the event after it has is_damaged; the default */
  KYMO_POLICY_STOP, /* in addition, kymo_trace_next returns KYMO_E_FORMAT once for each damaged place,
                     * described in the error; the next call goes on */
};
/* Sets what kymo_trace_next does about damage that is found from now on. No policy leaves out marked events:
 * a caller skips events with is_damaged, or filters by NOT DAMAGED. */
void kymo_trace_set_policy(struct kymo_trace *trace, enum kymo_policy policy);

/* Limits of memory; 0: the default. */
struct kymo_trace_limits {
  size_t damage;           /* listed places (4096); for further ones only the sum of lost bytes is kept */
  size_t checkpoint_bytes; /* for going back to events (8 MiB) */
};
void kymo_trace_set_limits_(struct kymo_trace *trace, const struct kymo_trace_limits *limits, size_t size);
/* Existing checkpoints are dropped. */
static inline void kymo_trace_set_limits(struct kymo_trace *trace, const struct kymo_trace_limits *limits) {
  kymo_trace_set_limits_(trace, limits, sizeof *limits);
}

/* Counters of a trace. */
struct kymo_trace_counts {
  uint64_t delivered;       /* number of the last event; 0: not known */
  uint64_t packets;         /* packets that were read, repeated ones included */
  uint64_t indexed_packets; /* packets in the index of times */
  size_t streams, damage, checkpoints;
};
void kymo_trace_count_(const struct kymo_trace *trace, struct kymo_trace_counts *stats, size_t size);
static inline void kymo_trace_count(const struct kymo_trace *trace, struct kymo_trace_counts *stats) {
  kymo_trace_count_(trace, stats, sizeof *stats);
}

/* The last error of kymo_trace_next in this trace, for callers that passed NULL. Borrowed. */
const struct kymo_error *kymo_trace_last_error(const struct kymo_trace *trace);
/* The meaning of a result in a few words, which never change. */
const char *kymo_status_text(int status);
/* The version of the library: "1.2.3". */
const char *kymo_version(void);

#ifdef __cplusplus
}
#endif
#endif
