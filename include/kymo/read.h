/* SPDX-License-Identifier: MIT */
/*
 * kymo/read.h: opens traces and walks over their events.
 *
 *   kymo_open ──► kymo_trace ──► parts (one schema each) ──► streams
 *                     │
 *                     └── kymo_get_next ──► kymo_event ──► kymo_walk (all fields, in order)
 *                                                    └───► kymo_get_uint … (one field by its id)
 *
 * Several traces opened together are merged by time; ties are ordered by trace
 * (uuid, then path), stream instance and position, so the order never depends on
 * that of the arguments. Nothing is allocated per event; an event and all pointers
 * got from it hold until the next move. A trace belongs to one thread at a time;
 * there are no globals. Damage does not end the reading of other streams: it is
 * listed (kymo_trace_damage), and kymo_get_next goes on with what is sound.
 */
#ifndef KYMO_READ_H
#define KYMO_READ_H

#include <kymo/schema.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kymo_trace;

/* ---- init ---- */

struct kymo_open_options {
  size_t size;                 /* sizeof(struct kymo_open_options), for later additions */
  const char *format;          /* name of a format ("ctf", "ring"), or NULL to look at the bytes */
  int64_t clock_offset_ns;     /* added to all times */
  bool force_correlate;        /* merge traces whose clocks have nothing in common */
  bool as_babeltrace2;         /* see traces as babeltrace2 2.0 does: times of clocks that do not count nanoseconds are
                                  rounded through double, offset and value each, and merging goes by these */
};

/*
 * Opens `count` paths (files or directories, searched recursively for traces)
 * as one merged trace positioned before its first event. `options` may be NULL.
 * On success *out is the caller's, to be closed with kymo_close; else *out is NULL,
 * `error` is filled and a negative status returned: KYMO_E_UNKNOWN if nothing in a path
 * is a trace, KYMO_E_SYNTAX for metadata, KYMO_E_FORMAT for data, KYMO_E_SYSTEM.
 */
int kymo_open(struct kymo_trace **out, const char *const *paths, size_t count,
              const struct kymo_open_options *options, struct kymo_error *error);
/* Closes and frees; NULL is fine. */
void kymo_close(struct kymo_trace *trace);

/* ---- information ---- */

/* One trace of those opened together: a schema and its streams. Borrowed from the kymo_trace. */
struct kymo_part {
  const char *path;            /* as it was found */
  const char *format;          /* name of its format */
  const struct kymo_schema *schema;
  uint32_t index;              /* among the parts */
  uint32_t stream_count;
};

/* One stream of packets: a file, a ring slot. Borrowed from the kymo_trace. */
struct kymo_stream {
  const struct kymo_part *part;
  const struct kymo_stream_class *class_; /* NULL while a stream has no packet at all */
  const char *path;            /* the file that it is read from */
  uint64_t instance;           /* stream instance id, or UINT64_MAX if the trace has none */
  uint32_t index;              /* within the part */
};

size_t kymo_trace_part_count(const struct kymo_trace *trace);
const struct kymo_part *kymo_trace_part(const struct kymo_trace *trace, size_t index);
const struct kymo_stream *kymo_part_stream(const struct kymo_trace *trace, const struct kymo_part *part,
                                           size_t index);

#define KYMO_LOSS_CAUSES 8
struct kymo_loss_cause { const char *name; uint64_t count; };

/* What the packet headers of one stream tell, without decoding its events. */
struct kymo_stream_info {
  uint64_t packets, bytes;
  uint64_t discarded_events, lost_packets; /* by the counters in the packets */
  bool has_times;
  int64_t begin_ns, end_ns;    /* of the first and last packet (first and last event if they have no times) */
  /* Of the discarded events, how many for which cause: by counters in the packet contexts that are
   * named discarded_CAUSE (as kymo's own, see docs/recording.md). */
  uint32_t cause_count;
  struct kymo_loss_cause causes[KYMO_LOSS_CAUSES];
};
/* Reads all packet headers of a stream. Does not move the trace. */
int kymo_stream_describe(struct kymo_trace *trace, const struct kymo_stream *stream,
                         struct kymo_stream_info *info, struct kymo_error *error);

/* One damaged place that reading met so far. */
struct kymo_damage {
  const char *path;
  uint64_t offset;             /* byte in the file where it was noticed */
  uint64_t bytes_lost;         /* bytes that were skipped because of it */
  int code;                    /* KYMO_E_FORMAT, KYMO_E_LIMIT … */
  const char *message;         /* what was expected and what was found */
};
size_t kymo_trace_damage_count(const struct kymo_trace *trace);
const struct kymo_damage *kymo_trace_damage(const struct kymo_trace *trace, size_t index);

/* ---- move ---- */

/* The packet that an event stands in. */
struct kymo_packet {
  const struct kymo_stream *stream;
  uint64_t offset;             /* in the stream's file, bytes */
  uint64_t sequence;           /* packet sequence number, or UINT64_MAX */
  bool has_begin, has_end, has_discarded;
  uint64_t begin_cycles, end_cycles; /* of the stream class's clock */
  uint64_t discarded;          /* the counter as it stands in the packet */
  /* decoding state below belongs to the library */
  const uint8_t *data;
  uint64_t content_bits, size_bits;
};

