/* SPDX-License-Identifier: MIT */
#include "sink/ctf/copy.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "decode/walk.h"
#include "sink/ctf/encode.h"
#include "base/likely.h"
#include "trace/part.h"
#include <inttypes.h>
#include <stdlib.h>

#define NOWHERE UINT64_MAX

/* ---- boundaries ---- */

uint32_t *kymo_ctf_boundaries(const struct kymo_schema *schema) {
  uint32_t *boundaries = calloc((size_t)schema->type_count + 1, sizeof *boundaries);
  for (uint32_t id = 0; boundaries && id < schema->type_count; id++) { /* parts have lower ids */
    const struct kymo_type *type = schema->types[id];
    uint32_t boundary = type->align_bits ? type->align_bits : 1;
    if (type->element && boundaries[type->element->id] > boundary)
      boundary = boundaries[type->element->id];
    for (uint32_t i = 0; i < type->member_count; i++)
      if (boundaries[type->members[i].type->id] > boundary)
        boundary = boundaries[type->members[i].type->id];
    boundaries[id] = boundary;
  }
  return boundaries;
}

static uint32_t boundary_of(const struct kymo_ctf_copy *copy, const struct kymo_event_class *class_) {
  const struct kymo_type *types[] = {class_->stream->event_header, class_->stream->common_context,
                                     class_->specific_context, class_->payload};
  uint32_t boundary = 8;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i] && copy->boundaries[types[i]->id] > boundary)
      boundary = copy->boundaries[types[i]->id];
  return boundary;
}

/* ---- heads ---- */

static int fail_size(const struct kymo_ctf_copy *copy, const char *what, uint64_t bits,
                     struct kymo_error *error) {
  return kymo_fail_at(error, KYMO_E_LIMIT, copy->stream->path, copy->packet.offset,
                      "the %s of %" PRIu64 " bits does not fit its field in the packet header", what, bits);
}

/* The loss counters of the output begin with 0 if events before it were left out. */
static void put_counters(struct kymo_ctf_copy *copy) {
  if (copy->discarded_base)
    kymo_ctf_head_put(&copy->head, KYMO_ROLE_DISCARDED, copy->packet.discarded - copy->discarded_base);
  if (copy->splits)
    kymo_ctf_head_put(&copy->head, KYMO_ROLE_SEQUENCE_NUMBER, copy->packet.sequence + copy->splits);
}

/* The width of the time at the begin of packets, by which a reader sets its clock; 0: there is none. */
static unsigned begin_width(const struct kymo_ctf_head *head) {
  for (unsigned i = 0; i < head->fields.count; i++)
    if (head->fields.list[i].roles & KYMO_ROLE_TIMESTAMP)
      return head->fields.list[i].is_varint ? 64 : head->fields.list[i].width;
  return 0;
}

/* Begins a packet in the file. Its head is written before its events with the values that are known now. */
static int open_packet(struct kymo_ctf_copy *copy, struct kymo_error *error) {
  copy->start = copy->file.closed;
  copy->at_bits = copy->head.size_bits;
  copy->from = copy->to = copy->next = copy->events_bits;
  copy->shift = 0;
  copy->is_open = copy->is_first_event = true;
  if (copy->packet.has_begin)
    copy->clock = kymo_clock_update(copy->clock, copy->packet.begin_cycles, begin_width(&copy->head));
  put_counters(copy);
  return kymo_ctf_file_copy(&copy->file, copy->start, copy->head.bytes, (copy->head.size_bits + 7) / 8,
                            error);
}

/* How many bits of the time every event header contains; 0 if they differ, or contain it several times. */
static unsigned find_time_bits(const struct kymo_type *header) {
  unsigned bits = 0;
  for (uint32_t i = 0; header && i < header->member_count; i++) {
    const struct kymo_type *type = header->members[i].type;
    bool is_time = type->roles & KYMO_ROLE_TIMESTAMP;
    if (type->kind > KYMO_KIND_BITMAP || (is_time && bits))
      return 0;
    bits = is_time ? type->size_bits : bits;
  }
  return bits;
}

