/* SPDX-License-Identifier: MIT */
/* Tables from names to types, groups, event classes and members: built once, read by all threads. */
#include "schema/lookup.h"
#include "base/hash.h"
#include <string.h>

/* ---- names ---- */

struct name_entry {
  const char *name;
  const void *value;
};

static struct name_entry *find(const struct name_table *table, uint32_t hash, const char *name) {
  struct name_entry *entry;
  uint32_t at = hash;
  while ((entry = (struct name_entry *)kymo_hash_table_next(&table->table, hash, &at)))
    if (strcmp(entry->name, name) == 0)
      break;
  return entry;
}

static uint32_t hash_of(const char *name) { return (uint32_t)kymo_keyed_text(name, strlen(name)); }

const void **kymo_name_table_add(struct name_table *table, struct kymo_arena *arena, const char *name) {
  uint32_t hash = hash_of(name);
  struct name_entry *entry = find(table, hash, name);
  if (entry)
    return &entry->value;
  entry = kymo_arena_alloc(arena, sizeof *entry);
  if (!entry || !kymo_hash_table_add(&table->table, arena, hash, (uintptr_t)entry))
    return NULL;
  entry->name = name;
  return &entry->value;
}

const void *kymo_name_table_find(const struct name_table *table, const char *name) {
  const struct name_entry *entry = find(table, hash_of(name), name);
  return entry ? entry->value : NULL;
}

/* ---- types ---- */

/* False for a name that does not fit: if it were cut, it could match another name. */
static bool normalize(char normal[KYMO_TYPE_NAME_MAX], const char *name) {
  return strlen(kymo_type_name_normalize(normal, KYMO_TYPE_NAME_MAX, name)) + 1 < KYMO_TYPE_NAME_MAX;
}

bool kymo_name_type(struct name_table *table, struct kymo_arena *arena, const struct kymo_type *type) {
  char normal[KYMO_TYPE_NAME_MAX];
  if (!normalize(normal, type->name) || kymo_name_table_find(table, normal))
    return true;
  const char *key = strcmp(normal, type->name) ? kymo_arena_copy(arena, normal, strlen(normal)) : type->name;
  const void **value = key ? kymo_name_table_add(table, arena, key) : NULL;
  if (value)
    *value = type;
  return value;
}

/* Most names already have their normal spelling, and trying that is faster than normalising. */
static const struct kymo_type *type_of_name(const struct name_table *table, const char *name) {
  char normal[KYMO_TYPE_NAME_MAX];
  const struct kymo_type *type = kymo_name_table_find(table, name);
  if (type)
    return type;
  return normalize(normal, name) ? kymo_name_table_find(table, normal) : NULL;
}

const struct kymo_type *kymo_schema_lookup_type(const struct kymo_schema *schema, const char *name) {
  return type_of_name(&((const struct schema_impl *)schema)->types_by_name, name);
}

uint32_t kymo_schema_type_id_(const struct kymo_schema *schema, const char *name) {
  const struct kymo_type *type = kymo_schema_lookup_type(schema, name);
  return type ? type->id : KYMO_ID_NONE;
}

const struct kymo_type *kymo_builder_lookup(const struct kymo_builder *builder, const char *name) {
  return type_of_name(&builder->impl->types_by_name, name);
}

/* ---- members ---- */

/* Few members are searched faster one by one. */
enum { INDEXED_MEMBERS = 8 };

static uint32_t index_size(uint32_t members) {
  uint32_t size = 16;
  while (size < UINT32_MAX / 2 && size / 2 < members)
    size *= 2;
  return size;
}

/* Slots hold a member's number + 1. Of members of one name the first is found. */
bool kymo_index_members(struct kymo_type *type, struct kymo_arena *arena) {
  type->member_index = NULL;
  if (type->member_count <= INDEXED_MEMBERS)
    return true;
  uint32_t size = index_size(type->member_count);
  uint32_t *slots = kymo_arena_array(arena, size, sizeof *slots);
  for (uint32_t i = 0; slots && i < type->member_count; i++) {
    const char *name = type->members[i].name;
    if (!name)
      return true; /* refused when the schema is finished */
    uint32_t at = hash_of(name) & (size - 1);
    while (slots[at] && strcmp(type->members[slots[at] - 1].name, name) != 0)
      at = (at + 1) & (size - 1);
    if (!slots[at]) /* else a second one, which must not lengthen the search for the others */
      slots[at] = i + 1;
  }
  type->member_index = slots;
  return slots;
}

