/* SPDX-License-Identifier: MIT */
/*
 * Framed logs: all files of a stream are merged, in the order of their sequence numbers. The next frame of
 * all files becomes a row of an event class, some at a time in a packet:
 *
 *   files ─► order.c ─► frame ─► row (id, sequence number, CPU or thread, bytes) ─► packet
 *                 └─► lost numbers: the next packet's counter has them; damage: the packet ends before it
 */
#include "format/frames/frames.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/search.h"
#include "format/formats.h"
#include "source/block.h"
#include "source/format.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PLACES_MAX = 256, PACKET_HEAD = 8, ROW_HEAD = 2 + 8 + 1 + 4 + 4 };

/* The frame of a row. */
struct row {
  struct frames_entry entry;
  uint32_t window;
};

struct kymo_cursor {
  const struct frames *frames;
  struct frames_order order;
  struct kymo_block packet;
  struct kymo_event_offset *event_offsets; /* of the rows in the packet … */
  struct row *rows;                        /* … and where they are from */
  uint32_t count, capacity;
  bool is_start; /* the packet has no rows, and represents the start of the stream, before all frames … */
  uint32_t start_window;      /* … the first of which is in this window */
  uint64_t packets, interval; /* a position is stored at this interval of packets */
  struct frames_place *places;
  size_t place_count;
  bool has_failed;      /* for another reason than damage: the stream ends */
  int64_t undefined_ns; /* when an event was read whose definition may still be written, or 0 */
};

/* ---- rows ---- */

static bool has_room(struct kymo_cursor *cursor) {
  uint32_t capacity = cursor->capacity;
  return KYMO_LIST_ROOM(cursor->event_offsets, capacity, cursor->count) &&
         KYMO_LIST_ROOM(cursor->rows, cursor->capacity, cursor->count);
}

/* Without zeroes and control characters of terminals. */
static bool is_text(const uint8_t *bytes, uint32_t size) {
  for (uint32_t i = 0; i < size; i++)
    if (bytes[i] < 7 || (bytes[i] > 13 && bytes[i] < 32 && bytes[i] != 27))
      return false;
  return true;
}

/* SystemTap does not mark text. */
static enum frames_class class_of(const struct frames_file *file, const struct frames_entry *entry,
                                  const uint8_t *event) {
  bool is_cut = entry->flags & KYMO_FRAME_CUT_;
  bool may_be_text = file->head.is_stap ? entry->size > 0 && is_text(event, entry->size)
                                        : (entry->flags & KYMO_FRAME_TEXT_) && !memchr(event, 0, entry->size);
  if (entry->flags & KYMO_FRAME_DEFINITION_)
    return FRAMES_DEFINITION;
  if (may_be_text)
    return is_cut ? FRAMES_CUT_TEXT : FRAMES_TEXT;
  return is_cut ? FRAMES_CUT_BYTES : FRAMES_BYTES;
}

static void begin_row(struct kymo_cursor *cursor, uint32_t window, const struct frames_entry *entry,
                      uint32_t class_index) {
  struct kymo_block *packet = &cursor->packet;
  cursor->rows[cursor->count] = (struct row){*entry, window};
  cursor->event_offsets[cursor->count++] = (struct kymo_event_offset){
      .at = (uint32_t)kymo_block_used(packet), .class_index = class_index & KYMO_EVENT_OFFSET_CLASS};
  kymo_block_number(packet, class_index, 2);
  if (cursor->frames->has_time) {
    kymo_block_number(packet, 0, 8);
    kymo_block_number(packet, 0, 1);
  }
  kymo_block_number(packet, entry->number, 4);
  kymo_block_number(packet, entry->source, 4);
}

/* The row is complete. Its event's time is this, or if it has none, the time of the previous one. */
static void end_row(struct kymo_cursor *cursor, uint64_t time_ns, bool has_time) {
  struct kymo_event_offset *event_offset = &cursor->event_offsets[cursor->count - 1];
  struct kymo_block head = {.at = cursor->packet.bytes + event_offset->at + 2};
  cursor->order.time_ns = time_ns;
  if (!cursor->frames->has_time)
    return;
  kymo_block_number(&head, time_ns, 8);
  kymo_block_number(&head, has_time, 1);
  event_offset->cycles = time_ns;
  event_offset->is_untimed = !has_time;
}

