/* SPDX-License-Identifier: MIT */
/*
 * One stream on its way from packet to packet:
 *
 *   NEW ─► open packet ─┬─ losses before it ─► LOSS ─► (handler) ─┐
 *            ▲          └──────────────────────────────────────────┴─► EVENT, EVENT, … ─┐
 *            └── end of content, or damage in it ◄─────────────────────────────────────┘
 *
 * Damage never ends more than it must: a bad event ends its packet, a bad packet header ends at
 * the next place that looks like a packet, and other streams go on.
 */
#include "base/fail.h"
#include "read/ahead.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void note_damage(struct stream_state *stream, uint64_t offset, uint64_t bytes_lost, const char *message) {
  struct kymo_damage damage = {.path = stream->path ? stream->path : stream->stream.path, .offset = offset,
                               .bytes_lost = bytes_lost, .code = KYMO_E_FORMAT, .message = message};
  kymo_trace_add_damage(stream->trace, &damage);
}

static void note_error(struct stream_state *stream, uint64_t bytes_lost, const struct kymo_error *error) {
  struct kymo_damage damage = {.path = error->file[0] ? error->file : stream->stream.path, .offset = error->offset,
                               .bytes_lost = bytes_lost, .code = error->code, .message = error->message};
  kymo_trace_add_damage(stream->trace, &damage);
}

/* ---- packets ---- */

/* The packet's clock goes on to its end time, if that makes sense. */
static void leave_packet(struct stream_state *stream) {
  if (stream->packet.has_end && stream->packet.end_cycles > stream->clock)
    stream->clock = stream->packet.end_cycles;
  stream->previous = stream->packet;
  stream->has_previous = true;
  stream->in_packet = false;
  stream->operations->skip(stream->cursor, stream->packet_bytes);
}

static void leave_damaged_packet(struct stream_state *stream, bool is_trouble) {
  char text[256];
  uint64_t begin = stream->packet.offset, lost_from = stream->next_bits / 8;
  uint64_t content_bytes = (stream->packet.content_bits + 7) / 8;
  uint64_t lost = content_bytes > lost_from ? content_bytes - lost_from : 0;
  if (stream->is_cut) {
    snprintf(text, sizeof text, "the packet at byte %" PRIu64 " has %" PRIu64 " bytes, the file ends after %" PRIu64,
             begin, stream->packet.size_bits / 8, stream->packet_bytes);
    note_damage(stream, begin + stream->packet_bytes, lost, text);
  } else if (is_trouble) {
    kymo_trouble_text(&stream->run, text, sizeof text);
    note_damage(stream, begin + stream->run.at / 8, lost, text);
  }
  leave_packet(stream);
}

unsigned kymo_packet_losses(const struct kymo_packet *previous, const struct kymo_packet_head *head,
                            struct kymo_loss losses[2]) {
  const struct kymo_packet *packet = &head->packet;
  unsigned count = 0;
  if (packet->has_discarded && !previous && packet->discarded != 0) {
    /* Before the first packet, or in it: nobody knows how many. */
    losses[count++] = (struct kymo_loss){.has_times = packet->has_begin && packet->has_end,
                                         .begin_cycles = packet->begin_cycles, .end_cycles = packet->end_cycles};
  }
  if (packet->has_discarded && previous && previous->has_discarded) {
    uint64_t lost = (packet->discarded - previous->discarded) & (UINT64_MAX >> (64 - head->discarded_bits));
    if (lost)
      losses[count++] = (struct kymo_loss){.count_known = true, .count = lost,
                                           .has_times = previous->has_end && packet->has_end,
                                           .begin_cycles = previous->end_cycles, .end_cycles = packet->end_cycles};
  }
  if (packet->sequence != UINT64_MAX && previous && previous->sequence != UINT64_MAX) {
    uint64_t mask = UINT64_MAX >> (64 - head->sequence_bits);
    uint64_t steps = (packet->sequence - previous->sequence) & mask;
    if (steps > 1 && steps <= mask / 2)
      losses[count++] = (struct kymo_loss){.is_packets = true, .count_known = true, .count = steps - 1,
                                           .has_times = previous->has_end && packet->has_begin,
                                           .begin_cycles = previous->end_cycles,
                                           .end_cycles = packet->begin_cycles};
  }
  return count;
}

