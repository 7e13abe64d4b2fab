/* SPDX-License-Identifier: MIT */
/* Tables: events as rows of columns. */
#include "arrow.h"
#include <stdio.h>
#include <string.h>

/* A batch ends after this number of rows, or when a buffer has this number of bytes. */
#define BATCH_ROWS 65536
#define BATCH_BYTES (64u << 20)

/* Columns of all tables, and those of the table of all events. */
enum place {
  PLACE_TS,
  PLACE_CLASS,
  PLACE_GROUP,
  PLACE_PROCESS,
  PLACE_PID,
  PLACE_THREAD,
  PLACE_TID,
  PLACE_CPU,
  PLACE_STREAM,
  PLACE_TRACE,
  PLACE_COUNT
};

struct place_info {
  const char *name, *format;
  enum column_kind kind;
  unsigned width;
  bool is_of_class; /* also in the tables of classes */
};

static const struct place_info places[PLACE_COUNT] = {
    [PLACE_TS] = {"ts", "l", COLUMN_INTEGER, 8, true},
    [PLACE_CLASS] = {"class", "u", COLUMN_TEXT, 0, false},
    [PLACE_GROUP] = {"group", "u", COLUMN_TEXT, 0, false},
    [PLACE_PROCESS] = {"process", "u", COLUMN_TEXT, 0, false},
    [PLACE_PID] = {"pid", "l", COLUMN_INTEGER, 8, false},
    [PLACE_THREAD] = {"thread", "u", COLUMN_TEXT, 0, true},
    [PLACE_TID] = {"tid", "l", COLUMN_INTEGER, 8, true},
    [PLACE_CPU] = {"cpu", "L", COLUMN_INTEGER, 8, true},
    [PLACE_STREAM] = {"stream", "L", COLUMN_INTEGER, 8, false},
    [PLACE_TRACE] = {"trace", "I", COLUMN_INTEGER, 4, false},
};

/* The slots of the row for the members of one version of the class. */
struct version {
  size_t *slots; /* SIZE_MAX: the member is hidden */
  size_t count;
};

struct table {
  struct reader *reader;
  char *class_name; /* NULL: all events */
  struct kymo_walk *walk;
  struct column *row; /* a struct */
  struct slot places[PLACE_COUNT];
  struct map versions; /* struct version by event class */
  bool is_ended;
};

static int fail(struct kymo_error *error, int code, const char *message) {
  *error = (struct kymo_error){.code = code, .offset = KYMO_ERROR_NO_OFFSET};
  snprintf(error->message, sizeof error->message, "%s", message);
  return code;
}

static int fail_memory(struct kymo_error *error) { return fail(error, KYMO_E_MEMORY, "out of memory"); }

struct column *table_columns(struct table *table) {
  return table->row;
}
struct reader *table_reader(struct table *table) {
  return table->reader;
}

/* ---- making ---- */

/* Whether all clocks count from 1970. */
static bool has_epoch(const struct kymo_trace *trace) {
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const struct kymo_schema *schema = kymo_trace_part(trace, i)->schema;
    for (uint32_t j = 0; j < schema->stream_count; j++)
      if (!schema->streams[j]->clock || !schema->streams[j]->clock->origin_is_epoch)
        return false;
  }
  return true;
}

static bool add_places(struct table *table) {
  for (int i = 0; i < PLACE_COUNT; i++) {
    const struct place_info *info = &places[i];
    bool is_time = i == PLACE_TS && has_epoch(table->reader->trace);
    if (table->class_name && !info->is_of_class)
      continue;
    struct column *column =
        column_new(info->kind, info->name, is_time ? "tsn:UTC" : info->format, info->width);
    if (!column || !column_add_slot(table->row, column, NULL))
      return false;
    table->places[i].column = column;
  }
  return true;
}

/* A column of every table is called so. */
static bool is_taken(const char *name) {
  for (int i = 0; i < PLACE_COUNT; i++)
    if (strcmp(places[i].name, name) == 0)
      return true;
  return false;
}

/* The name of a field's column: `fields.ts` if a column of every event is called so; "#2" in its second
 * version. */
static char *column_name(const char *key, unsigned number) {
  size_t length = strlen(key) + 24;
  char *name = malloc(length);
  const char *prefix = is_taken(key) ? "fields." : "";
  if (name && number == 1)
    snprintf(name, length, "%s%s", prefix, key);
  else if (name)
    snprintf(name, length, "%s%s#%u", prefix, key, number);
  return name;
}

