/* SPDX-License-Identifier: MIT */
#include "trace/slice.h"
#include "base/fail.h"
#include "trace/lookahead.h"
#include <stdlib.h>
#include <string.h>

/* ---- planning ---- */

/* Why the stream cannot be cut, or NULL. Only of files that do not change the same is read a second time. */
static const char *refuse_stream(const struct stream_state *stream) {
  const struct kymo_source_operations *operations = stream->operations;
  const struct kymo_stream_class *class_ = stream->decoder.stream.class_;
  if (strcmp(stream->decoder.stream.part->format, "ctf") != 0 || !operations->seek || operations->seek_time)
    return "its format has no packets that are independent of each other";
  if (!class_ || !class_->clock || stream->part->plan->streams[class_->index].has_timed)
    return "some events have no time";
  if (stream->part->has_window)
    return "only a part of each trace is wanted";
  return NULL;
}

static const char *refuse(const struct kymo_trace *trace) {
  const char *reason = trace->stream_count ? NULL : "it has no streams";
  if (trace->follow || trace->options.unmerged)
    return "its events are not merged, or it is followed";
  for (size_t i = 0; i < trace->stream_count && !reason; i++) {
    const struct kymo_stream_class *first = trace->streams[0]->decoder.stream.class_;
    reason = refuse_stream(trace->streams[i]);
    if (!reason &&
        trace->streams[i]->decoder.stream.class_->clock->origin_is_epoch != first->clock->origin_is_epoch)
      reason = "its clocks differ";
  }
  return reason;
}

/* Where a packet, or several, begin or the last ones of a stream end. Their bytes are spread over their
 * time: what one reads between two points is `rate` bytes for each nanosecond. */
struct kymo_slice_point {
  int64_t time_ns;
  double rate;    /* by how much the rate changes */
  uint64_t bytes; /* of packets that take no time */
};

static uint64_t entry_bytes(const struct kymo_index *index, uint32_t entry) {
  struct kymo_position from = kymo_index_position(index, entry);
  bool is_last = entry + 1 == index->count;
  struct kymo_position to = is_last ? from : kymo_index_position(index, entry + 1);
  if (to.file == from.file && to.offset > from.offset)
    return to.offset - from.offset;
  return entry > 0 ? entry_bytes(index, entry - 1) : 1; /* about */
}

static int compare_points(const void *a, const void *b) {
  int64_t left = ((const struct kymo_slice_point *)a)->time_ns,
          right = ((const struct kymo_slice_point *)b)->time_ns;
  return (left > right) - (left < right);
}

static bool is_wanted(const struct kymo_trace *trace, int64_t time_ns) {
  return time_ns >= trace->begin_ns && time_ns <= trace->end_ns;
}

/* By whole numbers: doubles of times since 1970 are 256 ns apart. */
static double duration_of(int64_t begin_ns, int64_t end_ns) {
  return (double)((uint64_t)end_ns - (uint64_t)begin_ns);
}

/* The last packet without an end takes no time. */
static int64_t find_entry_end(const struct kymo_index *index, uint32_t entry, struct kymo_ns *ns) {
  if (entry + 1 < index->count)
    return kymo_ns_of(ns, index->entries[entry + 1].clock);
  return kymo_ns_of(ns, index->end_cycles ? index->end_cycles : index->entries[entry].clock);
}

/* The begins of all entries of the index, and the end of the last one. */
static void add_points(struct kymo_slices *slices, const struct kymo_trace *trace,
                       const struct stream_state *stream) {
  const struct kymo_index *index = &stream->index;
  struct kymo_ns ns;
  double rate = 0;
  kymo_decoder_clock(&stream->decoder, stream->decoder.stream.class_, &ns);
  for (uint32_t k = 0; k < index->count; k++) {
    int64_t begin_ns = kymo_ns_of(&ns, index->entries[k].clock), end_ns = find_entry_end(index, k, &ns);
    uint64_t bytes = entry_bytes(index, k);
    double own = end_ns > begin_ns ? (double)bytes / duration_of(begin_ns, end_ns) : 0;
    slices->points[slices->point_count++] =
        (struct kymo_slice_point){begin_ns, own - rate, end_ns > begin_ns ? 0 : bytes};
    slices->bytes += is_wanted(trace, begin_ns) ? bytes : 0;
    rate = own;
    if (k + 1 == index->count)
      slices->points[slices->point_count++] = (struct kymo_slice_point){end_ns, -rate, 0};
  }
}

