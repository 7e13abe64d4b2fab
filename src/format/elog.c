/* SPDX-License-Identifier: MIT */
/*
 * clib's event logs ("elog v0", VPP): all numbers big-endian, those of 64 bits with the low word first.
 *
 *   7, "elog v0", ring size
 *   stamps: when written, when started      each: ns since 2017-03-30 14:45:08 UTC (VPP before April 2017:
 *                                           since 1970), ticks of the processor
 *   types: format, kinds of arguments, index + 1, texts of enumerations
 *   tracks: names          heap: texts          events: type, track, seconds since start (double), arguments
 *
 * Lengths of texts are numbers of one to nine bytes. Kinds of arguments: iN integer, fN float, tN index of an
 * enumeration's text, TN offset of a text in the heap, sN text; N bytes.
 *
 * A block of events at a time becomes a packet of CTF's kind: time (64 bits), type, track, arguments.
 */
#include "base/fail.h"
#include "base/file.h"
#include "base/holes.h"
#include "base/printfmt.h"
#include "format/formats.h"
#include "schema/build.h"
#include "schema/message.h"
#include "source/block.h"
#include "source/map.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define MAGIC "\0\0\0\7elog v0"
#define MAGIC_SIZE 11
#define EPOCH_SECONDS INT64_C(1490885108) /* 2017-03-30 14:45:08 UTC */
/* VPP counted from 1970 before April 2017, and the log does not contain the epoch. A start after this limit
 * (2055 from the later epoch, 2008 from 1970) is of such a log. */
#define LATE_START_NS UINT64_C(1200000000000000000)
#define EVENT_HEAD_SIZE 12
#define ARGUMENTS_MAX 20 /* an event has 20 bytes for them in memory */

struct argument {
  char kind;
  uint8_t size;
};

struct type {
  struct argument arguments[ARGUMENTS_MAX];
  uint32_t count;
};

/* Shared data of all cursors of a log. */
struct source {
  struct kymo_arena arena;
  char *path;
  struct type *types;
  uint32_t type_count;
  uint64_t heap, events; /* their offsets in the file */
  uint32_t heap_size, event_count;
};

struct kymo_cursor {
  const struct source *source;
  struct kymo_map map;
  uint64_t at,
      first;     /* in the file: the next event, UINT64_MAX after unreadable bytes; and the packet's first
              * event */
  uint32_t next; /* number of the next event */
  struct kymo_block packet;
  struct kymo_holes holes;
  bool has_failed; /* the file cannot be mapped any more: the stream ends */
};

/* ---- numbers and texts ---- */

static uint64_t read_u64(struct kymo_bytes *bytes) {
  uint64_t low = kymo_bytes_u32(bytes), high = kymo_bytes_u32(bytes);
  return high << 32 | low;
}

static uint64_t read_sized(struct kymo_bytes *bytes, unsigned size) {
  switch (size) {
  case 1: return kymo_bytes_u8(bytes);
  case 2: return kymo_bytes_u16(bytes);
  case 4: return kymo_bytes_u32(bytes);
  default: return read_u64(bytes);
  }
}

/* The length of a text: the lowest set bit of the first byte gives the number of its bytes. */
static uint64_t read_length(struct kymo_bytes *bytes) {
  uint8_t first = kymo_bytes_u8(bytes);
  if (first & 1)
    return first >> 1;
  unsigned more = first & 2 ? 1 : first & 4 ? 3 : 8;
  const uint8_t *rest = kymo_bytes_take(bytes, more);
  if (!rest)
    return 0;
  if (more == 8)
    return kymo_load_le64(rest);
  uint32_t value = first;
  for (unsigned i = 0; i < more; i++)
    value |= (uint32_t)rest[i] << (8 * (i + 1));
  return more == 1 ? (value >> 2) + 128 : (value >> 3) + 128 + 16384;
}

static const uint8_t *read_text(struct kymo_bytes *bytes, size_t *length) {
  uint64_t said = read_length(bytes);
  *length = said <= SIZE_MAX ? (size_t)said : SIZE_MAX;
  return kymo_bytes_take(bytes, *length);
}

/* ---- the head of the file ---- */

struct maker {
  struct source *source;
  struct kymo_trace *trace;
  struct kymo_bytes bytes;
  struct kymo_builder *builder;
  struct kymo_stream_class *stream;
  struct kymo_error *error;
};

static int no_memory(struct maker *maker) { return kymo_fail(maker->error, KYMO_E_MEMORY, "out of memory"); }

