/* SPDX-License-Identifier: MIT */
#include "sink/cpel/copy.h"
#include "base/fail.h"
#include "base/file.h"
#include "sink/cpel/datum.h"
#include "sink/cpel/strings.h"
#include "trace/part.h"
#include <stdio.h>
#include <stdlib.h>

#define NAME_BYTES KYMO_CPEL_NAME_BYTES
#define HEADER_BYTES 8
#define LIST_HEAD (NAME_BYTES + 4)   /* table, count */
#define EVENTS_HEAD (NAME_BYTES + 8) /* … and clock */
#define EVENT_BYTES KYMO_CPEL_EVENT_BYTES

/* Fields of the events of a class; NONE: a string replaces the datum. */
struct kymo_cpel_copy_class {
  bool is_set;
  uint32_t track, datum, text;
};

/* A section of events. */
struct kymo_cpel_copy_stream {
  uint64_t next, end;   /* where the next event may be in the file; the end of the events */
  uint64_t table, room; /* the table of its strings, and its size */
  uint64_t packet;      /* the last one seen */
  uint64_t count;       /* of events so far */
  struct kymo_spool spool;
};

static uint32_t load(const struct kymo_cpel_copy *copy, uint64_t at) {
  return kymo_cpel_load(copy->data + at, copy->is_big);
}

/* ---- which traces ---- */

bool kymo_cpel_can_copy(const struct kymo_trace *trace) {
  const struct kymo_part *part = kymo_trace_part_count(trace) == 1 ? kymo_trace_part(trace, 0) : NULL;
  return part && strcmp(part->format, "cpel") == 0 && kymo_part_offset_ns(part) == 0;
}

bool kymo_cpel_order(const struct kymo_trace *trace, bool *is_big) {
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const struct kymo_part *part = kymo_trace_part(trace, i);
    FILE *file = strcmp(part->format, "cpel") == 0 ? kymo_file_open(part->path) : NULL;
    int first = file ? getc(file) : EOF;
    if (file)
      fclose(file);
    *is_big = !(first & 0x80);
    if (first != EOF)
      return true;
  }
  return false;
}

/* ---- beginning ---- */

static int fail_changed(const struct kymo_cpel_copy *copy, uint64_t at, struct kymo_error *error) {
  return kymo_fail_at(error, KYMO_E_FORMAT, copy->part->path, at, "the file has changed while it was read");
}

static int look(struct kymo_cpel_copy *copy, struct kymo_error *error) {
  return kymo_map_get(&copy->map, 0, UINT64_MAX, &copy->data, &copy->size, error);
}

static bool is_there(const struct kymo_cpel_copy *copy, const struct kymo_section *section) {
  return section->offset <= copy->size && section->size_bytes <= copy->size - section->offset;
}

/* The first table with the name at `name`. */
static void find_table(const struct kymo_cpel_copy *copy, struct kymo_cpel_copy_stream *stream,
                       uint64_t name) {
  const char *wanted = (const char *)copy->data + name;
  size_t length = strnlen(wanted, NAME_BYTES);
  for (size_t i = 0; i < kymo_part_section_count(copy->part); i++) {
    const struct kymo_section *section = kymo_part_section(copy->part, i);
    const char *found = (const char *)copy->data + section->offset;
    if (section->type != KYMO_CPEL_STRINGS || section->size_bytes <= length ||
        memcmp(found, wanted, length) || found[length])
      continue;
    stream->table = section->offset;
    stream->room = section->size_bytes;
    return;
  }
}

static bool has_events(const struct kymo_section *section) {
  return section->type == KYMO_CPEL_EVENTS && section->size_bytes >= EVENTS_HEAD;
}

/* The number of entries of `size` bytes in a section after its head. */
static uint64_t count_entries(const struct kymo_cpel_copy *copy, const struct kymo_section *section,
                              uint64_t head, uint64_t size) {
  uint64_t said = load(copy, section->offset + NAME_BYTES), there = (section->size_bytes - head) / size;
  return said < there ? said : there;
}

