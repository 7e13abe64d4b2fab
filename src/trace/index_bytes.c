/* SPDX-License-Identifier: MIT */
/*
 * The index as a file. All numbers are little-endian.
 *
 *   file     16 bytes "kymo index 1" and zeros, u64 hash of all that follows, then streams to the end
 *   stream   u32 files, u32 entries, u32 stride bits, u32 0, u64 packets, u64 position of the last,
 *            u64 latest end time, files (u64 inode, size, seconds and nanoseconds of the last change),
 *            entries (u64 clock, position)
 */
#include "base/hash.h"
#include "trace/index.h"
#include <stdlib.h>
#include <string.h>

static const char magic[16] = "kymo index 1";
#define HEAD_BYTES (sizeof magic + 8)
#define STREAM_BYTES 40
#define FILE_BYTES 32
#define ENTRY_BYTES 16
#define STRIDE_BITS_MAX 40

/* ---- writing ---- */

static void store(uint8_t *to, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++)
    to[i] = (uint8_t)(value >> 8 * i);
}

static void add(struct kymo_strbuf *out, uint64_t value, unsigned bytes) {
  uint8_t stored[8];
  store(stored, value, bytes);
  kymo_strbuf_add(out, (const char *)stored, bytes);
}

void kymo_index_write_begin(struct kymo_strbuf *out) {
  kymo_strbuf_add(out, magic, sizeof magic);
  add(out, 0, 8);
}

void kymo_index_write(struct kymo_strbuf *out, const struct kymo_index *index,
                      const struct kymo_index_file *files, uint32_t file_count) {
  add(out, file_count, 4);
  add(out, index->count, 4);
  add(out, index->stride_bits, 4);
  add(out, 0, 4);
  add(out, index->packets, 8);
  add(out, index->last_position, 8);
  add(out, index->end_cycles, 8);
  for (uint32_t i = 0; i < file_count; i++) {
    add(out, files[i].inode, 8);
    add(out, files[i].size, 8);
    add(out, files[i].seconds, 8);
    add(out, files[i].nanoseconds, 8);
  }
  for (uint32_t i = 0; i < index->count; i++) {
    add(out, index->entries[i].clock, 8);
    add(out, index->entries[i].position, 8);
  }
}

void kymo_index_write_end(struct kymo_strbuf *out) {
  if (!out->failed)
    store((uint8_t *)out->text + sizeof magic,
          kymo_hash64(out->text + HEAD_BYTES, out->length - HEAD_BYTES, 0), 8);
}

/* ---- reading ---- */

bool kymo_index_read_begin(struct kymo_bytes *bytes, const uint8_t *data, size_t size) {
  if (size < HEAD_BYTES || memcmp(data, magic, sizeof magic) != 0 ||
      kymo_load_le64(data + sizeof magic) != kymo_hash64(data + HEAD_BYTES, size - HEAD_BYTES, 0))
    return false;
  *bytes = (struct kymo_bytes){.data = data, .size = size, .at = HEAD_BYTES};
  return true;
}

bool kymo_index_read(struct kymo_bytes *bytes, struct kymo_index_bytes *stream) {
  const uint8_t *head = kymo_bytes_take(bytes, STREAM_BYTES);
  if (!head)
    return false;
  *stream = (struct kymo_index_bytes){.file_count = kymo_load_le32(head),
                                      .entry_count = kymo_load_le32(head + 4),
                                      .stride_bits = kymo_load_le32(head + 8),
                                      .packets = kymo_load_le64(head + 16),
                                      .last_position = kymo_load_le64(head + 24),
                                      .end_cycles = kymo_load_le64(head + 32)};
  uint64_t left = bytes->size - bytes->at;
  if (stream->file_count == 0 || stream->file_count > left / FILE_BYTES ||
      stream->entry_count > left / ENTRY_BYTES || stream->stride_bits > STRIDE_BITS_MAX ||
      stream->entry_count == 0 || (stream->packets - 1) >> stream->stride_bits != stream->entry_count - 1)
    return false;
  stream->files = kymo_bytes_take(bytes, (size_t)stream->file_count * FILE_BYTES);
  stream->entries = kymo_bytes_take(bytes, (size_t)stream->entry_count * ENTRY_BYTES);
  return stream->entries != NULL;
}

struct kymo_index_file kymo_index_read_file(const struct kymo_index_bytes *stream, uint32_t file) {
  const uint8_t *at = stream->files + (size_t)file * FILE_BYTES;
  return (struct kymo_index_file){kymo_load_le64(at), kymo_load_le64(at + 8), kymo_load_le64(at + 16),
                                  kymo_load_le64(at + 24)};
}

bool kymo_index_take(struct kymo_index *index, const struct kymo_index_bytes *stream) {
  unsigned skip = 0;
  while ((stream->entry_count - 1) >> skip >= index->limit)
    skip++;
  uint32_t count = ((stream->entry_count - 1) >> skip) + 1;
  struct kymo_index_entry *entries = realloc(index->entries, count * sizeof *entries);
  if (!entries)
    return false;
  index->entries = entries;
  index->capacity = count;
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *at = stream->entries + ((size_t)i << skip) * ENTRY_BYTES;
    entries[i] = (struct kymo_index_entry){kymo_load_le64(at), kymo_load_le64(at + 8)};
    if (i > 0 && (entries[i].clock < entries[i - 1].clock || entries[i].position <= entries[i - 1].position))
      return false;
  }
  if (stream->last_position < entries[count - 1].position)
    return false;
  index->count = count;
  index->stride_bits = stream->stride_bits + skip;
  index->packets = index->kept = stream->packets;
  index->last_position = stream->last_position;
  index->last_clock = entries[count - 1].clock;
  index->end_cycles = stream->end_cycles;
  return true;
}
