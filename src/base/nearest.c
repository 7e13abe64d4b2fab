/* SPDX-License-Identifier: MIT */
/* Three rows of the table of edit distances at a time; long words are not compared at all. */
#include "base/nearest.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LENGTH_MAX KYMO_NEAREST_LENGTH_MAX

unsigned kymo_edit_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
  unsigned rows[3][LENGTH_MAX + 1];
  unsigned *before = rows[0], *above = rows[1],
           *row = rows[2]; /* two letters before, one letter before, and the new one */
  for (size_t i = 0; i <= b_length; i++)
    row[i] = (unsigned)i;
  for (size_t i = 1; i <= a_length; i++) {
    unsigned *oldest = before;
    before = above;
    above = row;
    row = oldest;
    row[0] = (unsigned)i;
    for (size_t k = 1; k <= b_length; k++) {
      unsigned best = above[k - 1] + (a[i - 1] != b[k - 1]);
      if (above[k] + 1 < best)
        best = above[k] + 1;
      if (row[k - 1] + 1 < best)
        best = row[k - 1] + 1;
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] && before[k - 2] + 1 < best)
        best = before[k - 2] + 1;
      row[k] = best;
    }
  }
  return row[b_length];
}

struct kymo_nearest kymo_nearest_to(const char *text) {
  size_t length = strlen(text);
  return (struct kymo_nearest){
      .text = text, .length = length, .best_distance = (unsigned)(length / 3 + 1) + 1};
}

void kymo_nearest_consider(struct kymo_nearest *nearest, const char *candidate) {
  size_t length = strlen(candidate);
  if (length == 0 || length > LENGTH_MAX || nearest->length > LENGTH_MAX)
    return;
  bool is_other_case = strcasecmp(nearest->text, candidate) == 0 && strcmp(nearest->text, candidate) != 0;
  unsigned changes =
      is_other_case ? 1 : kymo_edit_distance(nearest->text, nearest->length, candidate, length);
  if (changes < nearest->best_distance && changes < length) {
    nearest->best_distance = changes;
    nearest->best = candidate;
  }
}

struct kymo_hint kymo_nearest_hint(const struct kymo_nearest *nearest) {
  struct kymo_hint hint = {""};
  if (nearest->best)
    snprintf(hint.text, sizeof hint.text, " (did you mean \"%.*s\"?)", LENGTH_MAX, nearest->best);
  return hint;
}

struct kymo_hint kymo_hint_among(const char *text, const char *const *candidates, size_t count) {
  struct kymo_nearest nearest = kymo_nearest_to(text);
  for (size_t i = 0; i < count; i++)
    kymo_nearest_consider(&nearest, candidates[i]);
  return kymo_nearest_hint(&nearest);
}
