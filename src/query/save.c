/* SPDX-License-Identifier: MIT */
#include "query/save.h"
#include "base/fail.h"
#include "query/database.h"
#include "query/saved_table.h"
#include "trace/part.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Paths of more traces are stored in each row. */
#define COMPUTED_PATHS_MAX 16

struct saved_kind {
  struct query_columns columns;
  struct query_saved_table table;
};

struct saving {
  struct query_source *source;
  const char *path; /* of the file */
  char *part;       /* its name until it is whole */
  bool is_made;     /* it is there */
  sqlite3 *file;
  sqlite3 *tables;                  /* the virtual ones */
  struct saved_kind events, *kinds; /* by kind */
  struct query_saved_table spans, losses;
  struct kymo_arena arena; /* of names and expressions */
  const char *path_expression;
  int status; /* of SQLite */
};

/* ---- errors ---- */

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* What SQLite says about one of the connections. */
static int fail(const struct saving *saving, sqlite3 *db, int status, struct kymo_error *error) {
  int reason = db ? sqlite3_system_errno(db) : 0;
  if (status == SQLITE_NOMEM)
    return no_memory(error);
  if (status == SQLITE_FULL && !reason)
    reason = ENOSPC;
  if (reason && (status & 0xff) != SQLITE_ERROR) {
    errno = reason;
    return kymo_fail_errno(error, saving->path, "cannot write");
  }
  return kymo_fail_at(error, KYMO_E_SYSTEM, saving->path, KYMO_ERROR_NO_OFFSET, "cannot write: %s",
                      db ? sqlite3_errmsg(db) : sqlite3_errstr(status));
}

static const char *keep(struct saving *saving, struct kymo_strbuf *text) {
  const char *copy =
      text->failed ? NULL : kymo_arena_copy(&saving->arena, text->text ? text->text : "", text->length);
  kymo_strbuf_free(text);
  return copy;
}

/* ---- columns ---- */

static void add_literal(struct kymo_strbuf *out, const char *text) {
  struct kymo_strbuf sound = {0};
  query_add_sound(&sound, text, strlen(text));
  kymo_strbuf_puts(out, "'");
  for (const char *at = sound.text ? sound.text : ""; *at; at++)
    kymo_strbuf_printf(out, *at == '\'' ? "''" : "%c", *at);
  kymo_strbuf_puts(out, "'");
  out->failed |= sound.failed;
  kymo_strbuf_free(&sound);
}

/* The path of a trace, from its number. False: out of memory. */
static bool make_path_expression(struct saving *saving) {
  const struct kymo_trace *trace = saving->source->first->trace;
  struct kymo_strbuf text = {0};
  if (kymo_trace_part_count(trace) > COMPUTED_PATHS_MAX)
    return true;
  kymo_strbuf_puts(&text, "CASE trace");
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const struct kymo_part *part = kymo_trace_part(trace, i);
    kymo_strbuf_printf(&text, " WHEN %u THEN ", (unsigned)part->index);
    add_literal(&text, part->path ? part->path : "");
  }
  kymo_strbuf_puts(&text, " END");
  saving->path_expression = keep(saving, &text);
  return saving->path_expression != NULL;
}

/* As kymo_time_to_text spells a time since 1970. */
static const char time_expression[] =
    "strftime('%Y-%m-%dT%H:%M:%S', ts / 1000000000 - (ts % 1000000000 < 0), 'unixepoch') || "
    "printf('.%09dZ', (ts % 1000000000 + 1000000000) % 1000000000)";

/* Of a column that follows from others, else NULL; *status: out of memory. */
static const char *expression_of(struct saving *saving, const struct query_column *column, uint32_t kind,
                                 int *status) {
  struct kymo_strbuf text = {0};
  if (column->kind == QUERY_TIME && saving->source->has_epoch)
    return time_expression;
  if (column->kind == QUERY_PATH)
    return saving->path_expression;
  if (column->kind != QUERY_CLASS || kind == UINT32_MAX)
    return NULL;
  add_literal(&text, saving->source->kinds[kind]);
  const char *name = keep(saving, &text);
  *status = name ? SQLITE_OK : SQLITE_NOMEM;
  return name;
}

/* Those of SELECT * come first, so that it begins with the same columns. */
static int add_columns(struct saving *saving, struct saved_kind *saved, bool hidden) {
  int status = SQLITE_OK;
  for (uint32_t i = 0; i < saved->columns.count && status == SQLITE_OK; i++) {
    const struct query_column *column = &saved->columns.list[i];
    struct query_saved_column added = {.name = column->name,
                                       .type = query_type_name(column->type),
                                       .index = i,
                                       .has_numbers = column->type == QUERY_UNSIGNED};
    if (column->is_hidden != hidden)
      continue;
    added.expression = expression_of(saving, column, saved->columns.kind, &status);
    if (status == SQLITE_OK && !query_saved_add(&saved->table, &added))
      status = SQLITE_NOMEM;
  }
  return status;
}

/* ---- tables ---- */

