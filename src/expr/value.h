/* SPDX-License-Identifier: MIT */
/*
 * Values of expressions: constants and fields of descriptions, fields and literals of filters. Whole numbers
 * are exact in 128 bits; those between operators need be no value of the language (−2^63 … 2^64 − 1).
 */
#ifndef KYMO_EXPR_VALUE_H
#define KYMO_EXPR_VALUE_H

#include "base/wide.h"

enum kymo_sort {
  KYMO_SORT_ABSENT,
  KYMO_SORT_NUMBER, /* n */
  KYMO_SORT_FLOAT,  /* f */
  KYMO_SORT_BYTES,  /* p, size: bytes or a text */
  KYMO_SORT_SPAN,   /* n: a length of time in picoseconds */
  KYMO_SORT_MOMENT, /* n: a time in nanoseconds */
};

struct kymo_expr_value {
  enum kymo_sort sort : 8;
  uint64_t size : 56; /* the plan machine copies many of these: 24 bytes are much quicker than 32 */
  union {
    struct kymo_wide n;
    double f;
    const uint8_t *p;
  };
};

static inline struct kymo_expr_value kymo_value_number(struct kymo_wide n) {
  return (struct kymo_expr_value){.sort = KYMO_SORT_NUMBER, .n = n};
}

static inline struct kymo_expr_value kymo_value_u64(uint64_t n) {
  return kymo_value_number(kymo_wide_of_u64(n));
}

static inline struct kymo_expr_value kymo_value_bytes(const uint8_t *p, uint64_t size) {
  return (struct kymo_expr_value){.sort = KYMO_SORT_BYTES, .size = size & (UINT64_MAX >> 8), .p = p};
}

#endif
