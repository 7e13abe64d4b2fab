/* SPDX-License-Identifier: MIT */
/*
 * A set of numbers of events, which grows upwards: a bit for each number, and the count of bits before every
 * eighth word, so that rows of a table are found at once.
 *
 *   words   64 bits each, by number - 1        ranks   of every eighth word: bits before it
 */
#ifndef KYMO_VIEW_MARKS_H
#define KYMO_VIEW_MARKS_H

#include "view/store.h"

struct view_marks {
  struct view_store store;
  uint64_t words, ranks; /* offsets */
  uint64_t room;         /* words */
  uint64_t ranked, rank; /* before this word ranks are made; how many bits it has before it */
  uint64_t count;
};

/* Begins an empty set with space for numbers up to this one, in a temporary file; it grows as it is needed.
 * Ended by view_marks_end. KYMO_E_SYSTEM. */
int view_marks_begin(struct view_marks *marks, uint64_t last_number, struct kymo_error *error);
/* Adds a number, from 1, that is above all others. False: there is no space. */
bool view_marks_add(struct view_marks *marks, uint64_t number);
/* The same in any order; afterwards the set is settled, and only then ranks are right. */
bool view_marks_put(struct view_marks *marks, uint64_t number);
void view_marks_settle(struct view_marks *marks);
/* The numbers up to this one, in a set that is empty. False: there is no space. */
bool view_marks_fill(struct view_marks *marks, uint64_t last_number);
/* Frees what the set has; one of zeros is fine. */
void view_marks_end(struct view_marks *marks);

/* Whether a number, from 1, is in the set. */
static inline bool view_marks_have(const struct view_marks *marks, uint64_t number) {
  uint64_t word = (number - 1) / 64;
  return word < marks->room &&
         ((const uint64_t *)(const void *)(marks->store.base + marks->words))[word] >> (number - 1) % 64 & 1;
}
/* How many are below a number. */
uint64_t view_marks_rank(const struct view_marks *marks, uint64_t number);
/* The number that has `rank` others below it; 0: there is none. */
uint64_t view_marks_select(const struct view_marks *marks, uint64_t rank);

#endif
