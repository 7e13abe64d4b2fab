/* SPDX-License-Identifier: MIT */
/* The schema of trace.dat, and how its records become events of it. */
#ifndef KYMO_FORMAT_FTRACE_SCHEMA_H
#define KYMO_FORMAT_FTRACE_SCHEMA_H

#include "format/ftrace/file.h"

#define FTRACE_HEADER_BYTES 10 /* of an event: time (64), id (16) */

/* The fields that each record begins with: type (16 bits), then these, which are copied as they are. */
struct ftrace_common {
  uint32_t end;        /* bytes of a record before its own fields */
  uint32_t pid_offset; /* 0: there is no such field */
};

struct ftrace_classes {
  const struct kymo_ftrace_class **by_id; /* NULL: not described */
  uint32_t id_count;
  struct ftrace_common common;
};

/* The schema of one buffer, which owns the classes. NULL with `error`; formats that cannot be understood are
 * noted as damage of the trace, if it is the first buffer. */
struct kymo_schema *kymo_ftrace_schema(struct ftrace_classes *classes, struct ftrace_file *file,
                                       const struct ftrace_buffer *buffer, struct kymo_trace *trace,
                                       struct kymo_error *error);

#endif
