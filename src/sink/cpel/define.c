/* SPDX-License-Identifier: MIT */
#include "sink/cpel/define.h"
#include "base/hash.h"
#include "base/list.h"
#include <stdlib.h>
#include <string.h>

/* Longer names are cut: readers treat a longer format as damage. */
#define FORMAT_MAX 4096

void kymo_cpel_definitions_begin(struct kymo_cpel_definitions *all, uint32_t least) {
  *all = (struct kymo_cpel_definitions){.least = least, .next = least};
}

void kymo_cpel_definitions_end(struct kymo_cpel_definitions *all) {
  kymo_arena_free(&all->arena);
  free(all->list);
  kymo_hash_table_free(&all->by_key);
  kymo_hash_table_free(&all->by_number);
  kymo_cpel_definitions_begin(all, 0);
}

/* ---- tables ---- */

static uint32_t hash_number(uint32_t number) {
  return (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static struct kymo_cpel_definition *find_key(const struct kymo_cpel_definitions *all, uint32_t hash,
                                             const void *key, size_t length) {
  struct kymo_cpel_definition *one;
  for (uint32_t at = hash;
       (one = (struct kymo_cpel_definition *)kymo_hash_table_next(&all->by_key, hash, &at));)
    if (one->key_length == length && memcmp(one->key, key, length) == 0)
      break;
  return one;
}

static bool has_number(const struct kymo_cpel_definitions *all, uint32_t number) {
  const struct kymo_cpel_definition *one;
  uint32_t hash = hash_number(number), at = hash;
  while ((one = (const struct kymo_cpel_definition *)kymo_hash_table_next(&all->by_number, hash, &at)))
    if (one->number == number)
      break;
  return one;
}

/* ---- defining ---- */

static uint32_t choose_number(struct kymo_cpel_definitions *all, uint64_t wish) {
  if (wish <= UINT32_MAX && wish >= all->least && !has_number(all, (uint32_t)wish))
    return (uint32_t)wish;
  while (has_number(all, all->next))
    all->next++;
  return all->next;
}

struct kymo_cpel_definition *kymo_cpel_define(struct kymo_cpel_definitions *all, const void *key,
                                              size_t length, uint64_t wish) {
  uint32_t hash = (uint32_t)kymo_keyed_text(key, length);
  struct kymo_cpel_definition *one = find_key(all, hash, key, length);
  if (one)
    return one;
  one = kymo_arena_alloc(&all->arena, sizeof *one);
  char *copy = kymo_arena_copy(&all->arena, key, length);
  if (!one || !copy || !KYMO_LIST_ROOM(all->list, all->room, all->count) ||
      !kymo_hash_table_reserve(&all->by_key, NULL) || !kymo_hash_table_reserve(&all->by_number, NULL))
    return NULL;
  *one = (struct kymo_cpel_definition){.key = copy, .key_length = length, .number = choose_number(all, wish)};
  all->list[all->count++] = one;
  kymo_hash_table_put(&all->by_key, hash, (uintptr_t)one);
  kymo_hash_table_put(&all->by_number, hash_number(one->number), (uintptr_t)one);
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
