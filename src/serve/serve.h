/* SPDX-License-Identifier: MIT */
/*
 * The server of `kymo view`: a page in the browser, and what the page asks for, of one view or of two.
 *
 *   serve ──► http.c    who may ask, connections
 *     │         └─► api.c ──► api_*.c   JSON and pictures, of the view and of its tasks
 *     ├─ view_build_step                the index
 *     └─ tasks.c                        filters, latencies, …
 *
 * It is one thread: requests are answered between steps of a few milliseconds. docs/viewing.md describes what
 * is checked of a request.
 */
#ifndef KYMO_SERVE_SERVE_H
#define KYMO_SERVE_SERVE_H

#include "view/view.h"

/* What is added to the times of a track. */
struct serve_slew {
  const char *track; /* its name */
  int64_t ns;
};

/* What is shown: that of the command line, or what the page has asked for since. */
struct serve_traces {
  const struct view_options *view; /* NULL: nothing, until the page asks for it */
  size_t file_count;               /* of the view's paths, the traces: the others decide how they are read */
  const char *title;
  const char *command;            /* that prints the same events, as a shell takes it */
  const char *filter;             /* with which the page begins, or NULL */
  const struct serve_slew *slews; /* with which it begins */
  size_t slew_count;
  bool has_begin, has_end;
  int64_t begin_ns, end_ns; /* where the page begins */
  uint64_t gist_clock;      /* as --gist-clock; 0: it is not given */
  const char *cpel_clock;   /* as --cpel-clock, or NULL */
};

/* A trace that the page may ask for, by its number in the list. */
struct serve_offer {
  const char *name;
  bool is_folder;
  uint64_t bytes;
  int64_t changed_ns; /* since 1970 */
};

/* What the page asks for. */
struct serve_change {
  bool has_offer;
  size_t offer; /* has_offer: its number in the last list; else the traces that are shown are read again */
  bool has_gist_clock, has_cpel_clock; /* these clocks change too */
  uint64_t gist_clock;                 /* 0: not given */
  const char *cpel_clock;              /* NULL: not given */
};

struct serve_options {
  struct serve_traces traces;
  const struct view_options *other; /* with which they are compared, or NULL */
  const char *other_title;
  /* The traces that the page may ask for, as they are now; the list holds until the next call. NULL: nothing
   * can be changed. */
  const struct serve_offer *(*offers)(void *user, size_t *count);
  /* Makes ready what the page asks for. Those that are shown hold until `changed`, which says whether the new
   * ones are. Negative with the error. */
  int (*change)(void *user, const struct serve_change *change, struct serve_traces *out,
                struct kymo_error *error);
  void (*changed)(void *user, bool is_done);
  unsigned port;   /* 0: any */
  int64_t idle_ns; /* end after so much time without a request; 0: never */
  /* It listens: the address is for the user alone. Negative: it ends. */
  int (*ready)(void *user, const char *address, unsigned port);
  void *user; /* of the functions */
};

/* Serves until SIGINT, SIGTERM or SIGHUP, until the page ends it, or until it was idle: KYMO_OK. Negative
 * with the error: it cannot open the traces, or cannot listen; KYMO_E_UNKNOWN: it was built without
 * libmicrohttpd. */
int serve(const struct serve_options *options, struct kymo_error *error);

/* A file of the page. */
struct serve_asset {
  const char *path, *type; /* in the address; of its content */
  const unsigned char *bytes;
  size_t size;
};
/* All of them; ends with one without a path. */
extern const struct serve_asset serve_assets[];

#endif
