/* SPDX-License-Identifier: MIT */
/*
 * The traces of a query. SQLite may have several cursors open at a time (joins, subqueries), and an open
 * trace has one position, so a source opens the traces once more for each cursor that needs it, and keeps
 * all of them:
 *
 *   source ──► readers, each an open trace with a position of its own ──► taken by cursors, given back
 *          └─► kinds: the different names of event classes, ordered by name
 *
 * Class numbers, kinds, and places in the lists of fields are the same in all readers; ids of fields, types
 * and event classes are not.
 */
#ifndef KYMO_QUERY_SOURCE_H
#define KYMO_QUERY_SOURCE_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "decode/decoder.h"
#include "print/who.h"
#include "symbols/symbols.h"
#include <kymo/filter.h>

/* Opens the traces once more, at the first wanted event. KYMO_OK, or negative with the error. */
typedef int query_opener(void *user, struct kymo_trace **trace, struct kymo_error *error);
/* Whether events of a class are wanted at all. */
typedef bool query_wants(void *user, const char *class_name);

struct query_opening {
  query_opener *open;
  query_wants *wants;       /* NULL: all are */
  void (*free)(void *user); /* or NULL */
  void *user;
  bool has_filter; /* the traces are opened with a filter: kymo_trace_next_filtered */
};

/* The fields of an event class as a list: the place of a field is the same in all readers. */
struct query_fields {
  const uint32_t *ids;
  size_t count;
};

struct query_reader {
  struct query_reader *next;
  struct query_source *source;
  struct kymo_trace *trace;
  struct kymo_whos whos;
  struct kymo_walk *walk;
  struct kymo_strbuf text;       /* for the value that is being made */
  struct query_fields *fields;   /* by class number, once asked for */
  uint32_t *pids;                /* by class number: the field that is the process, for value.c */
  struct query_json_class *json; /* by class number, once asked for: for json.c … */
  struct kymo_arena arena;       /* … and its texts */
  struct kymo_losses losses;     /* of the trace, when the pass began */
  bool is_used, is_fresh;        /* fresh: nothing was read yet */
  bool is_selecting;             /* only some kinds are read */
};

struct query_source {
  unsigned owners;
  struct query_opening opening;
  struct query_reader *readers, *first; /* the latest one first; `first` is the oldest */
  struct kymo_arena arena;
  const char **kinds; /* names of event classes as SQL has them, ordered, each once */
  uint32_t kind_count;
  uint32_t *kind_of; /* by class number: index in `kinds` */
  uint32_t class_count;
  struct kymo_losses losses;    /* of the pass that has met most */
  int64_t begin_ns, end_ns;     /* the window with which the traces were opened */
  bool has_epoch;               /* all clocks count from 1970 */
  uint64_t *counts;             /* of events by kind in the whole window, or NULL: not known yet */
  bool is_ordered;              /* the times of all events were checked, and never go back … */
  bool is_unordered;            /* … and they were seen to go back */
  struct kymo_symbols *symbols; /* of the first reader */
  bool has_weights;             /* count(*) adds weights … */
  bool folds;                   /* rows that the statement cannot distinguish come once (query/fold.h) … */
  uint64_t weight;              /* … and the current one replaces this many; else 1 */
};

/* Opens the traces for the first time. On success the caller owns a share of *source, which it drops with
 * query_source_release; on failure `opening->free` was called. */
int query_source_new(struct query_source **source, const struct query_opening *opening,
                     struct kymo_error *error);
struct query_source *query_source_retain(struct query_source *source);
/* NULL is fine. */
void query_source_release(struct query_source *source);

/* The index of the kind of an event class, or UINT32_MAX. Names that are no UTF-8 are compared as SQL has
 * them. */
uint32_t query_source_kind(const struct query_source *source, const char *name);
/* A text as UTF-8: bytes that are no character become U+FFFD. */
void query_add_sound(struct kymo_strbuf *out, const char *text, size_t length);
/* How often each kind occurs; the first call reads all events. NULL: failed. */
const uint64_t *query_source_counts(struct query_source *source, struct kymo_error *error);

/* A reader that is not in use. KYMO_OK or negative. */
int query_reader_take(struct query_reader **reader, struct query_source *source, struct kymo_error *error);
/* NULL is fine. */
void query_reader_give_back(struct query_reader *reader);
/* The fields of an event class. NULL: out of memory. */
const struct query_fields *query_reader_fields(struct query_reader *reader, uint32_t class_number);

/* Which events a pass reads. */
struct query_window {
  int64_t begin_ns, end_ns; /* both included; events without a time only if it has no limits */
  const bool *kinds;        /* by kind, or NULL: all */
  bool is_unnumbered;       /* the numbers of events are not needed as places */
};
/* Moves before the first event of the window. KYMO_OK or negative. */
int query_reader_begin(struct query_reader *reader, const struct query_window *window,
                       struct kymo_error *error);
/* The next event that the filter selects … */
int query_reader_next_filtered(struct query_reader *reader, const struct kymo_event **event,
                               struct kymo_error *error);
/* … or any next event: KYMO_OK, KYMO_END or negative. */
static inline int query_reader_next(struct query_reader *reader, const struct kymo_event **event,
                                    struct kymo_error *error) {
  return reader->source->opening.has_filter ? query_reader_next_filtered(reader, event, error)
                                            : kymo_trace_next(reader->trace, event, error);
}

/* What was damaged where the readers have read, each place once; returns the number of places. `each` may be
 * NULL. */
typedef void query_damage_handler(void *user, const struct kymo_damage *damage);
size_t query_source_damage(const struct query_source *source, query_damage_handler *each, void *user);
#endif
