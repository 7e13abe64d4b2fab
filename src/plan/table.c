/* SPDX-License-Identifier: MIT */
/*
 * Tables: keys are numbers or texts, hashed with a key of the process so that no file makes them slow; small
 * numbers are looked up directly. Changes are noted, so that snapshots can be restored without copies of
 * tables.
 */
#include "base/hash.h"
#include "base/list.h"
#include "base/search.h"
#include "plan/machine.h"
#include <stdlib.h>
#include <string.h>

#define SMALL_KEYS 65536
#define TEXTS_MAX ((size_t)64 << 20) /* bytes that tables may refer to */
#define CHANGES_MAX (UINT32_C(1) << 16)

static uint32_t hash_of(const struct kymo_expr_value *key) {
  struct kymo_keyed hash;
  if (key->sort == KYMO_SORT_BYTES)
    return (uint32_t)kymo_keyed_text((const char *)key->p, key->size);
  kymo_keyed_begin(&hash);
  kymo_keyed_add(&hash, key->n.low);
  kymo_keyed_add(&hash, (uint64_t)key->n.high);
  return (uint32_t)kymo_keyed_end(&hash);
}

static bool is_small(const struct kymo_expr_value *key) {
  return key->sort == KYMO_SORT_NUMBER && key->n.high == 0 && key->n.low < SMALL_KEYS;
}

static struct kymo_plan_entry *find(struct kymo_plan_map *map, const struct kymo_expr_value *key) {
  if (is_small(key)) {
    uint32_t index = key->n.low < map->small_count ? map->small[key->n.low] : 0;
    return index ? &map->entries[index - 1] : NULL;
  }
  if (map->large.count == 0)
    return NULL;
  uintptr_t item;
  uint32_t hash = hash_of(key), at = hash;
  while ((item = kymo_hash_table_next(&map->large, hash, &at)))
    if (kymo_value_is_equal(&map->entries[item - 1].key, key))
      return &map->entries[item - 1];
  return NULL;
}

/* ---- space ---- */

static bool make_small(struct kymo_plan_map *map, uint64_t key) {
  if (key < map->small_count)
    return true;
  uint32_t had = map->small_count;
  if (!KYMO_LIST_RESERVE(map->small, map->small_count, (size_t)key + 1))
    return false;
  memset(map->small + had, 0, (map->small_count - had) * sizeof *map->small);
  return true;
}

/* A copy that lives as long as the machine. */
static bool keep(struct kymo_plan_machine *machine, struct kymo_expr_value *value) {
  if (value->sort != KYMO_SORT_BYTES)
    return true;
  if (value->size > TEXTS_MAX - machine->text_bytes)
    return kymo_plan_raise(machine, 9, kymo_plan_offset(machine), "tables that refer to more than %zu MiB",
                           TEXTS_MAX >> 20);
  char *copy = kymo_arena_copy(&machine->texts, (const char *)value->p, value->size);
  machine->failed |= !copy;
  value->p = (const uint8_t *)copy;
  machine->text_bytes += value->size;
  return copy != NULL;
}

static struct kymo_plan_entry *add(struct kymo_plan_machine *machine, struct kymo_plan_map *map,
                                   const struct kymo_expr_value *key) {
  bool ok = KYMO_LIST_ROOM(map->entries, map->capacity, map->count) &&
            (is_small(key) ? make_small(map, key->n.low) : kymo_hash_table_reserve(&map->large, NULL));
  struct kymo_plan_entry entry = {.key = *key};
  machine->failed |= !ok;
  if (!ok || !keep(machine, &entry.key))
    return NULL;
  map->entries[map->count++] = entry;
  if (is_small(key))
    map->small[key->n.low] = map->count;
  else
    kymo_hash_table_put(&map->large, hash_of(key), map->count);
  return &map->entries[map->count - 1];
}

/* ---- values ---- */

static bool is_there(const struct kymo_plan_version *version) {
  return version->value.sort != KYMO_SORT_ABSENT || version->record;
}

static bool is_same(const struct kymo_plan_version *a, const struct kymo_plan_version *b) {
  if (a->record || b->record)
    return a->record == b->record;
  return is_there(a) == is_there(b) && (!is_there(a) || kymo_value_is_equal(&a->value, &b->value));
}

