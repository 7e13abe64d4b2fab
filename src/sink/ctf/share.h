/* SPDX-License-Identifier: MIT */
/*
 * Several processes write one trace: each takes some of the streams, which are files of their own. The sink
 * begins in the command, which has made the directories and all files but those of streams; its processes
 * are forks of it.
 *
 *   command   begin ─ share_begin ┬──────────────────────────────── share_end ─ end
 *   process                       └─ events, share_end_stream … ──┘
 */
#ifndef KYMO_SINK_CTF_SHARE_H
#define KYMO_SINK_CTF_SHARE_H

#include <kymo/sink.h>

struct kymo_ctf_mark;

/* Notes what is written of each stream in its mark, by kymo_stream.number; the marks have zeros and are in
 * memory that all processes share. False: the streams do not have files of their own. */
bool kymo_ctf_share_begin(struct kymo_sink_state *state, struct kymo_ctf_mark *marks);
/* In a process: all events of this stream were written. Completes its file. */
int kymo_ctf_share_end_stream(struct kymo_sink_state *state, const struct kymo_stream *stream,
                              struct kymo_error *error);
/* All processes have ended. `is_kept`: they have written the streams, as far as possible: the sink writes
 * nothing more, and incomplete packets are removed. Otherwise their files are removed, and the sink can
 * write them. */
void kymo_ctf_share_end(struct kymo_sink_state *state, bool is_kept);

#endif
