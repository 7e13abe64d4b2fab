/* SPDX-License-Identifier: MIT */
#include "query/columns.h"
#include "base/fail.h"
#include "base/list.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct query_column fixed[QUERY_FIXED] = {
    [QUERY_TS] = {"ts", QUERY_TS, QUERY_INTEGER, false},
    [QUERY_TIME] = {"time", QUERY_TIME, QUERY_TEXT, true},
    [QUERY_CLASS] = {"class", QUERY_CLASS, QUERY_TEXT, true},
    [QUERY_GROUP] = {"group", QUERY_GROUP, QUERY_TEXT, true},
    [QUERY_PROCESS] = {"process", QUERY_PROCESS, QUERY_TEXT, true},
    [QUERY_PID] = {"pid", QUERY_PID, QUERY_INTEGER, true},
    [QUERY_THREAD] = {"thread", QUERY_THREAD, QUERY_TEXT, false},
    [QUERY_TID] = {"tid", QUERY_TID, QUERY_INTEGER, false},
    [QUERY_CPU] = {"cpu", QUERY_CPU, QUERY_INTEGER, false},
    [QUERY_STREAM] = {"stream", QUERY_STREAM, QUERY_UNSIGNED, true},
    [QUERY_TRACE] = {"trace", QUERY_TRACE, QUERY_INTEGER, true},
    [QUERY_PATH] = {"path", QUERY_PATH, QUERY_TEXT, true},
    [QUERY_LEVEL] = {"level", QUERY_LEVEL, QUERY_INTEGER, true},
    [QUERY_MESSAGE] = {"message", QUERY_MESSAGE, QUERY_TEXT, true},
    [QUERY_FIELDS] = {"fields", QUERY_FIELDS, QUERY_JSON, true},
    [QUERY_CONTEXT] = {"context", QUERY_CONTEXT, QUERY_JSON, true},
};

/* Of all events, these are not in SELECT *; of one kind, all that are hidden above. */
static bool is_hidden(enum query_column_kind kind, bool is_of_all) {
  if (is_of_all)
    return kind == QUERY_PATH || kind == QUERY_LEVEL || kind == QUERY_MESSAGE || kind == QUERY_CONTEXT;
  return fixed[kind].is_hidden;
}

/* ---- names ---- */

static struct query_column *find_column(const struct query_columns *columns, const char *name) {
  for (uint32_t i = 0; i < columns->count; i++)
    if (strcasecmp(columns->list[i].name, name) == 0)
      return &columns->list[i];
  return NULL;
}

static bool is_named_exactly(const struct query_column *column, const char *name) {
  return column->kind == QUERY_FIELD && strcmp(column->name, name) == 0;
}

/* The index of the column for a field of a class, made if there is none; UINT32_MAX: there are too many, or
 * no memory. `row` has the columns that the class uses already. */
static uint32_t column_of(struct query_columns *columns, const struct query_place *row, const char *name) {
  struct kymo_strbuf wanted = {0};
  struct query_column *column = find_column(columns, name);
  kymo_strbuf_printf(&wanted, "%s%s", column && column->kind != QUERY_FIELD ? "fields." : "", name);
  uint32_t index = UINT32_MAX, length = (uint32_t)wanted.length;
  for (uint32_t number = 2; !wanted.failed && (column = find_column(columns, wanted.text)); number++) {
    index = (uint32_t)(column - columns->list);
    if (is_named_exactly(column, wanted.text) && !row[index].get)
      break;
    wanted.length = length;
    kymo_strbuf_printf(&wanted, "#%u", (unsigned)number);
  }
  if (!column && !wanted.failed && columns->count < QUERY_COLUMNS_MAX &&
      KYMO_LIST_ROOM(columns->list, columns->capacity, columns->count)) {
    index = columns->count;
    columns->list[index] =
        (struct query_column){.name = kymo_arena_copy(&columns->arena, wanted.text, wanted.length),
                              .kind = QUERY_FIELD,
                              .type = QUERY_ANY};
    columns->count += columns->list[index].name != NULL;
  } else if (!column) {
    index = UINT32_MAX;
  }
  kymo_strbuf_free(&wanted);
  return index;
}

