/* SPDX-License-Identifier: MIT */
/*
 * One stream on its way from packet to packet:
 *
 *   NEW ─► open packet ─┬─ losses before it, its boundary ─► NOTICE ─► (handlers) ─┐
 *            ▲          └──────────────────────────────────────────────────────────┴─► EVENT, EVENT, … ─┐
 *            └── (NOTICE: its other boundary) ◄── end of content, or damage in it ◄──────────────────────┘
 *
 * Damage ends as little as possible: an invalid event ends its packet, after an invalid packet header reading
 * goes on at the next possible packet, and other streams go on.
 */
#include "base/fail.h"
#include "base/guard.h"
#include "decode/ahead.h"
#include "trace/follow.h"
#include "trace/notice.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void note_damage(struct stream_state *stream, uint64_t offset, uint64_t bytes_lost,
                        const char *message) {
  const char *path = stream->decoder.path;
  struct kymo_damage damage = {.path = path ? path : stream->decoder.stream.path,
                               .offset = offset,
                               .bytes_lost = bytes_lost,
                               .code = KYMO_E_FORMAT,
                               .message = message};
  kymo_trace_add_damage(stream->trace, &damage);
  stream->decoder.has_damage = true;
}

static void note_error(struct stream_state *stream, uint64_t bytes_lost, const struct kymo_error *error) {
  struct kymo_damage damage = {.path = error->file[0] ? error->file : stream->decoder.stream.path,
                               .offset = error->offset,
                               .bytes_lost = bytes_lost,
                               .code = error->code,
                               .message = error->message};
  kymo_trace_add_damage(stream->trace, &damage);
  stream->decoder.has_damage = true;
}

/* ---- packets ---- */

void kymo_stream_leave(struct stream_state *stream) {
  stream->previous = stream->decoder.packet;
  stream->has_previous = true;
  stream->in_packet = stream->is_through = false;
  stream->operations->skip(stream->cursor, stream->packet_bytes);
}

static void note_damaged_packet(struct stream_state *stream, bool is_decode_error) {
  char text[256];
  uint64_t begin = stream->decoder.packet.offset, lost_from = stream->decoder.next_bits / 8;
  uint64_t content_bytes = (stream->decoder.packet.content_bits + 7) / 8;
  uint64_t lost = content_bytes > lost_from ? content_bytes - lost_from : 0;
  if (stream->is_cut) {
    snprintf(text, sizeof text,
             "the packet at byte %" PRIu64 " has %" PRIu64 " bytes, the file ends after %" PRIu64, begin,
             stream->decoder.packet.size_bits / 8, stream->packet_bytes);
    note_damage(stream, begin + stream->packet_bytes, lost, text);
  } else if (is_decode_error) {
    kymo_decode_error_text(&stream->decoder.run, text, sizeof text);
    note_damage(stream, begin + stream->decoder.run.at / 8, lost, text);
  }
}

/* All its events were found. The packet's clock continues at its end time, if that is valid. */
static void end_packet(struct stream_state *stream, enum kymo_step step) {
  if (step != KYMO_STEP_END || stream->is_cut)
    note_damaged_packet(stream, step == KYMO_STEP_ERROR);
  if (stream->decoder.packet.has_end && stream->decoder.packet.end_cycles > stream->decoder.clock)
    stream->decoder.clock = stream->decoder.packet.end_cycles;
  stream->is_through = true;
  kymo_note_packet_end(stream);
}

bool kymo_packet_is_repeated(const struct stream_state *stream, const struct kymo_packet *previous,
                             const struct kymo_packet *packet) {
  return stream->may_repeat && previous && packet->sequence != UINT64_MAX &&
         previous->sequence != UINT64_MAX && packet->sequence <= previous->sequence;
}

/* The notices before the packet's events. */
static void note_packet(struct stream_state *stream, const struct kymo_packet_head *head) {
  struct kymo_loss losses[2];
  kymo_note_stream_begin(stream);
  unsigned count = kymo_packet_losses(stream->has_previous ? &stream->previous : NULL, head, losses);
  for (unsigned i = 0; i < count; i++)
    kymo_note_loss(stream, &losses[i]);
  kymo_note_packet_begin(stream);
}

