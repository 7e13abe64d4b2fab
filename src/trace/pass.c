/* SPDX-License-Identifier: MIT */
/* From packet header to packet header. */
#include "trace/pass.h"
#include "base/fail.h"
#include "trace/trace.h"
#include <stdlib.h>

/* After an invalid head, the next packet is searched in pieces of this size. */
#define SEARCH_BYTES (UINT64_C(1) << 20)

int kymo_pass_begin(struct kymo_pass *pass, const struct kymo_stream *of, struct kymo_error *error) {
  const struct stream_state *stream = (const struct stream_state *)of;
  const struct kymo_schema_plan *plan = stream->part->plan;
  uint64_t *notes = calloc((size_t)plan->segment_count + plan->slot_count + 1, sizeof *notes);
  *pass = (struct kymo_pass){
      .stream = stream, .decoder = &stream->decoder, .class_ = stream->decoder.stream.class_};
  if (!notes)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  pass->notes = (struct kymo_notes){notes, notes + plan->segment_count};
  if (pass->class_)
    kymo_decoder_clock(&stream->decoder, pass->class_, &pass->ns);
  int status = stream->operations->begin(&pass->cursor, stream->source, error);
  if (status != KYMO_OK) {
    pass->cursor = NULL; /* the format has ended it */
    kymo_pass_end(pass);
  }
  return status;
}

void kymo_pass_end(struct kymo_pass *pass) {
  if (pass->cursor)
    pass->stream->operations->end(pass->cursor);
  free(pass->notes.segments);
  pass->cursor = NULL;
  pass->notes = (struct kymo_notes){NULL, NULL};
}

void kymo_pass_glance(struct kymo_pass *pass) {
  pass->is_glancing = true;
  if (pass->stream->operations->glance)
    pass->stream->operations->glance(pass->cursor);
}

void kymo_pass_seek(struct kymo_pass *pass, struct kymo_position position) {
  pass->stream->operations->seek(pass->cursor, position.file, position.offset);
  pass->is_at = pass->has_previous = false;
}

static void leave(struct kymo_pass *pass) {
  pass->clock = pass->head.packet.has_end ? pass->head.packet.end_cycles : pass->head.clock;
  pass->previous = pass->head.packet;
  pass->has_previous = true;
  pass->is_at = false;
  pass->stream->operations->skip(pass->cursor, pass->bytes);
}

static bool is_repeated(const struct kymo_pass *pass) {
  return kymo_packet_is_repeated(pass->stream, pass->has_previous ? &pass->previous : NULL,
                                 &pass->head.packet);
}

/* Whether the chunk shows too little of the packet: then the next one will show more. */
static bool want_more(struct kymo_pass *pass, const struct kymo_chunk *chunk, bool is_good) {
  uint64_t wanted = is_good && !pass->is_glancing ? pass->head.unseen_bytes : 0;
  if (!is_good && pass->is_glancing && chunk->rest_bytes && chunk->size_bytes < SEARCH_BYTES)
    wanted = SEARCH_BYTES;
  if (wanted)
    pass->stream->operations->want(pass->cursor, wanted);
  return wanted > 0;
}

/* The chunk begins with a packet that reading would enter. */
static void arrive(struct kymo_pass *pass, const struct kymo_chunk *chunk) {
  pass->is_at = true;
  pass->position = (struct kymo_position){chunk->file, chunk->offset};
  pass->path = chunk->path;
  pass->class_ = pass->head.plan->class_;
  if (!pass->ns.clock && pass->class_->clock)
    kymo_decoder_clock(&pass->stream->decoder, pass->class_, &pass->ns);
}

bool kymo_pass_next(struct kymo_pass *pass) {
  const struct stream_state *stream = pass->stream;
  const struct kymo_schema_plan *plan = stream->part->plan;
  if (pass->is_at)
    leave(pass);
  while (!pass->is_at) {
    struct kymo_chunk chunk = {0};
    struct kymo_error why = {.offset = KYMO_ERROR_NO_OFFSET};
    int status = stream->operations->next(pass->cursor, &chunk, &why);
    if (status == KYMO_E_MEMORY || status == KYMO_E_SYSTEM) {
      pass->status = status;
      pass->error = why;
    }
    if (status == KYMO_E_MEMORY) /* there will be none the next time either */
      return false;
    if (status < 0)
      continue;
    if (status != KYMO_OK)
      return false;
    bool is_good =
        kymo_packet_read(plan, &chunk, pass->class_, pass->clock, &pass->notes, &pass->head, NULL) == KYMO_OK;
    if (want_more(pass, &chunk, is_good))
      continue;
    if (is_good)
      kymo_packet_repair(stream->part, &pass->head);
    pass->bytes = is_good ? pass->head.bytes : kymo_packet_bad_bytes(plan, &chunk, &pass->head);
    if (is_good && !is_repeated(pass))
      arrive(pass, &chunk);
    else
      stream->operations->skip(pass->cursor, pass->bytes);
  }
  return true;
}

bool kymo_stream_first_ns(const struct kymo_stream *stream, int64_t *time_ns) {
  struct kymo_pass pass;
  if (!((const struct stream_state *)stream)->operations->next ||
      kymo_pass_begin(&pass, stream, NULL) != KYMO_OK)
    return false;
  kymo_pass_glance(&pass);
  bool is_there = kymo_pass_next(&pass) && pass.ns.clock && pass.head.packet.has_begin;
  if (is_there)
    *time_ns = kymo_ns_of(&pass.ns, pass.head.packet.begin_cycles);
  kymo_pass_end(&pass);
  return is_there;
}
