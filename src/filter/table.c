/* SPDX-License-Identifier: MIT */
/* Tables of what filters remember for each value of PER or SAME: bounded, and keyed, so that no choice of
 * values slows them. */
#include "base/hash.h"
#include "filter/machine.h"
#include <stdlib.h>
#include <string.h>

struct filter_key kymo_filter_key_of(const struct filter_value *value) {
  struct filter_key key = {0, value->kind};
  if (value->kind == FILTER_TEXT) {
    key.number = kymo_keyed_text((const char *)value->bytes, (size_t)value->count);
  } else if (value->kind == FILTER_FLOAT) {
    double number = value->number == 0 ? 0 : value->number; /* -0 is 0 */
    memcpy(&key.number, &number, sizeof number);
  } else {
    key.number = value->integer.low;
    key.kind |= value->integer.high < 0 ? 0x100 : 0;
  }
  return key;
}

static bool is_equal(struct filter_key a, struct filter_key b) {
  return a.number == b.number && a.kind == b.kind;
}

static uint32_t begin_of(struct filter_key key, uint32_t place_count) {
  struct kymo_keyed hash;
  kymo_keyed_begin(&hash);
  kymo_keyed_add(&hash, key.number);
  kymo_keyed_add(&hash, key.kind);
  return (uint32_t)kymo_keyed_end(&hash) & (place_count - 1);
}

/* The place of a key, or the free one where it belongs. */
static uint32_t *place_of(const struct filter_table *table, struct filter_key key) {
  uint32_t at = begin_of(key, table->place_count);
  while (table->places[at] && !is_equal(table->cells[table->places[at] - 1].key, key))
    at = (at + 1) & (table->place_count - 1);
  return &table->places[at];
}

static bool grow(struct filter_table *table) {
  uint32_t capacity = table->capacity ? table->capacity * 2 : 4;
  struct filter_cell *cells = realloc(table->cells, capacity * sizeof *cells);
  if (!cells)
    return false;
  table->cells = cells;
  uint32_t *places = calloc(2 * (size_t)capacity, sizeof *places);
  if (!places)
    return false;
  free(table->places);
  table->places = places;
  table->place_count = 2 * capacity;
  table->capacity = capacity;
  for (uint32_t i = 0; i < table->count; i++)
    *place_of(table, cells[i].key) = i + 1;
  return true;
}

struct filter_cell *kymo_filter_cell_find(const struct filter_table *table, struct filter_key key) {
  if (table->count == 0)
    return NULL;
  uint32_t cell = *place_of(table, key);
  return cell ? &table->cells[cell - 1] : NULL;
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
  if (table->count == table->capacity && !grow(table)) {
    machine->failed = KYMO_E_MEMORY;
    return NULL;
  }
  struct filter_cell *cell = &table->cells[table->count++];
  *cell = (struct filter_cell){.key = key};
  *place_of(table, key) = table->count;
  return cell;
}

/* Closes the gap at a place, so that what lies behind it is still found. */
static void close_gap(struct filter_table *table, uint32_t gap) {
  uint32_t mask = table->place_count - 1;
  for (uint32_t at = (gap + 1) & mask; table->places[at]; at = (at + 1) & mask) {
    uint32_t home = begin_of(table->cells[table->places[at] - 1].key, table->place_count);
    if (((at - home) & mask) < ((at - gap) & mask))
      continue;
    table->places[gap] = table->places[at];
    gap = at;
  }
  table->places[gap] = 0;
}

void kymo_filter_cell_remove(struct filter_table *table, struct filter_cell *cell) {
  uint32_t index = (uint32_t)(cell - table->cells), last = table->count - 1;
  close_gap(table, (uint32_t)(place_of(table, cell->key) - table->places));
  if (index != last) {
    *place_of(table, table->cells[last].key) = index + 1;
    table->cells[index] = table->cells[last];
  }
  table->count--;
}

void kymo_filter_table_clear(struct filter_table *table) {
  table->count = 0;
  if (table->places)
    memset(table->places, 0, table->place_count * sizeof *table->places);
}

void kymo_filter_table_free(struct filter_table *table) {
  free(table->cells);
  free(table->places);
  *table = (struct filter_table){0};
}
