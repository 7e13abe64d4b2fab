/* SPDX-License-Identifier: MIT */
/*
 * The pages of a CPU, as the kernel's ring buffer has them:
 *
 *   page     | time (64) | commit (long) | records … |        commit: bytes of records, and whether events
 *                                                             before the page were lost (bits 31 and 30)
 *   record   | word | data …                                  word: type 5 bits, delta of time 27 bits
 *
 *     type 1 … 28   data of 4 × type bytes              29   padding, or a discarded record
 *     type 0        its size in the next 32 bits        30   more bits of the delta
 *                                                       31   the time itself
 *
 * The records of some pages become a packet, in which each value of a field is in its place
 * (lang/ftrace/ftrace.h). The kernel's own layout cannot be a schema: values are anywhere in the record.
 */
#include "format/ftrace/stream.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/search.h"
#include "format/ftrace/payload.h"
#include <inttypes.h>
#include <stdlib.h>

#define COMMIT_MASK ((UINT32_C(1) << 27) - 1)
#define LOST_BIT (UINT32_C(1) << 31)
#define LOST_STORED_BIT (UINT32_C(1) << 30)
#define DELTA_BITS 27
#define STAMP_HIGH_BITS (UINT64_C(0x1f) << 59) /* which a time in a record does not have */
#define PACKET_BYTES ((size_t)48 << 10)        /* enough for a packet */
#define HEAD_BYTES (FTRACE_HEADER_BYTES + 4 + FTRACE_NAME_BYTES)
#define THREADS 64 /* recently seen */

enum { RECORD_PADDING = 29, RECORD_EXTEND = 30, RECORD_STAMP = 31 };

struct kymo_cursor {
  const struct ftrace_source *source;
  struct kymo_map map;
  uint64_t first, next; /* pages: the packet's first one, and the next one to read */
  struct kymo_packing packing;
  bool has_ended;
  uint8_t *unpacked; /* of compressed pages, this piece */
  uint32_t unpacked_piece;
  struct {
    int32_t tid;
    const char *name;
  } threads[THREADS];
};

/* A page that is being read. */
struct page {
  const uint8_t *data;
  size_t at, end;        /* the next record, and where the last one ends */
  uint64_t time, offset; /* offset: in the file */
  bool is_big;
};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* The file of the pages. */
static const char *path_of(const struct ftrace_source *source) {
  return source->cpu->path ? source->cpu->path : source->shared->file.path;
}

/* ---- numbers ---- */

static uint16_t load16(const uint8_t *from, bool is_big) {
  return is_big ? kymo_load_be16(from) : kymo_load_le16(from);
}
static uint32_t load32(const uint8_t *from, bool is_big) {
  return is_big ? kymo_load_be32(from) : kymo_load_le32(from);
}
static uint64_t load64(const uint8_t *from, bool is_big) {
  return is_big ? kymo_load_be64(from) : kymo_load_le64(from);
}

/* (a × b) >> shift, without losing the high bits of the product. */
static uint64_t scale(uint64_t a, uint32_t b, uint32_t shift) {
  uint64_t low = (a & UINT32_MAX) * b, high = (a >> 32) * b + (low >> 32);
  low = (low & UINT32_MAX) | high << 32;
  high >>= 32;
  return shift == 0 ? low : low >> shift | (high << 1) << (63 - shift);
}

static uint64_t time_of(const struct ftrace_file *file, uint64_t stamp) {
  return file->has_tsc ? scale(stamp, file->tsc_multiplier, file->tsc_shift) : stamp;
}

/* ---- damage ---- */

/* Notes what is wrong at a byte of the page; the first thing is reported, after the packet. */
static void note(struct kymo_cursor *cursor, const struct page *page, size_t at, uint64_t lost,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));
static void note(struct kymo_cursor *cursor, const struct page *page, size_t at, uint64_t lost,
                 const char *format, ...) {
  va_list args;
  cursor->packing.pending_bytes += lost;
  if (cursor->packing.has_pending)
    return;
  cursor->packing.has_pending = true;
  va_start(args, format);
  kymo_fail_at_args(&cursor->packing.pending, KYMO_E_FORMAT, path_of(cursor->source), page->offset + at,
                    format, args);
  va_end(args);
}

/* ---- one record ---- */

static const char *thread_name(struct kymo_cursor *cursor, int32_t tid) {
  unsigned slot = (uint32_t)tid % THREADS;
  if (!cursor->threads[slot].name || cursor->threads[slot].tid != tid) {
    cursor->threads[slot].tid = tid;
    cursor->threads[slot].name = kymo_ftrace_thread_name(&cursor->source->shared->names, tid);
  }
  return cursor->threads[slot].name;
}

