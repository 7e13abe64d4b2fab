/* SPDX-License-Identifier: MIT */
/*
 * Hash tables: open addressing, at most half full. A table holds items and the hashes of their keys; the
 * keys stay with the caller, which computes the hash (base/hash.h: a keyed one for values from files) and
 * compares:
 *
 *   for (uint32_t at = hash; (i = kymo_hash_table_next(&table, hash, &at)) != 0;)
 *     if (names[i - 1] is the name)
 *       return i - 1;
 *
 * An item is a pointer, or a number + 1: anything but 0. A table that is all zeros is empty.
 */
#ifndef KYMO_BASE_TABLE_H
#define KYMO_BASE_TABLE_H

#include "base/arena.h"
#include <stdint.h>

struct kymo_hash_table {
  struct kymo_hash_table_slot {
    uintptr_t item; /* 0: the slot is free */
    uint32_t hash;
  } * slots;
  uint32_t size, count; /* size: a power of two, or 0 */
};

/* The next item of this hash, 0 after the last one. *at is the hash at first. */
static inline uintptr_t kymo_hash_table_next(const struct kymo_hash_table *table, uint32_t hash,
                                             uint32_t *at) {
  const struct kymo_hash_table_slot *slot;
  if (table->size == 0)
    return 0;
  while ((slot = &table->slots[*at & (table->size - 1)])->item) {
    ++*at;
    if (slot->hash == hash)
      return slot->item;
  }
  return 0;
}

/* Makes space for one more item; in `arena` if it is not NULL, where the smaller slots stay until it is
 * freed. False: out of memory, and the table is unchanged. */
bool kymo_hash_table_reserve(struct kymo_hash_table *table, struct kymo_arena *arena);
/* Adds an item; there is space (kymo_hash_table_reserve). Other items may have the same hash. */
void kymo_hash_table_put(struct kymo_hash_table *table, uint32_t hash, uintptr_t item);
/* kymo_hash_table_reserve, then kymo_hash_table_put. */
bool kymo_hash_table_add(struct kymo_hash_table *table, struct kymo_arena *arena, uint32_t hash,
                         uintptr_t item);
/* Replaces an item of the table by another one of the same hash, or removes it if `item` is 0. */
void kymo_hash_table_change(struct kymo_hash_table *table, uint32_t hash, uintptr_t from, uintptr_t to);
/* Makes `to`, which is not set yet, a table of the same items without an arena. False: out of memory; it is
 * empty then. */
bool kymo_hash_table_copy(struct kymo_hash_table *to, const struct kymo_hash_table *from);
/* Removes all items and keeps the space. */
void kymo_hash_table_clear(struct kymo_hash_table *table);
/* For tables without an arena. The table is empty and usable again. */
void kymo_hash_table_free(struct kymo_hash_table *table);

#endif
