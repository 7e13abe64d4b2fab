/* SPDX-License-Identifier: MIT */
#include "stat/groups.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/list.h"
#include "decode/field.h"
#include "print/labels.h"
#include "trace/part.h"
#include <stdlib.h>
#include <string.h>

#define LATE KYMO_GROUPS_LATE
#define NAME_MAX_BYTES 128
#define NO_FIELD 1 /* in kymo_grouping.fields; 0: not looked up yet; ids are stored + 2 */

/* ---- the table ---- */

struct key {
  uint64_t number;
  bool is_text;
};

static uint32_t hash_of(struct key key) {
  struct kymo_keyed hash;
  kymo_keyed_begin(&hash);
  kymo_keyed_add(&hash, key.number);
  return (uint32_t)kymo_keyed_end(&hash);
}

static struct kymo_stat_group *find(const struct kymo_groups *groups, struct key key) {
  struct kymo_stat_group *group;
  uint32_t hash = hash_of(key), at = hash;
  while ((group = (struct kymo_stat_group *)kymo_hash_table_next(&groups->table, hash, &at)))
    if (group->key == key.number && group->is_text == key.is_text)
      break;
  return group;
}

bool kymo_groups_put(struct kymo_groups *groups, struct kymo_stat_group *group) {
  uint32_t hash = hash_of((struct key){group->key, group->is_text});
  if (!KYMO_LIST_ROOM(groups->list, groups->capacity, groups->count) ||
      !kymo_hash_table_add(&groups->table, NULL, hash, (uintptr_t)group))
    return false;
  groups->list[groups->count++] = group;
  return true;
}

bool kymo_group_is_wanted(const struct kymo_stat_group *group, const char *prefix) {
  return !prefix || strncmp(group->name, prefix, strlen(prefix)) == 0;
}

void kymo_groups_free(struct kymo_groups *groups) {
  for (size_t i = 0; i < groups->count; i++)
    kymo_samples_free(&groups->list[i]->samples);
  free(groups->list);
  kymo_hash_table_free(&groups->table);
  kymo_arena_free(&groups->arena);
  kymo_arena_free(&groups->merged_arena);
  kymo_spill_free(groups->spill);
  *groups = (struct kymo_groups){0};
}

/* ---- values ---- */

/* A value by which events are grouped: its key, and the data for its name. */
struct value {
  struct key key;
  uint32_t field;   /* of an integer, or KYMO_FIELD_NONE */
  const char *text; /* of a text */
  size_t length;
  const struct kymo_who *who;
  const struct kymo_event_class *nameless; /* a class that is shown by its number */
  const char *symbol;                      /* of an address that has a name … */
  uint64_t offset;                         /* … and its distance from the address's begin */
};

static struct key text_key(const char *text, size_t length) {
  return (struct key){kymo_keyed_text(text, length), true};
}

static bool read_integer(const struct kymo_event *event, uint32_t field, struct value *value) {
  int64_t number;
  int status = kymo_event_get_uint(event, field, &value->key.number);
  if (status != KYMO_OK && (status = kymo_event_get_int(event, field, &number)) == KYMO_OK)
    value->key.number = (uint64_t)number;
  value->field = field;
  return status == KYMO_OK;
}

/* Addresses in one function of one file are one value, wherever it was loaded. */
static void find_symbol(const struct kymo_grouping *grouping, const struct kymo_event *event,
                        struct value *value) {
  const struct kymo_type *type = kymo_event_get_type(event, value->field);
  struct kymo_symbol symbol;
  if (!type || !type->is_address ||
      !kymo_symbols_find(grouping->symbols, event->packet->stream->part, value->key.number, event, &symbol))
    return;
  value->symbol = symbol.name;
  value->offset = symbol.offset;
  value->key = (struct key){kymo_keyed_pair(symbol.identity, symbol.offset), true};
}

static bool read_field(const struct kymo_grouping *grouping, const struct kymo_event *event, uint32_t field,
                       struct value *value) {
  const uint8_t *bytes;
  uint64_t count;
  if (read_integer(event, field, value)) {
    if (grouping->symbols)
      find_symbol(grouping, event, value);
    return true;
  }
  if (kymo_event_get_bytes(event, field, &bytes, &count) != KYMO_OK)
    return false;
  value->field = KYMO_FIELD_NONE;
  value->text = (const char *)bytes;
  value->length = (size_t)count;
  value->key = text_key(value->text, value->length);
  return true;
}

