/* SPDX-License-Identifier: MIT */
#include "query/saved_table.h"
#include "base/list.h"
#include <stdlib.h>
#include <string.h>

#define MIXED (QUERY_LARGE_19 | QUERY_LARGE_20)

bool query_saved_add(struct query_saved_table *table, const struct query_saved_column *column) {
  if (!KYMO_LIST_ROOM(table->list, table->capacity, table->count))
    return false;
  table->list[table->count++] = *column;
  return true;
}

/* ---- statements ---- */

static void add_definition(struct kymo_strbuf *sql, const struct query_saved_table *table) {
  kymo_strbuf_puts(sql, "CREATE TABLE ");
  query_add_name(sql, table->name);
  for (uint32_t i = 0; i < table->count; i++) {
    const struct query_saved_column *column = &table->list[i];
    kymo_strbuf_puts(sql, i ? ", " : "(");
    query_add_name(sql, column->name);
    kymo_strbuf_puts(sql, column->type);
    if (column->expression)
      kymo_strbuf_printf(sql, " AS (%s)", column->expression);
    kymo_strbuf_puts(sql, column->large == MIXED ? " COLLATE " QUERY_NUMBER : "");
  }
  kymo_strbuf_puts(sql, ")");
}

/* Runs a text, which is freed. */
static int run(sqlite3 *db, struct kymo_strbuf *sql) {
  int status = sql->failed ? SQLITE_NOMEM : sqlite3_exec(db, sql->text, NULL, NULL, NULL);
  kymo_strbuf_free(sql);
  return status;
}

static int prepare_insert(struct query_saved_table *table, sqlite3 *db) {
  struct kymo_strbuf sql = {0}, values = {0};
  const char *gap = "(";
  kymo_strbuf_puts(&sql, "INSERT INTO ");
  query_add_name(&sql, table->name);
  for (uint32_t i = 0; i < table->count; i++) {
    if (table->list[i].expression)
      continue;
    kymo_strbuf_puts(&sql, gap);
    query_add_name(&sql, table->list[i].name);
    kymo_strbuf_printf(&values, "%s?", gap);
    gap = ", ";
  }
  kymo_strbuf_printf(&sql, ") VALUES%s)", values.text ? values.text : "");
  int status = sql.failed || values.failed
                   ? SQLITE_NOMEM
                   : sqlite3_prepare_v3(db, sql.text, -1, SQLITE_PREPARE_PERSISTENT, &table->insert, NULL);
  kymo_strbuf_free(&sql);
  kymo_strbuf_free(&values);
  return status;
}

int query_saved_create(struct query_saved_table *table, sqlite3 *db) {
  struct kymo_strbuf sql = {0};
  add_definition(&sql, table);
  return run(db, &sql);
}

/* ---- rows ---- */

static int begin_row(struct query_saved_table *table, sqlite3 *db) {
  if (!table->insert)
    return prepare_insert(table, db);
  return sqlite3_clear_bindings(table->insert);
}

static int end_row(struct query_saved_table *table, int status) {
  if (status != SQLITE_OK)
    return status;
  status = sqlite3_step(table->insert);
  int end = sqlite3_reset(table->insert);
  return status == SQLITE_DONE ? end : status;
}

int query_saved_put_event(struct query_saved_table *table, sqlite3 *db, struct query_reader *reader,
                          const struct kymo_event *event, const struct query_columns *columns) {
  struct query_out out = {.status = begin_row(table, db)};
  out.statement = table->insert;
  for (uint32_t i = 0; i < table->count && out.status == SQLITE_OK; i++) {
    struct query_saved_column *column = &table->list[i];
    if (column->expression)
      continue;
    out.parameter++;
    out.large = 0;
    query_put_column(&out, reader, event, columns, column->index);
    if (column->has_numbers)
      column->large |= out.large;
  }
  return end_row(table, out.status);
}

int query_saved_put_row(struct query_saved_table *table, sqlite3 *db, sqlite3_stmt *from) {
  int status = begin_row(table, db), parameter = 0;
  for (uint32_t i = 0; i < table->count && status == SQLITE_OK; i++) {
    struct query_saved_column *column = &table->list[i];
    status = sqlite3_bind_value(table->insert, ++parameter, sqlite3_column_value(from, (int)column->index));
    if (column->has_numbers && sqlite3_column_type(from, (int)column->index) == SQLITE_TEXT)
      column->large |= query_large_of((size_t)sqlite3_column_bytes(from, (int)column->index));
  }
  return end_row(table, status);
}

/* ---- the end ---- */

/* The definition with the collations that are necessary. Nothing that is stored depends on it. */
static int set_collations(const struct query_saved_table *table, sqlite3 *db) {
  struct kymo_strbuf sql = {0};
  sqlite3_stmt *update = NULL;
  bool is_mixed = false;
  for (uint32_t i = 0; i < table->count; i++)
    is_mixed |= table->list[i].large == MIXED;
  if (!is_mixed)
    return SQLITE_OK;
  add_definition(&sql, table);
  int status = sql.failed ? SQLITE_NOMEM : sqlite3_exec(db, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
  if (status == SQLITE_OK)
    status = sqlite3_prepare_v2(db, "UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ?", -1,
                                &update, NULL);
  if (status == SQLITE_OK) {
    sqlite3_bind_text64(update, 1, sql.text, sql.length, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_text(update, 2, table->name, -1, SQLITE_STATIC);
    status = sqlite3_step(update);
    if (status == SQLITE_DONE)
      status = SQLITE_OK;
  }
  int end = sqlite3_finalize(update);
  kymo_strbuf_free(&sql);
  sqlite3_exec(db, "PRAGMA writable_schema = OFF", NULL, NULL, NULL);
  return status == SQLITE_OK ? end : status;
}

static bool exists(sqlite3 *db, const char *name, int *status) {
  sqlite3_stmt *find = NULL;
  *status =
      sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_master WHERE name = ? COLLATE NOCASE", -1, &find, NULL);
  sqlite3_bind_text(find, 1, name, -1, SQLITE_STATIC);
  int step = *status == SQLITE_OK ? sqlite3_step(find) : SQLITE_DONE;
  if (step != SQLITE_ROW && step != SQLITE_DONE)
    *status = step;
  sqlite3_finalize(find);
  return step == SQLITE_ROW;
}

/* "net:rx.ts", or with more letters if a table is called that. */
static int make_index(const struct query_saved_table *table, sqlite3 *db) {
  struct kymo_strbuf name = {0}, sql = {0};
  int status = SQLITE_OK;
  kymo_strbuf_printf(&name, "%s.%s", table->name, table->time);
  while (!name.failed && exists(db, name.text, &status))
    kymo_strbuf_puts(&name, "#");
  kymo_strbuf_puts(&sql, "CREATE INDEX ");
  query_add_name(&sql, name.text ? name.text : "");
  kymo_strbuf_puts(&sql, " ON ");
  query_add_name(&sql, table->name);
  kymo_strbuf_puts(&sql, "(");
  query_add_name(&sql, table->time);
  kymo_strbuf_puts(&sql, ")");
  sql.failed |= name.failed;
  kymo_strbuf_free(&name);
  int end = run(db, &sql);
  return status == SQLITE_OK ? end : status;
}

int query_saved_finish(struct query_saved_table *table, sqlite3 *db) {
  if (!table->insert) /* no rows */
    return SQLITE_OK;
  int status = set_collations(table, db);
  return status == SQLITE_OK && table->time ? make_index(table, db) : status;
}

void query_saved_end(struct query_saved_table *table) {
  sqlite3_finalize(table->insert);
  free(table->list);
  *table = (struct query_saved_table){0};
}
