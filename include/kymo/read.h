/* SPDX-License-Identifier: MIT */
/*
 * kymo/read.h: opens traces and walks over their events.
 *
 *   kymo_trace_open ──► kymo_trace ──► parts (one schema each) ──► streams
 *                     │
 *                     └── kymo_trace_next ──► kymo_event ──► kymo_walk (all fields, in order)
 *                                                    └───► kymo_event_get_uint … (one field by its id)
 *
 *   this file      opening and closing
 *   kymo/info.h    properties of a trace: parts, event classes, fields, clocks, damage
 *   kymo/move.h    from event to event: forward, backward, to numbers and times
 *   kymo/get.h     the fields of an event
 *   kymo/time.h    times as texts, and from clock to clock
 *
 * Several traces opened together are merged by time; ties are ordered by trace (uuid, then path), stream
 * instance and position, so the order of the events does not depend on the order of the arguments. Nothing is
 * allocated per event; an event and all pointers obtained from it are valid until the next move. A trace
 * belongs to one thread at a time; there are no globals. Damage does not end the reading of other streams: it
 * is listed (kymo_trace_damage), and kymo_trace_next goes on with the readable rest.
 */
#ifndef KYMO_READ_H
#define KYMO_READ_H

#include <kymo/get.h>
#include <kymo/info.h>
#include <kymo/move.h>
#include <kymo/time.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kymo_trace_options {
  const char *format;      /* name of a format ("ctf", "ring"), or NULL to detect it */
  int64_t clock_offset_ns; /* added to all times */
  bool force_correlate;    /* merge traces whose clocks have no common origin */
  /* unit of the clocks of CPEL files: ticks per "us" or "s"; NULL: found by their numbers (docs/cpel.md) */
  const char *cpel_clock;
  bool unmerged; /* streams one after another, the events of each in the order of its bytes */
  /* read traces as babeltrace2 does: by their metadata alone, losses cut at the wanted times */
  bool as_babeltrace2;
  /* NULL, or for each path an additional offset for the times of its traces; not used any more once the trace
   * is open */
  const int64_t *path_offsets_ns;
  bool follow; /* go on with traces that are still being written: see kymo_trace_wait */
  /* … how long an event waits, after it became readable, for streams that may still deliver earlier ones; 0:
   * not at all; negative: as the formats suggest */
  int64_t hold_ns;
  /* the header with the definitions of Gist logs; NULL: searched beside each log, see docs/cpel.md */
  const char *gist_header;
  uint64_t gist_clock; /* ticks per second of the clocks of Gist logs, which do not state it; 0: 1e9 */
  /* a compiled description (kymo_description_load) by which files are read; NULL: the format is detected. The
   * trace keeps a reference of its own */
  struct kymo_schema *description;
  bool all_classes; /* with a description: deliver headers, definitions and segments too, not only events */
};

int kymo_trace_open_(struct kymo_trace **out, const char *const *paths, size_t count,
                     const struct kymo_trace_options *options, size_t size, struct kymo_error *error);
/*
 * Opens `count` paths (files or directories, searched recursively for traces) as one merged trace positioned
 * before its first event. `options` may be NULL. On success the caller owns *out and closes it with
 * kymo_trace_close; else *out is NULL, `error` is filled and a negative status returned: KYMO_E_UNKNOWN if
 * nothing in a path is a trace, KYMO_E_SYNTAX for metadata, KYMO_E_FORMAT for data, KYMO_E_SYSTEM.
 *
 * Files are mapped. If a file is truncated while it is read, this is damage: a handler of SIGBUS, installed
 * with the first mapping, replaces the missing pages by zeros, and data read from them is left out. Faults
 * elsewhere reach the handler that the program had installed before; a handler that it installs later must
 * call this one for faults that are not its own.
 */
static inline int kymo_trace_open(struct kymo_trace **out, const char *const *paths, size_t count,
                                  const struct kymo_trace_options *options, struct kymo_error *error) {
  return kymo_trace_open_(out, paths, count, options, sizeof *options, error);
}
/* Closes and frees; NULL is fine. */
void kymo_trace_close(struct kymo_trace *trace);

