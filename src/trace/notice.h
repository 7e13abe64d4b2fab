/* SPDX-License-Identifier: MIT */
/*
 * Notices: reports of a stream besides events. Losses are always stored, boundaries only if there is a
 * handler for them. They wait in stream->notices and have a time that orders the stream in the merge.
 */
#ifndef KYMO_TRACE_NOTICE_H
#define KYMO_TRACE_NOTICE_H

#include "trace/trace.h"

/* The stream begins, unless that was reported. */
void kymo_note_stream_begin(struct stream_state *stream);
/* The stream is at its end; nothing if it never began. */
void kymo_note_stream_end(struct stream_state *stream);
/* The packet begins, or ends, at the stream's clock. */
void kymo_note_packet_begin(struct stream_state *stream);
void kymo_note_packet_end(struct stream_state *stream);
/* A loss; its times are set here. */
void kymo_note_loss(struct stream_state *stream, const struct kymo_loss *loss);

/* Whether the first waiting notice is delivered at once, without a turn in the merge: one without a time is,
 * unless it begins the stream. */
bool kymo_notice_is_due(const struct stream_state *stream);
/* Passes the first waiting notice to its handler. */
void kymo_notice_give(struct stream_state *stream);

#endif
