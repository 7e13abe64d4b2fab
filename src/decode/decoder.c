/* SPDX-License-Identifier: MIT */
/* From packet to packet: what a decoder knows when lookahead begins. */
#include "decode/decoder.h"
#include "base/fail.h"
#include "decode/step.h"

/* ---- memory ---- */

/* Sets the plan of the part, with the space that it needs. */
static int take_plan(struct kymo_decoder *decoder, const struct kymo_schema_plan *plan,
                     struct kymo_arena *arena, struct kymo_error *error) {
  size_t notes = (size_t)plan->segment_count + plan->slot_count + 2;
  uint64_t *segments = kymo_arena_array(arena, notes, sizeof *segments);
  if (!segments)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  decoder->schema_plan = plan;
  decoder->segments = segments;
  decoder->slots = segments + plan->segment_count + 1;
  return KYMO_OK;
}

int kymo_decoder_prepare(struct kymo_decoder *decoder, struct kymo_arena *arena, uint32_t capacity,
                         struct kymo_error *error) {
  char *memory = kymo_arena_alloc(arena, (capacity + (size_t)1) * sizeof *decoder->found + KYMO_CACHE_LINE);
  int status = take_plan(decoder, decoder->schema_plan, arena, error);
  if (status != KYMO_OK || !memory)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  decoder->event_capacity = capacity;
  decoder->found = (struct kymo_found *)(void *)(memory + (-(uintptr_t)memory & (KYMO_CACHE_LINE - 1)));
  if (decoder->stream.class_)
    kymo_decoder_set_clock(decoder, decoder->stream.class_);
  return KYMO_OK;
}

/* ---- clock ---- */

void kymo_decoder_clock(const struct kymo_decoder *decoder, const struct kymo_stream_class *class_,
                        struct kymo_ns *ns) {
  kymo_ns_begin(ns, class_->clock, decoder->clock_offset_ns, decoder->is_rounded);
}

void kymo_decoder_set_clock(struct kymo_decoder *decoder, const struct kymo_stream_class *class_) {
  kymo_decoder_clock(decoder, class_, &decoder->ns);
}

int64_t kymo_place_ns(const struct kymo_event *event) {
  struct kymo_decoder *decoder = kymo_decoder_of(event);
  return event->has_time || !decoder->ns.clock ? event->time_ns : kymo_ns_of(&decoder->ns, event->cycles);
}

/* ---- packets ---- */

int kymo_decoder_read(struct kymo_decoder *decoder, const struct kymo_chunk *chunk,
                      struct kymo_packet_head *head, struct kymo_error *error) {
  const struct kymo_notes notes = {decoder->segments, decoder->slots};
  decoder->path = chunk->path;
  return kymo_packet_read(decoder->schema_plan, chunk, decoder->stream.class_, decoder->clock, &notes, head,
                          error);
}

/* Event offsets are the begins of headers; the begins of bodies must be known from the class of the stream
 * alone. */
static void take_event_offsets(struct kymo_decoder *decoder, const struct kymo_chunk *chunk) {
  const struct kymo_header *header = &decoder->plan->header;
  bool is_simple = decoder->plan->has_fast_header && header->case_count == 1 && !header->has_tag;
  decoder->event_offsets = is_simple ? chunk->event_offsets : NULL;
  decoder->offset_count = chunk->offset_count;
  decoder->offset_next = 0;
}

void kymo_decoder_enter(struct kymo_decoder *decoder, const struct kymo_packet_head *head,
                        const struct kymo_chunk *chunk) {
  if (!decoder->stream.class_ || !decoder->plan) {
    decoder->stream.class_ = head->plan->class_;
    kymo_decoder_set_clock(decoder, head->plan->class_);
  }
  decoder->plan = head->plan;
  decoder->packet = head->packet;
  decoder->packet.stream = &decoder->stream;
  decoder->packet_count++;
  decoder->located = 0;
  decoder->next_bits = head->events_bits;
  decoder->budget = KYMO_SPEND_LIMIT + head->packet.content_bits;
  decoder->clock = head->clock;
  const struct kymo_node *context = decoder->plan->packet_context;
  decoder->context_bits = context ? decoder->segments[context->segment] + context->offset_bits : 0;
  take_event_offsets(decoder, chunk);
}

bool kymo_decoder_enter_event(struct kymo_decoder *decoder, const struct kymo_raw_event *raw) {
  const struct kymo_stream_plan *plan = &decoder->schema_plan->streams[raw->class_->stream->index];
  const struct kymo_event_plan *body = &plan->events[raw->class_->index];
  struct kymo_run *run = &decoder->run;
  if (!decoder->ns.clock && raw->class_->stream->clock)
    kymo_decoder_set_clock(decoder, raw->class_->stream);
  decoder->stream.class_ = raw->class_->stream;
  decoder->path = raw->path;
  *run = (struct kymo_run){.data = raw->data,
                           .at = raw->begin_bits,
                           .end = raw->size_bits,
                           .segments = decoder->segments,
                           .slots = decoder->slots,
                           .budget = KYMO_SPEND_LIMIT + raw->size_bits};
  decoder->plan = plan;
  decoder->packet = (struct kymo_packet){.stream = &decoder->stream,
                                         .offset = raw->offset,
                                         .sequence = UINT64_MAX,
                                         .data = raw->data,
                                         .content_bits = raw->size_bits,
                                         .size_bits = raw->size_bits};
  if (raw->begin_bits > raw->size_bits || !kymo_program_run(&body->program, run))
    return false;
  decoder->clock = raw->cycles;
  bool has_clock = decoder->ns.clock != NULL;
  decoder->ns.is_beyond = false;
  decoder->found[0] =
      (struct kymo_found){.time_ns = has_clock ? kymo_ns_of(&decoder->ns, raw->cycles) : INT64_MIN,
                          .cycles = raw->cycles,
                          .offset_bits = raw->begin_bits,
                          .index = raw->class_->index & KYMO_FOUND_INDEX,
                          .has_time = has_clock,
                          .is_damaged = decoder->has_damage};
  decoder->has_damage = false;
  decoder->event_count = 1;
  decoder->located = 0;
  return true;
}

/* ---- events found ahead ---- */

void kymo_decoder_keep(struct kymo_decoder *decoder, uint32_t first, uint32_t count) {
  decoder->ahead.dropped += first;
  decoder->event_count = count;
  memmove(decoder->found, decoder->found + first, count * sizeof *decoder->found);
}

int kymo_decoder_renew(struct kymo_decoder *decoder, const struct kymo_schema_plan *plan,
                       struct kymo_arena *arena, struct kymo_error *error) {
  int status = take_plan(decoder, plan, arena, error);
  if (status != KYMO_OK)
    return status;
  decoder->located = 0;
  if (!decoder->stream.class_)
    return KYMO_OK;
  decoder->stream.class_ = plan->schema->streams[decoder->stream.class_->index];
  decoder->plan = decoder->plan ? &plan->streams[decoder->stream.class_->index] : NULL;
  kymo_decoder_set_clock(decoder, decoder->stream.class_);
  return KYMO_OK;
}

void kymo_decoder_return(struct kymo_decoder *decoder, const struct kymo_found *next) {
  if (next < decoder->found + decoder->event_count) {
    decoder->next_bits = next->offset_bits;
    decoder->clock = next->cycles;
  }
  decoder->event_count = 0;
}
