/* SPDX-License-Identifier: MIT */
/* Reads packet headers, and finds the next one after damage. */
#include "decode/packet.h"
#include "base/fail.h"
#include "base/holes.h"
#include "decode/load.h"
#include "source/map.h"
#include <inttypes.h>
#include <string.h>

#define CTF_MAGIC UINT32_C(0xc1fc1fc1)

/* bit numbers of the roles */
enum {
  AT_MAGIC,
  AT_UUID,
  AT_STREAM_CLASS,
  AT_STREAM,
  AT_EVENT,
  AT_TIME,
  AT_END_TIME,
  AT_SIZE,
  AT_CONTENT,
  AT_SEQUENCE,
  AT_DISCARDED,
};

_Static_assert(1 << AT_DISCARDED == KYMO_ROLE_DISCARDED && AT_DISCARDED + 1 == KYMO_ROLE_COUNT,
               "role bits and their numbers agree");

/* The arguments of kymo_packet_read, and the results so far. */
struct reading {
  const struct kymo_schema_plan *plan;
  const struct kymo_chunk *chunk;
  const struct kymo_stream_class *class_;
  struct kymo_packet_head *head;
  struct kymo_error *error;
  struct kymo_run run;
  struct kymo_meaning meaning;
};

static bool has(const struct reading *reading, uint32_t role) { return reading->meaning.present & role; }

#define FAIL(reading, ...) \
  kymo_fail_at((reading)->error, KYMO_E_FORMAT, (reading)->chunk->path, (reading)->chunk->offset, __VA_ARGS__)

static int run_head(struct reading *reading, const struct kymo_program *program, const char *what) {
  if (kymo_program_run(program, &reading->run))
    return KYMO_OK;
  char text[256];
  kymo_decode_error_text(&reading->run, text, sizeof text);
  reading->head->is_short = reading->run.error != KYMO_DECODE_ERROR_TAG;
  return kymo_fail_at(reading->error, KYMO_E_FORMAT, reading->chunk->path,
                      reading->chunk->offset + reading->run.at / 8, "packet %s: %s", what, text);
}

static int check_identity(struct reading *reading) {
  const struct kymo_schema *schema = reading->plan->schema;
  uint64_t *values = reading->meaning.values;
  if (has(reading, KYMO_ROLE_MAGIC) && values[AT_MAGIC] != CTF_MAGIC)
    return FAIL(reading, "packet magic number: expected 0x%08" PRIx32 ", found 0x%08" PRIx64, CTF_MAGIC,
                values[AT_MAGIC]);
  /* There are traces of CTF 1.8 whose packets have another uuid than their metadata; all readers accept
   * them. */
  if (!has(reading, KYMO_ROLE_UUID) || !schema->has_uuid || schema->major < 2)
    return KYMO_OK;
  uint8_t uuid[16];
  for (unsigned i = 0; i < 16; i++)
    uuid[i] = (uint8_t)kymo_fast_le(reading->run.data, values[AT_UUID] + 8 * i, 8);
  if (memcmp(uuid, schema->uuid, 16) != 0)
    return FAIL(reading, "packet uuid differs from the one in the metadata");
  return KYMO_OK;
}

static int find_class(struct reading *reading) {
  const struct kymo_schema *schema = reading->plan->schema;
  const struct kymo_stream_class *class_ = reading->class_;
  if (has(reading, KYMO_ROLE_STREAM_CLASS_ID)) {
    uint64_t id = reading->meaning.values[AT_STREAM_CLASS];
    class_ = kymo_schema_stream(schema, id);
    if (!class_)
      return FAIL(reading, "no stream class has the id %" PRIu64 " that the packet names", id);
  } else if (!class_ && schema->stream_count == 1) {
    class_ = schema->streams[0];
  }
  if (!class_)
    return FAIL(reading, "the packet names no stream class, and the metadata has %" PRIu32,
                schema->stream_count);
  reading->head->plan = &reading->plan->streams[class_->index];
  return KYMO_OK;
}

/* Checked last: then the size of the packet is known, and the packets after it can be read. */
static int check_class(struct reading *reading) {
  const struct kymo_stream_class *class_ = reading->head->plan->class_;
  if (!reading->class_ || class_ == reading->class_)
    return KYMO_OK;
  return FAIL(reading, "the packet is of stream class %" PRIu64 ", the ones before it of %" PRIu64,
              class_->id, reading->class_->id);
}

static uint64_t bits_of(uint64_t bytes) { return bytes < KYMO_MAX_BITS / 8 ? bytes * 8 : KYMO_MAX_BITS; }