/* Streams are the sections of events, in their order. */
static int begin_streams(struct kymo_cpel_copy *copy, const char *path, struct kymo_error *error) {
  size_t index = 0;
  copy->streams = kymo_arena_array(&copy->arena, copy->part->stream_count + 1u, sizeof *copy->streams);
  if (!copy->streams)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < copy->part->stream_count; i++)
    kymo_spool_begin(&copy->streams[i].spool, path);
  for (size_t i = 0; i < kymo_part_section_count(copy->part); i++) {
    const struct kymo_section *section = kymo_part_section(copy->part, i);
    if (!is_there(copy, section))
      return fail_changed(copy, section->offset, error);
    if (!has_events(section) || index == copy->part->stream_count)
      continue;
    struct kymo_cpel_copy_stream *stream = &copy->streams[index++];
    stream->packet = stream->next = section->offset + EVENTS_HEAD;
    stream->end = stream->next + EVENT_BYTES * count_entries(copy, section, EVENTS_HEAD, EVENT_BYTES);
    find_table(copy, stream, section->offset);
  }
  return KYMO_OK;
}

int kymo_cpel_copy_begin(struct kymo_cpel_copy *copy, struct kymo_trace *trace, struct kymo_cpel_out *out,
                         const char *path, struct kymo_error *error) {
  *copy =
      (struct kymo_cpel_copy){.trace = trace, .part = kymo_trace_part(trace, 0), .out = out, .map.fd = -1};
  int status = kymo_map_open(&copy->map, copy->part->path, error);
  if (status == KYMO_OK)
    status = look(copy, error);
  if (status == KYMO_OK && copy->size < HEADER_BYTES)
    status = fail_changed(copy, 0, error);
  if (status == KYMO_OK)
    status = kymo_numbers_begin(&copy->numbers, trace, error);
  if (status != KYMO_OK)
    return status;
  copy->is_big = !(copy->data[0] & 0x80);
  copy->classes = kymo_arena_array(&copy->arena, copy->numbers.class_count + 1u, sizeof *copy->classes);
  return copy->classes ? begin_streams(copy, path, error) : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

void kymo_cpel_copy_end(struct kymo_cpel_copy *copy) {
  for (uint32_t i = 0; copy->streams && i < copy->part->stream_count; i++)
    kymo_spool_end(&copy->streams[i].spool);
  kymo_map_close(&copy->map);
  kymo_numbers_end(&copy->numbers);
  kymo_arena_free(&copy->arena);
}

/* ---- events ---- */

/* Searched: the words of an event, or the text that its datum refers to. */
struct wanted {
  uint64_t time;
  uint32_t track, code, datum;
  const uint8_t *text;
  uint64_t length;
};

static bool is_text(const struct kymo_cpel_copy *copy, const struct kymo_cpel_copy_stream *stream,
                    uint32_t at, const struct wanted *wanted) {
  const uint8_t *found = copy->data + stream->table + at;
  return at < stream->room && wanted->length < stream->room - at &&
         memcmp(found, wanted->text, (size_t)wanted->length) == 0 && found[wanted->length] == 0;
}

static bool is_event(const struct kymo_cpel_copy *copy, const struct kymo_cpel_copy_stream *stream,
                     const struct wanted *wanted) {
  uint64_t at = stream->next, time = (uint64_t)load(copy, at) << 32 | load(copy, at + 4);
  if (time != wanted->time || load(copy, at + 8) != wanted->track || load(copy, at + 12) != wanted->code)
    return false;
  uint32_t datum = load(copy, at + 16);
  return wanted->text ? is_text(copy, stream, datum, wanted) : datum == wanted->datum;
}

static struct wanted want(struct kymo_cpel_copy *copy, const struct kymo_event *event) {
  struct kymo_cpel_copy_class *class_ = &copy->classes[kymo_event_get_class_number(event)];
  struct wanted wanted = {.time = event->cycles, .code = (uint32_t)event->class_->id};
  if (!class_->is_set)
    *class_ = (struct kymo_cpel_copy_class){.is_set = true,
                                            .track = kymo_field_id(copy->trace, event->class_, "track"),
                                            .datum = kymo_field_id(copy->trace, event->class_, "datum"),
                                            .text = kymo_field_id(copy->trace, event->class_, "text")};
  wanted.track = (uint32_t)kymo_cpel_number_of(event, class_->track);
  if (class_->datum != KYMO_FIELD_NONE)
    wanted.datum = (uint32_t)kymo_cpel_number_of(event, class_->datum);
  else
    kymo_event_get_bytes(event, class_->text, &wanted.text, &wanted.length);
  return wanted;
}

int kymo_cpel_copy_event(struct kymo_cpel_copy *copy, const struct kymo_event *event,
                         struct kymo_error *error) {
  struct kymo_cpel_copy_stream *stream = &copy->streams[event->packet->stream->index];
  struct wanted wanted = want(copy, event);
  uint64_t packet = event->packet->offset;
  if (packet != stream->packet) {
    int status = look(copy, error);
    if (status < 0)
      return status;
    stream->packet = packet;
    stream->next = packet > stream->next ? packet : stream->next;
  }
  while (stream->next < stream->end && stream->next + EVENT_BYTES <= copy->size &&
         !is_event(copy, stream, &wanted))
    stream->next += EVENT_BYTES;
  if (stream->next >= stream->end || stream->next + EVENT_BYTES > copy->size)
    return fail_changed(copy, stream->next, error);
  uint8_t bytes[EVENT_BYTES];
  for (unsigned i = 0; i < EVENT_BYTES; i += 4)
    kymo_cpel_store(bytes + i, load(copy, stream->next + i), copy->out->is_big);
  stream->next += EVENT_BYTES;
  stream->count++;
  return kymo_spool_add(&stream->spool, bytes, sizeof bytes, error);
}

/* ---- sections ---- */

/* Bytes of the source from `at` to `end`, whole words in the byte order of the output. */
static int write_words(struct kymo_cpel_copy *copy, uint64_t at, uint64_t end, struct kymo_error *error) {
  int status = KYMO_OK;
  for (; end - at >= 4 && status == KYMO_OK; at += 4) {
    uint32_t word = load(copy, at);
    status = kymo_cpel_out_words(copy->out, &word, 1, error);
  }
  return status == KYMO_OK ? kymo_cpel_out_bytes(copy->out, copy->data + at, (size_t)(end - at), error)
                           : status;
}

static int write_strings(struct kymo_cpel_copy *copy, const struct kymo_section *section,
                         struct kymo_error *error) {
  static const char zeros[4];
  uint64_t padding = -section->size_bytes & 3;
  int status =
      kymo_cpel_out_section(copy->out, KYMO_CPEL_STRINGS, section->size_bytes + padding, NULL, error);
  if (status == KYMO_OK)
    status = kymo_cpel_out_bytes(copy->out, copy->data + section->offset, (size_t)section->size_bytes, error);
  return status == KYMO_OK ? kymo_cpel_out_bytes(copy->out, zeros, (size_t)padding, error) : status;
}

struct symbol {
  uint32_t value, name;
};

static int compare_symbols(const void *a, const void *b) {
  const struct symbol *one = a, *other = b;
  if (one->value != other->value)
    return one->value < other->value ? -1 : 1;
  return one->name < other->name ? -1 : one->name > other->name;
}

/* Symbols sorted by value, as required. */
static int write_sorted(struct kymo_cpel_copy *copy, uint64_t at, uint64_t count, struct kymo_error *error) {
  struct symbol *symbols = calloc((size_t)count + 1, sizeof *symbols);
  int status = symbols ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  bool is_sorted = true;
  for (uint64_t i = 0; i < count && symbols; i++) {
    symbols[i] = (struct symbol){load(copy, at + 8 * i), load(copy, at + 8 * i + 4)};
    is_sorted &= i == 0 || symbols[i - 1].value <= symbols[i].value;
  }
  if (symbols && !is_sorted)
    qsort(symbols, (size_t)count, sizeof *symbols, compare_symbols);
  for (uint64_t i = 0; i < count && status == KYMO_OK; i++)
    status = kymo_cpel_out_words(copy->out, (const uint32_t[]){symbols[i].value, symbols[i].name}, 2, error);
  free(symbols);
  return status;
}

/* Definitions and symbols: the name of a table, a count, entries, and the bytes that may follow them. */
static int write_list(struct kymo_cpel_copy *copy, const struct kymo_section *section,
                      struct kymo_error *error) {
  uint64_t size = section->type == KYMO_CPEL_EVENT_DEFINITIONS ? 12 : 8, at = section->offset + LIST_HEAD;
  uint32_t count = (uint32_t)count_entries(copy, section, LIST_HEAD, size);
  uint64_t after = at + count * size, end = section->offset + section->size_bytes;
  const char *table = (const char *)copy->data + section->offset;
  int status = kymo_cpel_out_section(copy->out, (uint32_t)section->type, section->size_bytes, table, error);
  if (status == KYMO_OK)
    status = kymo_cpel_out_words(copy->out, &count, 1, error);
  if (status == KYMO_OK && section->type == KYMO_CPEL_SYMBOLS)
    status = write_sorted(copy, at, count, error);
  else if (status == KYMO_OK)
    status = write_words(copy, at, after, error);
  return status == KYMO_OK ? kymo_cpel_out_bytes(copy->out, copy->data + after, (size_t)(end - after), error)
                           : status;
}

static int write_events(struct kymo_cpel_copy *copy, const struct kymo_section *section,
                        struct kymo_cpel_copy_stream *stream, struct kymo_error *error) {
  uint64_t end = section->offset + section->size_bytes, after = end - stream->end;
  uint32_t words[] = {(uint32_t)stream->count, load(copy, section->offset + NAME_BYTES + 4)};
  uint64_t size = EVENTS_HEAD + stream->count * EVENT_BYTES + after;
  const char *table = (const char *)copy->data + section->offset;
  int status = kymo_cpel_out_section(copy->out, KYMO_CPEL_EVENTS, size, table, error);
  if (status == KYMO_OK)
    status = kymo_cpel_out_words(copy->out, words, 2, error);
  if (status == KYMO_OK)
    status = kymo_cpel_out_spool(copy->out, &stream->spool, error);
  return status == KYMO_OK ? kymo_cpel_out_bytes(copy->out, copy->data + stream->end, (size_t)after, error)
                           : status;
}

static int write_bytes(struct kymo_cpel_copy *copy, const struct kymo_section *section,
                       struct kymo_error *error) {
  int status = kymo_cpel_out_section(copy->out, (uint32_t)section->type, section->size_bytes, NULL, error);
  return status == KYMO_OK ? kymo_cpel_out_bytes(copy->out, copy->data + section->offset,
                                                 (size_t)section->size_bytes, error)
                           : status;
}

static int write_section(struct kymo_cpel_copy *copy, const struct kymo_section *section, size_t *stream,
                         struct kymo_error *error) {
  bool is_list = section->type >= KYMO_CPEL_SYMBOLS && section->type <= KYMO_CPEL_TRACK_DEFINITIONS;
  if (section->type == KYMO_CPEL_STRINGS)
    return write_strings(copy, section, error);
  if (is_list && section->size_bytes >= LIST_HEAD)
    return write_list(copy, section, error);
  if (has_events(section) && *stream < copy->part->stream_count)
    return write_events(copy, section, &copy->streams[(*stream)++], error);
  return write_bytes(copy, section, error);
}

int kymo_cpel_copy_write(struct kymo_cpel_copy *copy, struct kymo_error *error) {
  size_t stream = 0, count = kymo_part_section_count(copy->part);
  int status = look(copy, error);
  if (status == KYMO_OK && copy->size < HEADER_BYTES)
    status = fail_changed(copy, 0, error);
  if (status != KYMO_OK)
    return status;
  struct kymo_cpel_head head = {copy->data[0], copy->data[1], (uint32_t)count, load(copy, 4)};
  status = kymo_cpel_out_head(copy->out, &head, error);
  for (size_t i = 0; i < count && status == KYMO_OK; i++) {
    const struct kymo_section *section = kymo_part_section(copy->part, i);
    status = is_there(copy, section) ? write_section(copy, section, &stream, error)
                                     : fail_changed(copy, section->offset, error);
  }
  return status;
}