/* Threads by number and name, which may change; else processors. */
static bool read_who(const struct kymo_grouping *grouping, const struct kymo_event *event,
                     struct value *value) {
  const struct kymo_who *who = value->who = kymo_who_of(grouping->whos, event);
  if (!who)
    return false;
  if (who->has_tid || who->name_length) {
    value->key = text_key(who->name, who->name_length);
    value->key.number ^= (uint64_t)who->tid * UINT64_C(0x9e3779b97f4a7c15);
    return true;
  }
  value->key.number = who->has_cpu ? who->cpu : event->packet->stream->number;
  return true;
}

static uint32_t field_of(const struct kymo_grouping *grouping, const struct kymo_event *event) {
  uint32_t *field = &grouping->fields[kymo_kind_of(event)];
  if (!*field) {
    uint32_t id = kymo_field_id(grouping->trace, event->class_, grouping->by);
    *field = id == KYMO_FIELD_NONE ? NO_FIELD : id + 2;
  }
  return *field == NO_FIELD ? KYMO_FIELD_NONE : *field - 2;
}

static bool read_value(const struct kymo_grouping *grouping, const struct kymo_event *event,
                       struct value *value) {
  *value = (struct value){.field = KYMO_FIELD_NONE};
  if (grouping->kind == KYMO_GROUP_ALL)
    return true;
  if (grouping->kind == KYMO_GROUP_EVENT) {
    const char *name = event->class_->name;
    if (!name || !*name) {
      value->nameless = event->class_;
      value->key.number = event->class_->id;
      return true;
    }
    value->text = name;
    value->length = strlen(name);
    value->key = text_key(name, value->length);
    return true;
  }
  uint32_t field = field_of(grouping, event);
  if (field != KYMO_FIELD_NONE)
    return read_field(grouping, event, field, value);
  return grouping->kind == KYMO_GROUP_TRACK && read_who(grouping, event, value);
}

/* A thread's number and its host; false: the track is no thread. */
static bool find_thread(const struct kymo_grouping *grouping, const struct kymo_event *event,
                        uint64_t *number) {
  if (grouping->kind != KYMO_GROUP_TRACK || field_of(grouping, event) != KYMO_FIELD_NONE)
    return false;
  const struct kymo_who *who = kymo_who_of(grouping->whos, event);
  if (!who || !who->has_tid)
    return false;
  struct kymo_thread_number *known = &grouping->threads[who->version % KYMO_GROUPING_THREADS];
  if (known->version != who->version)
    *known = (struct kymo_thread_number){
        who->version,
        kymo_keyed_pair((uint64_t)who->tid, grouping->hosts[event->packet->stream->part->index])};
  *number = known->number;
  return true;
}

int kymo_grouping_number(const struct kymo_grouping *grouping, const struct kymo_event *event,
                         uint64_t *number) {
  struct value value;
  if (find_thread(grouping, event, number))
    return KYMO_OK;
  if (!read_value(grouping, event, &value))
    return KYMO_E_ABSENT;
  *number = value.key.number;
  return KYMO_OK;
}

bool kymo_grouping_integer(const struct kymo_grouping *grouping, const struct kymo_event *event,
                           int64_t *out) {
  struct value value = {0};
  uint32_t field = field_of(grouping, event);
  if (field == KYMO_FIELD_NONE || !read_integer(event, field, &value))
    return false;
  const struct kymo_type *type = kymo_event_get_type(event, field);
  bool is_signed = type && type->is_signed;
  *out = !is_signed && value.key.number > INT64_MAX ? INT64_MAX : (int64_t)value.key.number;
  return true;
}

bool kymo_grouping_float(const struct kymo_grouping *grouping, const struct kymo_event *event, double *out) {
  int64_t integer;
  uint64_t large;
  uint32_t field = field_of(grouping, event);
  if (field == KYMO_FIELD_NONE)
    return false;
  if (kymo_event_get_float(event, field, out) == KYMO_OK)
    return true;
  if (kymo_event_get_int(event, field, &integer) == KYMO_OK)
    *out = (double)integer;
  else if (kymo_event_get_uint(event, field, &large) == KYMO_OK)
    *out = (double)large;
  else
    return false;
  return true;
}

/* ---- names ---- */

static size_t put_who(char *name, const struct kymo_who *who, uint64_t number) {
  char *at = name;
  memcpy(at, who->name, who->name_length);
  at += who->name_length;
  if (who->has_tid && who->name_length)
    *at++ = '/';
  if (who->has_tid)
    return (size_t)(kymo_put_i64(at, who->tid) - name);
  if (who->name_length)
    return (size_t)(at - name);
  at = stpcpy(at, who->has_cpu ? "cpu " : "stream ");
  return (size_t)(kymo_put_u64(at, number) - name);
}