/* Names that begin so belong to SQLite. */
static const char *allowed_name(struct saving *saving, const char *name) {
  struct kymo_strbuf text = {0};
  kymo_strbuf_printf(&text, "%s%s", sqlite3_strnicmp(name, "sqlite_", 7) == 0 ? "_" : "", name);
  return keep(saving, &text);
}

static int make_events(struct saving *saving, const char *name, uint32_t kind) {
  struct saved_kind *saved = kind == UINT32_MAX ? &saving->events : &saving->kinds[kind];
  struct kymo_error error;
  if (query_columns_begin(&saved->columns, saving->source, kind, &error) < 0)
    return SQLITE_NOMEM;
  saved->table.name = name;
  saved->table.time = "ts";
  int status = add_columns(saving, saved, false);
  if (status == SQLITE_OK)
    status = add_columns(saving, saved, true);
  return status == SQLITE_OK ? query_saved_create(&saved->table, saving->file) : status;
}

static int select_all(struct saving *saving, const char *name, sqlite3_stmt **rows) {
  struct kymo_strbuf sql = {0};
  kymo_strbuf_printf(&sql, "SELECT * FROM %s", name);
  int status = sql.failed ? SQLITE_NOMEM : sqlite3_prepare_v2(saving->tables, sql.text, -1, rows, NULL);
  kymo_strbuf_free(&sql);
  return status;
}

/* A table with the columns of a virtual one that has no class. */
static int make_copy(struct saving *saving, struct query_saved_table *table, const char *name) {
  sqlite3_stmt *rows = NULL;
  int status = select_all(saving, name, &rows);
  table->name = name;
  for (int i = 0; status == SQLITE_OK && i < sqlite3_column_count(rows); i++) {
    const char *column = sqlite3_column_name(rows, i), *type = sqlite3_column_decltype(rows, i);
    struct kymo_strbuf text = {0};
    kymo_strbuf_printf(&text, "%s%s", type && *type ? " " : "", type ? type : "");
    struct query_saved_column added = {.name = kymo_arena_copy(&saving->arena, column, strlen(column)),
                                       .type = keep(saving, &text),
                                       .index = (uint32_t)i,
                                       .has_numbers = table == &saving->losses && (!type || !*type)};
    if (!added.name || !added.type || !query_saved_add(table, &added))
      status = SQLITE_NOMEM;
  }
  sqlite3_finalize(rows);
  return status == SQLITE_OK ? query_saved_create(table, saving->file) : status;
}

static bool make_table(void *user, const char *name, uint32_t kind) {
  struct saving *saving = user;
  const char *own = allowed_name(saving, name);
  if (!own)
    saving->status = SQLITE_NOMEM;
  else if (kind == UINT32_MAX && strcmp(name, "spans") == 0)
    saving->status = make_copy(saving, &saving->spans, own);
  else if (kind == UINT32_MAX && strcmp(name, "losses") == 0)
    saving->status = make_copy(saving, &saving->losses, own);
  else
    saving->status = make_events(saving, own, kind);
  return saving->status == SQLITE_OK;
}

static int make_tables(struct saving *saving, struct kymo_error *error) {
  bool is_made = make_path_expression(saving) && query_each_table(saving->source, make_table, saving);
  if (is_made)
    return KYMO_OK;
  return fail(saving, saving->file, saving->status == SQLITE_OK ? SQLITE_NOMEM : saving->status, error);
}

/* ---- rows ---- */

static int put_event(struct saving *saving, struct query_reader *reader, const struct kymo_event *event,
                     struct kymo_error *error) {
  struct saved_kind *own = &saving->kinds[saving->source->kind_of[kymo_kind_of(event)]];
  int status =
      query_saved_put_event(&saving->events.table, saving->file, reader, event, &saving->events.columns);
  if (status == SQLITE_OK && own->table.name) /* events without a name have no table of their own */
    status = query_saved_put_event(&own->table, saving->file, reader, event, &own->columns);
  return status == SQLITE_OK ? KYMO_OK : fail(saving, saving->file, status, error);
}

static int put_events(struct saving *saving, struct kymo_error *error) {
  struct query_window all = {.begin_ns = INT64_MIN, .end_ns = INT64_MAX};
  struct query_reader *reader;
  const struct kymo_event *event;
  int status = query_reader_take(&reader, saving->source, error);
  if (status < 0)
    return status;
  status = query_reader_begin(reader, &all, error);
  while (status == KYMO_OK && (status = query_reader_next(reader, &event, error)) == KYMO_OK)
    status = put_event(saving, reader, event, error);
  query_reader_give_back(reader);
  return status < 0 ? status : KYMO_OK;
}

