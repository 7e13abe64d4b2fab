/* SPDX-License-Identifier: MIT */
/*
 * Moves by numbers: forward by merging on, backward by a checkpoint before the wanted event and merging on
 * from there (trace/checkpoint.h). Losses and damage on the way are not reported.
 *
 *   numbers      batch_begin                    batch_end
 *   batch             | 0 | 1 | 2 | 3 | 4 | 5 |                 within the batch, moves cost nothing
 *                                   ^ batch_next
 *
 * After kymo_trace_goto_time numbers are unknown. They count from KYMO_NUMBER_LANDED, forward and backward;
 * the real number of earlier events is computed on request (lookahead.c).
 */
#include "base/fail.h"
#include "base/sized.h"
#include "source/prefilter.h"
#include "trace/trace.h"

/* A move back goes this many events before the wanted one, since further moves back are likely. */
#define BACK_EVENTS 192
/* How far before the time of the seek to look for earlier events; further each time. */
#define EARLIER_NS INT64_C(1000000)
#define EARLIER_FACTOR 16

/* ---- passing over ---- */

/* State that is saved while events are passed over. */
struct quiet {
  kymo_loss_handler *loss_handler;
  kymo_boundary_handler *boundary_handler;
  bool is_selecting;
  int64_t end_ns;
};

static struct quiet begin_quiet(struct kymo_trace *trace) {
  struct quiet quiet = {trace->loss_handler, trace->boundary_handler, trace->is_selecting, trace->end_ns};
  trace->loss_handler = NULL;
  trace->is_quiet = true;
  trace->boundary_handler = NULL;
  trace->is_selecting = false;
  kymo_trace_set_end_time(trace, INT64_MAX);
  return quiet;
}

static void end_quiet(struct kymo_trace *trace, const struct quiet *quiet) {
  trace->loss_handler = quiet->loss_handler;
  trace->is_quiet = false;
  trace->boundary_handler = quiet->boundary_handler;
  trace->is_selecting = quiet->is_selecting;
  trace->end_ns = quiet->end_ns;
}

static uint64_t number_in_batch(const struct kymo_trace *trace, uint32_t index) {
  return trace->are_numbered ? trace->batch[index]->number : trace->batch_begin + index + 1;
}

/* Within the merged batch: after the event with this number. */
static void place(struct kymo_trace *trace, uint64_t number) {
  uint32_t next = 0;
  if (!trace->are_numbered)
    next = (uint32_t)(number - trace->batch_begin);
  while (trace->are_numbered && next < trace->batch_count && trace->batch[next]->number <= number)
    next++;
  trace->batch_next = next;
  trace->number = number;
}

/* Merges on until the event with this number is in the batch; KYMO_END if there is none. */
static int merge_to(struct kymo_trace *trace, uint64_t number, struct kymo_error *error) {
  int status = KYMO_OK;
  while (status == KYMO_OK && trace->batch_end < number)
    status = kymo_trace_merge_batch(trace, error);
  return status;
}

/* ---- relative numbers ---- */

static bool is_relative(const struct kymo_trace *trace) { return trace->number >= KYMO_NUMBER_RELATIVE; }

/* Merges on to the first event that is not before a time; *count becomes the number of earlier ones. */
static int count_to(struct kymo_trace *trace, int64_t time_ns, uint64_t *count, struct kymo_error *error) {
  uint64_t begin = trace->number;
  for (;;) {
    int status = kymo_trace_merge_batch(trace, error);
    *count = trace->batch_end - begin;
    if (status != KYMO_OK)
      return status == KYMO_END ? KYMO_OK : status;
    for (uint32_t i = 0; i < trace->batch_count; i++)
      if (kymo_place_ns(trace->batch[i]) >= time_ns) {
        *count = trace->batch_begin + i - begin;
        return KYMO_OK;
      }
  }
}

int kymo_trace_check_order(const struct kymo_trace *trace, struct kymo_error *error) {
  bool is_apart = trace->options.unmerged;
  for (size_t i = 0; i < trace->stream_count; i++) {
    const struct kymo_stream_class *class_ = trace->streams[i]->decoder.stream.class_;
    is_apart |= class_ && !class_->clock;
  }
  return is_apart ? kymo_fail(error, KYMO_E_ABSENT,
                              "after a seek by time, streams without times, or not merged, have no order")
                  : KYMO_OK;
}

/* Goes to an earlier time, so that there are events from there to the landing; numbers go on backward. From
 * the start on they are known: then *is_known is the number that was added to them. */
