/* SPDX-License-Identifier: MIT */
#include "base/table.h"
#include <stdlib.h>
#include <string.h>

#define LEAST_SIZE 16

void kymo_hash_table_put(struct kymo_hash_table *table, uint32_t hash, uintptr_t item) {
  uint32_t at = hash;
  while (table->slots[at & (table->size - 1)].item)
    at++;
  table->slots[at & (table->size - 1)] = (struct kymo_hash_table_slot){item, hash};
  table->count++;
}

bool kymo_hash_table_reserve(struct kymo_hash_table *table, struct kymo_arena *arena) {
  if (table->count < table->size / 2)
    return true;
  struct kymo_hash_table larger = {.size = table->size ? table->size * 2 : LEAST_SIZE};
  if (larger.size != 0)
    larger.slots = arena ? kymo_arena_array(arena, larger.size, sizeof *larger.slots)
                         : calloc(larger.size, sizeof *larger.slots);
  if (!larger.slots)
    return false;
  for (uint32_t i = 0; i < table->size; i++)
    if (table->slots[i].item)
      kymo_hash_table_put(&larger, table->slots[i].hash, table->slots[i].item);
  if (!arena)
    free(table->slots);
  *table = larger;
  return true;
}

bool kymo_hash_table_add(struct kymo_hash_table *table, struct kymo_arena *arena, uint32_t hash,
                         uintptr_t item) {
  bool ok = kymo_hash_table_reserve(table, arena);
  if (ok)
    kymo_hash_table_put(table, hash, item);
  return ok;
}

/* Frees a slot: the items that it displaced to later slots move up. */
static void close_gap(struct kymo_hash_table *table, uint32_t gap) {
  uint32_t mask = table->size - 1;
  for (uint32_t at = (gap + 1) & mask; table->slots[at].item; at = (at + 1) & mask) {
    if (((at - table->slots[at].hash) & mask) < ((at - gap) & mask))
      continue;
    table->slots[gap] = table->slots[at];
    gap = at;
  }
  table->slots[gap].item = 0;
  table->count--;
}

void kymo_hash_table_change(struct kymo_hash_table *table, uint32_t hash, uintptr_t from, uintptr_t to) {
  uint32_t mask = table->size - 1, at = hash & mask;
  while (table->slots[at].item != from || table->slots[at].hash != hash)
    at = (at + 1) & mask;
  table->slots[at].item = to;
  if (!to)
    close_gap(table, at);
}

bool kymo_hash_table_copy(struct kymo_hash_table *to, const struct kymo_hash_table *from) {
  *to = (struct kymo_hash_table){0};
  if (from->count == 0)
    return true;
  struct kymo_hash_table_slot *slots = calloc(from->size, sizeof *slots);
  if (!slots)
    return false;
  memcpy(slots, from->slots, from->size * sizeof *slots);
  *to = (struct kymo_hash_table){slots, from->size, from->count};
  return true;
}

void kymo_hash_table_clear(struct kymo_hash_table *table) {
  if (table->count > 0)
    memset(table->slots, 0, table->size * sizeof *table->slots);
  table->count = 0;
}

void kymo_hash_table_free(struct kymo_hash_table *table) {
  free(table->slots);
  *table = (struct kymo_hash_table){0};
}
