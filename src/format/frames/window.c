/* SPDX-License-Identifier: MIT */
/* The next frames of a file by their numbers. */
#include "base/fail.h"
#include "format/frames/frames.h"
#include "format/sequence.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAGIC_BYTES = 4, FILL_SURE = 16 };
/* This much of the bytes after a frame is enough to recognise them. */
#define PIECE (UINT64_C(1) << 16)
/* Numbers of adjacent frames rise by less than this, unless other threads write much meanwhile. */
#define NEAR (INT64_C(1) << 20)

/* ---- bytes ---- */

int kymo_frames_window_open(struct frames_window *window, const struct frames_file *file,
                            struct kymo_error *error) {
  window->file = file;
  window->at = file->head.begin;
  window->holes = (struct kymo_holes){.bytes_at = kymo_map_bytes, .user = &window->map};
  return kymo_map_open(&window->map, file->path, error);
}

void kymo_frames_window_close(struct frames_window *window) {
  if (window->map.path)
    kymo_map_close(&window->map);
  window->map = (struct kymo_map){.fd = -1};
}

void kymo_frames_window_leave(struct frames_window *window) {
  kymo_frames_window_close(window);
  window->is_gone = true;
  window->is_broken = false;
  window->first = window->count = 0;
  window->data = NULL;
  window->begin = window->end = window->size = 0;
}

static int show_from(struct frames_window *window, uint64_t offset, uint64_t wanted,
                     struct kymo_error *error) {
  uint64_t size;
  int status = kymo_map_get(&window->map, offset, wanted, &window->data, &size, error);
  window->begin = offset;
  window->end = status == KYMO_OK ? offset + size : offset;
  window->size = window->map.size;
  return status;
}

int kymo_frames_window_show(struct frames_window *window, struct kymo_error *error) {
  window->map.is_growing = window->is_followed;
  return show_from(window, window->count ? kymo_frames_window_head(window)->offset : window->at, 1, error);
}

/* The file ends here, for this reason; it is reported after the frames before it. */
static void fail_at(struct frames_window *window, const struct kymo_error *why, uint64_t offset) {
  snprintf(window->failure, sizeof window->failure, "%.150s", why->message);
  window->failed_at = why->offset == KYMO_ERROR_NO_OFFSET ? offset : why->offset;
}

/* Bytes of the file; fewer than `size` only at its end. *got: how many. */
static const uint8_t *bytes_at(struct frames_window *window, uint64_t offset, uint64_t size, uint64_t *got) {
  if (offset < window->begin || offset > window->end || size > window->end - offset) {
    struct kymo_error why;
    if ((offset < window->begin || window->end < window->size) &&
        show_from(window, offset, size, &why) != KYMO_OK) {
      fail_at(window, &why, offset);
      window->size = window->end = offset;
    }
  }
  *got = offset >= window->begin && offset < window->end ? window->end - offset : 0;
  *got = *got < size ? *got : size;
  return *got ? window->data + (offset - window->begin) : NULL;
}

const uint8_t *kymo_frames_window_event(struct frames_window *window, const struct frames_entry *entry) {
  uint64_t got;
  const uint8_t *event =
      entry->size ? bytes_at(window, entry->offset, entry->size, &got) : (const uint8_t *)"";
  return entry->size == 0 || got == entry->size ? event : NULL;
}

/* ---- frames ---- */

struct frame {
  uint32_t number, size, flags;
};

static uint32_t load(const struct frames_window *window, const uint8_t *from) {
  return window->file->head.is_big ? kymo_load_be32(from) : kymo_load_le32(from);
}

static uint32_t heading(const struct frames_window *window) {
  return kymo_frames_heading(&window->file->head);
}

static struct frame frame_of(const struct frames_window *window, const uint8_t *header) {
  const uint8_t *words = header + heading(window) - 8;
  struct frame frame = {.number = load(window, words), .size = load(window, words + 4)};
  if (!window->file->head.is_stap) {
    frame.flags = frame.size & ~KYMO_FRAME_LENGTH_;
    frame.size &= KYMO_FRAME_LENGTH_;
  }
  return frame;
}

bool kymo_frames_are_near(uint32_t from, uint32_t to) {
  int64_t distance = kymo_sequence_distance(from, to, 32);
  return distance > -FRAMES_LEAST && distance < NEAR;
}

/* Frames without a magic are recognised by a length, and by a number near the previous one. */
static bool is_bare(const struct frame *frame, uint32_t before) {
  return frame->size > 0 && frame->size <= FRAMES_BARE_MOST && frame->number != before &&
         kymo_frames_are_near(before, frame->number);
}

/* Whether there is a frame at `header`, all bytes of which are available; `before`: the number of the
 * previous frame. */
