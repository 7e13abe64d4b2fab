/* SPDX-License-Identifier: MIT */
/*
 * One pass over the events of traces: opened, with a filter and a window of time, and who recorded each
 * event. It knows nothing of Python, so it can be used without the interpreter's lock; by one thread at a
 * time.
 */
#ifndef KYMO_PYTHON_READER_H
#define KYMO_PYTHON_READER_H

#include "map.h"
#include <kymo/filter.h>
#include <kymo/read.h>

/* A limit of time: a text as kymo/time.h reads it, or nanoseconds. */
struct limit {
  bool is_set;
  char *text; /* NULL: ns is it */
  int64_t ns;
};

/* How traces are opened. It belongs to a Trace, which is immutable, and is used by all of its passes. */
struct opening {
  char **paths;
  size_t path_count;
  char *filter, *format; /* or NULL */
  struct kymo_schema *description;
  struct limit begin, end;
};
void opening_end(struct opening *opening);

/* A loss, which the next event follows. The path is a copy. */
struct loss {
  char *path;
  bool is_packets, count_known, has_times;
  uint64_t count;
  int64_t begin_ns, end_ns;
};

/* The fields of the contexts of an event class that say who recorded; KYMO_FIELD_NONE: there is none. */
struct who_fields {
  uint32_t tid, thread, cpu, pid;
};

struct who {
  bool has_tid, has_cpu, has_pid;
  int64_t tid, pid;
  uint64_t cpu;
  const char *thread; /* borrowed until the next move; NULL: unknown */
  uint64_t thread_length;
};

struct reader {
  struct kymo_trace *trace;
  bool has_filter;
  struct map who; /* struct who_fields by event class */
  struct loss *losses;
  size_t loss_count, loss_capacity;
  bool has_missed_loss; /* there was no memory to note one */
  char **warnings;      /* about the filter */
  size_t warning_count;
};

/* Opens the traces, positioned before the first event of the window. KYMO_OK, or negative with the error. */
int reader_open(struct reader **out, const struct opening *opening, struct kymo_error *error);
/* NULL is fine. */
void reader_close(struct reader *reader);
/* The next event that the filter selects: KYMO_OK, KYMO_END or negative. */
int reader_next(struct reader *reader, const struct kymo_event **event, struct kymo_error *error);
/* Forgets the losses that were noted. */
void reader_drop_losses(struct reader *reader);
/* Who recorded an event. False: out of memory. */
bool reader_who(struct reader *reader, const struct kymo_event *event, struct who *who);

/* The name of the process of a stream, or NULL. */
const char *reader_process(const struct kymo_stream *stream);
/* The number by which people know a stream. */
uint64_t reader_stream_id(const struct kymo_stream *stream);
bool reader_is_epoch(const struct kymo_event_class *class_);

/* The name of a member of a struct as a key: the second `a` is `a#2`, as in the JSON of kymo. The caller
 * frees it. NULL: out of memory. */
char *reader_member_key(const struct kymo_type *type, uint32_t index);
/* Whether a member is only for reading the others (a count, a presence): no output shows it. */
bool reader_is_hidden(const struct kymo_type *type, uint32_t index);

#endif
