/* SPDX-License-Identifier: MIT */
#include "tool/query_hint.h"
#include "query/database.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rest of the message after `start`, or NULL. */
static const char *after(const char *message, const char *start) {
  const char *at = strstr(message, start);
  return at ? at + strlen(start) : NULL;
}

/* ---- tables ---- */

struct table_search {
  struct kymo_nearest nearest;
  char *kept; /* a copy of the best candidate: names of tables live for the call alone */
};

static bool consider_table(void *user, const char *name, uint32_t kind) {
  struct table_search *search = user;
  const char *best = search->nearest.best;
  (void)kind;
  kymo_nearest_consider(&search->nearest, name);
  if (search->nearest.best == best)
    return true;
  char *copy = strdup(name);
  if (!copy)
    return false;
  free(search->kept);
  search->nearest.best = search->kept = copy;
  return true;
}

static struct kymo_hint hint_table(const struct query_source *source, const char *name) {
  struct table_search search = {.nearest = kymo_nearest_to(name)};
  query_each_table(source, consider_table, &search);
  struct kymo_hint hint = kymo_nearest_hint(&search.nearest);
  free(search.kept);
  return hint;
}

/* ---- columns ---- */

struct column_search {
  sqlite3 *db;
  const char *sql;    /* only tables that it names; NULL: all */
  sqlite3_stmt *list; /* the columns of a table */
  struct table_search found;
  char *table; /* a copy of the name of the table that has the best one */
};

/* Considers the columns of a table. */
static bool consider_columns(void *user, const char *name, uint32_t kind) {
  struct column_search *search = user;
  const char *best = search->found.nearest.best;
  if (search->sql && !strcasestr(search->sql, name))
    return true;
  sqlite3_reset(search->list);
  sqlite3_bind_text(search->list, 1, name, -1, SQLITE_TRANSIENT);
  while (sqlite3_step(search->list) == SQLITE_ROW) {
    const char *column = (const char *)sqlite3_column_text(search->list, 0);
    if (column && !consider_table(&search->found, column, kind))
      return false;
  }
  if (search->found.nearest.best == best)
    return true;
  free(search->table);
  search->table = strdup(name);
  return search->table != NULL;
}

/* What the tables have that the statement names, or with `sql` NULL, which table has such a column;
 * *is_exact: of this very name. */
static struct kymo_hint hint_column(sqlite3 *db, const struct query_source *source, const char *sql,
                                    const char *name, bool *is_exact) {
  struct column_search search = {.db = db, .sql = sql, .found = {.nearest = kymo_nearest_to(name)}};
  struct kymo_hint hint = {""};
  if (sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_xinfo(?)", -1, &search.list, NULL) == SQLITE_OK) {
    query_each_table(source, consider_columns, &search);
    hint = kymo_nearest_hint(&search.found.nearest);
  }
  if (!sql && *hint.text && search.table) {
    int length = snprintf(hint.text, sizeof hint.text, " (the table \"%s\" has \"%s\")", search.table,
                          search.found.kept);
    if ((size_t)length >= sizeof hint.text)
      hint = kymo_nearest_hint(&search.found.nearest);
  }
  *is_exact = search.found.kept && strcmp(search.found.kept, name) == 0;
  sqlite3_finalize(search.list);
  free(search.found.kept);
  free(search.table);
  return hint;
}

struct kymo_hint tool_query_hint(sqlite3 *db, const struct query_source *source, const char *sql,
                                 const char *message) {
  static const char *const functions[] = {"percentile",   "ns_to_text", "symbol", "count",  "sum",
                                          "avg",          "min",        "max",    "total",  "round",
                                          "abs",          "coalesce",   "printf", "substr", "json_extract",
                                          "group_concat", "lag",        "lead"};
  const char *name;
  bool is_exact;
  if ((name = after(message, "no such table: ")))
    return hint_table(source, name);
  if ((name = after(message, "no such function: ")))
    return kymo_hint_among(name, functions, sizeof functions / sizeof *functions);
  if (!(name = after(message, "no such column: ")))
    return (struct kymo_hint){""};
  struct kymo_hint hint = hint_column(db, source, sql, name, &is_exact);
  const char *dot = strchr(name, '.'); /* after the name of a table */
  if (!*hint.text && dot)
    hint = hint_column(db, source, sql, dot + 1, &is_exact);
  char quoted[80];
  if (!*hint.text && strlen(name) < sizeof quoted - 3) {
    snprintf(quoted, sizeof quoted, "\"%s\"", name);
    if (strstr(sql, quoted))
      return (struct kymo_hint){" (texts are in single quotes)"};
  }
  struct kymo_hint other = hint_column(db, source, NULL, dot ? dot + 1 : name, &is_exact);
  return *hint.text && !is_exact ? hint : other;
}