static int fail_here(struct maker *maker, const char *what) {
  return kymo_fail_at(maker->error, KYMO_E_FORMAT, maker->source->path, maker->bytes.at,
                      maker->bytes.failed ? "expected %s, found the end of the file" : "%s", what);
}

static char *keep_text(struct maker *maker) {
  size_t length;
  const uint8_t *text = read_text(&maker->bytes, &length);
  char *copy = text ? kymo_builder_alloc(maker->builder, length + 1) : NULL;
  if (copy)
    memcpy(copy, text, length);
  return copy;
}

/* "i4i2t1": the kinds of arguments. */
static int read_kinds(struct maker *maker, struct type *type) {
  size_t length;
  const uint8_t *kinds = read_text(&maker->bytes, &length);
  for (size_t i = 0; kinds && i < length; type->count++) {
    char kind = (char)kinds[i++];
    unsigned size = 0;
    while (i < length && kinds[i] >= '0' && kinds[i] <= '9' && size < 100)
      size = size * 10 + (unsigned)(kinds[i++] - '0');
    bool is_number = size == 1 || size == 2 || size == 4 || size == 8;
    bool is_good =
        kind == 's' || (kind == 'f' ? size == 4 || size == 8 : strchr("itT", kind) && kind && is_number);
    if (!is_good || type->count == ARGUMENTS_MAX)
      return fail_here(maker, "arguments of an unknown kind");
    type->arguments[type->count] = (struct argument){kind, (uint8_t)size};
  }
  return kinds ? KYMO_OK : fail_here(maker, "kinds of arguments");
}

static int read_labels(struct maker *maker, const struct kymo_mapping **out, uint32_t *count) {
  *count = kymo_bytes_u32(&maker->bytes);
  if (*count > maker->bytes.size - maker->bytes.at) /* each has a byte at least */
    return fail_here(maker, "more texts of an enumeration than the file has bytes");
  struct kymo_mapping *mappings = kymo_builder_alloc(maker->builder, (*count + 1u) * sizeof *mappings);
  if (!mappings)
    return no_memory(maker);
  for (uint32_t i = 0; i < *count; i++) {
    mappings[i] = (struct kymo_mapping){keep_text(maker), i, i};
    if (!mappings[i].name)
      return fail_here(maker, "a text of an enumeration");
  }
  *out = mappings;
  return KYMO_OK;
}

/* ---- schema ---- */

static const struct kymo_type *integer(struct maker *maker, struct kymo_type type) {
  type.kind = KYMO_KIND_INTEGER;
  type.align_bits = 8;
  return kymo_builder_type(maker->builder, &type);
}

static const struct kymo_type *argument_type(struct maker *maker, struct argument argument, char conversion,
                                             const struct kymo_mapping *labels, uint32_t label_count) {
  struct kymo_type type = {.align_bits = 8, .size_bits = 8u * argument.size};
  switch (argument.kind) {
  case 'f': type.kind = KYMO_KIND_FLOAT; return kymo_builder_type(maker->builder, &type);
  case 't':
    type.mappings = labels;
    type.mapping_count = label_count;
    type.is_enumeration = true;
    return integer(maker, type);
  case 'i':
    /* arguments of one and two bytes are widened without sign before they are printed */
    type.is_signed = argument.size >= 4 && (conversion == 'd' || conversion == 'i');
    type.base = conversion == 'x' || conversion == 'X' ? 16 : conversion == 'o' ? 8 : 10;
    return integer(maker, type);
  default:
    return kymo_builder_type(maker->builder,
                             &(struct kymo_type){.kind = KYMO_KIND_STRING, .encoding = KYMO_ENCODING_UTF8});
  }
}

/* The conversions of a format, in order. NULL: clib does not support the format, or it asks for very wide
 * texts. */
static const struct kymo_printfmt_piece *conversions_of(struct maker *maker, const char *format) {
  struct kymo_printfmt parsed;
  struct kymo_printfmt_fault fault;
  if (!kymo_printfmt_parse(&parsed, &maker->source->arena, format, strlen(format), KYMO_PRINTFMT_WHOLE,
                           &fault))
    return NULL;
  for (size_t i = 0; i < parsed.count; i++) {
    const struct kymo_printfmt_piece *piece = &parsed.pieces[i];
    if (piece->width_is_argument || piece->precision_is_argument || piece->width > KYMO_PRINTFMT_WIDTH ||
        piece->precision > KYMO_PRINTFMT_WIDTH ||
        (piece->conversion && !strchr("diuoxXcsfgeEG%", piece->conversion)))
      return NULL;
  }
  return parsed.pieces;
}

