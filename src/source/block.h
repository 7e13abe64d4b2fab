/* SPDX-License-Identifier: MIT */
/*
 * A packet that a format encodes itself, from events that have another form in their file: the bytes that its
 * schema describes, little-endian. At least one event fits, whatever its size.
 */
#ifndef KYMO_SOURCE_BLOCK_H
#define KYMO_SOURCE_BLOCK_H

#include "base/bytes.h"
#include "source/format.h"
#include "source/map.h"
#include <stdlib.h>

#define KYMO_BLOCK_BYTES ((size_t)1 << 16)

struct kymo_block {
  uint8_t *bytes, *at; /* at: where the next event is stored */
  size_t capacity;
  size_t skipped; /* the reader has passed these */
};

static inline size_t kymo_block_used(const struct kymo_block *block) {
  return block->bytes ? (size_t)(block->at - block->bytes) : 0;
}

/* Whether `size` more bytes are one event too many for this packet. */
static inline bool kymo_block_is_full(const struct kymo_block *block, size_t size) {
  size_t used = kymo_block_used(block);
  return used > 0 && (size > KYMO_BLOCK_BYTES || used + size > KYMO_BLOCK_BYTES);
}

/* Reserves space for `size` more bytes. False: out of memory. */
static inline bool kymo_block_reserve(struct kymo_block *block, size_t size) {
  size_t used = kymo_block_used(block),
         need = used + size > KYMO_BLOCK_BYTES ? used + size : KYMO_BLOCK_BYTES;
  if (need <= block->capacity)
    return true;
  uint8_t *bytes = realloc(block->bytes, need + KYMO_SLACK);
  if (!bytes)
    return false;
  memset(bytes + used, 0, need + KYMO_SLACK - used);
  block->bytes = bytes;
  block->at = bytes + used;
  block->capacity = need;
  return true;
}

static inline void kymo_block_clear(struct kymo_block *block) {
  block->at = block->bytes;
  block->skipped = 0;
}

/*
 * The result of filling a packet from the bytes of `map`: `status`, or that the file was cut meanwhile. Then
 * the packet may have events of bytes that were never in the file, and is cleared.
 */
static inline int kymo_block_check(struct kymo_block *block, struct kymo_map *map, int status,
                                   struct kymo_error *error) {
  int checked = status == KYMO_OK    ? kymo_map_check(map, error)
                : status == KYMO_END ? kymo_map_check_end(map, error)
                                     : KYMO_OK;
  if (checked == KYMO_OK)
    return status;
  kymo_block_clear(block);
  return checked;
}

/* What of the packet the reader has not passed; the rest of the chunk is the format's. */
static inline struct kymo_chunk kymo_block_chunk(const struct kymo_block *block, const char *path) {
  return (struct kymo_chunk){.data = block->bytes + block->skipped,
                             .size_bytes = kymo_block_used(block) - block->skipped,
                             .path = path};
}

/* The lowest `size` bytes of a number. */
static inline void kymo_block_number(struct kymo_block *block, uint64_t value, size_t size) {
  value = KYMO_HOST_IS_BIG ? __builtin_bswap64(value) : value;
  memcpy(block->at, &value, size);
  block->at += size;
}

/* A text and its zero. */
static inline void kymo_block_text(struct kymo_block *block, const void *text, size_t length) {
  memcpy(block->at, text, length);
  block->at[length] = '\0';
  block->at += length + 1;
}

#endif
