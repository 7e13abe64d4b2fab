/* SPDX-License-Identifier: MIT */
/* What is known about a type or an event class of an open trace, found by its address. */
#ifndef KYMO_PYTHON_MAP_H
#define KYMO_PYTHON_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct map_entry {
  const void *key; /* NULL: free */
  void *value;
};

struct map {
  struct map_entry *entries;
  size_t capacity, count; /* a power of two, or 0 */
};

/* The entry of a key, or the free one where it belongs. The map has a free entry. */
static inline struct map_entry *map_place(const struct map *map, const void *key) {
  size_t at = (size_t)((uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 32);
  while (map->entries[at & (map->capacity - 1)].key && map->entries[at & (map->capacity - 1)].key != key)
    at++;
  return &map->entries[at & (map->capacity - 1)];
}

/* NULL: it is not there. */
static inline void *map_get(const struct map *map, const void *key) {
  return map->capacity ? map_place(map, key)->value : NULL;
}

static inline bool map_grow(struct map *map) {
  struct map larger = {.capacity = map->capacity ? 2 * map->capacity : 64};
  larger.entries = calloc(larger.capacity, sizeof *larger.entries);
  if (!larger.entries)
    return false;
  for (size_t i = 0; i < map->capacity; i++)
    if (map->entries[i].key)
      *map_place(&larger, map->entries[i].key) = map->entries[i];
  larger.count = map->count;
  free(map->entries);
  *map = larger;
  return true;
}

/* Adds a key that is not there. False: out of memory. */
static inline bool map_add(struct map *map, const void *key, void *value) {
  if (2 * map->count >= map->capacity && !map_grow(map))
    return false;
  *map_place(map, key) = (struct map_entry){key, value};
  map->count++;
  return true;
}

/* Frees the map, and each value by `end`. */
static inline void map_free(struct map *map, void (*end)(void *value)) {
  for (size_t i = 0; i < map->capacity; i++)
    if (map->entries[i].key)
      end(map->entries[i].value);
  free(map->entries);
  *map = (struct map){0};
}

#endif