static char next_conversion(const struct kymo_printfmt_piece **piece) {
  while (*piece && (*piece)->conversion == '%')
    (*piece)++;
  return *piece && (*piece)->conversion ? (*piece)++->conversion : '\0';
}

static const struct kymo_type *make_payload(struct maker *maker, const struct type *type,
                                            const struct kymo_printfmt_piece *piece,
                                            const struct kymo_mapping *labels, uint32_t label_count) {
  struct kymo_member members[ARGUMENTS_MAX] = {0};
  for (uint32_t i = 0; i < type->count; i++) {
    char name[16];
    snprintf(name, sizeof name, "arg%" PRIu32, i);
    members[i].name = kymo_builder_text(maker->builder, name);
    members[i].type = argument_type(maker, type->arguments[i], next_conversion(&piece), labels, label_count);
  }
  return kymo_builder_struct(maker->builder, members, type->count);
}

/* The first text between arguments that contains letters, without signs and blanks around it: "rx(%d): port"
 * is "rx", "%s: idx %d" is "idx". For a format without such a text, "event" and the type's number. */
static char *name_of(struct maker *maker, const char *format, uint32_t index) {
  static const char before[] = " :;=([{<)]}>-,.#", after[] = " :=([{<-,.#";
  char number[24];
  for (const char *at = format; *at;) {
    size_t length = strcspn(at, "%");
    const char *begin = at + strspn(at, before), *end = at + length;
    while (end > begin && strchr(after, end[-1]))
      end--;
    if (begin < end) {
      char *name = kymo_builder_text(maker->builder, begin);
      if (name)
        name[end - begin] = '\0';
      return name;
    }
    at += length;
    if (strncmp(at, "%%", 2) == 0) {
      at += 2;
      continue;
    }
    at += strspn(at, "%-+ #0123456789.*hlLz"); /* a conversion up to its letter */
    at += *at != '\0';
  }
  snprintf(number, sizeof number, "event%" PRIu32, index);
  return kymo_builder_text(maker->builder, number);
}

static int read_type(struct maker *maker, uint32_t index) {
  struct type *type = &maker->source->types[index];
  const struct kymo_mapping *labels = NULL;
  uint32_t label_count = 0;
  char *format = keep_text(maker);
  if (!format)
    return fail_here(maker, "a type's format");
  int status = read_kinds(maker, type);
  kymo_bytes_u32(&maker->bytes); /* its index plus one: types are in order */
  if (status == KYMO_OK)
    status = read_labels(maker, &labels, &label_count);
  if (status != KYMO_OK)
    return status;
  const struct kymo_printfmt_piece *pieces = conversions_of(maker, format);
  struct kymo_event_class event = {.id = index,
                                   .level = -1,
                                   .group = "",
                                   .template_text = format,
                                   .attributes = pieces ? KYMO_MESSAGE_ATTRIBUTES : NULL,
                                   .name = name_of(maker, format, index),
                                   .payload = make_payload(maker, type, pieces, labels, label_count)};
  if (!event.name || !event.payload)
    return no_memory(maker);
  return kymo_builder_event(maker->builder, maker->stream, &event, NULL, maker->error);
}

/* The stream class; the tracks are known after the types. */
static int make_stream(struct maker *maker, int64_t start_ns, int64_t epoch_seconds) {
  struct kymo_clock clock = {.name = "elog",
                             .frequency = 1000000000,
                             .origin_is_epoch = true,
                             .description = "nanoseconds since the log was started",
                             .offset_seconds = epoch_seconds + start_ns / 1000000000,
                             .offset_cycles = (uint64_t)(start_ns % 1000000000)};
  const struct kymo_clock *kept = kymo_builder_clock(maker->builder, &clock);
  const struct kymo_member header[] = {
      {.name = "time", .type = kymo_builder_number(maker->builder, 64, KYMO_ROLE_TIMESTAMP, kept)},
      {.name = "type", .type = kymo_builder_number(maker->builder, 16, KYMO_ROLE_EVENT_CLASS_ID, NULL)}};
  struct kymo_stream_class stream = {.clock = kept,
                                     .event_header = kymo_builder_struct(maker->builder, header, 2)};
  if (!kept || !stream.event_header)
    return no_memory(maker);
  return kymo_builder_stream(maker->builder, &stream, &maker->stream, maker->error);
}

