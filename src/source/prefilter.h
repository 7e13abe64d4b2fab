/* SPDX-License-Identifier: MIT */
/*
 * Prefilters: what a filter can decide about an event before it is decoded, by its class and by integers at
 * constant places.
 *
 *   filter ── kymo_filter_set_prefilters ──► prefilter ──► stream ──► its format (source/format.h: prefilter)
 *                                                            └─► events that fail keep their time, place and
 *                                                            number,
 *                                                                but have no bytes, and are never merged
 *
 * A prefiltered stream is only for reading with the filter. Any other move ends the prefilter first, and
 * finds the current events again. While there is an end time no stream is prefiltered: the events around it
 * determine the position.
 */
#ifndef KYMO_SOURCE_PREFILTER_H
#define KYMO_SOURCE_PREFILTER_H

#include "base/bytes.h"
#include <kymo/read.h>

/* Numbers that pass, both ends included; by the order of `is_signed`. */
struct kymo_raw_range {
  uint64_t low, high;
};

/* An integer at a constant distance from the begin of the event's body, and the ranges that it must (not) be
 * in. */
struct kymo_raw_test {
  uint64_t offset_bits;
  uint8_t bits;
  bool is_big, is_signed, is_negated;
  uint32_t range_count;
  const struct kymo_raw_range *ranges;
};

/* Whether an integer passes whose bits are the lowest ones of `value`; higher bits must be zero if it has no
 * sign. */
static inline bool kymo_raw_test_passes(const struct kymo_raw_test *test, uint64_t value) {
  if (test->is_signed)
    value = (uint64_t)kymo_sign_extend(value, test->bits);
  for (uint32_t i = 0; i < test->range_count; i++)
    if (value - test->ranges[i].low <= test->ranges[i].high - test->ranges[i].low) /* of either sign */
      return !test->is_negated;
  return test->is_negated;
}

/* For one event class: all fail, or those that do not pass each test. */
struct kymo_prefilter_class {
  bool fails;
  uint32_t test_count;
  const struct kymo_raw_test *tests;
};

struct kymo_prefilter {
  const struct kymo_prefilter_class *classes; /* by class index */
};

struct kymo_trace;
struct stream_state;

/* Sets the prefilter of a stream from the next decoded event on; `prefilter` must live until it is
 * removed. */
void kymo_stream_set_prefilter(struct stream_state *stream, const struct kymo_prefilter *prefilter);
/* Removes all prefilters, and drops the buffered events: called before a move to another place. */
void kymo_trace_drop_prefilters(struct kymo_trace *trace);
/* The same at the current position, after the last delivered event. KYMO_OK, or as kymo_trace_goto_event.
 * (move.c) */
int kymo_trace_end_prefilters(struct kymo_trace *trace, struct kymo_error *error);

#endif
