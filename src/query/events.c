/* SPDX-License-Identifier: MIT */
/* Tables of events: xBestIndex is query/plan.h, a cursor is one query/scan.h. */
#include "base/fail.h"
#include "query/scan.h"
#include "query/tables.h"
#include "query/value.h"
#include <stdlib.h>

struct events_table {
  sqlite3_vtab base; /* first */
  struct query_choice choice;
  struct query_columns columns;
};

struct events_cursor {
  sqlite3_vtab_cursor base; /* first */
  struct query_scan scan;
};

int query_table_fail(sqlite3_vtab *table, const struct kymo_error *error) {
  char text[2048];
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = sqlite3_mprintf("%s", kymo_error_text(error, text, sizeof text));
  switch (error->code) {
  case KYMO_E_MEMORY: return SQLITE_NOMEM;
  case KYMO_E_USAGE:
  case KYMO_E_UNKNOWN: return SQLITE_ERROR;
  default: return SQLITE_IOERR;
  }
}

static void keep_first(void *user, const struct kymo_damage *damage) {
  struct kymo_error *error = user;
  if (error->code == KYMO_OK)
    kymo_fail_at(error, KYMO_E_FORMAT, damage->path ? damage->path : "", damage->offset,
                 "%s; the rows so far are what is readable: the option damage='skip' ends without this error",
                 damage->message);
}

int query_choice_check(const struct query_choice *choice, struct kymo_error *error) {
  *error = (struct kymo_error){.offset = KYMO_ERROR_NO_OFFSET};
  if (choice->fails_at_damage)
    query_source_damage(choice->source, keep_first, error);
  return error->code;
}

/* ---- tables ---- */

static int events_disconnect(sqlite3_vtab *base) {
  struct events_table *table = (struct events_table *)base;
  query_columns_end(&table->columns);
  query_source_release(table->choice.source);
  free(table);
  return SQLITE_OK;
}

int query_events_connect(sqlite3 *db, const struct query_choice *choice, sqlite3_vtab **out, char **message) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct events_table *table = calloc(1, sizeof *table);
  struct kymo_strbuf text = {0};
  if (!table)
    return SQLITE_NOMEM;
  table->choice = *choice;
  query_source_retain(choice->source);
  int status = query_columns_begin(&table->columns, choice->source, choice->kind, &error);
  if (status == KYMO_OK)
    query_columns_declare(&table->columns, &text);
  int result = status < 0 || text.failed ? SQLITE_NOMEM : sqlite3_declare_vtab(db, text.text);
  kymo_strbuf_free(&text);
  if (result == SQLITE_OK) {
    *out = &table->base;
    return SQLITE_OK;
  }
  *message = sqlite3_mprintf("%s", status < 0 ? error.message : sqlite3_errmsg(db));
  events_disconnect(&table->base);
  return result;
}

static int events_connect(sqlite3 *db, void *user, int count, const char *const *arguments,
                          sqlite3_vtab **out, char **message) {
  (void)count;
  (void)arguments;
  return query_events_connect(db, user, out, message);
}

static int events_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
  struct events_table *table = (struct events_table *)base;
  return query_plan_make(&table->columns, table->choice.source, info);
}

/* ---- cursors ---- */

static int events_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
  struct events_table *table = (struct events_table *)base;
  struct events_cursor *cursor = calloc(1, sizeof *cursor);
  if (!cursor)
    return SQLITE_NOMEM;
  cursor->scan = (struct query_scan){.source = table->choice.source, .columns = &table->columns};
  *out = &cursor->base;
  return SQLITE_OK;
}

static int events_close(sqlite3_vtab_cursor *base) {
  struct events_cursor *cursor = (struct events_cursor *)base;
  query_scan_end(&cursor->scan);
  free(cursor);
  return SQLITE_OK;
}

/* After a move: failed, or at the end of damaged traces. */
static int finish(struct events_cursor *cursor, int status, struct kymo_error *error) {
  const struct events_table *table = (const struct events_table *)cursor->base.pVtab;
  if (status == KYMO_OK && cursor->scan.is_at_end)
    status = query_choice_check(&table->choice, error);
  return status < 0 ? query_table_fail(cursor->base.pVtab, error) : SQLITE_OK;
}

static int events_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count,
                         sqlite3_value **values) {
  struct events_cursor *cursor = (struct events_cursor *)base;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  (void)count;
  return finish(cursor, query_scan_begin(&cursor->scan, number, text ? text : "", values, &error), &error);
}

static int events_next(sqlite3_vtab_cursor *base) {
  struct events_cursor *cursor = (struct events_cursor *)base;
  struct kymo_error error;
  if (query_scan_skip(&cursor->scan))
    return SQLITE_OK;
  int status = query_scan_next(&cursor->scan, &error);
  return status == KYMO_OK && !cursor->scan.is_at_end ? SQLITE_OK : finish(cursor, status, &error);
}

static int events_eof(sqlite3_vtab_cursor *base) { return ((struct events_cursor *)base)->scan.is_at_end; }

static int events_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  struct events_cursor *cursor = (struct events_cursor *)base;
  const struct query_scan *scan = &cursor->scan;
  struct query_out out = {.context = context};
  if (scan->event)
    query_put_column(&out, scan->reader, scan->event, scan->columns, (uint32_t)column);
  else if (scan->columns->list[column].kind == QUERY_CLASS) /* of a kind that is only counted */
    sqlite3_result_text(context, scan->source->kinds[scan->kind], -1, SQLITE_STATIC);
  else if (scan->is_bucketed && scan->columns->list[column].kind == QUERY_TS && scan->moment_ns != INT64_MIN)
    sqlite3_result_int64(context, scan->moment_ns);
  return SQLITE_OK;
}

static int events_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
  *out = ((struct events_cursor *)base)->scan.row;
  return SQLITE_OK;
}

const sqlite3_module query_events_module = {
    .iVersion = 1,
    .xConnect = events_connect,
    .xBestIndex = events_best_index,
    .xDisconnect = events_disconnect,
    .xDestroy = events_disconnect,
    .xOpen = events_open,
    .xClose = events_close,
    .xFilter = events_filter,
    .xNext = events_next,
    .xEof = events_eof,
    .xColumn = events_column,
    .xRowid = events_rowid,
};
