/* SPDX-License-Identifier: MIT */
/*
 * Seeks by time, and the range of times.
 *
 *   packets   ├──0──┤  ├──1──┤├──2──┤     ├──3──┤        by their begin times
 *   goto                    t                             begins to read at 1: the last that begins before t
 *
 * No event before packet 1 is later than its begin, so none is missed; events before t in it are dropped. The
 * end times are not used: some tracers write them too early. Only begin times must be right and in order, and
 * contain the whole clock: else the stream is stepped over from its start. Formats with a better way to find
 * a time are used.
 */
#include "base/fail.h"
#include "base/search.h"
#include "source/prefilter.h"
#include "trace/index_file.h"
#include "trace/pass.h"
#include "trace/lookahead.h"
#include "decode/step.h"

/* The packet to begin at. */
struct landing {
  bool is_found;
  struct kymo_position position;
  const struct kymo_stream_class *class_;
  uint64_t clock;
  bool has_end;
  bool has_previous;
  struct kymo_packet previous;
};

/* Whether the packet's head determines the stream's clock without earlier packets. */
static bool has_whole_time(const struct kymo_pass *pass) {
  return pass->ns.clock && pass->head.packet.has_begin && pass->head.begin_bits >= 64;
}

/* Whether the packet at the entry's place matches the index. */
static bool is_true(const struct kymo_index *index, uint32_t entry, const struct kymo_pass *pass) {
  struct kymo_position position = kymo_index_position(index, entry);
  return pass->is_at && pass->position.file == position.file && pass->position.offset == position.offset &&
         pass->head.clock == index->entries[entry].clock;
}

/* Adds a packet to the index. A packet that is incomplete may grow. */
static void note(struct kymo_index *index, const struct kymo_pass *pass) {
  const struct kymo_packet *packet = &pass->head.packet;
  if (!has_whole_time(pass))
    index->is_useless = true;
  else if (!pass->head.is_cut)
    kymo_index_add(index, pass->position, pass->head.clock);
  if (packet->has_end && packet->end_cycles > index->end_cycles)
    index->end_cycles = packet->end_cycles;
}

/* Looks for the last packet that begins before the time, and extends the index on the way. */
static struct landing search(struct kymo_pass *pass, struct kymo_index *index, int64_t time_ns) {
  struct landing landing = {.is_found = false};
  uint32_t entry = kymo_index_find(index, &pass->ns, time_ns);
  if (entry > 0)
    kymo_pass_seek(pass, kymo_index_position(index, entry));
  for (bool is_known = index->count > 0; kymo_pass_next(pass); is_known = false) {
    if (is_known && !is_true(index, entry, pass)) {
      kymo_index_clear(index);
      return (struct landing){.is_found = false};
    }
    note(index, pass);
    if (index->is_useless)
      return (struct landing){.is_found = false};
    if (landing.is_found && kymo_ns_of(&pass->ns, pass->head.clock) >= time_ns)
      break;
    landing = (struct landing){.is_found = true,
                               .position = pass->position,
                               .class_ = pass->class_,
                               .clock = pass->head.clock,
                               .has_end = pass->head.packet.has_end,
                               .has_previous = pass->has_previous,
                               .previous = pass->previous};
  }
  return landing;
}

/* Finds where to begin, by a separate pass. No errors: unreadable data is reported when it is read. */
static int find_landing(struct stream_state *stream, int64_t time_ns, struct landing *landing) {
  struct kymo_pass pass;
  *landing = (struct landing){.is_found = false};
  bool was_empty;
  do {
    was_empty = stream->index.count == 0;
    if (!stream->operations->seek || stream->index.is_useless)
      return KYMO_OK;
    int status = kymo_pass_begin(&pass, &stream->decoder.stream, NULL);
    if (status != KYMO_OK)
      return status == KYMO_E_MEMORY ? status : KYMO_OK;
    kymo_pass_glance(&pass);
    *landing = search(&pass, &stream->index, time_ns);
    kymo_pass_end(&pass);
  } while (!landing->is_found && !was_empty &&
           stream->index.count == 0); /* the index was about other files */
  return KYMO_OK;
}

/* Moves the stream before the packet, in the state that reading would have there. */
static int land(struct stream_state *stream, const struct landing *landing, struct kymo_error *error) {
  int status = stream->operations->begin(&stream->cursor, stream->source, error);
  if (status != KYMO_OK)
    return status;
  stream->operations->seek(stream->cursor, landing->position.file, landing->position.offset);
  stream->has_previous = landing->has_previous;
  stream->previous = landing->previous;
  stream->decoder.clock = landing->clock;
  return KYMO_OK;
}

/* The format finds the place, and its cursor knows the skipped part. */
static int seek_time(struct stream_state *stream, int64_t time_ns, struct kymo_error *error) {
  struct kymo_cursor *cursor = stream->cursor;
  stream->cursor = NULL;
  kymo_stream_restart(stream, time_ns);
  stream->cursor = cursor;
  int status = cursor ? KYMO_OK : kymo_stream_begin(stream, error);
  if (status == KYMO_OK && stream->cursor)
    stream->operations->seek_time(stream->cursor, &stream->decoder.ns, time_ns);
  return status;
}

/* The begin of a slice: the index alone decides, since a wrong place is noticed (slice.h); and the cursor
 * stays, with what it has mapped. For many streams this is several times as fast. */