/* LABEL, or FLAG|FLAG with the rest as a number; 0: there is no name, or not enough space. */
static size_t put_labels(char *name, const struct kymo_type *type, uint64_t number) {
  struct kymo_labels labels = kymo_labels_begin(type, number);
  bool is_flags = type->kind == KYMO_KIND_BITMAP;
  size_t length = 0;
  for (const char *label; (label = kymo_labels_next(&labels)) != NULL;) {
    size_t more = strlen(label);
    if (is_flags && length + more + 24 > NAME_MAX_BYTES)
      return 0;
    if (length)
      name[length++] = '|';
    if (!is_flags)
      return (size_t)(stpncpy(name, label, NAME_MAX_BYTES) - name);
    memcpy(name + length, label, more); /* the test above left space for it */
    length += more;
  }
  if (length && labels.rest)
    length = (size_t)(kymo_put_hex(stpcpy(name + length, "|0x"), labels.rest, false) - name);
  return length;
}

static size_t put_integer(char *name, const struct kymo_type *type, uint64_t number) {
  size_t length = type->mapping_count ? put_labels(name, type, number) : 0;
  if (length)
    return length;
  if (type->base == 16 || type->is_address)
    return (size_t)(kymo_put_hex(stpcpy(name, "0x"), number, false) - name);
  return (size_t)((type->is_signed ? kymo_put_i64(name, (int64_t)number) : kymo_put_u64(name, number)) -
                  name);
}

static const char *symbol_name(struct kymo_arena *arena, const struct value *value) {
  size_t length = strlen(value->symbol);
  char *name = kymo_arena_alloc(arena, length + 32);
  if (name) {
    memcpy(name, value->symbol, length);
    *kymo_put_hex(stpcpy(name + length, "+0x"), value->offset, false) = 0;
  }
  return name;
}

/* As lines of text have it. */
static const struct kymo_type *shown_type(const struct kymo_event *event, uint32_t field) {
  const struct field *place = kymo_find_field(event->plan, field);
  return place && place->node->shown ? place->node->shown : kymo_event_get_type(event, field);
}

static const char *make_name(struct kymo_arena *arena, const struct kymo_event *event,
                             const struct value *value) {
  char name[NAME_MAX_BYTES + 32];
  size_t length = 0;
  if (value->symbol && value->offset == 0)
    return kymo_arena_copy(arena, value->symbol, strlen(value->symbol));
  if (value->symbol)
    return symbol_name(arena, value);
  if (value->text) {
    length = value->length < NAME_MAX_BYTES ? value->length : NAME_MAX_BYTES;
    memcpy(name, value->text, length);
  } else if (value->nameless) {
    length = (size_t)(kymo_put_u64(stpcpy(name, "event"), value->nameless->id) - name);
  } else if (value->who) {
    length = put_who(name, value->who, value->key.number);
  } else if (value->field != KYMO_FIELD_NONE) {
    length = put_integer(name, shown_type(event, value->field), value->key.number);
  }
  return kymo_arena_copy(arena, name, length);
}

static struct kymo_stat_group *find_late(const struct kymo_groups *groups, struct key key) {
  struct kymo_stat_group *late = groups->late[key.number % LATE];
  return late && late->key == key.number && late->is_text == key.is_text ? late : NULL;
}

/* The usual case, a recently used number; else NULL. */
static struct kymo_stat_group *find_number(const struct kymo_grouping *grouping,
                                           const struct kymo_groups *groups, const struct kymo_event *event) {
  struct key key = {0};
  if (grouping->kind < KYMO_GROUP_TRACK || grouping->symbols)
    return NULL;
  uint32_t field = field_of(grouping, event);
  return field != KYMO_FIELD_NONE && kymo_event_get_uint(event, field, &key.number) == KYMO_OK
             ? find_late(groups, key)
             : NULL;
}

static struct kymo_stat_group *add_group(struct kymo_groups *groups, struct key key, const char *name) {
  struct kymo_stat_group *group = kymo_arena_alloc(&groups->arena, sizeof *group);
  if (!group || !name)
    return NULL;
  *group = (struct kymo_stat_group){.key = key.number, .is_text = key.is_text, .name = name};
  if (!kymo_groups_put(groups, group))
    return NULL;
  groups->bytes += sizeof *group + strlen(name) + KYMO_GROUP_OVERHEAD;
  return group;
}

struct kymo_stat_group *kymo_groups_add(struct kymo_groups *groups, uint64_t number, bool is_text,
                                        const char *name, size_t length) {
  struct key key = {number, is_text};
  struct kymo_stat_group *group = find(groups, key);
  return group ? group : add_group(groups, key, kymo_arena_copy(&groups->arena, name, length));
}