static void enter_packet(struct stream_state *stream, const struct kymo_packet_head *head,
                         const struct kymo_chunk *chunk) {
  kymo_decoder_enter(&stream->decoder, head, chunk);
  stream->is_cut = head->is_cut;
  stream->in_packet = true;
  stream->ordinal++;
  if (stream->trace->follow)
    kymo_follow_enter_packet(stream);
  stream->has_end_time = head->has_end_time;
  note_packet(stream, head);
  stream->decoder.marks_segments = chunk->marks_segments;
  stream->decoder.begins_segment = chunk->begins_segment;
}

/* Moves after a packet whose head is invalid. */
static void skip_bad_packet(struct stream_state *stream, const struct kymo_chunk *chunk,
                            const struct kymo_packet_head *head, const struct kymo_error *why) {
  uint64_t size = kymo_packet_bad_bytes(stream->part->plan, chunk, head);
  note_error(stream, size, why);
  stream->operations->skip(stream->cursor, size);
}

void kymo_packet_repair(const struct part_state *part, struct kymo_packet_head *head) {
  struct kymo_packet *packet = &head->packet;
  head->has_end_time = packet->has_end;
  if ((part->quirks & KYMO_QUIRK_END_ZERO) && packet->has_begin && packet->begin_cycles != 0 &&
      head->is_end_zero)
    packet->has_end = false;
}

/* The packet is being written: its incomplete end is not damage. */
static bool is_coming(const struct stream_state *stream, const struct kymo_chunk *chunk, int status,
                      const struct kymo_packet_head *head) {
  if (!chunk->may_grow)
    return false;
  return status == KYMO_OK ? head->is_cut || (!head->has_size && !kymo_follow_is_stopping(stream->trace))
                           : head->is_short;
}

/* KYMO_OK: in a packet. KYMO_END, KYMO_AGAIN: there is none. */
static int open_packet(struct stream_state *stream) {
  for (;;) {
    struct kymo_error why = {.code = KYMO_OK, .offset = KYMO_ERROR_NO_OFFSET};
    struct kymo_packet_head head;
    struct kymo_chunk chunk = {0};
    int status = stream->operations->next(stream->cursor, &chunk, &why);
    if (status < 0) {
      note_error(stream, chunk.lost_bytes, &why);
      if (status == KYMO_E_MEMORY) /* there will be none the next time either */
        return KYMO_END;
      continue;
    }
    if (status != KYMO_OK)
      return status;
    stream->file = chunk.file;
    stream->entry_clock = stream->decoder.clock;
    status = kymo_decoder_read(&stream->decoder, &chunk, &head, &why);
    if (is_coming(stream, &chunk, status, &head))
      return kymo_follow_is_stopping(stream->trace) ? KYMO_END : KYMO_AGAIN;
    if (status != KYMO_OK) {
      skip_bad_packet(stream, &chunk, &head, &why);
      continue;
    }
    kymo_packet_repair(stream->part, &head);
    if (head.unseen_bytes) {
      stream->operations->want(stream->cursor, head.unseen_bytes);
      continue;
    }
    stream->packet_bytes = head.bytes;
    if (!kymo_packet_is_repeated(stream, stream->has_previous ? &stream->previous : NULL, &head.packet)) {
      enter_packet(stream, &head, &chunk);
      return KYMO_OK;
    }
    stream->operations->skip(stream->cursor, stream->packet_bytes);
  }
}

/* ---- formats with their own events ---- */

static bool enter_raw_event(struct stream_state *stream, const struct kymo_raw_event *raw) {
  const struct kymo_run *run = &stream->decoder.run;
  if (!kymo_decoder_enter_event(&stream->decoder, raw)) {
    char text[256];
    kymo_decode_error_text(run, text, sizeof text);
    note_damage(stream, raw->offset + run->at / 8, raw->size_bits / 8, text);
    return false;
  }
  stream->ordinal++;
  return true;
}

