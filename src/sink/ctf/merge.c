/* SPDX-License-Identifier: MIT */
#include "sink/ctf/merge.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "decode/walk.h"
#include "sink/ctf/copy.h"
#include "sink/ctf/encode.h"
#include <stdio.h>
#include <stdlib.h>

/* A packet ends after the event that makes it this long. */
#define PACKET_BYTES ((uint64_t)256 << 10)
#define GATHER_BYTES ((size_t)320 << 10)

/* The head of every packet, byte by byte; without the times if there is no clock. */
enum { AT_MAGIC = 0, AT_UUID = 4, AT_STREAM_ID = 20, AT_TIMES = 28, HEAD_BYTES = 60, TIMES_BYTES = 16 };

/* A stream that is read: the data of its packet that events need. */
struct kymo_ctf_source {
  uint64_t packet_count; /* number of the packet in the stream; 0: unknown */
  bool is_usable;        /* they can be copied to any byte */
  uint32_t length;
  uint8_t bytes[128];
};

/* The bytes before the contexts and the payload of an event. */
struct kymo_ctf_heading {
  const struct kymo_ctf_source *source;
  const struct kymo_type *context; /* as it is written, or NULL */
  uint64_t id, time;
};

struct kymo_ctf_merge_stream {
  struct kymo_ctf_file file;
  const struct kymo_stream_class *class_;
  bool is_open, has_limit;
  uint64_t start, at_bits;
  uint64_t end;   /* clock value of its last event */
  int64_t end_ns; /* time of the event that has this clock value, or INT64_MIN */
  uint64_t limit; /* end of the losses before it */
  uint64_t sequence, discarded;
  bool has_packets, has_news; /* lost since the last packet */
};

/* ---- beginning ---- */

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

int kymo_ctf_merge_begin(struct kymo_ctf_merge *merge, const struct kymo_ctf_merge_demand *demand,
                         struct kymo_error *error) {
  uint64_t source = 0;
  *merge = (struct kymo_ctf_merge){.part_count = demand->part_count};
  merge->first_sources = calloc(demand->part_count + 1, sizeof *merge->first_sources);
  merge->boundaries = calloc(demand->part_count + 1, sizeof *merge->boundaries);
  merge->is_plain = calloc(demand->part_count + 1, sizeof *merge->is_plain);
  if (!merge->first_sources || !merge->boundaries || !merge->is_plain)
    return no_memory(error);
  for (size_t i = 0; i < demand->part_count; i++) {
    merge->first_sources[i] = source;
    source += demand->parts[i]->stream_count;
    merge->is_plain[i] = !demand->is_ctf2 && kymo_ctf_is_strange(demand->parts[i]->schema);
    merge->boundaries[i] = kymo_ctf_boundaries(demand->parts[i]->schema);
    if (!merge->boundaries[i])
      return no_memory(error);
  }
  merge->sources = calloc(source + 1, sizeof *merge->sources);
  return merge->sources ? kymo_ctf_merge_schema(&merge->merged, demand, error) : no_memory(error);
}

int kymo_ctf_merge_open(struct kymo_ctf_merge *merge, const char *directory, struct kymo_error *error) {
  const struct kymo_schema *schema = merge->merged.schema;
  merge->files.capacity = GATHER_BYTES;
  merge->streams = calloc((size_t)schema->stream_count + 1, sizeof *merge->streams);
  if (!merge->streams)
    return no_memory(error);
  for (uint32_t i = 0; i < schema->stream_count; i++) {
    struct kymo_ctf_merge_stream *stream = &merge->streams[i];
    stream->end = merge->merged.first;
    char *path = NULL;
    stream->class_ = schema->streams[i];
    if (asprintf(&path, "%s/stream_%u", directory, i) < 0)
      path = NULL;
    kymo_ctf_file_begin(&stream->file, &merge->files, path);
  }
  return KYMO_OK;
}

/* ---- packets ---- */

static bool is_big(const struct kymo_ctf_merge *merge) {
  return merge->merged.schema->order == KYMO_ORDER_BIG;
}

static void put64(const struct kymo_ctf_merge *merge, uint8_t *to, uint64_t value) {
  kymo_bits_put(to, 0, 64, is_big(merge), value);
}

/* Offset of the sizes: content, packet, then number and losses. */
static uint64_t at_sizes(const struct kymo_ctf_merge *merge) {
  return AT_TIMES + (merge->merged.has_time ? TIMES_BYTES : 0);
}