/* Stores the frame as a row. The bytes are available. */
static void add_row(struct kymo_cursor *cursor, uint32_t window, const struct frames_entry *entry,
                    const uint8_t *event) {
  struct kymo_block *packet = &cursor->packet;
  enum frames_class class_ = class_of(cursor->order.windows[window]->file, entry, event);
  begin_row(cursor, window, entry, class_);
  if (class_ == FRAMES_TEXT || class_ == FRAMES_CUT_TEXT) {
    kymo_block_text(packet, event, entry->size);
  } else {
    kymo_block_number(packet, entry->size, 4);
    memcpy(packet->at, event, entry->size);
    packet->at += entry->size;
  }
  end_row(cursor, cursor->order.time_ns, false);
}

/* The definition that the event begins with; the cursor moves after it; NULL with `fault`. */
static const struct frames_definition *definition_of(const struct frames *frames, struct kymo_bytes *event,
                                                     struct kymo_event_definition_fault *fault) {
  uint16_t index = kymo_bytes_u16(event);
  const struct frames_definition *definition = event->failed ? NULL : kymo_frames_definition(frames, index);
  fault->at = 0;
  if (event->failed)
    snprintf(fault->text, sizeof fault->text, "expected the index of a definition, found %zu bytes",
             event->size);
  else if (!definition)
    snprintf(fault->text, sizeof fault->text,
             "expected an event of a definition in the file, found one of definition %u", index);
  return definition;
}

/* Stores an event according to its definition. KYMO_OK; KYMO_END: it is for the next packet; KYMO_AGAIN: its
 * definition may follow; negative: it is corrupt. */
static int add_defined(struct kymo_cursor *cursor, uint32_t window, const struct frames_entry *entry,
                       const uint8_t *event, struct kymo_error *error) {
  const struct frames_file *file = cursor->order.windows[window]->file;
  struct kymo_bytes bytes = {.data = event, .size = entry->size, .is_big = file->head.is_big};
  struct kymo_event_definition_fault fault;
  const struct frames_definition *definition = definition_of(cursor->frames, &bytes, &fault);
  size_t used = kymo_block_used(&cursor->packet),
         size = definition ? ROW_HEAD + kymo_frames_defined_room(definition, entry->size) : 0;
  if (kymo_block_is_full(&cursor->packet, size) && cursor->count)
    return KYMO_END;
  if (!definition && !bytes.failed && !cursor->count &&
      kymo_follow_may_describe(cursor->frames->trace, &cursor->undefined_ns))
    return KYMO_AGAIN;
  cursor->undefined_ns = 0;
  if (!has_room(cursor) || !kymo_block_reserve(&cursor->packet, size))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (definition) {
    uint64_t time_ns = cursor->order.time_ns;
    bool has_time;
    begin_row(cursor, window, entry, definition->class_index);
    if (kymo_frames_defined_row(definition, &bytes, &cursor->packet, &time_ns, &has_time, &fault)) {
      end_row(cursor, time_ns, has_time);
      return KYMO_OK;
    }
    cursor->count--;
    cursor->packet.at = cursor->packet.bytes + used;
  }
  return cursor->count
             ? KYMO_END
             : kymo_fail_at(error, KYMO_E_FORMAT, file->path, entry->offset + fault.at, "%s", fault.text);
}

/* ---- packets ---- */

static bool is_delivered(const struct kymo_cursor *cursor, const struct frames_entry *entry) {
  return !(entry->flags & KYMO_FRAME_DEFINITION_) || cursor->frames->all_classes;
}

/* Takes the first frame of that window, and adds it. KYMO_OK, KYMO_END: it is for the next packet;
 * negative. */
