/* SPDX-License-Identifier: MIT */
/*
 * Counting events by their classes: nothing is merged, and no event is made. Most events are counted in
 * lanes, for several streams at a time (decode/ahead.h); lookahead finds the others, and all damage.
 */
#include "base/fail.h"
#include "base/guard.h"
#include "decode/ahead.h"
#include "trace/trace.h"
#include <stdlib.h>
#include <string.h>

bool kymo_trace_can_count(const struct kymo_trace *trace) {
  return !trace->is_merging && !trace->filter && !trace->follow && !trace->wants_times &&
         !trace->stops_at_damage && trace->begin_ns == INT64_MIN && trace->end_ns == INT64_MAX &&
         trace->slice_end_ns == INT64_MAX;
}

static void count_found(const struct kymo_decoder *decoder, uint64_t *counts) {
  const struct kymo_event_plan *plans = decoder->plan->events;
  counts += decoder->first_kind;
  for (uint32_t i = 0; i < decoder->event_count; i++)
    counts[plans[decoder->found[i].index].kind]++;
}

/* Counts the next events of a stream that lookahead finds; its phase is DONE if there are none. */
static int count_next(struct stream_state *stream, uint64_t *counts, struct kymo_error *error) {
  int status = kymo_stream_advance(stream, error);
  while (status >= 0 && stream->phase == STREAM_NOTICE)
    status = kymo_stream_pass_notice(stream, error);
  if (status >= 0 && stream->phase == STREAM_EVENT)
    count_found(&stream->decoder, counts);
  return status;
}

/* ---- several streams at a time ---- */

/* More gain nothing: the lanes then wait for memory alone. */
#define LANES 4

/* Streams that are counted in turn; each is within a packet. */
struct counting {
  const struct kymo_trace *trace;
  uint64_t *counts;
  /* By kind, for each lane: lanes in turn often count the same kind, and to add twice in a row to one number
   * takes as long as all else. */
  uint64_t *of_lanes[LANES];
  bool has_lanes; /* else each stream is read to its end, by lookahead alone */
  size_t next;    /* the first stream that was not begun */
  struct stream_state *streams[LANES];
  struct kymo_lane lanes[LANES];
  uint32_t lane_count;
};

/* Counts events of a stream until it has the lane. KYMO_END: it has no more; negative: failed. */
static int count_to_lane(struct counting *counting, struct stream_state *stream, uint32_t at,
                         struct kymo_error *error) {
  int status;
  while ((status = count_next(stream, counting->counts, error)) >= 0 && stream->phase == STREAM_EVENT)
    if (counting->has_lanes && !stream->part->has_window &&
        kymo_lane_begin(&counting->lanes[at], &stream->decoder,
                        counting->of_lanes[at] + stream->decoder.first_kind))
      return KYMO_OK;
  return status < 0 ? status : KYMO_END;
}

/* Takes streams until all lanes are in use. */
static int fill_lanes(struct counting *counting, struct kymo_error *error) {
  int status = KYMO_OK;
  while (status >= 0 && counting->lane_count < LANES && counting->next < counting->trace->stream_count) {
    struct stream_state *stream = counting->trace->streams[counting->next++];
    status = count_to_lane(counting, stream, counting->lane_count, error);
    if (status == KYMO_OK)
      counting->streams[counting->lane_count++] = stream;
  }
  return status;
}

/* Ends a lane, and begins the next one of its stream, if there is one. KYMO_E_ABSENT: lookahead would have
 * found damage that lanes do not see. */
static int renew_lane(struct counting *counting, uint32_t at, struct kymo_error *error) {
  struct stream_state *stream = counting->streams[at];
  if (!kymo_lane_end(&counting->lanes[at], &stream->decoder))
    return KYMO_E_ABSENT;
  int status = count_to_lane(counting, stream, at, error);
  if (status != KYMO_END)
    return status;
  uint32_t last = --counting->lane_count; /* moves here, with its counts */
  uint64_t *counts = counting->of_lanes[at];
  counting->lanes[at] = counting->lanes[last];
  counting->streams[at] = counting->streams[last];
  counting->of_lanes[at] = counting->of_lanes[last];
  counting->of_lanes[last] = counts;
  return KYMO_OK;
}

static int count_all(struct counting *counting, struct kymo_error *error) {
  uint64_t faults = kymo_guard_faults();
  int status = fill_lanes(counting, error);
  while (status >= 0 && counting->lane_count > 0) {
    status = renew_lane(counting, kymo_lanes_run(counting->lanes, counting->lane_count), error);
    if (counting->has_lanes && kymo_guard_faults() != faults)
      return KYMO_E_ABSENT;
    if (status >= 0)
      status = fill_lanes(counting, error);
  }
  return status < 0 ? status : KYMO_OK;
}

static void drop_unwanted(const struct kymo_trace *trace, uint64_t *counts) {
  for (size_t i = 0; i < trace->part_count; i++) {
    const struct kymo_schema_plan *plan = trace->parts[i]->plan;
    for (uint32_t j = 0; j < plan->schema->stream_count; j++)
      for (uint32_t k = 0; k < plan->schema->streams[j]->event_count; k++)
        if (plan->streams[j].events[k].is_unwanted)
          counts[trace->parts[i]->first_kind + plan->streams[j].events[k].kind] = 0;
  }
}

/* Counts with lanes; results as count_all. */
static int count_in_lanes(struct counting *counting, struct kymo_error *error) {
  size_t kinds = kymo_trace_class_count(counting->trace);
  uint64_t *memory = calloc(kinds * LANES + 1, sizeof *memory);
  if (!memory)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < LANES; i++)
    counting->of_lanes[i] = memory + i * kinds;
  int status = count_all(counting, error);
  for (size_t i = 0; i < kinds * LANES; i++)
    counting->counts[i % kinds] += memory[i];
  free(memory);
  return status;
}

int kymo_trace_count_classes(struct kymo_trace *trace, uint64_t *counts, struct kymo_error *error) {
  struct counting counting = {.trace = trace, .counts = counts, .has_lanes = true};
  struct kymo_losses losses = trace->losses;
  int status = count_in_lanes(&counting, error);
  if (status == KYMO_E_ABSENT) { /* again, without lanes */
    kymo_trace_rewind(trace);
    trace->losses = losses;
    memset(counts, 0, kymo_trace_class_count(trace) * sizeof *counts);
    counting = (struct counting){.trace = trace, .counts = counts};
    status = count_all(&counting, error);
  }
  if (trace->arena.failed && status >= 0) /* what was found so far may be incomplete */
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  drop_unwanted(trace, counts);
  kymo_trace_rewind(trace);
  return status < 0 ? status : KYMO_OK;
}
