/* SPDX-License-Identifier: MIT */
/*
 * Following a trace that is being written, in rounds: each begins when nothing could be told any more.
 *
 *   round   look for new parts, streams, classes (formats' `grow`)
 *           learn up to which time silent streams hold up the others (bound_ns)
 *           ask all waiting streams for more
 *
 * A silent stream may still bring events that were recorded before what others have brought. How late, nobody
 * knows: packets that were there `hold_ns` before the round are taken for all that there is of their time.
 * Streams in memory are asked all at one instant: for them, it is the packets of earlier rounds.
 */
#ifndef KYMO_TRACE_FOLLOW_H
#define KYMO_TRACE_FOLLOW_H

#include "trace/trace.h"

struct kymo_follow {
  volatile bool is_stopping; /* set by kymo_stop_following, perhaps in a signal handler */
  int inotify;               /* or -1 */
  bool must_look;            /* at directories: something was made, moved, or described */
  bool has_grown;
  int64_t looked_ns; /* when that was done last, by the monotonic clock */
  int64_t round_ns;  /* when the round began, by the same clock */
  int64_t hold_ns, bound_ns;
  char **paths; /* as given to kymo_open */
  size_t path_count;
  int64_t *path_offsets_ns;
  kymo_growth_handler *handler;
  void *user;
};

/* Begins to follow an open trace. KYMO_E_MEMORY. */
int kymo_follow_begin(struct kymo_trace *trace, const char *const *paths, size_t count,
                      const int64_t *path_offsets_ns, struct kymo_error *error);
void kymo_follow_end(struct kymo_trace *trace);

/* The first half of a round: what has grown, and the bound. Negative: nothing can go on. */
int kymo_follow_round(struct kymo_trace *trace, struct kymo_error *error);

/* Moves the bound to what can be told by now; false if it stays where it was. */
bool kymo_follow_move_bound(struct kymo_trace *trace);
/* Notes when the stream came to its packet. */
void kymo_follow_enter_packet(struct stream_state *stream);

static inline bool kymo_follow_is_stopping(const struct kymo_trace *trace) {
  return trace->follow && trace->follow->is_stopping;
}

#endif