static int add_frame(struct kymo_cursor *cursor, uint32_t at, struct kymo_error *error) {
  struct frames_window *window = cursor->order.windows[at];
  const struct frames_entry entry = *kymo_frames_window_head(window);
  size_t size = ROW_HEAD + (size_t)entry.size + 4;
  const uint8_t *event = kymo_frames_window_event(window, &entry);
  if (cursor->count && (!event || kymo_block_is_full(&cursor->packet, size)))
    return KYMO_END;
  int status = KYMO_OK;
  if (event && entry.flags & KYMO_FRAME_DEFINED_) {
    if ((status = add_defined(cursor, at, &entry, event, error)) == KYMO_END || status == KYMO_AGAIN ||
        status == KYMO_E_MEMORY)
      return status;
  } else if (event && is_delivered(cursor, &entry)) {
    if (!has_room(cursor) || !kymo_block_reserve(&cursor->packet, size))
      return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    add_row(cursor, at, &entry, event);
  }
  kymo_frames_order_take(&cursor->order, at);
  return event ? status
               : kymo_fail_at(error, KYMO_E_FORMAT, window->file->path, entry.offset,
                              "the file was truncated, events are gone");
}

static void begin_packet(struct kymo_cursor *cursor) {
  kymo_block_clear(&cursor->packet);
  cursor->count = 0;
  cursor->is_start = false;
  kymo_block_number(&cursor->packet, cursor->order.lost, PACKET_HEAD);
}

/* Stores the position before a packet. Only while reading new parts. */
static void remember(struct kymo_cursor *cursor) {
  if (cursor->packets++ % cursor->interval != 0 ||
      (cursor->place_count && cursor->places[cursor->place_count - 1].expected >= cursor->order.expected))
    return;
  if (!cursor->places && !(cursor->places = calloc(PLACES_MAX, sizeof *cursor->places)))
    return;
  if (cursor->place_count == PLACES_MAX) {
    for (size_t i = 0; i < PLACES_MAX; i++) {
      if (i % 2)
        free(cursor->places[i].marks);
      else
        cursor->places[i / 2] = cursor->places[i];
    }
    cursor->place_count = PLACES_MAX / 2;
    cursor->interval *= 2;
  }
  cursor->place_count += kymo_frames_place_take(&cursor->places[cursor->place_count], &cursor->order);
}

/* Frames up to a full packet, damage, or a loss. */
static int fill(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error) {
  struct frames_order *order = &cursor->order;
  uint32_t at = 0;
  int status = kymo_frames_order_show(order, error);
  if (status != KYMO_OK)
    return status;
  remember(cursor);
  begin_packet(cursor);
  int added = KYMO_OK;
  while (added == KYMO_OK && (status = kymo_frames_order_peek(order, &at)) == KYMO_OK) {
    bool is_gap = kymo_frames_order_is_gap(order, at);
    if (is_gap && order->is_at_start && !cursor->count) {
      order->is_at_start = false;
      cursor->is_start = true;
      cursor->start_window = at;
      return KYMO_OK;
    }
    if (is_gap && cursor->count)
      break;
    if (is_gap) {
      kymo_frames_order_pass(order, at);
      begin_packet(cursor);
    }
    chunk->lost_bytes = kymo_frames_window_head(order->windows[at])->size;
    added = add_frame(cursor, at, error);
  }
  if (added == KYMO_E_MEMORY || ((added == KYMO_E_FORMAT || added == KYMO_AGAIN) && !cursor->count))
    return added;
  if (cursor->count)
    return KYMO_OK;
  return status == FRAMES_DAMAGE ? kymo_frames_order_report(order, at, &chunk->lost_bytes, error) : status;
}

/* ---- cursor ---- */

static bool has_more(const struct kymo_cursor *cursor) {
  return (cursor->count || cursor->is_start) && cursor->packet.skipped < kymo_block_used(&cursor->packet);
}

