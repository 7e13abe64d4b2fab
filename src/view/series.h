/* SPDX-License-Identifier: MIT */
/*
 * A series: entries in the order of their times, of which counts, sets of codes and the longest one are known
 * for any range without looking at all entries.
 *
 *   summaries, in memory     one for 64 leaves
 *     └─ leaves, in the store  one for a block of 64 entries
 *          └─ blocks, in the store   columns of 64 times, values and codes, each as many bytes wide as
 *                                    the block needs, above the least one of the block
 *   tail, in memory          up to 64 entries that are no block yet
 *
 * Counts are differences of places: how many entries are before a time needs no level of detail. For sets and
 * longest entries, a range asks the summaries and leaves that are wholly in it, and of the two blocks at its
 * ends the entries, unless their leaf says that they cannot change the result.
 *
 *   kind      value                            longest, least
 *   events    the event's number               the longest time to the next event
 *   spans     the duration                     the longest duration
 *   values    of a field (view_order_…)        the least and the largest value
 */
#ifndef KYMO_VIEW_SERIES_H
#define KYMO_VIEW_SERIES_H

#include "view/store.h"

enum { VIEW_BLOCK = 64, VIEW_CHUNK = 64, VIEW_CHUNK_ENTRIES = VIEW_BLOCK * VIEW_CHUNK };

enum view_series_kind { VIEW_EVENTS, VIEW_SPANS, VIEW_VALUES };

struct view_entry {
  int64_t time_ns;
  uint64_t value;
  uint32_t code;
};

/* What is known of a block, as it is in the store. */
struct view_leaf {
  uint64_t data;        /* the offset of its columns, and their widths in bytes: times, values, codes */
  uint64_t least;       /* value */
  uint64_t mask;        /* codes: 1 << code % 64 */
  uint64_t most, where; /* the longest entry: how long, and VIEW_WHERE of it; of values: the largest */
  uint64_t check;       /* hash of the block */
};
/* Those of 64 blocks. When the blocks begin is apart, since that is what is searched. */
struct view_leaves {
  int64_t times_ns[VIEW_CHUNK];
  struct view_leaf list[VIEW_CHUNK];
};

/* An entry of a series with its code, so that no caller has to look it up. Codes are below 65535;
 * UINT64_MAX: none. */
#define VIEW_WHERE(index, code) ((uint64_t)(code) << 48 | (index))
static inline uint64_t view_where_index(uint64_t where) { return where & ((UINT64_C(1) << 48) - 1); }
static inline uint32_t view_where_code(uint64_t where) { return (uint32_t)(where >> 48); }

/* The same of 64 blocks, and where their leaves are. */
struct view_summary {
  int64_t time_ns;
  uint64_t leaves; /* the offset of the leaves in the store */
  uint64_t least, mask, most, where;
  uint64_t check; /* hash of the leaves */
};
/* Of a summary that was loaded: what was not compared with the hashes yet. */
struct view_unchecked {
  uint64_t blocks; /* a bit for each */
  bool has_leaves; /* they are not */
};

struct view_series {
  enum view_series_kind kind;
  uint64_t count;    /* entries */
  uint64_t blocks;   /* of these, blocks in the store */
  uint64_t mask;     /* of all */
  uint64_t revision; /* grows when entries that it has are at other places */
  bool has_falls;    /* some value is not above the one before it */
  struct view_summary *summaries;
  size_t summary_count, summary_capacity;
  struct view_entry *tail;
  uint32_t tail_count, tail_capacity;
  struct view_unchecked *unchecked; /* of a series that was loaded: by summaries; NULL: all is sound */
};

/* What a series had in the store and does not need any more. */
struct view_rest {
  struct view_summary *summaries; /* of the whole series */
  uint64_t block, blocks;         /* of these, blocks that are not given back yet */
  struct view_leaves leaves;      /* of the chunk of `block`, a copy */
  uint64_t begin, end;            /* places that follow one another, which are given back together */
};

/* Which entries of a series a filter selects, in the store of the filter: a leaf for each block. */
struct view_bits {
  const struct view_store *store;
  uint64_t leaves, summaries; /* offsets of struct view_bit_leaf; a summary for 64 leaves, without bits */
  uint64_t count;             /* entries of the series that the filter has seen */
  uint64_t room;              /* blocks for which there are leaves */
  uint64_t selected;
};
struct view_bit_leaf {
  uint64_t bits, rank; /* rank: selected before the block */
  uint64_t mask, most, where;
};

/* What is known of a range of entries. */
struct view_range {
  uint64_t count;
  uint64_t mask;
  uint64_t most, where; /* VIEW_WHERE */
  uint64_t least;
};

/* Makes space for an entry at this time in the tail; if that is full, it becomes a block. False: no memory,
 * or the store cannot grow. */
bool view_series_make_room(struct view_series *series, struct view_store *store, int64_t time_ns);
/* Adds an entry that is not before the last one. Results as above. */
static inline bool view_series_add(struct view_series *series, struct view_store *store,
                                   const struct view_entry *entry) {
  bool falls = series->tail_count > 0 && entry->value <= series->tail[series->tail_count - 1].value;
  if ((series->tail_count == VIEW_BLOCK || series->tail_count == series->tail_capacity) &&
      !view_series_make_room(series, store, entry->time_ns))
    return false;
  series->has_falls |= falls;
  series->tail[series->tail_count++] = *entry;
  series->mask |= UINT64_C(1) << entry->code % 64;
  series->count++;
  return true;
}
void view_series_free(struct view_series *series);
/* An empty series that begins at a chunk of another one: entries are added from there on. */
struct view_series view_series_from(const struct view_series *series, uint64_t chunk);
/* Puts such a series in the place of what `series` has from that chunk on, which goes to *rest. False: no
 * memory, and nothing has changed. */