static int open_packet(const struct kymo_ctf_merge *merge, struct kymo_ctf_merge_stream *stream,
                       uint64_t begin, struct kymo_error *error) {
  uint8_t head[HEAD_BYTES + TIMES_BYTES] = {0};
  uint64_t sizes = at_sizes(merge);
  kymo_bits_put(head, AT_MAGIC * 8, 32, is_big(merge), UINT32_C(0xc1fc1fc1));
  memcpy(head + AT_UUID, merge->merged.schema->uuid, 16);
  put64(merge, head + AT_STREAM_ID, stream->class_->id);
  if (merge->merged.has_time)
    put64(merge, head + AT_TIMES, begin);
  put64(merge, head + sizes + 16, stream->sequence);
  put64(merge, head + sizes + 24, stream->discarded);
  stream->start = stream->file.closed;
  stream->at_bits = (sizes + 32) * 8;
  stream->end = begin;
  stream->end_ns = INT64_MIN;
  stream->is_open = true;
  stream->has_news = false;
  return kymo_ctf_file_copy(&stream->file, stream->start, head, sizes + 32, error);
}

static int patch(const struct kymo_ctf_merge *merge, struct kymo_ctf_merge_stream *stream, uint64_t at,
                 uint64_t value, struct kymo_error *error) {
  struct kymo_ctf_patch number = {(stream->start + at) * 8, value, 64, is_big(merge)};
  return kymo_ctf_file_patch(&stream->file, &number, error);
}

static int close_packet(const struct kymo_ctf_merge *merge, struct kymo_ctf_merge_stream *stream,
                        struct kymo_error *error) {
  uint64_t sizes = at_sizes(merge), bits = kymo_align_up(stream->at_bits, 8);
  if (!stream->is_open)
    return KYMO_OK;
  stream->is_open = stream->has_limit = false;
  stream->has_packets = true;
  stream->sequence++;
  int status = merge->merged.has_time ? patch(merge, stream, AT_TIMES + 8, stream->end, error) : KYMO_OK;
  if (status == KYMO_OK)
    status = patch(merge, stream, sizes, stream->at_bits, error);
  if (status == KYMO_OK)
    status = patch(merge, stream, sizes + 8, bits, error);
  return status == KYMO_OK ? kymo_ctf_file_close_packet(&stream->file, stream->start + bits / 8, error)
                           : status;
}

/* A packet without events, with the time and the losses up to it. */
static int mark(const struct kymo_ctf_merge *merge, struct kymo_ctf_merge_stream *stream, uint64_t time,
                struct kymo_error *error) {
  int status = open_packet(merge, stream, time > stream->end ? time : stream->end, error);
  return status == KYMO_OK ? close_packet(merge, stream, error) : status;
}

/* ---- events ---- */

/* Events come in the order of nanoseconds: within one, cycles of different streams may decrease. Readers
 * reject decreasing cycles, so such an event gets the clock value of the previous one, which is in the same
 * nanosecond. */
static uint64_t time_of(const struct kymo_ctf_merge *merge, const struct kymo_ctf_merge_stream *stream,
                        const struct kymo_event *event) {
  if (!event->has_time)
    return stream->end;
  uint64_t time = merge->merged.is_ns ? (uint64_t)(event->time_ns - merge->merged.ns_offset) : event->cycles;
  return time < stream->end && event->time_ns == stream->end_ns ? stream->end : time;
}

/* ---- the bytes before the payload ---- */

/* Stores a number of whole bytes; returns how many. */
static size_t put_number(uint8_t *to, uint64_t value, unsigned bits, bool big) {
  value = big ? value << (64 - bits) : value;
  value = big != KYMO_HOST_IS_BIG ? __builtin_bswap64(value) : value;
  memcpy(to, &value, bits / 8);
  return bits / 8;
}

static int encode_packet_fields(struct kymo_ctf_place *place, const struct kymo_event *event,
                                struct kymo_error *error) {
  struct kymo_walk walk;
  if (!kymo_walk_begin(&walk, event, KYMO_SCOPE_PACKET_CONTEXT))
    return KYMO_OK;
  return kymo_ctf_encode_walk(place, &walk, kymo_ctf_goes_with_events, error);
}

/* Fields of packets that look the same at any alignment are encoded once per packet. */
static int remember_packet(struct kymo_ctf_source *source, const uint32_t *boundaries, bool is_plain,
                           const struct kymo_event *event, struct kymo_error *error) {
  const struct kymo_type *context = event->class_->stream->packet_context;
  struct kymo_ctf_files memory = {.capacity = SIZE_MAX};
  struct kymo_ctf_file file = {.files = &memory, .fd = -1};
  struct kymo_ctf_place place = {.file = &file, .is_plain = is_plain};
  source->packet_count = kymo_decoder_of(event)->packet_count;
  source->is_usable = !kymo_decoder_of(event)->is_raw;
  for (uint32_t i = 0; context && i < context->member_count; i++)
    if (kymo_ctf_goes_with_events(&context->members[i]) && boundaries[context->members[i].type->id] > 8)
      source->is_usable = false;
  int status = encode_packet_fields(&place, event, error);
  source->is_usable &= place.at_bits % 8 == 0 && place.at_bits / 8 <= sizeof source->bytes;
  source->length = source->is_usable ? (uint32_t)(place.at_bits / 8) : 0;
  if (source->length)
    memcpy(source->bytes, file.bytes, source->length);
  free(file.bytes);
  return status;
}

