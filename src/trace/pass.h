/* SPDX-License-Identifier: MIT */
/*
 * A pass over the packets of one stream, only by their headers: it passes the same packets as reading, but
 * decodes no event and ignores damage, which is reported when it is read.
 */
#ifndef KYMO_TRACE_PASS_H
#define KYMO_TRACE_PASS_H

#include "decode/decoder.h"
#include "trace/index.h"

struct stream_state;

struct kymo_pass {
  const struct stream_state *stream;
  const struct kymo_decoder *decoder; /* the stream's, which is elsewhere */
  struct kymo_cursor *cursor;
  bool is_glancing;
  struct kymo_notes notes;
  const struct kymo_stream_class *class_; /* NULL before the first packet, if it is not known otherwise */
  uint64_t clock;                         /* the stream's, after the packet */
  struct kymo_ns ns;
  /* the current packet of the pass, if any */
  bool is_at;
  struct kymo_position position;
  const char *path; /* of its file; borrowed */
  uint64_t bytes;   /* of the packet: all that are available, to move after it */
  struct kymo_packet_head head;
  /* the one before */
  bool has_previous;
  struct kymo_packet previous;
  /* the latest KYMO_E_MEMORY or KYMO_E_SYSTEM: packets were skipped */
  int status;
  struct kymo_error error;
};

/* Starts before the first packet, with a separate cursor. */
int kymo_pass_begin(struct kymo_pass *pass, const struct kymo_stream *stream, struct kymo_error *error);
/* From now on, only the heads of packets are needed. */
void kymo_pass_glance(struct kymo_pass *pass);
/* Moves to a packet, which the next `kymo_pass_next` reaches; earlier state is dropped. */
void kymo_pass_seek(struct kymo_pass *pass, struct kymo_position position);
/* Moves to the next packet that reading would enter; false if there is none (now). */
bool kymo_pass_next(struct kymo_pass *pass);
/* Ends the pass; NULL-safe in all its parts. */
void kymo_pass_end(struct kymo_pass *pass);

/* The time at which the first packet begins that the stream has now: a ring overwrites its oldest ones.
 * Reads that packet alone, and does not move the trace. False: there is no packet, or it has no time. */
bool kymo_stream_first_ns(const struct kymo_stream *stream, int64_t *time_ns);

#endif