int kymo_slices_find(struct kymo_slices *slices, struct kymo_trace *trace, struct kymo_error *error) {
  int64_t begin_ns, end_ns;
  size_t capacity = 1;
  *slices = (struct kymo_slices){.reason = refuse(trace)};
  if (slices->reason)
    return KYMO_OK;
  if (kymo_trace_range(trace, &begin_ns, &end_ns, error) == KYMO_E_MEMORY) /* completes the indexes */
    return KYMO_E_MEMORY;
  for (size_t i = 0; i < trace->stream_count; i++) {
    if (trace->streams[i]->index.is_useless)
      slices->reason = "heads of packets lack times, or are not in their order";
    capacity += trace->streams[i]->index.count + 1;
  }
  if (slices->reason)
    return KYMO_OK;
  slices->points = calloc(capacity, sizeof *slices->points);
  slices->cuts_ns = calloc(capacity, sizeof *slices->cuts_ns);
  if (!slices->points || !slices->cuts_ns)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < trace->stream_count; i++)
    add_points(slices, trace, trace->streams[i]);
  qsort(slices->points, slices->point_count, sizeof *slices->points, compare_points);
  slices->count = 1;
  return KYMO_OK;
}

void kymo_slices_cut(struct kymo_slices *slices, const struct kymo_trace *trace, uint64_t slice_bytes) {
  const struct kymo_slice_point *points = slices->points;
  double since = 0, rate = 0;
  slices->count = slices->count ? 1 : 0;
  for (size_t i = 0; i < slices->point_count; i++) {
    int64_t time_ns = points[i].time_ns;
    int64_t last_ns = slices->count > 1 ? slices->cuts_ns[slices->count - 2] : points[0].time_ns;
    if (i > 0 && is_wanted(trace, points[i - 1].time_ns))
      since += rate * duration_of(points[i - 1].time_ns, time_ns);
    rate += points[i].rate;
    if (!is_wanted(trace, time_ns))
      continue;
    if (since >= (double)slice_bytes && time_ns > last_ns && time_ns > trace->begin_ns &&
        time_ns < points[slices->point_count - 1].time_ns) {
      slices->cuts_ns[slices->count++ - 1] = time_ns;
      since = 0;
    }
    since += (double)points[i].bytes;
  }
}

void kymo_slices_free(struct kymo_slices *slices) {
  free(slices->points);
  free(slices->cuts_ns);
  *slices = (struct kymo_slices){.count = 0};
}

/* ---- reading ---- */

/* Passes the notices before the cut, as the slice before has done. Streams that have found a notice after
 * it do not drop what follows. */
static int pass_notices(struct kymo_trace *trace, int64_t cut_ns, struct kymo_error *error) {
  trace->slice_end_ns = cut_ns - 1;
  int status = kymo_trace_merge_batch(trace, error);
  if (status == KYMO_OK || status == KYMO_AGAIN)
    return kymo_fail(error, KYMO_E_FORMAT, "the packets do not begin with their first events");
  for (size_t i = 0; i < trace->stream_count && status == KYMO_END; i++)
    if (trace->streams[i]->phase == STREAM_NOTICE)
      trace->streams[i]->begin_ns = INT64_MIN;
  return status == KYMO_END ? KYMO_OK : status;
}

int kymo_slice_begin(struct kymo_trace *trace, int64_t cut_ns, int64_t end_ns, struct kymo_error *error) {
  int status = KYMO_OK;
  if (cut_ns != INT64_MIN) {
    kymo_loss_handler *loss_handler = trace->loss_handler;
    trace->loss_handler = NULL;
    trace->is_quiet = trace->begins_slice = true;
    trace->slice_end_ns = INT64_MAX;
    status = kymo_trace_goto_time(trace, cut_ns, error);
    if (status == KYMO_OK)
      status = pass_notices(trace, cut_ns, error);
    trace->is_quiet = trace->begins_slice = false;
    trace->loss_handler = loss_handler;
  }
  trace->slice_end_ns = end_ns == INT64_MAX ? end_ns : end_ns - 1;
  return status;
}

/* What distinguishes places of a stream. */
struct stream_place {
  uint64_t rank, phase, file, packet, offset_bits, cycles;
  uint64_t notice_next, notice_count, is_packets, count_known, count;
  int64_t notice_ns, begin_ns, end_ns;
};