/* Makes the packet of `pass` the current one. */
static int take_head(struct kymo_ctf_copy *copy, struct kymo_error *error) {
  copy->packet = copy->pass.head.packet;
  copy->is_cut = copy->pass.head.is_cut;
  copy->events_bits = copy->pass.head.events_bits;
  copy->header_align = copy->pass.head.plan->header_align;
  copy->time_bits = find_time_bits(copy->pass.head.plan->class_->event_header);
  copy->has_packet = false;
  if (!copy->is_relaid)
    return kymo_ctf_head_take(&copy->head, &copy->pass, error);
  copy->is_cut = true; /* nothing stays where it is */
  return kymo_ctf_head_encode(&copy->head, &copy->pass, copy->is_plain, copy->is_kernel, error);
}

/* ---- pieces ---- */

/* Copies the pending events. Both ends are at whole bytes, except for the last bits, and those around the end
 * of a head, which were copied with it. */
static int flush(struct kymo_ctf_copy *copy, struct kymo_error *error) {
  uint64_t from = copy->shift == 0 ? kymo_align_up(copy->from, 8) : copy->from;
  if (copy->from == copy->to || copy->shift == NOWHERE)
    return KYMO_OK;
  copy->at_bits = copy->to + copy->shift;
  copy->from = copy->to;
  if (from >= copy->to)
    return KYMO_OK;
  uint64_t at = copy->start + (from + copy->shift) / 8, bytes = (copy->to - from) / 8;
  const uint8_t *data = copy->packet.data + from / 8;
  int status = kymo_ctf_file_copy(&copy->file, at, data, bytes, error);
  if (status == KYMO_OK && (copy->to - from) % 8)
    status = kymo_ctf_file_copy(&copy->file, at + bytes, data + bytes, 1, error);
  return status;
}

/* The whole packet is where it was: nothing was left out. */
static bool is_whole(const struct kymo_ctf_copy *copy) {
  return !copy->is_cut && copy->shift == 0 && copy->next >= copy->packet.content_bits;
}

static int change(struct kymo_ctf_copy *copy, uint32_t role, uint64_t value, struct kymo_error *error) {
  kymo_ctf_head_put(&copy->head, role, value);
  for (unsigned i = 0; i < copy->head.fields.count; i++) {
    const struct kymo_ctf_field *field = &copy->head.fields.list[i];
    for (unsigned done = 0; field->roles & role && done < field->width;) {
      unsigned width = field->is_varint ? 8 : field->width;
      uint64_t at = field->at_bits + done;
      struct kymo_ctf_patch patch = {
          copy->start * 8 + at, kymo_bits(copy->head.bytes, at, width, field->is_big), width, field->is_big};
      int status = kymo_ctf_file_patch(&copy->file, &patch, error);
      if (status < 0)
        return status;
      done += width;
    }
  }
  return KYMO_OK;
}

static int close_packet(struct kymo_ctf_copy *copy, struct kymo_error *error) {
  bool is_all = is_whole(copy);
  if (!copy->is_open)
    return KYMO_OK;
  copy->is_open = false;
  if (is_all) /* with what fills it up */
    copy->to = copy->packet.size_bits;
  int status = flush(copy, error);
  uint64_t content = is_all ? copy->packet.content_bits : copy->at_bits;
  uint64_t size = is_all ? copy->packet.size_bits : kymo_align_up(content, 8);
  if (!(copy->head.fields.roles & KYMO_ROLE_PACKET_SIZE))
    content = is_all ? content : size; /* then the content determines the size */
  if (status == KYMO_OK && !kymo_ctf_head_fits(&copy->head, KYMO_ROLE_CONTENT_SIZE, content))
    status = fail_size(copy, "content", content, error);
  if (status == KYMO_OK && !kymo_ctf_head_fits(&copy->head, KYMO_ROLE_PACKET_SIZE, size))
    status = fail_size(copy, "packet", size, error);
  if (status == KYMO_OK && !is_all)
    status = change(copy, KYMO_ROLE_CONTENT_SIZE, content, error);
  if (status == KYMO_OK && !is_all)
    status = change(copy, KYMO_ROLE_PACKET_SIZE, size, error);
  if (copy->packet.has_end && copy->packet.end_cycles > copy->clock)
    copy->clock = copy->packet.end_cycles;
  return status == KYMO_OK ? kymo_ctf_file_close_packet(&copy->file, copy->start + size / 8, error) : status;
}