static int land_earlier(struct kymo_trace *trace, uint64_t number, uint64_t *excess,
                        struct kymo_error *error) {
  int64_t landed_ns = trace->landed_ns, distance_ns = EARLIER_NS, begin_ns;
  uint64_t landed = trace->landed_number, count = 0;
  int status = kymo_trace_check_order(trace, error);
  if (status != KYMO_OK)
    return status;
  do {
    if (distance_ns > INT64_MAX / EARLIER_FACTOR || __builtin_sub_overflow(landed_ns, distance_ns, &begin_ns))
      begin_ns = INT64_MIN;
    distance_ns *= begin_ns == INT64_MIN ? 1 : EARLIER_FACTOR;
    status = kymo_trace_goto_time(trace, begin_ns, error);
    if (status == KYMO_OK)
      status = count_to(trace, landed_ns, &count, error);
  } while (status == KYMO_OK && begin_ns != INT64_MIN && landed - count > number);
  if (status != KYMO_OK)
    return status;
  *excess = begin_ns == INT64_MIN ? landed - count : 0;
  if (*excess)
    return kymo_trace_rewind(trace), KYMO_OK;
  status = kymo_trace_goto_time(trace, begin_ns, error);
  kymo_trace_renumber(trace, landed - count);
  trace->landed_number = trace->number;
  return status;
}

/* ---- going ---- */

/* Goes to a place at or before `from`; the current position is used if it is not after `from`, and nothing is
 * nearer. */
static int go_before(struct kymo_trace *trace, uint64_t from, struct kymo_error *error) {
  const struct kymo_checkpoint *near = kymo_checkpoint_find(trace, from);
  uint64_t here =
      trace->are_numbered ? trace->batch_end : trace->batch_begin; /* some events of the batch may have
                                                                    * been left out */
  bool is_here = is_relative(trace) == (from >= KYMO_NUMBER_RELATIVE) && here <= from;
  if (is_here && (!near || near->number <= trace->batch_end))
    return KYMO_OK;
  if (near)
    return kymo_checkpoint_return(trace, near, error);
  kymo_trace_rewind(trace);
  return KYMO_OK;
}

/*
 * Goes after the event with this number, so that it is in the merged batch, and `back` events before it were
 * passed over. KYMO_END: there are fewer events.
 */
static int go(struct kymo_trace *trace, uint64_t number, uint64_t back, struct kymo_error *error) {
  struct quiet quiet = begin_quiet(trace);
  int status = KYMO_OK;
  uint64_t excess = 0;
  bool is_in_batch = !trace->are_numbered && number > trace->batch_begin && number <= trace->batch_end;
  if (number >= KYMO_NUMBER_RELATIVE && number <= trace->landed_number)
    status = land_earlier(trace, number - 1, &excess, error);
  if (excess && number < excess + 1) {
    end_quiet(trace, &quiet);
    return KYMO_OK; /* before the first */
  }
  number -= excess;
  uint64_t floor = number >= KYMO_NUMBER_RELATIVE ? trace->landed_number : 0;
  uint64_t from = number - floor > back + 1 ? number - 1 - back : floor;
  if (status == KYMO_OK && back)
    kymo_checkpoint_aim(trace, number);
  if (status == KYMO_OK && !is_in_batch)
    status = go_before(trace, from, error);
  if (status == KYMO_OK)
    status = merge_to(trace, number, error);
  kymo_checkpoint_aim(trace, 0);
  if (status == KYMO_OK)
    place(trace, number);
  end_quiet(trace, &quiet);
  if (status == KYMO_OK && trace->is_selecting)
    kymo_trace_select(trace);
  kymo_trace_set_end_time(trace, trace->end_ns);
  trace->is_at_end = status == KYMO_END;
  trace->is_moved = true;
  return status;
}

int kymo_trace_end_prefilters(struct kymo_trace *trace, struct kymo_error *error) {
  uint64_t number = trace->number;
  bool is_at_end = trace->is_at_end;
  if (!trace->is_prefiltered)
    return KYMO_OK;
  kymo_trace_drop_prefilters(trace);
  trace->may_prefilter = false;
  if (number == 0)
    return kymo_trace_rewind(trace);
  int status = kymo_trace_drop_batch(trace, number, error);
  if (status == KYMO_OK)
    status = go(trace, number, 0, error);
  trace->is_at_end = is_at_end;
  return status;
}

/* Makes the event before the next one of the batch the current one again. */
static void give(struct kymo_trace *trace, const struct kymo_event **event) {
  struct kymo_event *event_in_batch = trace->batch[trace->batch_next - 1];
  event_in_batch->number = number_in_batch(trace, trace->batch_next - 1);
  trace->number = event_in_batch->number;
  trace->is_moved = true;
  if (event)
    *event = event_in_batch;
}

static int refuse_if_followed(const struct kymo_trace *trace, struct kymo_error *error) {
  return trace->follow ? kymo_fail(error, KYMO_E_USAGE, "a followed trace is read forward only") : KYMO_OK;
}