struct kymo_event {
  const struct kymo_event_class *class_;
  const struct kymo_packet *packet;
  uint64_t number;             /* from 1, in delivery order */
  bool has_time;
  int64_t time_ns;             /* from the clock's origin (the epoch if clock->origin_is_epoch); else INT64_MIN */
  uint64_t cycles;             /* the clock's full value */
  uint64_t offset_bits;        /* of the event header, in the packet */
  uint64_t scope_bits[KYMO_SCOPE_COUNT]; /* where each scope's first field stands, in the packet */
  /* decoding state below belongs to the library */
  const void *state;
};

/* Losses, met between events in their place in time. */
struct kymo_loss {
  const struct kymo_stream *stream;
  bool is_packets;             /* whole packets are missing, else events were discarded */
  bool count_known;
  uint64_t count;
  bool has_times;
  uint64_t begin_cycles, end_cycles;
  int64_t begin_ns, end_ns;
};
/* Called from kymo_get_next for each loss, before the first event behind it. */
typedef void kymo_loss_handler(void *user, const struct kymo_loss *loss);
void kymo_set_loss_handler(struct kymo_trace *trace, kymo_loss_handler *handler, void *user);

/*
 * Moves to the next event in time order. KYMO_OK: *event is it, borrowed until the next
 * move. KYMO_END: no more. KYMO_AGAIN: none now in a growing trace. Damage is recorded
 * and skipped; a negative status means that nothing more can be read at all.
 */
int kymo_get_next(struct kymo_trace *trace, const struct kymo_event **event, struct kymo_error *error);

/* ---- get: all fields in order ---- */

enum kymo_token {
  KYMO_TOKEN_DONE,      /* the scope is through */
  KYMO_TOKEN_BEGIN,     /* a struct, union, array, sequence begins: value.count members or elements follow */
  KYMO_TOKEN_END,       /* … ends */
  KYMO_TOKEN_INTEGER,   /* integer, boolean, bit map, enumeration, varint: value.u, or value.i if type->is_signed */
  KYMO_TOKEN_FLOAT,     /* value.f */
  KYMO_TOKEN_TEXT,      /* value.bytes, value.count: zero copy, without the end mark, in type->encoding */
  KYMO_TOKEN_BLOB,      /* value.bytes, value.count */
  KYMO_TOKEN_ABSENT,    /* an optional that is not there */
  KYMO_TOKEN_ERROR,     /* the bytes do not fit the type; the walk is over */
};

/* One step of a walk. A variant's chosen option and a present optional's element come as
 * themselves (member names the option: `option`), without BEGIN and END of their own. */
struct kymo_value {
  const struct kymo_type *type;
  const struct kymo_member *member;  /* the name in the surrounding struct, NULL for elements */
  const struct kymo_member *option;  /* innermost chosen variant option that led here, or NULL */
  union { uint64_t u; int64_t i; double f; };
  const uint8_t *bytes;
  uint64_t count;                    /* bytes; members or elements for BEGIN */
};

#define KYMO_WALK_DEPTH 64
#define KYMO_WALK_SLOTS 32
struct kymo_node;
/* The caller's memory; all members belong to the library. Walks may be copied and interleaved (those
 * of events with more than KYMO_WALK_SLOTS lengths and tags only if they are of different events). */
struct kymo_walk {
  const struct kymo_event *event;
  uint64_t at_bits;                  /* where the next field begins, in the packet */
  uint32_t depth;
  struct kymo_walk_frame {
    const struct kymo_node *node, *part; uint64_t index, count, begin_bits;
  } frames[KYMO_WALK_DEPTH];
  uint64_t slots[KYMO_WALK_SLOTS];   /* lengths and tags met so far */
};

/* Starts a walk over one scope of an event; false if the event has no such scope. The walk is the
 * caller's memory and needs no release. */
bool kymo_walk_begin(struct kymo_walk *walk, const struct kymo_event *event, enum kymo_scope scope);
/* The next step; the outermost struct's own BEGIN and END are not reported. */
enum kymo_token kymo_walk_next(struct kymo_walk *walk, struct kymo_value *value);

/* ---- get: one field ---- */

#define KYMO_FIELD_NONE UINT32_MAX
/* The id of a field of an event class: "name" or "outer.inner", looked for in the payload, then in
 * specific, common and packet context. Ask once, then use the id. KYMO_FIELD_NONE: there is none. */
uint32_t kymo_field_id(struct kymo_trace *trace, const struct kymo_event_class *class_, const char *path);
/* Value of a scalar field. KYMO_E_TYPE, KYMO_E_ABSENT, KYMO_E_RANGE as their names say. */
int kymo_get_uint(const struct kymo_event *event, uint32_t field, uint64_t *out);
int kymo_get_int(const struct kymo_event *event, uint32_t field, int64_t *out);
int kymo_get_float(const struct kymo_event *event, uint32_t field, double *out);
/* Bytes of a text or blob, not NUL-ended, borrowed until the next move. */
int kymo_get_bytes(const struct kymo_event *event, uint32_t field, const uint8_t **out, uint64_t *count);

#ifdef __cplusplus
}
#endif
#endif