/* One of several inputs that are opened together. */
struct kymo_input {
  const char *path;
  const char *format; /* as in kymo_trace_options, for this path alone … */
  struct kymo_schema *description;
  int64_t clock_offset_ns; /* … added to that of the options */
};
int kymo_trace_open_set_(struct kymo_trace **out, const struct kymo_input *inputs, size_t input_size,
                         size_t count, const struct kymo_trace_options *options, size_t size,
                         struct kymo_error *error);
/* As kymo_trace_open, with a format, description and offset for each path. Files at several paths are not
 * combined into one part. KYMO_E_USAGE also if the options say `follow`. */
static inline int kymo_trace_open_set(struct kymo_trace **out, const struct kymo_input *inputs, size_t count,
                                      const struct kymo_trace_options *options, struct kymo_error *error) {
  return kymo_trace_open_set_(out, inputs, sizeof *inputs, count, options, sizeof *options, error);
}
int kymo_trace_open_memory_(struct kymo_trace **out, const void *bytes, size_t size,
                            const struct kymo_trace_options *options, size_t options_size,
                            struct kymo_error *error);
/* As kymo_trace_open, for one file whose `size` bytes are in memory. They are copied, and not used any more
 * afterwards. */
static inline int kymo_trace_open_memory(struct kymo_trace **out, const void *bytes, size_t size,
                                         const struct kymo_trace_options *options, struct kymo_error *error) {
  return kymo_trace_open_memory_(out, bytes, size, options, sizeof *options, error);
}
int kymo_trace_open_fd_(struct kymo_trace **out, int fd, const struct kymo_trace_options *options,
                        size_t size, struct kymo_error *error);
/* As kymo_trace_open, for one file that is read from a descriptor, which the caller still owns: a pipe, a
 * socket, a file from its current offset on. It is read to its end and kept in an unnamed temporary file
 * until the trace is closed. */
static inline int kymo_trace_open_fd(struct kymo_trace **out, int fd,
                                     const struct kymo_trace_options *options, struct kymo_error *error) {
  return kymo_trace_open_fd_(out, fd, options, sizeof *options, error);
}

/* ---- compiled descriptions ---- */

/*
 * A compiled description is a schema that also contains how files of a foreign format become its events
 * (kymo_schema.plan): `kymo compile` writes it from a text. It is immutable, and threads and traces share it
 * by reference count.
 */
/* Reads a compiled description, or a description in any language that compiles to one, which is detected. The
 * caller owns *description and releases it. On failure it is NULL, `error` is filled and a negative status
 * returned. */
int kymo_description_load(struct kymo_schema **description, const char *path, struct kymo_error *error);
/*
 * Loads the installed description NAME: NAME.key or NAME.tdl in a directory of KYMO_DESCRIPTIONS (a list with
 * colons). If that is not set, in the directories that ship with this library: beside it (build folder), or
 * below its prefix, also if that was moved. KYMO_E_UNKNOWN: there is none. Files that kymo_trace_open
 * receives without a description are tried against all of them if no other format accepts them.
 */
int kymo_description_find(struct kymo_schema **description, const char *name, struct kymo_error *error);
/* Writes a compiled description, completely or not at all. KYMO_E_SYSTEM, KYMO_E_MEMORY. */
int kymo_description_save(const struct kymo_schema *description, const char *path, struct kymo_error *error);
/* Add and drop references, as kymo_schema_retain and kymo_schema_release. */
struct kymo_schema *kymo_description_retain(struct kymo_schema *description);
void kymo_description_release(struct kymo_schema *description);
/* Compiles a text in one of the languages ("tdl", "tsdl", "json", "registry"; NULL: it is detected).
 * `file` names it in errors. KYMO_E_SYNTAX with line, column and excerpt; KYMO_E_UNKNOWN: there is no such
 * language. */
int kymo_description_compile(struct kymo_schema **description, const char *text, size_t length,
                             const char *file, const char *language, struct kymo_error *error);
/* Contents of a compiled description. */
struct kymo_description_summary {
  uint32_t event_classes, stream_classes, clocks, types;
  uint64_t plan_bytes; /* 0: it describes no foreign format, only events */
};
void kymo_description_info_(const struct kymo_schema *description, struct kymo_description_summary *summary,
                            size_t size);
static inline void kymo_description_info(const struct kymo_schema *description,
                                         struct kymo_description_summary *summary) {
  kymo_description_info_(description, summary, sizeof *summary);
}

#ifdef __cplusplus
}
#endif
#endif
