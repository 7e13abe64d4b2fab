/* SPDX-License-Identifier: MIT */
/* "did you mean": the candidate that a misspelt word is nearest to, by inserted, deleted and replaced letters. */
#ifndef KYMO_BASE_NEAREST_H
#define KYMO_BASE_NEAREST_H

#include <stddef.h>

struct kymo_nearest {
  const char *text, *best; /* best: NULL as long as nothing is near */
  size_t length;
  unsigned best_distance;
};

struct kymo_hint { char text[80]; };

/* Begins a search; `text` is borrowed. */
struct kymo_nearest kymo_nearest_to(const char *text);
/* Takes the candidate, which is borrowed, if it is nearer than all before. */
void kymo_nearest_consider(struct kymo_nearest *nearest, const char *candidate);
/* " (did you mean \"x\"?)" of the nearest candidate, or "". */
struct kymo_hint kymo_nearest_hint(const struct kymo_nearest *nearest);

#endif