/* The slot of the row with this name; SIZE_MAX: there is none. */
static size_t find_slot(const struct column *row, const char *name) {
  for (size_t i = 0; i < row->slot_count; i++)
    if (strcmp(row->slots[i].column->name, name) == 0)
      return i;
  return SIZE_MAX;
}

static bool are_same(const struct slot *a, const struct slot *b) {
  return column_is_same(a->column, b->column) && column_is_same(a->number, b->number);
}

/* The slot of a member: one that another version has, or a new one. False: out of memory. */
static bool place_member(struct table *table, const struct kymo_type *type, const char *key, size_t *index) {
  for (unsigned number = 1;; number++) {
    char *name = column_name(key, number);
    struct slot slot;
    bool ok = name && column_slot_of(&slot, type, name);
    free(name);
    if (!ok)
      return false;
    *index = find_slot(table->row, slot.column->name);
    if (*index == SIZE_MAX) {
      *index = table->row->slot_count;
      return column_add_slot(table->row, slot.column, slot.number);
    }
    bool is_same = are_same(&table->row->slots[*index], &slot);
    column_free(slot.column);
    column_free(slot.number);
    if (is_same)
      return true;
  }
}

static void free_version(void *memory) {
  struct version *version = memory;
  free(version->slots);
  free(version);
}

static bool add_version(struct table *table, const struct kymo_event_class *class_) {
  const struct kymo_type *type = class_->payload;
  size_t count = type ? type->member_count : 0;
  struct version *version = calloc(1, sizeof *version);
  bool ok = version && (version->slots = calloc(count + 1, sizeof *version->slots));
  for (size_t i = 0; i < count && ok; i++) {
    version->slots[i] = SIZE_MAX;
    if (reader_is_hidden(type, (uint32_t)i))
      continue;
    char *key = reader_member_key(type, (uint32_t)i);
    ok = key && place_member(table, kymo_member_type(kymo_type_member_at(type, (uint32_t)i)), key,
                             &version->slots[i]);
    free(key);
  }
  if (ok)
    version->count = count;
  if (ok && map_add(&table->versions, class_, version))
    return true;
  if (version)
    free_version(version);
  return false;
}

static bool is_named(const struct table *table, const struct kymo_event_class *class_) {
  return strcmp(class_->name ? class_->name : "", table->class_name) == 0;
}

static int add_versions(struct table *table, struct kymo_error *error) {
  const struct kymo_trace *trace = table->reader->trace;
  for (uint32_t i = 0; i < kymo_trace_class_count(trace); i++) {
    const struct kymo_event_class *class_ = kymo_trace_class(trace, i);
    if (is_named(table, class_) && !add_version(table, class_))
      return fail_memory(error);
  }
  if (table->versions.count > 0)
    return KYMO_OK;
  fail(error, KYMO_E_UNKNOWN, "");
  snprintf(error->message, sizeof error->message, "the trace has no events \"%s\"", table->class_name);
  return error->code;
}

static bool wants_class(void *user, const struct kymo_event_class *class_) { return is_named(user, class_); }

int table_new(struct table **out, struct reader *reader, const char *class_name, struct kymo_error *error) {
  struct table *table = calloc(1, sizeof *table);
  *out = NULL;
  if (!table) {
    reader_close(reader);
    return fail_memory(error);
  }
  table->reader = reader;
  table->class_name = class_name ? strdup(class_name) : NULL;
  table->walk = kymo_walk_new();
  table->row = column_new(COLUMN_STRUCT, "", "+s", 0);
  bool ok = table->walk && table->row && (table->class_name || !class_name) && add_places(table);
  int status = ok ? KYMO_OK : fail_memory(error);
  if (status == KYMO_OK && class_name)
    status = add_versions(table, error);
  if (status < 0) {
    table_free(table);
    return status;
  }
  if (class_name && !reader->has_filter) /* a filter may need the other events */
    kymo_trace_select_classes(reader->trace, wants_class, table);
  *out = table;
  return KYMO_OK;
}

void table_free(struct table *table) {
  if (!table)
    return;
  column_free(table->row);
  kymo_walk_free(table->walk);
  map_free(&table->versions, free_version);
  free(table->class_name);
  reader_close(table->reader);
  free(table);
}

