/* SPDX-License-Identifier: MIT */
/* What is known of a range of entries: from summaries and leaves, and of the blocks at its ends. */
#include "view/series_block.h"

/* The bits of entries from `from` to before `to`, which is above it. */
static uint64_t bits_within(uint64_t bits, unsigned from, unsigned to) {
  return bits & UINT64_MAX << from & UINT64_MAX >> (VIEW_BLOCK - to);
}

/* Mostly a code is a byte, and all entries are wanted. */
static uint64_t mask_of_bytes(const uint8_t *codes, unsigned from, unsigned to) {
  uint64_t mask = 0;
  for (unsigned i = from; i < to; i++)
    mask |= UINT64_C(1) << codes[i] % 64;
  return mask;
}

static void scan_codes(const struct block *block, unsigned from, unsigned to, uint64_t bits,
                       struct view_range *range) {
  uint64_t mask = 0;
  if (bits == UINT64_MAX && !block->tail && block->codes.width == 1) {
    range->mask |= mask_of_bytes(block->codes.at, from, to);
    return;
  }
  for (bits = bits_within(bits, from, to); bits; bits &= bits - 1)
    mask |= UINT64_C(1) << code_of(block, (unsigned)__builtin_ctzll(bits)) % 64;
  range->mask |= mask;
}

static void take_length(const struct block *block, unsigned i, uint64_t length, uint64_t first,
                        struct view_range *range) {
  if (length > range->most || range->where == UINT64_MAX) {
    range->most = length;
    range->where = VIEW_WHERE(first + i, code_of(block, i));
  }
}

/* Of events in the store, of which there is another one in the block after each: which is the first one that
 * is longest until the next. */
static unsigned find_longest(const struct column *times, uint64_t bits, uint64_t *longest) {
  const struct column column = *times;
  unsigned found = (unsigned)__builtin_ctzll(bits);
  *longest = 0;
  for (; bits; bits &= bits - 1) {
    unsigned i = (unsigned)__builtin_ctzll(bits);
    uint64_t length = column_get(&column, i + 1) - column_get(&column, i);
    found = length > *longest ? i : found;
    *longest = length > *longest ? length : *longest;
  }
  return found;
}

/* The same of all events from `from` to before `to`. */
static unsigned find_longest_of_all(const struct column *times, unsigned from, unsigned to,
                                    uint64_t *longest) {
  const struct column column = *times;
  unsigned found = from;
  uint64_t here = column_get(&column, from);
  *longest = 0;
  for (unsigned i = from; i < to; i++) {
    uint64_t next = column_get(&column, i + 1), length = next - here;
    found = length > *longest ? i : found;
    *longest = length > *longest ? length : *longest;
    here = next;
  }
  return found;
}

/* Of events: how long it is until the next one; `after_ns`: when the one after the block is. */
static void scan_times(const struct block *block, unsigned from, unsigned to, uint64_t bits, uint64_t first,
                       int64_t after_ns, struct view_range *range) {
  uint64_t left = bits_within(bits, from, to), longest;
  if (!block->tail && left & UINT64_MAX >> 1) {
    unsigned last = to < VIEW_BLOCK ? to : VIEW_BLOCK - 1,
             i = bits == UINT64_MAX ? find_longest_of_all(&block->times, from, last, &longest)
                                    : find_longest(&block->times, left & UINT64_MAX >> 1, &longest);
    take_length(block, i, longest, first, range);
    left &= UINT64_C(1) << (VIEW_BLOCK - 1);
  }
  for (; left; left &= left - 1) {
    unsigned i = (unsigned)__builtin_ctzll(left);
    int64_t next_ns = i + 1 < block->count ? time_of(block, i + 1) : after_ns;
    take_length(block, i, (uint64_t)next_ns - (uint64_t)time_of(block, i), first, range);
  }
}

/* Looks at entries of a block, for the sets and lengths that are asked for. */
void view_scan_block(enum view_series_kind kind, const struct block *block, unsigned from, unsigned to,
                     uint64_t bits, uint64_t first, int64_t after_ns, struct view_range *range) {
  if (from >= to)
    return;
  scan_codes(block, from, to, bits, range);
  if (kind == VIEW_EVENTS) {
    scan_times(block, from, to, bits, first, after_ns, range);
    return;
  }
  for (unsigned i = from; i < to; i++) {
    if (!(bits >> i & 1))
      continue;
    uint64_t value = value_of(block, i);
    take_length(block, i, value, first, range);
    if (kind == VIEW_VALUES && value < range->least)
      range->least = value;
  }
}

/* What a leaf, or a leaf of a filter, says of a whole block; of the tail nothing is known. */
static bool known_block(const struct view_series *series, const struct view_store *store,
                        const struct view_bits *bits, uint64_t number, struct view_range *range) {
  if (bits) {
    *range = of_bits(bit_leaf(bits, number));
    return true;
  }
  if (number >= series->blocks)
    return false;
  const struct view_leaf *leaf = leaf_of(series, store, number);
  *range =
      (struct view_range){.mask = leaf->mask, .most = leaf->most, .where = leaf->where, .least = leaf->least};
  return true;
}