static void clear(const struct kymo_event **event) {
  if (event)
    *event = NULL;
}

/* The event with this number, which is at least one ahead. */
static int goto_number(struct kymo_trace *trace, uint64_t number, uint64_t back,
                       const struct kymo_event **event, struct kymo_error *error) {
  int status = go(trace, number, back, error);
  if (status == KYMO_OK && trace->number == 0)
    return KYMO_END;
  if (status == KYMO_OK)
    give(trace, event);
  return status;
}

int kymo_trace_rewind(struct kymo_trace *trace) {
  int status = refuse_if_followed(trace, NULL);
  if (status != KYMO_OK)
    return status;
  kymo_trace_drop_prefilters(trace);
  kymo_trace_drop_batch(trace, 0, NULL);
  trace->has_jumped = trace->is_moved = true;
  trace->begin_ns = INT64_MIN;
  for (size_t i = 0; i < trace->stream_count; i++)
    kymo_stream_restart(trace->streams[i], INT64_MIN);
  return KYMO_OK;
}

int kymo_trace_goto_event(struct kymo_trace *trace, uint64_t number, const struct kymo_event **event,
                          struct kymo_error *error) {
  clear(event);
  int status = refuse_if_followed(trace, error);
  if (status != KYMO_OK || number == 0)
    return status == KYMO_OK ? kymo_trace_rewind(trace) : status;
  if (number >= KYMO_NUMBER_RELATIVE)
    return kymo_fail(error, KYMO_E_USAGE, "no trace has a record with this number");
  status = kymo_trace_end_prefilters(trace, error);
  return status != KYMO_OK ? status : goto_number(trace, number, 0, event, error);
}

/* One event back, wanted or not. */
static int step_back(struct kymo_trace *trace, const struct kymo_event **event, struct kymo_error *error) {
  if (trace->batch_next > 1 && !trace->is_at_end) {
    trace->batch_next--;
    give(trace, event);
    return KYMO_OK;
  }
  uint64_t number = trace->is_at_end        ? trace->number
                    : trace->batch_next > 0 ? trace->batch_begin
                                            : trace->number - 1;
  trace->is_at_end = false;
  if (number == 0 || trace->number == 0)
    return kymo_trace_rewind(trace), KYMO_END;
  return goto_number(trace, number, BACK_EVENTS, event, error);
}

int kymo_trace_previous(struct kymo_trace *trace, const struct kymo_event **event, struct kymo_error *error) {
  int status = refuse_if_followed(trace, error);
  *event = NULL;
  if (status == KYMO_OK)
    status = kymo_trace_end_prefilters(trace, error);
  if (status != KYMO_OK)
    return status;
  do
    status = step_back(trace, event, error);
  while (status == KYMO_OK && trace->is_selecting && kymo_event_is_unwanted(trace, *event));
  if (status == KYMO_OK)
    kymo_trace_set_end_time(trace, trace->end_ns); /* the next event was already requested */
  else
    *event = NULL;
  return status;
}

int kymo_trace_skip(struct kymo_trace *trace, int64_t count, const struct kymo_event **event,
                    struct kymo_error *error) {
  int status = kymo_trace_end_prefilters(trace, error);
  uint64_t at = trace->number + trace->is_at_end, back = count < 0 ? -(uint64_t)count : 0;
  clear(event);
  if (status != KYMO_OK)
    return status;
  if (count > 0)
    return goto_number(trace, trace->number + (uint64_t)count, 0, event, error);
  status = refuse_if_followed(trace, error);
  if (status != KYMO_OK)
    return status;
  if (back >= at && !is_relative(trace))
    return kymo_trace_rewind(trace), KYMO_END;
  return goto_number(trace, at - back, back < BACK_EVENTS ? BACK_EVENTS : 0, event, error);
}

static struct kymo_bookmark bookmark_of(const struct kymo_trace *trace) {
  struct kymo_bookmark here = {.number = is_relative(trace) ? 0 : trace->number, .time_ns = INT64_MIN};
  here.is_at_end = trace->is_at_end;
  if (trace->batch_next == 0 || trace->is_at_end)
    return here;
  const struct kymo_event *event = trace->batch[trace->batch_next - 1];
  here.stream = event->packet->stream;
  here.path = kymo_decoder_of(event)->path;
  here.offset = event->packet->offset + event->offset_bits / 8;
  here.time_ns = event->time_ns;
  return here;
}

void kymo_trace_tell_(const struct kymo_trace *trace, struct kymo_bookmark *bookmark, size_t size) {
  struct kymo_bookmark here = bookmark_of(trace);
  kymo_sized_out(bookmark, size, &here, sizeof here);
}
