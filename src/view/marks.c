/* SPDX-License-Identifier: MIT */
#include "view/marks.h"
#include "base/fail.h"
#include <string.h>

enum { RANK_WORDS = 8 };

static uint64_t *words_of(const struct view_marks *marks) {
  return (uint64_t *)(void *)(marks->store.base + marks->words);
}
static uint64_t *ranks_of(const struct view_marks *marks) {
  return (uint64_t *)(void *)(marks->store.base + marks->ranks);
}

/* Makes room for as many words, with a copy of those that are there. */
static bool make_room(struct view_marks *marks, uint64_t room) {
  uint64_t words = view_store_add(&marks->store, room * 8),
           ranks = view_store_add(&marks->store, (room / RANK_WORDS + 2) * 8);
  if (words == UINT64_MAX || ranks == UINT64_MAX)
    return false;
  if (marks->room) {
    memcpy(marks->store.base + words, words_of(marks), marks->room * 8);
    memcpy(marks->store.base + ranks, ranks_of(marks), (marks->room / RANK_WORDS + 1) * 8);
  }
  marks->words = words;
  marks->ranks = ranks;
  marks->room = room;
  return true;
}

int view_marks_begin(struct view_marks *marks, uint64_t last_number, struct kymo_error *error) {
  int status = view_store_temporary(&marks->store, error);
  return status != KYMO_OK                        ? status
         : make_room(marks, last_number / 64 + 1) ? KYMO_OK
                                                  : kymo_fail(error, KYMO_E_SYSTEM, "no space for the index");
}

/* Ranks are made as far as the numbers go. */
static void rank_until(struct view_marks *marks, uint64_t word) {
  for (; marks->ranked <= word; marks->ranked++) {
    if (marks->ranked % RANK_WORDS == 0)
      ranks_of(marks)[marks->ranked / RANK_WORDS] = marks->rank;
    marks->rank += (uint64_t)__builtin_popcountll(words_of(marks)[marks->ranked]);
  }
}

bool view_marks_put(struct view_marks *marks, uint64_t number) {
  uint64_t word = (number - 1) / 64;
  if (word >= marks->room && !make_room(marks, word + word / 2 + 2))
    return false;
  words_of(marks)[word] |= UINT64_C(1) << (number - 1) % 64;
  marks->count++;
  return true;
}

bool view_marks_fill(struct view_marks *marks, uint64_t last_number) {
  uint64_t whole = last_number / 64;
  if (whole >= marks->room && !make_room(marks, whole + whole / 2 + 2))
    return false;
  memset(words_of(marks), 0xff, whole * 8);
  words_of(marks)[whole] |= ~(UINT64_MAX << last_number % 64);
  marks->count = last_number;
  if (whole > 0)
    rank_until(marks, whole - 1);
  return true;
}

void view_marks_settle(struct view_marks *marks) {
  marks->ranked = marks->rank = 0;
  rank_until(marks, marks->room - 1);
}

bool view_marks_add(struct view_marks *marks, uint64_t number) {
  uint64_t word = (number - 1) / 64;
  if (!view_marks_put(marks, number))
    return false;
  if (word > 0)
    rank_until(marks, word - 1);
  return true;
}

void view_marks_end(struct view_marks *marks) { view_store_end(&marks->store); }

uint64_t view_marks_rank(const struct view_marks *marks, uint64_t number) {
  uint64_t word = number ? (number - 1) / 64 : 0, at = word / RANK_WORDS * RANK_WORDS;
  if (number == 0 || marks->count == 0)
    return 0;
  if (word > marks->ranked || word >= marks->room)
    return marks->count;
  uint64_t rank = at < marks->ranked ? ranks_of(marks)[at / RANK_WORDS] : marks->rank;
  for (; at < word; at++)
    rank += (uint64_t)__builtin_popcountll(words_of(marks)[at]);
  return rank + (uint64_t)__builtin_popcountll(words_of(marks)[word] & ~(UINT64_MAX << (number - 1) % 64));
}

uint64_t view_marks_select(const struct view_marks *marks, uint64_t wanted) {
  uint64_t low = 0, high = (marks->ranked + RANK_WORDS - 1) / RANK_WORDS;
  if (wanted >= marks->count)
    return 0;
  while (high - low > 1 && high > low) {
    uint64_t middle = (low + high) / 2;
    if (ranks_of(marks)[middle] <= wanted)
      low = middle;
    else
      high = middle;
  }
  uint64_t rank = marks->ranked ? ranks_of(marks)[low] : 0;
  for (uint64_t word = low * RANK_WORDS; word < marks->room; word++) {
    uint64_t bits = words_of(marks)[word], count = (uint64_t)__builtin_popcountll(bits);
    for (; rank + count > wanted; bits &= bits - 1, count--, rank++)
      if (rank == wanted)
        return word * 64 + (uint64_t)__builtin_ctzll(bits) + 1;
    rank += count;
  }
  return 0;
}