static int next_raw(struct stream_state *stream) {
  for (;;) {
    struct kymo_error why = {.code = KYMO_OK, .offset = KYMO_ERROR_NO_OFFSET};
    struct kymo_raw_event raw;
    int status = stream->operations->next_event(stream->cursor, &raw, &why);
    if (status < 0)
      note_error(stream, 0, &why);
    if (status == KYMO_E_FORMAT)
      continue;
    if (status != KYMO_OK)
      return status < 0 ? KYMO_END : status;
    if (enter_raw_event(stream, &raw)) {
      kymo_note_stream_begin(stream);
      return KYMO_OK;
    }
  }
}

/* ---- the way on ---- */

/* Much lookahead is efficient, since each one begins with data that is not in the caches of a core; but all
 * streams together should stay within the last cache. */
#define EVENTS_MAX 64
#define EVENTS_MIN 8
#define EVENTS_BYTES ((size_t)1 << 21)

int kymo_stream_prepare(struct stream_state *stream, struct kymo_error *error) {
  size_t streams = stream->trace->stream_count ? stream->trace->stream_count : 1;
  size_t events = EVENTS_BYTES / sizeof(struct kymo_found) / streams;
  events = events > EVENTS_MAX ? EVENTS_MAX : events < EVENTS_MIN ? EVENTS_MIN : events;
  stream->place = (struct kymo_event){.packet = &stream->decoder.packet, .time_ns = INT64_MIN};
  stream->begin_ns = INT64_MIN;
  kymo_index_begin(&stream->index, stream->trace->stream_count);
  return kymo_decoder_prepare(&stream->decoder, &stream->trace->arena, (uint32_t)events, error);
}

/* Stores the fields of the packet's head for its events. */
static void note_head_again(struct stream_state *stream) {
  struct kymo_decoder *decoder = &stream->decoder;
  struct kymo_chunk chunk = {.data = decoder->packet.data,
                             .size_bytes = stream->packet_bytes,
                             .path = decoder->path,
                             .offset = decoder->packet.offset};
  struct kymo_packet_head head;
  kymo_decoder_read(decoder, &chunk, &head, NULL);
}

int kymo_stream_renew(struct stream_state *stream, struct kymo_error *error) {
  struct kymo_decoder *decoder = &stream->decoder;
  const struct kymo_trace *trace = stream->trace;
  int status = kymo_decoder_renew(decoder, stream->part->plan, &stream->trace->arena, error);
  if (status != KYMO_OK || !decoder->stream.class_)
    return status;
  bool is_merged = trace->is_merging && stream->phase == STREAM_EVENT;
  if (stream->phase == STREAM_EVENT || stream->is_ahead) {
    kymo_decoder_return(decoder, is_merged ? trace->cursors[stream->rank].next : decoder->found);
    stream->is_ahead = false;
  }
  if (stream->phase == STREAM_EVENT)
    stream->phase = STREAM_WAITING;
  if (stream->in_packet)
    note_head_again(stream);
  return KYMO_OK;
}

static void end_stream(struct stream_state *stream) {
  stream->phase = STREAM_DONE;
  stream->operations->end(stream->cursor);
  stream->cursor = NULL;
}

/* Drops the events before the time of the seek; false if none is left. */
static bool drop_early(struct stream_state *stream) {
  struct kymo_decoder *decoder = &stream->decoder;
  uint32_t early = 0, count = decoder->event_count;
  if (KYMO_LIKELY(stream->begin_ns == INT64_MIN) || !decoder->ns.clock)
    return true;
  while (early < count && decoder->found[early].time_ns < stream->begin_ns)
    early++;
  if (early == count)
    return false;
  stream->begin_ns = INT64_MIN;
  kymo_decoder_keep(decoder, early, count - early);
  decoder->ahead.is_damaged = false;
  decoder->found[0].is_damaged = false;
  return true;
}

