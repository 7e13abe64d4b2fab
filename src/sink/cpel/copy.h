/* SPDX-License-Identifier: MIT */
/*
 * A CPEL file written as it was read: all its sections in their order, those of unknown types byte for byte,
 * and the selected events. Violations of the format are corrected: string tables end on a word, symbols are
 * sorted, counts are those of the existing entries. Numbers change their byte order, if another one is
 * wanted.
 *
 * The reader's events do not contain their original words, for example the offset of their string. They come
 * in the order of the file; so each is the next event in its section with the same content.
 */
#ifndef KYMO_SINK_CPEL_COPY_H
#define KYMO_SINK_CPEL_COPY_H

#include "base/arena.h"
#include "print/number.h"
#include "sink/cpel/out.h"
#include "source/map.h"

struct kymo_cpel_copy {
  struct kymo_trace *trace;
  const struct kymo_part *part;
  struct kymo_cpel_out *out;
  struct kymo_arena arena;
  struct kymo_map map;
  const uint8_t *data; /* the source, `size` bytes of which are available */
  uint64_t size;
  bool is_big; /* the source */
  struct kymo_numbers numbers;
  struct kymo_cpel_copy_class *classes;  /* by class number */
  struct kymo_cpel_copy_stream *streams; /* by stream index */
};

/* Whether the trace is one CPEL file whose events keep their times. */
bool kymo_cpel_can_copy(const struct kymo_trace *trace);
/* The byte order of the first CPEL file of a trace; false if there is no readable one. */
bool kymo_cpel_order(const struct kymo_trace *trace, bool *is_big);

/* kymo_cpel_copy_end ends it also after a failure. `path` is that of the output. */
int kymo_cpel_copy_begin(struct kymo_cpel_copy *copy, struct kymo_trace *trace, struct kymo_cpel_out *out,
                         const char *path, struct kymo_error *error);
int kymo_cpel_copy_event(struct kymo_cpel_copy *copy, const struct kymo_event *event,
                         struct kymo_error *error);
/* Writes the file. */
int kymo_cpel_copy_write(struct kymo_cpel_copy *copy, struct kymo_error *error);
void kymo_cpel_copy_end(struct kymo_cpel_copy *copy);

#endif
