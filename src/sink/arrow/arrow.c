/* SPDX-License-Identifier: MIT */
/*
 * arrow: columns for pyarrow, pandas, polars, DuckDB and others that read Arrow's interprocess format.
 *
 *   DIRECTORY/net:rx.arrow      ts  thread  tid  cpu  port  state  state.value  where{x,y}  lengths[] …
 *   FILE (option events)        ts  class  thread  tid  cpu  trace  message  fields  context      as JSON
 *
 * Rows are kept until there are enough for a batch; then the file of the class is opened, so that the number
 * of classes is not limited by that of open files.
 */
#include "base/dir.h"
#include "base/fail.h"
#include "base/list.h"
#include "decode/decoder.h"
#include "print/json_value.h"
#include "print/options.h"
#include "print/who.h"
#include "sink/arrow/ipc.h"
#include "trace/part.h"
#include <errno.h>
#include <kymo/sink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCH_ROWS = 65536, BATCH_BYTES = 32 << 20, LOOK_ROWS = 64 };

/* Columns of every table. */
enum { COLUMN_TS, COLUMN_THREAD, COLUMN_TID, COLUMN_CPU, COLUMN_TRACE, COLUMN_MESSAGE, FIXED };
/* … and of that of all events. */
enum { COLUMN_CLASS = FIXED, COLUMN_FIELDS, COLUMN_CONTEXT, ALL_EVENTS };

struct table {
  const char *name, *path;
  bool is_made;                          /* the file is there */
  struct kymo_arrow_column columns;      /* a struct of all */
  struct kymo_arrow_column payload;      /* a struct of some of them; it owns none */
  struct kymo_arrow_column *contexts[2]; /* common and own; or NULL */
  struct kymo_arrow_ipc ipc;
};

struct own {
  bool events, stream, lz4, zstd;
};

struct kymo_sink_state {
  struct kymo_trace *trace;
  struct own own;
  const char *path;
  bool is_stdout, has_made_folder, has_failed;
  struct kymo_arena arena;
  struct kymo_whos whos;
  struct kymo_walk *walk;
  struct kymo_strbuf space;
  struct table **tables, **of_class; /* a list; and by class number */
  size_t count, capacity;
};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- files ---- */

static int open_file(struct kymo_sink_state *state, struct table *table, struct kymo_error *error) {
  if (state->is_stdout) {
    table->ipc.file = stdout;
    return KYMO_OK;
  }
  table->ipc.file = fopen(table->path, table->is_made ? "ae" : "wxe");
  if (!table->ipc.file)
    return kymo_fail_errno(error, table->path, "cannot write");
  table->is_made = true;
  return KYMO_OK;
}

static int close_file(struct kymo_sink_state *state, struct table *table, int status,
                      struct kymo_error *error) {
  int end = state->is_stdout ? fflush(table->ipc.file) : fclose(table->ipc.file);
  table->ipc.file = NULL;
  return status == KYMO_OK && end != 0 ? kymo_fail_errno(error, table->path, "cannot write") : status;
}

/* Writes the rows so far. */
static int write_batch(struct kymo_sink_state *state, struct table *table, bool is_last,
                       struct kymo_error *error) {
  bool is_first = table->ipc.offset == 0;
  int status = open_file(state, table, error);
  if (status != KYMO_OK)
    return status;
  if (is_first)
    status = kymo_arrow_ipc_begin(&table->ipc, error);
  if (status == KYMO_OK)
    status = is_last ? kymo_arrow_ipc_end(&table->ipc, error) : kymo_arrow_ipc_batch(&table->ipc, error);
  kymo_arrow_clear(&table->payload);
  return close_file(state, table, status, error);
}

/* A name of a file from that of a class: no other folder, not hidden, no control characters. */
static const char *make_path(struct kymo_sink_state *state, const char *name, unsigned number) {
  struct kymo_strbuf text = {0};
  kymo_strbuf_printf(&text, "%s/", state->path);
  const size_t begin = text.length;
  kymo_strbuf_puts(&text, *name ? name : "_");
  for (size_t i = begin; i < text.length && !text.failed; i++)
    if (text.text[i] == '/' || (unsigned char)text.text[i] < ' ' || (i == begin && text.text[i] == '.'))
      text.text[i] = '_';
  if (text.length > begin + 200) /* file systems have names of 255 bytes */
    text.length = begin + 200;
  if (number > 1)
    kymo_strbuf_printf(&text, "#%u", number);
  kymo_strbuf_puts(&text, state->own.stream ? ".arrows" : ".arrow");
  const char *path = text.failed ? NULL : kymo_arena_copy(&state->arena, text.text, text.length);
  kymo_strbuf_free(&text);
  return path;
}

