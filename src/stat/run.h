/* SPDX-License-Identifier: MIT */
/* The kinds of statistics of traces: kymo stat and kymo/stat.h. */
#ifndef KYMO_STAT_RUN_H
#define KYMO_STAT_RUN_H

#include "stat/edges.h"
#include "stat/gaps.h"
#include "stat/pairs.h"
#include "stat/report.h"
#include "stat/spill.h"
#include "stat/tally.h"

struct kymo_statistics {
  /* set by the owner: the trace, whose filter and end time count, before its first event */
  struct kymo_trace *trace;
  const char *from, *to, *key, *by, *field; /* field: of the histogram */
  const char *const *events;                /* of state and distance: what is measured */
  size_t event_count;
  struct kymo_report report; /* form, order, prefix, width, top; out, or collect */
  size_t memory_bytes;       /* for groups, before they go to a file */
  unsigned worst;
  bool wants_worst; /* they were asked for */
  bool wants_why;   /* of spans: what their threads did */
  /* Each time between events; a report that is printed has no table then. */
  kymo_pair_handler *each;
  void (*warn)(void *user, const char *text); /* receives a line; or NULL */
  /* Counts all events in another way, for `counts`: KYMO_OK, or KYMO_E_ABSENT if it has counted nothing; or
   * NULL. */
  int (*count_apart)(void *user, struct kymo_tally *tally);
  void *user;
  struct kymo_error *error;
  /* what came of it */
  struct kymo_report_rows rows;
  uint64_t uncounted; /* what could not be measured */
  /* while running */
  struct kymo_whos whos;
  struct kymo_edges edges;
  struct kymo_gaps gaps;
};

/* Options that not all kinds know: what is given to one that does not would be passed over. */
enum {
  KYMO_STAT_TAKES_EDGES = 1,
  KYMO_STAT_TAKES_KEY = 2,
  KYMO_STAT_TAKES_LONGEST = 4,
  KYMO_STAT_TAKES_BY = 8,
  KYMO_STAT_TAKES_MEMORY = 16,
  KYMO_STAT_TAKES_VPP = 32,
  KYMO_STAT_TAKES_EVENTS = 64,
  KYMO_STAT_TAKES_FIELD = 128,
  KYMO_STAT_TAKES_SELF = 256,
  KYMO_STAT_TAKES_WHY = 512,
  KYMO_STAT_TAKES_WORST = 1024, /* the number of the longest, and no single times */
  KYMO_STAT_TAKES_PAIRS =
      KYMO_STAT_TAKES_KEY | KYMO_STAT_TAKES_LONGEST | KYMO_STAT_TAKES_BY | KYMO_STAT_TAKES_MEMORY
};

/* One kind of statistics. */
struct kymo_stat_kind {
  const char *name, *summary;
  const char *arguments, *doc; /* for the help of this kind alone; NULL: TRACE..., no more than the summary */
  unsigned takes;              /* which of the options above */
  int (*run)(struct kymo_statistics *statistics); /* KYMO_OK, or negative with the error */
};

/* All kinds; the last one has no name. */
extern const struct kymo_stat_kind kymo_stat_kinds[];
/* NULL: there is none of this name. */
const struct kymo_stat_kind *kymo_stat_find_kind(const char *word);
/* Reads all events and reports. KYMO_OK, or negative with the error. */
int kymo_statistics_run(struct kymo_statistics *statistics, const struct kymo_stat_kind *kind);

#endif