/* The number of entries that follow; each has at least `least` bytes. */
static int read_count(struct maker *maker, uint32_t *count, uint32_t least, const char *what) {
  *count = kymo_bytes_u32(&maker->bytes);
  if (maker->bytes.failed || *count > (maker->bytes.size - maker->bytes.at) / least)
    return kymo_fail_at(maker->error, KYMO_E_FORMAT, maker->source->path, maker->bytes.at,
                        "%" PRIu32 " %s in %zu bytes to the end of the file", *count, what,
                        maker->bytes.size - maker->bytes.at);
  return KYMO_OK;
}

static int read_types(struct maker *maker) {
  struct source *source = maker->source;
  int status = read_count(maker, &source->type_count, 10, "types");
  if (status == KYMO_OK && source->type_count > 65536)
    status = fail_here(maker, "more than 65536 types");
  if (status == KYMO_OK &&
      !(source->types = kymo_arena_array(&source->arena, source->type_count + 1, sizeof *source->types)))
    status = no_memory(maker);
  for (uint32_t i = 0; i < source->type_count && status == KYMO_OK; i++)
    status = read_type(maker, i);
  return status;
}

static int read_tracks(struct maker *maker) {
  const struct kymo_mapping *names = NULL;
  uint32_t count = 0;
  int status = read_labels(maker, &names, &count);
  if (status != KYMO_OK)
    return status;
  const struct kymo_member track = {.name = "track",
                                    .type = integer(maker, (struct kymo_type){.size_bits = 16,
                                                                              .mappings = names,
                                                                              .mapping_count = count,
                                                                              .is_enumeration = true})};
  maker->stream->common_context = kymo_builder_struct(maker->builder, &track, 1);
  return maker->stream->common_context ? KYMO_OK : no_memory(maker);
}

static int read_rest(struct maker *maker) {
  struct source *source = maker->source;
  int status = read_count(maker, &source->heap_size, 1, "bytes of texts");
  source->heap = maker->bytes.at;
  kymo_bytes_take(&maker->bytes, source->heap_size);
  source->event_count = status == KYMO_OK ? kymo_bytes_u32(&maker->bytes) : 0;
  source->events = maker->bytes.at;
  return status == KYMO_OK && maker->bytes.failed ? fail_here(maker, "the number of events") : status;
}

static struct kymo_schema *read_head(struct maker *maker) {
  kymo_bytes_take(&maker->bytes, MAGIC_SIZE + 4 + 16);
  size_t start_at = maker->bytes.at;
  uint64_t start_ns = read_u64(&maker->bytes);
  bool is_old = start_ns >= LATE_START_NS;
  read_u64(&maker->bytes);
  int status = maker->builder ? KYMO_OK : no_memory(maker);
  if (status == KYMO_OK && (maker->bytes.failed || start_ns > INT64_MAX / 2))
    status = fail_here(maker, "two stamps of time");
  if (status == KYMO_OK) {
    kymo_builder_schema(maker->builder)->order = KYMO_ORDER_LITTLE;
    status = make_stream(maker, (int64_t)start_ns, is_old ? 0 : EPOCH_SECONDS);
  }
  if (status == KYMO_OK && is_old)
    kymo_trace_warn(
        maker->trace, maker->source->path, start_at,
        "the log's start is %" PRIu64
        " s after 2017-03-30, a date in the future: read as seconds since 1970, as VPP before April 2017 "
        "counted",
        start_ns / 1000000000);
  if (status == KYMO_OK)
    status = read_types(maker);
  if (status == KYMO_OK)
    status = read_tracks(maker);
  if (status == KYMO_OK)
    status = read_rest(maker);
  return kymo_builder_end(maker->builder, status, maker->error);
}

/* ---- events ---- */

/* After a corrupt event the next one cannot be found. */
static int fail_event(struct kymo_cursor *cursor, struct kymo_error *error, const char *what) {
  cursor->next = cursor->source->event_count;
  return kymo_fail_at(error, KYMO_E_FORMAT, cursor->source->path, cursor->at,
                      "%s: what follows cannot be read", what);
}

/* All events are read, and the file has more bytes. */
static int fail_end(struct kymo_cursor *cursor, uint64_t size, struct kymo_error *error) {
  uint64_t at = cursor->at;
  cursor->at = UINT64_MAX;
  return kymo_fail_at(error, KYMO_E_FORMAT, cursor->source->path, at,
                      "%" PRIu64 " byte%s after the last of %" PRIu32 " events", size - at,
                      size - at == 1 ? "" : "s", cursor->source->event_count);
}

