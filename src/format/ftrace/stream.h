/* SPDX-License-Identifier: MIT */
/* The pages of one CPU of trace.dat as a stream. */
#ifndef KYMO_FORMAT_FTRACE_STREAM_H
#define KYMO_FORMAT_FTRACE_STREAM_H

#include "format/ftrace/names.h"
#include "format/ftrace/schema.h"
#include "source/format.h"

/* What the parts and streams of a file share; the last user frees it. */
struct ftrace_shared {
  struct ftrace_file file;
  struct ftrace_names names;
  struct kymo_kernel kernel;
  uint32_t users;
};
void kymo_ftrace_give_up(struct ftrace_shared *shared);

/* A piece of compressed pages. */
struct ftrace_piece {
  uint64_t at; /* of the compressed bytes in the file */
  uint32_t size, unpacked_size;
  uint64_t first; /* where its bytes are among all unpacked ones of the CPU */
};

/* A CPU of a buffer. */
struct ftrace_source {
  struct ftrace_shared *shared;
  const struct ftrace_buffer *buffer;
  const struct ftrace_cpu *cpu;
  const struct ftrace_classes *classes;
  struct ftrace_piece *pieces; /* NULL: the pages are not compressed */
  uint32_t piece_count;
  uint64_t size;     /* of all pages, unpacked, as far as the file has them */
  uint64_t expected; /* … and as the file says */
};

extern const struct kymo_source_operations kymo_ftrace_operations;

#endif