static int frames_next(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error) {
  struct kymo_block *packet = &cursor->packet;
  if (cursor->has_failed)
    return KYMO_END;
  int status = has_more(cursor) ? KYMO_OK : fill(cursor, chunk, error);
  cursor->has_failed = status < 0 && status != KYMO_E_FORMAT;
  if (status != KYMO_OK)
    return status;
  uint32_t window = cursor->is_start ? cursor->start_window : cursor->rows[0].window;
  const struct frames_file *file = cursor->order.windows[window]->file;
  *chunk = kymo_block_chunk(packet, file->path);
  chunk->file = window;
  chunk->offset = cursor->is_start ? 0 : kymo_frames_begin(file, &cursor->rows[0].entry);
  if (packet->skipped == 0) {
    chunk->event_offsets = cursor->event_offsets;
    chunk->offset_count = cursor->count;
  }
  return KYMO_OK;
}

static void frames_skip(struct kymo_cursor *cursor, uint64_t size_bytes) {
  cursor->packet.skipped += (size_t)size_bytes;
}

/* Goes to the packet whose first frame is at `offset`: from the stored position before it, packet by
 * packet. */
static void frames_seek(struct kymo_cursor *cursor, uint32_t file, uint64_t offset) {
  struct kymo_chunk chunk = {0};
  struct kymo_error error;
  size_t i = cursor->place_count;
  while (i > 0 && !kymo_frames_place_is_before(&cursor->places[i - 1], &cursor->order, file, offset))
    i--;
  cursor->count = 0;
  cursor->is_start = false;
  cursor->has_failed = false;
  int status = kymo_frames_place_restore(i > 0 ? &cursor->places[i - 1] : NULL, &cursor->order, &error);
  while (status >= 0 || status == KYMO_E_FORMAT) {
    status = frames_next(cursor, &chunk, &error);
    if (status == KYMO_END || status == KYMO_AGAIN ||
        (status == KYMO_OK && chunk.file == file && chunk.offset == offset))
      break;
    cursor->count = status == KYMO_OK ? 0 : cursor->count;
    cursor->is_start &= status != KYMO_OK;
  }
  cursor->packet.skipped = 0;
}

static void frames_end(struct kymo_cursor *cursor) {
  for (size_t i = 0; i < cursor->place_count; i++)
    free(cursor->places[i].marks);
  free(cursor->places);
  free(cursor->event_offsets);
  free(cursor->rows);
  free(cursor->packet.bytes);
  kymo_frames_order_close(&cursor->order);
  free(cursor);
}

static int frames_begin(struct kymo_cursor **out, void *source, struct kymo_error *error) {
  struct kymo_cursor *cursor = *out = calloc(1, sizeof *cursor);
  if (!cursor)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  cursor->frames = cursor->order.frames = source;
  cursor->interval = 16;
  int status = kymo_block_reserve(&cursor->packet, KYMO_BLOCK_BYTES)
                   ? KYMO_OK
                   : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK)
    status = kymo_frames_place_restore(NULL, &cursor->order, error);
  if (status == KYMO_OK)
    return KYMO_OK;
  frames_end(cursor);
  *out = NULL;
  return status;
}

/* The frame whose row begins there. */
static const struct row *find_row(const struct kymo_cursor *cursor, uint32_t at) {
  uint32_t row = KYMO_COUNT_BEFORE(cursor->count, i, cursor->event_offsets[i].at < at);
  return row < cursor->count && cursor->event_offsets[row].at == at ? &cursor->rows[row] : NULL;
}

static int frames_original(struct kymo_cursor *cursor, uint32_t at, struct kymo_original *out,
                           struct kymo_error *error) {
  const struct row *row = find_row(cursor, at);
  struct frames_window *window = row ? cursor->order.windows[row->window] : NULL;
  const uint8_t *event = row ? kymo_frames_window_event(window, &row->entry) : NULL;
  if (!event)
    return kymo_fail_at(error, KYMO_E_FORMAT, row ? window->file->path : "",
                        row ? row->entry.offset : KYMO_ERROR_NO_OFFSET, "the bytes of an event are gone");
  const struct frames_head *head = &window->file->head;
  *out = (struct kymo_original){
      .bytes = event,
      .size = row->entry.size,
      .is_framed = true,
      .source = row->entry.source,
      .sequence = row->entry.flags & KYMO_FRAME_DEFINITION_ ? 0 : (uint32_t)row->entry.number,
      .flags = head->is_stap ? 0 : row->entry.flags,
      .is_big = head->is_big,
      .header = head->is_stap ? NULL : head->bytes};
  return KYMO_OK;
}