/* ---- fields ---- */

static bool has_labels(const struct kymo_type *type) {
  return type->is_enumeration || type->mapping_count > 0;
}

static enum query_get get_of(const struct kymo_field *field) {
  switch (field->kind) {
  case KYMO_DATA_TEXT: return QUERY_GET_TEXT;
  case KYMO_DATA_BYTES: return QUERY_GET_BYTES;
  case KYMO_DATA_LIST: return QUERY_GET_LIST;
  case KYMO_DATA_GROUP: return QUERY_GET_NOTHING;
  case KYMO_DATA_CHOICE: return QUERY_GET_ANY;
  default: return field->type->kind == KYMO_KIND_FLOAT ? QUERY_GET_FLOAT : QUERY_GET_INTEGER;
  }
}

static enum query_type type_of(enum query_get get, const struct kymo_type *type) {
  switch (get) {
  case QUERY_GET_INTEGER:
    return !type->is_signed && (type->kind == KYMO_KIND_VARINT || type->size_bits > 63) ? QUERY_UNSIGNED
                                                                                        : QUERY_INTEGER;
  case QUERY_GET_FLOAT: return QUERY_REAL;
  case QUERY_GET_TEXT:
  case QUERY_GET_LABEL: return QUERY_TEXT;
  case QUERY_GET_BYTES: return QUERY_BLOB;
  case QUERY_GET_LIST: return QUERY_JSON;
  default: return QUERY_ANY;
  }
}

/* The type of a column for values of both types. */
static enum query_type join_types(enum query_type a, enum query_type b) {
  if (a == b)
    return a;
  return a <= QUERY_UNSIGNED && b <= QUERY_UNSIGNED ? QUERY_UNSIGNED : QUERY_ANY;
}

struct adding {
  struct query_columns *columns;
  struct query_place *row; /* of the class: QUERY_COLUMNS_MAX places */
  bool *is_typed;          /* by column: some class has set its type */
  struct kymo_strbuf name;
};

static int add_place(struct adding *adding, const char *ending, const struct query_place *place) {
  struct query_columns *columns = adding->columns;
  size_t length = adding->name.length;
  kymo_strbuf_puts(&adding->name, ending);
  uint32_t column = adding->name.failed ? UINT32_MAX : column_of(columns, adding->row, adding->name.text);
  adding->name.length = length;
  if (adding->name.text)
    adding->name.text[length] = 0;
  if (column == UINT32_MAX) {
    columns->left_out++;
    return columns->count < QUERY_COLUMNS_MAX ? KYMO_E_MEMORY : KYMO_OK;
  }
  enum query_type type = type_of(place->get, place->type);
  adding->row[column] = *place;
  columns->list[column].type = adding->is_typed[column] ? join_types(columns->list[column].type, type) : type;
  adding->is_typed[column] = true;
  return KYMO_OK;
}

static int add_field(struct adding *adding, const struct kymo_field *field, uint32_t index) {
  static const char *const prefixes[KYMO_SCOPE_COUNT] = {[KYMO_SCOPE_COMMON_CONTEXT] = "context.",
                                                         [KYMO_SCOPE_SPECIFIC_CONTEXT] = "event_context.",
                                                         [KYMO_SCOPE_PAYLOAD] = ""};
  struct query_place place = {index, get_of(field), field->type};
  if (!prefixes[field->scope] || place.get == QUERY_GET_NOTHING)
    return KYMO_OK;
  adding->name.length = 0;
  kymo_strbuf_printf(&adding->name, "%s%s", prefixes[field->scope], field->path);
  if (place.get != QUERY_GET_INTEGER || !has_labels(field->type))
    return add_place(adding, "", &place);
  struct query_place label = {index, QUERY_GET_LABEL, field->type};
  int status = add_place(adding, "", &label);
  return status == KYMO_OK ? add_place(adding, ".value", &place) : status;
}