int kymo_grouping_find(const struct kymo_grouping *grouping, struct kymo_groups *groups,
                       const struct kymo_event *event, struct kymo_stat_group **out) {
  struct value value;
  if ((*out = find_number(grouping, groups, event)))
    return KYMO_OK;
  if (!read_value(grouping, event, &value))
    return KYMO_E_ABSENT;
  if ((*out = find_late(groups, value.key)))
    return KYMO_OK;
  struct kymo_stat_group *group = find(groups, value.key);
  if (!group)
    group = add_group(groups, value.key, make_name(&groups->arena, event, &value));
  if (!group)
    return KYMO_E_MEMORY;
  *out = groups->late[value.key.number % LATE] = group;
  return KYMO_OK;
}

/* ---- life ---- */

/* Calls `each` for the field in every event class that has it, until it returns false. */
static void each_field(const struct kymo_grouping *grouping,
                       bool (*each)(void *user, const struct kymo_field *field), void *user) {
  struct kymo_field field;
  for (size_t i = 0; i < kymo_trace_part_count(grouping->trace); i++) {
    const struct kymo_schema *schema = kymo_trace_part(grouping->trace, i)->schema;
    for (uint32_t j = 0; j < schema->stream_count; j++)
      for (uint32_t k = 0; k < schema->streams[j]->event_count; k++) {
        const struct kymo_event_class *class_ = schema->streams[j]->events[k];
        uint32_t id = kymo_field_id(grouping->trace, class_, grouping->by);
        if (id != KYMO_FIELD_NONE && kymo_field_info(grouping->trace, class_, id, &field) == KYMO_OK &&
            !each(user, &field))
          return;
      }
  }
}

static bool take_float(void *user, const struct kymo_field *field) {
  *(bool *)user = field->type && field->type->kind == KYMO_KIND_FLOAT;
  return !*(bool *)user;
}

bool kymo_grouping_is_float(const struct kymo_grouping *grouping) {
  bool is_float = false;
  each_field(grouping, take_float, &is_float);
  return is_float;
}

static bool is_there(void *user, const struct kymo_field *field) {
  (void)field;
  *(bool *)user = true;
  return false;
}

/* Whether any event class has the field, so that a misspelt one is reported. */
static bool has_field(const struct kymo_grouping *grouping) {
  bool found = false;
  each_field(grouping, is_there, &found);
  return found;
}

struct unit {
  const char *name;
  bool is_known, is_mixed;
};

static bool take_unit(void *user, const struct kymo_field *field) {
  struct unit *unit = user;
  const char *name = field->unit ? field->unit : "";
  unit->is_mixed |= unit->is_known && strcmp(unit->name, name) != 0;
  unit->name = name;
  unit->is_known = true;
  return !unit->is_mixed;
}

const char *kymo_grouping_unit(const struct kymo_grouping *grouping) {
  struct unit unit = {0};
  each_field(grouping, take_unit, &unit);
  return unit.is_known && !unit.is_mixed && *unit.name ? unit.name : NULL;
}

int kymo_grouping_begin(struct kymo_grouping *grouping, const char *by, struct kymo_trace *trace,
                        struct kymo_whos *whos, struct kymo_error *error) {
  *grouping = (struct kymo_grouping){.by = by, .trace = trace, .whos = whos};
  if (by && kymo_symbols_are_there(trace) && !(grouping->symbols = kymo_symbols_new(trace)))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  grouping->fields = calloc(whos->numbers.class_count + 1u, sizeof *grouping->fields);
  grouping->hosts = calloc(kymo_trace_part_count(trace) + 1, sizeof *grouping->hosts);
  grouping->threads = calloc(KYMO_GROUPING_THREADS, sizeof *grouping->threads);
  if (!grouping->fields || !grouping->hosts || !grouping->threads)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const char *host = kymo_host_of(kymo_trace_part(trace, i));
    grouping->hosts[i] = host ? kymo_keyed_text(host, strlen(host)) : 0;
  }
  grouping->kind = !by                        ? KYMO_GROUP_ALL
                   : strcmp(by, "event") == 0 ? KYMO_GROUP_EVENT
                   : strcmp(by, "track") == 0 ? KYMO_GROUP_TRACK
                                              : KYMO_GROUP_FIELD;
  if (grouping->kind == KYMO_GROUP_FIELD && !has_field(grouping))
    return kymo_trace_lacks_memory(trace) ? kymo_fail(error, KYMO_E_MEMORY, "out of memory")
                                          : kymo_fail(error, KYMO_E_USAGE, "no event has a field \"%s\"", by);
  return KYMO_OK;
}

void kymo_grouping_end(struct kymo_grouping *grouping) {
  free(grouping->fields);
  free(grouping->hosts);
  free(grouping->threads);
  kymo_symbols_free(grouping->symbols);
}