/* Stores one argument. False: it is corrupt, or there is no memory. */
static bool store_argument(struct kymo_cursor *cursor, struct argument argument, struct kymo_bytes *bytes,
                           const uint8_t *heap) {
  const struct source *source = cursor->source;
  size_t length = 0;
  if (argument.kind == 's') {
    const uint8_t *text = read_text(bytes, &length);
    if (!text || !kymo_block_reserve(&cursor->packet, length + 8))
      return false;
    kymo_block_text(&cursor->packet, text, strnlen((const char *)text, length));
    return true;
  }
  uint64_t value = read_sized(bytes, argument.size);
  if (bytes->failed)
    return false;
  if (argument.kind != 'T') {
    if (!kymo_block_reserve(&cursor->packet, 16))
      return false;
    kymo_block_number(&cursor->packet, value, argument.size);
    return true;
  }
  if (value >= source->heap_size)
    return false;
  length = strnlen((const char *)heap + value, source->heap_size - (size_t)value);
  if (!kymo_block_reserve(&cursor->packet, length + 8))
    return false;
  kymo_block_text(&cursor->packet, heap + value, length);
  return true;
}

static int store_event(struct kymo_cursor *cursor, struct kymo_bytes *bytes, const uint8_t *heap,
                       struct kymo_error *error) {
  const struct source *source = cursor->source;
  uint16_t type = kymo_bytes_u16(bytes), track = kymo_bytes_u16(bytes);
  uint64_t bits = read_u64(bytes);
  double seconds;
  memcpy(&seconds, &bits, sizeof seconds);
  if (bytes->failed)
    return fail_event(cursor, error, "the file ends within an event");
  if (type >= source->type_count)
    return fail_event(cursor, error, "an event of a type that is not described");
  if (!(seconds >= 0 && seconds < 9e9))
    return fail_event(cursor, error, "an event at no time");
  if (!kymo_block_reserve(&cursor->packet, 32))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  size_t begin = kymo_block_used(&cursor->packet);
  kymo_block_number(&cursor->packet, (uint64_t)llround(seconds * 1e9), 8);
  kymo_block_number(&cursor->packet, type, 2);
  kymo_block_number(&cursor->packet, track, 2);
  for (uint32_t i = 0; i < source->types[type].count; i++)
    if (!store_argument(cursor, source->types[type].arguments[i], bytes, heap)) {
      cursor->packet.at = cursor->packet.bytes + begin;
      return fail_event(cursor, error,
                        bytes->failed ? "the file ends within an event"
                                      : "a text outside the texts of the log");
    }
  return KYMO_OK;
}

static int fill(struct kymo_cursor *cursor, struct kymo_error *error) {
  const struct source *source = cursor->source;
  const uint8_t *data;
  uint64_t size;
  int status = kymo_map_get(&cursor->map, 0, UINT64_MAX, &data, &size, error);
  struct kymo_bytes bytes = {.data = data, .size = (size_t)size, .is_big = true, .at = (size_t)cursor->at};
  kymo_block_clear(&cursor->packet);
  cursor->first = cursor->at;
  if (status == KYMO_OK && (cursor->at > size || source->heap + source->heap_size > size))
    return cursor->next < source->event_count ? fail_event(cursor, error, "the file has shrunk") : KYMO_END;
  uint64_t hole = status == KYMO_OK && cursor->next < source->event_count
                      ? kymo_holes_large(&cursor->holes, cursor->at, size)
                      : size;
  if (status == KYMO_OK && hole <= cursor->at && hole < size) {
    fail_event(cursor, error, "a hole in the file (never written)");
    cursor->at = UINT64_MAX;
    return KYMO_E_FORMAT;
  }
  while (status == KYMO_OK && cursor->next < source->event_count && bytes.at < hole &&
         !kymo_block_is_full(&cursor->packet, 64)) {
    struct kymo_error why = {.code = KYMO_OK};
    status = store_event(cursor, &bytes, data + source->heap, &why);
    if (status != KYMO_OK && kymo_block_used(&cursor->packet)) {
      cursor->next = source->event_count - 1; /* reported after the packet */
      return KYMO_OK;
    }
    if (status != KYMO_OK && error)
      *error = why;
    cursor->at = status == KYMO_OK ? bytes.at : UINT64_MAX;
    cursor->next += status == KYMO_OK;
  }
  if (status != KYMO_OK || kymo_block_used(&cursor->packet))
    return status;
  return cursor->at < size ? fail_end(cursor, size, error) : KYMO_END;
}