/* Event header, source and fields of the packet. */
static int encode_head(const struct kymo_ctf_merge *merge, struct kymo_ctf_place *place,
                       const struct kymo_ctf_heading *heading, const struct kymo_event *event,
                       struct kymo_error *error) {
  const struct kymo_type *context = heading->context;
  uint8_t bytes[sizeof heading->source->bytes + 32];
  size_t count = put_number(bytes, heading->id, merge->merged.id_bits, is_big(merge));
  if (merge->merged.has_time)
    count += put_number(bytes + count, heading->time, 64, is_big(merge));
  if (merge->merged.may_lack_time)
    bytes[count++] = event->has_time;
  bool is_simple = context && context->align_bits <= 8 && heading->source->is_usable;
  uint64_t index = (uint64_t)(heading->source - merge->sources);
  place->at_bits = kymo_align_up(place->at_bits, 8);
  if (is_simple && merge->merged.source_bits)
    count += put_number(bytes + count, index, merge->merged.source_bits, is_big(merge));
  if (is_simple) {
    memcpy(bytes + count, heading->source->bytes, heading->source->length);
    count += heading->source->length;
  }
  int status = kymo_ctf_file_copy(place->file, place->start + place->at_bits / 8, bytes, count, error);
  place->at_bits += count * 8;
  if (status < 0 || is_simple || !context)
    return status;
  struct kymo_ctf_number number = {index, merge->merged.source_bits, 8, is_big(merge)};
  place->at_bits = kymo_align_up(place->at_bits, context->align_bits);
  if (number.width)
    status = kymo_ctf_encode_number(place, &number, error);
  return status == KYMO_OK ? encode_packet_fields(place, event, error) : status;
}

/* ---- the rest ---- */

/* Where the first of the scopes after the event header begins, and its alignment in the output. */
static bool find_body(const struct kymo_event *event, uint64_t *from, uint32_t *boundary) {
  const struct kymo_type *common = event->class_->stream->common_context;
  const struct kymo_type *types[] = {common, event->class_->specific_context, event->class_->payload};
  struct kymo_walk walk;
  for (int i = 0; i < 3; i++)
    if (types[i] && types[i]->member_count > 0 &&
        kymo_walk_begin(&walk, event, (enum kymo_scope)(KYMO_SCOPE_COMMON_CONTEXT + i))) {
      *from = walk.at_bits;
      *boundary = i == 0 ? common->members[0].type->align_bits : types[i]->align_bits;
      return true;
    }
  return false;
}

static uint32_t strictest(const uint32_t *boundaries, const struct kymo_event_class *class_) {
  const struct kymo_type *types[] = {class_->stream->common_context, class_->specific_context,
                                     class_->payload};
  uint32_t boundary = 8;
  for (int i = 0; i < 3; i++)
    boundary = types[i] && boundaries[types[i]->id] > boundary ? boundaries[types[i]->id] : boundary;
  return boundary;
}

/* Contexts and payload: copied at once, if their new offset has the same alignment as the old one. */
static int encode_body(struct kymo_ctf_place *place, const struct kymo_event *event,
                       const uint32_t *boundaries, struct kymo_error *error) {
  const struct kymo_event_class *class_ = event->class_;
  struct kymo_walk walk;
  uint64_t from;
  uint32_t boundary;
  bool is_raw = kymo_decoder_of(event)->is_raw;
  if (!is_raw && !place->is_plain && find_body(event, &from, &boundary)) {
    uint64_t to = kymo_align_up(place->at_bits, boundary ? boundary : 1);
    if (from % 8 == 0 && to % 8 == 0 && (to - from) % strictest(boundaries, class_) == 0) {
      place->at_bits = to;
      return kymo_ctf_encode_bytes(place, event, from, kymo_event_end(event), error);
    }
  }
  int status = KYMO_OK;
  if (kymo_walk_begin(&walk, event, KYMO_SCOPE_COMMON_CONTEXT))
    status = kymo_ctf_encode_walk(place, &walk, NULL, error);
  if (status == KYMO_OK)
    status =
        kymo_ctf_encode_scope(place, event, KYMO_SCOPE_SPECIFIC_CONTEXT, class_->specific_context, error);
  return status == KYMO_OK ? kymo_ctf_encode_scope(place, event, KYMO_SCOPE_PAYLOAD, class_->payload, error)
                           : status;
}