/* The rows of a virtual table. */
static int put_rows(struct saving *saving, struct query_saved_table *table, struct kymo_error *error) {
  sqlite3_stmt *rows = NULL;
  int status = select_all(saving, table->name, &rows), written = SQLITE_OK;
  if (status == SQLITE_OK)
    while ((status = sqlite3_step(rows)) == SQLITE_ROW && written == SQLITE_OK)
      written = query_saved_put_row(table, saving->file, rows);
  if (written != SQLITE_OK)
    status = fail(saving, saving->file, written, error);
  else
    status = status == SQLITE_DONE ? KYMO_OK : fail(saving, saving->tables, status, error);
  sqlite3_finalize(rows);
  return status;
}

/* ---- the file ---- */

/* Forces the name of the file to the disk, like the file before. */
static void sync_folder(const char *path) {
  char *copy = strdup(path);
  int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd >= 0) {
    fsync(fd); /* where this is not supported, nothing can be done */
    close(fd);
  }
  free(copy);
}

/* SQLite would take some paths for something else. */
static int make_file(struct saving *saving, struct kymo_error *error) {
  static const char settings[] = "PRAGMA journal_mode = OFF; PRAGMA synchronous = FULL; "
                                 "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536; BEGIN";
  if (access(saving->path, F_OK) == 0) {
    errno = EEXIST;
    return kymo_fail_errno(error, saving->path, "cannot write");
  }
  if (asprintf(&saving->part, "%s%s.part", *saving->path == '/' ? "" : "./", saving->path) < 0) {
    saving->part = NULL;
    return no_memory(error);
  }
  int fd = open(saving->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0)
    return kymo_fail_errno(error, errno == EEXIST ? saving->part : saving->path, "cannot write");
  close(fd);
  saving->is_made = true;
  int status = sqlite3_open_v2(saving->part, &saving->file, SQLITE_OPEN_READWRITE, NULL);
  if (status == SQLITE_OK)
    status = sqlite3_exec(saving->file, settings, NULL, NULL, NULL);
  return status == SQLITE_OK ? KYMO_OK : fail(saving, saving->file, status, error);
}

static int open_tables(struct saving *saving, struct kymo_error *error) {
  struct query_database *database;
  int status = sqlite3_open(":memory:", &saving->tables);
  if (status == SQLITE_OK)
    status = query_database_new(&database, saving->tables);
  if (status == SQLITE_OK)
    status = query_database_add(database, saving->source, false);
  return status == SQLITE_OK ? KYMO_OK : fail(saving, saving->tables, status, error);
}

/* Indexes, then everything to the disk, then the name. */
static int finish(struct saving *saving, struct kymo_error *error) {
  int status = query_saved_finish(&saving->events.table, saving->file);
  for (uint32_t i = 0; i < saving->source->kind_count && status == SQLITE_OK; i++)
    status = query_saved_finish(&saving->kinds[i].table, saving->file);
  saving->spans.time = "begin";
  if (status == SQLITE_OK)
    status = query_saved_finish(&saving->spans, saving->file);
  if (status == SQLITE_OK)
    status = query_saved_finish(&saving->losses, saving->file);
  if (status == SQLITE_OK)
    status = sqlite3_exec(saving->file, "COMMIT", NULL, NULL, NULL);
  if (status != SQLITE_OK)
    return fail(saving, saving->file, status, error);
  /* file systems without hard links do not have this either, but they have no other writers of this name */
  if (renameat2(AT_FDCWD, saving->part, AT_FDCWD, saving->path, RENAME_NOREPLACE) != 0 &&
      (errno != EINVAL || access(saving->path, F_OK) == 0 || rename(saving->part, saving->path) != 0))
    return kymo_fail_errno(error, saving->path, "cannot write");
  saving->is_made = false;
  sync_folder(saving->path);
  return KYMO_OK;
}

/* ---- all of it ---- */

static void end(struct saving *saving) {
  for (uint32_t i = 0; saving->kinds && i < saving->source->kind_count; i++) {
    query_saved_end(&saving->kinds[i].table);
    query_columns_end(&saving->kinds[i].columns);
  }
  free(saving->kinds);
  query_saved_end(&saving->events.table);
  query_columns_end(&saving->events.columns);
  query_saved_end(&saving->spans);
  query_saved_end(&saving->losses);
  sqlite3_close(saving->file);
  sqlite3_close(saving->tables);
  if (saving->is_made)
    unlink(saving->part);
  free(saving->part);
  kymo_arena_free(&saving->arena);
}

int query_save(struct query_source *source, const char *path, struct kymo_error *error) {
  struct saving saving = {.source = source, .path = path};
  saving.kinds = calloc(source->kind_count + 1u, sizeof *saving.kinds);
  int status = saving.kinds ? make_file(&saving, error) : no_memory(error);
  if (status == KYMO_OK)
    status = open_tables(&saving, error);
  if (status == KYMO_OK)
    status = make_tables(&saving, error);
  if (status == KYMO_OK)
    status = put_events(&saving, error);
  if (status == KYMO_OK)
    status = put_rows(&saving, &saving.spans, error);
  if (status == KYMO_OK)
    status = put_rows(&saving, &saving.losses, error);
  if (status == KYMO_OK)
    status = finish(&saving, error);
  end(&saving);
  return status;
}
