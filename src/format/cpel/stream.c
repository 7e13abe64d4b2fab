/* SPDX-License-Identifier: MIT */
/*
 * The events of CPEL files and Gist logs: five words, of which the datum may refer to a string or a symbol.
 *
 *   file    | time high | time low | track | code | datum |
 *   packet  | time (64) | code | track | datum, or text, or both |      little-endian, described by schema.c
 *
 * A block of events at a time becomes a packet in which strings replace references to them. So the reader
 * needs no code of its own for CPEL.
 */
#include "base/fail.h"
#include "base/holes.h"
#include "base/printfmt.h"
#include "format/cpel/schema.h"
#include "format/cpel/stream.h"
#include "source/block.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIXED_BYTES 56     /* of an event in a packet, at most, with a short text and its zero */
#define EVENT_OFFSETS 4096 /* more events than a packet has */
#define SHORT_TEXT \
  32 /* as many bytes are copied as one or two registers have, into room that each event has */
#define LATE_TEXTS 1024
#define SYMBOL_BYTES 16 /* after a symbol's name */

/* What the streams of a file share. */
struct shared {
  struct cpel_file file;
  struct cpel_classes *classes;
  uint32_t users;
};

struct source {
  struct shared *shared;
  uint32_t index;
};

struct kymo_cursor {
  const struct shared *shared;
  const struct cpel_events *events;
  const struct cpel_classes *classes;
  struct kymo_map map;
  const uint8_t *data; /* of the file, as it is now */
  uint64_t size;
  uint32_t first, next; /* events: in the packet, and after it */
  uint64_t hole;        /* the event that a large hole of the file begins with, or the number of events */
  struct kymo_block packet;
  uint32_t offset_count;
  struct kymo_event_offset event_offsets[EVENT_OFFSETS];
  const struct cpel_class *late[256];
  struct late_text {
    uint32_t offset, length;
    bool is_set;
  } late_texts[LATE_TEXTS]; /* of the events' table */
  bool has_failed;          /* the file cannot be mapped any more: the stream ends */
  struct kymo_holes holes;
};

/* ---- one event ---- */

/* The content of an event. Text: the string of the datum, or NULL; symbol: the nearest one, or NULL, and the
 * distance from it. */
struct event {
  uint64_t time;
  uint32_t track, code, datum, above;
  const char *text, *symbol;
  size_t length, symbol_length;
};

static int compare_codes(const void *a, const void *b) {
  const struct cpel_class *one = a, *other = b;
  return one->code < other->code ? -1 : one->code > other->code;
}

static const struct cpel_class *find_class(struct kymo_cursor *cursor, uint32_t code) {
  const struct cpel_class **late = &cursor->late[code & 255], wanted = {.code = code};
  if (!*late || (*late)->code != code)
    *late = bsearch(&wanted, cursor->classes->list, cursor->classes->count, sizeof wanted, compare_codes);
  return *late;
}

static void find_symbol(const struct kymo_cursor *cursor, struct event *event) {
  const struct cpel_symbol *symbol = kymo_cpel_symbol(&cursor->shared->file, event->datum);
  if (symbol)
    event->symbol =
        kymo_cpel_string(cursor->data, cursor->size, symbol->table, symbol->name, &event->symbol_length);
  event->above = symbol ? event->datum - symbol->value : 0;
}

/* Sets the texts of the datum; false if the file has no string at its offset. */
static bool find_text(struct kymo_cursor *cursor, enum cpel_payload payload, struct event *event) {
  if (payload >= CPEL_DATUM_SYMBOL)
    find_symbol(cursor, event);
  if (payload == CPEL_DATUM || payload == CPEL_DATUM_SYMBOL)
    return true;
  event->text =
      kymo_cpel_string(cursor->data, cursor->size, cursor->events->table, event->datum, &event->length);
  if (event->text && event->length < SHORT_TEXT &&
      (size_t)(cursor->data + cursor->size - (const uint8_t *)event->text) >= SHORT_TEXT)
    cursor->late_texts[event->datum % LATE_TEXTS] =
        (struct late_text){event->datum, (uint32_t)event->length, true};
  return event->text != NULL;
}

static inline struct event load_event(const uint8_t *from, bool is_big) {
  return (struct event){.time = (uint64_t)cpel_load(from, is_big) << 32 | cpel_load(from + 4, is_big),
                        .track = cpel_load(from + 8, is_big),
                        .code = cpel_load(from + 12, is_big),
                        .datum = cpel_load(from + 16, is_big)};
}

