/* SPDX-License-Identifier: MIT */
/* The order of numbers that wrap around to 0. */
#include "format/sequence.h"

int64_t kymo_sequence_distance(uint64_t from, uint64_t to, unsigned bits) {
  unsigned above = 64 - bits;
  return (int64_t)((to - from) << above) >> above;
}

size_t kymo_sequence_take(struct kymo_sequence *sequence, const struct kymo_sequence_head *heads,
                          size_t count) {
  size_t first = count;
  uint64_t last = sequence->last;
  int64_t least = 0;
  for (size_t i = 0; i < count; i++) {
    if (heads[i].next == KYMO_SEQUENCE_AT_ONCE)
      return i;
    if (heads[i].next == KYMO_SEQUENCE_END)
      continue;
    if (!sequence->has_last && first == count)
      last = heads[i].number;
    int64_t distance = kymo_sequence_distance(last, heads[i].number, heads[i].bits);
    if (first == count || distance < least) {
      first = i;
      least = distance;
    }
  }
  if (first < count && (least > 0 || !sequence->has_last))
    *sequence = (struct kymo_sequence){true, heads[first].number};
  return first;
}