/* Header and common context. */
static void store_head(struct kymo_cursor *cursor, const uint8_t *record, uint64_t time, uint16_t id,
                       bool is_big) {
  const struct ftrace_source *source = cursor->source;
  const struct ftrace_common *common = &source->classes->common;
  struct kymo_block *packet = &cursor->packing.packet;
  int32_t tid = common->pid_offset ? (int32_t)load32(record + common->pid_offset, is_big) : 0;
  kymo_block_number(packet, time, 8);
  kymo_block_number(packet, id, 2);
  kymo_block_number(packet, source->cpu->id, 4);
  memcpy(packet->at, thread_name(cursor, tid), FTRACE_NAME_BYTES);
  memcpy(packet->at + FTRACE_NAME_BYTES, record + 2, common->end - 2);
  packet->at += FTRACE_NAME_BYTES + common->end - 2;
}

static void note_missing(struct kymo_cursor *cursor, const struct page *page, size_t at, size_t size,
                         const struct kymo_ftrace_class *class_, const struct ftrace_missing *missing) {
  const struct kymo_ftrace_step *step = missing->step;
  if (step)
    note(cursor, page, at + step->from, size, "%s: expected %s in %zu bytes, found %zu bytes at %zu",
         class_->class_->name, step->field->name, size, missing->length, missing->from);
  else
    note(cursor, page, at, size, "expected at most %zu bytes of values in one page, found more",
         FTRACE_PAYLOAD_MAX);
}

/* Stores the event of a record, or notes why there is none. False: out of memory. */
static bool store_record(struct kymo_cursor *cursor, const struct page *page, size_t at, size_t size) {
  const uint8_t *record = page->data + at;
  const struct ftrace_classes *classes = cursor->source->classes;
  uint16_t id = size >= 2 ? load16(record, page->is_big) : 0;
  const struct kymo_ftrace_class *class_ = classes->by_id[id];
  struct kymo_block *packet = &cursor->packing.packet;
  if (!class_) {
    note(cursor, page, at, size, "expected the id of an event, found %u, which no format has", id);
    return true;
  }
  if (size < class_->least_bytes) {
    note(cursor, page, at, size, "%s: expected at least %" PRIu32 " bytes, found %zu", class_->class_->name,
         class_->least_bytes, size);
    return true;
  }
  if (!kymo_block_reserve(packet, HEAD_BYTES + 2 * size + 8) ||
      !KYMO_LIST_ROOM(cursor->packing.event_offsets, cursor->packing.offset_capacity,
                      cursor->packing.offset_count))
    return false;
  size_t begin = kymo_block_used(packet);
  uint64_t time = time_of(&cursor->source->shared->file, page->time);
  store_head(cursor, record, time, id, page->is_big);
  struct ftrace_missing missing;
  int status = kymo_ftrace_put_payload(packet, class_, record, size, page->is_big, &missing);
  if (status == KYMO_E_MEMORY)
    return false;
  if (status != KYMO_OK) {
    packet->at = packet->bytes + begin;
    note_missing(cursor, page, at, size, class_, &missing);
    return true;
  }
  cursor->packing.event_offsets[cursor->packing.offset_count++] = (struct kymo_event_offset){
      time, (uint32_t)begin, class_->class_->index & KYMO_EVENT_OFFSET_CLASS, false};
  return true;
}

/* ---- one page ---- */

/* The records of a page, as far as they are sound. False: out of memory. */
static bool read_records(struct kymo_cursor *cursor, struct page *page) {
  while (page->at + 4 <= page->end) {
    size_t begin = page->at, data = begin + 4, rest = page->end - data, length;
    uint32_t word = load32(page->data + begin, page->is_big);
    unsigned type = page->is_big ? word >> DELTA_BITS : word & 31;
    uint64_t delta = page->is_big ? word & COMMIT_MASK : word >> 5;
    uint32_t more =
        type == 0 || type >= RECORD_PADDING ? (rest >= 4 ? load32(page->data + data, page->is_big) : 0) : 0;
    if (type == RECORD_PADDING && (delta == 0 || rest < 4)) /* the rest of the page */
      return true;
    if (type >= RECORD_EXTEND) {
      uint64_t time = ((uint64_t)more << DELTA_BITS) + delta;
      page->time = type == RECORD_EXTEND ? page->time + time : (page->time & STAMP_HIGH_BITS) | time;
      page->at = data + 4;
      continue;
    }
    page->time += delta;
    data += type == 0 ? 4 : 0;
    length = type == RECORD_PADDING ? more : type == 0 ? (more + UINT64_C(3)) / 4 * 4 - 4 : 4 * type;
    bool is_beyond = data > page->end || length > page->end - data;
    if (type == RECORD_PADDING && is_beyond)
      return true;
    if ((type == 0 && more < 4) || is_beyond) {
      note(cursor, page, begin, page->end - begin,
           "expected a record of %zu bytes, found the page's last %zu", type == 0 && more < 4 ? 0 : length,
           page->end - begin);
      return true;
    }
    if (type != RECORD_PADDING && !store_record(cursor, page, data, length))
      return false;
    page->at = data + length;
  }
  return true;
}