static void time_losses(struct stream_state *stream) {
  for (unsigned i = 0; i < stream->loss_count; i++) {
    struct kymo_loss *loss = &stream->losses[i];
    loss->stream = &stream->stream;
    loss->has_times = loss->has_times && stream->ns.clock;
    if (!loss->has_times)
      continue;
    loss->begin_ns = kymo_ns_of(&stream->ns, loss->begin_cycles);
    loss->end_ns = kymo_ns_of(&stream->ns, loss->end_cycles);
  }
}

/* A packet that came already, in another file of the same stream (snapshots overlap). */
static bool is_repeated(const struct stream_state *stream, const struct kymo_packet *packet) {
  return stream->may_repeat && stream->has_previous && packet->sequence != UINT64_MAX &&
         stream->previous.sequence != UINT64_MAX && packet->sequence <= stream->previous.sequence;
}

/* What is the same for all events of a packet. */
static void prepare_entries(struct stream_state *stream) {
  const struct kymo_node *context = stream->plan->packet_context;
  uint64_t context_bits = context ? stream->segments[context->segment] + context->offset_bits : 0;
  for (uint32_t i = 0; i < stream->entry_capacity; i++) {
    stream->entries[i].event.has_time = stream->ns.clock != NULL;
    stream->entries[i].event.scope_bits[KYMO_SCOPE_PACKET_CONTEXT] = context_bits;
  }
}

static void enter_packet(struct stream_state *stream, const struct kymo_packet_head *head) {
  if (!stream->stream.class_ || !stream->plan) {
    stream->stream.class_ = head->plan->class_;
    kymo_ns_begin(&stream->ns, head->plan->class_->clock, stream->trace->options.clock_offset_ns,
                  stream->trace->options.as_babeltrace2);
  }
  stream->plan = head->plan;
  stream->packet = head->packet;
  stream->packet.stream = &stream->stream;
  stream->is_cut = head->is_cut;
  stream->in_packet = true;
  stream->next_bits = head->events_bits;
  stream->purse = KYMO_SPEND_LIMIT + head->packet.content_bits;
  stream->clock = head->clock;
  prepare_entries(stream);
  stream->loss_count = kymo_packet_losses(stream->has_previous ? &stream->previous : NULL, head, stream->losses);
  stream->loss_next = 0;
  time_losses(stream);
}

/* Gets behind a packet whose head is no good. */
static void skip_bad_packet(struct stream_state *stream, const struct kymo_chunk *chunk,
                            const struct kymo_packet_head *head, const struct kymo_error *why) {
  uint64_t size = head->packet.size_bits / 8;
  if (size == 0)
    size = kymo_packet_search(stream->part->plan, chunk, 1);
  if (size > chunk->size_bytes)
    size = chunk->size_bytes;
  note_error(stream, size, why);
  stream->operations->skip(stream->cursor, size);
}

void kymo_packet_mend(const struct part_state *part, struct kymo_packet_head *head) {
  struct kymo_packet *packet = &head->packet;
  if ((part->quirks & KYMO_QUIRK_END_ZERO) && packet->has_begin && packet->begin_cycles != 0 && head->is_end_zero)
    packet->has_end = false;
}

