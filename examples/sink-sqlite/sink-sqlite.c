/* SPDX-License-Identifier: MIT */
/*
 * sink-sqlite: puts events into an SQLite database.
 *
 *   kymo cat TRACE --sink ./sink-sqlite.so:trace.db
 *
 *   events   number │ ns │ event │ trace │ stream        a row an event, in the order of time
 *   EVENT    number │ FIELD │ FIELD │ …               a table an event class, made when its first event comes
 *   losses   after_number │ what │ count │ …             what is missing, and after which event
 *
 * Rows of an event have one number. README.md lists the SQL types of fields. Prepared statements insert all
 * rows, in transactions of many events; pointers to classes and ids of fields are kept in `kinds`, which
 * grow() forgets.
 */
#include <inttypes.h>
#include <kymo/sink.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_EVENTS 100000 /* in a transaction */
/* So long a transaction waits for those who read the database. */
#define BUSY_MS 60000

/* A column of a class's table. */
struct column {
  uint32_t field;
  bool is_name; /* the name of a token's or the flags' value, else the value */
  struct kymo_field info;
};

/* A table in the database. Classes of several traces share it if it would be the same. */
struct table {
  char *event;      /* name of the class */
  char *definition; /* of its columns, in SQL */
  sqlite3_stmt *insert;
};

/* The state of one kind of events (kymo_event_get_class_number). */
struct kind {
  struct table *table;
  struct column *columns;
  size_t count;
};

struct kymo_sink_state {
  struct kymo_trace *trace;
  char *path;
  sqlite3 *database;
  sqlite3_stmt *insert_event, *insert_loss;
  struct kind *kinds;
  uint32_t kind_count;
  struct table **tables;
  size_t table_count;
  int64_t number; /* of the last event */
  char *text;     /* space for values as text */
  size_t text_size;
  bool has_failed; /* the transaction is not to be kept */
};

/* ---- errors ---- */

static int fail(struct kymo_sink_state *state, int code, const char *message, struct kymo_error *error) {
  state->has_failed = true;
  error->code = code;
  snprintf(error->file, sizeof error->file, "%s", state->path ? state->path : "");
  snprintf(error->message, sizeof error->message, "%s", message);
  return code;
}

static int fail_database(struct kymo_sink_state *state, struct kymo_error *error) {
  return fail(state, KYMO_E_SYSTEM, state->database ? sqlite3_errmsg(state->database) : "out of memory",
              error);
}

static int fail_memory(struct kymo_sink_state *state, struct kymo_error *error) {
  return fail(state, KYMO_E_MEMORY, "out of memory", error);
}

static int run(struct kymo_sink_state *state, const char *sql, struct kymo_error *error) {
  return sqlite3_exec(state->database, sql, NULL, NULL, NULL) == SQLITE_OK ? KYMO_OK
                                                                           : fail_database(state, error);
}

