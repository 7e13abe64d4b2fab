/* SPDX-License-Identifier: MIT */
/*
 * kymo/filter.h: choosing events by a text in FDL (docs/filters.md).
 *
 *   text ──► kymo_filter_compile ──┐
 *   file ──► kymo_filter_load ─────┴─► kymo_filter ──► kymo_filter_attach ──► kymo_get_next_filtered
 *
 * A filter is checked against the descriptions of the traces that it is for, is immutable from then on, and
 * may be attached to any number of traces, in any threads. What it remembers while events go by (BETWEEN,
 * EVERY …) belongs to the trace. kymo_get_next goes on giving all events; events are numbered by their order
 * in the trace in either case.
 */
#ifndef KYMO_FILTER_H
#define KYMO_FILTER_H

#include <kymo/read.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kymo_filter;

/* Told of what may be a mistake, in the order of the text; `warning` holds until the call returns. */
typedef void kymo_filter_warning(void *user, const struct kymo_error *warning);

struct kymo_filter_options {
  const char *file;                         /* what messages call the text, or NULL */
  const struct kymo_schema *const *schemas; /* of the traces that it is for */
  size_t schema_count;
  kymo_filter_warning *warn; /* or NULL */
  void *user;
};

int kymo_filter_compile_(struct kymo_filter **out, const char *text, size_t length,
                         const struct kymo_filter_options *options, size_t size, struct kymo_error *error);
/*
 * Compiles `length` bytes of text: a filter ("FILTER name; … SELECT expression.") or an expression alone. The
 * names in it are looked up in all schemas. On success *out is the caller's, to be released, and refers to
 * neither text nor schemas. KYMO_E_SYNTAX with line, column and excerpt for what the language does not allow,
 * KYMO_E_LIMIT, KYMO_E_MEMORY.
 */
static inline int kymo_filter_compile(struct kymo_filter **out, const char *text, size_t length,
                                      const struct kymo_filter_options *options, struct kymo_error *error) {
  return kymo_filter_compile_(out, text, length, options, sizeof *options, error);
}
/* Whether a text begins as a filter that is OVER ALL: it sees headers, definitions and segments of described
 * files, which are to be asked for when a trace is opened (kymo_open_options.all_classes). */
bool kymo_filter_is_over_all(const char *text, size_t length);
/* The filter as bytes, the same on every machine. On success *bytes is the caller's, to be freed with
 * free(). */
int kymo_filter_save(const struct kymo_filter *filter, uint8_t **bytes, size_t *size,
                     struct kymo_error *error);
/* Reads and verifies what kymo_filter_save wrote; `file` names the bytes in errors. On success *out is the
 * caller's and refers to nothing in `bytes`. KYMO_E_FORMAT with the byte offset, KYMO_E_UNKNOWN if this is no
 * filter or one of another version, KYMO_E_MEMORY. */
int kymo_filter_load(struct kymo_filter **out, const void *bytes, size_t size, const char *file,
                     struct kymo_error *error);
/* Shares the filter with one more owner; returns it. Thread-safe. */
struct kymo_filter *kymo_filter_retain(struct kymo_filter *filter);
/* Gives up one share; the last one frees it. NULL is fine. Thread-safe. */
void kymo_filter_release(struct kymo_filter *filter);

/*
 * From the next move on, kymo_get_next_filtered goes by `filter`, of which the trace takes a share of its
 * own; NULL: by none. To be called before the first event is asked for. KYMO_E_USAGE if it was compiled for
 * other descriptions, or needs a first pass over a trace that is followed (E59); KYMO_E_MEMORY.
 */
int kymo_filter_attach(struct kymo_trace *trace, struct kymo_filter *filter, struct kymo_error *error);
/*
 * Moves to the next event that the filter selects, as kymo_get_next does (which it is without a filter). The
 * filter sees all events from the start of the trace on, also behind kymo_goto_time, so what it selects does
 * not depend on the way. An ACTIVITY's own event comes behind the one that closes it and has the number 0.
 * KYMO_END also behind FIRST n events; KYMO_E_LIMIT if there is more to be remembered than a filter may (R9).
 */
int kymo_get_next_filtered(struct kymo_trace *trace, const struct kymo_event **event,
                           struct kymo_error *error);

/*
 * Moves to the event before that the filter selects, as kymo_get_previous does (which it is without a
 * filter): what kymo_get_next_filtered would give before the last one, ACTIVITYs' events too, whatever way
 * led here. From KYMO_END, also that behind FIRST n, the last one; KYMO_END at the beginning. A filter with a
 * memory looks at the events from the start on once, and again for each event that an ACTIVITY adds, and
 * notes a bit for each; others step back.
 */
int kymo_get_previous_filtered(struct kymo_trace *trace, const struct kymo_event **event,
                               struct kymo_error *error);

struct kymo_filter_result {
  uint64_t replaced; /* activities that began again before they ended */
  uint64_t dropped;  /* … that were older than their WITHIN allows */
  uint64_t failed;   /* calculations without a result: overflows, divisions by zero (R10) */
};
void kymo_filter_counts_(const struct kymo_trace *trace, struct kymo_filter_result *result, size_t size);
/* What a filter met so far, in the trace that it is attached to. */
static inline void kymo_filter_counts(const struct kymo_trace *trace, struct kymo_filter_result *result) {
  kymo_filter_counts_(trace, result, sizeof *result);
}

#ifdef __cplusplus
}
#endif
#endif
