/* SPDX-License-Identifier: MIT */
/* Tables of the state that filters keep for each value of PER or SAME: bounded, and with keyed hashes, so
 * that no choice of values makes them slow. */
#include "base/hash.h"
#include "base/list.h"
#include "filter/machine.h"
#include <stdlib.h>
#include <string.h>

struct filter_key kymo_filter_key_of(const struct filter_value *value) {
  struct filter_key key = {0, value->v.sort};
  if (value->v.sort == KYMO_SORT_BYTES) {
    key.number = kymo_keyed_text((const char *)value->v.p, (size_t)value->v.size);
  } else if (value->v.sort == KYMO_SORT_FLOAT) {
    double number = value->v.f == 0 ? 0 : value->v.f; /* -0 is 0 */
    memcpy(&key.number, &number, sizeof number);
  } else {
    key.number = value->v.n.low;
    key.kind |= value->v.n.high < 0 ? 0x100 : 0;
  }
  return key;
}

static bool is_equal(struct filter_key a, struct filter_key b) {
  return a.number == b.number && a.kind == b.kind;
}

static uint32_t hash_of(struct filter_key key) {
  struct kymo_keyed hash;
  kymo_keyed_begin(&hash);
  kymo_keyed_add(&hash, key.number);
  kymo_keyed_add(&hash, key.kind);
  return (uint32_t)kymo_keyed_end(&hash);
}

struct filter_cell *kymo_filter_cell_find(const struct filter_table *table, struct filter_key key) {
  if (table->count == 0)
    return NULL;
  uintptr_t item;
  uint32_t hash = hash_of(key), at = hash;
  while ((item = kymo_hash_table_next(&table->places, hash, &at)))
    if (is_equal(table->cells[item - 1].key, key))
      return &table->cells[item - 1];
  return NULL;
}

struct filter_cell *kymo_filter_cell(struct filter_machine *machine, struct filter_table *table,
                                     struct filter_key key) {
  struct filter_cell *known = kymo_filter_cell_find(table, key);
  if (known)
    return known;
  if (table->count == KYMO_FILTER_KEYS) {
    machine->failed = KYMO_E_LIMIT;
    machine->limit = "R9 a filter keeps apart more than 65536 values (PER, SAME)";
    return NULL;
  }
  if (!KYMO_LIST_ROOM(table->cells, table->capacity, table->count) ||
      !kymo_hash_table_add(&table->places, NULL, hash_of(key), table->count + 1)) {
    machine->failed = KYMO_E_MEMORY;
    return NULL;
  }
  struct filter_cell *cell = &table->cells[table->count++];
  *cell = (struct filter_cell){.key = key};
  return cell;
}

void kymo_filter_cell_remove(struct filter_table *table, struct filter_cell *cell) {
  uint32_t index = (uint32_t)(cell - table->cells), last = table->count - 1;
  kymo_hash_table_change(&table->places, hash_of(cell->key), index + 1, 0);
  if (index != last) {
    kymo_hash_table_change(&table->places, hash_of(table->cells[last].key), last + 1, index + 1);
    table->cells[index] = table->cells[last];
  }
  table->count--;
}

void kymo_filter_table_clear(struct filter_table *table) {
  table->count = 0;
  kymo_hash_table_clear(&table->places);
}

void kymo_filter_table_free(struct filter_table *table) {
  free(table->cells);
  kymo_hash_table_free(&table->places);
  *table = (struct filter_table){0};
}