/* A path that no table has. NULL: out of memory. */
static const char *free_path(struct kymo_sink_state *state, const char *name) {
  const char *path = make_path(state, name, 1);
  for (size_t i = 0, number = 1; path && i < state->count; i++) {
    if (strcasecmp(state->tables[i]->path, path) != 0)
      continue;
    path = make_path(state, name, (unsigned)++number);
    i = (size_t)-1;
  }
  return path;
}

/* ---- tables ---- */

static bool has_epoch(const struct kymo_clock *clock) { return clock && clock->origin_is_epoch; }

static bool have_all_epoch(const struct kymo_trace *trace) {
  bool have = true;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const struct kymo_schema *schema = kymo_trace_part(trace, i)->schema;
    for (uint32_t k = 0; schema && k < schema->stream_count; k++)
      have &= has_epoch(schema->streams[k]->clock);
  }
  return have;
}

/* The first columns; there is space for `more`. */
static bool make_fixed(struct kymo_arrow_making *making, struct kymo_arrow_column *table, bool has_times,
                       uint32_t more) {
  static const char *const names[] = {
      [COLUMN_TS] = "ts",   [COLUMN_THREAD] = "thread", [COLUMN_TID] = "tid",
      [COLUMN_CPU] = "cpu", [COLUMN_TRACE] = "trace",   [COLUMN_MESSAGE] = "message"};
  if (!kymo_arrow_make(making, table, "", KYMO_ARROW_STRUCT))
    return false;
  table->columns = kymo_arena_array(making->arena, FIXED + more, sizeof *table->columns);
  for (; table->columns && table->count < FIXED; table->count++) {
    const enum kymo_arrow_kind kind = table->count == COLUMN_THREAD            ? KYMO_ARROW_LABEL
                                      : table->count == COLUMN_MESSAGE         ? KYMO_ARROW_TEXT
                                      : table->count == COLUMN_TS && has_times ? KYMO_ARROW_TIME
                                                                               : KYMO_ARROW_INT;
    if (!kymo_arrow_make(making, &table->columns[table->count], names[table->count], kind))
      return false;
  }
  return table->columns != NULL;
}

/* A field that is called like one of the first columns. */
static bool rename_field(struct kymo_arena *arena, const struct kymo_arrow_column *table,
                         struct kymo_arrow_column *field) {
  struct kymo_strbuf text = {0};
  bool is_taken = strcmp(field->name, "context") == 0 || strcmp(field->name, "event_context") == 0;
  for (uint32_t i = 0; i < FIXED; i++)
    is_taken |= strcmp(table->columns[i].name, field->name) == 0;
  if (!is_taken)
    return true;
  kymo_strbuf_printf(&text, "fields.%s", field->name);
  field->name = text.failed ? NULL : kymo_arena_copy(arena, text.text, text.length);
  kymo_strbuf_free(&text);
  return field->name != NULL;
}

static bool make_columns(struct kymo_sink_state *state, struct table *table,
                         const struct kymo_event_class *class_) {
  struct kymo_arrow_making making = {.arena = &state->arena};
  struct kymo_arrow_column *all = &table->columns;
  const struct kymo_type *contexts[2] = {class_->stream->common_context, class_->specific_context};
  static const char *const names[2] = {"context", "event_context"};
  const uint32_t fields = class_->payload ? 2 * class_->payload->member_count : 0;
  if (!make_fixed(&making, all, has_epoch(class_->stream->clock), fields + 2))
    return false;
  if (class_->payload && !kymo_arrow_make_struct(&making, &table->payload, "", class_->payload))
    return false;
  for (uint32_t i = 0; i < table->payload.count; i++) {
    all->columns[all->count] = table->payload.columns[i];
    if (!rename_field(&state->arena, all, &all->columns[all->count++]))
      return false;
  }
  table->payload.columns = &all->columns[FIXED];
  for (unsigned i = 0; i < 2; i++) {
    if (!contexts[i])
      continue;
    table->contexts[i] = &all->columns[all->count];
    if (!kymo_arrow_make_struct(&making, &all->columns[all->count++], names[i], contexts[i]))
      return false;
  }
  return true;
}

