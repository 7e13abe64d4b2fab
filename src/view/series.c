/* SPDX-License-Identifier: MIT */
#include "view/series.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/list.h"
#include <stdlib.h>
#include <string.h>

#define WIDTHS 12 /* bits of the widths in view_leaf.data */
#define DATA_MAX (UINT64_C(1) << (64 - WIDTHS))

uint64_t view_order_float(double value) {
  uint64_t word;
  memcpy(&word, &value, sizeof word);
  return word >> 63 ? ~word : word | UINT64_C(1) << 63;
}

double view_unorder_float(uint64_t word) {
  double value;
  word = word >> 63 ? word & ~(UINT64_C(1) << 63) : ~word;
  memcpy(&value, &word, sizeof value);
  return value;
}

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

static struct column column_of(const uint8_t *at, unsigned width) {
  return (struct column){at, width, width ? kymo_bits_mask(8 * width) : 0};
}

static uint64_t column_get(const struct column *column, unsigned i) {
  return kymo_load_le64(column->at + (size_t)i * column->width) & column->mask;
}

static unsigned width_of(const struct view_leaf *leaf, unsigned column) {
  return (unsigned)(leaf->data >> 4 * column & 15);
}

static const struct view_leaves *leaves_of(const struct view_series *series, const struct view_store *store,
                                           uint64_t chunk) {
  return (const struct view_leaves *)(const void *)(store->base + series->summaries[chunk].leaves);
}

static const struct view_leaf *leaf_of(const struct view_series *series, const struct view_store *store,
                                       uint64_t block) {
  return &leaves_of(series, store, block / VIEW_CHUNK)->list[block % VIEW_CHUNK];
}

/* When a block begins that is in the store; of the first one of a chunk, without looking there. */
static int64_t begin_of(const struct view_series *series, const struct view_store *store, uint64_t block) {
  return block % VIEW_CHUNK ? leaves_of(series, store, block / VIEW_CHUNK)->times_ns[block % VIEW_CHUNK]
                            : series->summaries[block / VIEW_CHUNK].time_ns;
}

static void open_leaf(const struct view_leaf *leaf, int64_t time_ns, const struct view_store *store,
                      struct block *block) {
  const uint8_t *at = store->base + (leaf->data >> WIDTHS);
  *block = (struct block){.time_ns = time_ns, .least = leaf->least, .count = VIEW_BLOCK};
  block->times = column_of(at, width_of(leaf, 2));
  block->values = column_of(at + VIEW_BLOCK * block->times.width, width_of(leaf, 1));
  block->codes = column_of(block->values.at + VIEW_BLOCK * block->values.width, width_of(leaf, 0));
}

static void open_block(const struct view_series *series, const struct view_store *store, uint64_t number,
                       struct block *block) {
  if (number < series->blocks)
    open_leaf(leaf_of(series, store, number), begin_of(series, store, number), store, block);
  else
    *block = (struct block){.tail = series->tail, .count = series->tail_count};
}

static int64_t time_of(const struct block *block, unsigned i) {
  return block->tail ? block->tail[i].time_ns
                     : (int64_t)((uint64_t)block->time_ns + column_get(&block->times, i));
}
static uint64_t value_of(const struct block *block, unsigned i) {
  return block->tail ? block->tail[i].value : block->least + column_get(&block->values, i);
}
static uint32_t code_of(const struct block *block, unsigned i) {
  return block->tail ? block->tail[i].code : (uint32_t)column_get(&block->codes, i);
}

/* When the entry after a block is; its own last time if there is none. */
static int64_t time_after(const struct view_series *series, const struct view_store *store, uint64_t number,
                          const struct block *block) {
  if (number + 1 < series->blocks)
    return begin_of(series, store, number + 1);
  if (number < series->blocks && series->tail_count)
    return series->tail[0].time_ns;
  return time_of(block, block->count - 1);
}

/* ---- what is known of a range ---- */

static void merge(enum view_series_kind kind, struct view_range *range, const struct view_range *more) {
  range->mask |= more->mask;
  if (more->most > range->most || range->where == UINT64_MAX) {
    range->most = more->most;
    range->where = more->where;
  }
  if (kind == VIEW_VALUES && more->least < range->least)
    range->least = more->least;
}