/* ---- packets outside of the wanted times ---- */

static unsigned find_losses(const struct kymo_ctf_copy *copy, struct kymo_loss losses[2]) {
  return kymo_packet_losses(copy->pass.has_previous ? &copy->pass.previous : NULL, &copy->pass.head, losses);
}

/* Whether events lost before the packet of the pass may have been lost within the wanted times. */
static bool has_recent_loss(struct kymo_ctf_copy *copy) {
  struct kymo_loss losses[2];
  int64_t begin_ns, end_ns;
  kymo_trace_times(copy->trace, &begin_ns, &end_ns);
  for (unsigned i = 0, count = find_losses(copy, losses); i < count; i++)
    if (!losses[i].has_times || !copy->pass.ns.clock ||
        kymo_ns_of(&copy->pass.ns, losses[i].end_cycles) >= begin_ns)
      return true;
  return false;
}

/* Whether neither the packet, which has no wanted events, nor the losses before it are within these times. */
static bool is_outside(struct kymo_ctf_copy *copy) {
  const struct kymo_packet *packet = &copy->pass.head.packet;
  int64_t begin_ns, end_ns;
  kymo_trace_times(copy->trace, &begin_ns, &end_ns);
  if (begin_ns == INT64_MIN && end_ns == INT64_MAX)
    return false;
  if (!copy->pass.ns.clock || !packet->has_begin || !packet->has_end)
    return true;
  struct kymo_loss losses[2];
  uint64_t first = packet->begin_cycles;
  for (unsigned i = 0, count = find_losses(copy, losses); i < count; i++)
    first = losses[i].has_times && losses[i].begin_cycles < first ? losses[i].begin_cycles : first;
  return kymo_ns_of(&copy->pass.ns, packet->end_cycles) < begin_ns ||
         kymo_ns_of(&copy->pass.ns, first) > end_ns;
}

/* Counters begin at the first packet that is kept: their values in the previous packet are the base. That
 * packet is kept as well, without its events, if a loss is between the two. */
static int leave_out(struct kymo_ctf_copy *copy, struct kymo_error *error) {
  copy->has_left_out = true;
  return take_head(copy, error);
}

static int begin_after_left_out(struct kymo_ctf_copy *copy, struct kymo_error *error) {
  bool is_first = copy->has_left_out && copy->file.closed == 0;
  copy->has_left_out = false;
  if (!is_first)
    return KYMO_OK;
  copy->discarded_base = copy->packet.has_discarded ? copy->packet.discarded : 0;
  if (!has_recent_loss(copy))
    return KYMO_OK;
  copy->is_cut = true; /* its bytes are not available any more */
  int status = open_packet(copy, error);
  return status == KYMO_OK ? close_packet(copy, error) : status;
}

/* ---- from packet to packet ---- */

static bool is_at(const struct kymo_ctf_copy *copy, const struct kymo_decoder *decoder) {
  const struct kymo_packet *one = &copy->pass.head.packet, *other = &decoder->packet;
  return one->offset == other->offset && one->sequence == other->sequence &&
         one->begin_cycles == other->begin_cycles && one->content_bits == other->content_bits &&
         strcmp(copy->pass.path, decoder->path) == 0;
}

static bool next_packet(struct kymo_ctf_copy *copy) {
  if (!copy->has_packet)
    copy->has_packet = kymo_pass_next(&copy->pass);
  return copy->has_packet;
}

static int take_packet(struct kymo_ctf_copy *copy, struct kymo_error *error) {
  int status = begin_after_left_out(copy, error);
  if (status == KYMO_OK)
    status = take_head(copy, error);
  return status == KYMO_OK ? open_packet(copy, error) : status;
}