static void put(struct kymo_plan_map *map, uint32_t index, const struct kymo_plan_version *version) {
  struct kymo_plan_version *now = &map->entries[index].now;
  map->live += (uint32_t)is_there(version) - (uint32_t)is_there(now);
  *now = *version;
}

/* Makes a change, and notes it unless it was made before reading. */
static bool change(struct kymo_plan_machine *machine, uint32_t table, struct kymo_plan_entry *entry,
                   const struct kymo_plan_version *version) {
  struct kymo_plan_map *map = &machine->tables[table];
  machine->definitions += machine->plan->tables[table].holds == KYMO_HOLDS_RECORDS;
  if (machine->plan->tables[table].known != KYMO_KNOWN_EARLIER) {
    put(map, (uint32_t)(entry - map->entries), version);
    return true;
  }
  if (machine->change_count == CHANGES_MAX) {
    machine->change_count = machine->change_high = 0;
    machine->generation++;
  }
  if (!KYMO_LIST_ROOM(machine->changes, machine->change_capacity, machine->change_count)) {
    machine->failed = true;
    return kymo_plan_raise(machine, 9, kymo_plan_offset(machine), "out of memory");
  }
  machine->changes[machine->change_count++] =
      (struct kymo_plan_change){table, (uint32_t)(entry - map->entries), entry->now, *version};
  if (machine->change_high < machine->change_count)
    machine->change_high = machine->change_count;
  put(map, (uint32_t)(entry - map->entries), version);
  return true;
}

void kymo_plan_tables_reset(struct kymo_plan_machine *machine) {
  static const struct kymo_plan_version nothing = {.name = KYMO_PLAN_NONE};
  for (uint32_t t = 0; t < KYMO_PLAN_COUNT(machine->plan, TABLE); t++) {
    struct kymo_plan_map *map = &machine->tables[t];
    for (uint32_t i = 0; machine->plan->tables[t].known == KYMO_KNOWN_EARLIER && i < map->count; i++)
      put(map, i, &nothing);
  }
  machine->definitions++;
  machine->change_high = machine->generation ? 0 : machine->change_high;
  machine->change_count = machine->generation = 0;
}

void kymo_plan_changes_go(struct kymo_plan_machine *machine, uint32_t count) {
  machine->definitions += machine->change_count != count;
  while (machine->change_count > count) {
    const struct kymo_plan_change *one = &machine->changes[--machine->change_count];
    put(&machine->tables[one->table], one->entry, &one->old);
  }
  for (; machine->change_count < count; machine->change_count++) {
    const struct kymo_plan_change *one = &machine->changes[machine->change_count];
    put(&machine->tables[one->table], one->entry, &one->new_);
  }
}

/* KNOWN BY TIME: inserts a version after those that are not later. */
static bool remember(struct kymo_plan_machine *machine, struct kymo_plan_entry *entry,
                     struct kymo_plan_version version) {
  if (!KYMO_LIST_ROOM(entry->history, entry->history_capacity, entry->history_count)) {
    machine->failed = true;
    return false;
  }
  version.has_time = machine->has_time;
  version.time_ns = machine->has_time ? machine->time_ns : INT64_MIN;
  entry->history[entry->history_count++] = version;
  return true;
}

/* Whether the current activity (reading, or one of the passes) fills this table. */
static bool is_filled_now(const struct kymo_plan_machine *machine, const struct kymo_plan_table *table) {
  switch ((enum kymo_plan_known)table->known) {
  case KYMO_KNOWN_ALWAYS: return machine->pass == table->pass + 1;
  case KYMO_KNOWN_BY_TIME: return machine->is_ordering;
  default: return !machine->is_ordering;
  }
}

const struct kymo_plan_version *kymo_plan_table_get(struct kymo_plan_machine *machine, uint32_t table,
                                                    const struct kymo_expr_value *key) {
  struct kymo_plan_entry *entry = key->sort == KYMO_SORT_NUMBER || key->sort == KYMO_SORT_BYTES
                                      ? find(&machine->tables[table], key)
                                      : NULL;
  if (!entry)
    return NULL;
  if (!entry->history_count)
    return is_there(&entry->now) ? &entry->now : NULL;
  int64_t time = machine->has_time ? machine->time_ns : INT64_MIN;
  uint32_t count = KYMO_COUNT_BEFORE(entry->history_count, i, entry->history[i].time_ns <= time);
  return count && is_there(&entry->history[count - 1]) ? &entry->history[count - 1] : NULL;
}