/* Drops the events outside the window of the part; false if none is left. */
static bool drop_outside(struct stream_state *stream) {
  struct kymo_decoder *decoder = &stream->decoder;
  const struct part_state *part = stream->part;
  uint32_t early = 0, end, count = decoder->event_count;
  if (KYMO_LIKELY(!part->has_window) || !decoder->ns.clock)
    return true;
  while (early < count && decoder->found[early].time_ns < part->window_begin_ns)
    early++;
  for (end = early; end < count && decoder->found[end].time_ns <= part->window_end_ns;)
    end++;
  if (end == early)
    return false;
  kymo_decoder_keep(decoder, early, end - early);
  return true;
}

/* An event of a class that is not described yet: tracers may write it before its description. */
static bool is_undescribed(struct stream_state *stream, enum kymo_step step) {
  if (KYMO_LIKELY(step != KYMO_STEP_ERROR || stream->decoder.run.error != KYMO_DECODE_ERROR_ID)) {
    stream->undescribed_ns = 0;
    return false;
  }
  return kymo_follow_may_describe(stream->trace, &stream->undescribed_ns);
}

/* Pages were missing: drops the incomplete events and those after them. Their place is reported when the next
 * bytes of the file are read. */
static enum kymo_step drop_missing(struct stream_state *stream, enum kymo_step step) {
  size_t missing = kymo_guard_missing_in(stream->decoder.packet.data, (size_t)stream->packet_bytes);
  stream->guard_faults = kymo_guard_faults();
  if (missing == SIZE_MAX)
    return step;
  uint32_t count = step == KYMO_STEP_EVENT ? stream->decoder.event_count : 0, kept = 0;
  while (kept + 1 < count && stream->decoder.found[kept + 1].offset_bits / 8 <= missing)
    kept++;
  stream->decoder.event_count = kept;
  stream->decoder.next_bits = stream->decoder.packet.content_bits;
  return kept ? KYMO_STEP_EVENT : KYMO_STEP_END;
}

/* Finds the next events of this packet. */
static enum kymo_step look(struct stream_state *stream) {
  enum kymo_step step = stream->is_ahead ? KYMO_STEP_EVENT : kymo_look_ahead(&stream->decoder);
  stream->is_ahead = false;
  return KYMO_UNLIKELY(kymo_guard_faults() != stream->guard_faults) ? drop_missing(stream, step) : step;
}

/* Finds the next events of this packet or a later one; stops at notices. */
static int advance_packets(struct stream_state *stream) {
  for (;;) {
    if (stream->in_packet && !stream->is_through) {
      enum kymo_step step = look(stream);
      if (step == KYMO_STEP_EVENT && drop_early(stream) && drop_outside(stream))
        return KYMO_OK;
      if (step == KYMO_STEP_EVENT)
        continue;
      if (is_undescribed(stream, step))
        return KYMO_AGAIN;
      end_packet(stream, step);
      if (stream->notice_count > 0)
        return KYMO_OK;
    }
    if (stream->in_packet)
      kymo_stream_leave(stream);
    int status = open_packet(stream);
    if (status != KYMO_OK || stream->notice_count > 0)
      return status;
  }
}

static int advance_raw(struct stream_state *stream) {
  int status = KYMO_OK;
  if (!stream->is_ahead) {
    do
      status = next_raw(stream);
    while (status == KYMO_OK && !(drop_early(stream) && drop_outside(stream)));
  }
  stream->is_ahead = stream->notice_count > 0;
  return status;
}

void kymo_stream_restart(struct stream_state *stream, int64_t begin_ns) {
  if (stream->cursor)
    stream->operations->end(stream->cursor);
  stream->cursor = NULL;
  stream->decoder.path = NULL;
  stream->in_packet = stream->is_through = stream->is_ahead = stream->has_previous = stream->is_cut = false;
  stream->is_begun = stream->is_ended = stream->decoder.has_damage = false;
  stream->phase = STREAM_NEW;
  stream->notice_count = stream->notice_next = 0;
  stream->decoder.event_count = 0;
  stream->decoder.clock = 0;
  stream->decoder.located = stream->ordinal = 0;
  stream->begin_ns = begin_ns;
}