/* A packet without wanted events. */
static int pass_packet(struct kymo_ctf_copy *copy, struct kymo_error *error) {
  if (is_outside(copy))
    return leave_out(copy, error);
  int status = take_packet(copy, error);
  return status == KYMO_OK ? close_packet(copy, error) : status;
}

static int begin(struct kymo_ctf_copy *copy, struct kymo_error *error) {
  if (copy->is_begun)
    return KYMO_OK;
  int status = kymo_pass_begin(&copy->pass, copy->stream, error);
  copy->is_begun = status == KYMO_OK;
  return status;
}

/* Goes on to the current packet of the stream. */
static int enter_packet(struct kymo_ctf_copy *copy, const struct kymo_decoder *decoder,
                        struct kymo_error *error) {
  int status = begin(copy, error);
  if (status == KYMO_OK)
    status = close_packet(copy, error);
  while (status == KYMO_OK && next_packet(copy)) {
    if (is_at(copy, decoder)) {
      copy->number = decoder->packet_count;
      return take_packet(copy, error);
    }
    status = pass_packet(copy, error);
  }
  if (status != KYMO_OK)
    return status;
  return kymo_fail_at(error, KYMO_E_FORMAT, decoder->path, decoder->packet.offset,
                      "the packet changed while it was being read");
}

/* ---- events ---- */

/* The time that a reader computes from the event's header, when its clock is at copy->clock. */
static uint64_t time_as_read(const struct kymo_ctf_copy *copy, const struct kymo_event *event) {
  struct kymo_walk walk;
  struct kymo_value value;
  uint64_t clock = copy->clock;
  if (copy->time_bits && (copy->time_bits == 64 || (event->cycles - clock) >> copy->time_bits == 0))
    return event->cycles;
  if (!kymo_walk_begin(&walk, event, KYMO_SCOPE_EVENT_HEADER))
    return clock;
  for (enum kymo_token token;
       (token = kymo_walk_next(&walk, &value)) != KYMO_TOKEN_DONE && token != KYMO_TOKEN_ERROR;)
    if (token == KYMO_TOKEN_INTEGER && value.type->roles & KYMO_ROLE_TIMESTAMP)
      clock = kymo_clock_update(clock, value.u,
                                value.type->kind == KYMO_KIND_VARINT ? 64 : value.type->size_bits);
  return clock;
}

/* Ends the packet before this event, and begins another one like it with the event's time. */
static int split(struct kymo_ctf_copy *copy, const struct kymo_event *event, struct kymo_error *error) {
  struct kymo_packet packet = copy->packet;
  bool can = begin_width(&copy->head) == 64 &&
             copy->head.fields.roles & (KYMO_ROLE_CONTENT_SIZE | KYMO_ROLE_PACKET_SIZE) &&
             (copy->is_first_event ||
              kymo_ctf_head_fits(&copy->head, KYMO_ROLE_SEQUENCE_NUMBER, packet.sequence + 1));
  if (!can)
    return kymo_fail_at(error, KYMO_E_LIMIT, event->packet->stream->path,
                        event->packet->offset + event->offset_bits / 8,
                        "the event's time is unknown without the events before it, which are left out");
  int status = KYMO_OK;
  if (!copy->is_first_event) {
    packet.end_cycles = copy->clock;
    if (packet.has_end)
      status = change(copy, KYMO_ROLE_TIMESTAMP_END, copy->clock, error);
    if (status == KYMO_OK)
      status = close_packet(copy, error);
    copy->splits += packet.sequence != UINT64_MAX;
    kymo_ctf_head_put(&copy->head, KYMO_ROLE_TIMESTAMP_END, copy->packet.end_cycles);
    if (status == KYMO_OK)
      status = open_packet(copy, error);
  }
  if (status == KYMO_OK)
    status = change(copy, KYMO_ROLE_TIMESTAMP, event->cycles, error);
  copy->clock = event->cycles;
  return status;
}