/* Notes what the first pass has found: the classes are made from it. */
static bool find_version(struct kymo_plan_machine *machine, uint32_t table, const struct kymo_expr_value *key,
                         struct kymo_plan_version *version) {
  struct kymo_plan_found *found = machine->found;
  version->name = KYMO_PLAN_NONE;
  if (!found || machine->plan->tables[table].holds != KYMO_HOLDS_NAMES ||
      version->value.sort != KYMO_SORT_BYTES)
    return true;
  version->name = kymo_plan_found_text(found, &found->names[table], &version->value, machine->may_find);
  if (!machine->may_find || key->sort != KYMO_SORT_NUMBER || version->name == KYMO_PLAN_NONE)
    return true;
  struct kymo_plan_pairs *pairs = &found->pairs[table];
  if (!KYMO_LIST_ROOM(pairs->list, pairs->capacity, pairs->count)) {
    machine->failed = true;
    return false;
  }
  pairs->list[pairs->count++] = (struct kymo_plan_pair){key->n, version->name};
  return true;
}

/* The key has another value already. False if by policy this ends the record. */
static bool mark_other(struct kymo_plan_machine *machine, const struct kymo_expr_value *key,
                       const struct kymo_expr_value *before, const struct kymo_expr_value *now) {
  char name[KYMO_PLAN_DESCRIBED], expected[KYMO_PLAN_DESCRIBED], found[KYMO_PLAN_DESCRIBED];
  kymo_plan_describe(key, false, name, sizeof name);
  kymo_plan_describe(before, false, expected, sizeof expected);
  kymo_plan_describe(now, false, found, sizeof found);
  uint64_t bits = kymo_plan_bits_since(machine, now);
  bits = bits ? bits : kymo_plan_bits_since(machine, key);
  if (*expected && *found)
    return kymo_plan_mark_field(machine, 7, bits, "another definition of the key %s, expected %s, found %s",
                                name, expected, found);
  return kymo_plan_mark_field(machine, 7, bits, "another definition of the key %s", name);
}

bool kymo_plan_table_set(struct kymo_plan_machine *machine, uint32_t table, const struct kymo_expr_value *key,
                         const struct kymo_expr_value *value, const struct kymo_plan_record *record) {
  const struct kymo_plan_table *what = &machine->plan->tables[table];
  struct kymo_plan_map *map = &machine->tables[table];
  if (machine->is_dry || !is_filled_now(machine, what) ||
      (key->sort != KYMO_SORT_NUMBER && key->sort != KYMO_SORT_BYTES))
    return true;
  struct kymo_plan_version version = {
      .value = value ? *value : (struct kymo_expr_value){0}, .record = record, .name = KYMO_PLAN_NONE};
  struct kymo_plan_entry *entry = find(map, key);
  bool was_there = entry && is_there(&entry->now);
  if ((!entry && !is_there(&version)) || (entry && is_same(&entry->now, &version)))
    return true;
  if (!was_there && is_there(&version) && map->live >= (what->limit ? what->limit : KYMO_PLAN_TABLE_LIMIT))
    return kymo_plan_raise(machine, 9, kymo_plan_offset(machine), "more than %u keys in a table",
                           what->limit ? what->limit : KYMO_PLAN_TABLE_LIMIT);
  bool is_other = was_there && is_there(&version) && what->known != KYMO_KNOWN_BY_TIME;
  if (is_other && !mark_other(machine, key, &entry->now.value, &version.value))
    return false;
  if (!keep(machine, &version.value) || !find_version(machine, table, key, &version))
    return false;
  entry = entry ? entry : add(machine, map, key);
  if (!entry)
    return false;
  if (what->known == KYMO_KNOWN_BY_TIME && !remember(machine, entry, version))
    return false;
  return change(machine, table, entry, &version);
}

void kymo_plan_tables_clear(struct kymo_plan_machine *machine, enum kymo_plan_per per) {
  static const struct kymo_plan_version nothing = {.name = KYMO_PLAN_NONE};
  for (uint32_t t = 0; t < KYMO_PLAN_COUNT(machine->plan, TABLE) && !machine->is_dry; t++) {
    const struct kymo_plan_table *table = &machine->plan->tables[t];
    struct kymo_plan_map *map = &machine->tables[t];
    if (table->per != (uint32_t)per || map->live == 0 || !is_filled_now(machine, table))
      continue;
    for (uint32_t i = 0; i < map->count; i++)
      if (is_there(&map->entries[i].now) && !change(machine, t, &map->entries[i], &nothing))
        return;
  }
}