static int prepare(struct kymo_sink_state *state, sqlite3_stmt **statement, const char *sql,
                   struct kymo_error *error) {
  int status = sqlite3_prepare_v3(state->database, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
  return status == SQLITE_OK ? KYMO_OK : fail_database(state, error);
}

/* Inserts the row that is bound. */
static int insert(struct kymo_sink_state *state, sqlite3_stmt *statement, struct kymo_error *error) {
  int status = sqlite3_step(statement);
  sqlite3_reset(statement);
  return status == SQLITE_DONE ? KYMO_OK : fail_database(state, error);
}

/* ---- columns ---- */

/* The path of a field, as in the columns of `kymo cat --format csv`. */
static const char *prefix(enum kymo_scope scope) {
  return scope == KYMO_SCOPE_COMMON_CONTEXT     ? "context."
         : scope == KYMO_SCOPE_SPECIFIC_CONTEXT ? "event_context."
                                                : "";
}

static bool is_wanted(const struct kymo_field *info) {
  if (info->kind == KYMO_DATA_GROUP || info->kind == KYMO_DATA_CHOICE) /* their members have columns */
    return false;
  return info->scope != KYMO_SCOPE_PACKET_CONTEXT || strcmp(info->path, "cpu_id") == 0;
}

/* Values of 64 bits without sign need a column that leaves texts alone: one without a type. */
static const char *type_of(const struct column *column) {
  const struct kymo_type *type = column->info.type;
  if (column->is_name)
    return " TEXT";
  switch (column->info.kind) {
  case KYMO_DATA_TIME: return " INTEGER";
  case KYMO_DATA_TEXT:
  case KYMO_DATA_LIST: return " TEXT";
  case KYMO_DATA_BYTES: return " BLOB";
  default:
    if (type->kind == KYMO_KIND_FLOAT)
      return " REAL";
    return !type->is_signed && (type->size_bits > 63 || type->kind == KYMO_KIND_VARINT) ? "" : " INTEGER";
  }
}

static bool is_taken(const char *const *names, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (sqlite3_stricmp(names[i], name) == 0)
      return true;
  return false;
}

/* A name that no column has yet: NAME, or NAME_2 … To be freed; NULL: out of memory. */
static char *free_name(const char *const *names, size_t count, const struct column *column) {
  const char *in_front = prefix(column->info.scope), *behind = column->is_name ? "_name" : "";
  char *name = sqlite3_mprintf("%s%s%s", in_front, column->info.path, behind);
  for (unsigned i = 2; name && is_taken(names, count, name); i++) {
    sqlite3_free(name);
    name = sqlite3_mprintf("%s%s%s_%u", in_front, column->info.path, behind, i);
  }
  return name;
}

/* The definition of all columns, to be freed by sqlite3_free; NULL: out of memory. */
static char *define(const struct kind *kind) {
  const char **names = calloc(kind->count + 1, sizeof *names);
  sqlite3_str *text = sqlite3_str_new(NULL);
  bool has_all = names != NULL;
  if (names)
    names[0] = "number";
  sqlite3_str_appendall(text, "number INTEGER PRIMARY KEY");
  for (size_t i = 0; i < kind->count && has_all; i++) {
    char *name = free_name(names, i + 1, &kind->columns[i]);
    has_all = name != NULL;
    names[i + 1] = name;
    sqlite3_str_appendf(text, ", \"%w\"%s", name, type_of(&kind->columns[i]));
  }
  for (size_t i = 1; names && i <= kind->count; i++)
    sqlite3_free((char *)names[i]);
  free(names);
  char *definition = sqlite3_str_finish(text);
  if (has_all)
    return definition;
  sqlite3_free(definition);
  return NULL;
}

/* ---- tables ---- */

static bool table_exists(struct kymo_sink_state *state, const char *name) {
  return sqlite3_table_column_metadata(state->database, "main", name, NULL, NULL, NULL, NULL, NULL, NULL) ==
         SQLITE_OK;
}

/* The name of the event class; if that is taken or not allowed, with a number after it. The caller frees it;
 * NULL: out of memory. */
static char *table_name(struct kymo_sink_state *state, const char *event) {
  const char *in_front = sqlite3_strnicmp(event, "sqlite_", 7) == 0 || !*event ? "_" : "";
  char *name = sqlite3_mprintf("%s%s", in_front, event);
  for (unsigned i = 2; name && table_exists(state, name); i++) {
    sqlite3_free(name);
    name = sqlite3_mprintf("%s%s#%u", in_front, event, i);
  }
  return name;
}

/* "CREATE TABLE …" and "INSERT INTO …" */
static int create(struct kymo_sink_state *state, struct table *table, size_t columns,
                  struct kymo_error *error) {
  char *name = table_name(state, table->event);
  char *sql = name ? sqlite3_mprintf("CREATE TABLE \"%w\"(%s)", name, table->definition) : NULL;
  int status = sql ? run(state, sql, error) : fail_memory(state, error);
  sqlite3_free(sql);
  if (status == KYMO_OK) {
    sqlite3_str *text = sqlite3_str_new(state->database);
    sqlite3_str_appendf(text, "INSERT INTO \"%w\" VALUES(?", name);
    for (size_t i = 0; i < columns; i++)
      sqlite3_str_appendall(text, ",?");
    sqlite3_str_appendall(text, ")");
    sql = sqlite3_str_finish(text);
    status = sql ? prepare(state, &table->insert, sql, error) : fail_memory(state, error);
    sqlite3_free(sql);
  }
  sqlite3_free(name);
  return status;
}

/* The table of this event and definition, which becomes the table's. */
static int find_table(struct kymo_sink_state *state, struct kind *kind, const char *event, char *definition,
                      struct kymo_error *error) {
  for (size_t i = 0; i < state->table_count && !kind->table; i++)
    if (strcmp(state->tables[i]->event, event) == 0 && strcmp(state->tables[i]->definition, definition) == 0)
      kind->table = state->tables[i];
  if (kind->table) {
    sqlite3_free(definition);
    return KYMO_OK;
  }
  struct table **tables = realloc(state->tables, (state->table_count + 1) * sizeof(struct table *));
  struct table *table = tables ? calloc(1, sizeof *table) : NULL;
  state->tables = tables ? tables : state->tables;
  if (!table) {
    sqlite3_free(definition);
    return fail_memory(state, error);
  }
  state->tables[state->table_count++] = kind->table = table;
  table->definition = definition;
  table->event = sqlite3_mprintf("%s", event);
  return table->event ? create(state, table, kind->count, error) : fail_memory(state, error);
}

static int add_columns(struct kymo_sink_state *state, struct kind *kind,
                       const struct kymo_event_class *class_, struct kymo_error *error) {
  const uint32_t *fields;
  size_t count;
  int status = kymo_field_list(state->trace, class_, &fields, &count);
  kind->columns = status == KYMO_OK ? calloc(2 * count + 1, sizeof *kind->columns) : NULL;
  if (!kind->columns)
    return fail_memory(state, error);
  for (size_t i = 0; i < count; i++) {
    struct column column = {.field = fields[i]};
    if (kymo_field_info(state->trace, class_, fields[i], &column.info) != KYMO_OK || !is_wanted(&column.info))
      continue;
    kind->columns[kind->count++] = column;
    column.is_name = true;
    if (column.info.kind == KYMO_DATA_TOKEN || column.info.kind == KYMO_DATA_FLAGS)
      kind->columns[kind->count++] = column;
  }
  return KYMO_OK;
}

/* What to do with events of this kind, made when the first one comes. */
static int get_kind(struct kymo_sink_state *state, const struct kymo_event *event, struct kind **out,
                    struct kymo_error *error) {
  uint32_t index = kymo_event_get_class_number(event);
  if (index >= state->kind_count) {
    uint32_t count = index + 1;
    struct kind *kinds = realloc(state->kinds, count * sizeof *kinds);
    if (!kinds)
      return fail_memory(state, error);
    memset(kinds + state->kind_count, 0, (count - state->kind_count) * sizeof *kinds);
    state->kinds = kinds;
    state->kind_count = count;
  }
  struct kind *kind = *out = &state->kinds[index];
  if (kind->table)
    return KYMO_OK;
  int status = add_columns(state, kind, event->class_, error);
  char *definition = status == KYMO_OK ? define(kind) : NULL;
  if (!definition)
    return status == KYMO_OK ? fail_memory(state, error) : status;
  return find_table(state, kind, event->class_->name ? event->class_->name : "", definition, error);
}

static void forget_kinds(struct kymo_sink_state *state) {
  for (uint32_t i = 0; i < state->kind_count; i++)
    free(state->kinds[i].columns);
  free(state->kinds);
  state->kinds = NULL;
  state->kind_count = 0;
}

/* ---- values ---- */

/* Whether SQLite can take the bytes for text; others are inserted as blobs. */
static bool is_utf8(const uint8_t *at, uint64_t count) {
  const uint8_t *end = at + count;
  while (at < end) {
    unsigned more = *at < 0x80                  ? 0
                    : *at >= 0xc2 && *at < 0xe0 ? 1
                    : (*at & 0xf0) == 0xe0      ? 2
                    : *at >= 0xf0 && *at < 0xf5 ? 3
                                                : 4;
    if (more > 3 || (uint64_t)(end - at) <= more)
      return false;
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) || (*at == 0xf0 && at[1] < 0x90) ||
        (*at == 0xf4 && at[1] > 0x8f))
      return false;
    for (at++; more > 0; more--)
      if ((*at++ & 0xc0) != 0x80)
        return false;
  }
  return true;
}

