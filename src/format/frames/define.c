/* SPDX-License-Identifier: MIT */
/*
 * Definitions in framed logs (schema/definition.h): found in a pass over the parts of each file that may
 * contain some, before anything is delivered, since the event classes of a trace are known from the
 * beginning. Each file repeats the definitions that it needs.
 */
#include "base/fail.h"
#include "base/list.h"
#include "format/frames/frames.h"
#include "source/format.h"
#include <stdio.h>
#include <stdlib.h>

enum { INDEXES = 1 << 16, CLASSES_MAX = INDEXES - FRAMES_CLASSES };

void kymo_frames_definitions_free(struct frames_definitions *definitions) {
  for (uint32_t i = 0; i < definitions->count; i++) {
    free(definitions->list[i].parsed);
    free(definitions->list[i].record);
  }
  free(definitions->list);
  free(definitions->by_index);
}

/* ---- collecting ---- */

/* A separate copy of a record; its fields are no more than it has. */
static bool keep(struct frames_definition *out, const struct kymo_event_definition *parsed,
                 const uint8_t *record, uint32_t size, bool is_big) {
  struct kymo_event_definition again;
  struct kymo_event_definition_fault fault;
  size_t used =
      offsetof(struct kymo_event_definition, fields) + parsed->field_count * sizeof parsed->fields[0];
  *out = (struct frames_definition){.parsed = malloc(used), .record = malloc(size), .size = size};
  if (!out->parsed || !out->record)
    return false;
  memcpy(out->record, record, size);
  kymo_event_definition_parse(&again, out->record, size, is_big, &fault);
  memcpy(out->parsed, &again, used);
  return true;
}

static bool grow(struct frames_definitions *definitions) {
  if (!definitions->by_index)
    definitions->by_index = calloc(INDEXES, sizeof *definitions->by_index);
  return definitions->by_index &&
         KYMO_LIST_ROOM(definitions->list, definitions->capacity, definitions->count);
}

static int add(struct frames *frames, const struct kymo_event_definition *parsed, const uint8_t *record,
               uint32_t size) {
  struct frames_definitions *definitions = &frames->definitions;
  struct frames_definition *next;
  if (!grow(definitions))
    return KYMO_E_MEMORY;
  next = &definitions->list[definitions->count];
  if (!keep(next, parsed, record, size, frames->files[0]->head.is_big)) {
    free(next->parsed);
    free(next->record);
    return KYMO_E_MEMORY;
  }
  next->class_index = (frames->all_classes ? FRAMES_CLASSES : FRAMES_DEFINITION) + definitions->count++;
  definitions->by_index[parsed->index] = definitions->count;
  return KYMO_OK;
}

static void report(struct frames *frames, const struct frames_file *file, uint64_t offset, const char *text) {
  struct kymo_damage damage = {.path = file->path, .offset = offset, .code = KYMO_E_FORMAT, .message = text};
  kymo_trace_add_damage(frames->trace, &damage);
}

/* A record at `offset` in the file. KYMO_OK, also if it is invalid; KYMO_E_MEMORY. */
static int take(struct frames *frames, const struct frames_file *file, uint64_t offset, const uint8_t *record,
                uint32_t size) {
  struct kymo_event_definition parsed;
  struct kymo_event_definition_fault fault;
  if (!kymo_event_definition_parse(&parsed, record, size, file->head.is_big, &fault)) {
    report(frames, file, offset + fault.at, fault.text);
    return KYMO_OK;
  }
  const struct frames_definition *known = kymo_frames_definition(frames, parsed.index);
  if (known && (known->size != size || memcmp(known->record, record, size) != 0)) {
    snprintf(fault.text, sizeof fault.text, "expected definition %u as it was before, found another one",
             parsed.index);
    report(frames, file, offset, fault.text);
  }
  if (!known && frames->definitions.count == CLASSES_MAX)
    report(frames, file, offset, "more definitions than a trace has event classes");
  return known || frames->definitions.count == CLASSES_MAX ? KYMO_OK : add(frames, &parsed, record, size);
}

/* ---- the pass ---- */

/* Takes the frames in the window; KYMO_OK or KYMO_E_MEMORY. */
static int take_all(struct frames *frames, struct frames_window *window) {
  int status = KYMO_OK;
  for (; window->count && status == KYMO_OK; window->first++, window->count--) {
    const struct frames_entry entry = *kymo_frames_window_head(window);
    const uint8_t *record =
        entry.flags & KYMO_FRAME_DEFINITION_ ? kymo_frames_window_event(window, &entry) : NULL;
    if (record)
      status = take(frames, window->file, entry.offset, record, entry.size);
  }
  return status;
}

static int pass_over(struct frames *frames, struct frames_file *file, uint64_t to, struct kymo_error *error) {
  struct frames_window *window = calloc(1, sizeof *window);
  if (!window)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  window->has_definitions = true;
  window->is_followed = kymo_trace_is_followed(frames->trace);
  int status = kymo_frames_window_open(window, file, error);
  window->at = file->defined_to ? file->defined_to : file->head.begin;
  while (status == KYMO_OK && window->at < to &&
         (status = kymo_frames_window_show(window, error)) == KYMO_OK) {
    kymo_frames_window_fill(window, 0);
    if (!window->count && !window->is_broken)
      break;
    if (take_all(frames, window) != KYMO_OK)
      status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    if (window->is_broken)
      kymo_frames_window_repair(window); /* reported when events are read */
  }
  file->defined_to = window->at;
  if (status == KYMO_E_SYSTEM && window->is_followed) /* rotated away */
    status = KYMO_OK;
  kymo_frames_window_close(window);
  free(window);
  return status;
}

