/* SPDX-License-Identifier: MIT */
#include "stat/gaps.h"
#include "base/fail.h"
#include <stdlib.h>

int kymo_gaps_begin(struct kymo_gaps *gaps, struct kymo_trace *trace, struct kymo_whos *whos,
                    struct kymo_error *error) {
  size_t count = whos->numbers.stream_count + kymo_trace_part_count(trace) + 1;
  *gaps = (struct kymo_gaps){.whos = whos, .counts = calloc(count, sizeof *gaps->counts)};
  return gaps->counts ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

void kymo_gaps_end(struct kymo_gaps *gaps) {
  free(gaps->counts);
  gaps->counts = NULL;
}

static void add_gap(struct kymo_gaps *gaps, const struct kymo_stream *stream) {
  gaps->all++;
  gaps->counts[stream->number]++;
  gaps->counts[gaps->whos->numbers.stream_count + stream->part->index]++;
}

void kymo_gaps_take(void *user, const struct kymo_loss *loss) {
  struct kymo_gaps *gaps = user;
  add_gap(gaps, loss->stream);
}

void kymo_gaps_damage(struct kymo_gaps *gaps, const struct kymo_event *event) {
  add_gap(gaps, event->packet->stream);
}

uint32_t kymo_gaps_slot(const struct kymo_gaps *gaps, const struct kymo_event *event) {
  const struct kymo_stream *stream = event->packet->stream;
  /* called first, so that the values in the class's packets are known */
  bool is_known = kymo_who_of(gaps->whos, event) != NULL;
  bool is_thread =
      is_known && gaps->whos->classes[stream->part->index][event->class_->stream->index].packet.tid;
  return is_thread ? stream->number : gaps->whos->numbers.stream_count + stream->part->index;
}