/* The header of a page, of which the file has `size` bytes. False: it is damaged. */
static bool read_page_header(struct kymo_cursor *cursor, struct page *page, size_t size) {
  const struct ftrace_source *source = cursor->source;
  uint8_t long_size = source->shared->file.page_long_size;
  size_t start = 8 + (size_t)long_size, most = source->buffer->page_size;
  if (size < start) {
    note(cursor, page, 0, size, "expected the header of a page, found %zu bytes", size);
    return false;
  }
  page->time = load64(page->data, page->is_big);
  uint64_t commit =
      long_size == 8 ? load64(page->data + 8, page->is_big) : load32(page->data + 8, page->is_big);
  size_t used = commit & COMMIT_MASK;
  if (used > most - start) {
    note(cursor, page, 8, most, "expected a page of at most %zu bytes of records, found %zu", most - start,
         used);
    return false;
  }
  page->at = start;
  page->end = start + used;
  if (commit & LOST_BIT) {
    bool is_stored = (commit & LOST_STORED_BIT) && page->end + long_size <= size;
    cursor->packing.follows_loss = true;
    cursor->packing.is_loss_unknown |= !is_stored;
    if (is_stored)
      cursor->packing.lost_events += long_size == 8 ? load64(page->data + page->end, page->is_big)
                                                    : load32(page->data + page->end, page->is_big);
  }
  if (page->end > size) {
    note(cursor, page, size, page->end - size, "expected %zu bytes of records in a page, found %zu", used,
         size - start);
    page->end = size;
  }
  return true;
}

/* Whether events before the page were lost, as far as its bytes are there. */
static bool says_loss(const struct page *page, size_t size, uint8_t long_size) {
  if (size < 8 + (size_t)long_size)
    return false;
  uint64_t commit =
      long_size == 8 ? load64(page->data + 8, page->is_big) : load32(page->data + 8, page->is_big);
  return commit & LOST_BIT;
}

/* ---- pages of the file ---- */

static int unpack_piece(struct kymo_cursor *cursor, uint32_t index, struct kymo_error *error) {
  const struct ftrace_source *source = cursor->source;
  const struct ftrace_piece *piece = &source->pieces[index];
  const uint8_t *from;
  uint64_t size;
  if (cursor->unpacked_piece == index)
    return KYMO_OK;
  int status = kymo_map_get(&cursor->map, piece->at, piece->size, &from, &size, error);
  if (status == KYMO_OK && size < piece->size)
    status = kymo_fail_at(error, KYMO_E_FORMAT, source->shared->file.path, piece->at,
                          "expected %" PRIu32 " compressed bytes, found %" PRIu64, piece->size, size);
  free(cursor->unpacked);
  cursor->unpacked = NULL;
  cursor->unpacked_piece = UINT32_MAX;
  if (status != KYMO_OK)
    return status;
  cursor->unpacked =
      kymo_ftrace_unpack(&source->shared->file, piece->at, from, piece->size, piece->unpacked_size, error);
  if (!cursor->unpacked)
    return error->code;
  cursor->unpacked_piece = index;
  return KYMO_OK;
}

/* The bytes of a page, as many as there are. KYMO_END: there is no such page. */
static int get_page(struct kymo_cursor *cursor, uint64_t number, struct page *page, size_t *size,
                    struct kymo_error *error) {
  const struct ftrace_source *source = cursor->source;
  uint64_t page_size = source->buffer->page_size, at = number * page_size, available;
  struct kymo_error local, *why = error ? error : &local;
  int status = KYMO_OK;
  if (at >= source->size)
    return KYMO_END;
  *page = (struct page){.is_big = source->shared->file.is_big, .offset = source->cpu->at + at};
  if (!source->pieces) {
    status = kymo_map_get(&cursor->map, page->offset, page_size, &page->data, &available, why);
  } else {
    uint32_t index = KYMO_COUNT_BEFORE(source->piece_count, i, source->pieces[i].first <= at) - 1;
    const struct ftrace_piece *piece = &source->pieces[index];
    status = unpack_piece(cursor, index, why);
    page->offset = piece->at;
    page->data = status == KYMO_OK ? cursor->unpacked + (at - piece->first) : NULL;
    available = piece->first + piece->unpacked_size - at;
  }
  if (status != KYMO_OK)
    return status;
  available = available < page_size ? available : page_size;
  *size = (size_t)(available < source->size - at ? available : source->size - at);
  return KYMO_OK;
}

