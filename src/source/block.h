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

/* ---- packets of records ---- */

/* What a cursor keeps that makes packets of records, of which some may be corrupt. */
struct kymo_packing {
  struct kymo_block packet;
  struct kymo_event_offset *event_offsets;
  uint32_t offset_count, offset_capacity;
  bool follows_loss, is_loss_unknown; /* before the packet */
  uint64_t lost_events;
  struct kymo_error pending; /* what is wrong after the packet: reported by the next call */
  uint64_t pending_bytes;    /* which are lost by it */
  bool has_pending, has_failed;
};

static inline void kymo_packing_clear(struct kymo_packing *packing) {
  kymo_block_clear(&packing->packet);
  packing->offset_count = 0;
  packing->follows_loss = packing->is_loss_unknown = false;
  packing->lost_events = 0;
}

/* The same before the cursor moves elsewhere. */
static inline void kymo_packing_forget(struct kymo_packing *packing) {
  kymo_packing_clear(packing);
  packing->has_pending = false;
  packing->pending_bytes = 0;
}

static inline void kymo_packing_end(struct kymo_packing *packing) {
  free(packing->packet.bytes);
  free(packing->event_offsets);
}

/* Reports what is pending. */
static inline int kymo_packing_fail(struct kymo_packing *packing, struct kymo_chunk *chunk,
                                    struct kymo_error *error) {
  packing->has_pending = false;
  chunk->lost_bytes = packing->pending_bytes;
  packing->pending_bytes = 0;
  if (error)
    *error = packing->pending;
  return KYMO_E_FORMAT;
}

/* Fills the packet; sets chunk->lost_bytes if it fails. */
typedef int kymo_packing_fill(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error);

/* The operation `next` of a source, from the bytes of `map`; all of the chunk but its offset. */
static inline int kymo_packing_next(struct kymo_packing *packing, struct kymo_cursor *cursor,
                                    kymo_packing_fill *fill, struct kymo_map *map, const char *path,
                                    struct kymo_chunk *chunk, struct kymo_error *error) {
  struct kymo_block *packet = &packing->packet;
  struct kymo_chunk passed = {0};
  int status = KYMO_OK;
  if (packing->has_failed)
    return KYMO_END;
  if (packet->skipped == kymo_block_used(packet)) {
    status = kymo_block_check(packet, map, fill(cursor, &passed, error), error);
    packing->has_failed = status == KYMO_E_SYSTEM || status == KYMO_E_MEMORY;
  }
  *chunk = kymo_block_chunk(packet, path);
  chunk->lost_bytes = passed.lost_bytes;
  chunk->event_offsets = packing->event_offsets;
  chunk->offset_count = packing->offset_count;
  chunk->follows_loss = packing->follows_loss;
  chunk->lost_events = packing->is_loss_unknown ? UINT64_MAX : packing->lost_events;
  return status;
}

/* ---- values ---- */

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