static void free_table(struct table *table) {
  kymo_arrow_free(&table->columns);
  kymo_strbuf_free(&table->payload.validity);
  kymo_arrow_ipc_free(&table->ipc);
  free(table);
}

/* Lists a table that is complete, which it takes. */
static int add_table(struct kymo_sink_state *state, struct table *table, struct kymo_error *error) {
  table->path = state->own.events ? state->path : free_path(state, table->name);
  if (!table->path || !KYMO_LIST_ROOM(state->tables, state->capacity, state->count)) {
    free_table(table);
    return no_memory(error);
  }
  table->ipc.table = &table->columns;
  table->ipc.path = table->path;
  table->ipc.is_stream = state->own.stream;
  table->ipc.codec = state->own.zstd ? KYMO_ARROW_ZSTD : state->own.lz4 ? KYMO_ARROW_LZ4 : KYMO_ARROW_RAW;
  state->tables[state->count++] = table;
  return KYMO_OK;
}

/* Also the members of the payload go into the same columns: hidden ones have none. */
static bool is_same_table(const struct table *one, const struct table *other) {
  if (strcmp(one->name, other->name) != 0 || !one->payload.name != !other->payload.name ||
      !kymo_arrow_is_same(&one->columns, &other->columns))
    return false;
  return !one->payload.name || kymo_arrow_is_same(&one->payload, &other->payload);
}

/* Classes of one name whose columns are the same share a table: those of several traces. */
static int make_table(struct kymo_sink_state *state, struct table **out,
                      const struct kymo_event_class *class_, struct kymo_error *error) {
  struct table *table = calloc(1, sizeof *table);
  *out = NULL;
  if (!table)
    return no_memory(error);
  table->name = class_->name ? class_->name : "";
  bool is_made = make_columns(state, table, class_);
  for (size_t i = 0; is_made && i < state->count && !*out; i++)
    if (is_same_table(state->tables[i], table))
      *out = state->tables[i];
  if (*out || !is_made) {
    free_table(table);
    return is_made ? KYMO_OK : no_memory(error);
  }
  int status = add_table(state, table, error);
  if (status == KYMO_OK)
    *out = table;
  return status;
}

static int make_all_events(struct kymo_sink_state *state, struct kymo_error *error) {
  struct kymo_arrow_making making = {.arena = &state->arena};
  struct table *table = calloc(1, sizeof *table);
  if (!table)
    return no_memory(error);
  struct kymo_arrow_column *all = &table->columns;
  bool is_made = make_fixed(&making, all, have_all_epoch(state->trace), ALL_EVENTS - FIXED) &&
                 kymo_arrow_make(&making, &all->columns[all->count++], "class", KYMO_ARROW_LABEL) &&
                 kymo_arrow_make(&making, &all->columns[all->count++], "fields", KYMO_ARROW_TEXT) &&
                 kymo_arrow_make(&making, &all->columns[all->count++], "context", KYMO_ARROW_TEXT);
  if (is_made)
    return add_table(state, table, error);
  free_table(table);
  return no_memory(error);
}

/* ---- rows ---- */

static bool put_text(struct kymo_sink_state *state, struct kymo_arrow_column *column, const char *text,
                     size_t length) {
  return kymo_arrow_put_text(column, &state->space, (const uint8_t *)text, length, KYMO_ENCODING_UTF8);
}

static bool put_number_if(struct kymo_arrow_column *column, bool is_there, uint64_t value) {
  return is_there ? kymo_arrow_put_number(column, value) : kymo_arrow_put_null(column);
}

static bool put_message(struct kymo_sink_state *state, struct kymo_arrow_column *column,
                        const struct kymo_event *event) {
  size_t length = 0;
  int status = kymo_event_format_message(event, NULL, 0, &length);
  if (status != KYMO_OK && status != KYMO_E_RANGE)
    return kymo_arrow_put_null(column);
  char *text = malloc(length + 1);
  bool is_put = text && (kymo_event_format_message(event, text, length + 1, &length) == KYMO_OK
                             ? put_text(state, column, text, length)
                             : kymo_arrow_put_null(column));
  free(text);
  return is_put;
}