/* Where the stream goes on; false: nowhere yet. */
static bool find_place(const struct kymo_trace *trace, const struct stream_state *stream,
                       struct stream_place *place) {
  *place = (struct stream_place){.rank = stream->rank, .phase = stream->phase};
  if (stream->phase == STREAM_DONE)
    return true;
  if (stream->phase != STREAM_EVENT && stream->phase != STREAM_NOTICE)
    return false;
  place->file = stream->file;
  place->packet = stream->decoder.packet.offset;
  if (stream->phase == STREAM_EVENT) {
    const struct merge_cursor *cursor = &trace->cursors[stream->rank];
    if (cursor->next == cursor->end)
      return false;
    place->offset_bits = cursor->next->offset_bits;
    place->cycles = cursor->next->cycles;
    return true;
  }
  const struct stream_notice *notice = &stream->notices[stream->notice_next];
  place->notice_next = stream->notice_next;
  place->notice_count = stream->notice_count;
  place->notice_ns = notice->time_ns;
  place->is_packets = notice->loss.is_packets;
  place->count_known = notice->loss.count_known;
  place->count = notice->loss.count;
  place->begin_ns = notice->loss.begin_ns;
  place->end_ns = notice->loss.end_ns;
  return notice->is_loss;
}

bool kymo_slice_seam(const struct kymo_trace *trace, struct kymo_seam *seam) {
  bool is_known = trace->is_merging;
  *seam = (struct kymo_seam){.hash = {0, 0}};
  for (size_t i = 0; i < trace->stream_count && is_known; i++) {
    struct stream_place place;
    is_known = find_place(trace, trace->streams[i], &place);
    struct kymo_hash128 hash = kymo_hash128(&place, sizeof place, seam->hash.low);
    seam->hash = (struct kymo_hash128){seam->hash.high * 31 + hash.high, hash.low};
  }
  return is_known;
}

void kymo_trace_add_losses(struct kymo_trace *trace, const struct kymo_losses *losses) {
  trace->losses.events += losses->events;
  trace->losses.packets += losses->packets;
  trace->losses.unknown += losses->unknown;
}

/* ---- one event ---- */

static struct stream_state *find_stream(const struct kymo_trace *trace, uint32_t number) {
  for (size_t i = 0; i < trace->stream_count; i++)
    if (trace->streams[i]->decoder.stream.number == number)
      return trace->streams[i];
  return NULL;
}

/* Looks for the event in the packet that the stream is before. */
static const struct kymo_found *find_event(struct stream_state *stream,
                                           const struct kymo_slice_place *place) {
  while (kymo_stream_advance(stream, NULL) == KYMO_OK && stream->phase != STREAM_DONE) {
    while (stream->phase == STREAM_NOTICE)
      if (kymo_stream_pass_notice(stream, NULL) != KYMO_OK)
        return NULL;
    if (stream->phase != STREAM_EVENT || stream->decoder.packet.offset != place->packet.offset)
      return NULL;
    for (uint32_t i = 0; i < stream->decoder.event_count; i++)
      if (stream->decoder.found[i].offset_bits == place->offset_bits)
        return &stream->decoder.found[i];
  }
  return NULL;
}

int kymo_slice_read(struct kymo_trace *trace, const struct kymo_slice_place *place,
                    struct kymo_trace **reader, const struct kymo_event **event, struct kymo_error *error) {
  struct stream_state *stream = find_stream(trace, place->stream);
  *event = NULL;
  *reader = stream ? kymo_lookahead_new(trace, &stream, 1) : NULL;
  if (!*reader)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  struct stream_state *twin = (*reader)->streams[0];
  int status = kymo_stream_begin(twin, error);
  if (status != KYMO_OK)
    return status;
  if (twin->cursor)
    twin->operations->seek(twin->cursor, place->packet.file, place->packet.offset);
  const struct kymo_found *found = twin->cursor ? find_event(twin, place) : NULL;
  struct kymo_event *own = found ? kymo_arena_alloc(&(*reader)->arena, sizeof *own) : NULL;
  if (!own)
    return found ? kymo_fail(error, KYMO_E_MEMORY, "out of memory")
                 : kymo_fail(error, KYMO_E_FORMAT, "the trace has changed");
  kymo_event_build(own, found, &twin->decoder.packet, twin->decoder.plan->events);
  own->number = 1; /* not that of the places that the decoder knows */
  *event = own;
  return KYMO_OK;
}
