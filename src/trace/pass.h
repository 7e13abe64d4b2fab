/* SPDX-License-Identifier: MIT */
/*
 * A pass over the packets of one stream, by their headers alone: as reading goes over them, but no event is
 * decoded and damage is passed by in silence, for it is told when it is read.
 */
#ifndef KYMO_TRACE_PASS_H
#define KYMO_TRACE_PASS_H

#include "trace/trace.h"

struct kymo_pass {
  const struct stream_state *stream;
  struct kymo_cursor *cursor;
  bool is_glancing;
  struct kymo_notes notes;
  const struct kymo_stream_class *class_; /* NULL before the first packet, if it is not known otherwise */
  uint64_t clock;                         /* the stream's, behind the packet */
  struct kymo_ns ns;
  /* the packet that the pass is at, if any */
  bool is_at;
  struct kymo_position position;
  const char *path; /* of the file that it is in; borrowed */
  uint64_t bytes;   /* to get behind it: all that there are of it */
  struct kymo_packet_head head;
  /* the one before */
  bool has_previous;
  struct kymo_packet previous;
  /* KYMO_E_MEMORY and KYMO_E_SYSTEM, the latest: packets were passed over */
  int status;
  struct kymo_error error;
};

/* Starts before the first packet, with a cursor of its own. */
int kymo_pass_begin(struct kymo_pass *pass, const struct stream_state *stream, struct kymo_error *error);
/* From now on, what packets hold behind their heads is not needed. */
void kymo_pass_glance(struct kymo_pass *pass);
/* Moves to a packet, which `kymo_pass_next` comes to then; what was before it is forgotten. */
void kymo_pass_seek(struct kymo_pass *pass, struct kymo_position position);
/* Moves to the next packet that reading would enter; false if there is none (now). */
bool kymo_pass_next(struct kymo_pass *pass);
/* Ends the pass; NULL-safe in all its parts. */
void kymo_pass_end(struct kymo_pass *pass);

#endif