/* Any value as kymo prints it. SQLITE_NOMEM. */
static int bind_formatted(struct kymo_sink_state *state, sqlite3_stmt *into, int at,
                          const struct kymo_event *event, uint32_t field) {
  size_t length = 0;
  int status = kymo_event_format_field(event, field, state->text, state->text_size, &length);
  if (status == KYMO_E_RANGE) {
    char *text = realloc(state->text, length + 1);
    if (!text)
      return SQLITE_NOMEM;
    state->text = text;
    state->text_size = length + 1;
    status = kymo_event_format_field(event, field, text, length + 1, &length);
  }
  return status == KYMO_OK ? sqlite3_bind_text64(into, at, state->text, length, SQLITE_TRANSIENT, SQLITE_UTF8)
                           : SQLITE_OK;
}

/* For a number beyond SQLite's INTEGER, its digits: a text, which compares as greater than all numbers. */
static int bind_integer(sqlite3_stmt *into, int at, const struct kymo_value *value) {
  char digits[24];
  if (value->type->is_signed || value->u <= INT64_MAX)
    return sqlite3_bind_int64(into, at, value->i);
  snprintf(digits, sizeof digits, "%" PRIu64, value->u);
  return sqlite3_bind_text(into, at, digits, -1, SQLITE_TRANSIENT);
}

