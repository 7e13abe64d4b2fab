/* SPDX-License-Identifier: MIT */
#include "live/kernel/pages.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PADDING = 29, EXTEND = 30, STAMP = 31, DELTA_BITS = 27, PIECE_PAGES = 64 };
#define COMMIT_MASK ((UINT32_C(1) << DELTA_BITS) - 1)
#define LOST_BIT (UINT32_C(1) << 31)
#define LOST_STORED_BIT (UINT32_C(1) << 30)
#define STAMP_HIGH_BITS (UINT64_C(0x1f) << 59)

static uint32_t load32(const uint8_t *from) {
  uint32_t value;
  memcpy(&value, from, sizeof value);
  return value;
}

static uint64_t load64(const uint8_t *from) {
  uint64_t value;
  memcpy(&value, from, sizeof value);
  return value;
}

static bool is_big(void) { return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__; }

/* The record at `at`: where its data is, or nothing if it is no event. Returns where the next one is; `end`
 * if this is the last. */
static size_t step(struct kymo_kernel_pages *pages, const uint8_t *page, size_t at, size_t end,
                   uint64_t *time) {
  uint32_t word = load32(page + at), more = at + 8 <= end ? load32(page + at + 4) : 0;
  unsigned type = is_big() ? word >> DELTA_BITS : word & 31;
  uint64_t delta = is_big() ? word & COMMIT_MASK : word >> 5;
  size_t data = at + 4;
  if (type >= EXTEND) {
    uint64_t value = ((uint64_t)more << DELTA_BITS) + delta;
    *time = type == EXTEND ? *time + value : (*time & STAMP_HIGH_BITS) | value;
    return data + 4;
  }
  if (type == PADDING && delta == 0)
    return end;
  *time += delta;
  uint64_t length = type == PADDING ? more : type ? 4 * type : (more + UINT64_C(3)) / 4 * 4 - 4;
  data += type == 0 ? 4 : 0;
  if (data > end || length > end - data)
    return end;
  if (type != PADDING) {
    pages->events++;
    if (pages->each)
      pages->each(pages->user, page + data, (size_t)length, *time);
  }
  return data + (size_t)length;
}

/* Whether events before a page were lost, and their number after the records, if it had space there. */
static void count_loss(struct kymo_kernel_pages *pages, const uint8_t *page, size_t size, uint64_t commit) {
  size_t end = 8 + sizeof(long) + (size_t)(commit & COMMIT_MASK);
  bool is_stored = commit & LOST_STORED_BIT && end + sizeof(long) <= size;
  if (!(commit & LOST_BIT))
    return;
  pages->lost += is_stored ? sizeof(long) == 8 ? load64(page + end) : load32(page + end) : 0;
  pages->gaps += !is_stored;
}

void kymo_kernel_page_walk(struct kymo_kernel_pages *pages, const uint8_t *page, size_t size) {
  size_t at = 8 + sizeof(long);
  if (size < at)
    return;
  uint64_t time = load64(page);
  uint64_t commit = sizeof(long) == 8 ? load64(page + 8) : load32(page + 8);
  size_t end = at + (size_t)(commit & COMMIT_MASK);
  count_loss(pages, page, size, commit);
  end = end < size ? end : size;
  while (at + 4 <= end)
    at = step(pages, page, at, end, &time);
}

bool kymo_kernel_pages_walk(struct kymo_kernel_pages *pages, int file) {
  size_t piece = (size_t)PIECE_PAGES * pages->page_size;
  uint8_t *bytes = malloc(piece);
  ssize_t size = bytes ? 0 : -1;
  for (off_t at = 0; bytes && (size = pread(file, bytes, piece, at)) > 0; at += size)
    for (size_t i = 0; i < (size_t)size; i += pages->page_size)
      kymo_kernel_page_walk(pages, bytes + i,
                            (size_t)size - i < pages->page_size ? (size_t)size - i : pages->page_size);
  free(bytes);
  return size == 0;
}