/* ---- cursor ---- */

static int elog_next(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error) {
  struct kymo_block *packet = &cursor->packet;
  if (cursor->has_failed)
    return KYMO_END;
  int status = packet->skipped == kymo_block_used(packet) ? fill(cursor, error) : KYMO_OK;
  status = kymo_block_check(packet, &cursor->map, status, error);
  cursor->has_failed = status == KYMO_E_SYSTEM;
  *chunk = kymo_block_chunk(packet, cursor->source->path);
  chunk->offset = cursor->first;
  return status;
}

static void elog_skip(struct kymo_cursor *cursor, uint64_t size_bytes) {
  cursor->packet.skipped += (size_t)size_bytes;
}

static void elog_end(struct kymo_cursor *cursor) {
  kymo_map_close(&cursor->map);
  free(cursor->packet.bytes);
  free(cursor);
}

static int elog_begin(struct kymo_cursor **out, void *source, struct kymo_error *error) {
  struct kymo_cursor *cursor = *out = calloc(1, sizeof *cursor);
  if (!cursor)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  cursor->source = source;
  cursor->at = cursor->source->events;
  cursor->holes = (struct kymo_holes){.bytes_at = kymo_map_bytes, .user = &cursor->map};
  int status = kymo_map_open(&cursor->map, cursor->source->path, error);
  if (status == KYMO_OK && !kymo_block_reserve(&cursor->packet, 0))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status != KYMO_OK)
    elog_end(cursor);
  return status;
}

static void elog_free(void *from) {
  struct source *source = from;
  kymo_arena_free(&source->arena);
  free(source);
}

static const struct kymo_source_operations operations = {
    .begin = elog_begin,
    .next = elog_next,
    .skip = elog_skip,
    .end = elog_end,
    .free = elog_free,
};

/* ---- opening ---- */

static int elog_probe(const char *path, struct kymo_error *error) {
  char head[MAGIC_SIZE];
  size_t size;
  int status = kymo_file_peek(path, head, sizeof head, &size, NULL, error);
  bool is_other = status == KYMO_OK && (size < sizeof head || memcmp(head, MAGIC, MAGIC_SIZE) != 0);
  return is_other ? KYMO_E_UNKNOWN : status;
}

static int open_one(struct kymo_trace *trace, const char *path, struct kymo_error *error) {
  struct source *source = calloc(1, sizeof *source);
  struct kymo_part_source part_source = {.format = "elog", .path = path};
  struct kymo_part *part = NULL;
  struct kymo_map map = {.fd = -1};
  const uint8_t *data = NULL;
  uint64_t size = 0;
  if (!source)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  source->path = kymo_arena_copy(&source->arena, path, strlen(path));
  int status =
      source->path ? kymo_map_open(&map, path, error) : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK)
    status = kymo_map_get(&map, 0, UINT64_MAX, &data, &size, error);
  if (status == KYMO_OK) {
    struct maker maker = {.source = source,
                          .trace = trace,
                          .bytes = {.data = data, .size = (size_t)size, .is_big = true},
                          .builder = kymo_builder_new(),
                          .error = error};
    part_source.schema = read_head(&maker);
    if (part_source.schema && source->arena.failed) { /* some format is missing */
      kymo_schema_release(part_source.schema);
      part_source.schema = NULL;
      kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    }
    if (part_source.schema && kymo_map_check(&map, error) != KYMO_OK) {
      kymo_schema_release(part_source.schema);
      part_source.schema = NULL;
    }
    status = part_source.schema ? kymo_trace_add_part(trace, &part_source, &part, error) : error->code;
  }
  kymo_map_close(&map);
  if (status != KYMO_OK) {
    elog_free(source);
    return status;
  }
  struct kymo_stream_source stream = {.operations = &operations,
                                      .source = source,
                                      .class_ = part->schema->streams[0],
                                      .path = path,
                                      .instance = UINT64_MAX};
  return kymo_part_add_stream(trace, part, &stream, error);
}

static int elog_open(struct kymo_trace *trace, const char *const *paths, size_t count,
                     struct kymo_error *error) {
  return kymo_open_each(trace, paths, count, open_one, error);
}

const struct kymo_format kymo_format_elog = {
    .name = "elog",
    .summary = "clib's event logs, as VPP saves them",
    .probe = elog_probe,
    .open = elog_open,
};