static int find_sizes(struct reading *reading) {
  struct kymo_packet *packet = &reading->head->packet;
  uint64_t available = reading->run.end, *values = reading->meaning.values;
  uint64_t rest = bits_of(reading->chunk->rest_bytes);
  rest = rest > available ? rest : available;
  bool has_size = has(reading, KYMO_ROLE_PACKET_SIZE), has_content = has(reading, KYMO_ROLE_CONTENT_SIZE);
  uint64_t size = has_size ? values[AT_SIZE] : has_content ? values[AT_CONTENT] : rest;
  uint64_t content = has_content ? values[AT_CONTENT] : size;
  reading->head->has_size = has_size || has_content;
  if (size == 0)
    return FAIL(reading, "packet size is 0");
  if (size % 8 != 0)
    return FAIL(reading, "packet size of %" PRIu64 " bits is not a whole number of bytes", size);
  if (size < reading->run.at)
    return FAIL(reading, "packet size of %" PRIu64 " bits is less than its header's %" PRIu64, size,
                reading->run.at);
  packet->size_bits = size;
  if (content > size)
    return FAIL(reading, "packet content of %" PRIu64 " bits is more than its size of %" PRIu64, content,
                size);
  if (content < reading->run.at)
    return FAIL(reading, "packet content of %" PRIu64 " bits is less than its header's %" PRIu64, content,
                reading->run.at);
  reading->head->is_cut = size > rest;
  reading->head->bytes = (size < rest ? size : rest) / 8;
  content = content < rest ? content : rest;
  reading->head->unseen_bytes = content > available ? (content + 7) / 8 : 0;
  packet->content_bits = content < available ? content : available;
  return KYMO_OK;
}

static void find_times(struct reading *reading, uint64_t clock) {
  struct kymo_packet *packet = &reading->head->packet;
  const struct kymo_meaning *meaning = &reading->meaning;
  packet->has_begin = has(reading, KYMO_ROLE_TIMESTAMP);
  packet->begin_cycles = packet->has_begin ? meaning->clock : 0;
  reading->head->begin_bits = meaning->widths[AT_TIME];
  packet->has_end = has(reading, KYMO_ROLE_TIMESTAMP_END);
  if (packet->has_end)
    packet->end_cycles = kymo_clock_update(packet->has_begin ? meaning->clock : clock,
                                           meaning->values[AT_END_TIME], meaning->widths[AT_END_TIME]);
  reading->head->is_end_zero = packet->has_end && meaning->values[AT_END_TIME] == 0;
  reading->head->clock = meaning->clock;
}

static void find_counters(struct reading *reading) {
  struct kymo_packet_head *head = reading->head;
  const struct kymo_meaning *meaning = &reading->meaning;
  head->packet.sequence = has(reading, KYMO_ROLE_SEQUENCE_NUMBER) ? meaning->values[AT_SEQUENCE] : UINT64_MAX;
  head->packet.has_discarded = has(reading, KYMO_ROLE_DISCARDED);
  head->packet.discarded = head->packet.has_discarded ? meaning->values[AT_DISCARDED] : 0;
  head->discarded_bits = meaning->widths[AT_DISCARDED];
  head->sequence_bits = meaning->widths[AT_SEQUENCE];
  head->has_instance = has(reading, KYMO_ROLE_STREAM_ID);
  head->instance = head->has_instance ? meaning->values[AT_STREAM] : UINT64_MAX;
}

int kymo_packet_read(const struct kymo_schema_plan *plan, const struct kymo_chunk *chunk,
                     const struct kymo_stream_class *class_, uint64_t clock, const struct kymo_notes *notes,
                     struct kymo_packet_head *head, struct kymo_error *error) {
  *head = (struct kymo_packet_head){.packet = {.data = chunk->data, .offset = chunk->offset},
                                    .follows_loss = chunk->follows_loss,
                                    .lost_events = chunk->lost_events};
  struct reading reading = {.plan = plan, .chunk = chunk, .class_ = class_, .head = head, .error = error};
  reading.meaning.clock = clock;
  reading.run = (struct kymo_run){.data = chunk->data,
                                  .end = bits_of(chunk->size_bytes),
                                  .segments = notes->segments,
                                  .slots = notes->slots,
                                  .meaning = &reading.meaning,
                                  .budget = KYMO_SPEND_LIMIT};
  int status = run_head(&reading, &plan->header_program, "header");
  if (status == KYMO_OK)
    status = check_identity(&reading);
  if (status == KYMO_OK)
    status = find_class(&reading);
  if (status == KYMO_OK)
    status = run_head(&reading, &head->plan->packet_program, "context");
  if (status != KYMO_OK)
    return status;
  find_times(&reading, clock);
  find_counters(&reading);
  head->events_bits = reading.run.at;
  status = find_sizes(&reading);
  return status == KYMO_OK ? check_class(&reading) : status;
}

/* The role's number if it is at a constant byte of every packet header. */
static const struct kymo_op *find_constant(const struct kymo_schema_plan *plan, uint32_t role) {
  const struct kymo_program *program = &plan->header_program;
  for (uint32_t i = 0; i < program->op_count; i++) {
    const struct kymo_op *op = &program->ops[i];
    if (op->code == KYMO_OP_ROLE && (op->roles & role))
      return op->offset % 8 == 0 ? op : NULL;
    if (op->code != KYMO_OP_ROLE && op->code != KYMO_OP_SAVE)
      return NULL;
  }
  return NULL;
}