int kymo_stream_begin(struct stream_state *stream, struct kymo_error *error) {
  struct kymo_error why = {.code = KYMO_OK, .offset = KYMO_ERROR_NO_OFFSET};
  int status = stream->operations->begin(&stream->cursor, stream->source, &why);
  if (status != KYMO_OK)
    stream->cursor = NULL; /* the format has ended it */
  if (status == KYMO_E_MEMORY)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status != KYMO_OK) {
    note_error(stream, 0, &why);
    stream->phase = STREAM_DONE;
  } else if (stream->prefilter) {
    stream->operations->prefilter(stream->cursor, stream->prefilter);
  }
  return KYMO_OK;
}

int kymo_stream_enter(struct stream_state *stream) {
  stream->notice_count = stream->notice_next = 0;
  stream->is_ahead = false;
  if (stream->in_packet)
    kymo_stream_leave(stream);
  return stream->operations->next_event ? next_raw(stream) : open_packet(stream);
}

/* Goes to the state after the delivered notices: sets the phase. */
static void advance(struct stream_state *stream) {
  bool is_raw = stream->operations->next_event != NULL;
  int status = stream->is_ended ? KYMO_END : is_raw ? advance_raw(stream) : advance_packets(stream);
  if (status == KYMO_END)
    kymo_note_stream_end(stream);
  if (stream->notice_count > 0)
    stream->phase = STREAM_NOTICE;
  else if (status == KYMO_END)
    end_stream(stream);
  else
    stream->phase = status == KYMO_AGAIN ? STREAM_WAITING : STREAM_EVENT;
}

/* Times that do not fit 64 bits are at the ends of the range; for each stream the first ones are reported. */
static void note_beyond(struct stream_state *stream) {
  if (!stream->has_reported_beyond)
    note_damage(stream, stream->decoder.packet.offset, 0,
                "events with times that do not fit 64-bit nanoseconds");
  stream->has_reported_beyond = true;
}

int kymo_stream_advance(struct stream_state *stream, struct kymo_error *error) {
  if (stream->phase != STREAM_DONE && !stream->cursor) {
    int status = kymo_stream_begin(stream, error);
    if (status != KYMO_OK)
      return status;
  }
  while (stream->phase != STREAM_DONE) {
    advance(stream);
    if (KYMO_UNLIKELY(stream->decoder.ns.is_beyond) && stream->phase == STREAM_EVENT)
      note_beyond(stream);
    while (kymo_notice_is_due(stream))
      kymo_notice_give(stream);
    if (stream->phase != STREAM_NOTICE || stream->notice_count > 0)
      break;
  }
  return KYMO_OK;
}

bool kymo_stream_look_on(struct stream_state *stream) {
  if (!stream->in_packet || stream->is_through || stream->begin_ns != INT64_MIN || stream->part->has_window ||
      look(stream) != KYMO_STEP_EVENT)
    return false;
  if (KYMO_UNLIKELY(stream->decoder.ns.is_beyond))
    note_beyond(stream);
  return true;
}

int kymo_stream_pass_notice(struct stream_state *stream, struct kymo_error *error) {
  do
    kymo_notice_give(stream);
  while (kymo_notice_is_due(stream));
  return stream->notice_count > 0 ? KYMO_OK : kymo_stream_advance(stream, error);
}

/* A silent stream delays others to its position, or to the bound, with events that are at the bound. */
static int64_t waiting_key(struct stream_state *stream) {
  const struct kymo_follow *follow = stream->trace->follow;
  int64_t time_ns =
      stream->decoder.ns.clock ? kymo_ns_of(&stream->decoder.ns, stream->decoder.clock) : INT64_MIN;
  if (!follow)
    return time_ns;
  if (!stream->decoder.ns.clock)
    return INT64_MAX - 1;
  return follow->bound_ns >= time_ns ? follow->bound_ns + 1 : time_ns;
}

int64_t kymo_stream_key(struct stream_state *stream) {
  switch (stream->phase) {
  case STREAM_EVENT: return stream->decoder.found[0].time_ns;
  case STREAM_NOTICE: return stream->notices[stream->notice_next].time_ns;
  case STREAM_WAITING: return waiting_key(stream);
  default: return INT64_MAX;
  }
}
