/* SPDX-License-Identifier: MIT */
/* "did you mean": finds the candidate nearest to a misspelt word, by inserted, deleted, replaced and
 * exchanged letters. */
#ifndef KYMO_BASE_NEAREST_H
#define KYMO_BASE_NEAREST_H

#include <stddef.h>

#define KYMO_NEAREST_LENGTH_MAX 48

/* The number of letters to insert, delete, replace, or exchange with their neighbours to turn one text into
 * the other; neither is longer than KYMO_NEAREST_LENGTH_MAX. */
unsigned kymo_edit_distance(const char *a, size_t a_length, const char *b, size_t b_length);

struct kymo_nearest {
  const char *text, *best; /* best: NULL as long as nothing is near */
  size_t length;
  unsigned best_distance;
};

struct kymo_hint {
  char text[80];
};

/* Begins a search; `text` is borrowed. */
struct kymo_nearest kymo_nearest_to(const char *text);
/* Keeps the candidate, which is borrowed, if it is nearer than all before. */
void kymo_nearest_consider(struct kymo_nearest *nearest, const char *candidate);
/* " (did you mean \"x\"?)" of the nearest candidate, or "". */
struct kymo_hint kymo_nearest_hint(const struct kymo_nearest *nearest);
/* The same of the nearest of `count` candidates to a text. */
struct kymo_hint kymo_hint_among(const char *text, const char *const *candidates, size_t count);

#endif
