/* SPDX-License-Identifier: MIT */
/*
 * The schema of perf.data, and how its records become events of it. One stream class:
 *
 *   header           time (64), id (16), whether there is a time (8)      little-endian
 *   common context   cpu_id, if any sample has it; pid, tid, procname
 *   payload          of a tracepoint: the fields of its format, and the sample's own in the specific context
 *                    of other samples: the sample's fields; of other records: theirs
 *
 * Numbers have the order of the file, so they are copied as they are.
 */
#ifndef KYMO_FORMAT_PERF_SCHEMA_H
#define KYMO_FORMAT_PERF_SCHEMA_H

#include "format/perf/file.h"
#include "lang/ftrace/ftrace.h"

enum perf_step_kind {
  PERF_COPY,     /* `size` bytes */
  PERF_SKIP,     /* `size` bytes */
  PERF_MODE,     /* the processor's mode, from the record's header */
  PERF_FLAG,     /* bit `size` of the record's header, as a byte */
  PERF_KIND,     /* the record's type */
  PERF_GROUP,    /* a count; `size` words; that many elements of `more` words */
  PERF_CHAIN,    /* a count, addresses; marks between them are left out */
  PERF_TRACE,    /* a size (32), the record of a tracepoint: stored as the payload, at the end */
  PERF_RAW,      /* a size (32), bytes */
  PERF_BRANCHES, /* a count; an index if `size` & 1; branches; counters if `size` & 2 */
  PERF_REGS,     /* an ABI; if it is not 0, `size` words */
  PERF_STACK,    /* a size; if it is not 0, bytes and how many of them are valid */
  PERF_BYTES,    /* a size (64), bytes */
  PERF_PAIRS,    /* a count, pairs of words */
  PERF_FILE_ID,  /* device, inode and generation, or a build id */
  PERF_TEXT,     /* up to its zero, or to the end */
  PERF_REST,     /* all bytes up to the end */
};

struct perf_step {
  enum perf_step_kind kind;
  uint32_t size, more;
  const char *name; /* for errors */
};

struct perf_class {
  const struct kymo_event_class *class_;      /* NULL: no record is of it */
  const struct kymo_ftrace_class *tracepoint; /* or NULL */
  const struct perf_step *steps;
  uint32_t step_count;
};

#define PERF_KINDS 23 /* records of the kernel that are known; 0: all others */

struct perf_classes {
  struct perf_class *samples; /* by event; in the memory of the schema */
  struct perf_class kinds[PERF_KINDS];
  bool has_cpu;
};

/* NULL with `error`; formats that cannot be understood are noted as damage of the trace. */
struct kymo_schema *kymo_perf_schema(struct perf_classes *classes, struct perf_file *file,
                                     struct kymo_trace *trace, struct kymo_error *error);

#endif