/* KYMO_OK: in a packet. KYMO_END, KYMO_AGAIN: there is none. */
static int open_packet(struct stream_state *stream) {
  struct kymo_notes notes = {stream->segments, stream->slots};
  for (;;) {
    struct kymo_error why = {.code = KYMO_OK, .offset = KYMO_ERROR_NO_OFFSET};
    struct kymo_packet_head head;
    struct kymo_chunk chunk;
    int status = stream->operations->next(stream->cursor, &chunk, &why);
    if (status < 0) {
      note_error(stream, 0, &why);
      continue;
    }
    if (status != KYMO_OK)
      return status;
    stream->path = chunk.path;
    status = kymo_packet_read(stream->part->plan, &chunk, stream->stream.class_, stream->clock, &notes, &head, &why);
    if (status != KYMO_OK) {
      skip_bad_packet(stream, &chunk, &head, &why);
      continue;
    }
    kymo_packet_mend(stream->part, &head);
    stream->packet_bytes = head.is_cut ? chunk.size_bytes : head.packet.size_bits / 8;
    if (!is_repeated(stream, &head.packet)) {
      enter_packet(stream, &head);
      return KYMO_OK;
    }
    stream->operations->skip(stream->cursor, stream->packet_bytes);
  }
}

/* ---- formats with their own events ---- */

/* The packet becomes the event's bytes, and the event the only entry. */
static bool enter_raw_event(struct stream_state *stream, const struct kymo_raw_event *raw) {
  const struct kymo_stream_plan *plan = &stream->part->plan->streams[raw->class_->stream->index];
  const struct kymo_event_plan *body = &plan->events[raw->class_->index];
  struct kymo_run *run = &stream->run;
  *run = (struct kymo_run){.data = raw->data, .at = raw->begin_bits, .end = raw->size_bits,
                           .segments = stream->segments, .slots = stream->slots,
                           .purse = KYMO_SPEND_LIMIT + raw->size_bits};
  stream->plan = plan;
  stream->path = raw->path;
  stream->packet = (struct kymo_packet){.stream = &stream->stream, .offset = raw->offset, .sequence = UINT64_MAX,
                                        .data = raw->data, .content_bits = raw->size_bits,
                                        .size_bits = raw->size_bits};
  if (raw->begin_bits > raw->size_bits || !kymo_program_run(&body->program, run)) {
    char text[256];
    kymo_trouble_text(run, text, sizeof text);
    note_damage(stream, raw->offset + run->at / 8, raw->size_bits / 8, text);
    return false;
  }
  stream->clock = raw->cycles;
  struct kymo_entry *entry = stream->entries;
  kymo_entry_fill(entry, body, raw->begin_bits, raw->begin_bits);
  kymo_place_scopes(stream, &entry->event, body);
  entry->event.cycles = raw->cycles;
  entry->event.has_time = stream->ns.clock != NULL;
  stream->times_ns[0] = entry->event.time_ns = stream->ns.clock ? kymo_ns_of(&stream->ns, raw->cycles) : INT64_MIN;
  stream->entry_count = 1;
  return true;
}

static int advance_raw(struct stream_state *stream) {
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
    if (!stream->ns.clock && raw.class_->stream->clock)
      kymo_ns_begin(&stream->ns, raw.class_->stream->clock, stream->trace->options.clock_offset_ns,
                  stream->trace->options.as_babeltrace2);
    stream->stream.class_ = raw.class_->stream;
    if (enter_raw_event(stream, &raw))
      return KYMO_OK;
  }
}

/* ---- the way on ---- */

/* Looking far ahead pays; but all streams together should stay within the caches. */
#define ENTRIES_MAX 64
#define ENTRIES_MIN 8
#define ENTRIES_BYTES ((size_t)512 << 10)

static int prepare_memory(struct stream_state *stream, struct kymo_error *error) {
  const struct kymo_schema_plan *plan = stream->part->plan;
  struct kymo_arena *arena = &stream->trace->arena;
  size_t notes = (size_t)plan->segment_count + plan->slot_count + 2;
  size_t entries = ENTRIES_BYTES / sizeof *stream->entries / stream->trace->stream_count;
  entries = entries > ENTRIES_MAX ? ENTRIES_MAX : entries < ENTRIES_MIN ? ENTRIES_MIN : entries;
  stream->entry_capacity = (uint32_t)entries;
  char *memory = kymo_arena_alloc(arena, entries * sizeof *stream->entries + KYMO_CACHE_LINE);
  stream->segments = kymo_arena_array(arena, notes, sizeof *stream->segments);
  stream->times_ns = kymo_arena_array(arena, entries, sizeof *stream->times_ns);
  if (!stream->segments || !stream->times_ns || !memory)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  stream->slots = stream->segments + plan->segment_count + 1;
  stream->entries = (struct kymo_entry *)(void *)(memory + (-(uintptr_t)memory & (KYMO_CACHE_LINE - 1)));
  return KYMO_OK;
}