static int add_class(struct adding *adding, struct query_reader *reader, uint32_t number) {
  const struct query_fields *fields = query_reader_fields(reader, number);
  const struct kymo_event_class *class_ = kymo_trace_class(reader->trace, number);
  int status = fields ? KYMO_OK : KYMO_E_MEMORY;
  for (uint32_t i = 0; status == KYMO_OK && i < fields->count; i++) {
    struct kymo_field field;
    status = kymo_field_info(reader->trace, class_, fields->ids[i], &field);
    if (status == KYMO_OK)
      status = add_field(adding, &field, i);
  }
  return status;
}

static int add_classes(struct query_columns *columns, struct query_source *source,
                       struct query_reader *reader) {
  struct adding adding = {.columns = columns};
  int status = KYMO_OK;
  adding.is_typed = calloc(QUERY_COLUMNS_MAX, sizeof *adding.is_typed);
  columns->places = kymo_arena_array(&columns->arena, source->class_count + 1u, sizeof *columns->places);
  if (!adding.is_typed || !columns->places)
    status = KYMO_E_MEMORY;
  for (uint32_t i = 0; status == KYMO_OK && i < source->class_count; i++) {
    if (source->kind_of[i] != columns->kind)
      continue;
    adding.row = columns->places[i] =
        kymo_arena_array(&columns->arena, QUERY_COLUMNS_MAX, sizeof *adding.row);
    status = adding.row ? add_class(&adding, reader, i) : KYMO_E_MEMORY;
  }
  kymo_strbuf_free(&adding.name);
  free(adding.is_typed);
  return status;
}

int query_columns_begin(struct query_columns *columns, struct query_source *source, uint32_t kind,
                        struct kymo_error *error) {
  struct query_reader *reader = NULL;
  *columns = (struct query_columns){.kind = kind};
  int status =
      KYMO_LIST_RESERVE(columns->list, columns->capacity, (size_t)QUERY_FIXED) ? KYMO_OK : KYMO_E_MEMORY;
  for (unsigned i = 0; status == KYMO_OK && i < QUERY_FIXED; i++) {
    columns->list[columns->count] = fixed[i];
    columns->list[columns->count++].is_hidden = is_hidden((enum query_column_kind)i, kind == UINT32_MAX);
  }
  if (status == KYMO_OK && kind != UINT32_MAX) {
    status = query_reader_take(&reader, source, error);
    if (status < 0)
      return status;
    status = add_classes(columns, source, reader);
    query_reader_give_back(reader);
  }
  return status == KYMO_OK ? status : kymo_fail(error, status, "out of memory");
}

void query_columns_end(struct query_columns *columns) {
  free(columns->list);
  kymo_arena_free(&columns->arena);
  *columns = (struct query_columns){0};
}

/* ---- declaration ---- */

void query_add_name(struct kymo_strbuf *out, const char *name) {
  kymo_strbuf_puts(out, "\"");
  for (const char *quote; (quote = strchr(name, '"')); name = quote + 1) {
    kymo_strbuf_add(out, name, (size_t)(quote + 1 - name));
    kymo_strbuf_puts(out, "\"");
  }
  kymo_strbuf_puts(out, name);
  kymo_strbuf_puts(out, "\"");
}

const char *query_type_name(enum query_type type) {
  static const char *const names[] = {[QUERY_INTEGER] = " INTEGER",
                                      [QUERY_UNSIGNED] = "",
                                      [QUERY_REAL] = " REAL",
                                      [QUERY_TEXT] = " TEXT",
                                      [QUERY_BLOB] = " BLOB",
                                      [QUERY_JSON] = " JSON_TEXT",
                                      [QUERY_ANY] = ""};
  return names[type];
}

void query_columns_declare(const struct query_columns *columns, struct kymo_strbuf *out) {
  kymo_strbuf_puts(out, "CREATE TABLE x(");
  for (uint32_t i = 0; i < columns->count; i++) {
    kymo_strbuf_puts(out, i ? ", " : "");
    query_add_name(out, columns->list[i].name);
    kymo_strbuf_puts(out, query_type_name(columns->list[i].type));
    kymo_strbuf_puts(out, columns->list[i].is_hidden ? " HIDDEN" : ""); /* is a part of the type */
    kymo_strbuf_puts(out, columns->list[i].type == QUERY_UNSIGNED ? " COLLATE " QUERY_NUMBER : "");
  }
  kymo_strbuf_puts(out, ")");
}
