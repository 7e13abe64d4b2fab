/* SPDX-License-Identifier: MIT */
/* Segments of streams, and moves to them and to places in files. */
#include "base/fail.h"
#include "base/list.h"
#include "trace/lookahead.h"
#include <stdlib.h>

/* ---- finding segments ---- */

struct finding {
  struct kymo_trace *lookahead;
  struct kymo_segment *list;
  size_t count, capacity;
  size_t *at;        /* of each stream by rank: its segment's index + 1; 0: none yet */
  bool *is_lost;     /* a loss was reported since its last event */
  uint64_t *packets; /* the packet of its last event */
};

static void note_loss(void *user, const struct kymo_loss *loss) {
  struct finding *finding = user;
  finding->is_lost[((const struct stream_state *)loss->stream)->rank] = true;
}

static int begin_segment(struct finding *finding, const struct kymo_event *event, uint64_t number,
                         uint32_t rank) {
  if (finding->count == KYMO_SEGMENTS_MAX)
    return KYMO_E_LIMIT;
  if (!KYMO_LIST_ROOM(finding->list, finding->capacity, finding->count))
    return KYMO_E_MEMORY;
  finding->list[finding->count] = (struct kymo_segment){.cause = !finding->at[rank]  ? KYMO_SEGMENT_STREAM
                                                                 : event->is_damaged ? KYMO_SEGMENT_DAMAGE
                                                                 : finding->is_lost[rank] ? KYMO_SEGMENT_LOSS
                                                                                          : KYMO_SEGMENT_MARK,
                                                        .first = number};
  finding->at[rank] = ++finding->count;
  return KYMO_OK;
}

/* Damage begins one, unless the format marks segments. */
static bool is_begin(const struct finding *finding, const struct kymo_event *event, uint32_t rank) {
  const struct stream_state *stream = kymo_stream_of(event);
  return stream->decoder.marks_segments
             ? stream->decoder.begins_segment && finding->packets[rank] != stream->ordinal
             : event->is_damaged;
}

static int note_event(struct finding *finding, const struct kymo_event *event, uint64_t number) {
  uint32_t rank = kymo_stream_of(event)->rank;
  int status = KYMO_OK;
  if (!finding->at[rank] || finding->is_lost[rank] || is_begin(finding, event, rank))
    status = begin_segment(finding, event, number, rank);
  finding->is_lost[rank] = false;
  finding->packets[rank] = kymo_stream_of(event)->ordinal;
  if (status == KYMO_OK) {
    struct kymo_segment *segment = &finding->list[finding->at[rank] - 1];
    segment->stream = &kymo_decoder_of(event)->stream;
    segment->count++;
    if (event->has_time && !segment->has_times)
      segment->begin_ns = event->time_ns;
    segment->has_times |= event->has_time;
    segment->end_ns = event->has_time ? event->time_ns : segment->end_ns;
  }
  return status;
}

/* Segments refer to the trace's streams, not to those of the lookahead reader. */
static void name_streams(const struct finding *finding, const struct kymo_trace *trace) {
  for (size_t i = 0; i < finding->count; i++) {
    struct kymo_segment *segment = &finding->list[i];
    segment->stream = &trace->streams[((const struct stream_state *)segment->stream)->rank]->decoder.stream;
  }
}

static int find_segments(struct finding *finding, const struct kymo_trace *trace, struct kymo_error *error) {
  int status = KYMO_OK;
  kymo_trace_set_loss_handler(finding->lookahead, note_loss, finding);
  while (status == KYMO_OK) {
    status = kymo_trace_merge_batch(finding->lookahead, error);
    for (uint32_t i = 0; status == KYMO_OK && i < finding->lookahead->batch_count; i++)
      status = note_event(finding, finding->lookahead->batch[i], finding->lookahead->batch_begin + i + 1);
  }
  if (status == KYMO_E_LIMIT)
    kymo_fail(error, status, "there are more than %d segments", KYMO_SEGMENTS_MAX);
  else if (status == KYMO_E_MEMORY)
    kymo_fail(error, status, "out of memory");
  name_streams(finding, trace);
  return status == KYMO_END || status == KYMO_AGAIN ? KYMO_OK : status;
}

