/* SPDX-License-Identifier: MIT */
/*
 * Spans that have begun and not ended when the trace ends: the work of threads when their process crashed or
 * hung. The latest comes first, since a begin whose end was skipped by a jump stays open for ever.
 */
#ifndef KYMO_STAT_OPENED_H
#define KYMO_STAT_OPENED_H

#include "span/spans.h"
#include "stat/gaps.h"
#include "stat/instance.h"

/* Stores who begins a span, and by which clock. */
void kymo_opened_note(struct kymo_span *span, struct kymo_whos *whos, const struct kymo_event *event);

/* Spans whose owners are struct kymo_stat_group (or begin with one), or NULL; last_ns: the time of the latest
 * event. */
struct kymo_opened {
  const struct kymo_spans *spans;
  const struct kymo_gaps *gaps;
  int64_t last_ns;
};
/* Lists the latest ones, with the command that shows each, as text or JSON. Those that may have ended among
 * lost events are left out. */
void kymo_opened_report(const struct kymo_opened *opened, const struct kymo_report *report);

#endif
