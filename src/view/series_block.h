/* SPDX-License-Identifier: MIT */
/* Blocks, leaves and ranges of a series, as the files series*.c see them. */
#ifndef KYMO_VIEW_SERIES_BLOCK_H
#define KYMO_VIEW_SERIES_BLOCK_H

#include "base/bytes.h"
#include "view/series.h"

#define WIDTHS 12 /* bits of the widths in view_leaf.data */

/* ---- blocks ---- */

struct column {
  const uint8_t *at;
  unsigned width;
  uint64_t mask;
};

/* A block in the store, or the tail. */
struct block {
  const struct view_entry *tail; /* or NULL */
  struct column times, values, codes;
  int64_t time_ns;
  uint64_t least;
  unsigned count;
};

static inline struct column column_of(const uint8_t *at, unsigned width) {
  return (struct column){at, width, width ? kymo_bits_mask(8 * width) : 0};
}

static inline uint64_t column_get(const struct column *column, unsigned i) {
  return kymo_load_le64(column->at + (size_t)i * column->width) & column->mask;
}

static inline unsigned width_of(const struct view_leaf *leaf, unsigned column) {
  return (unsigned)(leaf->data >> 4 * column & 15);
}

/* The size of a block in the store. */
static inline size_t bytes_of(const struct view_leaf *leaf) {
  return VIEW_BLOCK * (size_t)(width_of(leaf, 0) + width_of(leaf, 1) + width_of(leaf, 2));
}

static inline const struct view_leaves *leaves_of(const struct view_series *series,
                                                  const struct view_store *store, uint64_t chunk) {
  return (const struct view_leaves *)(const void *)(store->base + series->summaries[chunk].leaves);
}

static inline const struct view_leaf *leaf_of(const struct view_series *series,
                                              const struct view_store *store, uint64_t block) {
  return &leaves_of(series, store, block / VIEW_CHUNK)->list[block % VIEW_CHUNK];
}

/* When a block begins that is in the store; of the first one of a chunk, without looking there. */
static inline int64_t begin_of(const struct view_series *series, const struct view_store *store,
                               uint64_t block) {
  return block % VIEW_CHUNK ? leaves_of(series, store, block / VIEW_CHUNK)->times_ns[block % VIEW_CHUNK]
                            : series->summaries[block / VIEW_CHUNK].time_ns;
}

static inline void open_leaf(const struct view_leaf *leaf, int64_t time_ns, const struct view_store *store,
                             struct block *block) {
  const uint8_t *at = store->base + (leaf->data >> WIDTHS);
  *block = (struct block){.time_ns = time_ns, .least = leaf->least, .count = VIEW_BLOCK};
  block->times = column_of(at, width_of(leaf, 2));
  block->values = column_of(at + VIEW_BLOCK * block->times.width, width_of(leaf, 1));
  block->codes = column_of(block->values.at + VIEW_BLOCK * block->values.width, width_of(leaf, 0));
}

static inline void open_block(const struct view_series *series, const struct view_store *store,
                              uint64_t number, struct block *block) {
  if (number < series->blocks)
    open_leaf(leaf_of(series, store, number), begin_of(series, store, number), store, block);
  else
    *block = (struct block){.tail = series->tail, .count = series->tail_count};
}

static inline int64_t time_of(const struct block *block, unsigned i) {
  return block->tail ? block->tail[i].time_ns
                     : (int64_t)((uint64_t)block->time_ns + column_get(&block->times, i));
}
static inline uint64_t value_of(const struct block *block, unsigned i) {
  return block->tail ? block->tail[i].value : block->least + column_get(&block->values, i);
}
static inline uint32_t code_of(const struct block *block, unsigned i) {
  return block->tail ? block->tail[i].code : (uint32_t)column_get(&block->codes, i);
}

/* When the entry after a block is; its own last time if there is none. */
static inline int64_t time_after(const struct view_series *series, const struct view_store *store,
                                 uint64_t number, const struct block *block) {
  if (number + 1 < series->blocks)
    return begin_of(series, store, number + 1);
  if (number < series->blocks && series->tail_count)
    return series->tail[0].time_ns;
  return time_of(block, block->count - 1);
}

/* ---- what is known of a range ---- */

static inline void merge(enum view_series_kind kind, struct view_range *range,
                         const struct view_range *more) {
  range->mask |= more->mask;
  if (more->most > range->most || range->where == UINT64_MAX) {
    range->most = more->most;
    range->where = more->where;
  }
  if (kind == VIEW_VALUES && more->least < range->least)
    range->least = more->least;
}

static const struct view_range nothing = {.where = UINT64_MAX, .least = UINT64_MAX};

/* Looks at entries of a block, for the sets and lengths that are asked for. */
void view_scan_block(enum view_series_kind kind, const struct block *block, unsigned from, unsigned to,
                     uint64_t bits, uint64_t first, int64_t after_ns, struct view_range *range);
/* Adds a leaf to the summary of its chunk. */
void view_summarise(struct view_summary *summary, enum view_series_kind kind, const struct view_leaf *leaf,
                    int64_t time_ns);

/* ---- filters ---- */

static inline const struct view_bit_leaf *bit_leaf(const struct view_bits *bits, uint64_t block) {
  return &((const struct view_bit_leaf *)(const void *)(bits->store->base + bits->leaves))[block];
}

static inline struct view_range of_bits(const struct view_bit_leaf *leaf) {
  return (struct view_range){
      .mask = leaf->mask, .most = leaf->most, .where = leaf->where, .least = UINT64_MAX};
}

#endif