static bool is_frame(const struct frames_window *window, const uint8_t *header, uint32_t before) {
  struct frame frame = frame_of(window, header);
  return window->file->head.is_bare ? is_bare(&frame, before)
                                    : memcmp(header, KYMO_FRAME_MAGIC_, MAGIC_BYTES) == 0;
}

/* Whether a frame, the begin of one, or the end is here. */
static bool is_bare_boundary(struct frames_window *window, uint64_t offset, uint32_t before) {
  uint64_t got;
  const uint8_t *header = bytes_at(window, offset, heading(window), &got);
  return offset <= window->size && (got < heading(window) || is_frame(window, header, before));
}

/* Whether a frame, or the end, may follow the one with the number `before`; or SystemTap's fill of zeroes: a
 * few before a frame, or many. */
static bool is_boundary(struct frames_window *window, uint64_t offset, uint32_t before) {
  uint64_t got, zeroes = 0;
  if (window->file->head.is_bare)
    return is_bare_boundary(window, offset, before);
  const uint8_t *bytes = bytes_at(window, offset, FILL_SURE + MAGIC_BYTES, &got);
  while (window->file->head.is_stap && zeroes < got && zeroes < FILL_SURE && bytes[zeroes] == 0)
    zeroes++;
  uint64_t rest = got - zeroes < MAGIC_BYTES ? got - zeroes : MAGIC_BYTES;
  return offset <= window->size &&
         (zeroes == FILL_SURE || rest == 0 || memcmp(bytes + zeroes, KYMO_FRAME_MAGIC_, (size_t)rest) == 0);
}

/* The first byte at or after `offset` that is not in a hole of the file, or `limit`. A hole contains zeros,
 * and is skipped without reading; in a file that is followed, it may be filled later. */
static uint64_t pass_hole(struct frames_window *window, uint64_t offset, uint64_t limit) {
  return window->is_followed ? offset : kymo_holes_pass(&window->holes, offset, limit);
}

/* The offset of the next magic, from `offset` up to `limit`, which is returned if there is none. */
static uint64_t find_magic(struct frames_window *window, uint64_t offset, uint64_t limit) {
  while ((offset = pass_hole(window, offset, limit)) < limit) {
    uint64_t got, size = limit - offset < PIECE ? limit - offset : PIECE;
    const uint8_t *bytes = bytes_at(window, offset, size, &got);
    const uint8_t *found = got ? memmem(bytes, (size_t)got, KYMO_FRAME_MAGIC_, MAGIC_BYTES) : NULL;
    if (found)
      return offset + (uint64_t)(found - bytes);
    if (got < PIECE)
      return limit;
    offset += got - (MAGIC_BYTES - 1);
  }
  return limit;
}

/* The offset of the next frame without a magic: two in a row, or one that ends with the file, are unlikely to
 * match by chance. */
static uint64_t find_bare(struct frames_window *window, uint64_t offset, uint64_t limit, uint32_t before) {
  for (; offset < limit; offset++) {
    uint64_t got, data = pass_hole(window, offset, limit);
    offset = data - offset > heading(window) ? data - heading(window) : offset; /* a length of zero is none */
    const uint8_t *header = bytes_at(window, offset, heading(window), &got);
    if (got < heading(window))
      return limit;
    struct frame frame = frame_of(window, header);
    uint64_t end = offset + heading(window) + frame.size;
    if (!is_bare(&frame, before) || end > window->size)
      continue;
    const uint8_t *next = bytes_at(window, end, heading(window), &got);
    if (got == 0 || (got == heading(window) && is_frame(window, next, frame.number)))
      return offset;
  }
  return limit;
}

/* The offset where the next frame may begin, from `offset` up to `limit`, which is returned if there is
 * none. */
static uint64_t find_next(struct frames_window *window, uint64_t offset, uint64_t limit, uint32_t before) {
  return window->file->head.is_bare ? find_bare(window, offset, limit, before)
                                    : find_magic(window, offset, limit);
}

/* The offset of a frame inside the event of another one, which has the number `before`; `limit` if there is
 * none. Bytes that do not end at a boundary are not a frame: events may contain anything. */
static uint64_t find_frame(struct frames_window *window, uint64_t offset, uint64_t limit, uint32_t before) {
  if (window->file->head.is_bare)
    return find_bare(window, offset, limit, before);
  for (;; offset += MAGIC_BYTES) {
    uint64_t got;
    offset = find_magic(window, offset, limit);
    const uint8_t *header = offset < limit ? bytes_at(window, offset, KYMO_FRAME_BYTES_, &got) : NULL;
    if (!header || got < KYMO_FRAME_BYTES_)
      return limit;
    struct frame frame = frame_of(window, header);
    if (is_boundary(window, offset + KYMO_FRAME_BYTES_ + frame.size, frame.number))
      return offset;
  }
}

/* ---- damage ---- */