/* "name+0x1c", or "0x0000001c" if no symbol is below. */
static void store_symbol(struct kymo_block *packet, const struct event *event) {
  char text[SYMBOL_BYTES + 1], *end;
  struct kymo_printfmt_piece hex = {
      .conversion = 'x', .zero = !event->symbol, .width = event->symbol ? 0 : 8};
  memcpy(text, "+0x", 3);
  end = kymo_printfmt_number(text + 3, &hex, event->symbol ? event->above : event->datum, 32);
  if (event->symbol)
    memcpy(packet->at, event->symbol, event->symbol_length);
  packet->at += event->symbol_length;
  const char *begin = event->symbol ? text : text + 1;
  kymo_block_text(packet, begin, (size_t)(end - begin));
}

static void store_event(struct kymo_block *packet, const struct event *event, enum cpel_payload payload) {
  kymo_block_number(packet, event->time, 8);
  kymo_block_number(packet, (uint64_t)event->track << 32 | event->code, 8);
  if (payload != CPEL_TEXT)
    kymo_block_number(packet, event->datum, 4);
  if (payload != CPEL_DATUM && payload != CPEL_DATUM_SYMBOL)
    kymo_block_text(packet, event->text, event->length);
  if (payload >= CPEL_DATUM_SYMBOL)
    store_symbol(packet, event);
}

/* ---- blocks ---- */

/* Moves after the next events that have no text, or no class. */
static int fail_event(struct kymo_cursor *cursor, const struct event *event, struct kymo_error *error) {
  const struct cpel_events *events = cursor->events;
  uint64_t at = events->at + (uint64_t)cursor->next * CPEL_EVENT_SIZE;
  const struct cpel_table *table = events->table;
  cursor->next++;
  if (!find_class(cursor, event->code))
    return kymo_fail_at(error, KYMO_E_FORMAT, cursor->shared->file.path, at + 12,
                        "event code %" PRIu32 " was left out", event->code);
  if (!table)
    return kymo_fail_at(error, KYMO_E_FORMAT, cursor->shared->file.path, at + 16,
                        "a string at %" PRIu32 " of table \"%s\", which does not exist", event->datum,
                        events->table_name);
  return kymo_fail_at(error, KYMO_E_FORMAT, cursor->shared->file.path, at + 16,
                      "no string at %" PRIu32 " of table \"%s\", which has %" PRIu32 " bytes", event->datum,
                      events->table_name, table->size);
}

/* The number of available events: the file may have shrunk. */
static uint64_t events_there(const struct kymo_cursor *cursor) {
  const struct cpel_events *events = cursor->events;
  uint64_t room = cursor->size > events->at ? (cursor->size - events->at) / CPEL_EVENT_SIZE : 0;
  return events->count < room ? events->count : room;
}

/* Skips the events that are in a hole of the file. */
static int fail_hole(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error) {
  uint64_t at = cursor->events->at + (uint64_t)cursor->next * CPEL_EVENT_SIZE;
  uint64_t count = kymo_cpel_hole_events(&cursor->holes, cursor->events, cursor->next, events_there(cursor));
  cursor->next += (uint32_t)count;
  chunk->lost_bytes = count * CPEL_EVENT_SIZE;
  return kymo_fail_at(error, KYMO_E_FORMAT, cursor->shared->file.path, at,
                      "a hole in the file (never written), where %" PRIu64 " events have space", count);
}

/* Stores as many of the next events as are simple, without a function call for any: numbers, and recently
 * used short texts. Their state stays in registers, since no store to the packet can alias the cursor. */