static int goto_entry(struct stream_state *stream, int64_t time_ns, struct kymo_error *error) {
  const struct kymo_index *index = &stream->index;
  struct kymo_cursor *cursor = stream->cursor;
  uint32_t before =
      KYMO_COUNT_BEFORE(index->count, i, kymo_ns_of(&stream->decoder.ns, index->entries[i].clock) < time_ns);
  stream->cursor = NULL;
  kymo_stream_restart(stream, time_ns);
  stream->cursor = cursor;
  int status = cursor ? KYMO_OK : kymo_stream_begin(stream, error);
  if (status != KYMO_OK || !stream->cursor || index->count == 0)
    return status;
  struct kymo_position position = kymo_index_position(index, before ? before - 1 : 0);
  stream->operations->seek(stream->cursor, position.file, position.offset);
  stream->decoder.clock = index->entries[before ? before - 1 : 0].clock;
  return KYMO_OK;
}

static int goto_time(struct stream_state *stream, int64_t time_ns, struct kymo_error *error) {
  struct landing landing;
  if (stream->trace->begins_slice && stream->index.stride_bits < 2)
    return goto_entry(stream, time_ns, error);
  if (stream->operations->seek_time && stream->decoder.ns.clock)
    return seek_time(stream, time_ns, error);
  kymo_stream_restart(stream, time_ns);
  int status = find_landing(stream, time_ns, &landing);
  if (status == KYMO_OK && landing.is_found)
    status = land(stream, &landing, error);
  return status == KYMO_E_MEMORY ? kymo_fail(error, status, "out of memory") : KYMO_OK;
}

/* The number of events before the time, if it is known on the way there. */
static uint64_t number_at(const struct kymo_trace *trace, int64_t time_ns) {
  bool has_times = false;
  for (size_t i = 0; i < trace->stream_count; i++) {
    const struct stream_state *stream = trace->streams[i];
    has_times |= !stream->decoder.stream.class_ || stream->decoder.stream.class_->clock;
  }
  return has_times && time_ns != INT64_MIN ? KYMO_NUMBER_LANDED : 0;
}

int kymo_trace_goto_time(struct kymo_trace *trace, int64_t time_ns, struct kymo_error *error) {
  kymo_trace_drop_prefilters(trace);
  int status = kymo_trace_drop_batch(trace, number_at(trace, time_ns), error);
  if (status != KYMO_OK)
    return status;
  kymo_checkpoint_clear(trace);
  trace->landed_ns = time_ns;
  trace->landed_number = trace->number;
  trace->has_jumped = true;
  trace->begin_ns = time_ns;
  kymo_index_load(trace);
  for (size_t i = 0; i < trace->stream_count; i++) {
    status = goto_time(trace->streams[i], time_ns, error);
    if (status != KYMO_OK)
      return status;
  }
  kymo_index_keep(trace);
  return KYMO_OK;
}

/* ---- range ---- */

struct range {
  bool is_known;
  int64_t begin_ns, end_ns;
};

static void widen(struct range *range, int64_t time_ns) {
  range->begin_ns = !range->is_known || time_ns < range->begin_ns ? time_ns : range->begin_ns;
  range->end_ns = !range->is_known || time_ns > range->end_ns ? time_ns : range->end_ns;
  range->is_known = true;
}

/* Steps over the events of a stream from its cursor on. */
static int widen_by_events(struct range *range, struct stream_state *stream, struct kymo_error *error) {
  int status = KYMO_OK;
  while (status == KYMO_OK && stream->phase != STREAM_DONE && stream->phase != STREAM_WAITING) {
    status = kymo_stream_advance(stream, error);
    stream->notice_count = stream->notice_next = 0;
    for (uint32_t i = 0; status == KYMO_OK && stream->phase == STREAM_EVENT && stream->decoder.ns.clock &&
                         i < stream->decoder.event_count;
         i++)
      if (stream->decoder.found[i].has_time)
        widen(range, stream->decoder.found[i].time_ns);
  }
  return status;
}

/* The same with a second reader of the stream, which moves nothing and lists no damage. */
static int step_over(struct range *range, const struct stream_state *stream, const struct landing *landing,
                     struct kymo_error *error) {
  struct stream_state *one = (struct stream_state *)(uintptr_t)stream;
  struct kymo_trace *lookahead = kymo_lookahead_new(stream->trace, &one, 1);
  int status = lookahead ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK && landing)
    status = land(lookahead->streams[0], landing, error);
  if (status == KYMO_OK)
    status = widen_by_events(range, lookahead->streams[0], error);
  kymo_lookahead_free(lookahead);
  return status;
}

/* By headers, as far as possible: the last packet may not be closed. */
static int widen_by_stream(struct range *range, struct stream_state *stream, struct kymo_error *error) {
  struct landing last;
  struct kymo_ns ns;
  int status = find_landing(stream, INT64_MAX, &last);
  if (status != KYMO_OK)
    return status;
  if (!last.is_found)
    return step_over(range, stream, NULL, error);
  const struct kymo_index *index = &stream->index;
  kymo_decoder_clock(&stream->decoder, last.class_, &ns);
  widen(range, kymo_ns_of(&ns, index->count ? index->entries[0].clock : last.clock));
  widen(range, kymo_ns_of(&ns, last.clock));
  if (index->end_cycles)
    widen(range, kymo_ns_of(&ns, index->end_cycles));
  return last.has_end ? KYMO_OK : step_over(range, stream, &last, error);
}

int kymo_trace_range(struct kymo_trace *trace, int64_t *begin_ns, int64_t *end_ns, struct kymo_error *error) {
  struct range range = {.is_known = false};
  kymo_index_load(trace);
  for (size_t i = 0; i < trace->stream_count; i++) {
    int status = widen_by_stream(&range, trace->streams[i], error);
    if (status == KYMO_E_MEMORY)
      return kymo_fail(error, status, "out of memory");
  }
  kymo_index_keep(trace);
  if (!range.is_known)
    return kymo_fail(error, KYMO_E_ABSENT, "nothing in the trace has a time");
  *begin_ns = range.begin_ns;
  *end_ns = range.end_ns;
  return KYMO_OK;
}