int kymo_trace_count_segments(struct kymo_trace *trace, size_t *count, struct kymo_error *error) {
  struct finding finding = {.lookahead = NULL};
  int status = KYMO_OK;
  *count = trace->segment_count;
  if (trace->segments)
    return KYMO_OK;
  if (trace->follow)
    return kymo_fail(error, KYMO_E_USAGE, "a followed trace has no segments yet");
  finding.lookahead = kymo_lookahead_new(trace, trace->streams, trace->stream_count);
  finding.at = calloc(trace->stream_count + 1, sizeof *finding.at);
  finding.packets = calloc(trace->stream_count + 1, sizeof *finding.packets);
  finding.is_lost = calloc(trace->stream_count + 1, sizeof *finding.is_lost);
  finding.list = calloc(1, sizeof *finding.list);
  finding.capacity = 1;
  if (!finding.lookahead || !finding.at || !finding.packets || !finding.is_lost || !finding.list)
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  else
    status = find_segments(&finding, trace, error);
  kymo_lookahead_free(finding.lookahead);
  free(finding.at);
  free(finding.is_lost);
  free(finding.packets);
  if (status != KYMO_OK) {
    free(finding.list);
    return status;
  }
  trace->segments = finding.list;
  *count = trace->segment_count = finding.count;
  return KYMO_OK;
}

const struct kymo_segment *kymo_trace_segment(const struct kymo_trace *trace, size_t index) {
  return index < trace->segment_count ? &trace->segments[index] : NULL;
}

int kymo_trace_goto_segment(struct kymo_trace *trace, size_t index, const struct kymo_event **event,
                            struct kymo_error *error) {
  size_t count;
  int status = kymo_trace_count_segments(trace, &count, error);
  if (status == KYMO_OK && index >= count)
    status = kymo_fail(error, KYMO_E_UNKNOWN, "there are %zu segments", count);
  if (status != KYMO_OK) {
    if (event)
      *event = NULL;
    return status;
  }
  return kymo_trace_goto_event(trace, trace->segments[index].first, event, error);
}

/* ---- places in files ---- */

static uint64_t offset_of(const struct kymo_event *event) {
  return event->packet->offset + event->offset_bits / 8;
}

/* The number of the stream's first event at or after the place, from 1; 0: there is none. And its time. */
static int find_offset(struct kymo_trace *trace, struct stream_state *stream, uint64_t offset,
                       uint64_t *number, int64_t *time_ns, struct kymo_error *error) {
  struct kymo_trace *lookahead = kymo_lookahead_new(trace, &stream, 1);
  int status = lookahead ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  *number = 0;
  while (status == KYMO_OK && !*number) {
    status = kymo_trace_merge_batch(lookahead, error);
    for (uint32_t i = 0; status == KYMO_OK && i < lookahead->batch_count && !*number; i++)
      if (offset_of(lookahead->batch[i]) >= offset) {
        *number = lookahead->batch_begin + i + 1;
        *time_ns = kymo_place_ns(lookahead->batch[i]);
      }
  }
  kymo_lookahead_free(lookahead);
  return status == KYMO_END ? KYMO_OK : status;
}

int kymo_trace_goto_offset(struct kymo_trace *trace, const struct kymo_stream *stream, uint64_t offset,
                           const struct kymo_event **event, struct kymo_error *error) {
  struct stream_state *state = (struct stream_state *)(uintptr_t)stream;
  const struct kymo_event *at = NULL;
  uint64_t number = 0;
  int64_t time_ns = INT64_MIN;
  if (event)
    *event = NULL;
  int status = trace->follow ? kymo_fail(error, KYMO_E_USAGE, "a followed trace is read forward only")
                             : find_offset(trace, state, offset, &number, &time_ns, error);
  if (status != KYMO_OK)
    return status;
  bool has_order = kymo_trace_check_order(trace, NULL) == KYMO_OK;
  status = number && has_order ? kymo_trace_goto_time(trace, time_ns, error) : kymo_trace_rewind(trace);
  while (status == KYMO_OK && (status = kymo_trace_next(trace, &at, error)) == KYMO_OK)
    if (number && at->packet->stream == stream && offset_of(at) >= offset)
      break;
  if (status == KYMO_OK && event)
    *event = at;
  return status;
}