bool view_series_replace(struct view_series *series, struct view_series *made, uint64_t chunk,
                         struct view_rest *rest);
/* Gives back blocks of a rest to the store, at most `blocks`. Returns how many. */
uint64_t view_rest_give(struct view_rest *rest, struct view_store *store, uint64_t blocks);
void view_rest_free(struct view_rest *rest);
/* The first entry from `from` on that is not before a time; the count if there is none. */
uint64_t view_series_find(const struct view_series *series, const struct view_store *store, int64_t time_ns,
                          uint64_t from);
/* The same in two steps, so that memory is asked for before it is needed: the block in which the entry is or
 * after which it comes, looked for from `block` on; then the entry. */
uint64_t view_series_find_block(const struct view_series *series, const struct view_store *store,
                                int64_t time_ns, uint64_t block);
uint64_t view_series_find_in(const struct view_series *series, const struct view_store *store, uint64_t block,
                             int64_t time_ns, uint64_t from);
/* The number of the summary in which the first entry at or after a time is looked for. */
size_t view_series_chunk(const struct view_series *series, int64_t time_ns);
/* One entry; `index` is below the count. */
struct view_entry view_series_get(const struct view_series *series, const struct view_store *store,
                                  uint64_t index);
/* All entries of the block of `index`: the index of the first one; *count: how many. */
uint64_t view_series_block(const struct view_series *series, const struct view_store *store, uint64_t index,
                           struct view_entry entries[VIEW_BLOCK], unsigned *count);
/* What is known of the entries from `begin` to before `end`; of those that a filter selects, unless `bits` is
 * NULL. */
void view_series_range(const struct view_series *series, const struct view_store *store,
                       const struct view_bits *bits, uint64_t begin, uint64_t end, struct view_range *range);
/* The same if it is known how many entries it is, which a filter selects. */
void view_series_range_of(const struct view_series *series, const struct view_store *store,
                          const struct view_bits *bits, uint64_t begin, uint64_t end, uint64_t count,
                          struct view_range *range);
/* Asks for the memory that says what a filter selects of a block, before it is needed. */
static inline void view_bits_prefetch(const struct view_bits *bits, uint64_t block) {
  const uint8_t *leaf = bits->store->base + bits->leaves + block * sizeof(struct view_bit_leaf);
  __builtin_prefetch(leaf);
  __builtin_prefetch(leaf + sizeof(struct view_bit_leaf) - 1);
}
/* Adds to `counts`, by code, how many of these entries have the code. Returns how many there are. */
uint64_t view_series_count_codes(const struct view_series *series, const struct view_store *store,
                                 const struct view_bits *bits, uint64_t begin, uint64_t end,
                                 uint64_t *counts);
/* How many of the first `index` entries a filter selects. */
uint64_t view_bits_rank(const struct view_bits *bits, uint64_t index);
/* Marks the entries up to `until` (whole blocks of them) that `selects` wants: those that came since *bits
 * was made, or all if its count is set to 0. False: no memory. */
typedef bool view_selector(void *user, const struct view_entry *entry);
bool view_bits_make(struct view_bits *bits, struct view_store *bit_store, const struct view_series *series,
                    const struct view_store *store, uint64_t until, view_selector *selects, void *user);
/* The first entry of which the value is not below this one, of a series whose values grow. */
uint64_t view_series_find_value(const struct view_series *series, const struct view_store *store,
                                uint64_t value);
/* The first entry after a time, or at it with a value that is not below this one; of equal times the values
 * grow. */
uint64_t view_series_find_equal(const struct view_series *series, const struct view_store *store,
                                int64_t time_ns, uint64_t value);
/* The first entry from `from` on of which the value is from `least` to `most`, in any series; UINT64_MAX if
 * there is none. Blocks that cannot have it are skipped. */
uint64_t view_series_seek_value(const struct view_series *series, const struct view_store *store,
                                uint64_t from, uint64_t least, uint64_t most);
/* The number of the summary in which view_series_find_value looks. */
size_t view_series_value_chunk(const struct view_series *series, uint64_t value);
/* The nearest entry at or after (before, if `is_back`) `index` of which the code is `code`, or any if that is
 * UINT32_MAX, and that a filter selects, unless `bits` is NULL; UINT64_MAX: none. */
uint64_t view_series_seek(const struct view_series *series, const struct view_store *store,
                          const struct view_bits *bits, uint32_t code, uint64_t index, bool is_back);
/* The same, in `blocks` blocks at most: VIEW_SEEK_LATER: none is there, and it goes on from *index. */
#define VIEW_SEEK_LATER (UINT64_MAX - 1)
uint64_t view_series_seek_some(const struct view_series *series, const struct view_store *store,
                               const struct view_bits *bits, uint32_t code, uint64_t *index, bool is_back,
                               uint64_t blocks);
/* Whether the leaves of a summary that was loaded are as they were written: within the store, as are their
 * blocks, in order, as the summary says, with codes below `codes`. */
bool view_series_check_leaves(const struct view_series *series, const struct view_store *store,
                              size_t summary, uint32_t codes);
/* The same of a block, whose leaves are sound. */
bool view_series_check_block(const struct view_series *series, const struct view_store *store, uint64_t block,
                             uint32_t codes);

/* Numbers as words that are in the same order. */
static inline uint64_t view_order_int(int64_t value) { return (uint64_t)value ^ UINT64_C(1) << 63; }
static inline int64_t view_unorder_int(uint64_t word) { return (int64_t)(word ^ UINT64_C(1) << 63); }
uint64_t view_order_float(double value);
double view_unorder_float(uint64_t word);

#endif
