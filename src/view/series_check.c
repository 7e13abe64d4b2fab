/* SPDX-License-Identifier: MIT */
/* Whether a series that was loaded is as it was written. */
#include "view/series_block.h"
#include "base/hash.h"

static bool leaf_is_sound(const struct view_leaf *leaf, const struct view_store *store, uint64_t number,
                          uint32_t codes) {
  uint64_t at = leaf->data >> WIDTHS, first = view_where_index(leaf->where);
  size_t size = bytes_of(leaf);
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
    view_summarise(&made, series->kind, &leaves->list[i], leaves->times_ns[i]);
  }
  return wanted->time_ns == leaves->times_ns[0] && made.mask == wanted->mask && made.most == wanted->most &&
         made.where == wanted->where && made.least == wanted->least && made.check == wanted->check;
}

bool view_series_check_block(const struct view_series *series, const struct view_store *store,
                             uint64_t number, uint32_t codes) {
  const struct view_leaf *leaf = leaf_of(series, store, number);
  size_t size = bytes_of(leaf);
  struct view_range range = nothing;
  struct block block;
  open_block(series, store, number, &block);
  for (unsigned i = 0; i < VIEW_BLOCK; i++)
    if (code_of(&block, i) >= codes || (i > 0 && time_of(&block, i) < time_of(&block, i - 1)))
      return false;
  int64_t after_ns = time_after(series, store, number, &block);
  if (after_ns < time_of(&block, VIEW_BLOCK - 1) || time_of(&block, 0) != block.time_ns)
    return false;
  view_scan_block(series->kind, &block, 0, VIEW_BLOCK, UINT64_MAX, number * VIEW_BLOCK, after_ns, &range);
  return leaf->mask == range.mask && leaf->most == range.most && leaf->where == range.where &&
         leaf->check == kymo_hash64(block.times.at, size, leaf->data);
}
