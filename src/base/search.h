/* SPDX-License-Identifier: MIT */
/*
 * Binary search in sorted arrays of any kind:
 *
 *   size_t next = KYMO_COUNT_BEFORE(count, i, list[i].time <= time);      the first element after `time`
 */
#ifndef KYMO_BASE_SEARCH_H
#define KYMO_BASE_SEARCH_H

/*
 * For how many of `count` elements `is_before` holds: an expression of the index `i` that is true for none or
 * some of the first elements and false for all others. So the result is also the index of the first of these
 * others. `i` is a new variable of the type of `count`, which is evaluated once.
 */
#define KYMO_COUNT_BEFORE(count, i, is_before)                                  \
  __extension__({                                                               \
    __typeof__((count) + 0) kymo_low_ = 0, kymo_high_ = (count);                \
    while (kymo_low_ < kymo_high_) {                                            \
      const __typeof__(kymo_low_) i = kymo_low_ + (kymo_high_ - kymo_low_) / 2; \
      if (is_before)                                                            \
        kymo_low_ = i + 1;                                                      \
      else                                                                      \
        kymo_high_ = i;                                                         \
    }                                                                           \
    kymo_low_;                                                                  \
  })

#endif