static int bind_text(struct kymo_sink_state *state, sqlite3_stmt *into, int at,
                     const struct kymo_event *event, const struct column *column,
                     const struct kymo_value *value) {
  const void *bytes = value->bytes ? (const void *)value->bytes : "";
  if (value->type->encoding > KYMO_ENCODING_UTF8)
    return bind_formatted(state, into, at, event, column->field);
  if (!is_utf8(bytes, value->count))
    return sqlite3_bind_blob64(into, at, bytes, value->count, SQLITE_STATIC);
  return sqlite3_bind_text64(into, at, bytes, value->count, SQLITE_STATIC, SQLITE_UTF8);
}

/* The name of a token, or of flags with bars between them; NULL in the table for values without one. */
static int bind_name(sqlite3_stmt *into, int at, const struct kymo_event *event, const struct column *column,
                     const struct kymo_value *value) {
  const char *name = NULL;
  if (column->info.kind == KYMO_DATA_TOKEN) {
    kymo_event_get_token(event, column->field, NULL, &name);
    return name ? sqlite3_bind_text(into, at, name, -1, SQLITE_TRANSIENT) : SQLITE_OK;
  }
  sqlite3_str *names = sqlite3_str_new(NULL);
  for (uint32_t i = 0; (name = kymo_type_flag_text(value->type, value->u, i)); i++)
    sqlite3_str_appendf(names, "%s%s", i > 0 ? "|" : "", name);
  char *text = sqlite3_str_finish(names);
  return text ? sqlite3_bind_text(into, at, text, -1, sqlite3_free) : SQLITE_OK;
}

/* What the event does not have stays NULL. */
static int bind(struct kymo_sink_state *state, sqlite3_stmt *into, int at, const struct kymo_event *event,
                const struct column *column) {
  struct kymo_value value;
  enum kymo_token token;
  int64_t ns;
  if (kymo_event_get_value(event, column->field, &value, &token) != KYMO_OK)
    return SQLITE_OK;
  if (column->is_name)
    return bind_name(into, at, event, column, &value);
  if (column->info.kind == KYMO_DATA_TIME && kymo_event_get_time(event, column->field, &ns) == KYMO_OK)
    return sqlite3_bind_int64(into, at, ns);
  switch (token) {
  case KYMO_TOKEN_INTEGER: return bind_integer(into, at, &value);
  case KYMO_TOKEN_FLOAT: return sqlite3_bind_double(into, at, value.f);
  case KYMO_TOKEN_TEXT: return bind_text(state, into, at, event, column, &value);
  case KYMO_TOKEN_BLOB:
    return sqlite3_bind_blob64(into, at, value.bytes ? (const void *)value.bytes : "", value.count,
                               SQLITE_STATIC);
  default: return bind_formatted(state, into, at, event, column->field);
  }
}

/* ---- the sink ---- */

/* Makes what was inserted so far visible to others. */
static int commit(struct kymo_sink_state *state, struct kymo_error *error) {
  return run(state, "COMMIT; BEGIN", error);
}

static int insert_event(struct kymo_sink_state *state, const struct kymo_event *event,
                        struct kymo_error *error) {
  sqlite3_stmt *into = state->insert_event;
  uint64_t stream;
  sqlite3_clear_bindings(into);
  sqlite3_bind_int64(into, 1, state->number);
  if (event->has_time)
    sqlite3_bind_int64(into, 2, event->time_ns);
  sqlite3_bind_text(into, 3, event->class_->name ? event->class_->name : "", -1, SQLITE_STATIC);
  sqlite3_bind_int64(into, 4, event->packet->stream->part->index);
  if (kymo_event_get_uint(event, KYMO_FIELD_STREAM, &stream) == KYMO_OK)
    sqlite3_bind_int64(into, 5, (int64_t)stream);
  return insert(state, into, error);
}

