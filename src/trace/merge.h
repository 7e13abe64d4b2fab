/* SPDX-License-Identifier: MIT */
/*
 * The merge: a loser tree over the streams. Leaf `rank` is node count + rank; node i keeps the loser
 * of the game between the winners of 2i and 2i + 1; the winner of all is in node 0. A stream with a new key
 * replays only the games on its path up: one comparison per level.
 *
 *              winner: node 0
 *                 [1]
 *            [2]       [3]          losers
 *          s0   s1   s2   s3        leaves: not stored; in their nodes, the next key of each stream
 *
 * The winner cannot be predicted when many streams alternate, so games are played without branches: a key is
 * one number, the time since a base above the rank, and a game is a minimum and a maximum.
 *
 *   key = (time - base) << rank bits | rank        no two streams are equal
 *
 * Times too far after the base share the last place, and so do times before it, for which half of the range
 * is reserved. INT64_MAX is too far after any base. If such a key wins, the tree is built again.
 */
#ifndef KYMO_TRACE_MERGE_H
#define KYMO_TRACE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct merge {
  uint64_t *nodes; /* twice `count`: the games, and for each stream its following key */
  size_t count;    /* streams, at least 1 */
  unsigned rank_bits;
  uint32_t rank_mask;
  int64_t base_ns;
  uint64_t far;     /* distances from here on share the last place … */
  uint64_t far_key; /* … keys too */
};

/* Sets up for `count` streams; `nodes` has space for twice as many keys. */
void kymo_merge_begin(struct merge *merge, uint64_t *nodes, size_t count);
/* Plays all games again, from a base that suits the smallest of `times_ns`. `is_over`: streams that come
 * last. */
void kymo_merge_build(struct merge *merge, const int64_t *times_ns, const bool *is_over);

static inline uint64_t kymo_merge_last_key(const struct merge *merge, uint32_t rank) {
  return merge->far_key | rank;
}

static inline uint64_t kymo_merge_key(const struct merge *merge, int64_t time_ns, uint32_t rank) {
  uint64_t distance = (uint64_t)time_ns - (uint64_t)merge->base_ns;
  return (distance < merge->far ? distance : merge->far) << merge->rank_bits | rank;
}

/* Whether a key only means "far away" (or before the base, or over). */
static inline bool kymo_merge_is_far(const struct merge *merge, uint64_t key) {
  return key >= merge->far_key;
}

static inline uint32_t kymo_merge_rank(const struct merge *merge, uint64_t key) {
  return (uint32_t)key & merge->rank_mask;
}

/* The key of the event after the next one of a stream. */
static inline uint64_t *kymo_merge_following(const struct merge *merge, uint32_t rank) {
  return &merge->nodes[merge->count + rank];
}

/* Plays the game of a node again, after one of the two has a new key: returns the winner's. */
static inline uint64_t kymo_merge_play(struct merge *merge, size_t node, uint64_t key) {
  uint64_t other = merge->nodes[node];
  bool is_less = other < key;
  merge->nodes[node] = is_less ? key : other;
  return is_less ? other : key;
}

/* The winner so far has a new key: returns the new winner's. */
static inline uint64_t kymo_merge_replay(struct merge *merge, uint64_t key) {
  size_t node = (merge->count + kymo_merge_rank(merge, key)) / 2;
  for (; node > 0; node /= 2)
    key = kymo_merge_play(merge, node, key);
  return merge->nodes[0] = key;
}

/* The smallest key except that of the winner. */
uint64_t kymo_merge_runner_up(const struct merge *merge);

#endif