/* ---- copies ---- */

static bool copy_map(struct kymo_plan_map *to, const struct kymo_plan_map *from) {
  *to = (struct kymo_plan_map){
      .count = from->count, .capacity = from->count, .live = from->live, .small_count = from->small_count};
  to->entries = calloc((size_t)from->count + 1, sizeof *to->entries);
  to->small = calloc((size_t)from->small_count + 1, sizeof *to->small);
  if (!kymo_hash_table_copy(&to->large, &from->large) || !to->entries || !to->small) {
    to->count = 0;
    return false;
  }
  memcpy(to->small, from->small ? from->small : to->small, from->small_count * sizeof *to->small);
  for (uint32_t i = 0; i < from->count; i++) {
    struct kymo_plan_entry *entry = &to->entries[i];
    *entry = from->entries[i];
    entry->history = NULL;
    entry->history_capacity = entry->history_count;
    if (!entry->history_count)
      continue;
    entry->history = calloc(entry->history_count, sizeof *entry->history);
    if (!entry->history)
      return false;
    memcpy(entry->history, from->entries[i].history, entry->history_count * sizeof *entry->history);
  }
  return true;
}

bool kymo_plan_tables_copy(struct kymo_plan_machine *machine, const struct kymo_plan_machine *from) {
  bool ok = true;
  for (uint32_t t = 0; t < KYMO_PLAN_COUNT(machine->plan, TABLE) && ok; t++)
    ok = machine->plan->tables[t].known == KYMO_KNOWN_EARLIER ||
         copy_map(&machine->tables[t], &from->tables[t]);
  return ok;
}

/* ---- definitions found ---- */

struct kymo_plan_found *kymo_plan_found_new(const struct kymo_plan *plan) {
  struct kymo_plan_found *found = calloc(1, sizeof *found);
  if (!found)
    return NULL;
  found->table_count = KYMO_PLAN_COUNT(plan, TABLE);
  found->names = kymo_arena_array(&found->arena, found->table_count + 1, sizeof *found->names);
  found->pairs = kymo_arena_array(&found->arena, found->table_count + 1, sizeof *found->pairs);
  found->records = kymo_arena_array(&found->arena, found->table_count + 1, sizeof *found->records);
  if (found->names && found->pairs && found->records)
    return found;
  kymo_plan_found_free(found);
  return NULL;
}

void kymo_plan_found_free(struct kymo_plan_found *found) {
  if (!found)
    return;
  for (uint32_t i = 0; i < found->table_count && found->names && found->pairs && found->records; i++) {
    free(found->names[i].texts);
    kymo_hash_table_free(&found->names[i].table);
    free(found->pairs[i].list);
    free(found->records[i].list);
    free(found->records[i].spelled.texts);
    kymo_hash_table_free(&found->records[i].spelled.table);
  }
  free(found->unresolved.list);
  free(found->unresolved.spelled.texts);
  kymo_hash_table_free(&found->unresolved.spelled.table);
  kymo_arena_free(&found->arena);
  free(found);
}

uint32_t kymo_plan_found_text(struct kymo_plan_found *found, struct kymo_plan_names *names,
                              const struct kymo_expr_value *text, bool may_grow) {
  uintptr_t item;
  uint32_t hash = hash_of(text), at = hash;
  while ((item = kymo_hash_table_next(&names->table, hash, &at)))
    if (kymo_value_is_equal(&names->texts[item - 1], text))
      return (uint32_t)item - 1;
  if (!may_grow)
    return KYMO_PLAN_NONE;
  char *copy = KYMO_LIST_ROOM(names->texts, names->capacity, names->count)
                   ? kymo_arena_copy(&found->arena, (const char *)text->p, text->size)
                   : NULL;
  if (!copy || !kymo_hash_table_add(&names->table, NULL, hash, names->count + 1)) {
    found->failed = true;
    return KYMO_PLAN_NONE;
  }
  names->texts[names->count++] = kymo_value_bytes((const uint8_t *)copy, text->size);
  return names->count - 1;
}