static inline __attribute__((always_inline)) void fill_usual(struct kymo_cursor *cursor, bool is_big) {
  const struct cpel_events *events = cursor->events;
  const struct cpel_class *classes = cursor->classes->list;
  uint64_t next = cursor->next, end = cursor->hole;
  const uint8_t *from = cursor->data + events->at + next * CPEL_EVENT_SIZE;
  bool has_table = events->table && events->table->at < cursor->size;
  const uint8_t *strings = has_table ? cursor->data + events->table->at : NULL;
  uint64_t table_size = has_table ? cursor->size - events->table->at : 0;
  uint8_t *at = cursor->packet.at, *begin = cursor->packet.bytes,
          *full = begin + KYMO_BLOCK_BYTES - FIXED_BYTES;
  struct kymo_event_offset *event_offset = cursor->event_offsets + cursor->offset_count,
                           *last = cursor->event_offsets + EVENT_OFFSETS;
  for (; next < end && at <= full && event_offset < last; next++, from += CPEL_EVENT_SIZE) {
    struct event event = load_event(from, is_big);
    const struct cpel_class *class_ = cursor->late[event.code & 255];
    const struct late_text *text = &cursor->late_texts[event.datum % LATE_TEXTS];
    bool has_text = class_ && class_->payload == CPEL_TEXT;
    if (!class_ || class_->code != event.code || class_->payload > CPEL_TEXT)
      break;
    if (has_text &&
        (text->offset != event.datum || !text->is_set || (uint64_t)event.datum + SHORT_TEXT > table_size))
      break;
    *event_offset++ = (struct kymo_event_offset){
        event.time, (uint32_t)(at - begin), (uint32_t)(class_ - classes) & KYMO_EVENT_OFFSET_CLASS, false};
    kymo_store_le64(at, event.time);
    kymo_store_le64(at + 8, (uint64_t)event.track << 32 | event.code);
    if (has_text) {
      memcpy(at + 16, strings + event.datum, SHORT_TEXT);
      at += 16 + text->length + 1;
      at[-1] = '\0';
    } else {
      kymo_store_le64(at + 16, event.datum);
      at += 20;
    }
  }
  cursor->next = (uint32_t)next;
  cursor->packet.at = at;
  cursor->offset_count = (uint32_t)(event_offset - cursor->event_offsets);
}

/* Stores any event. KYMO_END: there is no space left for it, or there is none at all. */
static int fill_one(struct kymo_cursor *cursor, struct kymo_error *error) {
  const struct cpel_events *events = cursor->events;
  uint64_t at = events->at + (uint64_t)cursor->next * CPEL_EVENT_SIZE;
  if (cursor->next >= cursor->hole)
    return KYMO_END;
  struct event event = load_event(cursor->data + at, cursor->shared->file.is_big);
  const struct cpel_class *class_ = find_class(cursor, event.code);
  if (!class_ || !find_text(cursor, class_->payload, &event))
    return cursor->offset_count ? KYMO_END : fail_event(cursor, &event, error);
  /* the end of a packet must not depend on recently used texts: the packet may be stored again from its
   * begin */
  bool is_usual = class_->payload <= CPEL_TEXT && event.length < SHORT_TEXT;
  size_t need = is_usual ? FIXED_BYTES : FIXED_BYTES + SYMBOL_BYTES + event.length + event.symbol_length;
  if (kymo_block_is_full(&cursor->packet, need) || cursor->offset_count == EVENT_OFFSETS)
    return KYMO_END;
  if (!kymo_block_reserve(&cursor->packet, need))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  cursor->event_offsets[cursor->offset_count++] =
      (struct kymo_event_offset){event.time, (uint32_t)kymo_block_used(&cursor->packet),
                                 (uint32_t)(class_ - cursor->classes->list) & KYMO_EVENT_OFFSET_CLASS, false};
  store_event(&cursor->packet, &event, class_->payload);
  cursor->next++;
  return KYMO_OK;
}

/* Fills the packet with the next events. KYMO_END, or the failure of the first of them. */
static int fill(struct kymo_cursor *cursor, struct kymo_error *error) {
  int status = KYMO_OK;
  cursor->first = cursor->next;
  cursor->offset_count = 0;
  kymo_block_clear(&cursor->packet);
  cursor->hole = kymo_cpel_hole(&cursor->holes, cursor->events, cursor->next, events_there(cursor));
  while (status == KYMO_OK) {
    if (cursor->shared->file.is_big)
      fill_usual(cursor, true);
    else
      fill_usual(cursor, false);
    status = fill_one(cursor, error);
  }
  return status == KYMO_END && cursor->offset_count ? KYMO_OK : status;
}

