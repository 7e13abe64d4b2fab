/* SPDX-License-Identifier: MIT */
#include "sink/cpel/define.h"
#include "base/hash.h"
#include <stdlib.h>
#include <string.h>

/* Longer names are cut: readers take a longer format for damage. */
#define FORMAT_MAX 4096
#define LEAST_SLOTS 64

void kymo_cpel_definitions_begin(struct kymo_cpel_definitions *all, uint32_t least) {
  *all = (struct kymo_cpel_definitions){.least = least, .next = least};
}

void kymo_cpel_definitions_end(struct kymo_cpel_definitions *all) {
  kymo_arena_free(&all->arena);
  free(all->list);
  free(all->by_key);
  free(all->by_number);
  kymo_cpel_definitions_begin(all, 0);
}

/* ---- tables ---- */

static uint64_t hash_number(uint32_t number) { return number * UINT64_C(0x9e3779b97f4a7c15) >> 32; }

static uint32_t *find_key(const struct kymo_cpel_definitions *all, uint64_t hash, const void *key,
                          size_t length) {
  size_t at = (size_t)hash & (all->slots - 1);
  for (;; at = (at + 1) & (all->slots - 1)) {
    uint32_t place = all->by_key[at];
    const struct kymo_cpel_definition *one = place ? all->list[place - 1] : NULL;
    if (!one || (one->hash == hash && one->key_length == length && memcmp(one->key, key, length) == 0))
      return &all->by_key[at];
  }
}

static uint32_t *find_number(const struct kymo_cpel_definitions *all, uint32_t number) {
  size_t at = (size_t)hash_number(number) & (all->slots - 1);
  while (all->by_number[at] && all->list[all->by_number[at] - 1]->number != number)
    at = (at + 1) & (all->slots - 1);
  return &all->by_number[at];
}

/* Tables are at most half full. */
static bool grow(struct kymo_cpel_definitions *all) {
  if (2 * (all->count + 1) <= all->slots)
    return true;
  size_t slots = all->slots ? all->slots * 2 : LEAST_SLOTS;
  uint32_t *by_key = calloc(slots, sizeof *by_key), *by_number = calloc(slots, sizeof *by_number);
  struct kymo_cpel_definition **list = realloc(all->list, slots / 2 * sizeof *list);
  all->list = list ? list : all->list;
  if (!by_key || !by_number || !list) {
    free(by_key);
    free(by_number);
    return false;
  }
  free(all->by_key);
  free(all->by_number);
  all->by_key = by_key;
  all->by_number = by_number;
  all->slots = slots;
  for (uint32_t i = 0; i < all->count; i++) {
    const struct kymo_cpel_definition *one = all->list[i];
    *find_key(all, one->hash, one->key, one->key_length) = i + 1;
    *find_number(all, one->number) = i + 1;
  }
  return true;
}

/* ---- defining ---- */

static uint32_t choose_number(struct kymo_cpel_definitions *all, uint64_t wish) {
  if (wish <= UINT32_MAX && wish >= all->least && !*find_number(all, (uint32_t)wish))
    return (uint32_t)wish;
  while (*find_number(all, all->next))
    all->next++;
  return all->next;
}

struct kymo_cpel_definition *kymo_cpel_define(struct kymo_cpel_definitions *all, const void *key,
                                              size_t length, uint64_t wish) {
  if (!grow(all))
    return NULL;
  uint64_t hash = kymo_keyed_text(key, length);
  uint32_t *place = find_key(all, hash, key, length);
  if (*place)
    return all->list[*place - 1];
  struct kymo_cpel_definition *one = kymo_arena_alloc(&all->arena, sizeof *one);
  char *copy = kymo_arena_copy(&all->arena, key, length);
  if (!one || !copy)
    return NULL;
  *one = (struct kymo_cpel_definition){
      .hash = hash, .key = copy, .key_length = length, .number = choose_number(all, wish)};
  uint32_t *number_place = find_number(all, one->number);
  all->list[all->count++] = one;
  *place = *number_place = (uint32_t)all->count;
  return one;
}

const char *kymo_cpel_literal(struct kymo_cpel_definitions *all, const char *text, size_t length) {
  char *copy = kymo_arena_alloc(&all->arena, 2 * (length < FORMAT_MAX ? length : FORMAT_MAX) + 1), *at = copy;
  for (size_t i = 0; copy && i < length && at - copy < FORMAT_MAX - 1; i++) {
    if (text[i] == '%')
      *at++ = '%';
    *at++ = text[i];
  }
  return copy;
}

static int compare_numbers(const void *a, const void *b) {
  const struct kymo_cpel_definition *const *one = a, *const *other = b;
  return (*one)->number < (*other)->number ? -1 : (*one)->number > (*other)->number;
}

void kymo_cpel_definitions_sort(struct kymo_cpel_definitions *all) {
  if (all->count)
    qsort(all->list, all->count, sizeof *all->list, compare_numbers);
}
