/* SPDX-License-Identifier: MIT */
/*
 * The table of spans (query/pairing.h). `spans('FIELD')` connects begins and ends by the value of a field,
 * also of other threads: the hidden column `by`.
 */
#include "base/fail.h"
#include "query/pairing.h"
#include "query/tables.h"
#include "query/value.h"
#include <stdlib.h>
#include <string.h>

enum {
  SPAN_NAME,
  SPAN_BEGIN,
  SPAN_END,
  SPAN_DURATION,
  SPAN_THREAD,
  SPAN_TID,
  SPAN_KEY,
  SPAN_FIELDS,
  SPAN_DEPTH,
  SPAN_STATE,
  SPAN_TRACE,
  SPAN_BY,
};
static const char declaration[] =
    "CREATE TABLE x(name TEXT, \"begin\" INTEGER, \"end\" INTEGER, duration INTEGER, thread TEXT, "
    "tid INTEGER, key, fields JSON_TEXT, depth INTEGER, state TEXT, trace INTEGER, \"by\" TEXT HIDDEN)";

enum { USES_FIELDS = 1, HAS_BY = 2 };

struct spans_cursor {
  sqlite3_vtab_cursor base; /* first */
  struct query_pairing pairing;
  char *by;
  int64_t row;
};

int query_spans_connect(sqlite3 *db, const struct query_choice *choice, sqlite3_vtab **out, char **message) {
  return query_table_connect(db, choice, declaration, out, message);
}

static int spans_connect(sqlite3 *db, void *user, int count, const char *const *arguments, sqlite3_vtab **out,
                         char **message) {
  (void)count;
  (void)arguments;
  return query_spans_connect(db, user, out, message);
}

static int spans_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
  (void)base;
  info->idxNum = info->colUsed >> SPAN_FIELDS & 1 ? USES_FIELDS : 0;
  info->estimatedCost = 2e6;
  info->estimatedRows = 100000;
  for (int i = 0; i < info->nConstraint; i++) {
    if (info->aConstraint[i].iColumn != SPAN_BY || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
      continue;
    if (!info->aConstraint[i].usable)
      return SQLITE_CONSTRAINT;
    info->aConstraintUsage[i].argvIndex = 1;
    info->aConstraintUsage[i].omit = 1;
    info->idxNum |= HAS_BY;
    break;
  }
  return SQLITE_OK;
}

static int spans_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
  (void)base;
  struct spans_cursor *cursor = calloc(1, sizeof *cursor);
  if (!cursor)
    return SQLITE_NOMEM;
  *out = &cursor->base;
  return SQLITE_OK;
}

static void end_pairing(struct spans_cursor *cursor) {
  query_pairing_end(&cursor->pairing);
  free(cursor->by);
  cursor->by = NULL;
}

static int spans_close(sqlite3_vtab_cursor *base) {
  struct spans_cursor *cursor = (struct spans_cursor *)base;
  end_pairing(cursor);
  free(cursor);
  return SQLITE_OK;
}

static int finish(struct spans_cursor *cursor, int status, struct kymo_error *error) {
  const struct query_table *table = (const struct query_table *)cursor->base.pVtab;
  if (status == KYMO_OK && !cursor->pairing.span)
    status = query_choice_check(&table->choice, error);
  return status < 0 ? query_table_fail(cursor->base.pVtab, error) : SQLITE_OK;
}

static int spans_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count,
                        sqlite3_value **values) {
  struct spans_cursor *cursor = (struct spans_cursor *)base;
  const struct query_table *table = (const struct query_table *)base->pVtab;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct query_pairing_options options = {.wants_fields = number & USES_FIELDS};
  (void)text;
  end_pairing(cursor);
  cursor->row = 1;
  if (number & HAS_BY && count > 0) {
    const char *by = (const char *)sqlite3_value_text(values[0]);
    options.key = cursor->by = by ? strdup(by) : NULL;
    if (!by)
      return finish(cursor, kymo_fail(&error, KYMO_E_USAGE, "spans('FIELD') needs the name of a field"),
                    &error);
    if (!cursor->by)
      return SQLITE_NOMEM;
  }
  return finish(cursor, query_pairing_begin(&cursor->pairing, table->choice.source, &options, &error),
                &error);
}

static int spans_next(sqlite3_vtab_cursor *base) {
  struct spans_cursor *cursor = (struct spans_cursor *)base;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  cursor->row++;
  return finish(cursor, query_pairing_next(&cursor->pairing, &error), &error);
}

static int spans_eof(sqlite3_vtab_cursor *base) { return !((struct spans_cursor *)base)->pairing.span; }

static void put_bytes(sqlite3_context *context, struct query_pairing *pairing, const char *text,
                      size_t length) {
  struct query_out out = {.context = context};
  query_put_text(&out, &pairing->reader->text, (const uint8_t *)text, length, KYMO_ENCODING_UTF8);
}

static void put_key(sqlite3_context *context, struct query_pairing *pairing,
                    const struct query_begun *begun) {
  if (begun->has_key && begun->is_text_key)
    put_bytes(context, pairing, begun->key_text, strlen(begun->key_text));
  else if (begun->has_key)
    sqlite3_result_int64(context, begun->key);
}

static int spans_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  static const char *const states[] = {"complete", "open", "lost"};
  struct spans_cursor *cursor = (struct spans_cursor *)base;
  struct query_pairing *pairing = &cursor->pairing;
  const struct kymo_span *span = pairing->span;
  const struct query_begun *begun = &pairing->begun[span->track];
  bool is_complete = pairing->state == QUERY_SPAN_COMPLETE;
  switch (column) {
  case SPAN_NAME: put_bytes(context, pairing, begun->name, begun->name_length); break;
  case SPAN_BEGIN: sqlite3_result_int64(context, span->begin_ns); break;
  case SPAN_END:
    if (is_complete)
      sqlite3_result_int64(context, pairing->end_ns);
    break;
  case SPAN_DURATION:
    if (is_complete)
      sqlite3_result_int64(context, (int64_t)((uint64_t)pairing->end_ns - (uint64_t)span->begin_ns));
    break;
  case SPAN_THREAD:
    if (span->thread[0])
      put_bytes(context, pairing, span->thread, strnlen(span->thread, sizeof span->thread));
    break;
  case SPAN_TID:
    if (span->has_tid)
      sqlite3_result_int64(context, span->tid);
    break;
  case SPAN_KEY: put_key(context, pairing, begun); break;
  case SPAN_FIELDS:
    if (begun->fields)
      put_bytes(context, pairing, begun->fields, begun->length);
    break;
  case SPAN_DEPTH: sqlite3_result_int64(context, begun->depth); break;
  case SPAN_STATE: sqlite3_result_text(context, states[pairing->state], -1, SQLITE_STATIC); break;
  case SPAN_TRACE: sqlite3_result_int64(context, begun->part); break;
  default:
    if (cursor->by)
      sqlite3_result_text(context, cursor->by, -1, SQLITE_TRANSIENT);
    break;
  }
  return SQLITE_OK;
}

static int spans_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
  *out = ((struct spans_cursor *)base)->row;
  return SQLITE_OK;
}

const sqlite3_module query_spans_module = {
    .iVersion = 1,
    .xConnect = spans_connect,
    .xBestIndex = spans_best_index,
    .xDisconnect = query_table_disconnect,
    .xDestroy = query_table_disconnect,
    .xOpen = spans_open,
    .xClose = spans_close,
    .xFilter = spans_filter,
    .xNext = spans_next,
    .xEof = spans_eof,
    .xColumn = spans_column,
    .xRowid = spans_rowid,
};