static const struct view_range nothing = {.where = UINT64_MAX, .least = UINT64_MAX};

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
static void scan(enum view_series_kind kind, const struct block *block, unsigned from, unsigned to,
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

static const struct view_bit_leaf *bit_leaf(const struct view_bits *bits, uint64_t block) {
  return &((const struct view_bit_leaf *)(const void *)(bits->store->base + bits->leaves))[block];
}

static struct view_range of_bits(const struct view_bit_leaf *leaf) {
  return (struct view_range){
      .mask = leaf->mask, .most = leaf->most, .where = leaf->where, .least = UINT64_MAX};
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
    scan(series->kind, &block, from, to, wanted, number * VIEW_BLOCK,
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

uint64_t view_bits_rank(const struct view_bits *bits, uint64_t index) {
  const struct view_bit_leaf *leaf;
  if (index >= bits->count)
    return bits->selected;
  leaf = bit_leaf(bits, index / VIEW_BLOCK);
  return leaf->rank + (uint64_t)__builtin_popcountll(leaf->bits & ~(UINT64_MAX << index % VIEW_BLOCK));
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

/* ---- adding ---- */

static unsigned bytes_for(uint64_t value) {
  return value ? (64 - (unsigned)__builtin_clzll(value) + 7) / 8 : 0;
}

/* Makes the leaves for 64 blocks more. */
static struct view_summary *new_summary(struct view_series *series, struct view_store *store) {
  if (!KYMO_LIST_ROOM(series->summaries, series->summary_capacity, series->summary_count))
    return NULL;
  struct view_summary *summary = &series->summaries[series->summary_count];
  *summary =
      (struct view_summary){.least = UINT64_MAX, .where = UINT64_MAX, .time_ns = series->tail[0].time_ns};
  summary->leaves = view_store_add(store, sizeof(struct view_leaves));
  if (summary->leaves == UINT64_MAX)
    return NULL;
  series->summary_count++;
  return summary;
}

static void widths_of_tail(const struct view_entry *tail, struct view_leaf *leaf, unsigned widths[3]) {
  uint64_t largest = 0, times = 0;
  uint32_t codes = 0;
  leaf->least = UINT64_MAX;
  for (unsigned i = 0; i < VIEW_BLOCK; i++) {
    leaf->least = tail[i].value < leaf->least ? tail[i].value : leaf->least;
    largest = tail[i].value > largest ? tail[i].value : largest;
    codes |= tail[i].code;
    times |= (uint64_t)tail[i].time_ns - (uint64_t)tail[0].time_ns; /* a list may have falling ones */
  }
  widths[2] = bytes_for(times);
  widths[1] = bytes_for(largest - leaf->least);
  widths[0] = bytes_for(codes);
}

static void summarise(struct view_summary *summary, enum view_series_kind kind, const struct view_leaf *leaf,
                      int64_t time_ns) {
  struct view_range range = {
      .mask = summary->mask, .most = summary->most, .where = summary->where, .least = summary->least};
  const struct view_range more = {
      .mask = leaf->mask, .most = leaf->most, .where = leaf->where, .least = leaf->least};
  merge(kind, &range, &more);
  summary->mask = range.mask;
  summary->most = range.most;
  summary->where = range.where;
  summary->least = leaf->least < summary->least ? leaf->least : summary->least;
  summary->check =
      (summary->check ^ kymo_hash64(leaf, sizeof *leaf, (uint64_t)time_ns)) * UINT64_C(0x9e3779b97f4a7c15) +
      1;
}

/* Makes a block of the tail, which is full; the entry after it is at `after_ns`. */
static bool flush(struct view_series *series, struct view_store *store, int64_t after_ns) {
  struct view_leaf leaf = {0};
  const int64_t time_ns = series->tail[0].time_ns;
  unsigned widths[3];
  struct view_summary *summary = series->blocks % VIEW_CHUNK == 0
                                     ? new_summary(series, store)
                                     : &series->summaries[series->summary_count - 1];
  widths_of_tail(series->tail, &leaf, widths);
  size_t size = VIEW_BLOCK * (size_t)(widths[0] + widths[1] + widths[2]);
  uint64_t at = summary ? view_store_add(store, size) : UINT64_MAX;
  if (at >= DATA_MAX)
    return false;
  leaf.data = at << WIDTHS | (uint64_t)widths[2] << 8 | (uint64_t)widths[1] << 4 | widths[0];
  uint8_t *times = store->base + at, *values = times + VIEW_BLOCK * widths[2],
          *codes = values + VIEW_BLOCK * widths[1];
  /* eight bytes each: those above the width are zeros, and the next store covers them; after the last one is
   * the store's slack */
  for (unsigned i = 0; i < VIEW_BLOCK; i++)
    kymo_store_le64(times + i * widths[2], (uint64_t)series->tail[i].time_ns - (uint64_t)time_ns);
  for (unsigned i = 0; i < VIEW_BLOCK; i++)
    kymo_store_le64(values + i * widths[1], series->tail[i].value - leaf.least);
  for (unsigned i = 0; i < VIEW_BLOCK; i++)
    kymo_store_le64(codes + i * widths[0], series->tail[i].code);
  const struct block block = {.tail = series->tail, .count = VIEW_BLOCK};
  struct view_range range = nothing;
  scan(series->kind, &block, 0, VIEW_BLOCK, UINT64_MAX, series->blocks * VIEW_BLOCK, after_ns, &range);
  leaf.mask = range.mask;
  leaf.most = range.most;
  leaf.where = range.where;
  leaf.check = kymo_hash64(times, size, leaf.data);
  struct view_leaves *leaves = (struct view_leaves *)(void *)(store->base + summary->leaves);
  leaves->times_ns[series->blocks % VIEW_CHUNK] = time_ns;
  leaves->list[series->blocks % VIEW_CHUNK] = leaf;
  summarise(summary, series->kind, &leaf, time_ns);
  series->blocks++;
  series->tail_count = 0;
  return true;
}

bool view_series_add(struct view_series *series, struct view_store *store, const struct view_entry *entry) {
  bool falls = series->tail_count > 0 && entry->value <= series->tail[series->tail_count - 1].value;
  if (series->tail_count == VIEW_BLOCK && !flush(series, store, entry->time_ns))
    return false;
  if (!KYMO_LIST_ROOM(series->tail, series->tail_capacity, series->tail_count))
    return false;
  series->has_falls |= falls;
  series->tail[series->tail_count++] = *entry;
  series->mask |= UINT64_C(1) << entry->code % 64;
  series->count++;
  return true;
}

void view_series_free(struct view_series *series) {
  free(series->summaries);
  free(series->tail);
  free(series->unchecked);
  *series = (struct view_series){0};
}

/* ---- looking up ---- */

/* Of the leaves of a chunk from `low` to before `end`, the last one that begins before a time; `low` if none
 * does. It is mostly near, and those up to it are looked at next. */
static unsigned find_leaf(const int64_t *times_ns, unsigned low, unsigned end, int64_t time_ns) {
  unsigned high = low + 1;
  for (unsigned step = 2; high < end && times_ns[high] < time_ns; step *= 2) {
    low = high;
    high = end - low > step ? low + step : end;
  }
  for (unsigned count = high - low; count > 1;) { /* without branches, which nothing can predict */
    unsigned half = count / 2;
    low += times_ns[low + half] < time_ns ? half : 0;
    count -= half;
  }
  return low;
}

/* The last chunk that begins before a time, from `low` on. Steps grow, for it is mostly near. */
static size_t find_chunk(const struct view_series *series, size_t low, int64_t time_ns) {
  size_t step = 1, high = low + 1;
  while (high < series->summary_count && series->summaries[high].time_ns < time_ns) {
    low = high;
    step *= 2;
    high = series->summary_count - low > step ? low + step : series->summary_count;
  }
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (series->summaries[middle].time_ns < time_ns)
      low = middle;
    else
      high = middle;
  }
  return low;
}

size_t view_series_chunk(const struct view_series *series, int64_t time_ns) {
  return series->summary_count ? find_chunk(series, 0, time_ns) : 0;
}

/* How many of the 64 times of a block in the store are before this one. */
static unsigned find_time(const struct view_leaf *leaf, int64_t begin_ns, const struct view_store *store,
                          int64_t time_ns) {
  const struct column times = column_of(store->base + (leaf->data >> WIDTHS), width_of(leaf, 2));
  uint64_t wanted = (uint64_t)time_ns - (uint64_t)begin_ns;
  unsigned low = 0;
  if (time_ns <= begin_ns)
    return 0;
  for (unsigned half = VIEW_BLOCK / 2; half > 0; half /= 2) /* without branches, which nothing can predict */
    low += column_get(&times, low + half - 1) < wanted ? half : 0;
  return low + (column_get(&times, low) < wanted);
}

static unsigned find_in_tail(const struct view_series *series, int64_t time_ns) {
  unsigned low = 0;
  while (low < series->tail_count && series->tail[low].time_ns < time_ns)
    low++;
  return low;
}

static uint64_t find_in_block(const struct view_series *series, const struct view_store *store,
                              uint64_t number, int64_t time_ns, uint64_t from) {
  unsigned at = number < series->blocks ? find_time(leaf_of(series, store, number),
                                                    begin_of(series, store, number), store, time_ns)
                                        : find_in_tail(series, time_ns);
  return number * VIEW_BLOCK + at > from ? number * VIEW_BLOCK + at : from;
}

uint64_t view_series_find_block(const struct view_series *series, const struct view_store *store,
                                int64_t time_ns, uint64_t block) {
  if (block >= series->blocks || (series->tail_count && series->tail[0].time_ns < time_ns))
    return series->blocks;
  if (block + 1 < series->blocks && begin_of(series, store, block + 1) < time_ns) {
    size_t chunk = find_chunk(series, (size_t)(block / VIEW_CHUNK), time_ns);
    uint64_t left = series->blocks - chunk * VIEW_CHUNK;
    unsigned low = chunk == block / VIEW_CHUNK ? (unsigned)(block % VIEW_CHUNK) : 0;
    block = chunk * VIEW_CHUNK + find_leaf(leaves_of(series, store, chunk)->times_ns, low,
                                           left < VIEW_CHUNK ? (unsigned)left : VIEW_CHUNK, time_ns);
  }
  const uint8_t *data = store->base + (leaf_of(series, store, block)->data >> WIDTHS);
  __builtin_prefetch(data);
  __builtin_prefetch(data + 64);
  __builtin_prefetch(data + 128);
  __builtin_prefetch(data + 192);
  return block;
}

uint64_t view_series_find_in(const struct view_series *series, const struct view_store *store, uint64_t block,
                             int64_t time_ns, uint64_t from) {
  return find_in_block(series, store, block, time_ns, from);
}

uint64_t view_series_find(const struct view_series *series, const struct view_store *store, int64_t time_ns,
                          uint64_t from) {
  if (from >= series->count)
    return series->count;
  return find_in_block(series, store, view_series_find_block(series, store, time_ns, from / VIEW_BLOCK),
                       time_ns, from);
}

/* The last of `count` summaries or leaves of which the least value is not above this one. */
#define FIND_VALUE(list, count, wanted)      \
  __extension__({                            \
    uint64_t low_ = 0, high_ = (count);      \
    while (high_ - low_ > 1) {               \
      uint64_t middle_ = (low_ + high_) / 2; \
      if ((list)[middle_].least <= (wanted)) \
        low_ = middle_;                      \
      else                                   \
        high_ = middle_;                     \
    }                                        \
    low_;                                    \
  })

size_t view_series_value_chunk(const struct view_series *series, uint64_t value) {
  return series->summary_count ? (size_t)FIND_VALUE(series->summaries, series->summary_count, value) : 0;
}

uint64_t view_series_find_value(const struct view_series *series, const struct view_store *store,
                                uint64_t value) {
  struct block block;
  uint64_t number = series->blocks, low = 0, high;
  if (series->blocks && (!series->tail_count || value < series->tail[0].value)) {
    uint64_t chunk = view_series_value_chunk(series, value), left = series->blocks - chunk * VIEW_CHUNK;
    number = chunk * VIEW_CHUNK +
             FIND_VALUE(leaves_of(series, store, chunk)->list, left < VIEW_CHUNK ? left : VIEW_CHUNK, value);
  }
  open_block(series, store, number, &block);
  for (high = block.count; low < high;) {
    uint64_t middle = (low + high) / 2;
    if (value_of(&block, (unsigned)middle) < value)
      low = middle + 1;
    else
      high = middle;
  }
  return number * VIEW_BLOCK + low;
}

/* Whether no value of a block in the store can be from `least` to `most`. */
static bool is_outside(const struct view_leaf *leaf, uint64_t least, uint64_t most) {
  unsigned width = width_of(leaf, 1);
  uint64_t span = width ? kymo_bits_mask(8 * width) : 0;
  return leaf->least > most || (leaf->least < least && least - leaf->least > span);
}

uint64_t view_series_seek_value(const struct view_series *series, const struct view_store *store,
                                uint64_t from, uint64_t least, uint64_t most) {
  const uint64_t in_store = series->blocks * VIEW_BLOCK;
  while (from < series->count) {
    uint64_t number = from / VIEW_BLOCK, end = (number + 1) * VIEW_BLOCK;
    struct block block;
    if (from < in_store && series->summaries[number / VIEW_CHUNK].least > most) {
      uint64_t next = (number / VIEW_CHUNK + 1) * VIEW_CHUNK_ENTRIES;
      from = next < in_store ? next : in_store;
      continue;
    }
    if (from < in_store && is_outside(leaf_of(series, store, number), least, most)) {
      from = end;
      continue;
    }
    open_block(series, store, number, &block);
    for (unsigned i = (unsigned)(from % VIEW_BLOCK); i < block.count; i++)
      if (value_of(&block, i) - least <= most - least)
        return number * VIEW_BLOCK + i;
    from = end;
  }
  return UINT64_MAX;
}

uint64_t view_series_find_equal(const struct view_series *series, const struct view_store *store,
                                int64_t time_ns, uint64_t value) {
  uint64_t low = view_series_find(series, store, time_ns, 0),
           high = time_ns < INT64_MAX ? view_series_find(series, store, time_ns + 1, low) : series->count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (view_series_get(series, store, middle).value < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

struct view_entry view_series_get(const struct view_series *series, const struct view_store *store,
                                  uint64_t index) {
  struct block block;
  unsigned i = index % VIEW_BLOCK;
  open_block(series, store, index / VIEW_BLOCK, &block);
  return (struct view_entry){time_of(&block, i), value_of(&block, i), code_of(&block, i)};
}

uint64_t view_series_block(const struct view_series *series, const struct view_store *store, uint64_t index,
                           struct view_entry entries[VIEW_BLOCK], unsigned *count) {
  struct block block;
  open_block(series, store, index / VIEW_BLOCK, &block);
  for (unsigned i = 0; i < block.count; i++)
    entries[i] = (struct view_entry){time_of(&block, i), value_of(&block, i), code_of(&block, i)};
  *count = block.count;
  return index - index % VIEW_BLOCK;
}

/* ---- seeking ---- */

/* The codes that a filter selects in 64 blocks, or that these have. */
static uint64_t mask_of_chunk(const struct view_series *series, const struct view_bits *bits,
                              uint64_t chunk) {
  return bits
             ? ((const struct view_bit_leaf *)(const void *)(bits->store->base + bits->summaries))[chunk].mask
             : series->summaries[chunk].mask;
}

static uint64_t mask_of_block(const struct view_series *series, const struct view_store *store,
                              const struct view_bits *bits, uint64_t block) {
  return bits                      ? bit_leaf(bits, block)->mask
         : block >= series->blocks ? UINT64_MAX
                                   : leaf_of(series, store, block)->mask;
}

/* The nearest wanted entry of a block at or after (before) the entry `at`; UINT64_MAX: none. */
static uint64_t seek_in(const struct block *block, uint64_t wanted, uint32_t code, unsigned at,
                        bool is_back) {
  wanted &= is_back ? UINT64_MAX >> (VIEW_BLOCK - 1 - at) : UINT64_MAX << at;
  wanted &= block->count < VIEW_BLOCK ? ~(UINT64_MAX << block->count) : UINT64_MAX;
  while (wanted) {
    unsigned i = is_back ? 63 - (unsigned)__builtin_clzll(wanted) : (unsigned)__builtin_ctzll(wanted);
    if (code == UINT32_MAX || code_of(block, i) == code)
      return i;
    wanted &= ~(UINT64_C(1) << i);
  }
  return UINT64_MAX;
}

uint64_t view_series_seek_some(const struct view_series *series, const struct view_store *store,
                               const struct view_bits *bits, uint32_t code, uint64_t *from, bool is_back,
                               uint64_t blocks) {
  uint64_t index = *from;
  uint64_t mask = code == UINT32_MAX ? UINT64_MAX : UINT64_C(1) << code % 64,
           count = bits && bits->count < series->count ? bits->count : series->count;
  if (!(series->mask & mask) || count == 0 || (index >= count && !is_back))
    return UINT64_MAX;
  for (index = index < count ? index : count - 1;;) {
    struct block block;
    uint64_t number = index / VIEW_BLOCK, chunk = number / VIEW_CHUNK, found = UINT64_MAX;
    bool skips_chunk = chunk < count / VIEW_CHUNK_ENTRIES && chunk < series->blocks / VIEW_CHUNK &&
                       !(mask_of_chunk(series, bits, chunk) & mask);
    uint64_t first = skips_chunk ? chunk * VIEW_CHUNK_ENTRIES : number * VIEW_BLOCK;
    uint64_t size = skips_chunk ? VIEW_CHUNK_ENTRIES : VIEW_BLOCK;
    if (!skips_chunk && mask_of_block(series, store, bits, number) & mask) {
      open_block(series, store, number, &block);
      found = seek_in(&block, bits ? bit_leaf(bits, number)->bits : UINT64_MAX, code,
                      (unsigned)(index - first), is_back);
    }
    if (found != UINT64_MAX)
      return first + found;
    if (is_back ? first == 0 : first + size >= count)
      return UINT64_MAX;
    index = is_back ? first - 1 : first + size;
    if (blocks-- == 0)
      return *from = index, VIEW_SEEK_LATER;
  }
}

uint64_t view_series_seek(const struct view_series *series, const struct view_store *store,
                          const struct view_bits *bits, uint32_t code, uint64_t index, bool is_back) {
  return view_series_seek_some(series, store, bits, code, &index, is_back, UINT64_MAX);
}

/* ---- filters ---- */

/* Leaves for all blocks, with room for as many more. */
static bool make_room(struct view_bits *bits, struct view_store *store, uint64_t blocks) {
  if (bits->store && blocks < bits->room)
    return true;
  uint64_t room = bits->store ? 2 * blocks + 2 : blocks + 2;
  uint64_t leaves = view_store_add(store, room * sizeof(struct view_bit_leaf)),
           summaries = view_store_add(store, (room / VIEW_CHUNK + 1) * sizeof(struct view_bit_leaf));
  if (leaves == UINT64_MAX || summaries == UINT64_MAX)
    return false;
  *bits = (struct view_bits){.store = store, .leaves = leaves, .summaries = summaries, .room = room};
  return true;
}

/* Makes the leaf of a block, and adds it to its summary. */
static void mark_block(struct view_bits *bits, const struct view_series *series,
                       const struct view_store *store, uint64_t number, view_selector *selects, void *user) {
  uint8_t *base = bits->store->base;
  struct view_bit_leaf *leaf = &((struct view_bit_leaf *)(void *)(base + bits->leaves))[number],
                       *summary =
                           &((struct view_bit_leaf *)(void *)(base + bits->summaries))[number / VIEW_CHUNK];
  struct view_range range = nothing, chunk = number % VIEW_CHUNK ? of_bits(summary) : nothing;
  struct block block;
  *leaf = (struct view_bit_leaf){.rank = bits->selected};
  open_block(series, store, number, &block);
  for (unsigned k = 0; k < block.count; k++) {
    const struct view_entry entry = {time_of(&block, k), value_of(&block, k), code_of(&block, k)};
    leaf->bits |= (uint64_t)selects(user, &entry) << k;
  }
  bits->selected += (uint64_t)__builtin_popcountll(leaf->bits);
  scan(series->kind, &block, 0, block.count, leaf->bits, number * VIEW_BLOCK,
       time_after(series, store, number, &block), &range);
  leaf->mask = range.mask;
  leaf->most = range.most;
  leaf->where = range.where;
  merge(series->kind, &chunk, &range);
  *summary = (struct view_bit_leaf){.mask = chunk.mask, .most = chunk.most, .where = chunk.where};
}

bool view_bits_make(struct view_bits *bits, struct view_store *bit_store, const struct view_series *series,
                    const struct view_store *store, uint64_t until, view_selector *selects, void *user) {
  uint64_t count = bits->count, all = (series->count + VIEW_BLOCK - 1) / VIEW_BLOCK;
  until = until < series->count ? until / VIEW_BLOCK : all;
  if (!make_room(bits, bit_store, all))
    return false;
  /* whole chunks stay, but for the last one, whose last entry is longer when there is another one; after
   * make_room has made new leaves there are none */
  uint64_t from = count && bits->count == count ? (count - 1) / VIEW_CHUNK_ENTRIES * VIEW_CHUNK : 0;
  bits->selected = from ? bit_leaf(bits, from)->rank : 0;
  for (uint64_t i = from; i < until; i++)
    mark_block(bits, series, store, i, selects, user);
  ((struct view_bit_leaf *)(void *)(bit_store->base + bits->leaves))[until].rank = bits->selected;
  bits->count = until < all ? until * VIEW_BLOCK : series->count;
  return true;
}

/* ---- checking ---- */

static bool leaf_is_sound(const struct view_leaf *leaf, const struct view_store *store, uint64_t number,
                          uint32_t codes) {
  uint64_t at = leaf->data >> WIDTHS, first = view_where_index(leaf->where);
  size_t size = VIEW_BLOCK * (size_t)(width_of(leaf, 0) + width_of(leaf, 1) + width_of(leaf, 2));
  return width_of(leaf, 0) <= 4 && width_of(leaf, 1) <= 8 && width_of(leaf, 2) <= 8 && at <= store->mapped &&
         size + VIEW_STORE_SLACK <= store->mapped - at && first / VIEW_BLOCK == number &&
         view_where_code(leaf->where) < codes;
}

bool view_series_check_leaves(const struct view_series *series, const struct view_store *store,
                              size_t summary, uint32_t codes) {
  const struct view_summary *wanted = &series->summaries[summary];
  struct view_summary made = {.least = UINT64_MAX, .where = UINT64_MAX};
  uint64_t first = (uint64_t)summary * VIEW_CHUNK, left = series->blocks - first,
           count = left < VIEW_CHUNK ? left : VIEW_CHUNK;
  if (wanted->leaves % 8 || wanted->leaves > store->mapped ||
      sizeof(struct view_leaves) > store->mapped - wanted->leaves)
    return false;
  const struct view_leaves *leaves = leaves_of(series, store, summary);
  for (uint64_t i = 0; i < count; i++) {
    if (!leaf_is_sound(&leaves->list[i], store, first + i, codes) ||
        (i > 0 && leaves->times_ns[i] < leaves->times_ns[i - 1]))
      return false;
    summarise(&made, series->kind, &leaves->list[i], leaves->times_ns[i]);
  }
  return wanted->time_ns == leaves->times_ns[0] && made.mask == wanted->mask && made.most == wanted->most &&
         made.where == wanted->where && made.least == wanted->least && made.check == wanted->check;
}

bool view_series_check_block(const struct view_series *series, const struct view_store *store,
                             uint64_t number, uint32_t codes) {
  const struct view_leaf *leaf = leaf_of(series, store, number);
  size_t size = VIEW_BLOCK * (size_t)(width_of(leaf, 0) + width_of(leaf, 1) + width_of(leaf, 2));
  struct view_range range = nothing;
  struct block block;
  open_block(series, store, number, &block);
  for (unsigned i = 0; i < VIEW_BLOCK; i++)
    if (code_of(&block, i) >= codes || (i > 0 && time_of(&block, i) < time_of(&block, i - 1)))
      return false;
  int64_t after_ns = time_after(series, store, number, &block);
  if (after_ns < time_of(&block, VIEW_BLOCK - 1) || time_of(&block, 0) != block.time_ns)
    return false;
  scan(series->kind, &block, 0, VIEW_BLOCK, UINT64_MAX, number * VIEW_BLOCK, after_ns, &range);
  return leaf->mask == range.mask && leaf->most == range.most && leaf->where == range.where &&
         leaf->check == kymo_hash64(block.times.at, size, leaf->data);
}