/* Offset of the next magic number from the byte `at` of the chunk on; the chunk's size if there is none.
 * Holes of the file are skipped: they contain only zeros. */
static uint64_t find_magic(const struct kymo_chunk *chunk, struct kymo_holes *holes, const uint8_t *magic,
                           uint64_t at) {
  enum { BYTES = 4, OVERLAP = BYTES - 1 };
  uint64_t end = chunk->offset + chunk->size_bytes;
  for (at += chunk->offset; at<end; at = holes->bytes_to> at ? holes->bytes_to : end) {
    uint64_t first = kymo_holes_pass(holes, at, end), from = first > at + OVERLAP ? first - OVERLAP : at;
    uint64_t to = holes->bytes_to > at && holes->bytes_to < end && end - holes->bytes_to > OVERLAP
                      ? holes->bytes_to + OVERLAP
                      : end;
    const uint8_t *found = memmem(chunk->data + (from - chunk->offset), (size_t)(to - from), magic, BYTES);
    if (found)
      return (uint64_t)(found - chunk->data);
  }
  return chunk->size_bytes;
}

/* Bytes from the start of `chunk` to the next possible packet (same magic number and uuid), at least `from`;
 * or the chunk's size if there is none. */
static uint64_t search(const struct kymo_schema_plan *plan, const struct kymo_chunk *chunk, uint64_t from) {
  const struct kymo_op *number = find_constant(plan, KYMO_ROLE_MAGIC);
  const struct kymo_op *uuid = plan->schema->has_uuid ? find_constant(plan, KYMO_ROLE_UUID) : NULL;
  struct kymo_holes holes = {.bytes_at = chunk->map ? kymo_map_bytes : NULL, .user = chunk->map};
  uint8_t magic[4];
  if (!number || number->bits != 32)
    return chunk->size_bytes;
  for (unsigned i = 0; i < sizeof magic; i++)
    magic[i] = (uint8_t)(CTF_MAGIC >> (number->is_big ? 24 - 8 * i : 8 * i));
  uint64_t place = number->offset / 8, reach = place + 4;
  if (uuid && uuid->offset / 8 + 16 > reach)
    reach = uuid->offset / 8 + 16;
  for (; chunk->size_bytes >= reach; from++) {
    from = find_magic(chunk, &holes, magic, from + place) - place;
    if (from > chunk->size_bytes - reach)
      break;
    if (!uuid || memcmp(chunk->data + from + uuid->offset / 8, plan->schema->uuid, 16) == 0)
      return from;
  }
  /* one may begin in the window and end after it */
  return chunk->rest_bytes && chunk->size_bytes >= reach ? chunk->size_bytes - reach + 1 : chunk->size_bytes;
}

uint64_t kymo_packet_bad_bytes(const struct kymo_schema_plan *plan, const struct kymo_chunk *chunk,
                               const struct kymo_packet_head *head) {
  uint64_t size = head->packet.size_bits / 8,
           rest = chunk->rest_bytes ? chunk->rest_bytes : chunk->size_bytes;
  if (size == 0)
    size = search(plan, chunk, 1);
  return size < rest ? size : rest;
}

/* ---- losses ---- */

unsigned kymo_packet_losses(const struct kymo_packet *previous, const struct kymo_packet_head *head,
                            struct kymo_loss losses[2]) {
  const struct kymo_packet *packet = &head->packet;
  unsigned count = 0;
  if (packet->has_discarded && !previous && packet->discarded != 0) {
    /* Before the first packet, or in it: the number is unknown. */
    losses[count++] = (struct kymo_loss){.has_times = packet->has_begin && packet->has_end,
                                         .begin_cycles = packet->begin_cycles,
                                         .end_cycles = packet->end_cycles};
  }
  if (packet->has_discarded && previous && previous->has_discarded) {
    uint64_t lost = (packet->discarded - previous->discarded) & (UINT64_MAX >> (64 - head->discarded_bits));
    if (lost)
      losses[count++] = (struct kymo_loss){.count_known = true,
                                           .count = lost,
                                           .has_times = previous->has_end && packet->has_end,
                                           .begin_cycles = previous->end_cycles,
                                           .end_cycles = packet->end_cycles};
  }
  if (packet->sequence != UINT64_MAX && previous && previous->sequence != UINT64_MAX) {
    uint64_t mask = UINT64_MAX >> (64 - head->sequence_bits);
    uint64_t steps = (packet->sequence - previous->sequence) & mask;
    if (steps > 1 && steps <= mask / 2)
      losses[count++] = (struct kymo_loss){.is_packets = true,
                                           .count_known = true,
                                           .count = steps - 1,
                                           .has_times = previous->has_end && packet->has_begin,
                                           .begin_cycles = previous->end_cycles,
                                           .end_cycles = packet->begin_cycles};
  }
  if (head->follows_loss && count < 2) {
    bool is_known = head->lost_events != UINT64_MAX;
    losses[count++] = (struct kymo_loss){.count_known = is_known, .count = is_known ? head->lost_events : 0};
  }
  return count;
}