static bool put_fixed(struct kymo_sink_state *state, struct table *table, const struct kymo_event *event) {
  struct kymo_arrow_column *columns = table->columns.columns;
  const struct kymo_who *who = kymo_who_of(&state->whos, event);
  return who && put_number_if(&columns[COLUMN_TS], event->has_time, (uint64_t)event->time_ns) &&
         (who->name_length ? put_text(state, &columns[COLUMN_THREAD], who->name, who->name_length)
                           : kymo_arrow_put_null(&columns[COLUMN_THREAD])) &&
         put_number_if(&columns[COLUMN_TID], who->has_tid, (uint64_t)who->tid) &&
         put_number_if(&columns[COLUMN_CPU], who->has_cpu, who->cpu) &&
         kymo_arrow_put_number(&columns[COLUMN_TRACE], event->packet->stream->part->index) &&
         put_message(state, &columns[COLUMN_MESSAGE], event);
}

static bool put_contexts(struct kymo_sink_state *state, struct table *table, const struct kymo_event *event) {
  static const enum kymo_scope scopes[2] = {KYMO_SCOPE_COMMON_CONTEXT, KYMO_SCOPE_SPECIFIC_CONTEXT};
  const struct kymo_type *types[2] = {event->class_->stream->common_context, event->class_->specific_context};
  bool is_put = true;
  for (unsigned i = 0; i < 2 && is_put; i++)
    if (table->contexts[i])
      is_put = kymo_walk_begin(state->walk, event, scopes[i])
                   ? kymo_arrow_put_members(table->contexts[i], &state->space, state->walk, types[i])
                   : kymo_arrow_put_null(table->contexts[i]);
  return is_put;
}

static bool put_payload(struct kymo_sink_state *state, struct table *table, const struct kymo_event *event) {
  if (!event->class_->payload)
    return true;
  return kymo_walk_begin(state->walk, event, KYMO_SCOPE_PAYLOAD)
             ? kymo_arrow_put_members(&table->payload, &state->space, state->walk, event->class_->payload)
             : kymo_arrow_put_null(&table->payload);
}

static bool put_json(struct kymo_sink_state *state, struct kymo_arrow_column *column,
                     const struct kymo_event *event, enum kymo_scope scope) {
  static const struct kymo_type group = {.kind = KYMO_KIND_STRUCT};
  state->space.length = 0;
  kymo_strbuf_puts(&state->space, "{");
  if (kymo_walk_begin(state->walk, event, scope))
    kymo_json_add_rest(&state->space, state->walk, &group);
  kymo_strbuf_puts(&state->space, "}");
  return !state->space.failed && kymo_arrow_put_bytes(column, state->space.text, state->space.length);
}

static bool put_rest(struct kymo_sink_state *state, struct table *table, const struct kymo_event *event) {
  struct kymo_arrow_column *columns = table->columns.columns;
  const char *name = event->class_->name ? event->class_->name : "";
  if (!state->own.events)
    return put_payload(state, table, event) && put_contexts(state, table, event);
  return put_text(state, &columns[COLUMN_CLASS], name, strlen(name)) &&
         put_json(state, &columns[COLUMN_FIELDS], event, KYMO_SCOPE_PAYLOAD) &&
         put_json(state, &columns[COLUMN_CONTEXT], event, KYMO_SCOPE_COMMON_CONTEXT);
}

static bool is_full(const struct table *table) {
  const uint64_t rows = table->columns.length;
  return rows >= BATCH_ROWS || (rows % LOOK_ROWS == 0 && kymo_arrow_size(&table->columns) >= BATCH_BYTES);
}

static int put_event(struct kymo_sink_state *state, const struct kymo_event *event,
                     struct kymo_error *error) {
  struct table **own = &state->of_class[state->own.events ? 0 : kymo_kind_of(event)];
  int status = *own ? KYMO_OK : make_table(state, own, event->class_, error);
  if (status != KYMO_OK)
    return status;
  if (!put_fixed(state, *own, event) || !put_rest(state, *own, event) ||
      !kymo_arrow_put_number(&(*own)->columns, 0))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory, or %d events have more than 2 GiB", LOOK_ROWS);
  return is_full(*own) ? write_batch(state, *own, false, error) : KYMO_OK;
}

static int arrow_event(struct kymo_sink_state *state, const struct kymo_event *event,
                       struct kymo_error *error) {
  int status = put_event(state, event, error);
  state->has_failed |= status != KYMO_OK;
  return status;
}

/* ---- begin and end ---- */

