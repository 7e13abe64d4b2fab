/* SPDX-License-Identifier: MIT */
/* Adding entries to a series, and reading them. */
#include "view/series_block.h"
#include "base/hash.h"
#include "base/list.h"
#include <stdlib.h>
#include <string.h>

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
  summary->leaves = view_store_take(store, sizeof(struct view_leaves));
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

void view_summarise(struct view_summary *summary, enum view_series_kind kind, const struct view_leaf *leaf,
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

/* The columns of the tail, which is full, as they are in the store; there may be eight bytes more. */
static void pack_tail(const struct view_entry *tail, uint64_t least, const unsigned widths[3],
                      uint8_t *times) {
  uint8_t *values = times + VIEW_BLOCK * widths[2], *codes = values + VIEW_BLOCK * widths[1];
  /* eight bytes each: those above the width are zeros, and the next store covers them */
  for (unsigned i = 0; i < VIEW_BLOCK; i++)
    kymo_store_le64(times + i * widths[2], (uint64_t)tail[i].time_ns - (uint64_t)tail[0].time_ns);
  for (unsigned i = 0; i < VIEW_BLOCK; i++)
    kymo_store_le64(values + i * widths[1], tail[i].value - least);
  for (unsigned i = 0; i < VIEW_BLOCK; i++)
    kymo_store_le64(codes + i * widths[0], tail[i].code);
}

/* Makes a block of the tail, which is full; the entry after it is at `after_ns`. */
static bool flush(struct view_series *series, struct view_store *store, int64_t after_ns) {
  struct view_leaf leaf = {0};
  const int64_t time_ns = series->tail[0].time_ns;
  unsigned widths[3];
  uint8_t bytes[VIEW_BLOCK * (8 + 8 + 4) + 8];
  struct view_summary *summary = series->blocks % VIEW_CHUNK == 0
                                     ? new_summary(series, store)
                                     : &series->summaries[series->summary_count - 1];
  widths_of_tail(series->tail, &leaf, widths);
  size_t size = VIEW_BLOCK * (size_t)(widths[0] + widths[1] + widths[2]);
  uint64_t at = summary ? view_store_take(store, size) : UINT64_MAX;
  if (at >= DATA_MAX)
    return false;
  leaf.data = at << WIDTHS | (uint64_t)widths[2] << 8 | (uint64_t)widths[1] << 4 | widths[0];
  pack_tail(series->tail, leaf.least, widths, bytes);
  memcpy(store->base + at, bytes, size);
  const struct block block = {.tail = series->tail, .count = VIEW_BLOCK};
  struct view_range range = nothing;
  view_scan_block(series->kind, &block, 0, VIEW_BLOCK, UINT64_MAX, series->blocks * VIEW_BLOCK, after_ns,
                  &range);
  leaf.mask = range.mask;
  leaf.most = range.most;
  leaf.where = range.where;
  leaf.check = kymo_hash64(bytes, size, leaf.data);
  struct view_leaves *leaves = (struct view_leaves *)(void *)(store->base + summary->leaves);
  leaves->times_ns[series->blocks % VIEW_CHUNK] = time_ns;
  leaves->list[series->blocks % VIEW_CHUNK] = leaf;
  view_summarise(summary, series->kind, &leaf, time_ns);
  series->blocks++;
  series->tail_count = 0;
  return true;
}

bool view_series_make_room(struct view_series *series, struct view_store *store, int64_t time_ns) {
  return (series->tail_count < VIEW_BLOCK || flush(series, store, time_ns)) &&
         KYMO_LIST_ROOM(series->tail, series->tail_capacity, series->tail_count);
}

void view_series_free(struct view_series *series) {
  free(series->summaries);
  free(series->tail);
  free(series->unchecked);
  *series = (struct view_series){0};
}

/* ---- replacing ---- */

struct view_series view_series_from(const struct view_series *series, uint64_t chunk) {
  return (struct view_series){
      .kind = series->kind, .count = chunk * VIEW_CHUNK_ENTRIES, .blocks = chunk * VIEW_CHUNK};
}

bool view_series_replace(struct view_series *series, struct view_series *made, uint64_t chunk,
                         struct view_rest *rest) {
  size_t kept = (size_t)chunk, count = kept + made->summary_count;
  struct view_summary *summaries = malloc((count + 1) * sizeof *summaries);
  if (!summaries)
    return false;
  for (size_t i = 0; i < count; i++)
    summaries[i] = i < kept ? series->summaries[i] : made->summaries[i - kept];
  *rest = (struct view_rest){
      .summaries = series->summaries, .block = chunk * VIEW_CHUNK, .blocks = series->blocks};
  free(made->summaries);
  free(series->tail);
  made->summaries = summaries;
  made->summary_count = count;
  made->summary_capacity = count + 1;
  made->mask |= series->mask;
  made->has_falls |= series->has_falls;
  made->revision = series->revision + 1;
  *series = *made;
  *made = (struct view_series){0};
  return true;
}

/* Gives back a place later, with those that adjoin it. */
static void give_later(struct view_rest *rest, struct view_store *store, uint64_t at, uint64_t bytes) {
  if (at == rest->end) {
    rest->end += bytes;
    return;
  }
  view_store_give(store, rest->begin, rest->end - rest->begin);
  rest->begin = at;
  rest->end = at + bytes;
}

uint64_t view_rest_give(struct view_rest *rest, struct view_store *store, uint64_t blocks) {
  uint64_t given = 0;
  for (; given < blocks && rest->block < rest->blocks; given++, rest->block++) {
    if (rest->block % VIEW_CHUNK == 0) { /* what is given back may be overwritten */
      uint64_t at = rest->summaries[rest->block / VIEW_CHUNK].leaves;
      memcpy(&rest->leaves, store->base + at, sizeof rest->leaves);
      give_later(rest, store, at, sizeof rest->leaves);
    }
    const struct view_leaf *leaf = &rest->leaves.list[rest->block % VIEW_CHUNK];
    if (bytes_of(leaf))
      give_later(rest, store, leaf->data >> WIDTHS, bytes_of(leaf));
  }
  if (rest->block == rest->blocks) {
    view_store_give(store, rest->begin, rest->end - rest->begin);
    rest->begin = rest->end = 0;
  }
  return given;
}

void view_rest_free(struct view_rest *rest) {
  free(rest->summaries);
  *rest = (struct view_rest){0};
}

/* ---- reading ---- */

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
