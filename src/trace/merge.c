/* SPDX-License-Identifier: MIT */
/* Building the loser tree. */
#include "trace/merge.h"

void kymo_merge_begin(struct merge *merge, uint64_t *nodes, size_t count) {
  unsigned bits = 1;
  while ((UINT64_C(1) << bits) < count)
    bits++;
  uint64_t far = (UINT64_C(1) << (64 - bits)) - 1;
  *merge = (struct merge){.nodes = nodes,
                          .count = count,
                          .rank_bits = bits,
                          .rank_mask = (UINT32_C(1) << bits) - 1,
                          .far = far,
                          .far_key = far << bits};
}

/* Winner of the games below a node; fills in the losers. */
static uint64_t play(struct merge *merge, const int64_t *times_ns, const bool *is_over, size_t node) {
  if (node >= merge->count) {
    uint32_t rank = (uint32_t)(node - merge->count);
    return is_over[rank] ? kymo_merge_last_key(merge, rank) : kymo_merge_key(merge, times_ns[rank], rank);
  }
  uint64_t a = play(merge, times_ns, is_over, 2 * node), b = play(merge, times_ns, is_over, 2 * node + 1);
  merge->nodes[node] = a < b ? b : a;
  return a < b ? a : b;
}

void kymo_merge_build(struct merge *merge, const int64_t *times_ns, const bool *is_over) {
  int64_t first_ns = INT64_MAX;
  for (size_t i = 0; i < merge->count; i++)
    if (!is_over[i] && times_ns[i] < first_ns)
      first_ns = times_ns[i];
  int64_t room = (int64_t)(merge->far / 2), latest_ns = INT64_MAX - (int64_t)merge->far;
  merge->base_ns = first_ns < INT64_MIN + room ? INT64_MIN : first_ns - room;
  if (merge->base_ns > latest_ns)
    merge->base_ns = latest_ns; /* the latest time of all stays far away */
  merge->nodes[0] = play(merge, times_ns, is_over, 1);
}

uint64_t kymo_merge_runner_up(const struct merge *merge) {
  uint64_t best = UINT64_MAX;
  for (size_t node = (merge->count + kymo_merge_rank(merge, merge->nodes[0])) / 2; node > 0; node /= 2)
    best = merge->nodes[node] < best ? merge->nodes[node] : best;
  return best;
}
