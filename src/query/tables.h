/* SPDX-License-Identifier: MIT */
/*
 * The virtual tables. Each kind of table is a module of SQLite; its client data says which traces and which
 * table, or NULL: the arguments of CREATE VIRTUAL TABLE do.
 */
#ifndef KYMO_QUERY_TABLES_H
#define KYMO_QUERY_TABLES_H

#include "query/source.h"
#include "query/sqlite.h"

/* Which table. */
struct query_choice {
  struct query_source *source; /* a share */
  uint32_t kind;               /* of its events; UINT32_MAX: of all */
  bool fails_at_damage;        /* a scan that met damage ends with an error, since nothing else reports it */
};

/* A table whose columns are the same in all traces (table.c). */
struct query_table {
  sqlite3_vtab base; /* first */
  struct query_choice choice;
};
int query_table_connect(sqlite3 *db, const struct query_choice *choice, const char *declaration,
                        sqlite3_vtab **out, char **message);
int query_table_disconnect(sqlite3_vtab *base);

/* A message of an error for SQLite: for vtab->zErrMsg; replaces the one that is there. Returns a status of
 * SQLite. */
int query_table_fail(sqlite3_vtab *table, const struct kymo_error *error);
/* Whether a scan met damage: KYMO_OK, or KYMO_E_FORMAT with what and where. */
int query_choice_check(const struct query_choice *choice, struct kymo_error *error);

/* Events of all classes or of one (events.c); spans (spans.c); losses (losses.c). xCreate is NULL: a table of
 * the module's name exists without being created. */
extern const sqlite3_module query_events_module, query_spans_module, query_losses_module;

/* Makes a table of CREATE VIRTUAL TABLE … USING kymo(…): a copy of the choice belongs to it. */
int query_events_connect(sqlite3 *db, const struct query_choice *choice, sqlite3_vtab **out, char **message);
int query_spans_connect(sqlite3 *db, const struct query_choice *choice, sqlite3_vtab **out, char **message);
int query_losses_connect(sqlite3 *db, const struct query_choice *choice, sqlite3_vtab **out, char **message);

#endif