const struct kymo_member *kymo_type_member(const struct kymo_type *type, const char *name) {
  if (!type)
    return NULL;
  if (!type->member_index) {
    for (uint32_t i = 0; i < type->member_count; i++)
      if (strcmp(type->members[i].name, name) == 0)
        return &type->members[i];
    return NULL;
  }
  uint32_t mask = index_size(type->member_count) - 1;
  uint32_t at = hash_of(name) & mask;
  for (; type->member_index[at]; at = (at + 1) & mask)
    if (strcmp(type->members[type->member_index[at] - 1].name, name) == 0)
      return &type->members[type->member_index[at] - 1];
  return NULL;
}

/* ---- groups and event classes ---- */

const struct kymo_group *kymo_schema_lookup_group(const struct kymo_schema *schema, const char *name) {
  return kymo_name_table_find(&((const struct schema_impl *)schema)->groups_by_name, name);
}

const struct kymo_event_class *kymo_schema_lookup_event(const struct kymo_schema *schema, const char *name) {
  return kymo_name_table_find(&((const struct schema_impl *)schema)->events_by_name, name);
}

/* Backwards, so that the first one of a name ends up in the table and later ones follow it. */
static bool name_events(struct schema_impl *impl) {
  for (uint32_t i = impl->schema.stream_count; i-- > 0;) {
    const struct kymo_stream_class *stream = impl->schema.streams[i];
    for (uint32_t at = stream->event_count; at-- > 0;) {
      struct kymo_event_class *event = (struct kymo_event_class *)(uintptr_t)stream->events[at];
      const void **first = kymo_name_table_add(&impl->events_by_name, &impl->arena, event->name);
      if (!first)
        return false;
      event->next_version = *first;
      *first = event;
    }
  }
  return true;
}

static struct kymo_group *group_of(struct schema_impl *impl, const struct kymo_event_class *event) {
  return (struct kymo_group *)(uintptr_t)kymo_name_table_find(&impl->groups_by_name, event->group);
}

/* Groups in the order in which they are found, with space for their events. */
static bool make_groups(struct schema_impl *impl, struct kymo_group *groups, const struct kymo_group **list) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < impl->schema.stream_count; i++)
    for (uint32_t at = 0; at < impl->schema.streams[i]->event_count; at++) {
      const char *name = impl->schema.streams[i]->events[at]->group;
      const void **value = kymo_name_table_add(&impl->groups_by_name, &impl->arena, name);
      if (!value)
        return false;
      if (!*value) {
        groups[count] = (struct kymo_group){.name = name, .id = count};
        list[count] = &groups[count];
        *value = &groups[count++];
      }
      ((struct kymo_group *)(uintptr_t)*value)->event_count++;
    }
  impl->schema.groups = list;
  impl->schema.group_count = count;
  return true;
}

static bool fill_groups(struct schema_impl *impl, struct kymo_group *groups,
                        const struct kymo_event_class **room) {
  for (uint32_t i = 0; i < impl->schema.group_count; i++) {
    groups[i].events = room;
    room += groups[i].event_count;
    groups[i].event_count = 0;
  }
  for (uint32_t i = 0; i < impl->schema.stream_count; i++)
    for (uint32_t at = 0; at < impl->schema.streams[i]->event_count; at++) {
      const struct kymo_event_class *event = impl->schema.streams[i]->events[at];
      struct kymo_group *group = group_of(impl, event);
      ((const struct kymo_event_class **)(uintptr_t)group->events)[group->event_count++] = event;
    }
  return true;
}

bool kymo_schema_index(struct schema_impl *impl) {
  size_t events = 0;
  for (uint32_t i = 0; i < impl->schema.stream_count; i++)
    events += impl->schema.streams[i]->event_count;
  struct kymo_group *groups = kymo_arena_array(&impl->arena, events, sizeof *groups);
  const struct kymo_group **list = kymo_arena_array(&impl->arena, events, sizeof *list);
  const struct kymo_event_class **room = kymo_arena_array(&impl->arena, events, sizeof *room);
  return groups && list && room && name_events(impl) && make_groups(impl, groups, list) &&
         fill_groups(impl, groups, room);
}