int kymo_stream_prepare(struct stream_state *stream, struct kymo_error *error) {
  int status = prepare_memory(stream, error);
  if (status != KYMO_OK)
    return status;
  for (uint32_t i = 0; i < stream->entry_capacity; i++) {
    stream->entries[i].event.packet = &stream->packet;
    stream->entries[i].event.state = stream;
  }
  if (stream->stream.class_)
    kymo_ns_begin(&stream->ns, stream->stream.class_->clock, stream->trace->options.clock_offset_ns,
                  stream->trace->options.as_babeltrace2);
  return KYMO_OK;
}

static void end_stream(struct stream_state *stream) {
  stream->phase = STREAM_DONE;
  stream->operations->end(stream->cursor);
  stream->cursor = NULL;
}

/* Finds the next events of this packet or a later one; stops at losses. */
static int advance_packets(struct stream_state *stream) {
  for (;;) {
    if (stream->in_packet) {
      enum kymo_step step = kymo_look_ahead(stream);
      if (step == KYMO_STEP_EVENT)
        return KYMO_OK;
      if (step == KYMO_STEP_END && !stream->is_cut)
        leave_packet(stream);
      else
        leave_damaged_packet(stream, step == KYMO_STEP_TROUBLE);
    }
    int status = open_packet(stream);
    if (status != KYMO_OK || stream->loss_count > 0)
      return status;
  }
}

int kymo_stream_advance(struct stream_state *stream, struct kymo_error *error) {
  if (stream->phase == STREAM_DONE)
    return KYMO_OK;
  if (!stream->cursor) {
    struct kymo_error why = {.code = KYMO_OK, .offset = KYMO_ERROR_NO_OFFSET};
    int status = stream->operations->begin(&stream->cursor, stream->source, &why);
    if (status == KYMO_E_MEMORY)
      return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    if (status != KYMO_OK) {
      note_error(stream, 0, &why);
      stream->phase = STREAM_DONE;
      return KYMO_OK;
    }
  }
  bool is_raw = stream->operations->next_event != NULL;
  int status = is_raw ? advance_raw(stream) : advance_packets(stream);
  stream->phase = STREAM_EVENT;
  if (status == KYMO_END)
    end_stream(stream);
  else if (status == KYMO_AGAIN)
    stream->phase = STREAM_WAITING;
  else if (stream->loss_next < stream->loss_count)
    stream->phase = STREAM_LOSS;
  return KYMO_OK;
}

int kymo_stream_pass_losses(struct stream_state *stream, struct kymo_error *error) {
  struct kymo_trace *trace = stream->trace;
  for (; stream->loss_next < stream->loss_count; stream->loss_next++)
    if (trace->loss_handler)
      trace->loss_handler(trace->loss_user, &stream->losses[stream->loss_next]);
  stream->loss_count = stream->loss_next = 0;
  return kymo_stream_advance(stream, error);
}

int64_t kymo_stream_key(struct stream_state *stream) {
  switch (stream->phase) {
  case STREAM_EVENT: return stream->times_ns[0];
  case STREAM_LOSS:
    if (stream->losses[0].has_times)
      return stream->losses[0].begin_ns;
    return stream->ns.clock ? kymo_ns_of(&stream->ns, stream->clock) : INT64_MIN;
  case STREAM_WAITING: return stream->ns.clock ? kymo_ns_of(&stream->ns, stream->clock) : INT64_MIN;
  default: return INT64_MAX;
  }
}
