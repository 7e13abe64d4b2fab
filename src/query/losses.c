/* SPDX-License-Identifier: MIT */
/* The table of losses: events and packets that were recorded and are missing, as tracers have counted them.
 * */
#include "base/fail.h"
#include "base/list.h"
#include "query/tables.h"
#include "query/value.h"
#include <stdlib.h>
#include <string.h>

enum { LOSS_WHAT, LOSS_COUNT, LOSS_BEGIN, LOSS_END, LOSS_STREAM, LOSS_PATH, LOSS_TRACE };
static const char declaration[] =
    "CREATE TABLE x(what TEXT, count COLLATE kymo_number, \"begin\" INTEGER, \"end\" INTEGER, "
    "stream COLLATE kymo_number, path TEXT, trace INTEGER)";

struct losses_cursor {
  sqlite3_vtab_cursor base; /* first */
  struct kymo_loss *list;
  size_t count, capacity, at;
  bool has_failed;
};

int query_losses_connect(sqlite3 *db, const struct query_choice *choice, sqlite3_vtab **out, char **message) {
  return query_table_connect(db, choice, declaration, out, message);
}

static int losses_connect(sqlite3 *db, void *user, int count, const char *const *arguments,
                          sqlite3_vtab **out, char **message) {
  (void)count;
  (void)arguments;
  return query_losses_connect(db, user, out, message);
}

static int losses_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
  (void)base;
  info->estimatedCost = 1e6;
  info->estimatedRows = 100;
  return SQLITE_OK;
}

static int losses_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
  (void)base;
  struct losses_cursor *cursor = calloc(1, sizeof *cursor);
  if (!cursor)
    return SQLITE_NOMEM;
  *out = &cursor->base;
  return SQLITE_OK;
}

static int losses_close(sqlite3_vtab_cursor *base) {
  struct losses_cursor *cursor = (struct losses_cursor *)base;
  free(cursor->list);
  free(cursor);
  return SQLITE_OK;
}

static void take_loss(void *user, const struct kymo_loss *loss) {
  struct losses_cursor *cursor = user;
  if (KYMO_LIST_ROOM(cursor->list, cursor->capacity, cursor->count))
    cursor->list[cursor->count++] = *loss;
  else
    cursor->has_failed = true;
}

/* Reads everything: losses are met between events. */
static int list_losses(struct losses_cursor *cursor, struct query_source *source, struct kymo_error *error) {
  struct query_window all = {.begin_ns = INT64_MIN, .end_ns = INT64_MAX};
  struct query_reader *reader;
  const struct kymo_event *event;
  int status = query_reader_take(&reader, source, error);
  if (status < 0)
    return status;
  kymo_trace_set_loss_handler(reader->trace, take_loss, cursor);
  status = query_reader_begin(reader, &all, error);
  while (status == KYMO_OK)
    status = query_reader_next(reader, &event, error);
  kymo_trace_set_loss_handler(reader->trace, NULL, NULL);
  query_reader_give_back(reader);
  if (cursor->has_failed)
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return status < 0 ? status : KYMO_OK;
}

static int losses_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count,
                         sqlite3_value **values) {
  struct losses_cursor *cursor = (struct losses_cursor *)base;
  const struct query_table *table = (const struct query_table *)base->pVtab;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  (void)number, (void)text, (void)count, (void)values;
  cursor->count = cursor->at = 0;
  int status = list_losses(cursor, table->choice.source, &error);
  if (status == KYMO_OK)
    status = query_choice_check(&table->choice, &error);
  return status < 0 ? query_table_fail(base->pVtab, &error) : SQLITE_OK;
}

static int losses_next(sqlite3_vtab_cursor *base) {
  ((struct losses_cursor *)base)->at++;
  return SQLITE_OK;
}

static int losses_eof(sqlite3_vtab_cursor *base) {
  const struct losses_cursor *cursor = (const struct losses_cursor *)base;
  return cursor->at >= cursor->count;
}

static int losses_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  const struct losses_cursor *cursor = (const struct losses_cursor *)base;
  const struct kymo_loss *loss = &cursor->list[cursor->at];
  const struct kymo_stream *stream = loss->stream;
  struct query_out out = {.context = context};
  struct kymo_strbuf text = {0};
  switch (column) {
  case LOSS_WHAT:
    sqlite3_result_text(context, loss->is_packets ? "packets" : "events", -1, SQLITE_STATIC);
    break;
  case LOSS_COUNT:
    if (loss->count_known)
      query_put_unsigned(&out, loss->count);
    break;
  case LOSS_BEGIN:
    if (loss->has_times)
      sqlite3_result_int64(context, loss->begin_ns);
    break;
  case LOSS_END:
    if (loss->has_times)
      sqlite3_result_int64(context, loss->end_ns);
    break;
  case LOSS_STREAM:
    query_put_unsigned(&out, stream->instance != UINT64_MAX ? stream->instance : stream->index);
    break;
  case LOSS_PATH:
    query_put_text(&out, &text, (const uint8_t *)stream->path, strlen(stream->path), KYMO_ENCODING_UTF8);
    break;
  default: sqlite3_result_int64(context, stream->part->index); break;
  }
  kymo_strbuf_free(&text);
  return SQLITE_OK;
}

static int losses_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
  *out = (sqlite3_int64)((struct losses_cursor *)base)->at + 1;
  return SQLITE_OK;
}

const sqlite3_module query_losses_module = {
    .iVersion = 1,
    .xConnect = losses_connect,
    .xBestIndex = losses_best_index,
    .xDisconnect = query_table_disconnect,
    .xDestroy = query_table_disconnect,
    .xOpen = losses_open,
    .xClose = losses_close,
    .xFilter = losses_filter,
    .xNext = losses_next,
    .xEof = losses_eof,
    .xColumn = losses_column,
    .xRowid = losses_rowid,
};