/* The next page. KYMO_END: there is none, or it begins another packet. */
static int read_page(struct kymo_cursor *cursor, struct kymo_error *error) {
  struct page page;
  struct kymo_error why = {.code = KYMO_OK};
  size_t size;
  int status = get_page(cursor, cursor->next, &page, &size, &why);
  if (status == KYMO_E_FORMAT) {
    cursor->packing.pending = why;
    cursor->packing.pending_bytes = cursor->source->buffer->page_size;
    cursor->packing.has_pending = true;
    cursor->next++;
    return KYMO_OK;
  }
  if (status != KYMO_OK) {
    if (status != KYMO_END && error)
      *error = why;
    return status;
  }
  if (cursor->packing.offset_count && says_loss(&page, size, cursor->source->shared->file.page_long_size))
    return KYMO_END;
  cursor->next++;
  return !read_page_header(cursor, &page, size) || read_records(cursor, &page) ? KYMO_OK : no_memory(error);
}

/* All pages were read, and the file has less than it says. */
static int fail_end(struct kymo_cursor *cursor, struct kymo_error *error) {
  const struct ftrace_source *source = cursor->source;
  cursor->has_ended = true;
  return kymo_fail_at(error, KYMO_E_FORMAT, path_of(source), source->shared->file.size,
                      "CPU %" PRIu32 ": expected %" PRIu64 " bytes of pages, found %" PRIu64, source->cpu->id,
                      source->expected, source->size);
}

/* Fills the packet with the events of the next pages. */
static int fill(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error) {
  int status = KYMO_OK;
  kymo_packing_clear(&cursor->packing);
  cursor->first = cursor->next;
  while (status == KYMO_OK && !cursor->packing.has_pending &&
         kymo_block_used(&cursor->packing.packet) < PACKET_BYTES)
    status = read_page(cursor, error);
  if (status != KYMO_OK && status != KYMO_END)
    return status;
  if (cursor->packing.offset_count)
    return KYMO_OK;
  if (cursor->packing.has_pending)
    return kymo_packing_fail(&cursor->packing, chunk, error);
  return cursor->source->size < cursor->source->expected && !cursor->has_ended ? fail_end(cursor, error)
                                                                               : KYMO_END;
}

/* ---- cursor ---- */

static int ftrace_next(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error) {
  const struct ftrace_source *source = cursor->source;
  int status = kymo_packing_next(&cursor->packing, cursor, fill, &cursor->map, path_of(source), chunk, error);
  chunk->offset = source->cpu->at + cursor->first * source->buffer->page_size;
  return status;
}

static void ftrace_skip(struct kymo_cursor *cursor, uint64_t size_bytes) {
  cursor->packing.packet.skipped += (size_t)size_bytes;
}

static void move_to(struct kymo_cursor *cursor, uint64_t page) {
  kymo_packing_forget(&cursor->packing);
  cursor->has_ended = false;
  cursor->next = page;
}

static void ftrace_seek(struct kymo_cursor *cursor, uint32_t file, uint64_t offset) {
  (void)file;
  move_to(cursor, (offset - cursor->source->cpu->at) / cursor->source->buffer->page_size);
}

static void ftrace_end(struct kymo_cursor *cursor) {
  kymo_map_close(&cursor->map);
  kymo_packing_end(&cursor->packing);
  free(cursor->unpacked);
  free(cursor);
}

static int ftrace_begin(struct kymo_cursor **out, void *from, struct kymo_error *error) {
  struct kymo_cursor *cursor = *out = calloc(1, sizeof *cursor);
  if (!cursor)
    return no_memory(error);
  cursor->source = from;
  cursor->unpacked_piece = UINT32_MAX;
  int status = kymo_map_open(&cursor->map, path_of(cursor->source), error);
  if (status == KYMO_OK && !kymo_block_reserve(&cursor->packing.packet, KYMO_BLOCK_BYTES))
    status = no_memory(error);
  if (status != KYMO_OK)
    ftrace_end(cursor);
  return status;
}

void kymo_ftrace_give_up(struct ftrace_shared *shared) {
  if (--shared->users)
    return;
  kymo_ftrace_names_end(&shared->names);
  kymo_ftrace_close(&shared->file);
  free(shared);
}

static void ftrace_free(void *from) {
  struct ftrace_source *source = from;
  kymo_ftrace_give_up(source->shared);
  free(source->pieces);
  free(source);
}

const struct kymo_source_operations kymo_ftrace_operations = {
    .begin = ftrace_begin,
    .next = ftrace_next,
    .skip = ftrace_skip,
    .seek = ftrace_seek,
    .end = ftrace_end,
    .free = ftrace_free,
};