int kymo_ctf_merge_event(struct kymo_ctf_merge *merge, size_t part, const struct kymo_event *event,
                         struct kymo_error *error) {
  const struct kymo_ctf_origin *origin = &merge->merged.origins[part][event->class_->stream->index];
  struct kymo_ctf_merge_stream *stream = &merge->streams[origin->stream->index];
  uint64_t time = time_of(merge, stream, event);
  int status = KYMO_OK;
  if (stream->is_open && stream->has_limit && time > stream->limit)
    status = close_packet(merge, stream, error);
  if (status == KYMO_OK && !stream->is_open)
    status = open_packet(merge, stream, time, error);
  if (status < 0)
    return status;
  struct kymo_ctf_place place = {.file = &stream->file,
                                 .start = stream->start,
                                 .at_bits = stream->at_bits,
                                 .is_plain = merge->is_plain[part]};
  struct kymo_ctf_source *source = &merge->sources[merge->first_sources[part] + event->packet->stream->index];
  struct kymo_ctf_heading heading = {source, origin->stream->common_context,
                                     origin->ids[event->class_->index], time};
  if (source->packet_count != kymo_decoder_of(event)->packet_count)
    status = remember_packet(source, merge->boundaries[part], merge->is_plain[part], event, error);
  if (status == KYMO_OK)
    status = encode_head(merge, &place, &heading, event, error);
  if (status == KYMO_OK)
    status = encode_body(&place, event, merge->boundaries[part], error);
  if (status < 0)
    return status; /* the packet ends before it */
  stream->at_bits = place.at_bits;
  if (event->has_time && time >= stream->end) {
    stream->end = time;
    stream->end_ns = event->time_ns;
  }
  return stream->at_bits / 8 >= PACKET_BYTES ? close_packet(merge, stream, error) : KYMO_OK;
}

/* The packet ends where the loss began; the next one ends where the loss was over. For a loss before the
 * first packet the number of lost events is unknown. */
int kymo_ctf_merge_loss(struct kymo_ctf_merge *merge, size_t part, const struct kymo_loss *loss,
                        struct kymo_error *error) {
  if (!loss->stream->class_)
    return KYMO_OK;
  struct kymo_ctf_merge_stream *stream =
      &merge->streams[merge->merged.origins[part][loss->stream->class_->index].stream->index];
  uint64_t begin =
      merge->merged.is_ns ? (uint64_t)(loss->begin_ns - merge->merged.ns_offset) : loss->begin_cycles;
  uint64_t end = merge->merged.is_ns ? (uint64_t)(loss->end_ns - merge->merged.ns_offset) : loss->end_cycles;
  if (!loss->count_known) {
    if (stream->has_packets || stream->discarded)
      return KYMO_OK;
    stream->discarded = 1;
    return stream->is_open ? patch(merge, stream, at_sizes(merge) + 24, 1, error) : KYMO_OK;
  }
  int status = close_packet(merge, stream, error);
  if (status == KYMO_OK && !stream->has_packets)
    status = mark(merge, stream, loss->has_times ? begin : 0, error);
  stream->sequence += loss->is_packets ? loss->count : 0;
  stream->discarded += loss->is_packets ? 0 : loss->count;
  stream->has_news = true;
  stream->limit = loss->has_times && (!stream->has_limit || end > stream->limit) ? end : stream->limit;
  stream->has_limit |= loss->has_times;
  return status;
}

/* ---- the end ---- */

static int end_stream(const struct kymo_ctf_merge *merge, struct kymo_ctf_merge_stream *stream,
                      struct kymo_error *error) {
  int status = stream->file.has_failed ? KYMO_E_SYSTEM : close_packet(merge, stream, error);
  if (status == KYMO_OK && stream->has_news)
    status = mark(merge, stream, stream->has_limit ? stream->limit : stream->end, error);
  int end_status = kymo_ctf_file_end(&stream->file, status == KYMO_OK ? error : NULL);
  return status < 0 ? status : end_status;
}

int kymo_ctf_merge_end(struct kymo_ctf_merge *merge, struct kymo_error *error) {
  uint32_t count = merge->streams ? merge->merged.schema->stream_count : 0;
  int status = KYMO_OK;
  for (uint32_t i = 0; i < count; i++) {
    int one = end_stream(merge, &merge->streams[i], status == KYMO_OK ? error : NULL);
    status = status < 0 ? status : one;
  }
  for (size_t i = 0; merge->boundaries && i < merge->part_count; i++)
    free(merge->boundaries[i]);
  free(merge->boundaries);
  free(merge->first_sources);
  free(merge->is_plain);
  free(merge->sources);
  free(merge->streams);
  kymo_ctf_merged_free(&merge->merged);
  return status;
}