static int cpel_next(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error) {
  int status = KYMO_OK;
  struct kymo_block *packet = &cursor->packet;
  struct kymo_chunk passed = {0};
  if (cursor->has_failed)
    return KYMO_END;
  if (packet->skipped == kymo_block_used(packet)) {
    status = kymo_map_get(&cursor->map, 0, UINT64_MAX, &cursor->data, &cursor->size, error);
    if (status == KYMO_OK)
      status = fill(cursor, error);
    if (status == KYMO_END && cursor->next < events_there(cursor))
      status = fail_hole(cursor, &passed, error);
    status = kymo_block_check(packet, &cursor->map, status, error);
    cursor->has_failed = status == KYMO_E_SYSTEM;
  }
  *chunk = kymo_block_chunk(packet, cursor->shared->file.path);
  chunk->lost_bytes = passed.lost_bytes;
  chunk->event_offsets = cursor->event_offsets;
  chunk->offset_count = cursor->offset_count;
  chunk->offset = cursor->events->at + (uint64_t)cursor->first * CPEL_EVENT_SIZE;
  return status;
}

static void cpel_skip(struct kymo_cursor *cursor, uint64_t size_bytes) {
  cursor->packet.skipped += (size_t)size_bytes;
}

static void cpel_seek(struct kymo_cursor *cursor, uint32_t file, uint64_t offset) {
  (void)file;
  cursor->next = (uint32_t)((offset - cursor->events->at) / CPEL_EVENT_SIZE);
  kymo_block_clear(&cursor->packet);
}

static void cpel_end(struct kymo_cursor *cursor) {
  kymo_map_close(&cursor->map);
  free(cursor->packet.bytes);
  free(cursor);
}

static int cpel_begin(struct kymo_cursor **out, void *from, struct kymo_error *error) {
  const struct source *source = from;
  struct kymo_cursor *cursor = *out = calloc(1, sizeof *cursor);
  if (!cursor)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  cursor->shared = source->shared;
  cursor->events = &source->shared->file.events[source->index];
  cursor->classes = &source->shared->classes[source->index];
  cursor->holes = (struct kymo_holes){.bytes_at = kymo_map_bytes, .user = &cursor->map};
  int status = kymo_map_open(&cursor->map, source->shared->file.path, error);
  if (status == KYMO_OK && !kymo_block_reserve(&cursor->packet, KYMO_BLOCK_BYTES))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status != KYMO_OK)
    cpel_end(cursor);
  return status;
}

static void give_up(struct shared *shared) {
  if (--shared->users)
    return;
  kymo_cpel_close(&shared->file);
  free(shared->classes);
  free(shared);
}

static void cpel_free(void *from) {
  struct source *source = from;
  give_up(source->shared);
  free(source);
}

static const struct kymo_source_operations operations = {
    .begin = cpel_begin,
    .next = cpel_next,
    .skip = cpel_skip,
    .seek = cpel_seek,
    .end = cpel_end,
    .free = cpel_free,
};

/* ---- opening ---- */

static int add_stream(struct kymo_trace *trace, struct kymo_part *part, struct shared *shared, uint32_t index,
                      struct kymo_error *error) {
  struct source *source = calloc(1, sizeof *source);
  if (!source)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  *source = (struct source){shared, index};
  shared->users++;
  struct kymo_stream_source stream = {.operations = &operations,
                                      .source = source,
                                      .class_ = part->schema->streams[index],
                                      .path = shared->file.path,
                                      .instance = index};
  return kymo_part_add_stream(trace, part, &stream, error);
}

int kymo_cpel_add(struct kymo_trace *trace, struct cpel_file *file, struct kymo_part **part,
                  struct kymo_error *error) {
  struct shared *shared = calloc(1, sizeof *shared);
  struct kymo_part_source part_source = {.format = file->format, .path = file->path};
  struct kymo_error local = {.code = KYMO_OK}, *why = error ? error : &local;
  if (!shared) {
    kymo_cpel_close(file);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  *shared = (struct shared){.file = *file, .users = 1};
  int status = KYMO_OK;
  shared->classes = calloc(file->events_count + 1, sizeof *shared->classes);
  if (shared->classes)
    part_source.schema = kymo_cpel_schema(&shared->file, trace, shared->classes, why);
  else
    kymo_fail(why, KYMO_E_MEMORY, "out of memory");
  status = part_source.schema ? kymo_trace_add_part(trace, &part_source, part, why) : why->code;
  if (status == KYMO_OK)
    status = kymo_cpel_add_sections(&shared->file, trace, *part, why);
  kymo_map_close(&shared->file.map);
  for (uint32_t i = 0; status == KYMO_OK && i < shared->file.events_count; i++)
    status = add_stream(trace, *part, shared, i, why);
  give_up(shared);
  return status;
}
