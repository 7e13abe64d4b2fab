/* SPDX-License-Identifier: MIT */
/*
 * Following a trace that is being written, in rounds: each begins when no more events can be returned.
 *
 *   round   look for new parts, streams, classes (formats' `grow`)
 *           compute up to which time silent streams delay the others (bound_ns)
 *           read more from all waiting streams
 *
 * A silent stream may still deliver events that are earlier than those of others. The delay is unknown:
 * packets that existed `hold_ns` before the round are assumed to be complete up to their time. Streams in
 * memory are all read at one instant: for them, the packets of earlier rounds are complete.
 */
#ifndef KYMO_TRACE_FOLLOW_H
#define KYMO_TRACE_FOLLOW_H

#include "trace/trace.h"

struct kymo_follow {
  volatile bool is_stopping; /* set by kymo_trace_stop_following, possibly in a signal handler */
  int inotify;               /* or -1 */
  bool must_look;            /* at directories: something was created, moved, or described */
  bool has_grown;
  int64_t looked_ns; /* time of the last look, by the monotonic clock */
  int64_t round_ns;  /* begin of the round, by the same clock */
  int64_t hold_ns, bound_ns;
  char **paths; /* as given to kymo_trace_open */
  size_t path_count;
  int64_t *path_offsets_ns;
  kymo_growth_handler *handler;
  void *user;
};

/* Begins to follow an open trace. KYMO_E_MEMORY. */
int kymo_follow_begin(struct kymo_trace *trace, const char *const *paths, size_t count,
                      const int64_t *path_offsets_ns, struct kymo_error *error);
void kymo_follow_end(struct kymo_trace *trace);

/* The first half of a round: the growth, and the bound. Negative: reading cannot continue. */
int kymo_follow_round(struct kymo_trace *trace, struct kymo_error *error);

/* Moves the bound to the time up to which events can be returned; false if it does not change. */
bool kymo_follow_move_bound(struct kymo_trace *trace);
/* Stores when the stream reached its packet. */
void kymo_follow_enter_packet(struct stream_state *stream);

static inline bool kymo_follow_is_stopping(const struct kymo_trace *trace) {
  return trace->follow && trace->follow->is_stopping;
}

#endif