static int encode(struct kymo_ctf_copy *copy, const struct kymo_event *event, struct kymo_error *error) {
  const struct kymo_stream_class *class_ = event->class_->stream;
  struct kymo_ctf_place place = {
      .file = &copy->file, .start = copy->start, .at_bits = copy->at_bits, .is_plain = copy->is_plain};
  int status = kymo_ctf_encode_scope(&place, event, KYMO_SCOPE_EVENT_HEADER, class_->event_header, error);
  if (status == KYMO_OK)
    status = kymo_ctf_encode_scope(&place, event, KYMO_SCOPE_COMMON_CONTEXT, class_->common_context, error);
  if (status == KYMO_OK)
    status = kymo_ctf_encode_scope(&place, event, KYMO_SCOPE_SPECIFIC_CONTEXT,
                                   event->class_->specific_context, error);
  if (status == KYMO_OK)
    status = kymo_ctf_encode_scope(&place, event, KYMO_SCOPE_PAYLOAD, event->class_->payload, error);
  copy->at_bits = place.at_bits;
  copy->from = copy->to = copy->next = copy->shift = NOWHERE; /* nothing goes on from here */
  return status;
}

/* An event that is not contiguous with the previous one. */
static int begin_piece(struct kymo_ctf_copy *copy, const struct kymo_event *event, uint64_t end,
                       struct kymo_error *error) {
  int status = flush(copy, error);
  if (status == KYMO_OK && event->has_time && time_as_read(copy, event) != event->cycles)
    status = split(copy, event, error);
  if (status < 0)
    return status;
  uint64_t to = kymo_align_up(copy->at_bits, copy->header_align), from = event->offset_bits;
  copy->is_first_event = false;
  if (copy->is_plain ||
      (from != to && (from % 8 || to % 8 || (to - from) % boundary_of(copy, event->class_))))
    return encode(copy, event, error);
  copy->from = from;
  copy->to = end;
  copy->shift = to - from;
  return KYMO_OK;
}

int kymo_ctf_copy_event(struct kymo_ctf_copy *copy, const struct kymo_event *event,
                        struct kymo_error *error) {
  const struct kymo_decoder *decoder = kymo_decoder_of(event);
  int status = KYMO_OK;
  if (KYMO_UNLIKELY(decoder->packet_count != copy->number || !copy->is_open))
    status = enter_packet(copy, decoder, error);
  if (status < 0)
    return status;
  uint64_t end = kymo_event_end(event);
  bool goes_on = event->offset_bits == copy->next && !copy->is_first_event &&
                 (copy->shift == 0 || copy->shift % boundary_of(copy, event->class_) == 0);
  if (KYMO_LIKELY(goes_on))
    copy->to = end;
  else
    status = begin_piece(copy, event, end, error);
  if (copy->shift != NOWHERE)
    copy->next = kymo_align_up(end, copy->header_align);
  copy->clock = event->cycles;
  return status;
}

/* ---- the whole ---- */

void kymo_ctf_copy_begin(struct kymo_ctf_copy *copy, const struct kymo_trace *trace,
                         const struct kymo_stream *stream, struct kymo_ctf_files *files, char *path) {
  *copy = (struct kymo_ctf_copy){.trace = trace, .stream = stream};
  kymo_ctf_file_begin(&copy->file, files, path);
}

int kymo_ctf_copy_end(struct kymo_ctf_copy *copy, bool is_well, struct kymo_error *error) {
  int status = copy->file.has_failed ? KYMO_E_SYSTEM : close_packet(copy, error);
  if (status == KYMO_OK && is_well && !copy->is_elsewhere) {
    status = begin(copy, error);
    while (status == KYMO_OK && next_packet(copy) && !(copy->file.closed > 0 && is_outside(copy)))
      status = pass_packet(copy, error);
  }
  if (copy->is_begun)
    kymo_pass_end(&copy->pass);
  kymo_ctf_head_free(&copy->head);
  int end_status = kymo_ctf_file_end(&copy->file, status == KYMO_OK ? error : NULL);
  return status < 0 ? status : end_status;
}
