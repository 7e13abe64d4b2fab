/* SPDX-License-Identifier: MIT */
/* Stores and delivers notices. */
#include "trace/notice.h"
#include "base/sized.h"
#include "decode/ahead.h"

static struct stream_notice *new_notice(struct stream_state *stream) {
  struct stream_notice *notice = &stream->notices[stream->notice_count++];
  *notice = (struct stream_notice){.time_ns = INT64_MIN};
  return notice;
}

/* Whether something that ends at this clock value is wholly before the time of the seek. */
static bool is_early(struct stream_state *stream, uint64_t end_cycles) {
  return stream->decoder.ns.clock && stream->begin_ns != INT64_MIN &&
         kymo_ns_of(&stream->decoder.ns, end_cycles) < stream->begin_ns;
}

/* As in babeltrace2's trimmer: if a loss extends beyond the wanted times, the number of lost events inside is
 * unknown. */
static void trim_loss(struct kymo_loss *loss, int64_t begin_ns, int64_t end_ns) {
  if (loss->begin_ns < begin_ns) {
    loss->begin_ns = begin_ns;
    loss->count_known = false;
  }
  if (loss->end_ns > end_ns) {
    loss->end_ns = end_ns;
    loss->count_known = false;
  }
}

/* Whether the times of a loss are outside the window of the part. */
static bool is_outside(const struct part_state *part, const struct kymo_loss *loss) {
  return part->has_window && (loss->end_ns < part->window_begin_ns || loss->begin_ns > part->window_end_ns);
}

void kymo_note_loss(struct stream_state *stream, const struct kymo_loss *loss) {
  if (is_early(stream, loss->has_times ? loss->end_cycles : stream->decoder.clock))
    return;
  struct stream_notice *notice = new_notice(stream);
  notice->is_loss = true;
  notice->loss = *loss;
  notice->loss.stream = &stream->decoder.stream;
  notice->has_time = notice->loss.has_times = loss->has_times && stream->decoder.ns.clock;
  if (!notice->has_time)
    return;
  notice->loss.begin_ns = kymo_ns_of(&stream->decoder.ns, loss->begin_cycles);
  notice->loss.end_ns = kymo_ns_of(&stream->decoder.ns, loss->end_cycles);
  if (is_outside(stream->part, &notice->loss)) {
    stream->notice_count--;
    return;
  }
  if (stream->trace->options.as_babeltrace2)
    trim_loss(&notice->loss, stream->trace->begins_slice ? INT64_MIN : stream->begin_ns,
              stream->trace->end_ns);
  if (stream->trace->options.as_babeltrace2 && stream->part->has_window)
    trim_loss(&notice->loss, stream->part->window_begin_ns, stream->part->window_end_ns);
  notice->time_ns = notice->loss.begin_ns;
}

static struct stream_notice *note_boundary(struct stream_state *stream, enum kymo_boundary_kind kind) {
  struct stream_notice *notice = new_notice(stream);
  notice->boundary =
      (struct kymo_boundary){.kind = kind, .stream = &stream->decoder.stream, .time_ns = INT64_MIN};
  return notice;
}

void kymo_note_stream_begin(struct stream_state *stream) {
  if (!stream->trace->boundary_handler || stream->is_begun)
    return;
  stream->is_begun = true;
  note_boundary(stream, KYMO_BOUNDARY_STREAM_BEGIN);
}

void kymo_note_stream_end(struct stream_state *stream) {
  if (!stream->is_begun || stream->is_ended)
    return;
  stream->is_ended = true;
  note_boundary(stream, KYMO_BOUNDARY_STREAM_END);
}

static void note_packet_boundary(struct stream_state *stream, enum kymo_boundary_kind kind, bool has_time,
                                 uint64_t cycles) {
  struct stream_notice *notice = note_boundary(stream, kind);
  notice->boundary.place = &stream->place;
  notice->boundary.cycles = cycles;
  notice->has_time = notice->boundary.has_time = has_time && stream->decoder.ns.clock;
  if (notice->has_time)
    notice->time_ns = notice->boundary.time_ns = kymo_ns_of(&stream->decoder.ns, cycles);
}

void kymo_note_packet_begin(struct stream_state *stream) {
  const struct kymo_packet *packet = &stream->decoder.packet;
  stream->is_reported = stream->is_begun && !(packet->has_end && is_early(stream, packet->end_cycles));
  if (!stream->is_reported)
    return;
  uint64_t begin = packet->begin_cycles;
  if (stream->part->quirks & KYMO_QUIRK_BEGIN_LATE) {
    stream->is_ahead = kymo_look_ahead(&stream->decoder) == KYMO_STEP_EVENT;
    if (stream->is_ahead && stream->decoder.found[0].cycles < begin)
      begin = stream->decoder.found[0].cycles;
  }
  note_packet_boundary(stream, KYMO_BOUNDARY_PACKET_BEGIN, packet->has_begin, begin);
}

void kymo_note_packet_end(struct stream_state *stream) {
  if (stream->is_reported)
    note_packet_boundary(stream, KYMO_BOUNDARY_PACKET_END, stream->has_end_time, stream->decoder.clock);
}

bool kymo_notice_is_due(const struct stream_state *stream) {
  if (stream->notice_next == stream->notice_count)
    return false;
  const struct stream_notice *notice = &stream->notices[stream->notice_next];
  bool begins = !notice->is_loss && notice->boundary.kind == KYMO_BOUNDARY_STREAM_BEGIN;
  return !notice->has_time && !begins;
}

static void count_loss(struct kymo_trace *trace, const struct kymo_loss *loss) {
  if (!loss->count_known)
    trace->losses.unknown++;
  else if (loss->is_packets)
    trace->losses.packets += loss->count;
  else
    trace->losses.events += loss->count;
}

void kymo_trace_losses_(const struct kymo_trace *trace, struct kymo_losses *losses, size_t size) {
  kymo_sized_out(losses, size, &trace->losses, sizeof trace->losses);
}

void kymo_notice_give(struct stream_state *stream) {
  struct kymo_trace *trace = stream->trace;
  const struct stream_notice *notice = &stream->notices[stream->notice_next++];
  if (notice->is_loss && !trace->is_quiet)
    count_loss(trace, &notice->loss);
  if (notice->is_loss && trace->loss_handler)
    trace->loss_handler(trace->loss_user, &notice->loss);
  else if (!notice->is_loss && trace->boundary_handler)
    trace->boundary_handler(trace->boundary_user, &notice->boundary);
  if (stream->notice_next == stream->notice_count)
    stream->notice_next = stream->notice_count = 0;
}
