/* SPDX-License-Identifier: MIT */
/* The entries of an index: adding, thinning out, finding. index_bytes.c contains its form in files. */
#include "trace/index.h"
#include "base/list.h"
#include "base/search.h"
#include <stdlib.h>

/* A position in one word: number of the file above, offset below. A stream with more of either has no
 * index. */
#define OFFSET_BITS 44

void kymo_index_begin(struct kymo_index *index, size_t stream_count) {
  uint32_t limit = (uint32_t)(KYMO_INDEX_ENTRIES / (stream_count ? stream_count : 1));
  *index = (struct kymo_index){.limit = limit < KYMO_INDEX_ENTRIES_LEAST ? KYMO_INDEX_ENTRIES_LEAST : limit};
}

void kymo_index_free(struct kymo_index *index) {
  free(index->entries);
  *index = (struct kymo_index){.limit = index->limit};
}

void kymo_index_clear(struct kymo_index *index) {
  index->count = index->stride_bits = 0;
  index->packets = index->last_position = index->last_clock = index->end_cycles = index->kept = 0;
}

static void thin_out(struct kymo_index *index) {
  for (uint32_t i = 0; i < index->count; i += 2)
    index->entries[i / 2] = index->entries[i];
  index->count = (index->count + 1) / 2;
  index->stride_bits++;
}

void kymo_index_add(struct kymo_index *index, struct kymo_position position, uint64_t clock) {
  uint64_t packed = (uint64_t)position.file << OFFSET_BITS | position.offset;
  bool fits = position.offset >> OFFSET_BITS == 0 && position.file >> (64 - OFFSET_BITS) == 0;
  if (fits && index->packets > 0 && packed <= index->last_position)
    return;
  if (index->count == index->limit)
    thin_out(index);
  bool is_entry = index->packets >> index->stride_bits >= index->count;
  if (!fits || clock < index->last_clock ||
      (is_entry && !KYMO_LIST_ROOM_UP_TO(index->entries, index->capacity, index->count, index->limit))) {
    kymo_index_free(index);
    index->is_useless = true;
    return;
  }
  if (is_entry)
    index->entries[index->count++] = (struct kymo_index_entry){clock, packed};
  index->packets++;
  index->last_position = packed;
  index->last_clock = clock;
}

uint32_t kymo_index_find(const struct kymo_index *index, struct kymo_ns *ns, int64_t time_ns) {
  uint32_t count = ns->clock ? index->count : 0;
  uint32_t next = KYMO_COUNT_BEFORE(count, i, kymo_ns_of(ns, index->entries[i].clock) < time_ns);
  return next > 1 ? next - 2 : 0;
}

struct kymo_position kymo_index_position(const struct kymo_index *index, uint32_t entry) {
  uint64_t position = index->entries[entry].position;
  return (struct kymo_position){(uint32_t)(position >> OFFSET_BITS),
                                position & ((UINT64_C(1) << OFFSET_BITS) - 1)};
}
