/* SPDX-License-Identifier: MIT */
/*
 * Screens: what a filter can tell of an event before it is laid down, by its class and by integers at
 * constant places.
 *
 *   filter ── kymo_filter_screen ──► screen ──► stream ──► its format (source/format.h: screen)
 *                                                            └─► events that fail keep their time, place and
 *                                                            number,
 *                                                                but have no bytes, and are never picked
 *
 * A screened stream is for who asks with the filter. Whoever else moves ends that first: what is at hand is
 * then found again. While there is an end time no stream is screened: where one stands at it is told by the
 * events around it.
 */
#ifndef KYMO_SOURCE_SCREEN_H
#define KYMO_SOURCE_SCREEN_H

#include "base/bytes.h"
#include <kymo/read.h>

/* Numbers that pass, both ends included; by the order of `is_signed`. */
struct kymo_raw_range {
  uint64_t low, high;
};

/* An integer at a constant distance from where the event's body begins, and the ranges that it must (not) be
 * in. */
struct kymo_raw_test {
  uint64_t offset_bits;
  uint8_t bits;
  bool is_big, is_signed, is_negated;
  uint32_t range_count;
  const struct kymo_raw_range *ranges;
};

/* Whether an integer passes whose bits are the lowest ones of `value`; those above must be zero if it has no
 * sign. */
static inline bool kymo_raw_test_passes(const struct kymo_raw_test *test, uint64_t value) {
  if (test->is_signed)
    value = (uint64_t)kymo_sign_extend(value, test->bits);
  for (uint32_t i = 0; i < test->range_count; i++)
    if (value - test->ranges[i].low <= test->ranges[i].high - test->ranges[i].low) /* of either sign */
      return !test->is_negated;
  return test->is_negated;
}

/* Of one event class: all fail, or those that do not pass each test. */
struct kymo_screen_class {
  bool fails;
  uint32_t test_count;
  const struct kymo_raw_test *tests;
};

struct kymo_screen {
  const struct kymo_screen_class *classes; /* by class index */
};

struct kymo_trace;
struct stream_state;

/* Screens a stream from what is laid down next on; `screen` must live until the stream has none any more. */
void kymo_stream_set_screen(struct stream_state *stream, const struct kymo_screen *screen);
/* No stream is screened any more, and what is at hand is lost: whoever goes elsewhere does this first. */
void kymo_trace_drop_screens(struct kymo_trace *trace);
/* The same for who stays, behind the last event that was delivered. KYMO_OK, or as kymo_goto_record.
 * (move.c) */
int kymo_trace_unscreen(struct kymo_trace *trace, struct kymo_error *error);

#endif