static void frames_free(void *from) {
  struct frames *frames = from;
  kymo_frames_definitions_free(&frames->definitions);
  for (uint32_t i = 0; i < frames->count; i++) {
    free(frames->files[i]->path);
    free(frames->files[i]);
  }
  free(frames->files);
  free(frames);
}

static const struct kymo_source_operations operations = {
    .begin = frames_begin,
    .next = frames_next,
    .skip = frames_skip,
    .seek = frames_seek,
    .original = frames_original,
    .end = frames_end,
    .free = frames_free,
};

/* ---- opening ---- */

/* A file with a faulty header is accepted, so that opening it reports the fault. */
static int frames_probe(const char *path, struct kymo_error *error) {
  struct frames_head head;
  int status = kymo_frames_head(&head, path, error);
  return status == KYMO_E_FORMAT ? KYMO_OK : status;
}

/* With another name it may be the same file. A removed file leaves its inode to another one, whose header
 * differs. */
static bool is_known(const struct frames *frames, const struct frames_file *file) {
  enum { SAME_BYTES = 56 }; /* the constant part of a header */
  for (uint32_t i = 0; i < frames->count; i++) {
    const struct frames_head *known = &frames->files[i]->head;
    if (known->device == file->head.device && known->inode == file->head.inode &&
        memcmp(known->bytes, file->head.bytes, SAME_BYTES) == 0)
      return true;
  }
  return false;
}

/* Adds a file to a stream, if it is new. */
static int add_file(struct frames *frames, const struct frames_file *file, struct kymo_error *error) {
  if (is_known(frames, file))
    return KYMO_OK;
  if (!KYMO_LIST_ROOM(frames->files, frames->capacity, frames->count))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  struct frames_file *copy = malloc(sizeof *copy);
  if (copy)
    *copy = (struct frames_file){.path = strdup(file->path), .head = file->head};
  if (!copy || !copy->path) {
    free(copy);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  frames->files[frames->count++] = copy;
  return KYMO_OK;
}

/* A part with one stream of these files. */
static int add_part(struct kymo_trace *trace, struct frames *frames, struct kymo_error *error) {
  struct kymo_part *part;
  struct kymo_part_source source = {
      .format = "frames", .path = frames->files[0]->path, .path_count = frames->count};
  int status = kymo_frames_define(frames, error);
  frames->has_time = kymo_frames_define_time(&frames->definitions);
  source.schema = status == KYMO_OK ? kymo_frames_schema(frames, error) : NULL;
  status = source.schema ? kymo_trace_add_part(trace, &source, &part, error) : error->code;
  if (status != KYMO_OK) {
    frames_free(frames);
    return status;
  }
  struct kymo_stream_source stream = {.operations = &operations,
                                      .source = frames,
                                      .class_ = part->schema->streams[0],
                                      .path = source.path,
                                      .instance = UINT64_MAX};
  return kymo_part_add_stream(trace, part, &stream, error);
}

/* All files from `first` on that are of one stream, and not used yet. */
static int open_stream(struct kymo_trace *trace, const struct frames_file *files, size_t first, size_t count,
                       bool *are_taken, struct kymo_error *error) {
  struct frames *frames = calloc(1, sizeof *frames);
  int status = frames ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (!frames)
    return status;
  frames->trace = trace;
  frames->all_classes = kymo_trace_options(trace)->all_classes;
  for (size_t i = first; i < count && status == KYMO_OK; i++)
    if (!are_taken[i] && kymo_frames_are_one(&files[first], &files[i])) {
      are_taken[i] = true;
      status = add_file(frames, &files[i], error);
    }
  if (status == KYMO_OK)
    return add_part(trace, frames, error);
  frames_free(frames);
  return status;
}

static int frames_open(struct kymo_trace *trace, const char *const *paths, size_t count,
                       struct kymo_error *error) {
  struct kymo_error local = {.code = KYMO_OK}, *why = error ? error : &local;
  struct frames_file *files = calloc(count, sizeof *files);
  bool *are_taken = calloc(count, sizeof *are_taken);
  int status = files && are_taken ? KYMO_OK : kymo_fail(why, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < count && status == KYMO_OK; i++) {
    files[i].path = (char *)(uintptr_t)paths[i];
    status = kymo_frames_head(&files[i].head, paths[i], why);
  }
  for (size_t i = 0; i < count && status == KYMO_OK; i++)
    if (!are_taken[i])
      status = open_stream(trace, files, i, count, are_taken, why);
  free(files);
  free(are_taken);
  return status;
}

/* ---- growing ---- */

static struct frames *frames_of(const struct kymo_trace *trace, size_t part) {
  const struct kymo_part *one = kymo_trace_part(trace, part);
  return strcmp(one->format, "frames") == 0 ? kymo_stream_source(kymo_part_stream(trace, one, 0)) : NULL;
}

static bool has_path(const struct frames *frames, const char *path) {
  for (uint32_t i = 0; i < frames->count; i++)
    if (strcmp(frames->files[i]->path, path) == 0)
      return true;
  return false;
}

/* Adds a file that may be new: to an existing stream, or as a new one. A file whose header is incomplete is
 * tried again later. */
static int take_in(struct kymo_trace *trace, const char *path, bool may_be_other, struct kymo_error *error) {
  struct kymo_error why;
  struct frames_file file = {.path = (char *)(uintptr_t)path};
  bool is_taken = false;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    struct frames *frames = frames_of(trace, i);
    if (frames && has_path(frames, path))
      return KYMO_OK;
  }
  if (kymo_frames_head(&file.head, path, &why) != KYMO_OK)
    return KYMO_OK;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    struct frames *frames = frames_of(trace, i);
    if (frames && kymo_frames_are_one(frames->files[0], &file))
      return add_file(frames, &file, error);
  }
  return may_be_other ? open_stream(trace, &file, 0, 1, &is_taken, error) : KYMO_OK;
}

