/* SPDX-License-Identifier: MIT */
/*
 * Kept indexes: the bytes after the header of an index file; the fuzzer makes a correct header. An accepted
 * index must be in order, lead to some entry, grow, and be the same when it is written and read again.
 */
#include "reached.h"
#include "trace/index.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void rewrite(const struct kymo_index *index, const struct kymo_index_bytes *stream) {
  struct kymo_strbuf out = {0};
  struct kymo_index_file file = kymo_index_read_file(stream, stream->file_count - 1);
  kymo_index_write_begin(&out);
  kymo_index_write(&out, index, &file, 1);
  kymo_index_write_end(&out);
  struct kymo_index_bytes again;
  struct kymo_bytes bytes;
  struct kymo_index other = {.limit = index->limit};
  if (!out.failed && (!kymo_index_read_begin(&bytes, (const uint8_t *)out.text, out.length) ||
                      !kymo_index_read(&bytes, &again) || !kymo_index_take(&other, &again) ||
                      other.count != index->count || other.packets != index->packets ||
                      memcmp(other.entries, index->entries, index->count * sizeof *index->entries) != 0))
    abort();
  kymo_index_free(&other);
  kymo_strbuf_free(&out);
}

static void use(struct kymo_index *index) {
  struct kymo_clock clock = {.frequency = 1000000007};
  struct kymo_ns ns;
  kymo_ns_begin(&ns, &clock, 0, false);
  for (uint32_t i = 1; i < index->count; i++)
    if (index->entries[i].clock < index->entries[i - 1].clock)
      abort();
  static const int64_t times[] = {INT64_MIN, 0, 1000, INT64_MAX};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    if (kymo_index_find(index, &ns, times[i]) >= index->count)
      abort();
  struct kymo_position last = kymo_index_position(index, index->count - 1);
  for (uint64_t i = 1; i < 100 && !index->is_useless; i++)
    kymo_index_add(index, (struct kymo_position){last.file, last.offset + i}, index->last_clock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct kymo_strbuf out = {0};
  struct kymo_bytes bytes;
  struct kymo_index_bytes stream;
  kymo_index_write_begin(&out);
  kymo_strbuf_add(&out, (const char *)data, size);
  kymo_index_write_end(&out);
  if (out.failed || !kymo_index_read_begin(&bytes, (const uint8_t *)out.text, out.length))
    abort();
  while (kymo_index_read(&bytes, &stream)) {
    struct kymo_index index;
    kymo_index_begin(&index, size % 3 ? 1 : UINT16_MAX);
    if (kymo_index_take(&index, &stream)) {
      fuzz_reached++;
      rewrite(&index, &stream);
      use(&index);
    }
    kymo_index_free(&index);
  }
  kymo_strbuf_free(&out);
  return 0;
}
