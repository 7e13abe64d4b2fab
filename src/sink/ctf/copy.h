/* SPDX-License-Identifier: MIT */
/*
 * One stream, written as it is read: packet by packet, with the same heads, and the wanted events in the same
 * bytes. Adjacent events are copied together, at most a packet at a time:
 *
 *   read     head │ a b c d e f │ …          c was not wanted
 *   written  head'│ a b d e f │ …            two pieces; the head has the new size
 *
 * A piece can be copied if its new offset has the same alignment. Else (and where events begin within a byte)
 * its events are encoded again, field by field. Packets without events are written as well, since their heads
 * contain the losses.
 *
 * Event headers contain only the low bits of the time. If too many events before an event are left out,
 * and these bits do not determine its time any more, a new packet begins with it.
 */
#ifndef KYMO_SINK_CTF_COPY_H
#define KYMO_SINK_CTF_COPY_H

#include "sink/ctf/file.h"
#include "sink/ctf/head.h"

struct kymo_ctf_copy {
  struct kymo_ctf_file file;
  const struct kymo_trace *trace;
  const struct kymo_stream *stream;
  bool is_elsewhere;          /* another process writes it (share.h) */
  bool is_relaid;             /* packets have other heads … */
  bool is_kernel;             /* … with the number of the CPU (kernel.h) */
  bool is_plain;              /* events are also encoded for CTF 1.8, see schema.h */
  const uint32_t *boundaries; /* of all types by id: the strictest alignment inside; borrowed */
  struct kymo_pass pass;      /* `has_packet`: it is at a packet that was not written yet */
  bool is_begun, has_packet, has_left_out;

  /* The current packet. */
  bool is_open, is_first_event;
  uint64_t number;           /* as the stream counts */
  struct kymo_packet packet; /* as it is read */
  struct kymo_ctf_head head; /* as it is written */
  bool is_cut;               /* not all of its bytes are available */
  uint64_t events_bits;      /* offset where its first event may begin */
  uint64_t start;            /* in the file written */
  uint64_t at_bits;          /* end of the written part */

  /* The events to be copied next: [from, to) as they are read, to be written at from + shift. */
  uint64_t from, to, next, shift;

  uint64_t clock;     /* clock of a reader of the output */
  unsigned time_bits; /* number of time bits in all event headers; 0: unknown */
  uint64_t header_align;
  uint64_t discarded_base; /* lost before the begin of the output */
  uint64_t splits;         /* packets that became two */
};

/* Starts the copy of a stream to the file `path`, whose text it takes over. Free with kymo_ctf_copy_end. */
void kymo_ctf_copy_begin(struct kymo_ctf_copy *copy, const struct kymo_trace *trace,
                         const struct kymo_stream *stream, struct kymo_ctf_files *files, char *path);
int kymo_ctf_copy_event(struct kymo_ctf_copy *copy, const struct kymo_event *event, struct kymo_error *error);
/* Writes the rest, if there was no error so far, and frees everything. */
int kymo_ctf_copy_end(struct kymo_ctf_copy *copy, bool is_well, struct kymo_error *error);

/* For each type of a schema, by id, the strictest alignment inside it. The caller frees it; NULL if there is
 * no memory. */
uint32_t *kymo_ctf_boundaries(const struct kymo_schema *schema);

#endif
