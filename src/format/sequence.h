/* SPDX-License-Identifier: MIT */
/*
 * Several files whose records were numbered by one counter, in the order of the numbers. Counters are narrow
 * and start again at 0: numbers are compared by how far they are from the last one, so files may be apart by
 * less than half of what the counter can tell, in either direction.
 */
#ifndef KYMO_FORMAT_SEQUENCE_H
#define KYMO_FORMAT_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What comes next in a file: nothing any more; something without a number, which does not wait; a record with
 * its number, of `bits` (1 to 64). */
enum kymo_sequence_next { KYMO_SEQUENCE_END, KYMO_SEQUENCE_AT_ONCE, KYMO_SEQUENCE_NUMBER };
struct kymo_sequence_head {
  enum kymo_sequence_next next;
  uint8_t bits;
  uint64_t number;
};
/* The number that was taken last, but for those that came too late: they must not turn the others' order
 * round. */
struct kymo_sequence {
  bool has_last;
  uint64_t last;
};

/* How far `to` is behind `from`, modulo 2^bits: the shorter way, negative if it stands before it. */
int64_t kymo_sequence_distance(uint64_t from, uint64_t to, unsigned bits);
/* Which of the heads is to be taken, the first of equal ones; `count` if all files are at their end. */
size_t kymo_sequence_take(struct kymo_sequence *sequence, const struct kymo_sequence_head *heads,
                          size_t count);

#endif
