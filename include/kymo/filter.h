/* SPDX-License-Identifier: MIT */
/*
 * kymo/filter.h: choosing events by a text in FDL (docs/filters.md).
 *
 *   text ──► kymo_filter_compile ──┐
 *   file ──► kymo_filter_load ─────┴─► kymo_filter ──► kymo_filter_attach ──► kymo_trace_next_filtered
 *
 * A filter is checked against the descriptions of the traces that it is for, is immutable from then on, and
 * may be attached to any number of traces, in any threads. Its state while events are read (BETWEEN, EVERY …)
 * belongs to the trace. kymo_trace_next still returns all events; events are numbered by their order in the
 * trace in either case.
 */
#ifndef KYMO_FILTER_H
#define KYMO_FILTER_H

#include <kymo/read.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kymo_filter;

/* Called for each possible mistake, in the order of the text; `warning` is valid until the call returns. */
typedef void kymo_filter_warning(void *user, const struct kymo_error *warning);

struct kymo_filter_options {
  const char *file;                         /* name of the text in messages, or NULL */
  const struct kymo_schema *const *schemas; /* of the traces that it is for */
  size_t schema_count;
  kymo_filter_warning *warn; /* or NULL */
  void *user;
};

int kymo_filter_compile_(struct kymo_filter **out, const char *text, size_t length,
                         const struct kymo_filter_options *options, size_t size, struct kymo_error *error);
/*
 * Compiles `length` bytes of text: a filter ("FILTER name; … SELECT expression.") or an expression alone. The
 * names in it are looked up in all schemas. On success the caller owns *out and releases it; it refers to
 * neither text nor schemas. KYMO_E_SYNTAX with line, column and excerpt for an invalid text, KYMO_E_LIMIT,
 * KYMO_E_MEMORY.
 */
static inline int kymo_filter_compile(struct kymo_filter **out, const char *text, size_t length,
                                      const struct kymo_filter_options *options, struct kymo_error *error) {
  return kymo_filter_compile_(out, text, length, options, sizeof *options, error);
}
/* Whether a text is a filter that is OVER ALL: it also sees headers, definitions and segments of described
 * files, which a trace delivers if it is opened with kymo_trace_options.all_classes. */
bool kymo_filter_is_over_all(const char *text, size_t length);
/* The filter as bytes, the same on every machine. On success the caller owns *bytes and frees it with
 * free(). */
int kymo_filter_save(const struct kymo_filter *filter, uint8_t **bytes, size_t *size,
                     struct kymo_error *error);
/* Reads and verifies bytes that kymo_filter_save wrote; `file` names the bytes in errors. On success the
 * caller owns *out, which refers to nothing in `bytes`. KYMO_E_FORMAT with the byte offset, KYMO_E_UNKNOWN if
 * this is not a filter or one of another version, KYMO_E_MEMORY. */
int kymo_filter_load(struct kymo_filter **out, const void *bytes, size_t size, const char *file,
                     struct kymo_error *error);
/* Adds a reference to the filter; returns it. Thread-safe. */
struct kymo_filter *kymo_filter_retain(struct kymo_filter *filter);
/* Drops a reference; the last one frees the filter. NULL is allowed. Thread-safe. */
void kymo_filter_release(struct kymo_filter *filter);

/*
 * From the next move on, kymo_trace_next_filtered applies `filter`; the trace keeps a reference of its own.
 * NULL: no filter. Call it before the first event is read. KYMO_E_USAGE if it was compiled for other
 * descriptions, or needs a first pass over a trace that is followed (E59); KYMO_E_MEMORY.
 */
int kymo_filter_attach(struct kymo_trace *trace, struct kymo_filter *filter, struct kymo_error *error);
/*
 * Moves to the next event that the filter selects, otherwise as kymo_trace_next does (without a filter they
 * are the same). The filter sees all events from the start of the trace on, also after kymo_trace_goto_time,
 * so the selection does not depend on earlier moves. The event of an ACTIVITY follows the event that closes
 * it and has the number 0. KYMO_END also after FIRST n events; KYMO_E_LIMIT if the state outgrows the limit
 * of a filter (R9).
 */
int kymo_trace_next_filtered(struct kymo_trace *trace, const struct kymo_event **event,
                             struct kymo_error *error);

/*
 * Moves to the previous event that the filter selects, otherwise as kymo_trace_previous does (without a
 * filter they are the same): the event that kymo_trace_next_filtered would return before the last one, events
 * of ACTIVITYs too, whatever moves came before. After KYMO_END, also after FIRST n, it is the last one;
 * KYMO_END at the beginning. A filter with state reads the events from the start once, and again for each
 * event that an ACTIVITY adds, and stores one bit for each; other filters step back.
 */
int kymo_trace_previous_filtered(struct kymo_trace *trace, const struct kymo_event **event,
                                 struct kymo_error *error);

struct kymo_filter_result {
  uint64_t replaced; /* activities that began again before they ended */
  uint64_t dropped;  /* … that were older than their WITHIN allows */
  uint64_t failed;   /* calculations without a result: overflows, divisions by zero (R10) */
};
void kymo_filter_counts_(const struct kymo_trace *trace, struct kymo_filter_result *result, size_t size);
/* Counters of a filter, for the trace that it is attached to. */
static inline void kymo_filter_counts(const struct kymo_trace *trace, struct kymo_filter_result *result) {
  kymo_filter_counts_(trace, result, sizeof *result);
}

#ifdef __cplusplus
}
#endif
#endif
