/* SPDX-License-Identifier: MIT */
/*
 * The language of the Linux kernel's `format` files (events/GROUP/NAME/format in tracefs, and copies of them
 * in trace.dat and perf.data):
 *
 *   name: sched_process_exec
 *   ID: 245
 *   format:
 *           field:unsigned short common_type;       offset:0;       size:2; signed:0;
 *           …
 *           field:__data_loc char[] filename;       offset:8;       size:4; signed:0;
 *           field:pid_t pid;        offset:12;      size:4; signed:1;
 *
 *   print fmt: "filename=%s pid=%d", __get_str(filename), REC->pid
 *
 * The fields are bytes of a record at fixed offsets. A __data_loc is 32 bits there, the length (high half)
 * and the offset (low half) of the value in the record; of a __rel_loc the offset counts from the end of the
 * 32 bits. A field of size 0 is the rest of the record.
 *
 *   record  | common | fixed fields … 0x00020014 … | "ls\0" |
 *   event            | fixed fields … "ls\0" …              |
 *
 * An event class has the fields in the same order, each value in its place, without the bytes between them.
 * The steps say how a record becomes such an event. The print fmt is the event class's template
 * (lang/ftrace/print.h): it is parsed and rendered by kymo, and never reaches printf.
 */
#ifndef KYMO_LANG_FTRACE_H
#define KYMO_LANG_FTRACE_H

#include "base/arena.h"
#include <kymo/schema.h>

/* The machine that wrote a record. */
struct kymo_ftrace_machine {
  bool is_big;
  uint8_t long_size; /* of its kernel: 4 or 8 bytes */
};

enum kymo_ftrace_place {
  KYMO_FTRACE_FIXED,
  KYMO_FTRACE_DATA_LOC,
  KYMO_FTRACE_REL_LOC,
  KYMO_FTRACE_REST, /* from its offset to the end of the record */
};

struct kymo_ftrace_field {
  const char *name, *type; /* "filename", "char": the type without brackets and __data_loc */
  uint32_t offset, size;   /* in the record; of a __data_loc, of its 32 bits */
  uint32_t element_size;   /* of an array; 0: unknown, the value is bytes */
  enum kymo_ftrace_place place;
  bool is_signed, is_array;
  bool is_text;    /* an array of char */
  bool is_pointer; /* its type, or that of an array's elements, is one */
  bool is_bool;
};

struct kymo_ftrace_format {
  const char *name;
  uint32_t id;
  const struct kymo_ftrace_field *fields; /* first those that all events have */
  uint32_t count, common_count;
  const char *print; /* the print fmt, or NULL */
};

/*
 * Parses a format file; all that `out` points to is in the arena. `file` is for errors only. KYMO_OK,
 * KYMO_E_SYNTAX with line, column and excerpt, or KYMO_E_MEMORY.
 */
int kymo_ftrace_parse(struct kymo_ftrace_format *out, struct kymo_arena *arena,
                      const struct kymo_ftrace_machine *machine, const char *text, size_t length,
                      const char *file, struct kymo_error *error);

/* How a record becomes the payload of an event: the steps, one after the other, append to it. */
enum kymo_ftrace_step_kind {
  KYMO_FTRACE_COPY,      /* `size` bytes at `from` */
  KYMO_FTRACE_PUT_TEXT,  /* a text and its zero, from where the place says */
  KYMO_FTRACE_PUT_COUNT, /* 32 bits, little-endian: the number of elements there, then these */
};
struct kymo_ftrace_step {
  enum kymo_ftrace_step_kind kind;
  enum kymo_ftrace_place place; /* not of COPY */
  uint32_t from, size;          /* size: of COPY, or of an element */
  const struct kymo_ftrace_field *field;
};

struct kymo_ftrace_class {
  struct kymo_event_class *class_; /* may be changed until the schema is finished */
  const struct kymo_ftrace_step *steps;
  uint32_t step_count;
  uint32_t least_bytes; /* of a record: up to the end of the last fixed field */
};

/*
 * Adds the event class "GROUP:NAME" of a format to a stream class, with names of its numbers from
 * __print_symbolic and __print_flags. The steps are in the builder's arena. KYMO_E_MEMORY, or the builder's
 * error.
 */
int kymo_ftrace_add_class(struct kymo_ftrace_class *out, struct kymo_builder *builder,
                          struct kymo_stream_class *stream, const struct kymo_ftrace_machine *machine,
                          const char *group, const struct kymo_ftrace_format *format,
                          struct kymo_error *error);

#endif
