/* SPDX-License-Identifier: MIT */
/*
 * trace.dat, the file of trace-cmd, versions 6 and 7 (trace-cmd.dat.v6(5), trace-cmd.dat.v7(5)).
 *
 *   17 08 44 "tracing" version 0 | order | size of long | page size |
 *
 *   6   header_page, header_event, formats of ftrace, formats of all groups, kallsyms, printk, names of
 *       threads, CPU count, options, "flyrecord", for each CPU: offset and size of its pages; pages
 *   7   name and version of the compression, offset of the options; sections with headers, each of which an
 *       option points to; pages of one buffer (the top one or an instance) are a section, too
 *
 * file.c reads the sections, which both versions have alike; version6.c and version7.c find them. Texts that
 * come from sections are in the mapped file, or in memory of their own if the section is compressed.
 */
#ifndef KYMO_FORMAT_FTRACE_FILE_H
#define KYMO_FORMAT_FTRACE_FILE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "format/beside.h"
#include "lang/ftrace/ftrace.h"
#include "source/map.h"

/* Bytes of the file, or what they were unpacked to. */
struct ftrace_text {
  const char *text;
  size_t length;
  uint64_t at; /* in the file; of unpacked bytes, where the section is */
};

struct ftrace_event_format {
  const char *group;
  struct ftrace_text text;
};

/* Pages of one CPU. */
struct ftrace_cpu {
  uint32_t id;
  uint64_t at, size; /* in the file */
  const char *path;  /* NULL: in the same file as the sections */
};

/* What one buffer recorded: the top one, or an instance. */
struct ftrace_buffer {
  const char *name, *clock; /* "" of the top one; "local", or NULL: unknown */
  uint32_t page_size;
  bool is_packed;
  struct ftrace_cpu *cpus;
  uint32_t cpu_count;
};

enum ftrace_packing { FTRACE_PLAIN, FTRACE_ZLIB, FTRACE_ZSTD };

struct ftrace_file {
  struct kymo_arena arena;
  const char *path;
  const char *directory; /* the file is the head of one (directory.h); or NULL */
  struct kymo_map map;
  const uint8_t *data;
  uint64_t size;
  bool is_big;
  unsigned version;
  uint8_t long_size;      /* of user space */
  uint8_t page_long_size; /* of the kernel, in the headers of pages */
  uint32_t page_size;
  enum ftrace_packing packing;
  uint32_t sections_read; /* of version 7: a bit for each kind */
  struct ftrace_event_format *formats;
  uint32_t format_count, format_capacity;
  struct ftrace_text functions, printks, names; /* kallsyms, printk_formats, saved_cmdlines */
  uint32_t cpu_count;
  struct ftrace_buffer *buffers;
  uint32_t buffer_count, buffer_capacity;
  const char *clock, *uname, *writer; /* options, or NULL */
  struct kymo_beside beside;          /* of a directory */
  int64_t offset_ns;                  /* added to all times */
  bool has_date, has_tsc;
  uint32_t tsc_multiplier, tsc_shift;
  uint64_t tsc_offset;
  uint8_t **unpacked; /* memory of compressed sections */
  uint32_t unpacked_count, unpacked_capacity;
};

#define FTRACE_BUFFERS_MAX 256 /* each has a schema of its own */

/* A place in a section. */
struct ftrace_reader {
  struct ftrace_file *file;
  struct kymo_trace *trace;
  struct kymo_bytes bytes;
  uint64_t base;    /* of bytes.data in the file … */
  bool is_unpacked; /* … or where the compressed section is, whose contents it is */
  const char *what; /* the section, for errors */
  struct kymo_error *error;
};

/* Whether the file begins as one of trace-cmd. */
bool kymo_ftrace_is_file(const uint8_t *data, size_t size);
/*
 * Reads all but the pages. The file must be cleared by kymo_ftrace_close in any case. KYMO_OK also if a
 * section is damaged, which is noted as damage of the trace: then names, events, or all events are missing.
 */
int kymo_ftrace_open(struct ftrace_file *file, struct kymo_trace *trace, const char *path,
                     struct kymo_error *error);
void kymo_ftrace_close(struct ftrace_file *file);

/* ---- for the versions ---- */

/* "expected WHAT, found the end of …" at the reader's place. */
int kymo_ftrace_fail(struct ftrace_reader *reader, const char *what);
/* A text up to its zero; NULL: there is none. */
const char *kymo_ftrace_read_string(struct ftrace_reader *reader);
/* The next sections of version 6, and the contents of those of version 7. */
int kymo_ftrace_read_header_info(struct ftrace_reader *reader);
int kymo_ftrace_read_ftrace_formats(struct ftrace_reader *reader);
int kymo_ftrace_read_event_formats(struct ftrace_reader *reader);
int kymo_ftrace_read_text(struct ftrace_reader *reader, unsigned size_bytes, struct ftrace_text *out);
/* All these, as version 6 has them; has_names: the names of threads, too. */
int kymo_ftrace_read_texts(struct ftrace_reader *reader, bool has_names);
/* The head of trace.dat and these, which perf.data has, too. Its version 0.6 has names of threads. */
int kymo_ftrace_read_formats(struct ftrace_reader *reader);
/* One option. */
int kymo_ftrace_read_option(struct ftrace_reader *reader, uint16_t id, uint32_t size);
struct ftrace_buffer *kymo_ftrace_add_buffer(struct ftrace_file *file);
/* Notes a section that cannot be read, and that events do not need. */
void kymo_ftrace_note_damage(struct ftrace_reader *reader, const struct kymo_error *why);

int kymo_ftrace_read_version6(struct ftrace_reader *reader);
int kymo_ftrace_read_version7(struct ftrace_reader *reader);

/* Unpacks bytes of the file's compression; the caller frees the result. NULL with the error at `at`. */
uint8_t *kymo_ftrace_unpack(const struct ftrace_file *file, uint64_t at, const uint8_t *from, size_t size,
                            size_t unpacked_size, struct kymo_error *error);

#endif