/* Stores the damage at `offset`, to be reported after the frames that are here; then continues at
 * `resume`. */
static void __attribute__((format(printf, 4, 5)))
note(struct frames_window *window, uint64_t offset, uint64_t resume, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(window->note.text, sizeof window->note.text, format, args);
  va_end(args);
  window->note.offset = offset;
  window->note.lost_bytes = resume > window->at ? resume - window->at : 0;
  window->is_broken = true;
  window->resume = resume;
}

void kymo_frames_window_repair(struct frames_window *window) {
  window->is_broken = false;
  window->at = window->resume;
}

static void note_no_frame(struct frames_window *window, const uint8_t *header) {
  bool is_bare = window->file->head.is_bare; /* else the file may end within the frame */
  struct frame frame = is_bare ? frame_of(window, header) : (struct frame){0};
  uint8_t found[MAGIC_BYTES];
  memcpy(found, header, sizeof found);
  uint64_t next = find_next(window, window->at + 1, window->size, window->last);
  char following[64] = "none follows";
  if (next < window->size)
    snprintf(following, sizeof following, "the next one begins %" PRIu64 " bytes later", next - window->at);
  if (is_bare)
    note(window, window->at, next,
         "expected a frame with a number near %" PRIu32 " and a length, found %" PRIu32 " and %" PRIu32
         "; %s",
         window->last, frame.number, frame.size, following);
  else
    note(window, window->at, next, "expected a frame (f0 9f a9 ba), found %02x %02x %02x %02x; %s", found[0],
         found[1], found[2], found[3], following);
}

/* ---- reading ---- */

/* Inserts a frame according to its number. */
static void add(struct frames_window *window, const struct frames_entry *entry) {
  if (window->first + window->count == FRAMES_AHEAD) {
    memmove(window->entries, window->entries + window->first, window->count * sizeof *window->entries);
    window->first = 0;
  }
  struct frames_entry *to = &window->entries[window->first + window->count++];
  for (; to > &window->entries[window->first] && to[-1].number > entry->number; to--)
    *to = to[-1];
  *to = *entry;
}

/* Removes the number of its thread or CPU from the begin of an event. */
static void take_source(struct frames_window *window, struct frames_entry *entry) {
  uint64_t got, wanted = entry->size < FRAMES_SOURCE_BYTES ? entry->size : FRAMES_SOURCE_BYTES;
  const uint8_t *bytes = bytes_at(window, entry->offset, wanted, &got);
  entry->source = got == FRAMES_SOURCE_BYTES ? load(window, bytes) : 0;
  entry->offset += FRAMES_SOURCE_BYTES;
  entry->size -= (uint32_t)wanted;
}

static void add_frame(struct frames_window *window, const struct frame *frame, uint64_t expected) {
  struct frames_entry entry = {.offset = window->at + heading(window),
                               .size = frame->size,
                               .flags = frame->flags,
                               .source = window->file->head.number};
  if (window->file->head.is_merged)
    take_source(window, &entry);
  bool is_definition = frame->flags & KYMO_FRAME_DEFINITION_; /* without a number of its own */
  if (is_definition && !window->has_definitions)
    return;
  if (is_definition)
    entry.number = window->next ? window->next : expected;
  else
    entry.number = expected + (uint64_t)kymo_sequence_distance(expected & UINT32_MAX, frame->number, 32);
  window->next = is_definition ? window->next : entry.number + 1;
  if (window->at >= window->known_to || entry.number >= window->known_below)
    add(window, &entry);
}

/* SystemTap fills the rest of a buffer with zeroes. */
static void skip_fill(struct frames_window *window) {
  for (;;) {
    uint64_t got, zeroes = 0;
    window->at = pass_hole(window, window->at, window->size);
    const uint8_t *bytes = bytes_at(window, window->at, PIECE, &got);
    while (zeroes < got && bytes[zeroes] == 0)
      zeroes++;
    window->at += zeroes;
    if (zeroes < PIECE)
      return;
  }
}

/* All frames were read. A file that could not be read to its end, or that was longer before, is damaged. */
static bool end_here(struct frames_window *window) {
  struct kymo_error why;
  if (!window->failure[0] && !window->is_followed &&
      kymo_map_check_end(&window->map, &why) != KYMO_OK) { /* which may unmap the file */
    fail_at(window, &why, window->at);
    window->data = NULL;
    window->begin = window->end = 0;
  }
  if (window->failure[0])
    note(window, window->failed_at, window->at, "%s", window->failure);
  window->failure[0] = 0;
  return false;
}

/* The bytes that begin here are incomplete. */
static bool end_short(struct frames_window *window, uint64_t needed, uint64_t got) {
  if (window->is_followed)
    return false;
  note(window, window->at, window->size,
       "expected a frame of %s%" PRIu64 " bytes, found %" PRIu64 " to the end of the file",
       needed > heading(window) ? "" : "at least ", needed, got);
  return false;
}

