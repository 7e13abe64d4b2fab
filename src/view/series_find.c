/* SPDX-License-Identifier: MIT */
/* Looking up entries of a series: by time, by value, and the nearest one of a code. */
#include "view/series_block.h"

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
