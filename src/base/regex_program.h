/* SPDX-License-Identifier: MIT */
/* A compiled pattern: instructions, each leading to one or two others. */
#ifndef KYMO_BASE_REGEX_PROGRAM_H
#define KYMO_BASE_REGEX_PROGRAM_H

#include "base/regex.h"

enum regex_op {
  REGEX_BYTES, /* one byte of `set`, then `next` */
  REGEX_SPLIT, /* `next` or `other` */
  REGEX_BEGIN, /* only at the begin */
  REGEX_END,   /* only at the end */
  REGEX_MATCH,
};

struct regex_set {
  uint64_t bits[4];
};

struct regex_step {
  enum regex_op op;
  uint32_t next, other, set;
};

struct kymo_regex {
  struct regex_step *steps;
  uint32_t count, start;
  struct regex_set *sets;
  uint32_t set_count, set_capacity;
  bool is_anchored; /* every match begins at the begin */
};

static inline bool regex_set_has(const struct regex_set *set, uint8_t byte) {
  return set->bits[byte / 64] >> byte % 64 & 1;
}

#endif