/* The frame claims a longer event than it has: another frame begins in between. */
static bool add_broken(struct frames_window *window, struct frame frame, uint64_t next, uint64_t expected) {
  uint32_t said = frame.size;
  frame.size = (uint32_t)(next - window->at - heading(window));
  frame.flags |= KYMO_FRAME_CUT_;
  note(window, window->at, next,
       "expected a frame after an event of %" PRIu32 " bytes, found one after %" PRIu32, said, frame.size);
  window->note.lost_bytes = 0;
  add_frame(window, &frame, expected);
  return true;
}

/* Whether the number fits neither the previous frame nor the next one, if these fit each other or there is
 * none. */
static bool is_stray(struct frames_window *window, const struct frame *frame, uint64_t end) {
  uint64_t got;
  if (!window->has_last || (frame->flags & KYMO_FRAME_DEFINITION_) ||
      kymo_frames_are_near(window->last, frame->number))
    return false;
  const uint8_t *next = bytes_at(window, end, heading(window), &got);
  if (got < heading(window) || !is_frame(window, next, window->last))
    return !is_boundary(window, end, frame->number);
  return kymo_frames_are_near(window->last, frame_of(window, next).number);
}

static bool take_frame(struct frames_window *window, const struct frame *frame, uint64_t end,
                       uint64_t expected) {
  if (is_stray(window, frame, end)) {
    note(window, window->at + heading(window) - 8, end,
         "expected a sequence number near %" PRIu32 ", found %" PRIu32, window->last, frame->number);
    return false;
  }
  add_frame(window, frame, expected);
  if (!(frame->flags & KYMO_FRAME_DEFINITION_)) {
    window->last = frame->number;
    window->has_last = true;
  }
  window->at = end;
  return true;
}

/* Whether a frame may begin with these bytes, `got` of which are available. */
static bool may_begin(const struct frames_window *window, const uint8_t *header, uint64_t got) {
  if (!window->file->head.is_bare)
    return memcmp(header, KYMO_FRAME_MAGIC_, got < MAGIC_BYTES ? (size_t)got : MAGIC_BYTES) == 0;
  if (got < heading(window))
    return true;
  struct frame frame = frame_of(window, header);
  return window->has_last ? is_bare(&frame, window->last) : is_bare(&frame, frame.number - 1);
}

/* One frame. False: there is none that can be taken now. */
static bool read_frame(struct frames_window *window, uint64_t expected) {
  uint64_t got;
  bool is_bare = window->file->head.is_bare;
  if (window->file->head.is_stap && !is_bare)
    skip_fill(window);
  const uint8_t *header = bytes_at(window, window->at, heading(window), &got);
  if (got == 0)
    return end_here(window);
  bool is_begin = may_begin(window, header, got);
  if (got < heading(window) && (is_begin || got < MAGIC_BYTES))
    return end_short(window, heading(window), got);
  struct frame frame = got == heading(window) ? frame_of(window, header) : (struct frame){0};
  uint64_t begin = window->at + heading(window), end = begin + frame.size;
  if (!is_begin && is_bare && frame.size <= FRAMES_BARE_MOST && is_stray(window, &frame, end))
    return take_frame(window, &frame, end, expected);
  if (!is_begin) {
    note_no_frame(window, header);
    return false;
  }
  if (window->file->head.is_merged && frame.size < FRAMES_SOURCE_BYTES && end <= window->size) {
    note(window, window->at + 8, end,
         "expected the number of a thread or CPU, 4 bytes, found an event of %" PRIu32, frame.size);
    return false;
  }
  if (end <= window->size && is_boundary(window, end, frame.number))
    return take_frame(window, &frame, end, expected);
  uint64_t limit = end < window->size ? end : window->size,
           next = find_frame(window, begin, limit, frame.number);
  if (next < limit)
    return add_broken(window, frame, next, expected);
  if (end > window->size)
    return end_short(window, end - window->at, window->size - window->at);
  return take_frame(window, &frame, end, expected);
}

void kymo_frames_window_fill(struct frames_window *window, uint64_t expected) {
  if (window->count >= FRAMES_LEAST)
    return;
  while (window->count < FRAMES_AHEAD && !window->is_broken && read_frame(window, expected))
    ;
}

bool kymo_frames_window_number(struct frames_window *window, uint64_t at, uint32_t *number) {
  uint64_t got;
  struct frame frame;
  do {
    const uint8_t *header = bytes_at(window, at, heading(window), &got);
    if (got < heading(window) || !may_begin(window, header, got))
      return false;
    frame = frame_of(window, header);
    at += heading(window) + frame.size;
  } while (frame.flags & KYMO_FRAME_DEFINITION_);
  *number = frame.number;
  return true;
}