static int sqlite_event(struct kymo_sink_state *state, const struct kymo_event *event,
                        struct kymo_error *error) {
  struct kind *kind = NULL;
  int status = get_kind(state, event, &kind, error);
  state->number++;
  if (status == KYMO_OK)
    status = insert_event(state, event, error);
  if (status != KYMO_OK)
    return status;
  sqlite3_stmt *into = kind->table->insert;
  sqlite3_clear_bindings(into);
  sqlite3_bind_int64(into, 1, state->number);
  for (size_t i = 0; i < kind->count; i++)
    if (bind(state, into, (int)i + 2, event, &kind->columns[i]) != SQLITE_OK)
      return fail_database(state, error);
  status = insert(state, into, error);
  if (status == KYMO_OK && state->number % BATCH_EVENTS == 0)
    status = commit(state, error);
  return status;
}

static int sqlite_loss(struct kymo_sink_state *state, const struct kymo_loss *loss,
                       struct kymo_error *error) {
  sqlite3_stmt *into = state->insert_loss;
  sqlite3_clear_bindings(into);
  sqlite3_bind_int64(into, 1, state->number);
  sqlite3_bind_text(into, 2, loss->is_packets ? "packets" : "events", -1, SQLITE_STATIC);
  if (loss->count_known)
    sqlite3_bind_int64(into, 3, (int64_t)loss->count);
  if (loss->has_times) {
    sqlite3_bind_int64(into, 4, loss->begin_ns);
    sqlite3_bind_int64(into, 5, loss->end_ns);
  }
  sqlite3_bind_text(into, 6, loss->stream->path, -1, SQLITE_STATIC);
  return insert(state, into, error);
}

static int sqlite_flush(struct kymo_sink_state *state, struct kymo_error *error) {
  return commit(state, error);
}

static int sqlite_grow(struct kymo_sink_state *state, struct kymo_error *error) {
  (void)error;
  forget_kinds(state);
  return KYMO_OK;
}

static int sqlite_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                        const struct kymo_sink_options *options, struct kymo_error *error) {
  struct kymo_sink_state *state = *out = calloc(1, sizeof *state);
  if (!state)
    return KYMO_E_MEMORY;
  if (!options->text)
    return fail(state, KYMO_E_USAGE, "which database? --sink ./sink-sqlite.so:FILE", error);
  state->trace = trace;
  state->path = sqlite3_mprintf("%s", options->text);
  if (!state->path)
    return fail_memory(state, error);
  if (sqlite3_open(state->path, &state->database) != SQLITE_OK)
    return fail_database(state, error);
  sqlite3_busy_timeout(state->database, BUSY_MS);
  int status = run(
      state,
      "BEGIN;"
      "CREATE TABLE events(number INTEGER PRIMARY KEY, ns INTEGER, event TEXT, trace INTEGER, stream "
      "INTEGER);"
      "CREATE TABLE losses(after_number INTEGER, what TEXT, count INTEGER, begin_ns INTEGER, end_ns INTEGER, "
      "stream TEXT)",
      error);
  if (status == KYMO_OK)
    status = prepare(state, &state->insert_event, "INSERT INTO events VALUES(?,?,?,?,?)", error);
  if (status == KYMO_OK)
    status = prepare(state, &state->insert_loss, "INSERT INTO losses VALUES(?,?,?,?,?,?)", error);
  return status;
}

static void free_tables(struct kymo_sink_state *state) {
  for (size_t i = 0; i < state->table_count; i++) {
    sqlite3_finalize(state->tables[i]->insert);
    sqlite3_free(state->tables[i]->event);
    sqlite3_free(state->tables[i]->definition);
    free(state->tables[i]);
  }
  free(state->tables);
}

static int sqlite_end(struct kymo_sink_state *state, struct kymo_error *error) {
  if (!state)
    return KYMO_OK;
  forget_kinds(state);
  free_tables(state);
  sqlite3_finalize(state->insert_event);
  sqlite3_finalize(state->insert_loss);
  int status = KYMO_OK;
  if (!state->has_failed)
    status = run(state, "COMMIT", error);
  sqlite3_close(state->database); /* undoes what is not committed */
  sqlite3_free(state->path);
  free(state->text);
  free(state);
  return status;
}

const struct kymo_sink kymo_sink_plugin = {
    KYMO_SINK_ABI,         .name = "sqlite",      .summary = "a database of SQLite",
    .begin = sqlite_begin, .event = sqlite_event, .loss = sqlite_loss,
    .end = sqlite_end,     .flush = sqlite_flush, .grow = sqlite_grow,
};
