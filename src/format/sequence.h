/* SPDX-License-Identifier: MIT */
/*
 * Several files whose records were numbered by one counter, in the order of the numbers. Counters are narrow
 * and wrap around to 0: numbers are compared by their distance from the last one, so files may differ by less
 * than half of the counter's range, in either direction.
 */
#ifndef KYMO_FORMAT_SEQUENCE_H
#define KYMO_FORMAT_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The next entry of a file: the end; an entry without a number, which is taken at once; a record with its
 * number, of `bits` (1 to 64). */
enum kymo_sequence_next { KYMO_SEQUENCE_END, KYMO_SEQUENCE_AT_ONCE, KYMO_SEQUENCE_NUMBER };
struct kymo_sequence_head {
  enum kymo_sequence_next next;
  uint8_t bits;
  uint64_t number;
};
/* The number that was taken last, except for late ones, which must not reverse the order of the others. */
struct kymo_sequence {
  bool has_last;
  uint64_t last;
};

/* The distance from `from` to `to`, modulo 2^bits: the shorter one, negative if `to` comes before `from`. */
int64_t kymo_sequence_distance(uint64_t from, uint64_t to, unsigned bits);
/* Which of the heads is to be taken, the first of equal ones; `count` if all files are at their end. */
size_t kymo_sequence_take(struct kymo_sequence *sequence, const struct kymo_sequence_head *heads,
                          size_t count);

#endif