/* Whether what is in a block cannot change the result. */
static bool is_covered(enum view_series_kind kind, const struct view_range *range,
                       const struct view_range *block) {
  return (range->mask | block->mask) == range->mask && block->most <= range->most &&
         (range->where != UINT64_MAX || block->where == UINT64_MAX) &&
         (kind != VIEW_VALUES || block->least >= range->least);
}

static void take_part(const struct view_series *series, const struct view_store *store,
                      const struct view_bits *bits, uint64_t number, unsigned from, unsigned to,
                      struct view_range *range) {
  struct view_range whole;
  struct block block;
  if (known_block(series, store, bits, number, &whole) && is_covered(series->kind, range, &whole))
    return;
  open_block(series, store, number, &block);
  if (to > block.count)
    to = block.count;
  uint64_t wanted = bits ? bit_leaf(bits, number)->bits : UINT64_MAX;
  bool is_known = number < series->blocks || bits;
  if (series->kind == VIEW_EVENTS && is_known && whole.most <= range->most && range->where != UINT64_MAX)
    scan_codes(&block, from, to, wanted, range);
  else if (series->kind == VIEW_EVENTS && is_known && (range->mask | whole.mask) == range->mask && from < to)
    scan_times(&block, from, to, wanted, number * VIEW_BLOCK, time_after(series, store, number, &block),
               range);
  else
    view_scan_block(series->kind, &block, from, to, wanted, number * VIEW_BLOCK,
                    series->kind == VIEW_EVENTS ? time_after(series, store, number, &block) : 0, range);
}

static void take_whole(const struct view_series *series, const struct view_store *store,
                       const struct view_bits *bits, uint64_t number, struct view_range *range) {
  struct view_range whole;
  if (known_block(series, store, bits, number, &whole))
    merge(series->kind, range, &whole);
  else
    take_part(series, store, bits, number, 0, VIEW_BLOCK, range);
}

static void take_chunk(const struct view_series *series, const struct view_bits *bits, uint64_t chunk,
                       struct view_range *range) {
  struct view_range whole;
  const struct view_summary *summary = &series->summaries[chunk];
  if (bits)
    whole =
        of_bits(&((const struct view_bit_leaf *)(const void *)(bits->store->base + bits->summaries))[chunk]);
  else
    whole = (struct view_range){
        .mask = summary->mask, .most = summary->most, .where = summary->where, .least = summary->least};
  merge(series->kind, range, &whole);
}

void view_series_range(const struct view_series *series, const struct view_store *store,
                       const struct view_bits *bits, uint64_t begin, uint64_t end, struct view_range *range) {
  uint64_t count = begin >= end ? 0
                   : bits       ? view_bits_rank(bits, end) - view_bits_rank(bits, begin)
                                : end - begin;
  view_series_range_of(series, store, bits, begin, end, count, range);
}

void view_series_range_of(const struct view_series *series, const struct view_store *store,
                          const struct view_bits *bits, uint64_t begin, uint64_t end, uint64_t count,
                          struct view_range *range) {
  *range = nothing;
  range->count = count;
  if (bits && end > bits->count)
    end = bits->count;
  uint64_t first = begin / VIEW_BLOCK, last = end / VIEW_BLOCK, at = first + (begin % VIEW_BLOCK != 0);
  unsigned from = begin % VIEW_BLOCK, to = end % VIEW_BLOCK;
  if (range->count == 0)
    return;
  if (first == last) {
    take_part(series, store, bits, first, from, to, range);
    return;
  }
  /* whole ones first: what they say mostly spares looking at entries */
  while (at < last) {
    bool is_chunk = at % VIEW_CHUNK == 0 && at + VIEW_CHUNK <= last && at + VIEW_CHUNK <= series->blocks;
    if (is_chunk)
      take_chunk(series, bits, at / VIEW_CHUNK, range);
    else
      take_whole(series, store, bits, at, range);
    at += is_chunk ? VIEW_CHUNK : 1;
  }
  if (from)
    take_part(series, store, bits, first, from, VIEW_BLOCK, range);
  if (to)
    take_part(series, store, bits, last, 0, to, range);
}

uint64_t view_series_count_codes(const struct view_series *series, const struct view_store *store,
                                 const struct view_bits *bits, uint64_t begin, uint64_t end,
                                 uint64_t *counts) {
  uint64_t count = 0;
  for (uint64_t at = begin; at < end;) {
    struct block block;
    uint64_t number = at / VIEW_BLOCK, first = number * VIEW_BLOCK;
    unsigned to = end - first < VIEW_BLOCK ? (unsigned)(end - first) : VIEW_BLOCK;
    uint64_t wanted = bits ? bit_leaf(bits, number)->bits : UINT64_MAX;
    open_block(series, store, number, &block);
    for (unsigned i = (unsigned)(at - first); i < to; i++)
      counts[code_of(&block, i)] += wanted >> i & 1;
    count += (uint64_t)__builtin_popcountll(bits_within(wanted, (unsigned)(at - first), to));
    at = first + to;
  }
  return count;
}