/* ---- rows ---- */

static bool put_integer(struct column *column, bool is_there, uint64_t value) {
  if (!column)
    return true;
  return is_there ? column_add_integer(column, value) : column_add_null(column);
}

static bool put_text(struct column *column, const char *text, uint64_t length) {
  if (!column)
    return true;
  return text ? column_add_text(column, text, length, KYMO_ENCODING_UTF8) : column_add_null(column);
}

static bool put_name(struct column *column, const char *name) {
  return put_text(column, name, name ? strlen(name) : 0);
}

static bool put_places(struct table *table, const struct kymo_event *event) {
  const struct kymo_stream *stream = event->packet->stream;
  const struct slot *at = table->places;
  struct who who;
  return reader_who(table->reader, event, &who) &&
         put_integer(at[PLACE_TS].column, event->has_time, (uint64_t)event->time_ns) &&
         put_name(at[PLACE_CLASS].column, event->class_->name ? event->class_->name : "") &&
         put_name(at[PLACE_GROUP].column, event->class_->group ? event->class_->group : "") &&
         put_name(at[PLACE_PROCESS].column, reader_process(stream)) &&
         put_integer(at[PLACE_PID].column, who.has_pid, (uint64_t)who.pid) &&
         put_text(at[PLACE_THREAD].column, who.thread_length ? who.thread : NULL, who.thread_length) &&
         put_integer(at[PLACE_TID].column, who.has_tid, (uint64_t)who.tid) &&
         put_integer(at[PLACE_CPU].column, who.has_cpu, who.cpu) &&
         put_integer(at[PLACE_STREAM].column, true, reader_stream_id(stream)) &&
         put_integer(at[PLACE_TRACE].column, true, stream->part->index);
}

/* The payload; columns of other versions are null. */
static bool put_fields(struct table *table, const struct kymo_event *event, const struct version *version) {
  const struct column *row = table->row;
  struct kymo_value value;
  bool ok = version->count == 0 || kymo_walk_begin(table->walk, event, KYMO_SCOPE_PAYLOAD);
  for (size_t i = 0; i < version->count && ok; i++) {
    static const struct slot none;
    enum kymo_token token = kymo_walk_next(table->walk, &value);
    size_t slot = version->slots[i];
    ok = slot_add(slot == SIZE_MAX ? &none : &row->slots[slot], table->walk, token, &value);
  }
  for (size_t i = 0; i < row->slot_count && ok; i++)
    if (row->slots[i].column->length == row->length)
      ok = slot_add_null(&row->slots[i]);
  return ok;
}

/* Why a row could not be added. */
static int refuse(struct table *table, const struct kymo_event *event, struct kymo_error *error) {
  struct kymo_value value;
  enum kymo_token token = KYMO_TOKEN_DONE;
  if (kymo_walk_begin(table->walk, event, KYMO_SCOPE_PAYLOAD))
    do
      token = kymo_walk_next(table->walk, &value);
    while (token != KYMO_TOKEN_DONE && token != KYMO_TOKEN_ERROR);
  if (token == KYMO_TOKEN_ERROR)
    return fail(error, KYMO_E_FORMAT, "the bytes of an event do not fit its type");
  return fail(error, KYMO_E_MEMORY, "out of memory");
}

/* Adds the event, if it is one of the table. */
static int add_event(struct table *table, const struct kymo_event *event, struct kymo_error *error) {
  const struct version *version = table->class_name ? map_get(&table->versions, event->class_) : NULL;
  if (table->class_name && !version)
    return KYMO_OK;
  bool ok = put_places(table, event) && (!version || put_fields(table, event, version)) &&
            column_end_row(table->row);
  return ok ? KYMO_OK : refuse(table, event, error);
}

int table_read(struct table *table, bool *is_over, struct kymo_error *error) {
  const struct kymo_event *event;
  int status = KYMO_OK;
  bool is_large = false;
  while (status == KYMO_OK && !table->is_ended && table->row->length < BATCH_ROWS && !is_large) {
    status = reader_next(table->reader, &event, error);
    if (status == KYMO_OK)
      status = add_event(table, event, error);
    is_large = table->row->length % 256 == 255 && column_size(table->row) > BATCH_BYTES;
  }
  table->is_ended |= status == KYMO_END;
  *is_over = table->is_ended && table->row->length == 0;
  return status < 0 ? status : KYMO_OK;
}