int kymo_frames_define(struct frames *frames, struct kymo_error *error) {
  int status = KYMO_OK;
  for (uint32_t i = 0; i < frames->count && status == KYMO_OK; i++) {
    struct frames_file *file = frames->files[i];
    if (file->head.defined_to > file->defined_to)
      status = pass_over(frames, file, file->head.defined_to, error);
  }
  return status;
}

int kymo_frames_define_more(struct frames *frames, struct kymo_part *part, struct kymo_error *error) {
  uint32_t before = frames->definitions.count;
  struct kymo_error why;
  for (uint32_t i = 0; i < frames->count; i++) {
    struct frames_head head;
    if (kymo_frames_head(&head, frames->files[i]->path, &why) == KYMO_OK)
      frames->files[i]->head.defined_to = head.defined_to;
  }
  int status = kymo_frames_define(frames, error);
  if (status != KYMO_OK || frames->definitions.count == before)
    return status;
  struct kymo_schema *schema = kymo_frames_schema(frames, error);
  return schema ? kymo_part_renew(frames->trace, part, schema, error) : error->code;
}

/* ---- rows ---- */

size_t kymo_frames_defined_room(const struct frames_definition *definition, size_t size) {
  return size + 4 * (size_t)definition->parsed->field_count;
}

static void put_float(struct kymo_block *block, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  kymo_block_number(block, bits, sizeof bits);
}

static void put_elements(struct kymo_block *block, const struct kymo_event_definition_value *value,
                         uint32_t size) {
  struct kymo_bytes from = {
      .data = value->bytes, .size = (size_t)value->count * size, .is_big = value->is_big};
  kymo_block_number(block, value->count, 4);
  if (size == 1) {
    memcpy(block->at, value->bytes, value->count);
    block->at += value->count;
    return;
  }
  for (uint32_t i = 0; i < value->count; i++)
    kymo_block_number(block,
                      size == 2   ? kymo_bytes_u16(&from)
                      : size == 4 ? kymo_bytes_u32(&from)
                                  : kymo_bytes_u64(&from),
                      size);
}

static void put_value(struct kymo_block *block, uint32_t what,
                      const struct kymo_event_definition_value *value) {
  switch (kymo_field_kind(what)) {
  case KYMO_FIELD_IS_TEXT:
  case KYMO_FIELD_IS_COUNTED_TEXT:
  case KYMO_FIELD_IS_CHARS:
    kymo_block_text(block, value->bytes,
                    value->count ? strnlen((const char *)value->bytes, value->count) : 0);
    break;
  case KYMO_FIELD_IS_ARRAY: put_elements(block, value, kymo_field_element(what)); break;
  case KYMO_FIELD_IS_MEMORY:
    memcpy(block->at, value->bytes, value->count);
    block->at += value->count;
    break;
  case KYMO_FIELD_IS_TIMEVAL:
    put_float(block, (double)(int64_t)value->number + value->microseconds / 1e6);
    break;
  case KYMO_FIELD_IS_ID: kymo_block_number(block, value->number, 4); break;
  default: kymo_block_number(block, value->number, kymo_field_bytes(what)); break;
  }
}

static bool is_time(uint32_t what) {
  uint32_t kind = kymo_field_kind(what);
  return kind == KYMO_FIELD_IS_TIME || kind == KYMO_FIELD_IS_TIMEVAL;
}

bool kymo_frames_define_time(const struct frames_definitions *definitions) {
  for (uint32_t i = 0; i < definitions->count; i++)
    for (uint32_t k = 0; k < definitions->list[i].parsed->field_count; k++)
      if (is_time(definitions->list[i].parsed->fields[k].what))
        return true;
  return false;
}

/* Nanoseconds since 1970; false for an earlier time, or one that does not fit 64 bits. */
static bool read_time(uint32_t what, const struct kymo_event_definition_value *value, uint64_t *time_ns) {
  uint64_t ns = value->number;
  if (kymo_field_kind(what) == KYMO_FIELD_IS_TIMEVAL &&
      (__builtin_mul_overflow(ns, UINT64_C(1000000000), &ns) ||
       __builtin_add_overflow(ns, value->microseconds * UINT64_C(1000), &ns)))
    return false;
  *time_ns = ns <= INT64_MAX ? ns : *time_ns;
  return ns <= INT64_MAX;
}

bool kymo_frames_defined_row(const struct frames_definition *definition, struct kymo_bytes *event,
                             struct kymo_block *block, uint64_t *time_ns, bool *has_time,
                             struct kymo_event_definition_fault *fault) {
  const struct kymo_event_definition *parsed = definition->parsed;
  struct kymo_event_definition_value value;
  bool is_first = true;
  *has_time = false;
  for (uint32_t i = 0; i < parsed->field_count; i++) {
    if (!kymo_event_definition_read(parsed, i, event, &value, fault))
      return false;
    put_value(block, parsed->fields[i].what, &value);
    if (is_first && is_time(parsed->fields[i].what)) {
      *has_time = read_time(parsed->fields[i].what, &value, time_ns);
      is_first = false;
    }
  }
  return kymo_event_definition_is_end(parsed, event, fault);
}
