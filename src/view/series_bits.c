/* SPDX-License-Identifier: MIT */
/* Which entries of a series a filter selects. */
#include "view/series_block.h"

uint64_t view_bits_rank(const struct view_bits *bits, uint64_t index) {
  const struct view_bit_leaf *leaf;
  if (index >= bits->count)
    return bits->selected;
  leaf = bit_leaf(bits, index / VIEW_BLOCK);
  return leaf->rank + (uint64_t)__builtin_popcountll(leaf->bits & ~(UINT64_MAX << index % VIEW_BLOCK));
}

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
  view_scan_block(series->kind, &block, 0, block.count, leaf->bits, number * VIEW_BLOCK,
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