/* New threads, and rotating files, create files beside the known ones. */
static int look_beside(struct kymo_trace *trace, const struct frames *frames, struct kymo_error *error) {
  const struct frames_file *first = frames->files[0];
  struct frames_name name = kymo_frames_name(first->path, &first->head);
  size_t before = (size_t)(name.text - first->path), room = before + NAME_MAX + 1;
  int status = KYMO_OK;
  char *path = malloc(room + 2);
  if (!path)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  snprintf(path, room, "%.*s", before ? (int)before : 1, before ? first->path : ".");
  DIR *directory = opendir(path);
  for (const struct dirent *entry; status == KYMO_OK && directory && (entry = readdir(directory));) {
    snprintf(path, room, "%.*s%s", (int)before, first->path, entry->d_name);
    if (strncmp(entry->d_name, name.text, name.length) == 0)
      status = take_in(trace, path, false, error);
  }
  if (directory)
    closedir(directory);
  free(path);
  return status;
}

static int frames_grow(struct kymo_trace *trace, const char *const *paths, size_t count,
                       struct kymo_error *error) {
  int status = KYMO_OK;
  for (size_t i = 0; i < count && status == KYMO_OK; i++)
    status = take_in(trace, paths[i], true, error);
  for (size_t i = 0; i < kymo_trace_part_count(trace) && status == KYMO_OK; i++) {
    struct frames *frames = frames_of(trace, i);
    if (frames) {
      frames->looks++;
      status = look_beside(trace, frames, error);
      if (status == KYMO_OK)
        status = kymo_frames_define_more(frames, kymo_trace_own_part(trace, i), error);
    }
  }
  return status;
}

const struct kymo_format kymo_format_frames = {
    .name = "frames",
    .summary = "framed logs of binary printf, and what SystemTap leaves in bulk mode",
    .probe = frames_probe,
    .open = frames_open,
    .grow = frames_grow,
};