static int make_folder(struct kymo_sink_state *state, struct kymo_error *error) {
  if (mkdir(state->path, 0777) == 0) {
    state->has_made_folder = true;
    return KYMO_OK;
  }
  DIR *folder = errno == EEXIST ? opendir(state->path) : NULL;
  bool is_empty = true, is_cut = false;
  for (struct dirent *entry; folder && (entry = kymo_dir_next(folder, &is_cut));)
    is_empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
  if (!folder || is_cut)
    return kymo_fail_errno(error, state->path, "cannot write");
  closedir(folder);
  return is_empty ? KYMO_OK
                  : kymo_fail_at(error, KYMO_E_SYSTEM, state->path, KYMO_ERROR_NO_OFFSET,
                                 "cannot write: the directory is not empty");
}

static int read_options(struct kymo_sink_state *state, const struct kymo_sink_options *options,
                        struct kymo_error *error) {
  static const struct kymo_option_kind kinds[] = {{"events", offsetof(struct own, events), NULL},
                                                  {"stream", offsetof(struct own, stream), NULL},
                                                  {"lz4", offsetof(struct own, lz4), NULL},
                                                  {"zstd", offsetof(struct own, zstd), NULL},
                                                  {0}};
  int status = kymo_sink_options_read("arrow", options->text, kinds, &state->own, error);
  state->path = options->path;
  state->is_stdout = strcmp(options->path, "-") == 0;
  if (status == KYMO_OK && state->own.lz4 && state->own.zstd)
    return kymo_fail(error, KYMO_E_USAGE, "arrow: lz4 and zstd both compress; use one");
  if (status == KYMO_OK && (state->own.lz4 || state->own.zstd) && !kymo_arrow_can_compress())
    return kymo_fail(error, KYMO_E_UNKNOWN, "arrow: this kymo was built without LZ4 and Zstandard");
  if (status == KYMO_OK && state->is_stdout && !state->own.events)
    return kymo_fail(error, KYMO_E_USAGE,
                     "arrow: one file for each event class needs a directory; arrow:events is one table");
  return status;
}

static int arrow_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                       const struct kymo_sink_options *options, struct kymo_error *error) {
  struct kymo_sink_state *state = *out = calloc(1, sizeof *state);
  if (!state)
    return no_memory(error);
  state->trace = trace;
  state->has_failed = true;
  int status = read_options(state, options, error);
  if (status == KYMO_OK)
    status = kymo_whos_begin(&state->whos, trace, error);
  if (status != KYMO_OK)
    return status;
  state->walk = kymo_walk_new();
  state->of_class = calloc(kymo_trace_class_count(trace) + 1u, sizeof *state->of_class);
  if (!state->walk || !state->of_class)
    return no_memory(error);
  status = state->own.events ? make_all_events(state, error) : make_folder(state, error);
  if (status == KYMO_OK && state->own.events)
    state->of_class[0] = state->tables[0];
  if (status == KYMO_OK && state->own.events) { /* a file that is there is refused before anything is read */
    status = open_file(state, state->tables[0], error);
    if (status == KYMO_OK)
      status = close_file(state, state->tables[0], status, error);
  }
  state->has_failed = status != KYMO_OK;
  return status;
}

static void remove_files(const struct kymo_sink_state *state) {
  for (size_t i = 0; i < state->count; i++)
    if (state->tables[i]->is_made)
      unlink(state->tables[i]->path);
  if (state->has_made_folder)
    rmdir(state->path);
}

static int arrow_end(struct kymo_sink_state *state, struct kymo_error *error) {
  int status = KYMO_OK;
  if (!state)
    return KYMO_OK;
  for (size_t i = 0; i < state->count && status == KYMO_OK && !state->has_failed; i++)
    status = write_batch(state, state->tables[i], true, error);
  if (status != KYMO_OK || state->has_failed)
    remove_files(state);
  for (size_t i = 0; i < state->count; i++)
    free_table(state->tables[i]);
  free(state->tables);
  free(state->of_class);
  kymo_walk_free(state->walk);
  kymo_whos_end(&state->whos);
  kymo_strbuf_free(&state->space);
  kymo_arena_free(&state->arena);
  free(state);
  return status;
}

const struct kymo_sink kymo_sink_arrow = {
    KYMO_SINK_ABI,
    .name = "arrow",
    .summary = "Arrow files: columns for pyarrow, pandas, polars, DuckDB",
    .makes_files = true,
    .begin = arrow_begin,
    .event = arrow_event,
    .end = arrow_end,
};
