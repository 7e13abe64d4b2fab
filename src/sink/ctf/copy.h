/* SPDX-License-Identifier: MIT */
/*
 * One stream, written as it is read: packet by packet, with the same heads, and in them the events that are
 * wanted, in the same bytes. Events that follow one another are copied together, at most a packet at a time:
 *
 *   read     head │ a b c d e f │ …          c was not wanted
 *   written  head'│ a b d e f │ …            two pieces; the head tells the new size
 *
 * A piece can be copied if it comes to stand at the same boundary. Else (and where events begin within a
 * byte) its events are laid down anew, field by field. Packets without events are written as well, for their
 * heads tell what was lost.
 *
 * Event headers hold the low bits of the time only. Where so much is left out before an event that they do
 * not tell its time any more, a new packet begins with it.
 */
#ifndef KYMO_SINK_CTF_COPY_H
#define KYMO_SINK_CTF_COPY_H

#include "sink/ctf/file.h"
#include "sink/ctf/head.h"

struct kymo_ctf_copy {
  struct kymo_ctf_file file;
  const struct stream_state *stream;
  bool is_relaid;             /* packets have other heads */
  bool is_plain;              /* and events, too: as schema.h says for CTF 1.8 */
  const uint32_t *boundaries; /* of all types by id: the strictest alignment inside; borrowed */
  struct kymo_pass pass;      /* `has_packet`: at one that was not written yet */
  bool is_begun, has_packet, has_left_out;

  /* The packet at hand. */
  bool is_open, is_first_event;
  uint64_t number;           /* as the stream counts */
  struct kymo_packet packet; /* as it is read */
  struct kymo_ctf_head head; /* as it is written */
  bool is_cut;               /* its bytes are not all there */
  uint64_t events_bits;      /* where its first event may begin */
  uint64_t start;            /* in the file written */
  uint64_t at_bits;          /* behind what is written of it */

  /* The events that are to be copied next: [from, to) as they are read, to stand at from + shift. */
  uint64_t from, to, next, shift;

  uint64_t clock;     /* of whoever reads what is written */
  unsigned time_bits; /* all event headers tell so many bits of the time, once; 0: not known */
  uint64_t header_align;
  uint64_t discarded_base; /* lost before what is written begins */
  uint64_t splits;         /* packets that became two */
};

/* Starts the copy of a stream to the file `path`, which is taken over. Free with kymo_ctf_copy_end. */
void kymo_ctf_copy_begin(struct kymo_ctf_copy *copy, const struct kymo_stream *stream,
                         struct kymo_ctf_files *files, char *path);
int kymo_ctf_copy_event(struct kymo_ctf_copy *copy, const struct kymo_event *event, struct kymo_error *error);
/* Writes what is left, if all went well so far, and frees everything. */
int kymo_ctf_copy_end(struct kymo_ctf_copy *copy, bool is_well, struct kymo_error *error);

/* For each type of a schema, by id, the strictest alignment of all that is in it. To be freed; NULL when out
 * of memory. */
uint32_t *kymo_ctf_boundaries(const struct kymo_schema *schema);

#endif
