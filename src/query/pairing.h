/* SPDX-License-Identifier: MIT */
/*
 * Spans of a trace, one after another, in the order in which they end; then those that are open at the end.
 * They are those of `kymo stat latency`: kinds by stat/edges.h, pairs by span/spans.h, losses by
 * stat/gaps.h.
 */
#ifndef KYMO_QUERY_PAIRING_H
#define KYMO_QUERY_PAIRING_H

#include "query/source.h"
#include "span/spans.h"
#include "stat/edges.h"
#include "stat/gaps.h"
#include "stat/groups.h"

/* What is kept of the event that began a span. */
struct query_begun {
  char *fields; /* JSON, or NULL: it is not wanted */
  size_t length, room;
  const char *name; /* of the kind: not ended by a zero … */
  size_t name_length;
  uint32_t depth; /* how many spans of its thread were open around it */
  uint32_t part;
  bool has_key, is_text_key;
  int64_t key; /* of an integer */
  char *key_text;
  uint32_t next_free;
};

/* The name of the kind of spans that a class begins; `name` is NULL before it is asked for. */
struct query_span_name {
  const char *name;
  size_t length;
};

enum query_span_state {
  QUERY_SPAN_COMPLETE,
  QUERY_SPAN_OPEN, /* it has no end */
  QUERY_SPAN_LOST, /* events are lost in it, so the end that was found may be that of another span */
};

struct query_pairing {
  struct query_reader *reader; /* taken while spans are read */
  struct kymo_edges edges;
  struct kymo_gaps gaps;
  struct kymo_grouping thread, key;
  struct kymo_spans spans;
  bool has_key, wants_fields, is_apart;
  struct query_span_name *names; /* by class number */
  struct query_begun *begun;     /* by kymo_span.track */
  uint32_t begun_count, begun_capacity, free_begun;
  struct kymo_span **open; /* at the end, in the order of their begins */
  size_t open_count, open_capacity, open_next;
  bool is_through; /* all events were read */
  bool has_failed; /* memory was missing for the list */
  /* the current span */
  struct kymo_span *span; /* NULL: no more */
  enum query_span_state state;
  int64_t end_ns;
};

/* Begins reading the spans of a source. `key` is the field that connects begins and ends, also of other
 * threads, or NULL. Ended by query_pairing_end also after a failure. KYMO_OK with the first span, or
 * negative. */
struct query_pairing_options {
  const char *key;
  bool wants_fields;
  bool is_apart; /* spans of one part of the traces do not depend on other parts */
};
int query_pairing_begin(struct query_pairing *pairing, struct query_source *source,
                        const struct query_pairing_options *options, struct kymo_error *error);
/* The next span. */
int query_pairing_next(struct query_pairing *pairing, struct kymo_error *error);
void query_pairing_end(struct query_pairing *pairing);

#endif
